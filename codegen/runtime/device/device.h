// The interface of the host functions of a CUDA program: one call as Python describes it, and the
// device with the driver's functions. They are called through pointers, so that no program is
// linked with CUDA, and the same program runs on a graphics card and on the simulator
// (runtime/sim).
//
// A `symc_status` is 0, or > 0 for a failed check, or -1 for no memory, or -1000 - e for the error
// e of the driver, or -2000 - e for the error e of cuBLAS; `step` of the call then says which step.

// SYMBOL symc_device
typedef struct symc_device {
    // The driver API's functions of these names, as of CUDA 12; a device address is a uint64_t.
    int (*cuCtxPushCurrent)(void *context);
    int (*cuCtxPopCurrent)(void **context);
    int (*cuLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void *stream, void **params, void **extra);
    int (*cuMemcpyDtoHAsync)(void *to, uint64_t from, size_t bytes, void *stream);
    int (*cuMemcpyHtoDAsync)(uint64_t to, const void *from, size_t bytes, void *stream);
    int (*cuMemcpyDtoDAsync)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*cuMemsetD8Async)(uint64_t to, unsigned char value, size_t bytes, void *stream);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuMemAllocAsync)(uint64_t *address, size_t bytes, void *stream);
    int (*cuMemFreeAsync)(uint64_t address, void *stream);
    int (*cuEventCreate)(void **event, unsigned flags);
    int (*cuEventDestroy)(void *event);
    int (*cuEventRecord)(void *event, void *stream);
    int (*cuEventSynchronize)(void *event);
    int (*cuEventElapsedTime)(float *milliseconds, void *start, void *end);
    // cuBLAS; `blas` is 0 where there is none.
    int (*cublasSetStream)(void *blas, void *stream);
    int (*cublasGemmStridedBatchedEx)(
        void *blas, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
        const void *a, int type_a, int lda, long long stride_a, const void *b, int type_b, int ldb,
        long long stride_b, const void *beta, void *c, int type_c, int ldc, long long stride_c,
        int batch, int compute, int algorithm);
    void *context;
    void *blas;
    int64_t processors;   // streaming multiprocessors
    int64_t shared_bytes; // of dynamic shared memory that a block may have
    int64_t synchronous;  // whether to wait after each launch, to find the step that fails
    int64_t alone;        // 0, or each team has a block of its own, of up to so many threads
} symc_device;

// SYMBOL symc_call
// NEEDS symc_device
// As `symc_call` in call.h, and after that the fields of a device. `data` holds device addresses,
// but for inputs without axes: those are the addresses of host memory, and their values are passed
// to kernels as they are. `workspace` is device memory, aligned to 256 bytes.
typedef struct symc_call {
    void **data;
    const int64_t *lengths;
    int64_t *shapes;
    int64_t *sizes;
    char *workspace;
    int64_t workspace_bytes;
    int64_t threads;
    void *(*allocate)(void *context, int64_t output);
    void *context;
    int64_t (*host)(void *context, int64_t number, const void *const *arrays,
                    const int64_t *lengths);
    const symc_device *device;
    void *const *functions;  // the kernels of the program, in the order of symc_kernels
    void *stream;
    int64_t step;            // written where a step fails: its number
    int64_t tf32;            // whether float32 products by cuBLAS may round their factors
} symc_call;
