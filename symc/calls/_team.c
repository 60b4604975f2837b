/* Threads for the parallel loops of compiled functions.
 *
 * gcc makes a function of the body of each parallel region and calls GOMP_parallel with it; compiled
 * functions bring a GOMP_parallel that leads here (team.h) instead of to libgomp.
 * Both do the same, but where other programs keep the processors busy libgomp's caller waits for
 * threads that the system does not let run, some 4 ms each time, and its idle threads spin for as
 * long. Here
 *
 * - the members of a team are only numbers. The caller is the first member, and goes on with the
 *   next until nobody is left; helpers take numbers as well when they happen to run. So the caller
 *   waits only for parts that a helper has really begun;
 * - helpers that find nothing to do spin for some microseconds, and then sleep;
 * - a caller that had to wait for long leaves the helpers alone for a while;
 * - a child of fork starts with no helpers, and makes new ones when it needs them.
 *
 * The result of a member depends on its number alone, never on who computes it.
 */
#include "_team.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "_asker.h"
#include "_lanes.h"

#ifdef __linux__

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SLOTS = 16,        /* teams at the same time; further callers work alone */
    MOST_HELPERS = 255,
    TASKS = 64,        /* of a team that wait; more are done at once */
    TASK_BYTES = 128,
};
static const int64_t IDLE = 60000;       /* nanoseconds that a helper looks for work before it sleeps */
static const int64_t PATIENCE = 50000;   /* that a caller spins for members that others have begun */
static const int64_t LONG = 300000;      /* that it may wait before it asks whether that pays */

typedef struct {
    void (*body)(void *);
    _Alignas(16) char data[TASK_BYTES];
} Task;

/* A parallel region. */
typedef struct {
    void (*body)(void *);
    void *data;
    Loop loop; /* where all members start with the same one */
    Lanes lanes;
} Crew;

typedef struct {
    _Alignas(64) _Atomic uint64_t offer; /* a running number << 16 | members that nobody has begun */
    _Alignas(64) _Atomic uint32_t done;  /* members that helpers have finished */
    _Atomic int used, sleeping;          /* by a caller; whether it sleeps until `done` changes */
    _Atomic int64_t given;               /* the processor time that helpers spent for it */
    Crew crew;
    /* Tasks: work that the first member leaves to others while it goes on. */
    _Atomic int single, opened, running, lock;
    int waiting;
    Task tasks[TASKS];
} Slot;

/* The team that this thread is a member of. */
typedef struct {
    Crew *crew;
    Slot *slot;  /* NULL for a team of one thread */
    int several; /* whether it, or a team around it, has more than one member */
    Turn turn;
} Place;

static Slot slots[SLOTS];
static _Atomic uint32_t bell, asleep; /* rung where there is work; helpers that sleep beside it */
static _Atomic int helpers;
static _Atomic int64_t alone_until, alone_for; /* when helpers are asked again */
static _Thread_local Place here;

/* ---- waiting ---- */

