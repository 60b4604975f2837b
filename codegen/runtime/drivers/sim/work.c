// Enqueued work, and when it runs: at once, or (deferred) when a call waits for it.
//
// Deferred work runs as late and as much out of order as CUDA allows: a call that waits for a
// stream runs the work that stream needs and nothing else; of work that may run next, the stream
// that was used last goes first. Host memory is written when a copy runs, and read then if it is
// pinned, else when the copy is enqueued, as CUDA does. So a buffer that is freed or changed too
// early, or a missing event, shows.
#include <stdlib.h>
#include <time.h>

#include "driver.h"

static struct operations waiting;  // in the order they were enqueued

// --- operations ----------------------------------------------------------------------------------

enum { ARGUMENT_ALIGNMENT = 16 };

static size_t room_for(size_t bytes) {
    return (bytes + ARGUMENT_ALIGNMENT - 1) / ARGUMENT_ALIGNMENT * ARGUMENT_ALIGNMENT;
}

// A block of memory with pointers to the arguments, and the arguments after them.
static void **copy_arguments(const symc_sim_kernel *kernel, void **arguments) {
    size_t pointers = room_for(kernel->count * sizeof(void *)), bytes = pointers;
    for (unsigned i = 0; i < kernel->count; i++) bytes += room_for(kernel->sizes[i]);
    char *block = aligned_alloc(ARGUMENT_ALIGNMENT, bytes + ARGUMENT_ALIGNMENT);
    char *next = block + pointers;
    void **copies = (void **)(void *)block;
    for (unsigned i = 0; i < kernel->count; i++) {
        copies[i] = memcpy(next, arguments[i], kernel->sizes[i]);
        next += room_for(kernel->sizes[i]);
    }
    return copies;
}

// A copy has bytes of its own, if any were taken when it was enqueued.
static void copy_staged(struct operation *copy) {
    if (copy->kind != TO_DEVICE || !copy->copy.staged) return;
    void *bytes = malloc(copy->copy.bytes);
    copy->copy.staged = memcpy(bytes, copy->copy.staged, copy->copy.bytes);
    copy->copy.from = (uint64_t)bytes;
}

struct operation copied(const struct operation *operation) {
    struct operation copy = *operation;
    if (copy.kind == LAUNCH) {
        copy.launch.arguments =
            copy_arguments(copy.launch.function->kernel, operation->launch.arguments);
    }
    if (copy.kind == RECORD || copy.kind == WAIT) copy.mark.event->uses++;
    copy_staged(&copy);
    return copy;
}

void discard(struct operation *operation) {
    if (operation->kind == TO_DEVICE) free(operation->copy.staged);
    if (operation->kind == LAUNCH) free(operation->launch.arguments);
    if (operation->kind == RECORD || operation->kind == WAIT) let_go(operation->mark.event);
}

void append(struct operations *operations, const struct operation *operation) {
    if (operations->count == operations->room) {
        operations->room = operations->room ? 2 * operations->room : 16;
        operations->items =
            realloc(operations->items, operations->room * sizeof *operations->items);
    }
    operations->items[operations->count++] = copied(operation);
}

void discard_all(struct operations *operations) {
    for (size_t i = 0; i < operations->count; i++) discard(&operations->items[i]);
    free(operations->items);
    *operations = (struct operations){0};
}

// --- running one ---------------------------------------------------------------------------------

static char *at(uint64_t address) { return (char *)address; }

static unsigned char *states_at(uint64_t address) {
    return device_memory.states + (at(address) - device_memory.start);
}

// Makes a copy again that was checked when it was enqueued: by now its memory may be freed.
static CUresult run_copy(const struct operation *operation) {
    uint64_t to = operation->copy.to, from = operation->copy.from;
    size_t bytes = operation->copy.bytes;
    if (operation->kind != TO_HOST) CHECKED(in_one_allocation(to, bytes, "a copy, when it ran"));
    if (operation->kind != TO_DEVICE) {
        CHECKED(in_one_allocation(from, bytes, "a copy, when it ran"));
    }
    memmove(at(to), at(from), bytes);
    if (operation->kind == TO_DEVICE) memset(states_at(to), WRITTEN, bytes);
    if (operation->kind == ON_DEVICE) memmove(states_at(to), states_at(from), bytes);
    return CUDA_SUCCESS;
}

