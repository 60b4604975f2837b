// PoCL as a device without shared virtual memory, whose buffers have addresses as
// `cl_ext_buffer_device_address` gives them: its table of functions gets others here and there.
// SYMC_TEST_POCL names its library, SYMC_TEST_VERSION is the version of the extension.
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cl.h"

enum { PLACES = 149, REFUSED = -59, USED_BY_HOST = 1 << 3 };
enum { GET_DEVICE_INFO = 3, CREATE_BUFFER = 14, RELEASE = 18, GET_INFO = 20, LOOK_UP = 107 };
enum { SVM_ALLOC = 126, SVM_FREE, SVM_COPY = 129, SVM_FILL, SVM_POINTER = 134, CREATE = 146 };

static void *before[PLACES];
static struct {
    cl buffer, context;
    char *memory;
    size_t bytes;
} buffers[4096];
static int count;

static int get_device_info(cl device, unsigned what, size_t room, void *to, size_t *size) {
    int (*get)(cl, unsigned, size_t, void *, size_t *) = before[GET_DEVICE_INFO];
    if (what == CL_DEVICE_SVM_CAPABILITIES) return memset(to, 0, room), 0;
    if (what != CL_DEVICE_EXTENSIONS_WITH_VERSION) return get(device, what, room, to, size);
    size_t used = 0;
    if (get(device, what, room - sizeof(extension), to, &used)) return REFUSED;
    const uint32_t version = (uint32_t)atoi(getenv("SYMC_TEST_VERSION"));
    const extension own = {version, "cl_ext_buffer_device_address"};
    memcpy((char *)to + used, &own, sizeof own);
    *size = used + sizeof own;
    return 0;
}

static cl create(cl context, const uint64_t *wanted, uint64_t flags, size_t bytes, void *memory,
                 int *status) {
    void *(*allocate)(cl, uint64_t, size_t, unsigned) = before[SVM_ALLOC];
    cl (*make)(cl, uint64_t, size_t, void *, int *) = before[CREATE_BUFFER];
    *status = REFUSED;
    if (wanted[0] != CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT || wanted[1] != 1 || wanted[2] || memory ||
        count == sizeof buffers / sizeof *buffers)
        return 0;
    char *made = allocate(context, CL_MEM_READ_WRITE, bytes, 128);
    cl buffer = make(context, flags | USED_BY_HOST, bytes, made, status);
    buffers[count].buffer = buffer;
    buffers[count].context = context;
    buffers[count].memory = made;
    buffers[count++].bytes = bytes;
    return buffer;
}

static int get_info(cl buffer, unsigned what, size_t room, void *to, size_t *size) {
    if (what != CL_MEM_DEVICE_ADDRESS_EXT || room != sizeof(char *) || size) return REFUSED;
    for (int n = 0; n < count; n++)
        if (buffers[n].buffer == buffer) return memcpy(to, &buffers[n].memory, room), 0;
    return REFUSED;
}

static int release(cl buffer) {
    int (*drop)(cl) = before[RELEASE];
    void (*give_back)(cl, void *) = before[SVM_FREE];
    const int status = drop(buffer);
    for (int n = 0; n < count; n++)
        if (buffers[n].buffer == buffer) {
            give_back(buffers[n].context, buffers[n].memory);
            buffers[n] = buffers[--count];
            return status;
        }
    return REFUSED;
}

// Addresses of no buffer are refused but for 0, which the real extension need not do.
static int set_pointer(cl kernel, unsigned number, uint64_t address) {
    int (*set)(cl, unsigned, const void *) = before[SVM_POINTER];
    char *at = (char *)address;
    bool known = !at;
    for (int n = 0; n < count; n++)
        known |= at >= buffers[n].memory && at < buffers[n].memory + buffers[n].bytes;
    return known ? set(kernel, number, at) : REFUSED;
}

static void *look_up(cl platform, const char *name) {
    (void)platform;
    return strcmp(name, "clSetKernelArgDevicePointerEXT") ? 0 : (void *)set_pointer;
}

static int refuse(void) { return REFUSED; }
static void *no_memory(void) { return 0; }

__attribute__((visibility("default"))) int clIcdGetPlatformIDsKHR(unsigned room, cl *to,
                                                                  unsigned *found) {
    void *library = dlopen(getenv("SYMC_TEST_POCL"), RTLD_NOW | RTLD_LOCAL);
    void *(*find)(const char *) = library ? dlsym(library, "clGetExtensionFunctionAddress") : 0;
    int (*list)(unsigned, cl *, unsigned *) = find ? find("clIcdGetPlatformIDsKHR") : 0;
    if (!list || list(room, to, found) || !*found) return REFUSED;
    void **table = *(void ***)to[0];
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)table & ~(page - 1);
    if (mprotect((void *)start, (uintptr_t)(table + PLACES) - start, PROT_READ | PROT_WRITE))
        return REFUSED;
    memcpy(before, table, sizeof before);
    table[GET_DEVICE_INFO] = get_device_info;
    table[RELEASE] = release;
    table[GET_INFO] = get_info;
    table[LOOK_UP] = look_up;
    table[SVM_ALLOC] = no_memory;
    table[SVM_FREE] = table[SVM_COPY] = table[SVM_FILL] = table[SVM_POINTER] = refuse;
    table[CREATE] = create;
    return 0;
}
