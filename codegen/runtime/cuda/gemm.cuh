// Matrix products where there is no cuBLAS, and products with vectors. deviceblas.h launches these
// kernels. Bits depend on lengths only, not on the device.

// SYMBOL symc_product_tiles
// The pieces of both matrices that a block multiplies, twice: one is filled while the other is
// read. Four more elements in each row spread columns over the banks and keep rows aligned.
template <typename T, int TILE, int DEPTH>
struct symc_product_tiles {
    alignas(16) T a[2][DEPTH][TILE + 4], b[2][DEPTH][TILE + 4];
};

// SYMBOL symc_product_side
// One thread's share of loading one of the matrices: TILE lines (rows of a, columns of b), DEPTH
// elements of each at a time. Threads next to each other load elements that are next to each other.
template <typename T, int TILE, int DEPTH>
struct symc_product_side {
    enum { COUNT = TILE * DEPTH / 256 };
    const T *from;
    int64_t apart, advance;
    int line, depth, line_step, depth_step, lines;
    T held[COUNT];

    __device__ symc_product_side(const T *matrix, int64_t line_stride, int64_t stride, int64_t count) {
        const int thread = threadIdx.x;
        const bool along = stride == 1;
        line = along ? thread / DEPTH : thread % TILE;
        depth = along ? thread % DEPTH : thread / TILE;
        line_step = along ? 256 / DEPTH : 0;
        depth_step = along ? 0 : 256 / TILE;
        from = matrix + line * line_stride + depth * stride;
        apart = line_step * line_stride + depth_step * stride;
        advance = DEPTH * stride;
        lines = count < TILE ? (int)count : TILE;
    }

    // Loads the next elements of all lines; `left` are there. Beyond the matrix there are zeros.
    __device__ void fetch(int64_t left) {
        const int end = left < DEPTH ? (int)left : DEPTH;
#pragma unroll
        for (int r = 0; r < COUNT; r++) {
            const bool inside = line + r * line_step < lines && depth + r * depth_step < end;
            held[r] = inside ? from[r * apart] : (T)0;
        }
        from += advance;
    }

    __device__ void put(T (*tile)[TILE + 4]) const {
#pragma unroll
        for (int r = 0; r < COUNT; r++)
            tile[depth + r * depth_step][line + r * line_step] = held[r];
    }
};

// SYMBOL symc_multiply_tiles
// NEEDS symc_pack symc_product symc_product_side symc_product_tiles
// Each of 256 threads computes EACH by EACH elements of a tile of c, in groups of 16 bytes that are
// SIDE groups apart: so threads read shared memory without conflicts.
template <typename T, int TILE, int DEPTH, int EACH>
static inline void symc_multiply_tiles(const symc_product &task,
                                       symc_product_tiles<T, TILE, DEPTH> &tiles) {
    constexpr int SIDE = TILE / EACH, GROUP = 16 / sizeof(T);
    typedef symc_pack<T, GROUP> group;
    const int x = threadIdx.x % SIDE * GROUP, y = threadIdx.x / SIDE * GROUP;
    const unsigned across = (unsigned)((task.n + TILE - 1) / TILE);
    const int64_t i = (int64_t)(blockIdx.x / across) * TILE;
    const int64_t j = (int64_t)(blockIdx.x % across) * TILE;
    for (int64_t z = blockIdx.y; z < task.batch; z += gridDim.y) {
        const int64_t left = task.k_end - z * task.k, k = left < task.k ? left : task.k;
        symc_product_side<T, TILE, DEPTH> a(
            (const T *)task.a + z * task.step_a + i * task.row_a, task.row_a, task.column_a,
            task.m - i);
        symc_product_side<T, TILE, DEPTH> b(
            (const T *)task.b + z * task.step_b + j * task.column_b, task.column_b, task.row_b,
            task.n - j);
        T sums[EACH][EACH] = {};
        int half = 0;
        a.fetch(k);
        b.fetch(k);
        a.put(tiles.a[0]);
        b.put(tiles.b[0]);
        __syncthreads();
        for (int64_t q = 0; q < k; q += DEPTH) {
            const bool more = q + DEPTH < k;
            if (more) {
                a.fetch(k - q - DEPTH);
                b.fetch(k - q - DEPTH);
            }
#pragma unroll 4
            for (int s = 0; s < DEPTH; s++) {
                group rows[EACH / GROUP], columns[EACH / GROUP];
#pragma unroll
                for (int g = 0; g < EACH / GROUP; g++) {
                    rows[g] = *(const group *)&tiles.a[half][s][g * SIDE * GROUP + y];
                    columns[g] = *(const group *)&tiles.b[half][s][g * SIDE * GROUP + x];
                }
#pragma unroll
                for (int r = 0; r < EACH; r++)
#pragma unroll
                    for (int t = 0; t < EACH; t++)
                        sums[r][t] += rows[r / GROUP].at[r % GROUP] *
                                      columns[t / GROUP].at[t % GROUP];
            }
            if (more) {
                half ^= 1;
                a.put(tiles.a[half]);
                b.put(tiles.b[half]);
                __syncthreads();
            }
        }
        __syncthreads();  // nobody reads the tiles any more
        const T alpha = (T)task.alpha, beta = (T)task.beta;
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int64_t row = i + r / GROUP * SIDE * GROUP + r % GROUP + y;
            T *c = (T *)task.c + z * task.step_c + row * task.row_c + j + x;
            const int64_t end = row < task.m ? task.n - j - x : 0;
#pragma unroll
            for (int t = 0; t < EACH; t++) {
                const int column = t / GROUP * SIDE * GROUP + t % GROUP;
                if (column >= end) continue;
                T sum = alpha * sums[r][t];
                if (beta != 0) sum += beta * c[column];
                c[column] = sum;
            }
        }
    }
}

