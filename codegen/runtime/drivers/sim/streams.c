// Streams and events, and the calls that wait.
#include <stdlib.h>

#include "driver.h"

// Handles that are numbers: the legacy stream, and the one that each thread of the host has, which
// is one stream here.
enum { LEGACY_HANDLE = 1, PER_THREAD_HANDLE = 2 };

struct stream legacy_stream = {.alive = true, .blocking = true};
static struct stream thread_stream = {.alive = true, .blocking = true};
static struct stream *streams;  // that were ever made: a dead handle must stay known

CUresult find_stream(CUstream handle, struct stream **stream) {
    if ((uintptr_t)handle <= LEGACY_HANDLE) {
        *stream = &legacy_stream;
        return CUDA_SUCCESS;
    }
    if ((uintptr_t)handle == PER_THREAD_HANDLE) {
        *stream = &thread_stream;
        return CUDA_SUCCESS;
    }
    for (struct stream *one = streams; one; one = one->next) {
        if (one == handle && one->alive) {
            *stream = one;
            return CUDA_SUCCESS;
        }
    }
    return complain(CUDA_ERROR_INVALID_HANDLE, "a stream that is not there: %p", (void *)handle);
}

void leave_capture(const struct capture *capture) {
    if (thread_stream.capture == capture) thread_stream.capture = NULL;
    for (struct stream *one = streams; one; one = one->next) {
        if (one->capture == capture) one->capture = NULL;
    }
}

CUresult cuCtxSynchronize(void) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    CHECKED(allowed_in_capture("cuCtxSynchronize"));
    return finish_everything();
}

CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) {
        return complain(CUDA_ERROR_INVALID_VALUE, "cuStreamCreate: flags %u", flags);
    }
    struct stream *stream = calloc(1, sizeof *stream);
    stream->alive = true;
    stream->blocking = !(flags & CU_STREAM_NON_BLOCKING);
    stream->next = streams;
    streams = stream;
    *handle = stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    if (stream == &legacy_stream || stream == &thread_stream || stream->capture) {
        return complain(CUDA_ERROR_INVALID_HANDLE, "cuStreamDestroy: a default stream, or one "
                                                   "that captures");
    }
    CHECKED(finish_stream(stream));
    stream->alive = false;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    CHECKED(not_captured(stream, "cuStreamSynchronize"));
    CHECKED(allowed_in_capture("cuStreamSynchronize"));
    return finish_stream(stream);
}

CUresult cuStreamQuery(CUstream handle) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    CHECKED(not_captured(stream, "cuStreamQuery"));
    CHECKED(allowed_in_capture("cuStreamQuery"));
    return has_work(stream) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

// --- events --------------------------------------------------------------------------------------

enum { BLOCKING_SYNC = 1, DISABLE_TIMING = 2, INTERPROCESS = 4 };
enum { WAIT_EXTERNAL = 1 };

static CUresult usable_event(CUevent event) {
    CHECKED(usable());
    if (event && event->alive) return CUDA_SUCCESS;
    return complain(CUDA_ERROR_INVALID_HANDLE, "an event that is not there");
}

void let_go(struct event *event) {
    if (--event->uses == 0) free(event);
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    if (flags & ~(unsigned)(BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS) ||
        (flags & INTERPROCESS && !(flags & DISABLE_TIMING))) {
        return complain(CUDA_ERROR_INVALID_VALUE, "cuEventCreate: flags %u", flags);
    }
    *event = calloc(1, sizeof **event);
    (*event)->alive = true, (*event)->uses = 1;
    (*event)->timed = !(flags & DISABLE_TIMING);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
    ONE_AT_A_TIME;
    CHECKED(usable_event(event));
    event->alive = false;
    let_go(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable_event(event));
    CHECKED(find_stream(handle, &stream));
    return enqueue((struct operation){RECORD, stream, .mark = {event, 0}});
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable_event(event));
    if (flags & ~(unsigned)WAIT_EXTERNAL) {
        return complain(CUDA_ERROR_INVALID_VALUE, "cuStreamWaitEvent: flags %u", flags);
    }
    CHECKED(find_stream(handle, &stream));
    return enqueue((struct operation){WAIT, stream, .mark = {event, event->recorded}});
}

CUresult cuEventSynchronize(CUevent event) {
    ONE_AT_A_TIME;
    CHECKED(usable_event(event));
    CHECKED(not_a_captured_event(event, "cuEventSynchronize"));
    CHECKED(allowed_in_capture("cuEventSynchronize"));
    return finish_event(event);
}

CUresult cuEventQuery(CUevent event) {
    ONE_AT_A_TIME;
    CHECKED(usable_event(event));
    CHECKED(not_a_captured_event(event, "cuEventQuery"));
    CHECKED(allowed_in_capture("cuEventQuery"));
    return event->completed < event->recorded ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    ONE_AT_A_TIME;
    CHECKED(usable_event(start));
    CHECKED(usable_event(end));
    CHECKED(not_a_captured_event(start, "cuEventElapsedTime"));
    CHECKED(not_a_captured_event(end, "cuEventElapsedTime"));
    if (!start->recorded || !end->recorded || !start->timed || !end->timed) {
        return complain(CUDA_ERROR_INVALID_HANDLE,
                        "cuEventElapsedTime: an event without a time, or that was not recorded");
    }
    if (start->completed < start->recorded || end->completed < end->recorded) {
        return CUDA_ERROR_NOT_READY;
    }
    *milliseconds = (float)(1e3 * (end->seconds - start->seconds));
    return CUDA_SUCCESS;
}
