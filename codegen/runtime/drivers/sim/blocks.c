// A launch: blocks one after the other, the threads of a block in turns.
//
// A thread runs until it waits at a barrier or in a warp operation, or returns. Warps take turns;
// within one, waiting lanes go on when all lanes of their mask are in the same operation. When no
// warp can go on, either all threads of the block wait at the same barrier, or some never will:
// then the launch ends with a report.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

enum { MAX_THREADS = 1024, MAX_WARPS = MAX_THREADS / SYMC_SIM_WARP };
enum doing { NOT_STARTED, READY, AT_BARRIER, IN_EXCHANGE, RETURNED };

struct thread {
    enum doing doing;
    struct fiber *fiber;
    uint3 index;
    symc_sim_place place;  // where it waits
    int kind;              // symc_sim_vote or symc_sim_exchange
    int predicate;
    unsigned mask;
    int source;
    unsigned long long value;  // given, then returned
};

// A permutation of 0 ... count - 1, without memory: each is `step` after the one before.
struct turns {
    uint64_t count, next, step;
};

const struct launch *running;
symc_sim_position position;
static struct thread threads[MAX_THREADS];
static unsigned thread_count, current;
static CUresult outcome;

static uint64_t divisor(uint64_t a, uint64_t b) { return b ? divisor(b, a % b) : a; }

static struct turns take_turns(uint64_t count) {
    struct turns turns = {count, 0, 1};
    if (settings.order == REVERSED) turns.next = turns.step = count - 1;
    if (settings.order == RANDOM) {
        turns.next = random_number() % count;
        do {
            turns.step = random_number() % count;
        } while (divisor(turns.step, count) != 1);
    }
    return turns;
}

static uint64_t next_turn(struct turns *turns) {
    uint64_t number = turns->next;
    turns->next += turns->step;
    if (turns->next >= turns->count) turns->next -= turns->count;
    return number;
}

unsigned current_thread(void) { return current; }

// --- reports -------------------------------------------------------------------------------------

static const char *const votes[] = {
    "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
};
static const char *const exchanges[] = {
    "__syncwarp",      "__shfl_sync",   "__shfl_up_sync", "__shfl_down_sync",
    "__shfl_xor_sync", "__ballot_sync", "__any_sync",     "__all_sync",
};

struct words {
    char text[160];
};

static struct words words_of_index(const char *name, uint3 index) {
    struct words words;
    snprintf(words.text, sizeof words.text, "%s (%u, %u, %u)", name, index.x, index.y, index.z);
    return words;
}

// The position of a thread, to go on "thread (3, 0, 0) ...".
static struct words words_of_doing(const struct thread *thread) {
    struct words words;
    const char *file = thread->place.file;
    int line = thread->place.line;
    switch (thread->doing) {
    case AT_BARRIER:
        snprintf(words.text, sizeof words.text, "waits in %s at %s:%d", votes[thread->kind], file,
                 line);
        break;
    case IN_EXCHANGE:
        snprintf(words.text, sizeof words.text, "waits in %s with mask 0x%08x at %s:%d",
                 exchanges[thread->kind], thread->mask, file, line);
        break;
    case RETURNED: snprintf(words.text, sizeof words.text, "has returned"); break;
    case NOT_STARTED:
    case READY: snprintf(words.text, sizeof words.text, "runs"); break;
    }
    return words;
}

// Starts a report with where the launch is. A place that is not known by line is given as an
// offset into the module, which codegen/targets/sim.py makes a line of.
static void start_report(CUresult result, symc_sim_place place, const void *from) {
    struct words block = words_of_index("block", position.block);
    struct words thread = words_of_index("thread", position.thread);
    outcome = complain(result, "kernel %s, %s, %s", running->function->kernel->name, block.text,
                       thread.text);
    reported = running->function->module;
    const char *start = reported->record->start;
    if (place.file) add_to_report(", %s:%d: ", place.file, place.line);
    else if (from) add_to_report(", module+0x%lx: ", (unsigned long)((const char *)from - start));
    else add_to_report(": ");
}

_Noreturn void end_launch(CUresult result, symc_sim_place place, const void *from,
                          const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    start_report(result, place, from);
    add_to_report("%s", text);
    leave_fiber();
    abort();  // nothing enters this thread again
}

// --- threads -------------------------------------------------------------------------------------

static void run_thread(void) {
    for (;;) {
        running->function->kernel->call(running->arguments);
        threads[current].doing = RETURNED;
        leave_fiber();
    }
}

static void continue_thread(unsigned number) {
    struct thread *thread = &threads[number];
    if (thread->doing == NOT_STARTED) thread->fiber = take_fiber(run_thread);
    thread->doing = READY;
    current = number;
    position.thread = thread->index;
    enter_fiber(thread->fiber);
    if (thread->doing == RETURNED) give_fiber_back(thread->fiber);
}

