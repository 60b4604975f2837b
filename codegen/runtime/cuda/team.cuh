// Joint operations of a team's threads. A team is the blockDim.x threads that share a
// threadIdx.y: 32, or a larger power of two where blockDim.y is 1; so it is a warp or a block.
// All its threads call these functions, where they do not diverge, and get the same bits, which
// depend on blockDim.x but not on how the threads happen to run.

// SYMBOL symc_team_parts
// A value of each warp of the block; teams of one warp do not need it.
__shared__ unsigned long long symc_team_parts[32];

// SYMBOL symc_team_sync
// Writes of any thread of the team before it are seen by all of them after it.
static inline void symc_team_sync() {
    if (blockDim.x > 32)
        __syncthreads();
    else
        __syncwarp();
}

// SYMBOL symc_team_next
// The first number, not below `done`, of those that a thread has when all are dealt out in turn.
template <typename T>
static inline T symc_team_next(T done) {
    return done + (T)((threadIdx.x - (unsigned)done) & (blockDim.x - 1));
}

// SYMBOL symc_team_exchange
// NEEDS symc_team_parts
// Gives each lane of each warp of a larger team the value of the warp with the lane's number, as
// far as there is one. The barrier before is for those who still read an earlier exchange.
template <typename T>
static inline T symc_team_exchange(T value, bool writes) {
    T *parts = (T *)symc_team_parts;
    const unsigned lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    __syncthreads();
    if (writes) parts[threadIdx.x >> 5] = value;
    __syncthreads();
    return parts[lane < warps ? lane : 0];
}

// SYMBOL symc_team_reduce
// NEEDS symc_team_exchange
// A tree over lanes, then one over warps. The first lane's result goes to all: `combine` need not
// give the same bits with its operands exchanged.
template <typename T, typename Combine>
static inline T symc_team_reduce(T value, Combine combine) {
    const unsigned lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    for (unsigned apart = 16; apart > 0; apart >>= 1)
        value = combine(value, (T)__shfl_down_sync(0xffffffffu, value, apart));
    if (warps > 1) {
        value = symc_team_exchange(value, lane == 0);
        for (unsigned apart = 16; apart > 0; apart >>= 1) {
            const T other = (T)__shfl_down_sync(0xffffffffu, value, apart);
            if (lane + apart < warps) value = combine(value, other);
        }
    }
    return (T)__shfl_sync(0xffffffffu, value, 0);
}

// SYMBOL symc_team_scan_lanes
// The value of a lane combined with those of all lanes below it.
template <typename T, typename Combine>
static inline T symc_team_scan_lanes(T value, Combine combine) {
    for (unsigned apart = 1; apart < 32; apart <<= 1) {
        const T other = (T)__shfl_up_sync(0xffffffffu, value, apart);
        if ((threadIdx.x & 31) >= apart) value = combine(other, value);
    }
    return value;
}

// SYMBOL symc_team_scan
// NEEDS symc_team_exchange symc_team_scan_lanes
// As symc_team_scan_lanes, over the whole team.
template <typename T, typename Combine>
static inline T symc_team_scan(T value, Combine combine) {
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    value = symc_team_scan_lanes(value, combine);
    if (blockDim.x > 32) {
        T below = symc_team_scan_lanes(symc_team_exchange(value, lane == 31), combine);
        below = (T)__shfl_sync(0xffffffffu, below, warp > 0 ? warp - 1 : 0);
        if (warp > 0) value = combine(below, value);
    }
    return value;
}

// SYMBOL symc_team_last
// NEEDS symc_team_exchange
// The value of the team's last lane.
template <typename T>
static inline T symc_team_last(T value) {
    unsigned from = 31;
    if (blockDim.x > 32) {
        from = (blockDim.x >> 5) - 1;
        value = symc_team_exchange(value, (threadIdx.x & 31) == 31);
    }
    return (T)__shfl_sync(0xffffffffu, value, from);
}

// SYMBOL symc_pack
// N elements that are loaded or stored at once, from where they are aligned to their whole size.
template <typename T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) symc_pack {
    T at[N];
};

// SYMBOL SYMC_TEAM
// NEEDS symc_team_reduce
#define SYMC_TEAM(name, type, expression)                                                  \
    static inline type symc_team_##name(type value) {                                      \
        return symc_team_reduce(value, [](type a, type b) { return (type)(expression); }); \
    }

// SYMBOL SYMC_SCAN
// NEEDS symc_team_scan
// The combined value of the threads up to this one.
#define SYMC_SCAN(name, type, expression)                                                  \
    static inline type symc_team_scan_##name(type value) {                                 \
        return symc_team_scan(value, [](type a, type b) { return (type)(expression); });   \
    }
