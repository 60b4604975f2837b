/* Whether the call on this thread is to stop: a signal may have come whose handler raises.
 *
 * Whoever runs a call sets an asker for its thread; parallel loops and compiled functions ask it from
 * time to time. Its answer needs Python's lock, so that it is asked only now and then.
 */
#include "_asker.h"

#include <stddef.h>

static const int64_t PAUSE = 50000000; /* nanoseconds between two questions */
static _Thread_local Asker *current;

Asker *
symc_use_asker(Asker *asker)
{
    Asker *before = current;
    current = asker;
    return before;
}

int
symc_ask(Asker *asker)
{
    static _Thread_local int64_t next;
    int64_t time = symc_now();
    if (asker->stopped || time < next) return asker->stopped;
    asker->stopped = asker->ask(asker->context);
    /* A hundred times as long as the question took passes until it is asked again. */
    int64_t after = symc_now(), pause = 100 * (after - time);
    next = after + (pause > PAUSE ? pause : PAUSE);
    return asker->stopped;
}

int
symc_asked(void)
{
    return current != NULL && symc_ask(current);
}
