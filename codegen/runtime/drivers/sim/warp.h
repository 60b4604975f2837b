// Joint operations of a block's threads: barriers, shuffles, votes. Each waits in the driver until
// all that must take part are there.

SYMC_SIM_UNCHECKED int symc_sim_barrier(symc_sim_vote kind, int predicate, symc_sim_place place) {
    return symc_sim->barrier(kind, predicate, place);
}
SYMC_SIM_UNCHECKED unsigned long long symc_sim_exchange_bits(symc_sim_exchange kind, unsigned mask,
                                                             unsigned long long value, int source,
                                                             symc_sim_place place) {
    return symc_sim->exchange(kind, mask, value, source, place);
}

static inline void __syncthreads(SYMC_SIM_HERE) {
    symc_sim_barrier(SYMC_SIM_BARRIER, 0, SYMC_SIM_PLACE);
}
static inline int __syncthreads_count(int predicate, SYMC_SIM_HERE) {
    return symc_sim_barrier(SYMC_SIM_BARRIER_COUNT, predicate, SYMC_SIM_PLACE);
}
static inline int __syncthreads_and(int predicate, SYMC_SIM_HERE) {
    return symc_sim_barrier(SYMC_SIM_BARRIER_AND, predicate, SYMC_SIM_PLACE);
}
static inline int __syncthreads_or(int predicate, SYMC_SIM_HERE) {
    return symc_sim_barrier(SYMC_SIM_BARRIER_OR, predicate, SYMC_SIM_PLACE);
}

static inline void __syncwarp(unsigned mask = 0xffffffffu, SYMC_SIM_HERE) {
    symc_sim_exchange_bits(SYMC_SIM_SYNCWARP, mask, 0, 0, SYMC_SIM_PLACE);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate, SYMC_SIM_HERE) {
    return symc_sim_exchange_bits(SYMC_SIM_BALLOT, mask, predicate != 0, 0, SYMC_SIM_PLACE);
}
static inline int __any_sync(unsigned mask, int predicate, SYMC_SIM_HERE) {
    return symc_sim_exchange_bits(SYMC_SIM_ANY, mask, predicate != 0, 0, SYMC_SIM_PLACE);
}
static inline int __all_sync(unsigned mask, int predicate, SYMC_SIM_HERE) {
    return symc_sim_exchange_bits(SYMC_SIM_ALL, mask, predicate != 0, 0, SYMC_SIM_PLACE);
}

static inline int symc_sim_lane() {
    uint3 at = threadIdx, size = blockDim;
    return ((at.z * size.y + at.y) * size.x + at.x) & 31;
}

template <class T>
static inline T symc_sim_shuffle(symc_sim_exchange kind, unsigned mask, T value, int source,
                                 symc_sim_place place) {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = symc_sim_exchange_bits(kind, mask, bits, source, place);
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

// The lane to read from stays inside the group of `width` lanes; where it would leave it, a lane
// reads its own value.
#define SYMC_SIM_SHUFFLES(T)                                                                    \
    static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32,             \
                                SYMC_SIM_HERE) {                                                \
        int group = symc_sim_lane() & ~(width - 1), from = group | (source & (width - 1));      \
        return symc_sim_shuffle(SYMC_SIM_SHUFFLE, mask, value, from, SYMC_SIM_PLACE);           \
    }                                                                                           \
    static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,      \
                                   SYMC_SIM_HERE) {                                             \
        int lane = symc_sim_lane(), from = lane - (int)delta;                                   \
        if (from < (lane & ~(width - 1))) from = lane;                                          \
        return symc_sim_shuffle(SYMC_SIM_SHUFFLE_UP, mask, value, from, SYMC_SIM_PLACE);        \
    }                                                                                           \
    static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,    \
                                     SYMC_SIM_HERE) {                                           \
        int lane = symc_sim_lane(), from = lane + (int)delta;                                   \
        if (from > (lane | (width - 1))) from = lane;                                           \
        return symc_sim_shuffle(SYMC_SIM_SHUFFLE_DOWN, mask, value, from, SYMC_SIM_PLACE);      \
    }                                                                                           \
    static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32,           \
                                    SYMC_SIM_HERE) {                                            \
        int lane = symc_sim_lane(), from = lane ^ bits;                                         \
        if (from > (lane | (width - 1))) from = lane;                                           \
        return symc_sim_shuffle(SYMC_SIM_SHUFFLE_XOR, mask, value, from, SYMC_SIM_PLACE);       \
    }

SYMC_SIM_SHUFFLES(int)
SYMC_SIM_SHUFFLES(unsigned)
SYMC_SIM_SHUFFLES(long)
SYMC_SIM_SHUFFLES(unsigned long)
SYMC_SIM_SHUFFLES(long long)
SYMC_SIM_SHUFFLES(unsigned long long)
SYMC_SIM_SHUFFLES(float)
SYMC_SIM_SHUFFLES(double)

// One thread runs at a time, and all see its writes.
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) {}
