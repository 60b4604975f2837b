// The code that gcc makes of "omp parallel" calls these functions. Programs that run in a process
// of symc's get their own (targets/team.py), which lead to the threads of that process, in
// symc/calls/_team.c, and not to libgomp. Everything else, such as an exported library, uses
// OpenMP's own.
//
// No parallel region of symc's has a barrier in it, and at most one loop whose chunks are taken.

// SYMBOL symc_team
#define SYMC_HIDDEN __attribute__((visibility("hidden"), used))
// Filled in by whoever loads the program.
const struct {
    void (*run)(void (*body)(void *), void *data, unsigned count);
    void (*loop)(void (*body)(void *), void *data, unsigned count, long start, long end, long step,
                 long chunk);
    int (*next)(long *begin, long *end);
    int (*start)(long start, long end, long step, long chunk, long *begin, long *next);
    int (*number)(void);
    int (*count)(void);
    void (*task)(void (*body)(void *), void *data, void (*copy)(void *, void *), long bytes,
                 long alignment);
    int (*single)(void);
} *symc_team;

SYMC_HIDDEN void GOMP_parallel(void (*body)(void *), void *data, unsigned count, unsigned flags) {
    (void)flags;
    symc_team->run(body, data, count);
}
SYMC_HIDDEN void GOMP_parallel_loop_nonmonotonic_dynamic(void (*body)(void *), void *data, unsigned count, long start, long end,
                      long step, long chunk, unsigned flags) {
    symc_team->loop(body, data, count, start, end, step, chunk);
}
SYMC_HIDDEN void GOMP_parallel_loop_dynamic(void (*body)(void *), void *data, unsigned count, long start, long end,
                      long step, long chunk, unsigned flags) {
    symc_team->loop(body, data, count, start, end, step, chunk);
}
SYMC_HIDDEN _Bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk,
                                                      long *begin, long *next) {
    return symc_team->start(start, end, step, chunk, begin, next);
}
SYMC_HIDDEN _Bool GOMP_loop_nonmonotonic_dynamic_next(long *begin, long *end) {
    return symc_team->next(begin, end);
}
SYMC_HIDDEN _Bool GOMP_loop_dynamic_start(long start, long end, long step, long chunk, long *begin,
                                         long *next) {
    return symc_team->start(start, end, step, chunk, begin, next);
}
SYMC_HIDDEN _Bool GOMP_loop_dynamic_next(long *begin, long *end) {
    return symc_team->next(begin, end);
}
SYMC_HIDDEN void GOMP_loop_end_nowait(void) {}
SYMC_HIDDEN _Bool GOMP_single_start(void) { return symc_team->single(); }
SYMC_HIDDEN void GOMP_task(void (*body)(void *), void *data, void (*copy)(void *, void *),
                           long bytes, long alignment, _Bool wanted, unsigned flags, void **depend,
                           int priority) {
    symc_team->task(body, data, copy, bytes, alignment);
}
SYMC_HIDDEN int omp_get_thread_num(void) { return symc_team->number(); }
SYMC_HIDDEN int omp_get_num_threads(void) { return symc_team->count(); }
