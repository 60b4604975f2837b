// The functions of blas.h on a device: the same names and arguments, but for `call` and the numbers
// of the kernels that a function launches, which come first (codegen/targets/cuda/routines.py lists
// them), and the threads, which nobody needs. Pointers to arrays are addresses of the device. They
// return a status, see device.h.
//
// gemm is cuBLAS's where there is one and its integers hold the lengths. Matrix times vector is
// bound by memory: kernels of our own are as fast. How work is cut depends on lengths only, so that
// results do not differ between devices.

// SYMBOL symc_cublas
// The target of the device's `blas`: a handle, which one thread at a time may use.
typedef struct symc_cublas {
    void *handle;
    int64_t lock;
} symc_cublas;

// SYMBOL symc_launch
// NEEDS symc_call
// Starts a kernel with blocks of x times y threads.
static int64_t symc_launch(const symc_call *call, int64_t kernel, int64_t grid_x, int64_t grid_y,
                           int64_t x, int64_t y, void **arguments) {
    const symc_device *device = call->device;
    int error = device->cuLaunchKernel(call->functions[kernel], (unsigned)grid_x, (unsigned)grid_y,
                                       1, (unsigned)x, (unsigned)y, 1, 0, call->stream, arguments,
                                       0);
    if (!error && device->synchronous) error = device->cuStreamSynchronize(call->stream);
    return error ? -1000 - error : 0;
}

// SYMBOL symc_up
// How many pieces of a size cover a length.
static inline int64_t symc_up(int64_t length, int64_t size) {
    return (length + size - 1) / size;
}

