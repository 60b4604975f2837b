// Streams are in-order queues, events are markers in them.
#include "driver.h"

typedef struct event {
    device *device;
    cl marker;  // 0 before it is recorded
} event;

// Stream 0 is the first queue of the device that is current.
cl queue_of(const stream *stream) { return stream ? stream->queue : current()->queue; }

device *owner_of(const stream *stream) { return stream ? stream->device : current(); }

int cuStreamCreate(stream **to, unsigned flags) {
    (void)flags;
    device *device = current();
    int status = 0;
    stream *made = calloc(1, sizeof *made);
    if (!made || !device) return free(made), INVALID;
    made->device = device;
    made->queue = device->cl.clCreateCommandQueue(device->context, device->id,
                                                  CL_QUEUE_PROFILING_ENABLE, &status);
    *to = made;
    return status_of(status);
}

int cuStreamDestroy(stream *stream) {
    const int status = stream->device->cl.clReleaseCommandQueue(stream->queue);
    free(stream);
    return status_of(status);
}

int cuStreamSynchronize(const stream *stream) {
    return status_of(owner_of(stream)->cl.clFinish(queue_of(stream)));
}

// There is no call for it: a marker that is asked for its state.
int cuStreamQuery(const stream *stream) {
    device *device = owner_of(stream);
    cl marker;
    int state = 0;
    int status = device->cl.clEnqueueMarkerWithWaitList(queue_of(stream), 0, 0, &marker);
    if (status) return status_of(status);
    device->cl.clFlush(queue_of(stream));
    status = device->cl.clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                       &state, 0);
    device->cl.clReleaseEvent(marker);
    return status ? status_of(status) : state > 0 ? NOT_READY : status_of(state);
}

int cuCtxSynchronize(void) {
    const device *device = current();
    return device ? status_of(device->cl.clFinish(device->queue)) : INVALID;
}

// --- events -----------------------------------------------------------------------------------------

int cuEventCreate(event **to, unsigned flags) {
    (void)flags;
    *to = calloc(1, sizeof **to);
    return *to ? DONE : OUT_OF_MEMORY;
}

int cuEventDestroy(event *event) {
    if (event->marker) event->device->cl.clReleaseEvent(event->marker);
    free(event);
    return DONE;
}

// The queue starts its work: another one that waits for the marker would wait for ever.
int cuEventRecord(event *event, const stream *stream) {
    if (event->marker) event->device->cl.clReleaseEvent(event->marker);
    event->marker = 0;
    event->device = owner_of(stream);
    const int status = event->device->cl.clEnqueueMarkerWithWaitList(queue_of(stream), 0, 0,
                                                                     &event->marker);
    return status_of(status ? status : event->device->cl.clFlush(queue_of(stream)));
}

int cuStreamWaitEvent(const stream *stream, const event *event, unsigned flags) {
    (void)flags;
    if (!event->marker) return DONE;
    return status_of(owner_of(stream)->cl.clEnqueueBarrierWithWaitList(queue_of(stream), 1,
                                                                       &event->marker, 0));
}

int cuEventQuery(const event *event) {
    int state = 0;
    if (!event->marker) return DONE;
    const int status = event->device->cl.clGetEventInfo(
        event->marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, 0);
    return status ? status_of(status) : state > 0 ? NOT_READY : status_of(state);
}

int cuEventSynchronize(const event *event) {
    return event->marker ? status_of(event->device->cl.clWaitForEvents(1, &event->marker)) : DONE;
}

int cuEventElapsedTime(float *milliseconds, const event *start, const event *end) {
    uint64_t from = 0, to = 0;
    const unsigned what = CL_PROFILING_COMMAND_END;
    if (!start->marker || !end->marker) return INVALID;
    int status = start->device->cl.clGetEventProfilingInfo(start->marker, what, 8, &from, 0);
    if (!status) status = end->device->cl.clGetEventProfilingInfo(end->marker, what, 8, &to, 0);
    *milliseconds = (float)((double)(to - from) * 1e-6);
    return status_of(status);
}

// --- graphs, and pools of memory: there are none ----------------------------------------------------

int cuStreamIsCapturing(const stream *stream, int *status) {
    (void)stream;
    *status = 0;
    return DONE;
}

int not_supported(void) { return NOT_SUPPORTED; }
