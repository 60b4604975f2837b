// Kernels without a mistake: every order of threads must give the same bits.

extern "C" __global__ void __launch_bounds__(256) saxpy(int n, float a, const float *__restrict__ x,
                                                        float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// Four elements for each thread, and the rest one by one.
extern "C" __global__ void scale_vectors(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        v.x *= 2.0f, v.y *= 2.0f, v.z *= 2.0f, v.w *= 2.0f;
        reinterpret_cast<float4 *>(y)[i] = v;
    } else {
        for (int j = 4 * i; j < n; j++) y[j] = 2.0f * x[j];
    }
}

static __device__ __forceinline__ double warp_sum(double value) {
    for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(0xffffffffu, value, d);
    return value;
}

// A partial sum for each block, in an order that depends on the launch alone.
extern "C" __global__ void __launch_bounds__(256) block_sum(int n, const double *x, double *out) {
    __shared__ double parts[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < warps ? parts[lane] : 0.0);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}

// A row for each block. NaN in a row makes all of it NaN.
extern "C" __global__ void __launch_bounds__(128) softmax(int n, const float *x, float *out) {
    __shared__ float parts[4];
    __shared__ float total;
    const float *row = x + (long long)blockIdx.x * n;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float most = __int_as_float(0xff800000);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        most = row[i] > most || row[i] != row[i] ? row[i] : most;
    }
    for (int d = 16; d; d >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, most, d);
        most = other > most || other != other ? other : most;
    }
    if (lane == 0) parts[warp] = most;
    __syncthreads();
    for (int i = 0; i < 4; i++) most = parts[i] > most || parts[i] != parts[i] ? parts[i] : most;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    __syncthreads();
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) total = parts[0] + parts[1] + parts[2] + parts[3];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[(long long)blockIdx.x * n + i] = expf(row[i] - most) / total;
    }
}

extern "C" __global__ void transpose(int rows, int columns, const float *x, float *out) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += blockDim.y) {
        int row = blockIdx.y * 32 + j;
        if (row < rows && column < columns) tile[j][threadIdx.x] = x[row * columns + column];
    }
    __syncthreads();
    int row = blockIdx.y * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += blockDim.y) {
        int to = blockIdx.x * 32 + j;
        if (row < rows && to < columns) out[to * rows + row] = tile[threadIdx.x][j];
    }
}

// Dynamic shared memory, which two arrays of different types share.
extern "C" __global__ void reverse(int n, const double *x, double *out) {
    extern __shared__ __align__(16) char room[];
    double *values = reinterpret_cast<double *>(room);
    int *places = reinterpret_cast<int *>(values + blockDim.x);
    int i = threadIdx.x;
    if (i < n) values[i] = x[i], places[i] = n - 1 - i;
    __syncthreads();
    if (i < n) out[i] = values[places[i]];
}

// float16 and bfloat16 as storage: the one thing that must be written twice.
#ifdef SYMC_SIM
static __device__ float from_half(unsigned short bits) {
    _Float16 half;
    __builtin_memcpy(&half, &bits, 2);
    return (float)half;
}
static __device__ unsigned short to_half(float x) {
    _Float16 half = (_Float16)x;
    unsigned short bits;
    __builtin_memcpy(&bits, &half, 2);
    return bits;
}
#else
static __device__ float from_half(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
static __device__ unsigned short to_half(float x) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
#endif

extern "C" __global__ void double_halves(int n, const unsigned short *x, unsigned short *out) {
    int i = threadIdx.x;
    if (i < n) out[i] = to_half(2.0f * from_half(x[i]));
}

// Counts, the largest, and which bits occur.
extern "C" __global__ void histogram(int n, const int *x, int bins, unsigned *counts, int *most,
                                     unsigned *bits, float *sum) {
    __shared__ unsigned local[64];
    for (int b = threadIdx.x; b < 64; b += blockDim.x) local[b] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&local[x[i] % bins], 1u);
        atomicMax(most, x[i]);
        atomicOr(bits, (unsigned)x[i]);
        atomicAdd(sum, 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) atomicAdd(&counts[b], local[b]);
}

