// Graphics cards as the exported program uses them: the CUDA driver, found when the program runs, so
// that nothing is linked with CUDA. With -DSYMC_SIM it is the simulator in sim/, which is linked.
// With -DSYMC_CUBLAS matrix products are cuBLAS's, which is found in the same way; else the program
// has kernels for them. With -DSYMC_OPENCL the driver is the one over OpenCL in opencl/.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_MEMORY = -1, NO_FILE = -2, TOO_LONG = -3, NO_DRIVER = -4, NO_BLAS = -5,
       DRIVER_ERROR = -1000, BLAS_ERROR = -2000, TOO_LARGE = 1 << 30 };

// Numbers of cuda.h.
enum {
    MOST_THREADS = 1,          // attributes of cards
    PROCESSORS = 16,
    SHARED_OPTIN = 97,
    KERNEL_SHARED = 1,         // attributes of kernels
    KERNEL_DYNAMIC_SHARED = 8,
    RELEASE_THRESHOLD = 4,     // an attribute of memory pools
};

// The functions of the driver that are not in symc_device.
#define DRIVER(use)                                                                                \
    use(cuInit, (unsigned flags))                                                                  \
    use(cuGetErrorString, (int error, const char **text))                                          \
    use(cuDeviceGet, (int *device, int card))                                                      \
    use(cuDeviceGetAttribute, (int *value, int attribute, int device))                             \
    use(cuDeviceGetDefaultMemPool, (void **pool, int device))                                      \
    use(cuMemPoolSetAttribute, (void *pool, int attribute, void *value))                           \
    use(cuDevicePrimaryCtxRetain, (void **context, int device))                                    \
    use(cuDevicePrimaryCtxRelease, (int device))                                                   \
    use(cuCtxSynchronize, (void))                                                                  \
    use(cuModuleLoadData, (void **module, const void *image))                                      \
    use(cuModuleUnload, (void *module))                                                            \
    use(cuModuleGetFunction, (void **function, void *module, const char *name))                    \
    use(cuFuncGetAttribute, (int *value, int attribute, void *function))                           \
    use(cuFuncSetAttribute, (void *function, int attribute, int value))

// Those that are.
#define DEVICE(use)                                                                                \
    use(cuCtxPushCurrent) use(cuCtxPopCurrent) use(cuLaunchKernel) use(cuMemcpyDtoHAsync)          \
    use(cuMemcpyHtoDAsync) use(cuMemcpyDtoDAsync) use(cuMemsetD8Async) use(cuStreamSynchronize)    \
    use(cuMemAllocAsync) use(cuMemFreeAsync)

#define FIELD(name, parameters) int (*name) parameters;
typedef struct driver {
    DRIVER(FIELD)
    symc_device functions;
} driver;

typedef int look_up(const char *name, void **address, int version, uint64_t flags, int *status);

#if defined SYMC_SIM || defined SYMC_OPENCL
look_up cuGetProcAddress;

static look_up *find_driver(void) {
    return cuGetProcAddress;
}
#else
#include <dlfcn.h>

static look_up *find_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    return library ? (look_up *)dlsym(library, "cuGetProcAddress_v2") : NULL;
}
#endif

static int find_function(look_up *find, const char *name, void *place) {
    void *address = NULL;
    int status;
    if (find(name, &address, 12000, 1, &status) || !address) return 0;
    memcpy(place, &address, sizeof address);
    return 1;
}

// The driver of this process; its functions are those of CUDA 12.0, whatever its version.
static int64_t open_driver(driver *made) {
    look_up *find = find_driver();
    int found = find != NULL;
    memset(made, 0, sizeof *made);
#define FIND(name, parameters) found = found && find_function(find, #name, &made->name);
#define FIND_DEVICE(name) found = found && find_function(find, #name, &made->functions.name);
    DRIVER(FIND)
    DEVICE(FIND_DEVICE)
    if (!found) return NO_DRIVER;
    const int error = made->cuInit(0);
    return error ? DRIVER_ERROR - (int64_t)error : 0;
}

// --- cards and kernels ---------------------------------------------------------------------------

// An image of kernels: its file, and how many of the kernels are in it.
typedef struct image {
    const char *file;
    int count;
} image;

typedef struct card {
    driver driver;
    int device;
    void *modules[IMAGES + 1];
    void *kernels[KERNELS + 1];
    int64_t blas[2];  // the handle of cuBLAS, and its lock: `symc_cublas` of the program
} card;

// The statuses of the driver as ours.
static int64_t driver_status(int error) {
    return error ? DRIVER_ERROR - (int64_t)error : 0;
}

#define TRY(call)                                              \
    do {                                                       \
        const int64_t tried = driver_status(call);             \
        if (tried) return tried;                               \
    } while (0)

static int64_t enter(card *own) {
    return driver_status(own->driver.functions.cuCtxPushCurrent(own->driver.functions.context));
}

static void leave(card *own) {
    void *context;
    own->driver.functions.cuCtxPopCurrent(&context);
}

// The card with a number, with the context that all libraries of the process share.
static int64_t open_card(card *own, int number) {
    driver *const cuda = &own->driver;
    int value;
    const int64_t status = open_driver(cuda);
    if (status) return status;
    TRY(cuda->cuDeviceGet(&own->device, number));
    TRY(cuda->cuDeviceGetAttribute(&value, PROCESSORS, own->device));
    cuda->functions.processors = value;
    TRY(cuda->cuDeviceGetAttribute(&value, SHARED_OPTIN, own->device));
    cuda->functions.shared_bytes = value;
#ifdef SYMC_OPENCL  // a team has a work-group of its own
    TRY(cuda->cuDeviceGetAttribute(&value, MOST_THREADS, own->device));
    cuda->functions.alone = value < 512 ? value : 512;
#endif
    TRY(cuda->cuDevicePrimaryCtxRetain(&cuda->functions.context, own->device));
    return 0;
}

