/* How the members of a team share the chunks of a loop. See _lanes.c. */
#ifndef SYMC_LANES_H
#define SYMC_LANES_H

#include <stdint.h>

enum { LANES = 8 };

/* A range that is cut into chunks. */
typedef struct {
    long start, end, step, chunk, many; /* and how many chunks there are */
} Loop;

/* Where the members of a team meet in a loop. */
typedef struct {
    unsigned count, lanes;
    _Atomic int stopped; /* whether the rest of the loop is left out */
    struct {
        _Alignas(64) _Atomic long taken; /* chunks that somebody has begun */
    } lane[LANES];
} Lanes;

/* One member's way through a loop. */
typedef struct {
    unsigned number, passed; /* the member's; how many lanes were found empty */
    int begun;               /* whether it has had a chunk */
    int64_t since;           /* when it took the last ones */
    Loop loop;
} Turn;

Loop symc_loop_of(long start, long end, long step, long chunk);
void symc_open_lanes(Lanes *lanes, unsigned count);
/* Whether there is more for this member; from `begin` to `end`, which lies behind the last one. */
int symc_take_turn(Lanes *lanes, Turn *turn, long *begin, long *end);

#endif