// The warp's votes and shuffles, of 4 and 8 bytes, with all widths.
extern "C" __global__ void exchanges(unsigned *votes, int *up, long long *down, double *groups) {
    int lane = threadIdx.x;
    votes[3 * lane] = __ballot_sync(0xffffffffu, lane % 3 == 0);
    votes[3 * lane + 1] = __any_sync(0xffffffffu, lane == 7);
    votes[3 * lane + 2] = __all_sync(0xffffffffu, lane < 31);
    up[lane] = __shfl_up_sync(0xffffffffu, lane, 3);
    down[lane] = __shfl_down_sync(0xffffffffu, (long long)lane << 40, 5, 16);
    groups[lane] = __shfl_sync(0xffffffffu, 0.5 * lane, 9, 8);
}

// Lanes below 16 and above do different things at the same time.
extern "C" __global__ void halves(int *out) {
    int lane = threadIdx.x, value = lane;
    if (lane < 16) {
        for (int d = 8; d; d >>= 1) value += __shfl_xor_sync(0x0000ffffu, value, d);
    } else {
        value = __popc(__ballot_sync(0xffff0000u, lane % 2));
        __syncwarp(0xffff0000u);
    }
    out[lane] = value;
}

// Neighbours in a warp pass values through shared memory, ordered by __syncwarp.
extern "C" __global__ void through_shared(int *out) {
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x * 10;
    __syncwarp();
    int next = values[threadIdx.x ^ 1];
    __syncwarp();
    values[threadIdx.x] = next;
    out[threadIdx.x] = values[threadIdx.x];
}

// All lanes read a word; after __syncwarp, one of them reads it again and writes it.
extern "C" __global__ void read_again(int *out) {
    __shared__ int totals[2];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) totals[warp] = warp + 1;
    __syncwarp();
    int seen = totals[warp];
    __syncwarp();
    if (lane == 5) totals[warp] += 10 * seen;
    __syncwarp();
    out[threadIdx.x] = totals[warp] + seen;
}

// A word read in whole; after a barrier, threads read and write different parts of it.
extern "C" __global__ void parts_of_words(int *out) {
    __shared__ __align__(4) short parts[2];
    int lane = threadIdx.x;
    if (lane == 0) *(int *)parts = 7 + (5 << 16);
    __syncthreads();
    int whole = lane == 1 ? *(int *)parts : 0;
    __syncthreads();
    if (lane == 2) whole = parts[0];
    if (lane == 3) parts[1] = 4;
    __syncthreads();
    out[lane] = whole + parts[1];
}

extern "C" __global__ void counted(const int *x, int *out) {
    int count = __syncthreads_count(x[threadIdx.x] > 0);
    int every = __syncthreads_and(x[threadIdx.x] > 0);
    int some = __syncthreads_or(x[threadIdx.x] > 0);
    out[threadIdx.x] = 4 * count + 2 * every + some;
}

struct Pair {
    double first;
    short second;
};

// Arguments of all sizes, a structure among them.
extern "C" __global__ void arguments(bool a, char b, short c, int d, long long e, float f, double g,
                                     Pair h, double *out) {
    out[0] = a, out[1] = b, out[2] = c, out[3] = d, out[4] = (double)e, out[5] = f, out[6] = g;
    out[7] = h.first, out[8] = h.second;
}

__constant__ float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};
static __device__ const int primes[] = {2, 3, 5, 7};

extern "C" __global__ void tables(float *out) {
    float own[4];
    for (int i = 0; i < 4; i++) own[(i + threadIdx.x) % 4] = table[i] * primes[i];
    out[threadIdx.x] = own[(threadIdx.x * 3) % 4];
}

extern "C" __global__ void index_of_blocks(int *out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
