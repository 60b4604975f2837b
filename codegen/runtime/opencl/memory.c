// Shared virtual memory, and copies. It is coarse-grained: the host reaches it through copies alone.
#include "driver.h"

int cuMemAlloc(uint64_t *address, size_t bytes) {
    device *device = current();
    if (!device) return INVALID;
    void *made = device->cl.clSVMAlloc(device->context, CL_MEM_READ_WRITE, bytes, 128);
    *address = (uint64_t)made;
    if (!made) return OUT_OF_MEMORY;
    return DONE;
}

// Called when the device is idle.
int cuMemFree(uint64_t address) {
    device *device = current();
    if (!device) return INVALID;
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
    if (!bytes) return DONE;
    return status_of(device->cl.clEnqueueSVMMemcpy(queue_of(stream), 1, (void *)to, from, bytes, 0,
                                                   0, 0));
}

int cuMemcpyDtoHAsync(void *to, uint64_t from, size_t bytes, const stream *stream) {
    device *device = owner_of(stream);
    if (!bytes) return DONE;
    return status_of(device->cl.clEnqueueSVMMemcpy(queue_of(stream), 0, to, (void *)from, bytes, 0,
                                                   0, 0));
}

int cuMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t bytes, const stream *stream) {
    device *device = owner_of(stream);
    if (!bytes || to == from) return DONE;
    return status_of(device->cl.clEnqueueSVMMemcpy(queue_of(stream), 0, (void *)to, (void *)from,
                                                   bytes, 0, 0, 0));
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, const stream *stream) {
    device *device = owner_of(stream);
    if (!bytes) return DONE;
    return status_of(device->cl.clEnqueueSVMMemFill(queue_of(stream), (void *)to, &value, 1, bytes,
                                                    0, 0, 0));
}

// No address is known to the driver as another library's, nor as memory that it copies from later.
int cuPointerGetAttribute(void *value, int attribute, uint64_t address) {
    (void)value, (void)attribute, (void)address;
    return INVALID;
}
