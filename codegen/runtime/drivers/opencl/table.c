// The addresses of the driver's functions by their names.
#include "driver.h"

static const struct {
    const char *name;
    void *address;
} entries[] = {
#define ENTRY(name) {#name, (void *)name},
#define NONE(name) {#name, (void *)not_supported},
    ENTRY(cuInit) ENTRY(cuDriverGetVersion) ENTRY(cuGetErrorName) ENTRY(cuGetErrorString)
    ENTRY(cuDeviceGetCount) ENTRY(cuDeviceGet) ENTRY(cuDeviceGetName) ENTRY(cuDeviceGetAttribute)
    ENTRY(cuDeviceTotalMem) ENTRY(cuDevicePrimaryCtxRetain) ENTRY(cuCtxPushCurrent)
    ENTRY(cuCtxPopCurrent) ENTRY(cuCtxGetCurrent) ENTRY(cuCtxSynchronize) ENTRY(cuModuleLoadData)
    ENTRY(cuModuleUnload) ENTRY(cuModuleGetFunction) ENTRY(cuFuncGetAttribute)
    ENTRY(cuFuncSetAttribute) ENTRY(cuLaunchKernel) ENTRY(cuMemAlloc) ENTRY(cuMemFree)
    ENTRY(cuMemGetInfo) ENTRY(cuMemcpyHtoDAsync) ENTRY(cuMemcpyDtoHAsync) ENTRY(cuMemcpyDtoDAsync)
    ENTRY(cuMemsetD8Async) ENTRY(cuPointerGetAttribute) ENTRY(cuStreamCreate)
    ENTRY(cuStreamDestroy) ENTRY(cuStreamQuery) ENTRY(cuStreamSynchronize)
    ENTRY(cuStreamWaitEvent) ENTRY(cuStreamIsCapturing) ENTRY(cuEventCreate) ENTRY(cuEventDestroy)
    ENTRY(cuEventQuery) ENTRY(cuEventRecord) ENTRY(cuEventSynchronize) ENTRY(cuEventElapsedTime)
    NONE(cuMemAllocAsync) NONE(cuMemAllocFromPoolAsync) NONE(cuMemFreeAsync) NONE(cuMemPoolCreate)
    NONE(cuMemPoolSetAttribute) NONE(cuMemPoolTrimTo) NONE(cuStreamBeginCapture)
    NONE(cuStreamEndCapture) NONE(cuGraphInstantiateWithFlags) NONE(cuGraphLaunch)
    NONE(cuGraphDestroy) NONE(cuGraphExecDestroy)
};

// Entry `number`, from 0; 0 where there are no more.
EXPORTED int symc_opencl_entry(int number, const char **name, void **address) {
    if (number < 0 || (size_t)number >= sizeof entries / sizeof *entries) return 0;
    *name = entries[number].name;
    *address = entries[number].address;
    return 1;
}
