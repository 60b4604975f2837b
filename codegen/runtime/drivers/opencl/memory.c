// Memory whose addresses are numbers, and copies: shared virtual memory, which is coarse-grained, so
// that the host reaches it through copies alone; where there is none, buffers. Copies name a buffer,
// which is found by the address.
#include "driver.h"

struct block {
    block *next;
    cl buffer;
    uint64_t address;
    size_t bytes;
};

typedef struct place {
    cl buffer;
    size_t offset;
} place;

// --- which there is ---------------------------------------------------------------------------------

// Whether SYMC_OPENCL_WITHOUT, words between blanks, has a word.
static bool is_left_out(const char *word) {
    const char *at = getenv("SYMC_OPENCL_WITHOUT");
    const size_t length = strlen(word);
    for (; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == length && !strncmp(at, word, length)) return true;
    return false;
}

// The version of an extension, or 0 for none. Before OpenCL 3 versions are not told.
static uint32_t version_of(const device *device, const char *name) {
    static extension listed[512];  // one thread opens devices
    size_t bytes = 0;
    if (is_left_out(name) || device->cl.clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS_WITH_VERSION,
                                                        sizeof listed, listed, &bytes))
        return 0;
    for (size_t n = 0; n < bytes / sizeof *listed; n++)
        if (!strncmp(listed[n].name, name, sizeof listed[n].name)) return listed[n].version;
    return 0;
}

// Versions of the extension before 1.0.2 are given addresses of addresses.
void choose_memory(device *device) {
    uint64_t kinds = 0;
    if (!is_left_out("svm")) device_number(device, CL_DEVICE_SVM_CAPABILITIES, &kinds);
    if (kinds & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER && device->cl.clSVMAlloc) {
        device->memory = SHARED;
        return;
    }
    const uint32_t version = version_of(device, "cl_ext_buffer_device_address");
    if (version < CL_MAKE_VERSION(1, 0, 2) || version >= CL_MAKE_VERSION(2, 0, 0)) return;
    *(void **)&device->set_address = device->cl.clGetExtensionFunctionAddressForPlatform(
        device->platform, "clSetKernelArgDevicePointerEXT");
    if (device->set_address && device->cl.clCreateBufferWithProperties) device->memory = BUFFERS;
}

// --- buffers ----------------------------------------------------------------------------------------

// A buffer is longer than it has to be: an address behind its last byte is not the next one's.
static int make_block(device *device, uint64_t *address, size_t bytes) {
    const uint64_t properties[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, 1, 0};
    block *made = calloc(1, sizeof *made);
    int status = 0;
    if (!made) return OUT_OF_MEMORY;
    made->bytes = bytes;
    made->buffer = device->cl.clCreateBufferWithProperties(
        device->context, properties, CL_MEM_READ_WRITE, bytes + 128, 0, &status);
    if (!status)
        status = device->cl.clGetMemObjectInfo(made->buffer, CL_MEM_DEVICE_ADDRESS_EXT,
                                               sizeof made->address, &made->address, 0);
    if (status) {
        if (made->buffer) device->cl.clReleaseMemObject(made->buffer);
        free(made);
        return status_of(status);
    }
    *address = made->address;
    pthread_mutex_lock(&device->lock);
    made->next = device->blocks;
    device->blocks = made;
    pthread_mutex_unlock(&device->lock);
    return DONE;
}

static int free_block(device *device, uint64_t address) {
    pthread_mutex_lock(&device->lock);
    block **at = &device->blocks;
    while (*at && (*at)->address != address) at = &(*at)->next;
    block *found = *at;
    if (found) *at = found->next;
    pthread_mutex_unlock(&device->lock);
    if (!found) return INVALID;
    const int status = device->cl.clReleaseMemObject(found->buffer);
    free(found);
    return status_of(status);
}

// The buffer that `bytes` bytes from an address lie in; its `buffer` is 0 if there is none.
static place place_of(device *device, uint64_t address, size_t bytes) {
    place found = {0};
    pthread_mutex_lock(&device->lock);
    for (const block *each = device->blocks; each && !found.buffer; each = each->next) {
        const uint64_t offset = address - each->address;
        if (address >= each->address && offset <= each->bytes && bytes <= each->bytes - offset)
            found = (place){each->buffer, offset};
    }
    pthread_mutex_unlock(&device->lock);
    return found;
}