static inline void
breathe(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void
sleep_at(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void
wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* ---- tasks ---- */

static int
take_task(Slot *slot, Task *task)
{
    while (atomic_exchange(&slot->lock, 1)) breathe();
    int found = slot->waiting > 0;
    if (found) {
        *task = slot->tasks[--slot->waiting];
        atomic_fetch_add(&slot->running, 1);
    }
    atomic_store(&slot->lock, 0);
    return found;
}

static int
is_finished(Slot *slot)
{
    while (atomic_exchange(&slot->lock, 1)) breathe();
    int finished = slot->opened && slot->waiting == 0 && slot->running == 0;
    atomic_store(&slot->lock, 0);
    return finished;
}

/* Do tasks until none can come any more: the first member has left its body, and all are done. */
static void
do_tasks(Slot *slot, unsigned number)
{
    Task task;
    int idle = 0;
    if (number == 0) atomic_store(&slot->opened, 1);
    while (!is_finished(slot)) {
        if (take_task(slot, &task)) {
            task.body(task.data);
            atomic_fetch_sub(&slot->running, 1);
            idle = 0;
        } else if (++idle < 1000) {
            breathe();
        } else {
            nanosleep(&(struct timespec){0, 20000}, NULL);
        }
    }
}

static void
team_task(void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes,
          long alignment)
{
    Slot *slot = here.slot;
    if (slot != NULL && copy == NULL && bytes <= TASK_BYTES && alignment <= 16) {
        while (atomic_exchange(&slot->lock, 1)) breathe();
        int room = slot->waiting < TASKS;
        if (room) {
            Task *task = &slot->tasks[slot->waiting++];
            task->body = body;
            memcpy(task->data, data, (size_t)bytes);
        }
        atomic_store(&slot->lock, 0);
        if (room) return;
    }
    if (copy != NULL) {
        char memory[bytes + alignment];
        char *own = (char *)(((uintptr_t)memory + (uintptr_t)alignment - 1) & -(uintptr_t)alignment);
        copy(own, data);
        body(own);
    } else {
        body(data);
    }
}

static int
team_single(void)
{
    if (here.slot != NULL) atomic_store(&here.slot->single, 1);
    return here.turn.number == 0;
}

/* ---- members ---- */

static void
be_member(Crew *crew, Slot *slot, unsigned number)
{
    Place before = here;
    here = (Place){crew, slot, .several = before.several || crew->lanes.count > 1,
                   .turn = {.number = number, .loop = crew->loop}};
    crew->body(crew->data);
    here = before;
    if (slot != NULL && slot->single) do_tasks(slot, number);
}

/* The number of a member that nobody has begun yet; 0 if there is none. */
static unsigned
take_member(Slot *slot)
{
    uint64_t offer = atomic_load(&slot->offer);
    while (offer & 0xffff)
        if (atomic_compare_exchange_weak(&slot->offer, &offer, offer - 1))
            return (unsigned)(offer & 0xffff); /* the caller is still there: it waits for us */
    return 0;
}

static void
help_out(Slot *slot, unsigned number)
{
    int64_t start = symc_clock(CLOCK_THREAD_CPUTIME_ID);
    be_member(&slot->crew, slot, number);
    atomic_fetch_add(&slot->given, symc_clock(CLOCK_THREAD_CPUTIME_ID) - start);
    atomic_fetch_add(&slot->done, 1); /* from here on the slot may be another team's */
    if (atomic_load(&slot->sleeping)) wake(&slot->done, 1);
}

static void *
help(void *unused)
{
    (void)unused;
    for (;;) {
        uint32_t seen = atomic_load(&bell);
        int found = 0;
        for (int k = 0; k < SLOTS; k++) {
            unsigned number = take_member(&slots[k]);
            if (number == 0) continue;
            found = 1;
            help_out(&slots[k], number);
        }
        if (found) continue;
        for (int64_t end = symc_now() + IDLE; atomic_load(&bell) == seen && symc_now() < end;)
            for (int k = 0; k < 16; k++) breathe();
        if (atomic_load(&bell) != seen) continue;
        atomic_fetch_add(&asleep, 1);
        sleep_at(&bell, seen);
        atomic_fetch_sub(&asleep, 1);
    }
    return NULL;
}

/* Make helpers, up to so many. Signals are for Python's threads. */
static void
hire(int wanted)
{
    sigset_t all, before;
    int have = atomic_load(&helpers);
    if (have >= wanted) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (have < wanted) {
        pthread_t thread;
        if (!atomic_compare_exchange_strong(&helpers, &have, have + 1)) continue;
        if (pthread_create(&thread, NULL, help, NULL) != 0) {
            atomic_fetch_sub(&helpers, 1);
            break;
        }
        pthread_detach(thread);
        have++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the caller ---- */

/* Wait for members that helpers have begun. Returns how long that took. */
static int64_t
wait_for(Slot *slot, uint32_t begun)
{
    if (atomic_load(&slot->done) == begun) return 0;
    int64_t start = symc_now(), waited = 0;
    while (atomic_load(&slot->done) != begun && waited < PATIENCE) {
        for (int k = 0; k < 16; k++) breathe();
        waited = symc_now() - start;
    }
    atomic_store(&slot->sleeping, 1);
    for (uint32_t done; (done = atomic_load(&slot->done)) != begun;) sleep_at(&slot->done, done);
    atomic_store(&slot->sleeping, 0);
    return symc_now() - start;
}

/* Where helpers made the caller wait for longer than their share had taken itself, there is no
 * processor for them. They are left alone for 2 ms then; when that happens again, for twice as long,
 * up to 128 ms. */
static void
judge(Slot *slot, int64_t waited)
{
    int64_t before = atomic_load(&alone_for);
    if (waited > LONG && waited > atomic_load(&slot->given)) {
        int64_t pause = before ? 2 * before : 2000000;
        pause = pause < 128000000 ? pause : 128000000;
        atomic_store(&alone_for, pause);
        atomic_store(&alone_until, symc_now() + pause);
    } else if (before) {
        atomic_store(&alone_for, before - before / 8 - 1);
    }
}

static void
begin_crew(Crew *crew, void (*body)(void *), void *data, unsigned count, Loop loop)
{
    crew->loop = loop;
    crew->body = body;
    crew->data = data;
    symc_open_lanes(&crew->lanes, count);
}

static void
run_together(Slot *slot, void (*body)(void *), void *data, unsigned count, Loop loop)
{
    uint64_t number = (atomic_load(&slot->offer) >> 16) + 1;
    begin_crew(&slot->crew, body, data, count, loop);
    slot->single = slot->opened = 0;
    slot->given = 0;
    atomic_store(&slot->done, 0);
    atomic_store(&slot->offer, number << 16 | (count - 1));
    atomic_fetch_add(&bell, 1);
    if (atomic_load(&asleep) > 0) wake(&bell, (int)count - 1);

    uint32_t begun = count - 1;
    be_member(&slot->crew, slot, 0);
    for (unsigned member; (member = take_member(slot)) != 0; begun--)
        be_member(&slot->crew, slot, member);
    judge(slot, wait_for(slot, begun));
}

static void
run_alone(void (*body)(void *), void *data, unsigned count, Loop loop)
{
    Crew crew;
    begin_crew(&crew, body, data, count, loop);
    for (unsigned number = 0; number < count; number++) be_member(&crew, NULL, number);
}

static Slot *
take_slot(void)
{
    if (atomic_load(&alone_until) > symc_now()) return NULL;
    for (int k = 0; k < SLOTS; k++) {
        int unused = 0;
        if (atomic_compare_exchange_strong(&slots[k].used, &unused, 1)) return &slots[k];
    }
    return NULL;
}

static void
run_loop(void (*body)(void *), void *data, unsigned count, Loop loop)
{
    Slot *slot = NULL;
    if (count == 0) count = 1;
    if (count > MOST_HELPERS + 1) count = MOST_HELPERS + 1;
    /* A region of one member, such as a loop over a batch of one, leaves helpers to those inside. */
    if (count > 1 && !here.several) slot = take_slot();
    if (slot == NULL) {
        run_alone(body, data, count, loop);
        return;
    }
    hire((int)count - 1);
    run_together(slot, body, data, count, loop);
    atomic_store(&slot->used, 0);
}

/* ---- loops ---- */

static void
team_run(void (*body)(void *), void *data, unsigned count)
{
    run_loop(body, data, count, (Loop){0, 0, 1, 1, 0});
}

static void
team_loop(void (*body)(void *), void *data, unsigned count, long start, long end, long step,
          long chunk)
{
    run_loop(body, data, count, symc_loop_of(start, end, step, chunk));
}

static int
team_next(long *begin, long *end)
{
    return symc_take_turn(&here.crew->lanes, &here.turn, begin, end);
}

static int
team_start(long start, long end, long step, long chunk, long *begin, long *next)
{
    here.turn.loop = symc_loop_of(start, end, step, chunk);
    here.turn.begun = 0;
    return team_next(begin, next);
}

static int
team_number(void)
{
    return (int)here.turn.number;
}

static int
team_count(void)
{
    return here.crew != NULL ? (int)here.crew->lanes.count : 1;
}

/* ---- fork ---- */

static void
after_fork(void)
{
    for (int k = 0; k < SLOTS; k++) {
        slots[k].offer = 0;
        slots[k].used = slots[k].sleeping = slots[k].lock = slots[k].waiting = slots[k].running = 0;
    }
    helpers = 0;
    asleep = 0;
    alone_until = alone_for = 0;
}

__attribute__((constructor)) static void
begin(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

static const Team team = {team_run,   team_loop,  team_next, team_start,
                          team_number, team_count, team_task, team_single};
const Team *const symc_team = &team;

#else

const Team *const symc_team = NULL;

#endif /* __linux__ */
