// The one device, its primary context, which thread uses it, and the names of errors.
#include <stdio.h>

#include "driver.h"

enum { DEPTH = 16, MULTIPROCESSORS = 4 };
struct context {
    int uses;
};
static struct context primary;
static bool initialised;
static _Thread_local CUcontext stack[DEPTH];
static _Thread_local int depth;

static CUresult valid_device(CUdevice device) {
    if (!initialised) return complain(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
    if (device != 0) return complain(CUDA_ERROR_INVALID_DEVICE, "there is one device, number 0");
    return CUDA_SUCCESS;
}

CUresult usable(void) {
    if (!initialised) return complain(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
    if (depth == 0 || !stack[depth - 1]) {
        return complain(CUDA_ERROR_INVALID_CONTEXT, "no context is current on this thread");
    }
    if (!primary.uses) {
        return complain(CUDA_ERROR_INVALID_CONTEXT, "the primary context has been released");
    }
    return sticky;
}

CUcontext primary_context(void) { return &primary; }

CUresult cuInit(unsigned flags) {
    ONE_AT_A_TIME;
    if (flags) return complain(CUDA_ERROR_INVALID_VALUE, "cuInit: flags are 0");
    if (!initialised && !map_device_memory()) {
        return complain(CUDA_ERROR_OUT_OF_MEMORY, "no address space for the device's memory");
    }
    initialised = true;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
    ONE_AT_A_TIME;
    *version = 12090;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(0));
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(ordinal));
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(device));
    snprintf(name, (size_t)length, "symc simulator");
    return CUDA_SUCCESS;
}

// By number, as in CUdevice_attribute.
static const struct attribute {
    int number, value;
} attributes[] = {
    {1, 1024},          // threads of a block
    {2, 1024},          // along x, y and z
    {3, 1024},
    {4, 64},
    {5, 2147483647},    // blocks along x, y and z
    {6, 65535},
    {7, 65535},
    {8, 49152},         // shared memory of a block, without asking for more
    {9, 65536},         // constant memory
    {10, SYMC_SIM_WARP},
    {12, 65536},        // registers of a block
    {13, 1000000},      // clock in kHz
    {14, 512},          // texture alignment
    {16, MULTIPROCESSORS},
    {17, 0},            // no limit on run time
    {18, 0},            // not integrated
    {19, 1},            // can map host memory
    {31, 1},            // concurrent kernels
    {36, 1000000},      // memory clock in kHz
    {37, 1024},         // bus width in bits
    {38, 8 << 20},      // second level cache
    {39, 2048},         // threads of a multiprocessor
    {40, 1},            // copy engines
    {41, 1},            // unified addressing
    {75, 9},            // compute capability
    {76, 0},
    {81, 233472},       // shared memory of a multiprocessor
    {82, 65536},        // registers of a multiprocessor
    {83, 0},            // no managed memory
    {97, SYMC_SIM_DYNAMIC_BYTES},  // shared memory of a block, when asked for
    {106, 32},          // blocks of a multiprocessor
    {111, 1024},        // shared memory that the system keeps for each block
    {115, 1},           // memory pools
};

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(device));
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (attributes[i].number == attribute) {
            *value = attributes[i].value;
            return CUDA_SUCCESS;
        }
    }
    return complain(CUDA_ERROR_INVALID_VALUE, "the simulator has no device attribute %d",
                    attribute);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(device));
    memcpy(uuid->bytes, "symc simulator  ", sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(device));
    primary.uses++;
    *context = &primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(device));
    if (!primary.uses) {
        return complain(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
    }
    primary.uses--;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(0));
    if (context != &primary || !primary.uses) {
        return complain(CUDA_ERROR_INVALID_CONTEXT, "cuCtxPushCurrent: not a live context");
    }
    if (depth == DEPTH) {
        return complain(CUDA_ERROR_INVALID_VALUE, "%d contexts pushed and not popped", DEPTH);
    }
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(0));
    if (depth == 0) {
        return complain(CUDA_ERROR_INVALID_CONTEXT, "cuCtxPopCurrent: nothing was pushed");
    }
    depth--;
    if (context) *context = stack[depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(0));
    if (context && (context != &primary || !primary.uses)) {
        return complain(CUDA_ERROR_INVALID_CONTEXT, "cuCtxSetCurrent: not a live context");
    }
    if (depth == 0) depth = 1;
    stack[depth - 1] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    ONE_AT_A_TIME;
    CHECKED(valid_device(0));
    *context = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    *device = 0;
    return CUDA_SUCCESS;
}

#define RESULT_TEXT(number, name, text) {number, #name, text},
static const struct result {
    CUresult number;
    const char *name, *text;
} results[] = {RESULTS(RESULT_TEXT)};

static const struct result *find_result(CUresult number) {
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (results[i].number == number) return &results[i];
    }
    return NULL;
}

CUresult cuGetErrorName(CUresult result, const char **name) {
    const struct result *found = find_result(result);
    *name = found ? found->name : NULL;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text) {
    const struct result *found = find_result(result);
    *text = found ? found->text : NULL;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
