// The part of the CUDA driver API that the simulator has: types, numbers and functions as in
// NVIDIA's cuda.h, under the names that cuGetProcAddress takes (no `_v2`).
#ifndef SYMC_SIM_API_H
#define SYMC_SIM_API_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct graph *CUgraph;
typedef struct executable *CUgraphExec;
typedef struct pool *CUmemoryPool;
struct properties;
typedef struct CUuuid {
    char bytes[16];
} CUuuid;

// RESULT(number, name, the text of cuGetErrorString)
#define RESULTS(RESULT)                                                                         \
    RESULT(0, CUDA_SUCCESS, "no error")                                                         \
    RESULT(1, CUDA_ERROR_INVALID_VALUE, "invalid argument")                                     \
    RESULT(2, CUDA_ERROR_OUT_OF_MEMORY, "out of memory")                                        \
    RESULT(3, CUDA_ERROR_NOT_INITIALIZED, "initialization error")                               \
    RESULT(101, CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal")                            \
    RESULT(200, CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid")                     \
    RESULT(201, CUDA_ERROR_INVALID_CONTEXT, "invalid device context")                           \
    RESULT(400, CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")                           \
    RESULT(500, CUDA_ERROR_NOT_FOUND, "named symbol not found")                                 \
    RESULT(600, CUDA_ERROR_NOT_READY, "device not ready")                                       \
    RESULT(700, CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered")         \
    RESULT(701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch")  \
    RESULT(710, CUDA_ERROR_ASSERT, "device-side assert triggered")                              \
    RESULT(716, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address")                            \
    RESULT(719, CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure")                         \
    RESULT(801, CUDA_ERROR_NOT_SUPPORTED, "operation not supported")                            \
    RESULT(900, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,                                          \
           "operation not permitted when stream is capturing")                                  \
    RESULT(901, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,                                          \
           "operation failed due to a previous error during capture")                           \
    RESULT(904, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work")       \
    RESULT(906, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,                                             \
           "operation would make the legacy stream depend on a capturing blocking stream")      \
    RESULT(907, CUDA_ERROR_CAPTURED_EVENT,                                                      \
           "operation not permitted on an event last recorded in a capturing stream")           \
    RESULT(908, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,                                         \
           "attempt to terminate a thread-local capture sequence from another thread")

#define RESULT_NUMBER(number, name, text) name = number,
enum { RESULTS(RESULT_NUMBER) };

enum {
    CU_STREAM_NON_BLOCKING = 1,
    CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
};