// SYMBOL symc_gemm_kernel_f32
// NEEDS symc_multiply_tiles
extern "C" __global__ void __launch_bounds__(256) symc_gemm_kernel_f32(symc_product task) {
    __shared__ symc_product_tiles<float, 64, 16> tiles;
    symc_multiply_tiles<float, 64, 16, 4>(task, tiles);
}

// SYMBOL symc_gemm_kernel_f64
// NEEDS symc_multiply_tiles
extern "C" __global__ void __launch_bounds__(256, 1) symc_gemm_kernel_f64(symc_product task) {
    __shared__ symc_product_tiles<double, 64, 16> tiles;
    symc_multiply_tiles<double, 64, 16, 4>(task, tiles);
}

// SYMBOL symc_large_gemm_kernel_f32
// NEEDS symc_multiply_tiles
extern "C" __global__ void __launch_bounds__(256) symc_large_gemm_kernel_f32(symc_product task) {
    __shared__ symc_product_tiles<float, 128, 8> tiles;
    symc_multiply_tiles<float, 128, 8, 8>(task, tiles);
}

// SYMBOL symc_large_gemm_kernel_f64
// NEEDS symc_multiply_tiles
extern "C" __global__ void __launch_bounds__(256) symc_large_gemm_kernel_f64(symc_product task) {
    __shared__ symc_product_tiles<double, 128, 8> tiles;
    symc_multiply_tiles<double, 128, 8, 8>(task, tiles);
}

// SYMBOL symc_multiply_rows
// NEEDS symc_vector_product
// A team for each row. `reduce` is the team's sum.
template <typename T, typename Reduce>
static inline void symc_multiply_rows(const symc_vector_product &task, Reduce reduce) {
    const T *x = (const T *)task.x;
    const T alpha = (T)task.alpha, beta = (T)task.beta;
    const int64_t teams = (int64_t)gridDim.x * blockDim.y;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < task.rows; i += teams) {
        const T *row = (const T *)task.a + i * task.row;
        T sum = 0;
#pragma unroll 4
        for (int64_t j = threadIdx.x; j < task.columns; j += blockDim.x) sum += row[j] * x[j];
        sum = alpha * reduce(sum);
        T *at = (T *)task.y + i;
        if (threadIdx.x == 0) *at = beta == 0 ? sum : sum + beta * *at;
    }
}

// SYMBOL symc_gemv_kernel_f32
// NEEDS symc_multiply_rows symc_team_add_f32
extern "C" __global__ void __launch_bounds__(256) symc_gemv_kernel_f32(symc_vector_product task) {
    symc_multiply_rows<float>(task, symc_team_add_f32);
}