static CUresult run_fill(const struct operation *operation) {
    uint64_t to = operation->fill.to;
    size_t bytes = operation->fill.count * operation->fill.width;
    CHECKED(in_one_allocation(to, bytes, "a fill, when it ran"));
    if (operation->fill.width == 1) {
        memset(at(to), (int)operation->fill.value, bytes);
    } else {
        unsigned *words = (unsigned *)(void *)at(to);
        for (size_t i = 0; i < operation->fill.count; i++) words[i] = operation->fill.value;
    }
    memset(states_at(to), WRITTEN, bytes);
    return CUDA_SUCCESS;
}

static void run_record(const struct operation *operation) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct event *event = operation->mark.event;
    if (event->completed > operation->mark.number) return;  // a later record on another stream
    event->completed = operation->mark.number;
    event->seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static CUresult run_operation(const struct operation *operation) {
    CUresult result = CUDA_SUCCESS;
    open_device_memory();
    switch (operation->kind) {
    case LAUNCH:
        if (operation->launch.function->module->loaded) result = run_launch(&operation->launch);
        else result = complain(CUDA_ERROR_ILLEGAL_ADDRESS, "a launch whose module was unloaded");
        break;
    case PRODUCT: result = run_product(&operation->product); break;
    case TO_DEVICE:
    case TO_HOST:
    case ON_DEVICE: result = run_copy(operation); break;
    case FILL: result = run_fill(operation); break;
    case FREE: result = release(operation->freed); break;
    case RECORD: run_record(operation); break;
    case WAIT: break;
    }
    close_device_memory();
    if (result) sticky = result;
    return result;
}

// --- running waiting work ------------------------------------------------------------------------
// ----------------------------------------------------------------------

// Whether work on one stream keeps the order with work on another.
static bool ordered(const struct stream *a, const struct stream *b) {
    if (a == b) return true;
    return (a == &legacy_stream && b->blocking) || (b == &legacy_stream && a->blocking);
}

// Whether a record is still to be made. A wait is for the record that it saw, whatever became of
// the event since.
static bool is_waiting(uint64_t record) {
    for (size_t i = 0; i < waiting.count; i++) {
        const struct operation *operation = &waiting.items[i];
        if (operation->kind == RECORD && operation->mark.number == record) return true;
    }
    return false;
}

static bool may_run(size_t number) {
    const struct operation *operation = &waiting.items[number];
    for (size_t i = 0; i < number; i++) {
        if (ordered(waiting.items[i].stream, operation->stream)) return false;
    }
    return operation->kind != WAIT || !is_waiting(operation->mark.number);
}

// Runs one operation: the first of the stream if it may, else the last one that may. (The first of
// all always may: it can only wait for earlier work.)
static CUresult run_one(const struct stream *stream) {
    size_t chosen = waiting.count;
    for (size_t i = 0; i < waiting.count; i++) {
        if (!may_run(i)) continue;
        chosen = i;
        if (waiting.items[i].stream == stream) break;
    }
    struct operation operation = waiting.items[chosen];
    memmove(&waiting.items[chosen], &waiting.items[chosen + 1],
            (waiting.count - chosen - 1) * sizeof operation);
    waiting.count--;
    CUresult result = run_operation(&operation);
    discard(&operation);
    return result;
}

bool has_work(const struct stream *stream) {
    for (size_t i = 0; i < waiting.count; i++) {
        if (waiting.items[i].stream == stream) return true;
    }
    return false;
}

CUresult finish_stream(struct stream *stream) {
    while (has_work(stream)) CHECKED(run_one(stream));
    return sticky;
}

CUresult finish_event(const struct event *event) {
    while (event->completed < event->recorded) CHECKED(run_one(NULL));
    return sticky;
}

CUresult finish_everything(void) {
    while (waiting.count) CHECKED(run_one(NULL));
    return sticky;
}

void forget_work(void) {
    for (size_t i = 0; i < waiting.count; i++) {
        struct operation *operation = &waiting.items[i];
        if (operation->kind == RECORD) run_record(operation);
    }
    discard_all(&waiting);
}

CUresult run_now(const struct operation *operation) {
    CHECKED(finish_everything());
    return run_operation(operation);
}

CUresult enqueue(struct operation operation) {
    bool taken = false;
    CHECKED(capture(&operation, &taken));
    if (taken) return CUDA_SUCCESS;
    if (operation.kind == RECORD) {
        static uint64_t records;
        operation.mark.number = operation.mark.event->recorded = ++records;
    }
    if (!settings.deferred) return run_now(&operation);
    if (operation.kind == TO_DEVICE && !is_pinned(operation.copy.from)) {
        operation.copy.staged = at(operation.copy.from);
    }
    append(&waiting, &operation);
    return CUDA_SUCCESS;
}
