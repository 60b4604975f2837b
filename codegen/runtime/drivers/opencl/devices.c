// Libraries of OpenCL, their platforms and devices, and which device a thread uses.
#include <dlfcn.h>

#include "driver.h"

enum { MOST = 64, DEPTH = 16 };
static device devices[MOST];
static int known, platforms;
static _Thread_local device *stack[DEPTH];
static _Thread_local int depth;

int status_of(int status) {
    if (!status) return DONE;
    if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY)
        return OUT_OF_MEMORY;
    return status < 0 && status > -800 ? FAILED - status : FAILED + 799;
}

device *device_of(int ordinal) { return ordinal >= 0 && ordinal < known ? &devices[ordinal] : 0; }

device *current(void) { return depth ? stack[depth - 1] : 0; }

// --- libraries --------------------------------------------------------------------------------------

// A library that exports no functions, as those of vendors and PoCL's, has a table of them at each
// of its platforms, of which the first places are filled, by the version of OpenCL.
static void fill(functions *cl, void *library, void *platform, int places) {
    const bool exported = dlsym(library, "clGetPlatformIDs") != 0;
    void **table = *(void ***)platform;
#define FILL(place, name, parameters)                              \
    *(void **)&cl->name = exported         ? dlsym(library, #name) \
                          : place < places ? table[place]          \
                                           : 0;
#define FILL_MAKER(place, type, name, parameters) FILL(place, name, parameters)
    CL_FUNCTIONS(FILL)
    CL_MAKERS(FILL_MAKER)
}

static void add_platform(void *library, cl platform) {
    functions found;
    char version[256] = "";
    cl ids[MOST];
    unsigned count = 0;
    fill(&found, library, platform, OF_OPENCL_1);
    found.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version - 1, version, 0);
    const bool second = strncmp(version, "OpenCL 2", 8) >= 0;
    const bool third = strncmp(version, "OpenCL 3", 8) >= 0;
    fill(&found, library, platform, third ? OF_OPENCL_3 : second ? OF_OPENCL_2 : OF_OPENCL_1);
    if (found.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, ids, &count)) count = 0;
    for (unsigned number = 0; number < count && number < MOST && known < MOST; number++) {
        device *made = &devices[known++];
        made->cl = found;
        made->platform = platform;
        made->id = ids[number];
        made->platform_number = platforms;
        made->number = (int)number;
        pthread_mutex_init(&made->lock, 0);
        choose_memory(made);
    }
    platforms += 1;
}

// Enters the devices of a library; 0 if it is none of OpenCL. Called by one thread, before all else.
EXPORTED int symc_opencl_open(const char *path) {
    typedef int (*lister)(unsigned room, cl *platforms, unsigned *count);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cl found[MOST];
    unsigned count = 0;
    if (!library) return 0;
    lister list = (lister)dlsym(library, "clGetPlatformIDs");
    if (!list) list = (lister)dlsym(library, "clIcdGetPlatformIDsKHR");
    if (!list) {
        void *(*look)(const char *) = dlsym(library, "clGetExtensionFunctionAddress");
        list = look ? (lister)look("clIcdGetPlatformIDsKHR") : 0;
    }
    if (!list) return 0;
    if (list(MOST, found, &count)) count = 0;
    for (unsigned number = 0; number < count && number < MOST; number++)
        add_platform(library, found[number]);
    return 1;
}

// --- facts ------------------------------------------------------------------------------------------

int device_number(const device *device, unsigned what, uint64_t *value) {
    *value = 0;
    return device->cl.clGetDeviceInfo(device->id, what, sizeof *value, value, 0);
}

static void text_of(const device *device, unsigned what, char *to, size_t room) {
    to[0] = 0;
    const bool of_platform = what < 0x1000;
    const int status =
        of_platform ? device->cl.clGetPlatformInfo(device->platform, what, room, to, 0)
                    : device->cl.clGetDeviceInfo(device->id, what, room, to, 0);
    if (status) to[0] = 0;
    to[room - 1] = 0;
    for (char *at = to; *at; at++)
        if (*at == '\n') *at = ' ';
}

// Facts of a device as lines: numbers of platform and device, name, platform, versions, extensions,
// capabilities of doubles and floats, the largest work-group, whether it is a processor or a card,
// and the kind of its memory.
EXPORTED int symc_opencl_describe(int ordinal, char *to, size_t room) {
    const device *device = device_of(ordinal);
    static const unsigned texts[] = {CL_DEVICE_NAME, CL_PLATFORM_NAME, CL_PLATFORM_VERSION,
                                     CL_DEVICE_VERSION, CL_DRIVER_VERSION, CL_DEVICE_EXTENSIONS};
    static const unsigned numbers[] = {CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_SINGLE_FP_CONFIG,
                                       CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_TYPE};
    char text[8192];
    if (!device) return INVALID;
    int used = snprintf(to, room, "%d\n%d\n", device->platform_number, device->number);
    for (size_t n = 0; n < sizeof texts / sizeof *texts && (size_t)used < room; n++) {
        text_of(device, texts[n], text, sizeof text);
        used += snprintf(to + used, room - (size_t)used, "%s\n", text);
    }
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers && (size_t)used < room; n++) {
        uint64_t value;
        if (device_number(device, numbers[n], &value)) value = 0;
        used += snprintf(to + used, room - (size_t)used, "%llu\n", (unsigned long long)value);
    }
    if ((size_t)used < room) used += snprintf(to + used, room - (size_t)used, "%d\n", device->memory);
    return (size_t)used < room ? DONE : INVALID;
}