static int barrier(symc_sim_vote kind, int predicate, symc_sim_place place) {
    struct thread *thread = &threads[current];
    thread->doing = AT_BARRIER;
    thread->kind = kind, thread->predicate = predicate != 0, thread->place = place;
    leave_fiber();
    return (int)thread->value;
}

static unsigned long long exchange(symc_sim_exchange kind, unsigned mask, unsigned long long value,
                                   int source, symc_sim_place place) {
    struct thread *thread = &threads[current];
    unsigned lane = current % SYMC_SIM_WARP;
    if (!(mask >> lane & 1)) {
        end_launch(CUDA_ERROR_LAUNCH_FAILED, place, NULL,
                   "%s: lane %u is not in its own mask 0x%08x", exchanges[kind], lane, mask);
    }
    thread->doing = IN_EXCHANGE;
    thread->kind = kind, thread->mask = mask, thread->place = place;
    thread->source = source, thread->value = value;
    leave_fiber();
    return thread->value;
}

// --- warps ---------------------------------------------------------------------------------------

static unsigned lanes_of(unsigned first) {
    unsigned count = thread_count - first;
    return count >= SYMC_SIM_WARP ? 0xffffffffu : (1u << count) - 1;
}

// Whether all lanes of the mask of `lane` are in its operation.
static bool is_complete(const struct thread *lanes, unsigned lane, unsigned existing) {
    for (unsigned other = 0; other < SYMC_SIM_WARP; other++) {
        if (!(lanes[lane].mask & existing & 1u << other)) continue;
        const struct thread *thread = &lanes[other];
        if (thread->doing != IN_EXCHANGE || thread->kind != lanes[lane].kind ||
            thread->mask != lanes[lane].mask) {
            return false;
        }
    }
    return true;
}

static unsigned long long result_of(int kind, unsigned votes_for, unsigned members) {
    switch (kind) {
    case SYMC_SIM_BALLOT: return votes_for;
    case SYMC_SIM_ANY: return votes_for != 0;
    case SYMC_SIM_ALL: return votes_for == members;
    default: return 0;
    }
}

static void finish_exchange(struct thread *lanes, unsigned lane, unsigned existing) {
    unsigned members = lanes[lane].mask & existing, votes_for = 0;
    int kind = lanes[lane].kind;
    unsigned long long given[SYMC_SIM_WARP];
    for (unsigned i = 0; i < SYMC_SIM_WARP; i++) {
        // The value of a shuffle from a lane outside of the mask is undefined: all ones, a NaN.
        given[i] = members >> i & 1 ? lanes[i].value : ~0ull;
        votes_for |= (members >> i & 1 && given[i]) << i;
    }
    bool shuffles = kind >= SYMC_SIM_SHUFFLE && kind <= SYMC_SIM_SHUFFLE_XOR;
    for (unsigned i = 0; i < SYMC_SIM_WARP; i++) {
        if (!(members >> i & 1)) continue;
        lanes[i].value = shuffles ? given[lanes[i].source & (SYMC_SIM_WARP - 1)]
                                  : result_of(kind, votes_for, members);
        lanes[i].doing = READY;
    }
    if (kind == SYMC_SIM_SYNCWARP) warp_orders((unsigned)(lanes - threads) / SYMC_SIM_WARP);
}

// Runs the lanes of a warp until each waits for something outside of it, or has returned.
static void run_warp(unsigned first) {
    struct thread *lanes = &threads[first];
    unsigned existing = lanes_of(first);
    bool progress = true;
    while (progress) {
        progress = false;
        struct turns turns = take_turns((uint64_t)__builtin_popcount(existing));
        for (unsigned i = 0; i < turns.count; i++) {
            unsigned lane = (unsigned)next_turn(&turns);
            if (lanes[lane].doing > READY) continue;
            continue_thread(first + lane);
            if (outcome) return;
            progress = true;
        }
        for (unsigned lane = 0; lane < turns.count; lane++) {
            if (lanes[lane].doing == IN_EXCHANGE && is_complete(lanes, lane, existing)) {
                finish_exchange(lanes, lane, existing);
                progress = true;
            }
        }
    }
}

// --- blocks --------------------------------------------------------------------------------------

