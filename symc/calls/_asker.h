/* Whether the call on this thread is to stop, and the clocks. See _asker.c. */
#ifndef SYMC_ASKER_H
#define SYMC_ASKER_H

#include <stdint.h>
#include <time.h>

/* Asks whether the call on this thread is to stop; NULL while no call is running. */
typedef struct {
    int (*ask)(void *context);
    void *context;
    int stopped; /* the answer, once it was yes */
} Asker;

Asker *symc_use_asker(Asker *asker); /* of this thread; returns the one before */
int symc_ask(Asker *asker);          /* whether to stop; it asks only now and then */
int symc_asked(void);                /* the same of the asker that this thread uses; 0 without */

static inline int64_t
symc_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

static inline int64_t
symc_now(void)
{
    return symc_clock(CLOCK_MONOTONIC);
}

#endif
