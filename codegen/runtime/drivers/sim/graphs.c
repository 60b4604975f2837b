// Capture of a stream's work, and its replay.
//
// A graph is the list of operations in the order they were captured, with their own copies of the
// kernels' arguments; replaying it enqueues them on one stream. Streams that wait for an event of
// the capture take part in it, and must be waited for before it ends.
#include <stdlib.h>

#include "driver.h"

struct capture {
    struct capture *next;
    struct operations operations;
    struct stream *origin;
    int mode;
    pthread_t owner;
    bool lost, ended;
    struct stream *unjoined;  // a stream whose work the origin has not waited for
};
struct executable {
    bool alive;
    struct operations operations;
};

enum { INSTANTIATE_FLAGS = 15 };  // all that there are
static struct capture *captures;

CUresult allowed_in_capture(const char *what) {
    for (struct capture *one = captures; one; one = one->next) {
        if (one->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
        if (one->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
            !pthread_equal(one->owner, pthread_self())) {
            continue;
        }
        one->lost = true;
        return complain(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s while a stream captures", what);
    }
    return CUDA_SUCCESS;
}

CUresult not_captured(const struct stream *stream, const char *what) {
    if (!stream->capture) return CUDA_SUCCESS;
    stream->capture->lost = true;
    return complain(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s of a stream that captures", what);
}

CUresult not_a_captured_event(const struct event *event, const char *what) {
    if (!event->capture) return CUDA_SUCCESS;
    event->capture->lost = true;
    return complain(CUDA_ERROR_CAPTURED_EVENT, "%s of an event that was recorded in a capture",
                    what);
}

// The legacy stream waits for all blocking ones, which one that captures does not allow.
static CUresult implicit_dependence(const struct stream *stream, bool breaks) {
    if (stream != &legacy_stream) return CUDA_SUCCESS;
    for (struct capture *one = captures; one; one = one->next) {
        if (!one->origin->blocking) continue;
        one->lost |= breaks;
        return complain(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                        "work on the legacy stream while a blocking stream captures");
    }
    return CUDA_SUCCESS;
}

// Events in a capture are edges between streams: there is nothing to replay.
static CUresult capture_wait(const struct operation *operation, bool *taken) {
    struct stream *stream = operation->stream;
    struct capture *from = operation->mark.event->capture;
    if (from && from->ended) from = NULL;
    if (!from && !stream->capture) return CUDA_SUCCESS;
    if (!from || (stream->capture && stream->capture != from)) {
        struct capture *broken = from ? from : stream->capture;
        broken->lost = true;
        return complain(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "a capturing stream and an event of other work wait for each other");
    }
    *taken = true;
    if (stream == from->origin) from->unjoined = NULL;
    else from->unjoined = stream;
    stream->capture = from;
    return CUDA_SUCCESS;
}

static bool has_pageable_memory(const struct operation *operation) {
    if (operation->kind == TO_DEVICE) return !is_pinned(operation->copy.from);
    return operation->kind == TO_HOST && !is_pinned(operation->copy.to);
}

CUresult capture(const struct operation *operation, bool *taken) {
    CHECKED(implicit_dependence(operation->stream, true));
    if (operation->kind == WAIT) return capture_wait(operation, taken);
    struct capture *into = operation->stream->capture;
    if (operation->kind == RECORD) operation->mark.event->capture = into;
    if (!into) return CUDA_SUCCESS;
    *taken = true;
    if (operation->kind == RECORD) return CUDA_SUCCESS;
    if (has_pageable_memory(operation)) {
        into->lost = true;
        return complain(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "a copy of host memory that is not pinned, while its stream captures");
    }
    if (operation->stream != into->origin) into->unjoined = operation->stream;
    append(&into->operations, operation);
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream handle, int mode) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    if (stream == &legacy_stream || stream->capture) {
        return complain(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "cuStreamBeginCapture: the legacy stream, or one that captures already");
    }
    struct capture *made = calloc(1, sizeof *made);
    made->origin = stream, made->mode = mode, made->owner = pthread_self();
    made->next = captures;
    captures = made;
    stream->capture = made;
    return CUDA_SUCCESS;
}

// The capture itself stays: events may still point to it.
static void end_capture(struct capture *ended) {
    struct capture **link = &captures;
    while (*link != ended) link = &(*link)->next;
    *link = ended->next;
    ended->ended = true;
    leave_capture(ended);
}

void forget_captures(void) {
    while (captures) {
        discard_all(&captures->operations);
        end_capture(captures);
    }
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    struct capture *ended = stream->capture;
    *graph = NULL;
    if (!ended || ended->origin != stream) {
        return complain(CUDA_ERROR_INVALID_VALUE, "cuStreamEndCapture: it began no capture");
    }
    if (ended->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        !pthread_equal(ended->owner, pthread_self())) {
        return complain(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                        "cuStreamEndCapture: another thread began the capture");
    }
    CUresult result = CUDA_SUCCESS;
    if (ended->lost) {
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;  // the report says why already
    } else if (ended->unjoined) {
        result = complain(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                          "the capture has work of a stream that its first one did not wait for");
    }
    end_capture(ended);
    if (result) {
        discard_all(&ended->operations);
    } else {
        *graph = calloc(1, sizeof **graph);
        (*graph)->operations = ended->operations;
        counters.graphs++;
    }
    return result;
}

CUresult cuStreamIsCapturing(CUstream handle, int *status) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    CHECKED(implicit_dependence(stream, false));
    *status = !stream->capture ? 0 : stream->capture->lost ? 2 : 1;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, uint64_t flags) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    if (!graph || flags & ~(uint64_t)INSTANTIATE_FLAGS) {
        return complain(CUDA_ERROR_INVALID_VALUE, "cuGraphInstantiate: %s",
                        graph ? "unknown flags" : "no graph");
    }
    *executable = calloc(1, sizeof **executable);
    (*executable)->alive = true;
    for (size_t i = 0; i < graph->operations.count; i++) {
        append(&(*executable)->operations, &graph->operations.items[i]);
    }
    counters.graphs++;
    return CUDA_SUCCESS;
}

static CUresult usable_executable(CUgraphExec executable) {
    CHECKED(usable());
    if (executable && executable->alive) return CUDA_SUCCESS;
    return complain(CUDA_ERROR_INVALID_VALUE, "a graph that was not instantiated, or destroyed");
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream handle) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable_executable(executable));
    return find_stream(handle, &stream);
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream handle) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable_executable(executable));
    CHECKED(find_stream(handle, &stream));
    for (size_t i = 0; i < executable->operations.count; i++) {
        struct operation operation = executable->operations.items[i];
        operation.stream = stream;
        CHECKED(enqueue(operation));
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    if (!graph) return complain(CUDA_ERROR_INVALID_VALUE, "cuGraphDestroy: no graph");
    discard_all(&graph->operations);
    free(graph);
    counters.graphs--;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
    ONE_AT_A_TIME;
    CHECKED(usable_executable(executable));
    discard_all(&executable->operations);
    executable->alive = false;  // kept, so that a later launch is refused
    counters.graphs--;
    return CUDA_SUCCESS;
}
