// The mathematical functions that CUDA has and the C library has not, and conversions.

extern "C" __global__ void special(int n, const double *x, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    out[i] = erfcx(v);
    out[n + i] = erfinv(v / 10.0);
    out[2 * n + i] = erfcinv(1.0 + v / 10.0);
    out[3 * n + i] = normcdf(v);
    out[4 * n + i] = normcdfinv(0.5 + v / 20.0);
    out[5 * n + i] = cyl_bessel_i0(v);
    out[6 * n + i] = cyl_bessel_i1(v);
    out[7 * n + i] = sinpi(v);
    out[8 * n + i] = cospi(v);
    out[9 * n + i] = j0(v);
    out[10 * n + i] = rsqrt(v * v + 1.0);
    out[11 * n + i] = exp10(v);
    out[12 * n + i] = rcbrt(v);
}

extern "C" __global__ void special_float(int n, const float *x, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    out[i] = erfcxf(v);
    out[n + i] = erfinvf(v / 10.0f);
    out[2 * n + i] = erfcinvf(1.0f + v / 10.0f);
    out[3 * n + i] = normcdff(v);
    out[4 * n + i] = normcdfinvf(0.5f + v / 20.0f);
    out[5 * n + i] = cyl_bessel_i0f(v);
    out[6 * n + i] = cyl_bessel_i1f(v);
    out[7 * n + i] = sinpif(v);
    out[8 * n + i] = cospif(v);
    out[9 * n + i] = j0f(v);
    out[10 * n + i] = rsqrtf(v * v + 1.0f);
    out[11 * n + i] = exp10f(v);
    out[12 * n + i] = rcbrtf(v);
}

extern "C" __global__ void inverses(int n, const double *y, double *out) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[i] = erfcinv(y[i]);
    out[n + i] = normcdfinv(0.5 * y[i]);
}

extern "C" __global__ void conversions(int n, const double *x, long long *out) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[i] = __double2int_rn(x[i]);
    out[n + i] = __float2uint_rz((float)x[i]);
    out[2 * n + i] = __double2ll_rd(x[i]);
    out[3 * n + i] = (long long)__double2ull_ru(x[i]);
}

extern "C" __global__ void integers(int a, unsigned b, unsigned long long c, long long *out) {
    out[0] = __popc(b), out[1] = __clz(a), out[2] = __ffs(a), out[3] = __mulhi(a, a);
    out[4] = __umulhi(b, b), out[5] = (long long)__umul64hi(c, c), out[6] = __brev(b);
    out[7] = max(a, 5), out[8] = min(b, 5u), out[9] = max(c, 5ull), out[10] = abs(-a);
    out[11] = __float_as_int(__int_as_float(a)), out[12] = __clzll(c), out[13] = __popcll(c);
    out[14] = __double_as_longlong(__longlong_as_double(c));
    out[15] = __byte_perm(b, a, 0x5410);
}