// SYMBOL symc_gemv_kernel_f64
// NEEDS symc_multiply_rows symc_team_add_f64
extern "C" __global__ void __launch_bounds__(256) symc_gemv_kernel_f64(symc_vector_product task) {
    symc_multiply_rows<double>(task, symc_team_add_f64);
}

// SYMBOL symc_multiply_columns
// NEEDS symc_vector_product
// With the transpose: a block of 32 by 16 threads for 32 columns of a piece. A thread takes every
// 16th row.
template <typename T>
static inline void symc_multiply_columns(const symc_vector_product &task, T (&parts)[16][32]) {
    const T *x = (const T *)task.x;
    const T alpha = (T)task.alpha, beta = (T)task.beta;
    const int64_t j = (int64_t)blockIdx.x * 32 + threadIdx.x;
    const int64_t first = blockIdx.y * task.piece, end = first + task.piece;
    const int64_t stop = j >= task.columns ? 0 : end < task.rows ? end : task.rows;
    const T *column = (const T *)task.a + j;
    T sum = 0;
#pragma unroll 4
    for (int64_t i = first + threadIdx.y; i < stop; i += 16)
        sum += (x ? x[i] : (T)1) * column[i * task.row];
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || j >= task.columns) return;
    for (int r = 1; r < 16; r++) sum += parts[r][threadIdx.x];
    T *at = (T *)task.y + blockIdx.y * task.columns + j;
    *at = beta == 0 ? alpha * sum : alpha * sum + beta * *at;
}

// SYMBOL symc_columns_kernel_f32
// NEEDS symc_multiply_columns
extern "C" __global__ void __launch_bounds__(512)
symc_columns_kernel_f32(symc_vector_product task) {
    __shared__ float parts[16][32];
    symc_multiply_columns(task, parts);
}

// SYMBOL symc_columns_kernel_f64
// NEEDS symc_multiply_columns
extern "C" __global__ void __launch_bounds__(512)
symc_columns_kernel_f64(symc_vector_product task) {
    __shared__ double parts[16][32];
    symc_multiply_columns(task, parts);
}

// SYMBOL symc_multiply_pieces
// The sum of products of a piece of two vectors, by a team.
template <typename T, typename Reduce>
static inline void symc_multiply_pieces(int64_t n, int64_t piece, const T *x, const T *y, T *sums,
                                        Reduce reduce) {
    const int64_t first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    T sum = 0;
#pragma unroll 4
    for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x) sum += x[i] * y[i];
    sum = reduce(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// SYMBOL symc_dot_kernel_f32
// NEEDS symc_multiply_pieces symc_team_add_f32
extern "C" __global__ void __launch_bounds__(256) symc_dot_kernel_f32(
    int64_t n, int64_t piece, const float *x, const float *y, float *sums) {
    symc_multiply_pieces(n, piece, x, y, sums, symc_team_add_f32);
}

// SYMBOL symc_dot_kernel_f64
// NEEDS symc_multiply_pieces symc_team_add_f64
extern "C" __global__ void __launch_bounds__(256) symc_dot_kernel_f64(
    int64_t n, int64_t piece, const double *x, const double *y, double *sums) {
    symc_multiply_pieces(n, piece, x, y, sums, symc_team_add_f64);
}

// SYMBOL symc_add_outer
// a[m, n] += alpha x y
template <typename T>
static inline void symc_add_outer(int64_t m, int64_t n, T alpha, const T *x, const T *y, T *a,
                                  int64_t lda) {
    const int64_t j = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (j >= n) return;
    for (int64_t i = blockIdx.y; i < m; i += gridDim.y) a[i * lda + j] += alpha * x[i] * y[j];
}

// SYMBOL symc_ger_kernel_f32
// NEEDS symc_add_outer
extern "C" __global__ void __launch_bounds__(256) symc_ger_kernel_f32(
    int64_t m, int64_t n, float alpha, const float *x, const float *y, float *a, int64_t lda) {
    symc_add_outer(m, n, alpha, x, y, a, lda);
}

// SYMBOL symc_ger_kernel_f64
// NEEDS symc_add_outer
extern "C" __global__ void __launch_bounds__(256) symc_ger_kernel_f64(
    int64_t m, int64_t n, double alpha, const double *x, const double *y, double *a, int64_t lda) {
    symc_add_outer(m, n, alpha, x, y, a, lda);
}
