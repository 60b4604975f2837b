// Kernels with one mistake each. The test that plants it names the line that must be blamed, by
// the comment on it.

extern "C" __global__ void no_barrier(const float *x, float *out) {
    __shared__ float values[256];
    values[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x] = values[255 - threadIdx.x];  // no_barrier
}

// All of it was written in the round before: only the order is wrong.
extern "C" __global__ void no_second_barrier(const float *x, float *out) {
    __shared__ float values[64];
    float sum = 0.0f;
    for (int round = 0; round < 3; round++) {
        values[threadIdx.x] = x[threadIdx.x] + round;
        __syncthreads();
        sum += values[63 - threadIdx.x];  // no_second_barrier
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void no_syncwarp(int *out) {
    __shared__ int values[32];
    values[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = values[threadIdx.x ^ 1];  // no_syncwarp
}

extern "C" __global__ void two_blocks_write(int *out) {
    out[threadIdx.x] = blockIdx.x;  // two_blocks_write
}

// A barrier does not order reads of the other block.
extern "C" __global__ void two_blocks_read(int *x) {
    int seen = x[0]; __syncthreads(); if (blockIdx.x == 1) x[0] = seen + 1;  // two_blocks_read
}

// In place, where a thread reads its neighbour's element.
extern "C" __global__ void shift_in_place(int n, float *x) {
    int i = threadIdx.x;
    if (i + 1 < n) x[i] = x[i + 1];  // shift_in_place
}

extern "C" __global__ void barrier_of_some(int *out) {
    if (threadIdx.x < 32) __syncthreads();  // barrier_of_some
    out[threadIdx.x] = 1;
}

extern "C" __global__ void two_barriers(int *out) {
    if (threadIdx.x < 16) {
        __syncthreads();  // two_barriers
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

extern "C" __global__ void return_before_barrier(int n, int *out) {
    if (threadIdx.x >= n) return;
    __syncthreads();  // return_before_barrier
    out[threadIdx.x] = 1;
}

extern "C" __global__ void return_before_shuffle(int n, int *out) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[i] = __shfl_xor_sync(0xffffffffu, i, 1);  // return_before_shuffle
}

extern "C" __global__ void wrong_mask(int *out) {
    int i = threadIdx.x;
    out[i] = __shfl_xor_sync(0x0000ffffu, i, 1);  // wrong_mask
}

extern "C" __global__ void different_masks(int *out) {
    int i = threadIdx.x;
    out[i] = __shfl_xor_sync(i < 8 ? 0xffffffffu : 0xffffff00u, i, 1);  // different_masks
}

extern "C" __global__ void different_operations(int *out) {
    int i = threadIdx.x;
    if (i < 16) {
        out[i] = __shfl_xor_sync(0xffffffffu, i, 1);  // different_operations
    } else {
        out[i] = __any_sync(0xffffffffu, i);
    }
}

extern "C" __global__ void write_past_end(int n, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] = 1.0f;  // write_past_end
}

extern "C" __global__ void read_before_start(const float *x, float *out) {
    int i = threadIdx.x;
    out[i] = x[i - 1];  // read_before_start
}

extern "C" __global__ void write_past_shared(float *out) {
    __shared__ float first[7];
    __shared__ float second[16];
    second[threadIdx.x] = 0.0f;
    first[threadIdx.x] = 1.0f;  // write_past_shared
    __syncthreads();
    out[threadIdx.x] = first[0] + second[threadIdx.x];
}

extern "C" __global__ void write_past_dynamic(int *out) {
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = threadIdx.x;  // write_past_dynamic
    out[threadIdx.x] = dynamic[threadIdx.x];
}

extern "C" __global__ void unwritten_shared(float *out) {
    __shared__ float values[32];
    if (threadIdx.x != 5) values[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];  // unwritten_shared
}

// Values of an earlier block do not count as written.
extern "C" __global__ void of_block_before(int *out) {
    __shared__ int value;
    if (blockIdx.x == 0) value = 1;
    out[blockIdx.x] = value;  // of_block_before
}

extern "C" __global__ void read_one(const float *x, float *out) {
    out[0] = x[0];  // read_one
}

extern "C" __global__ void read_vector(const float *x, float *out) {
    float4 v = *reinterpret_cast<const float4 *>(x);  // read_vector
    out[0] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void write_vector(const float *x, float *out) {
    float4 v = {x[0], x[1], x[2], x[3]};
    *reinterpret_cast<float4 *>(out) = v;  // write_vector
}

// As codegen/runtime/team.cuh has it.
template <typename T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) symc_pack {
    T at[N];
};

extern "C" __global__ void read_pack(const float *x, float *out) {
    const symc_pack<float, 2> v = *(const symc_pack<float, 2> *)x;  // read_pack
    out[0] = v.at[0] + v.at[1];
}

extern "C" __global__ void write_pack(const float *x, float *out) {
    symc_pack<float, 4> v = {{x[0], x[1], x[2], x[3]}};
    *(symc_pack<float, 4> *)out = v;  // write_pack
}

// Another thread's local variable.
extern "C" __global__ void borrowed_stack(int *out) {
    __shared__ int *where;
    int mine[4] = {(int)threadIdx.x, 1, 2, 3};
    if (threadIdx.x == 0) where = mine;
    __syncthreads();
    out[threadIdx.x] = where[threadIdx.x % 4];  // borrowed_stack
    __syncthreads();
    out[threadIdx.x] += mine[(threadIdx.x + 1) % 4];
}

extern "C" __global__ void asserts(int n) {
    assert(threadIdx.x < n);  // asserts
}

extern "C" __global__ void traps() {
    __trap();  // traps
}