// FUNCTION(name, parameters): all of them, in the order of the files that hold them.
#define FUNCTIONS(FUNCTION)                                                                     \
    /* device.c */                                                                              \
    FUNCTION(cuInit, (unsigned flags))                                                          \
    FUNCTION(cuDriverGetVersion, (int *version))                                                \
    FUNCTION(cuDeviceGet, (CUdevice * device, int ordinal))                                     \
    FUNCTION(cuDeviceGetCount, (int *count))                                                    \
    FUNCTION(cuDeviceGetName, (char *name, int length, CUdevice device))                        \
    FUNCTION(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                \
    FUNCTION(cuDeviceTotalMem, (size_t *bytes, CUdevice device))                                \
    FUNCTION(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device))                                 \
    FUNCTION(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device))                   \
    FUNCTION(cuDevicePrimaryCtxRelease, (CUdevice device))                                      \
    FUNCTION(cuCtxPushCurrent, (CUcontext context))                                             \
    FUNCTION(cuCtxPopCurrent, (CUcontext *context))                                             \
    FUNCTION(cuCtxGetCurrent, (CUcontext *context))                                             \
    FUNCTION(cuCtxSetCurrent, (CUcontext context))                                              \
    FUNCTION(cuCtxGetDevice, (CUdevice *device))                                                \
    FUNCTION(cuGetErrorName, (CUresult result, const char **name))                              \
    FUNCTION(cuGetErrorString, (CUresult result, const char **text))                            \
    FUNCTION(cuGetProcAddress, (const char *symbol, void **address, int version,                \
                                uint64_t flags, int *status))                                   \
    /* modules.c */                                                                             \
    FUNCTION(cuModuleLoadData, (CUmodule *module, const void *image))                           \
    FUNCTION(cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned count,          \
                                  int *options, void **values))                                 \
    FUNCTION(cuModuleUnload, (CUmodule module))                                                 \
    FUNCTION(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name))    \
    FUNCTION(cuFuncGetAttribute, (int *value, int attribute, CUfunction function))              \
    FUNCTION(cuFuncSetAttribute, (CUfunction function, int attribute, int value))               \
    FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                       \
             (int *blocks, CUfunction function, int threads, size_t shared))                    \
    FUNCTION(cuLaunchKernel, (CUfunction function, unsigned blocks_x, unsigned blocks_y,        \
                              unsigned blocks_z, unsigned threads_x, unsigned threads_y,        \
                              unsigned threads_z, unsigned shared, CUstream stream,             \
                              void **parameters, void **extra))                                 \
    /* memory.c */                                                                              \
    FUNCTION(cuMemAlloc, (CUdeviceptr *address, size_t bytes))                                  \
    FUNCTION(cuMemFree, (CUdeviceptr address))                                                  \
    FUNCTION(cuMemAllocAsync, (CUdeviceptr *address, size_t bytes, CUstream stream))            \
    FUNCTION(cuMemAllocFromPoolAsync, (CUdeviceptr *address, size_t bytes, CUmemoryPool pool,   \
                                       CUstream stream))                                        \
    FUNCTION(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                            \
    FUNCTION(cuMemGetInfo, (size_t *free, size_t *total))                                       \
    FUNCTION(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                    \
    FUNCTION(cuMemFreeHost, (void *address))                                                    \
    FUNCTION(cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice device))                  \
    FUNCTION(cuMemPoolCreate, (CUmemoryPool *pool, const struct properties *properties))        \
    FUNCTION(cuMemPoolDestroy, (CUmemoryPool pool))                                             \
    FUNCTION(cuMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void *value))            \
    FUNCTION(cuMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void *value))            \
    FUNCTION(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes))                                \
    FUNCTION(cuPointerGetAttribute, (void *value, int attribute, CUdeviceptr address))          \
    FUNCTION(cuPointerGetAttributes, (unsigned count, int *attributes, void **values,           \
                                      CUdeviceptr address))                                     \
    /* copies.c */                                                                              \
    FUNCTION(cuMemcpyHtoD, (CUdeviceptr to, const void *from, size_t bytes))                    \
    FUNCTION(cuMemcpyDtoH, (void *to, CUdeviceptr from, size_t bytes))                          \
    FUNCTION(cuMemcpyDtoD, (CUdeviceptr to, CUdeviceptr from, size_t bytes))                    \
    FUNCTION(cuMemcpyHtoDAsync,                                                                 \
             (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                 \
    FUNCTION(cuMemcpyDtoHAsync, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))    \
    FUNCTION(cuMemcpyDtoDAsync,                                                                 \
             (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                 \
    FUNCTION(cuMemsetD8, (CUdeviceptr to, unsigned char value, size_t count))                   \
    FUNCTION(cuMemsetD32, (CUdeviceptr to, unsigned value, size_t count))                       \
    FUNCTION(cuMemsetD8Async,                                                                   \
             (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))              \
    FUNCTION(cuMemsetD32Async,                                                                  \
             (CUdeviceptr to, unsigned value, size_t count, CUstream stream))                   \
    /* streams.c */                                                                             \
    FUNCTION(cuCtxSynchronize, (void))                                                          \
    FUNCTION(cuStreamCreate, (CUstream *stream, unsigned flags))                                \
    FUNCTION(cuStreamDestroy, (CUstream stream))                                                \
    FUNCTION(cuStreamSynchronize, (CUstream stream))                                            \
    FUNCTION(cuStreamQuery, (CUstream stream))                                                  \
    FUNCTION(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))               \
    FUNCTION(cuEventCreate, (CUevent *event, unsigned flags))                                   \
    FUNCTION(cuEventDestroy, (CUevent event))                                                   \
    FUNCTION(cuEventRecord, (CUevent event, CUstream stream))                                   \
    FUNCTION(cuEventSynchronize, (CUevent event))                                               \
    FUNCTION(cuEventQuery, (CUevent event))                                                     \
    FUNCTION(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))             \
    /* graphs.c */                                                                              \
    FUNCTION(cuStreamBeginCapture, (CUstream stream, int mode))                                 \
    FUNCTION(cuStreamEndCapture, (CUstream stream, CUgraph *graph))                             \
    FUNCTION(cuStreamIsCapturing, (CUstream stream, int *status))                               \
    FUNCTION(cuGraphInstantiateWithFlags,                                                       \
             (CUgraphExec *executable, CUgraph graph, uint64_t flags))                          \
    FUNCTION(cuGraphUpload, (CUgraphExec executable, CUstream stream))                          \
    FUNCTION(cuGraphLaunch, (CUgraphExec executable, CUstream stream))                          \
    FUNCTION(cuGraphDestroy, (CUgraph graph))                                                   \
    FUNCTION(cuGraphExecDestroy, (CUgraphExec executable))

// The functions of cuBLAS that symc calls, under the names of the library.
typedef struct cublasContext *cublasHandle_t;
#define CUBLAS_FUNCTIONS(FUNCTION)                                                              \
    FUNCTION(cublasCreate_v2, (cublasHandle_t *handle))                                         \
    FUNCTION(cublasDestroy_v2, (cublasHandle_t handle))                                         \
    FUNCTION(cublasSetStream_v2, (cublasHandle_t handle, CUstream stream))                      \
    FUNCTION(cublasGemmStridedBatchedEx,                                                        \
             (cublasHandle_t handle, int trans_a, int trans_b, int m, int n, int k,             \
              const void *alpha, const void *a, int type_a, int lda, long long stride_a,        \
              const void *b, int type_b, int ldb, long long stride_b, const void *beta, void *c, \
              int type_c, int ldc, long long stride_c, int batch, int compute, int algorithm))

#define FUNCTION_PROTOTYPE(name, parameters) CUresult name parameters;
FUNCTIONS(FUNCTION_PROTOTYPE)
CUBLAS_FUNCTIONS(FUNCTION_PROTOTYPE)

#endif