// SYMBOL symc_between
static inline int64_t symc_between(int64_t low, int64_t value, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

// SYMBOL symc_launch_columns
// NEEDS symc_launch symc_up symc_vector_product
static int64_t symc_launch_columns(const symc_call *call, int64_t kernel,
                                   const symc_vector_product *task) {
    void *arguments[] = {(void *)task};
    const int64_t pieces = task->rows > 0 ? symc_up(task->rows, task->piece) : 1;
    return symc_launch(call, kernel, symc_up(task->columns, 32), pieces, 32, 16, arguments);
}

// SYMBOL symc_add_pieces
// NEEDS symc_launch_columns
// y = alpha (the sum of `count` arrays of n elements, one after the other) + beta y. Frees them.
static int64_t symc_add_pieces(const symc_call *call, int64_t kernel, uint64_t pieces,
                               int64_t count, int64_t n, double alpha, double beta, void *y,
                               int64_t status) {
    symc_vector_product task = {count, n, n, count, (void *)pieces, 0, y, alpha, beta};
    if (!status) status = symc_launch_columns(call, kernel, &task);
    const int error = call->device->cuMemFreeAsync(pieces, call->stream);
    return !status && error ? -1000 - error : status;
}

// SYMBOL symc_library_gemm
// NEEDS symc_call symc_cublas symc_product
// By cuBLAS, whose matrices are column-major: the transposes of ours, so b comes first. A graph that
// is recorded keeps alpha and beta, and gets its workspace from cuBLAS by nodes of its own.
static int64_t symc_library_gemm(const symc_call *call, int64_t trans_a, int64_t trans_b,
                                 int64_t lda, int64_t ldb, const symc_product *task, int type,
                                 int compute, const void *alpha, const void *beta) {
    const symc_device *device = call->device;
    symc_cublas *blas = device->blas;
    while (__atomic_exchange_n(&blas->lock, 1, __ATOMIC_ACQUIRE)) {}
    int error = device->cublasSetStream(blas->handle, call->stream);
    if (!error)
        error = device->cublasGemmStridedBatchedEx(
            blas->handle, trans_b != 0, trans_a != 0, (int)task->n, (int)task->m, (int)task->k,
            alpha, task->b, type, (int)ldb, task->step_b, task->a, type, (int)lda, task->step_a,
            beta, task->c, type, (int)task->row_c, task->step_c, (int)task->batch, compute, -1);
    __atomic_store_n(&blas->lock, 0, __ATOMIC_RELEASE);
    if (error) return -2000 - error;
    if (device->synchronous) error = device->cuStreamSynchronize(call->stream);
    return error ? -1000 - error : 0;
}

// SYMBOL symc_launch_gemm
// NEEDS symc_add_pieces symc_between symc_launch symc_product symc_up
// By the kernels of gemm.cuh: large tiles where there are enough of them, and a long product for
// few tiles in pieces that are added up.
static int64_t symc_launch_gemm(const symc_call *call, int64_t small, int64_t large,
                                int64_t columns, symc_product task, int64_t bytes) {
    void *arguments[] = {&task};
    const int64_t together = symc_between(1, task.batch, 65535);
    const int64_t tiles = symc_up(task.m, 128) * symc_up(task.n, 128);
    if (task.m > 64 && task.n > 64 && tiles * task.batch >= 128)
        return symc_launch(call, large, tiles, together, 256, 1, arguments);
    const int64_t smaller = symc_up(task.m, 64) * symc_up(task.n, 64);
    const int64_t parts = symc_between(0, 256 / smaller, task.k / 256);
    if (parts < 2 || task.batch > 1 || task.row_c != task.n)
        return symc_launch(call, small, smaller, together, 256, 1, arguments);
    const int64_t size = task.m * task.n;
    void *const c = task.c;
    const double alpha = task.alpha, beta = task.beta;
    uint64_t pieces;
    const int error = call->device->cuMemAllocAsync(&pieces, (size_t)(parts * size * bytes),
                                                    call->stream);
    if (error) return -1000 - error;
    task.k = symc_up(task.k, parts);
    task.batch = symc_up(task.k_end, task.k);
    task.step_a = task.k * task.column_a;
    task.step_b = task.k * task.row_b;
    task.c = (void *)pieces;
    task.step_c = size;
    task.alpha = 1;
    task.beta = 0;
    const int64_t status = symc_launch(call, small, smaller, task.batch, 256, 1, arguments);
    return symc_add_pieces(call, columns, pieces, task.batch, size, alpha, beta, c, status);
}

// SYMBOL SYMC_DEFINE_DEVICE_GEMM
// NEEDS symc_launch_gemm symc_library_gemm
#define SYMC_DEFINE_DEVICE_GEMM(name, batched, type, code, compute, fast)                         \
    static int64_t batched(const symc_call *call, int64_t small, int64_t large, int64_t columns,  \
                           int64_t batch, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, \
                           int64_t k, type alpha, const type *a, int64_t lda, const type *b,      \
                           int64_t ldb, type beta, type *c, int64_t ldc, int64_t stride_a,        \
                           int64_t stride_b, int64_t stride_c) {                                  \
        const symc_product task = {                                                               \
            batch, m, n, k, batch * k,                                                            \
            a, trans_a ? 1 : lda, trans_a ? lda : 1, stride_a,                                    \
            b, trans_b ? 1 : ldb, trans_b ? ldb : 1, stride_b,                                    \
            c, ldc, stride_c, alpha, beta};                                                       \
        if (batch <= 0 || m <= 0 || n <= 0) return 0;                                             \
        if (call->device->blas && k > 0 &&                                                        \
            (batch | m | n | k | lda | ldb | ldc) <= 0x7fffffff)                                  \
            return symc_library_gemm(call, trans_a, trans_b, lda, ldb, &task, code,               \
                                     call->tf32 ? fast : compute, &alpha, &beta);                 \
        return symc_launch_gemm(call, small, large, columns, task, sizeof(type));                 \
    }                                                                                             \
    static inline int64_t name(const symc_call *call, int64_t small, int64_t large,               \
                               int64_t columns, int64_t trans_a, int64_t trans_b, int64_t m,      \
                               int64_t n, int64_t k, type alpha, const type *a, int64_t lda,      \
                               const type *b, int64_t ldb, type beta, type *c, int64_t ldc) {     \
        return batched(call, small, large, columns, 1, trans_a, trans_b, m, n, k, alpha, a, lda,  \
                       b, ldb, beta, c, ldc, 0, 0, 0);                                            \
    }

// SYMBOL symc_gemm_f32
// NEEDS SYMC_DEFINE_DEVICE_GEMM
// CUDA_R_32F, CUBLAS_COMPUTE_32F and CUBLAS_COMPUTE_32F_FAST_TF32.
SYMC_DEFINE_DEVICE_GEMM(symc_gemm_f32, symc_batched_gemm_f32, float, 0, 68, 77)

// SYMBOL symc_gemm_f64
// NEEDS SYMC_DEFINE_DEVICE_GEMM
// CUDA_R_64F and CUBLAS_COMPUTE_64F.
SYMC_DEFINE_DEVICE_GEMM(symc_gemm_f64, symc_batched_gemm_f64, double, 1, 70, 70)

// SYMBOL SYMC_DEFINE_DEVICE_GEMV
// NEEDS symc_add_pieces symc_between symc_launch symc_launch_columns symc_up symc_vector_product
// Rows are short or many: a warp each; else a block each. Few columns are cut into pieces of rows.
#define SYMC_DEFINE_DEVICE_GEMV(name, type)                                                       \
    static int64_t name(const symc_call *call, int64_t rows, int64_t columns, int64_t trans,      \
                        int64_t m, int64_t n, type alpha, const type *a, int64_t lda,             \
                        const type *x, type beta, type *y) {                                      \
        symc_vector_product task = {m, n, lda, m > 0 ? m : 1, a, x, y, alpha, beta};              \
        void *arguments[] = {&task};                                                              \
        if (!trans) {                                                                             \
            if (m <= 0) return 0;                                                                 \
            if (n > 1024 && m < 4096)                                                             \
                return symc_launch(call, rows, m, 1, 256, 1, arguments);                          \
            return symc_launch(call, rows, symc_between(1, symc_up(m, 8), 1 << 20), 1, 32, 8,     \
                               arguments);                                                        \
        }                                                                                         \
        if (n <= 0) return 0;                                                                     \
        const int64_t parts = symc_between(0, 512 / symc_up(n, 32), m / 256);                     \
        if (parts <= 1) return symc_launch_columns(call, columns, &task);                         \
        uint64_t pieces;                                                                          \
        const int error = call->device->cuMemAllocAsync(                                          \
            &pieces, (size_t)(parts * n) * sizeof(type), call->stream);                           \
        if (error) return -1000 - error;                                                          \
        task.piece = symc_up(m, parts);                                                           \
        task.y = (void *)pieces;                                                                  \
        task.alpha = 1;                                                                           \
        task.beta = 0;                                                                            \
        const int64_t status = symc_launch_columns(call, columns, &task);                         \
        return symc_add_pieces(call, columns, pieces, symc_up(m, task.piece), n, alpha, beta, y,  \
                               status);                                                           \
    }

// SYMBOL symc_gemv_f32
// NEEDS SYMC_DEFINE_DEVICE_GEMV
SYMC_DEFINE_DEVICE_GEMV(symc_gemv_f32, float)

// SYMBOL symc_gemv_f64
// NEEDS SYMC_DEFINE_DEVICE_GEMV
SYMC_DEFINE_DEVICE_GEMV(symc_gemv_f64, double)

// SYMBOL SYMC_DEFINE_DEVICE_GER
// NEEDS symc_between symc_launch symc_up
#define SYMC_DEFINE_DEVICE_GER(name, type)                                                        \
    static int64_t name(const symc_call *call, int64_t kernel, int64_t m, int64_t n, type alpha,  \
                        const type *x, const type *y, type *a, int64_t lda) {                     \
        void *arguments[] = {&m, &n, &alpha, &x, &y, &a, &lda};                                   \
        if (m <= 0 || n <= 0) return 0;                                                           \
        return symc_launch(call, kernel, symc_up(n, 256), symc_between(1, m, 65535), 256, 1,      \
                           arguments);                                                            \
    }

// SYMBOL symc_ger_f32
// NEEDS SYMC_DEFINE_DEVICE_GER
SYMC_DEFINE_DEVICE_GER(symc_ger_f32, float)

// SYMBOL symc_ger_f64
// NEEDS SYMC_DEFINE_DEVICE_GER
SYMC_DEFINE_DEVICE_GER(symc_ger_f64, double)

// SYMBOL SYMC_DEFINE_DEVICE_DOT
// NEEDS symc_add_pieces symc_between symc_launch symc_up
// The products of up to 512 pieces, then their sum.
#define SYMC_DEFINE_DEVICE_DOT(name, type)                                                        \
    static int64_t name(const symc_call *call, int64_t kernel, int64_t columns, int64_t n,        \
                        const type *x, const type *y, type *result) {                             \
        uint64_t pieces;                                                                          \
        int64_t piece = symc_up(n, symc_between(1, n / 2048, 512)), count;                        \
        void *arguments[] = {&n, &piece, &x, &y, &pieces};                                        \
        if (n <= 0) piece = 1;                                                                    \
        count = n > 0 ? symc_up(n, piece) : 1;                                                    \
        if (count == 1) {                                                                         \
            pieces = (uint64_t)result;                                                            \
            return symc_launch(call, kernel, 1, 1, 256, 1, arguments);                            \
        }                                                                                         \
        const int error = call->device->cuMemAllocAsync(                                          \
            &pieces, (size_t)count * sizeof(type), call->stream);                                 \
        if (error) return -1000 - error;                                                          \
        const int64_t status = symc_launch(call, kernel, count, 1, 256, 1, arguments);            \
        return symc_add_pieces(call, columns, pieces, count, 1, 1, 0, result, status);            \
    }

// SYMBOL symc_dot_f32
// NEEDS SYMC_DEFINE_DEVICE_DOT
SYMC_DEFINE_DEVICE_DOT(symc_dot_f32, float)

// SYMBOL symc_dot_f64
// NEEDS SYMC_DEFINE_DEVICE_DOT
SYMC_DEFINE_DEVICE_DOT(symc_dot_f64, double)

// SYMBOL symc_copy_bytes
// NEEDS symc_call
static inline int64_t symc_copy_bytes(const symc_call *call, void *dst, const void *src,
                                      int64_t n) {
    if (n <= 0) return 0;
    const int error = call->device->cuMemcpyDtoDAsync((uint64_t)dst, (uint64_t)src, (size_t)n,
                                                      call->stream);
    return error ? -1000 - error : 0;
}

// SYMBOL symc_batched_gemm_f32
// NEEDS symc_gemm_f32
// Defined with symc_gemm_f32.

// SYMBOL symc_batched_gemm_f64
// NEEDS symc_gemm_f64
// Defined with symc_gemm_f64.
