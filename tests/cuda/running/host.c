// Host programs as symc writes them, by hand: a `_prepare` and a `_run` for each.

#include <stddef.h>
#include <stdint.h>

#include "device.h"

enum { SCALE, ADD, DESCEND, PICK, WILD };

static int64_t failed(symc_call *call, int64_t step, int error) {
    if (error) call->step = step;
    return error ? -1000 - error : 0;
}

// One thread for each of n elements.
static int64_t launch(symc_call *call, int64_t step, int kernel, int64_t n, void **params) {
    unsigned blocks = (unsigned)((n + 255) / 256);
    if (!n) return 0;
    int error = call->device->cuLaunchKernel(call->functions[kernel], blocks, 1, 1, 256, 1, 1, 0,
                                             call->stream, params, 0);
    if (!error && call->device->synchronous) {
        error = call->device->cuStreamSynchronize(call->stream);
    }
    return failed(call, step, error);
}

static int64_t begin(symc_call *call) {
    return failed(call, -1, call->device->cuCtxPushCurrent(call->device->context));
}

static int64_t end(symc_call *call, int64_t status) {
    void *context;
    int error = call->device->cuCtxPopCurrent(&context);
    return status ? status : failed(call, -1, error);
}

// (a[n], b[n], s) -> a + b*s, through a temporary. Check 3: a and b have the same length.

int64_t axpy_prepare(symc_call *call) {
    if (call->lengths[0] != call->lengths[1]) return 3;
    call->shapes[0] = call->lengths[0];
    call->workspace_bytes = 8 * call->lengths[0];
    return 0;
}

int64_t axpy_run(symc_call *call) {
    long long n = call->lengths[0];
    double s = *(double *)call->data[2];
    void *scaled = call->workspace;
    void *first[] = {&n, &call->data[1], &s, &scaled};
    void *second[] = {&n, &call->data[0], &scaled, &call->data[3]};
    int64_t status = begin(call);
    if (status) return status;
    status = launch(call, 0, SCALE, n, first);
    if (!status) status = launch(call, 1, ADD, n, second);
    return end(call, status);
}

// (g[n]), shared w and v, constant k[2] -> a copy of g; w -= g in place; v becomes v + w*k[1].

int64_t descend_prepare(symc_call *call) {
    call->shapes[0] = call->shapes[1] = call->lengths[0];
    call->workspace_bytes = 0;
    return 0;
}

int64_t descend_run(symc_call *call) {
    long long n = call->lengths[0];
    void **data = call->data;
    void *params[] = {&n, &data[0], &data[1], &data[2], &data[3], &data[5]};
    int64_t status = begin(call);
    if (status) return status;
    status = failed(call, 0, call->device->cuMemcpyDtoDAsync(
        (uint64_t)data[4], (uint64_t)data[0], 8 * n, call->stream));
    if (!status) status = launch(call, 1, DESCEND, n, params);
    return end(call, status);
}

// (x[n]) -> the positive ones of x, whose number is measured. Check 5: there are at most nine.

int64_t positive_prepare(symc_call *call) {
    call->shapes[0] = -1;
    call->workspace_bytes = 8;
    return 0;
}

static int64_t positive_steps(symc_call *call, uint64_t found) {
    long long n = call->lengths[0], count;
    const symc_device *device = call->device;
    void *params[] = {&n, &call->data[0], &found, &call->workspace};
    int64_t status = launch(call, 0, PICK, n ? n : 1, params);
    if (status) return status;
    int error = device->cuMemcpyDtoHAsync(&count, (uint64_t)call->workspace, 8, call->stream);
    if (!error) error = device->cuStreamSynchronize(call->stream);
    if (error) return failed(call, 0, error);
    if (count > 9) return 5;
    call->shapes[0] = count;
    void *out = call->allocate(call->context, 0);
    if (!out) return -1;
    return failed(call, 1, device->cuMemcpyDtoDAsync(
        (uint64_t)out, found, 8 * count, call->stream));
}

int64_t positive_run(symc_call *call) {
    uint64_t found;
    int64_t status = begin(call);
    if (status) return status;
    status = failed(call, 0, call->device->cuMemAllocAsync(
        &found, 8 * call->lengths[0] + 8, call->stream));
    if (!status) {
        status = positive_steps(call, found);
        call->device->cuMemFreeAsync(found, call->stream);
    }
    return end(call, status);
}

// (x[n]) -> y[n], by a kernel that writes far past its end.

int64_t wild_prepare(symc_call *call) {
    call->shapes[0] = call->lengths[0];
    call->workspace_bytes = 0;
    return 0;
}

int64_t wild_run(symc_call *call) {
    long long n = call->lengths[0];
    void *params[] = {&n, &call->data[1]};
    int64_t status = begin(call);
    return status ? status : end(call, launch(call, 0, WILD, n, params));
}

// (x[n]) -> y[n], launching nothing: the cost of a call by itself.

int64_t nothing_prepare(symc_call *call) {
    return wild_prepare(call);
}

int64_t nothing_run(symc_call *call) {
    int64_t status = begin(call);
    return status ? status : end(call, 0);
}

// () -> y[], which no device has room for.

int64_t huge_prepare(symc_call *call) {
    call->shapes[0] = (int64_t)1 << 50;
    call->workspace_bytes = 0;
    return 0;
}

int64_t huge_run(symc_call *call) {
    (void)call;
    return 0;
}