// Memory that is given back stays with the process, for the next call.
static int64_t keep_memory(card *own) {
    void *pool;
    uint64_t most = UINT64_MAX;
    TRY(own->driver.cuDeviceGetDefaultMemPool(&pool, own->device));
    TRY(own->driver.cuMemPoolSetAttribute(pool, RELEASE_THRESHOLD, &most));
    return 0;
}

// Each kernel may use all the shared memory that a block can have.
static int64_t load_kernels(card *own, const void *const *images, const image *known,
                            const char *const *names) {
    driver *const cuda = &own->driver;
    int kernel = 0, used;
    for (int i = 0; i < IMAGES; i++) {
        TRY(cuda->cuModuleLoadData(&own->modules[i], images[i]));
        for (int end = kernel + known[i].count; kernel < end; kernel++) {
            void **const function = &own->kernels[kernel];
            TRY(cuda->cuModuleGetFunction(function, own->modules[i], names[kernel]));
            TRY(cuda->cuFuncGetAttribute(&used, KERNEL_SHARED, *function));
            used = (int)cuda->functions.shared_bytes - used;
            TRY(cuda->cuFuncSetAttribute(*function, KERNEL_DYNAMIC_SHARED, used));
        }
    }
    return 0;
}

// --- cuBLAS --------------------------------------------------------------------------------------

#ifdef SYMC_CUBLAS
#ifdef SYMC_SIM
int cublasCreate_v2(), cublasDestroy_v2(), cublasSetStream_v2(), cublasGemmStridedBatchedEx();
#define BLAS_FUNCTION(name) ((void *)name)
#else
static void *blas_library(void) {
    void *library = dlopen("libcublas.so.13", RTLD_NOW);
    if (!library) library = dlopen("libcublas.so.12", RTLD_NOW);
    return library ? library : dlopen("libcublas.so", RTLD_NOW);
}
#define BLAS_FUNCTION(name) dlsym(blas_library(), #name)
#endif

// A handle for the card, whose context is current.
static int64_t open_blas(card *own) {
    symc_device *const functions = &own->driver.functions;
#ifndef SYMC_SIM
    if (!blas_library()) return NO_BLAS;
#endif
    int (*const create)(void *) = BLAS_FUNCTION(cublasCreate_v2);
    functions->cublasSetStream = BLAS_FUNCTION(cublasSetStream_v2);
    functions->cublasGemmStridedBatchedEx = BLAS_FUNCTION(cublasGemmStridedBatchedEx);
    if (!create || !functions->cublasSetStream || !functions->cublasGemmStridedBatchedEx)
        return NO_BLAS;
    const int error = create(own->blas);
    if (error) return BLAS_ERROR - (int64_t)error;
    functions->blas = own->blas;
    return 0;
}

static void close_blas(card *own) {
    int (*const destroy)(void *) = BLAS_FUNCTION(cublasDestroy_v2);
    if (own->driver.functions.blas && destroy) destroy((void *)own->blas[0]);
}
#else
static int64_t open_blas(card *own) {
    (void)own;
    return 0;
}

static void close_blas(card *own) {
    (void)own;
}
#endif

static void close_card(card *own) {
    driver *const cuda = &own->driver;
    if (!cuda->functions.context) return;
    if (!enter(own)) {
        cuda->cuCtxSynchronize();
        close_blas(own);
        for (int i = 0; i < IMAGES; i++)
            if (own->modules[i]) cuda->cuModuleUnload(own->modules[i]);
        leave(own);
    }
    cuda->cuDevicePrimaryCtxRelease(own->device);
}

// The driver's text for one of its errors.
static const char *driver_words(int64_t status) {
    driver cuda;
    const char *words = NULL;
    if (open_driver(&cuda) != NO_DRIVER && cuda.cuGetErrorString)
        cuda.cuGetErrorString((int)(DRIVER_ERROR - status), &words);
    return words ? words : "the driver of the graphics card reports an unknown error";
}

// --- memory and copies ---------------------------------------------------------------------------

static int64_t allocate(card *own, void **place, int64_t bytes, void *stream) {
    uint64_t address = 0;
    *place = NULL;
    const int error = own->driver.functions.cuMemAllocAsync(&address, (size_t)bytes + 64, stream);
    if (error == 2) return NO_MEMORY;
    memcpy(place, &address, sizeof address);
    return driver_status(error);
}

static void release(card *own, void *address, void *stream) {
    if (address) own->driver.functions.cuMemFreeAsync((uint64_t)address, stream);
}

static int64_t upload(card *own, void *to, const void *from, int64_t bytes, void *stream) {
    if (!bytes) return 0;
    return driver_status(
        own->driver.functions.cuMemcpyHtoDAsync((uint64_t)to, from, (size_t)bytes, stream));
}

// Queues a copy; it is there after `wait_for`.
static int64_t download(card *own, void *to, const void *from, int64_t bytes, void *stream) {
    if (!bytes) return 0;
    return driver_status(
        own->driver.functions.cuMemcpyDtoHAsync(to, (uint64_t)from, (size_t)bytes, stream));
}

static int64_t wait_for(card *own, void *stream) {
    return driver_status(own->driver.functions.cuStreamSynchronize(stream));
}
