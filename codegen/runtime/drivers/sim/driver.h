// The simulated CUDA driver: one device whose memory is a part of this process's, and whose
// kernels are functions that g++ made of CUDA source (cudasim.h).
//
// The errors it finds, before anything breaks, because the compiler calls it before each access to
// memory: addresses outside of live allocations (freed, of the host, past the end), addresses less
// aligned than their type, reads of bytes that nothing wrote, and accesses of two threads to the
// same place that no barrier orders. Further: barriers and warp operations that not all threads
// reach, launches beyond the hardware's limits, calls without a context or during capture that CUDA
// refuses, host code that touches device memory. Threads, warps and blocks run in an order that can
// be chosen, and work can be deferred until a call waits for it (work.c).
//
// It cannot show speed, register use, rounding of a GPU's own functions, the effects of a race,
// and accesses in parts of a kernel that did not run. A thread that waits for another one by
// reading memory again and again waits for ever, and blocks that pass values on in one launch, by
// way of atomic operations, are reported as a race.
//
//   device.c   the device, contexts, error names
//   modules.c  images, functions, cuLaunchKernel
//   memory.c   allocations
//   copies.c   copies and fills
//   work.c     the queues of work, and when it runs
//   streams.c  streams and events
//   graphs.c   capture and replay
//   cublas.c   matrix products of cuBLAS, on the same streams
//   blocks.c   a launch: barriers, warp operations
//   fibers.c   threads of a block as coroutines
//   check.c    each access to memory
//   races.c    accesses that nothing orders
//   special.c  functions that libm lacks
//   report.c   texts of errors, settings, counters
#ifndef SYMC_SIM_DRIVER_H
#define SYMC_SIM_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "api.h"
#include "interface.h"

#define EXPORT __attribute__((visibility("default")))

// --- one call at a time --------------------------------------------------------------------------

// The first line of each function that Python or a host program calls.
#define ONE_AT_A_TIME __attribute__((cleanup(leave_driver), unused)) int entered = enter_driver()
int enter_driver(void);
void leave_driver(int *entered);

// Ends a function with the result if it is an error.
#define CHECKED(call)                                                                           \
    do {                                                                                        \
        CUresult checked_result = (call);                                                       \
        if (checked_result != CUDA_SUCCESS) return checked_result;                              \
    } while (0)

// --- report.c ------------------------------------------------------------------------------------

enum order { FORWARD, REVERSED, RANDOM };
extern struct settings {
    enum order order;
    uint64_t seed;
    bool deferred;
} settings;
extern struct counters {
    int64_t launches, allocations, bytes, modules, graphs, barriers, products;
} counters;
extern CUresult sticky;  // the error that lost the context, or CUDA_SUCCESS
extern const struct module *reported;  // whose kernel the report is about, or NULL

