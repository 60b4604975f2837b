// Kernels of the programs in host.c.

extern "C" __global__ void __launch_bounds__(256)
scale(long long n, const double *x, double s, double *y) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * s;
}

extern "C" __global__ void __launch_bounds__(256)
add(long long n, const double *x, const double *y, double *z) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

// w -= g, and fresh = v + the new w * k[1]
extern "C" __global__ void __launch_bounds__(256)
descend(long long n, const double *g, double *w, const double *v, const double *k, double *fresh) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        w[i] -= g[i];
        fresh[i] = v[i] + w[i] * k[1];
    }
}

// The positive numbers of x, in order, and how many there are.
extern "C" __global__ void __launch_bounds__(256)
pick(long long n, const double *x, double *y, long long *count) {
    if (blockIdx.x + threadIdx.x == 0) {
        long long found = 0;
        for (long long i = 0; i < n; i++) {
            if (x[i] > 0) y[found++] = x[i];
        }
        *count = found;
    }
}

extern "C" __global__ void __launch_bounds__(256)
wild(long long n, double *y) {
    if (blockIdx.x + threadIdx.x == 0) y[n + (1ll << 40)] = 1;
}
