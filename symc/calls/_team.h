/* Threads for parallel loops. See _team.c. */
#ifndef SYMC_TEAM_H
#define SYMC_TEAM_H

/* The functions that compiled functions call, in the order of `symc_team` in
 * codegen/runtime/host/threads.h. */
typedef struct {
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
} Team;

extern const Team *const symc_team; /* NULL where there is none */

#endif