// --- the driver's functions -------------------------------------------------------------------------

int cuInit(unsigned flags) { return flags ? INVALID : DONE; }

int cuDriverGetVersion(int *version) {
    *version = 12000;
    return DONE;
}

int cuDeviceGetCount(int *count) {
    *count = known;
    return DONE;
}

int cuDeviceGet(int *number, int ordinal) {
    *number = ordinal;
    return device_of(ordinal) ? DONE : INVALID;
}

int cuDeviceGetName(char *name, int room, int ordinal) {
    const device *device = device_of(ordinal);
    if (!device) return INVALID;
    text_of(device, CL_DEVICE_NAME, name, (size_t)room);
    return DONE;
}

int cuDeviceTotalMem(size_t *bytes, int ordinal) {
    const device *device = device_of(ordinal);
    uint64_t value = 0;
    const int status = device ? device_number(device, CL_DEVICE_GLOBAL_MEM_SIZE, &value) : -1;
    *bytes = (size_t)value;
    return status_of(status);
}

// CUDA's numbers: 1 threads of a block, 16 processors, 97 memory that the threads of a block share; everything else is 0.
// Each block has 4 KiB for sums over its threads.
int cuDeviceGetAttribute(int *value, int attribute, int ordinal) {
    const device *device = device_of(ordinal);
    uint64_t found = 0;
    int status = 0;
    if (!device) return INVALID;
    if (attribute == 1) status = device_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, &found);
    if (attribute == 16) status = device_number(device, CL_DEVICE_MAX_COMPUTE_UNITS, &found);
    if (attribute == 97) {
        status = device_number(device, CL_DEVICE_LOCAL_MEM_SIZE, &found);
        found = found > 4096 ? found - 4096 : 0;
    }
    *value = found > 1 << 30 ? 1 << 30 : (int)found;
    return status_of(status);
}

int cuDevicePrimaryCtxRetain(void **context, int ordinal) {
    device *device = device_of(ordinal);
    int status = 0;
    if (!device) return INVALID;
    pthread_mutex_lock(&device->lock);
    if (!device->context) {
        const intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)device->platform, 0};
        device->context = device->cl.clCreateContext(properties, 1, &device->id, 0, 0, &status);
        if (!status)
            device->queue = device->cl.clCreateCommandQueue(device->context, device->id,
                                                            CL_QUEUE_PROFILING_ENABLE, &status);
    }
    pthread_mutex_unlock(&device->lock);
    *context = device;
    return status_of(status);
}

int cuCtxPushCurrent(void *context) {
    if (depth == DEPTH) return INVALID;
    stack[depth++] = context;
    return DONE;
}

int cuCtxPopCurrent(void **context) {
    if (!depth) return INVALID;
    *context = stack[--depth];
    return DONE;
}

int cuCtxGetCurrent(void **context) {
    *context = current();
    return DONE;
}

// --- errors -----------------------------------------------------------------------------------------

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {INVALID, "INVALID_VALUE", "an argument is wrong"},
    {OUT_OF_MEMORY, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "there is no more memory"},
    {NOT_READY, "NOT_READY", "work is not done yet"},
    {NOT_SUPPORTED, "NOT_SUPPORTED", "OpenCL has nothing like it"},
    {FAILED + 5, "CL_OUT_OF_RESOURCES", "the device lacks registers, local memory or other resources"},
    {FAILED + 11, "CL_BUILD_PROGRAM_FAILURE", "the device's compiler refused the program"},
    {FAILED + 14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "work that it waited for failed"},
    {FAILED + 42, "CL_INVALID_BINARY", "the code is of another device or driver"},
    {FAILED + 45, "CL_INVALID_PROGRAM_EXECUTABLE", "the program has no code for the device"},
    {FAILED + 46, "CL_INVALID_KERNEL_NAME", "the program has no such kernel"},
    {FAILED + 51, "CL_INVALID_ARG_SIZE", "a kernel's argument has another size"},
    {FAILED + 52, "CL_INVALID_KERNEL_ARGS", "a kernel lacks an argument"},
    {FAILED + 54, "CL_INVALID_WORK_GROUP_SIZE", "a work-group has too many threads for the kernel"},
};

int cuGetErrorName(int error, const char **text) {
    for (size_t n = 0; n < sizeof errors / sizeof *errors; n++)
        if (errors[n].code == error) return *text = errors[n].name, DONE;
    return *text = "an error of OpenCL", DONE;
}

int cuGetErrorString(int error, const char **text) {
    for (size_t n = 0; n < sizeof errors / sizeof *errors; n++)
        if (errors[n].code == error) return *text = errors[n].text, DONE;
    return *text = "its number in cl.h is that above 100", DONE;
}