int set_pointer(const device *device, cl kernel, unsigned number, uint64_t address) {
    if (device->memory == SHARED)
        return device->cl.clSetKernelArgSVMPointer(kernel, number, (void *)address);
    return device->set_address(kernel, number, address);
}

// --- the driver's functions -------------------------------------------------------------------------

int cuMemAlloc(uint64_t *address, size_t bytes) {
    device *device = current();
    if (!device) return INVALID;
    if (device->memory == BUFFERS) return make_block(device, address, bytes);
    void *made = device->cl.clSVMAlloc(device->context, CL_MEM_READ_WRITE, bytes, 128);
    *address = (uint64_t)made;
    if (!made) return OUT_OF_MEMORY;
    return DONE;
}

// Called when the device is idle.
int cuMemFree(uint64_t address) {
    device *device = current();
    if (!device) return INVALID;
    if (device->memory == BUFFERS) return free_block(device, address);
    device->cl.clSVMFree(device->context, (void *)address);
    return DONE;
}

int cuMemGetInfo(size_t *available, size_t *total) {
    device *device = current();
    uint64_t bytes = 0;
    const int status = device ? device_number(device, CL_DEVICE_GLOBAL_MEM_SIZE, &bytes) : -1;
    *total = *available = (size_t)bytes;
    return status_of(status);
}

// The memory may be changed as soon as this returns.
int cuMemcpyHtoDAsync(uint64_t to, const void *from, size_t bytes, const stream *stream) {
    device *device = owner_of(stream);
    cl queue = queue_of(stream);
    if (!bytes) return DONE;
    if (device->memory == SHARED)
        return status_of(device->cl.clEnqueueSVMMemcpy(queue, 1, (void *)to, from, bytes, 0, 0, 0));
    const place at = place_of(device, to, bytes);
    if (!at.buffer) return INVALID;
    return status_of(device->cl.clEnqueueWriteBuffer(queue, at.buffer, 1, at.offset, bytes, from, 0,
                                                     0, 0));
}

int cuMemcpyDtoHAsync(void *to, uint64_t from, size_t bytes, const stream *stream) {
    device *device = owner_of(stream);
    cl queue = queue_of(stream);
    if (!bytes) return DONE;
    if (device->memory == SHARED)
        return status_of(device->cl.clEnqueueSVMMemcpy(queue, 0, to, (void *)from, bytes, 0, 0, 0));
    const place at = place_of(device, from, bytes);
    if (!at.buffer) return INVALID;
    return status_of(device->cl.clEnqueueReadBuffer(queue, at.buffer, 0, at.offset, bytes, to, 0, 0,
                                                    0));
}

int cuMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t bytes, const stream *stream) {
    device *device = owner_of(stream);
    cl queue = queue_of(stream);
    if (!bytes || to == from) return DONE;
    if (device->memory == SHARED)
        return status_of(device->cl.clEnqueueSVMMemcpy(queue, 0, (void *)to, (void *)from, bytes, 0,
                                                       0, 0));
    const place source = place_of(device, from, bytes), target = place_of(device, to, bytes);
    if (!source.buffer || !target.buffer) return INVALID;
    return status_of(device->cl.clEnqueueCopyBuffer(queue, source.buffer, target.buffer,
                                                    source.offset, target.offset, bytes, 0, 0, 0));
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, const stream *stream) {
    device *device = owner_of(stream);
    cl queue = queue_of(stream);
    if (!bytes) return DONE;
    if (device->memory == SHARED)
        return status_of(device->cl.clEnqueueSVMMemFill(queue, (void *)to, &value, 1, bytes, 0, 0,
                                                        0));
    const place at = place_of(device, to, bytes);
    if (!at.buffer) return INVALID;
    return status_of(device->cl.clEnqueueFillBuffer(queue, at.buffer, &value, 1, at.offset, bytes, 0,
                                                    0, 0));
}

// No address is known to the driver as another library's, nor as memory that it copies from later.
int cuPointerGetAttribute(void *value, int attribute, uint64_t address) {
    (void)value, (void)attribute, (void)address;
    return INVALID;
}