static bool same_place(symc_sim_place a, symc_sim_place b) {
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

// Lets all threads go on if they wait at the same barrier.
static bool release_barrier(void) {
    int count = 0;
    for (unsigned i = 0; i < thread_count; i++) {
        if (threads[i].doing != AT_BARRIER || threads[i].kind != threads[0].kind ||
            !same_place(threads[i].place, threads[0].place)) {
            return false;
        }
        count += threads[i].predicate;
    }
    for (unsigned i = 0; i < thread_count; i++) {
        switch ((symc_sim_vote)threads[i].kind) {
        case SYMC_SIM_BARRIER: break;
        case SYMC_SIM_BARRIER_COUNT: threads[i].value = (unsigned)count; break;
        case SYMC_SIM_BARRIER_AND: threads[i].value = count == (int)thread_count; break;
        case SYMC_SIM_BARRIER_OR: threads[i].value = count > 0; break;
        }
        threads[i].doing = READY;
    }
    barrier_orders();
    counters.barriers++;
    return true;
}

// The thread that `thread` waits for in vain.
static const struct thread *missing(const struct thread *thread) {
    unsigned first = (unsigned)(thread - threads) / SYMC_SIM_WARP * SYMC_SIM_WARP;
    for (unsigned i = 0; i < thread_count; i++) {
        const struct thread *other = &threads[i];
        if (thread->doing == AT_BARRIER) {
            if (other->doing != AT_BARRIER || other->kind != thread->kind ||
                !same_place(other->place, thread->place)) {
                return other;
            }
        } else if (i >= first && i < first + SYMC_SIM_WARP && thread->mask >> (i - first) & 1) {
            if (other->doing != IN_EXCHANGE || other->kind != thread->kind ||
                other->mask != thread->mask) {
                return other;
            }
        }
    }
    return NULL;
}

// Reports why no thread can go on: first a warp operation, since a barrier may wait for that.
static void report_standstill(void) {
    const struct thread *waiting = NULL;
    for (unsigned i = 0; i < thread_count; i++) {
        if (threads[i].doing == IN_EXCHANGE) {
            waiting = &threads[i];
            break;
        }
        if (threads[i].doing == AT_BARRIER && !waiting) waiting = &threads[i];
    }
    const struct thread *other = missing(waiting);
    position.thread = waiting->index;
    start_report(CUDA_ERROR_LAUNCH_FAILED, waiting->place, NULL);
    add_to_report("%s", words_of_doing(waiting).text);
    if (other) {
        add_to_report(" for %s, which %s", words_of_index("thread", other->index).text,
                      words_of_doing(other).text);
    }
}

static bool all_returned(void) {
    for (unsigned i = 0; i < thread_count; i++) {
        if (threads[i].doing != RETURNED) return false;
    }
    return true;
}

static void run_block(void) {
    unsigned warps = (thread_count + SYMC_SIM_WARP - 1) / SYMC_SIM_WARP;
    for (unsigned i = 0; i < thread_count; i++) threads[i].doing = NOT_STARTED;
    start_block_checking();
    for (;;) {
        struct turns turns = take_turns(warps);
        for (unsigned i = 0; i < warps; i++) {
            run_warp((unsigned)next_turn(&turns) * SYMC_SIM_WARP);
            if (outcome) return;
        }
        if (all_returned()) return;
        if (!release_barrier()) {
            report_standstill();
            return;
        }
    }
}

static void number_threads(uint3 size) {
    thread_count = 0;
    for (unsigned z = 0; z < size.z; z++) {
        for (unsigned y = 0; y < size.y; y++) {
            for (unsigned x = 0; x < size.x; x++) {
                threads[thread_count++].index = (uint3){x, y, z};
            }
        }
    }
}

CUresult run_launch(const struct launch *launch) {
    running = launch;
    outcome = CUDA_SUCCESS;
    position.blocks = launch->blocks, position.threads = launch->threads;
    *launch->function->module->record->runtime = &runtime;
    number_threads(launch->threads);
    start_checking(launch);
    struct turns turns =
        take_turns((uint64_t)launch->blocks.x * launch->blocks.y * launch->blocks.z);
    for (uint64_t i = 0; i < turns.count && !outcome; i++) {
        uint64_t number = next_turn(&turns);
        position.block.x = (unsigned)(number % launch->blocks.x);
        position.block.y = (unsigned)(number / launch->blocks.x % launch->blocks.y);
        position.block.z = (unsigned)(number / launch->blocks.x / launch->blocks.y);
        run_block();
    }
    if (outcome) abandon_fibers();
    running = NULL;
    counters.launches++;
    return outcome;
}

// --- functions for kernels -----------------------------------------------------------------------
// -----------------------------------------------------------------------

static void fail(symc_sim_fault fault, symc_sim_place place, const char *text) {
    switch (fault) {
    case SYMC_SIM_MISALIGNED:
        end_launch(CUDA_ERROR_MISALIGNED_ADDRESS, place, NULL,
                   "address %p is not aligned for its type", (const void *)text);
    case SYMC_SIM_ASSERT:
        end_launch(CUDA_ERROR_ASSERT, place, NULL, "assertion `%s' failed", text);
    case SYMC_SIM_TRAP: end_launch(CUDA_ERROR_LAUNCH_FAILED, place, NULL, "%s", text);
    }
}

const symc_sim_runtime runtime = {
    .position = &position,
    .barrier = barrier,
    .exchange = exchange,
    .access = check_access,
    .fail = fail,
    .print = printf,
    .erfcx = symc_erfcx,
    .erfinv = symc_erfinv,
    .erfcinv = symc_erfcinv,
    .normcdf = symc_normcdf,
    .normcdfinv = symc_normcdfinv,
    .cyl_bessel_i0 = symc_i0,
    .cyl_bessel_i1 = symc_i1,
};
