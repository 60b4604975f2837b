// Copies and fills. Those without `Async` wait for all work before them.
#include "driver.h"

// Checks a copy and runs or enqueues it.
static CUresult copy(enum kind kind, uint64_t to, uint64_t from, size_t bytes, CUstream handle,
                     bool waits, const char *what) {
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    if (waits) CHECKED(allowed_in_capture(what));
    if (!bytes) return CUDA_SUCCESS;
    if (kind != TO_HOST) CHECKED(in_one_allocation(to, bytes, what));
    if (kind != TO_DEVICE) CHECKED(in_one_allocation(from, bytes, what));
    uint64_t host = kind == TO_HOST ? to : from;
    if (kind != ON_DEVICE && (!host || find_allocation(host))) {
        return complain(CUDA_ERROR_INVALID_VALUE, "%s: 0x%llx is not host memory", what,
                        (unsigned long long)host);
    }
    struct operation operation = {kind, stream, .copy = {to, from, bytes}};
    return waits ? run_now(&operation) : enqueue(operation);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
    ONE_AT_A_TIME;
    return copy(TO_DEVICE, to, (uint64_t)from, bytes, NULL, true, "cuMemcpyHtoD");
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
    ONE_AT_A_TIME;
    return copy(TO_HOST, (uint64_t)to, from, bytes, NULL, true, "cuMemcpyDtoH");
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    ONE_AT_A_TIME;
    return copy(ON_DEVICE, to, from, bytes, NULL, true, "cuMemcpyDtoD");
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    ONE_AT_A_TIME;
    return copy(TO_DEVICE, to, (uint64_t)from, bytes, stream, false, "cuMemcpyHtoDAsync");
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    ONE_AT_A_TIME;
    return copy(TO_HOST, (uint64_t)to, from, bytes, stream, false, "cuMemcpyDtoHAsync");
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    ONE_AT_A_TIME;
    return copy(ON_DEVICE, to, from, bytes, stream, false, "cuMemcpyDtoDAsync");
}

static CUresult fill(uint64_t to, unsigned value, unsigned width, size_t count, CUstream handle,
                     bool waits, const char *what) {
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    if (waits) CHECKED(allowed_in_capture(what));
    if (!count) return CUDA_SUCCESS;
    if (to % width) {
        return complain(CUDA_ERROR_INVALID_VALUE, "%s: 0x%llx is not aligned to %u bytes", what,
                        (unsigned long long)to, width);
    }
    CHECKED(in_one_allocation(to, count * width, what));
    struct operation operation = {FILL, stream, .fill = {to, value, width, count}};
    return waits ? run_now(&operation) : enqueue(operation);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
    ONE_AT_A_TIME;
    return fill(to, value, 1, count, NULL, true, "cuMemsetD8");
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
    ONE_AT_A_TIME;
    return fill(to, value, 4, count, NULL, true, "cuMemsetD32");
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    ONE_AT_A_TIME;
    return fill(to, value, 1, count, stream, false, "cuMemsetD8Async");
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    ONE_AT_A_TIME;
    return fill(to, value, 4, count, stream, false, "cuMemsetD32Async");
}
