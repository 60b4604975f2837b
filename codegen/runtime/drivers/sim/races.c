// Accesses to the same place that nothing orders: two threads, at least one writes, no barrier
// between them.
//
// Time is counted in phases: a block starts one, and so does each barrier of all its threads. Each
// word of memory has a cell that says in which phase which thread wrote it last, and which read it.
// In the phase of an access, only accesses of the same thread are ordered with it, and those of its
// warp before the last __syncwarp (shuffles and votes order nothing, as in CUDA). Accesses of
// another block are never ordered within a launch.
//
// Several readers of a word become one entry: of a warp, of a block, or of several blocks. Of
// parts of a word that different threads access, the last is kept, so a race of bytes may be
// missed. Atomic operations are not looked at.
#include "driver.h"

// A cell's entry, from the lowest bits: which bytes of the word (4), who (11), the warp's count of
// __syncwarp (14), the phase (35). Who: a thread's number, or a code.
enum {
    WARP_CODE = 1024,   // plus the warp's number: several of its threads
    BLOCK_CODE = 1056,  // threads of several warps
    GRID_CODE = 1057,   // threads of several blocks
    SYNCS = 1 << 14,
};

static uint64_t phase, block_start, launch_start;
static uint32_t warp_syncs[32];

struct entry {
    unsigned bytes, who;
    uint32_t sync;
    uint64_t phase;
};

static uint64_t packed(struct entry entry) {
    return entry.bytes | (uint64_t)entry.who << 4 | (uint64_t)entry.sync << 15 |
           entry.phase << 29;
}

static struct entry unpacked(uint64_t bits) {
    return (struct entry){bits & 15, bits >> 4 & 2047, bits >> 15 & (SYNCS - 1), bits >> 29};
}

void start_launch_races(void) { launch_start = ++phase; }

void start_block_races(void) { block_start = ++phase; }

void barrier_orders(void) { phase++; }

void warp_orders(unsigned warp) { warp_syncs[warp] = (warp_syncs[warp] + 1) % SYNCS; }

static bool is_of_other_block(struct entry entry) {
    return entry.phase < block_start || entry.who == GRID_CODE;
}

// The number of an entry's warp; for threads of several, of none.
static unsigned warp_of(struct entry entry) {
    return entry.who < WARP_CODE ? entry.who / SYMC_SIM_WARP : entry.who - WARP_CODE;
}

// Whether a barrier stands between an entry of this block and `mine`.
static bool is_before(struct entry entry, struct entry mine) {
    return entry.phase < mine.phase ||
           (warp_of(entry) == warp_of(mine) && entry.sync != mine.sync);
}

// Whether an entry is of this launch, touches these bytes, and is not before `mine`.
static bool conflicts(struct entry entry, struct entry mine) {
    if (entry.phase < launch_start || !(entry.bytes & mine.bytes)) return false;
    return is_of_other_block(entry) || !(entry.who == mine.who || is_before(entry, mine));
}

// The entry of the readers before and `mine`, which reads too. Those before a barrier are left out:
// whatever is not ordered with them is not with `mine`.
static struct entry joined(struct entry entry, struct entry mine) {
    struct entry both = mine;
    if (entry.phase < launch_start || !(entry.bytes & mine.bytes)) return mine;
    if (is_of_other_block(entry)) {
        both.who = GRID_CODE;
    } else if (is_before(entry, mine)) {
        return mine;
    } else if (entry.who != mine.who) {
        both.who = warp_of(entry) == warp_of(mine) ? WARP_CODE + warp_of(mine) : BLOCK_CODE;
    }
    both.bytes |= entry.bytes;
    return both;
}

static struct race race_with(struct entry entry, bool writes) {
    return (struct race){true, is_of_other_block(entry), writes,
                         entry.who < WARP_CODE ? entry.who : NO_THREAD};
}

static struct race race_of_word(struct cell *cell, struct entry mine, bool writes, bool shared) {
    struct entry write = unpacked(cell->write), read = unpacked(cell->read);
    if (shared && write.phase < block_start) write.phase = 0;
    if (shared && read.phase < block_start) read.phase = 0;
    if (conflicts(write, mine)) return race_with(write, true);
    if (writes) {
        if (conflicts(read, mine)) return race_with(read, false);
        cell->write = packed(mine);
    } else {
        cell->read = packed(joined(read, mine));
    }
    return (struct race){0};
}

struct race race_of(struct region *region, size_t offset, size_t bytes, bool writes) {
    unsigned thread = current_thread();
    struct entry mine = {0, thread, warp_syncs[thread / SYMC_SIM_WARP], phase};
    for (size_t word = offset / WORD; word * WORD < offset + bytes; word++) {
        size_t first = word * WORD < offset ? offset - word * WORD : 0;
        size_t end = offset + bytes - word * WORD;
        if (end > WORD) end = WORD;
        mine.bytes = (1u << end) - (1u << first);
        struct race race = race_of_word(&region->cells[word], mine, writes,
                                        region != &device_memory);
        if (race.found) return race;
    }
    return (struct race){0};
}
