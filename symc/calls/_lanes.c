/* How the members of a team share the chunks of a loop.
 *
 * Of a loop whose chunks are taken one by one, each member has a lane, which is the same part of the
 * range in every loop over it, so that its elements are in its caches; it goes on with the lanes of
 * others when its own is empty.
 */
#include "_lanes.h"

#ifdef __linux__

#include <stdatomic.h>

#include "_asker.h"

Loop
symc_loop_of(long start, long end, long step, long chunk)
{
    long length = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    if (chunk < 1) chunk = 1;
    return (Loop){start, end, step, chunk, length > 0 ? (length + chunk - 1) / chunk : 0};
}

void
symc_open_lanes(Lanes *lanes, unsigned count)
{
    lanes->count = count;
    lanes->lanes = count < LANES ? count : LANES;
    lanes->stopped = 0;
    for (unsigned k = 0; k < lanes->lanes; k++) lanes->lane[k].taken = 0;
}

/* How many chunks are taken at once: a row of a small matrix is a chunk, and so short that taking it
 * costs a tenth of it. Pieces of some 50 us are worth it; but a lane is taken in 16 pieces at least,
 * so that the members end at the same time. */
static _Thread_local long batch = 1;

static void
pace(int64_t took)
{
    if (took > 500000 && batch > 1) batch = (batch + 7) / 8;
    if (took < 50000 && batch < 1 << 20) batch *= 2;
}

static int
take_chunks(Lanes *lanes, Turn *turn, long *begin, long *end)
{
    Loop loop = turn->loop;
    for (; turn->passed < lanes->lanes; turn->passed++) {
        long lane = (turn->number + turn->passed) % lanes->lanes, many = lanes->lanes;
        long first = loop.many * lane / many, after = loop.many * (lane + 1) / many;
        long most = 1 + (after - first) / 16, count = batch < most ? batch : most;
        first += atomic_fetch_add(&lanes->lane[lane].taken, count);
        if (first >= after) continue;
        if (count > after - first) count = after - first;
        *begin = loop.start + first * loop.chunk * loop.step;
        *end = first + count < loop.many ? *begin + count * loop.chunk * loop.step : loop.end;
        return 1;
    }
    return 0;
}

/* The same of a loop that is one chunk, or none: there is nothing to share, to pace or to stop, and
 * where it is a step of another loop, and ten elements long, a clock would take longer than it. */
static int
take_all(Lanes *lanes, Turn *turn, long *begin, long *end)
{
    if (turn->begun || turn->loop.many == 0) return 0;
    turn->begun = 1;
    if (lanes->count > 1 && atomic_exchange(&lanes->lane[0].taken, 1)) return 0;
    *begin = turn->loop.start;
    *end = turn->loop.end;
    return 1;
}

int
symc_take_turn(Lanes *lanes, Turn *turn, long *begin, long *end)
{
    if (turn->loop.many <= 1) return take_all(lanes, turn, begin, end);
    int64_t time = symc_now();
    if (turn->begun) {
        pace(time - turn->since);
        if (symc_asked()) atomic_store(&lanes->stopped, 1);
        if (atomic_load(&lanes->stopped)) return 0;
    }
    turn->begun = 1; /* the first chunk is never left out */
    turn->since = time;
    return take_chunks(lanes, turn, begin, end);
}

#endif /* __linux__ */
