// The timers of symc.profile's programs: a clock, and a row of a table for each step.

// SYMBOL symc_timer
typedef struct symc_timer {
    int64_t calls, nanoseconds, bytes;
    int64_t begun;  // when the step that runs now was begun
} symc_timer;

// SYMBOL symc_now
// Nanoseconds on a clock that never goes back.
struct symc_timespec {
    long seconds, nanoseconds;
};
int clock_gettime(int clock, struct symc_timespec *now);
static inline int64_t symc_now(void) {
    struct symc_timespec now;
    clock_gettime(1, &now);  // CLOCK_MONOTONIC
    return now.seconds * (int64_t)1000000000 + now.nanoseconds;
}

// SYMBOL symc_done
// NEEDS symc_timer symc_now
static inline void symc_done(symc_timer *timer, int64_t bytes) {
    timer->nanoseconds += symc_now() - timer->begun;
    timer->calls += 1;
    timer->bytes += bytes;
}
