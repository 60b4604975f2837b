// What card.h asks a driver of CUDA for, answered by the driver over OpenCL. Its libraries are opened
// once: the one that SYMC_OPENCL names, else the system's loader.
#include "driver.h"

int symc_opencl_open(const char *path);
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_libraries(void) {
    const char *path = getenv("SYMC_OPENCL");
    symc_opencl_open(path ? path : "libOpenCL.so.1");
}

static int allocate(uint64_t *address, size_t bytes, const stream *stream) {
    (void)stream;
    return cuMemAlloc(address, bytes);
}

// When the work that may use it is done.
static int give_back(uint64_t address, const stream *stream) {
    const int status = cuStreamSynchronize(stream);
    return status ? status : cuMemFree(address);
}

static int nothing(void) { return DONE; }

int cuGetProcAddress(const char *name, void **address, int version, uint64_t flags, int *status) {
    static const struct {
        const char *name;
        void *address;
    } own[] = {
        {"cuMemAllocAsync", (void *)allocate},
        {"cuMemFreeAsync", (void *)give_back},
        {"cuDeviceGetDefaultMemPool", (void *)nothing},
        {"cuMemPoolSetAttribute", (void *)nothing},
        {"cuDevicePrimaryCtxRelease", (void *)nothing},
    };
    int devices = 0;
    (void)version, (void)flags, (void)status;
    *address = 0;
    pthread_once(&opened, open_libraries);
    cuDeviceGetCount(&devices);
    for (size_t n = 0; n < sizeof own / sizeof *own && !*address; n++)
        if (!strcmp(own[n].name, name)) *address = own[n].address;
    const char *found;
    void *found_address;
    for (int n = 0; !*address && symc_opencl_entry(n, &found, &found_address); n++)
        if (!strcmp(found, name)) *address = found_address;
    return *address && devices ? DONE : NOT_SUPPORTED;
}