// Reports an error, in words, and returns the result for the caller to return.
CUresult complain(CUresult result, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same where the next words belong to the report that is there.
void add_to_report(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t random_number(void);

// The functions for codegen/targets/sim.py.
EXPORT const char *symc_sim_report(void);
EXPORT const void *symc_sim_image(size_t *bytes);  // of the kernel that the report is about
EXPORT void symc_sim_set_order(int order, uint64_t seed);
EXPORT void symc_sim_set_deferred(int deferred);
EXPORT void symc_sim_recover(void);
EXPORT void symc_sim_counters(int64_t *values);
EXPORT int symc_sim_entry(int number, const char **name, void **address);

// --- device.c ------------------------------------------------------------------------------------

// Whether this thread may use the device now: initialised, a context, no sticky error.
CUresult usable(void);
CUcontext primary_context(void);

// --- memory.c ------------------------------------------------------------------------------------

struct allocation {
    uint64_t start, bytes;
};
enum state { NOWHERE, UNWRITTEN, WRITTEN, FREED };  // of a byte
struct cell;

// Memory that kernels may use, with the state of each byte and the last accesses to each word.
struct region {
    char *start;
    size_t bytes;
    unsigned char *states;
    struct cell *cells;
    const char *name;
};
extern struct region device_memory;

bool map_device_memory(void);
void open_device_memory(void);   // for the driver and kernels
void close_device_memory(void);  // for the host
void *reserve_memory(size_t bytes);  // zeros, taken from the system when touched
const struct allocation *find_allocation(CUdeviceptr address);
// The allocation that ends last before an address, and the freed one around it; or NULL.
const struct allocation *allocation_before(CUdeviceptr address);
const struct allocation *freed_allocation(CUdeviceptr address);
CUresult release(CUdeviceptr address);
bool is_pinned(uint64_t address);  // host memory of cuMemHostAlloc
// Whether a copy may touch these bytes; complains if not.
CUresult in_one_allocation(CUdeviceptr address, size_t bytes, const char *what);

// --- modules.c -----------------------------------------------------------------------------------

struct module {
    bool loaded;
    void *library;
    const symc_sim_module_record *record;
    struct region shared, dynamic;
    unsigned char *fresh;  // the states of `shared` when a block starts
    struct function *functions;
    void *image;
    size_t image_bytes;
};

struct function {
    struct function *next;
    struct module *module;
    const symc_sim_kernel *kernel;
    unsigned dynamic_limit;
};

struct launch {
    struct function *function;
    uint3 blocks, threads;
    unsigned dynamic_bytes;
    void **arguments;  // one block with their targets
};

// --- blocks.c ------------------------------------------------------------------------------------

CUresult run_launch(const struct launch *launch);
extern const struct launch *running;  // NULL between launches
extern symc_sim_position position;
unsigned current_thread(void);  // its number in the block
// Ends the launch that runs, from inside a kernel, with a report of these words.
_Noreturn void end_launch(CUresult result, symc_sim_place place, const void *from,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
extern const symc_sim_runtime runtime;

// --- fibers.c ------------------------------------------------------------------------------------

enum { STACK_BYTES = 256 * 1024 };
struct fiber;
struct fiber *take_fiber(void (*run)(void));  // one that runs this function again and again
void give_fiber_back(struct fiber *fiber);    // after a whole run of the function
void abandon_fibers(void);                    // all that are in the middle of a run
void enter_fiber(struct fiber *fiber);
void leave_fiber(void);  // back to where it was entered
const char *fiber_stack(void);  // the lowest address of the stack in use

// --- check.c, races.c ----------------------------------------------------------------------------

void check_access(symc_sim_access kind, const void *address, unsigned long bytes,
                  const void *from);
void start_checking(const struct launch *launch);
void start_block_checking(void);

struct cell {
    uint64_t write, read;
};
enum { WORD = 4 };  // bytes for each cell
void start_launch_races(void);
void start_block_races(void);
void barrier_orders(void);
void warp_orders(unsigned warp);
struct race {
    bool found, other_block, other_writes;
    unsigned other_thread;  // or NO_THREAD
};
enum { NO_THREAD = 0xffff };
struct race race_of(struct region *region, size_t offset, size_t bytes, bool writes);

// --- special.c -----------------------------------------------------------------------------------

double symc_erfcx(double x), symc_erfinv(double x), symc_erfcinv(double x);
double symc_normcdf(double x), symc_normcdfinv(double x);
double symc_i0(double x), symc_i1(double x);

// --- cublas.c ------------------------------------------------------------------------------------

// Matrices one after the other, each column-major: elements from column to column, and from matrix
// to matrix.
struct matrix {
    uint64_t start;
    int leading;
    long long stride;
};

// ``c = alpha op(a) op(b) + beta c`` for each of a batch: m by n elements, sums of k products.
struct product {
    struct matrix a, b, c;
    int m, n, k, batch;
    bool trans_a, trans_b, is_double, tf32;
    double alpha, beta;
};

CUresult run_product(const struct product *task);

// --- work.c --------------------------------------------------------------------------------------

enum kind { LAUNCH, PRODUCT, TO_DEVICE, TO_HOST, ON_DEVICE, FILL, FREE, RECORD, WAIT };
struct operation {
    enum kind kind;
    struct stream *stream;
    union {
        struct launch launch;
        struct product product;
        struct {
            uint64_t to, from;
            size_t bytes;
            void *staged;  // bytes of the host that were taken when it was enqueued
        } copy;
        struct {
            uint64_t to;
            unsigned value, width;
            size_t count;
        } fill;
        CUdeviceptr freed;
        struct {
            struct event *event;
            uint64_t number;
        } mark;
    };
};
struct operations {
    struct operation *items;
    size_t count, room;
};

CUresult enqueue(struct operation operation);
void append(struct operations *operations, const struct operation *operation);
struct operation copied(const struct operation *operation);  // owns its arguments
void discard(struct operation *operation);
void discard_all(struct operations *operations);
CUresult run_now(const struct operation *operation);  // after all that is before it
bool has_work(const struct stream *stream);
CUresult finish_stream(struct stream *stream);
CUresult finish_event(const struct event *event);
CUresult finish_everything(void);
void forget_work(void);

// --- streams.c, graphs.c -------------------------------------------------------------------------

struct stream {
    struct stream *next;
    bool alive, blocking;
    struct capture *capture;
};
struct event {
    unsigned uses;  // handle and operations
    bool alive, timed;
    uint64_t recorded, completed;  // numbers of records
    double seconds;
    struct capture *capture;  // where it was recorded last, if that was in a capture
};
struct graph {
    struct operations operations;
};

extern struct stream legacy_stream;
CUresult find_stream(CUstream handle, struct stream **stream);
void let_go(struct event *event);
// No stream takes part in this capture any more.
void leave_capture(const struct capture *capture);

void forget_captures(void);
// Whether a call that waits or allocates is allowed now; if not, the capture is lost.
CUresult allowed_in_capture(const char *what);
// Whether one that asks for the work of a stream or event is, in any mode and thread.
CUresult not_captured(const struct stream *stream, const char *what);
CUresult not_a_captured_event(const struct event *event, const char *what);
// Puts an operation into the capture that its stream takes part in, if any: then `taken`.
CUresult capture(const struct operation *operation, bool *taken);

#endif
