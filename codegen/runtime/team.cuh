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
// Signed integers are added and multiplied as unsigned ones, which may wrap.
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

SYMC_TEAM(add_i8, int8_t, 0u + a + b);  // SYMBOL symc_team_add_i8 NEEDS SYMC_TEAM
SYMC_TEAM(add_i16, int16_t, 0u + a + b);  // SYMBOL symc_team_add_i16 NEEDS SYMC_TEAM
SYMC_TEAM(add_i32, int32_t, 0u + a + b);  // SYMBOL symc_team_add_i32 NEEDS SYMC_TEAM
SYMC_TEAM(add_i64, int64_t, 0ull + a + b);  // SYMBOL symc_team_add_i64 NEEDS SYMC_TEAM
SYMC_TEAM(add_u8, uint8_t, 0u + a + b);  // SYMBOL symc_team_add_u8 NEEDS SYMC_TEAM
SYMC_TEAM(add_u16, uint16_t, 0u + a + b);  // SYMBOL symc_team_add_u16 NEEDS SYMC_TEAM
SYMC_TEAM(add_u32, uint32_t, 0u + a + b);  // SYMBOL symc_team_add_u32 NEEDS SYMC_TEAM
SYMC_TEAM(add_u64, uint64_t, 0ull + a + b);  // SYMBOL symc_team_add_u64 NEEDS SYMC_TEAM
SYMC_TEAM(add_f32, float, a + b);  // SYMBOL symc_team_add_f32 NEEDS SYMC_TEAM
SYMC_TEAM(add_f64, double, a + b);  // SYMBOL symc_team_add_f64 NEEDS SYMC_TEAM

SYMC_TEAM(mul_i8, int8_t, 1u * a * b);  // SYMBOL symc_team_mul_i8 NEEDS SYMC_TEAM
SYMC_TEAM(mul_i16, int16_t, 1u * a * b);  // SYMBOL symc_team_mul_i16 NEEDS SYMC_TEAM
SYMC_TEAM(mul_i32, int32_t, 1u * a * b);  // SYMBOL symc_team_mul_i32 NEEDS SYMC_TEAM
SYMC_TEAM(mul_i64, int64_t, 1ull * a * b);  // SYMBOL symc_team_mul_i64 NEEDS SYMC_TEAM
SYMC_TEAM(mul_u8, uint8_t, 1u * a * b);  // SYMBOL symc_team_mul_u8 NEEDS SYMC_TEAM
SYMC_TEAM(mul_u16, uint16_t, 1u * a * b);  // SYMBOL symc_team_mul_u16 NEEDS SYMC_TEAM
SYMC_TEAM(mul_u32, uint32_t, 1u * a * b);  // SYMBOL symc_team_mul_u32 NEEDS SYMC_TEAM
SYMC_TEAM(mul_u64, uint64_t, 1ull * a * b);  // SYMBOL symc_team_mul_u64 NEEDS SYMC_TEAM
SYMC_TEAM(mul_f32, float, a * b);  // SYMBOL symc_team_mul_f32 NEEDS SYMC_TEAM
SYMC_TEAM(mul_f64, double, a * b);  // SYMBOL symc_team_mul_f64 NEEDS SYMC_TEAM

SYMC_TEAM(max_i8, int8_t, a > b ? a : b);  // SYMBOL symc_team_max_i8 NEEDS SYMC_TEAM
SYMC_TEAM(max_i16, int16_t, a > b ? a : b);  // SYMBOL symc_team_max_i16 NEEDS SYMC_TEAM
SYMC_TEAM(max_i32, int32_t, a > b ? a : b);  // SYMBOL symc_team_max_i32 NEEDS SYMC_TEAM
SYMC_TEAM(max_i64, int64_t, a > b ? a : b);  // SYMBOL symc_team_max_i64 NEEDS SYMC_TEAM
SYMC_TEAM(max_u8, uint8_t, a > b ? a : b);  // SYMBOL symc_team_max_u8 NEEDS SYMC_TEAM
SYMC_TEAM(max_u16, uint16_t, a > b ? a : b);  // SYMBOL symc_team_max_u16 NEEDS SYMC_TEAM
SYMC_TEAM(max_u32, uint32_t, a > b ? a : b);  // SYMBOL symc_team_max_u32 NEEDS SYMC_TEAM
SYMC_TEAM(max_u64, uint64_t, a > b ? a : b);  // SYMBOL symc_team_max_u64 NEEDS SYMC_TEAM

// SYMBOL symc_team_max_f32
// NEEDS SYMC_TEAM symc_maximum_f32
SYMC_TEAM(max_f32, float, symc_maximum_f32(a, b))

// SYMBOL symc_team_max_f64
// NEEDS SYMC_TEAM symc_maximum_f64
SYMC_TEAM(max_f64, double, symc_maximum_f64(a, b))

SYMC_TEAM(min_i8, int8_t, a < b ? a : b);  // SYMBOL symc_team_min_i8 NEEDS SYMC_TEAM
SYMC_TEAM(min_i16, int16_t, a < b ? a : b);  // SYMBOL symc_team_min_i16 NEEDS SYMC_TEAM
SYMC_TEAM(min_i32, int32_t, a < b ? a : b);  // SYMBOL symc_team_min_i32 NEEDS SYMC_TEAM
SYMC_TEAM(min_i64, int64_t, a < b ? a : b);  // SYMBOL symc_team_min_i64 NEEDS SYMC_TEAM
SYMC_TEAM(min_u8, uint8_t, a < b ? a : b);  // SYMBOL symc_team_min_u8 NEEDS SYMC_TEAM
SYMC_TEAM(min_u16, uint16_t, a < b ? a : b);  // SYMBOL symc_team_min_u16 NEEDS SYMC_TEAM
SYMC_TEAM(min_u32, uint32_t, a < b ? a : b);  // SYMBOL symc_team_min_u32 NEEDS SYMC_TEAM
SYMC_TEAM(min_u64, uint64_t, a < b ? a : b);  // SYMBOL symc_team_min_u64 NEEDS SYMC_TEAM

// SYMBOL symc_team_min_f32
// NEEDS SYMC_TEAM symc_minimum_f32
SYMC_TEAM(min_f32, float, symc_minimum_f32(a, b))

// SYMBOL symc_team_min_f64
// NEEDS SYMC_TEAM symc_minimum_f64
SYMC_TEAM(min_f64, double, symc_minimum_f64(a, b))

SYMC_TEAM(and_b1, bool, a & b);  // SYMBOL symc_team_and_b1 NEEDS SYMC_TEAM
SYMC_TEAM(or_b1, bool, a | b);  // SYMBOL symc_team_or_b1 NEEDS SYMC_TEAM
SYMC_TEAM(xor_b1, bool, a ^ b);  // SYMBOL symc_team_xor_b1 NEEDS SYMC_TEAM

SYMC_TEAM(band_i8, int8_t, a & b);  // SYMBOL symc_team_band_i8 NEEDS SYMC_TEAM
SYMC_TEAM(band_i16, int16_t, a & b);  // SYMBOL symc_team_band_i16 NEEDS SYMC_TEAM
SYMC_TEAM(band_i32, int32_t, a & b);  // SYMBOL symc_team_band_i32 NEEDS SYMC_TEAM
SYMC_TEAM(band_i64, int64_t, a & b);  // SYMBOL symc_team_band_i64 NEEDS SYMC_TEAM
SYMC_TEAM(band_u8, uint8_t, a & b);  // SYMBOL symc_team_band_u8 NEEDS SYMC_TEAM
SYMC_TEAM(band_u16, uint16_t, a & b);  // SYMBOL symc_team_band_u16 NEEDS SYMC_TEAM
SYMC_TEAM(band_u32, uint32_t, a & b);  // SYMBOL symc_team_band_u32 NEEDS SYMC_TEAM
SYMC_TEAM(band_u64, uint64_t, a & b);  // SYMBOL symc_team_band_u64 NEEDS SYMC_TEAM
SYMC_TEAM(band_b1, bool, a & b);  // SYMBOL symc_team_band_b1 NEEDS SYMC_TEAM

SYMC_TEAM(bor_i8, int8_t, a | b);  // SYMBOL symc_team_bor_i8 NEEDS SYMC_TEAM
SYMC_TEAM(bor_i16, int16_t, a | b);  // SYMBOL symc_team_bor_i16 NEEDS SYMC_TEAM
SYMC_TEAM(bor_i32, int32_t, a | b);  // SYMBOL symc_team_bor_i32 NEEDS SYMC_TEAM
SYMC_TEAM(bor_i64, int64_t, a | b);  // SYMBOL symc_team_bor_i64 NEEDS SYMC_TEAM
SYMC_TEAM(bor_u8, uint8_t, a | b);  // SYMBOL symc_team_bor_u8 NEEDS SYMC_TEAM
SYMC_TEAM(bor_u16, uint16_t, a | b);  // SYMBOL symc_team_bor_u16 NEEDS SYMC_TEAM
SYMC_TEAM(bor_u32, uint32_t, a | b);  // SYMBOL symc_team_bor_u32 NEEDS SYMC_TEAM
SYMC_TEAM(bor_u64, uint64_t, a | b);  // SYMBOL symc_team_bor_u64 NEEDS SYMC_TEAM
SYMC_TEAM(bor_b1, bool, a | b);  // SYMBOL symc_team_bor_b1 NEEDS SYMC_TEAM

SYMC_TEAM(bxor_i8, int8_t, a ^ b);  // SYMBOL symc_team_bxor_i8 NEEDS SYMC_TEAM
SYMC_TEAM(bxor_i16, int16_t, a ^ b);  // SYMBOL symc_team_bxor_i16 NEEDS SYMC_TEAM
SYMC_TEAM(bxor_i32, int32_t, a ^ b);  // SYMBOL symc_team_bxor_i32 NEEDS SYMC_TEAM
SYMC_TEAM(bxor_i64, int64_t, a ^ b);  // SYMBOL symc_team_bxor_i64 NEEDS SYMC_TEAM
SYMC_TEAM(bxor_u8, uint8_t, a ^ b);  // SYMBOL symc_team_bxor_u8 NEEDS SYMC_TEAM
SYMC_TEAM(bxor_u16, uint16_t, a ^ b);  // SYMBOL symc_team_bxor_u16 NEEDS SYMC_TEAM
SYMC_TEAM(bxor_u32, uint32_t, a ^ b);  // SYMBOL symc_team_bxor_u32 NEEDS SYMC_TEAM
SYMC_TEAM(bxor_u64, uint64_t, a ^ b);  // SYMBOL symc_team_bxor_u64 NEEDS SYMC_TEAM
SYMC_TEAM(bxor_b1, bool, a ^ b);  // SYMBOL symc_team_bxor_b1 NEEDS SYMC_TEAM

SYMC_SCAN(add_i8, int8_t, 0u + a + b);  // SYMBOL symc_team_scan_add_i8 NEEDS SYMC_SCAN
SYMC_SCAN(add_i16, int16_t, 0u + a + b);  // SYMBOL symc_team_scan_add_i16 NEEDS SYMC_SCAN
SYMC_SCAN(add_i32, int32_t, 0u + a + b);  // SYMBOL symc_team_scan_add_i32 NEEDS SYMC_SCAN
SYMC_SCAN(add_i64, int64_t, 0ull + a + b);  // SYMBOL symc_team_scan_add_i64 NEEDS SYMC_SCAN
SYMC_SCAN(add_u8, uint8_t, 0u + a + b);  // SYMBOL symc_team_scan_add_u8 NEEDS SYMC_SCAN
SYMC_SCAN(add_u16, uint16_t, 0u + a + b);  // SYMBOL symc_team_scan_add_u16 NEEDS SYMC_SCAN
SYMC_SCAN(add_u32, uint32_t, 0u + a + b);  // SYMBOL symc_team_scan_add_u32 NEEDS SYMC_SCAN
SYMC_SCAN(add_u64, uint64_t, 0ull + a + b);  // SYMBOL symc_team_scan_add_u64 NEEDS SYMC_SCAN
SYMC_SCAN(add_f32, float, a + b);  // SYMBOL symc_team_scan_add_f32 NEEDS SYMC_SCAN
SYMC_SCAN(add_f64, double, a + b);  // SYMBOL symc_team_scan_add_f64 NEEDS SYMC_SCAN

SYMC_SCAN(mul_i8, int8_t, 1u * a * b);  // SYMBOL symc_team_scan_mul_i8 NEEDS SYMC_SCAN
SYMC_SCAN(mul_i16, int16_t, 1u * a * b);  // SYMBOL symc_team_scan_mul_i16 NEEDS SYMC_SCAN
SYMC_SCAN(mul_i32, int32_t, 1u * a * b);  // SYMBOL symc_team_scan_mul_i32 NEEDS SYMC_SCAN
SYMC_SCAN(mul_i64, int64_t, 1ull * a * b);  // SYMBOL symc_team_scan_mul_i64 NEEDS SYMC_SCAN
SYMC_SCAN(mul_u8, uint8_t, 1u * a * b);  // SYMBOL symc_team_scan_mul_u8 NEEDS SYMC_SCAN
SYMC_SCAN(mul_u16, uint16_t, 1u * a * b);  // SYMBOL symc_team_scan_mul_u16 NEEDS SYMC_SCAN
SYMC_SCAN(mul_u32, uint32_t, 1u * a * b);  // SYMBOL symc_team_scan_mul_u32 NEEDS SYMC_SCAN
SYMC_SCAN(mul_u64, uint64_t, 1ull * a * b);  // SYMBOL symc_team_scan_mul_u64 NEEDS SYMC_SCAN
SYMC_SCAN(mul_f32, float, a * b);  // SYMBOL symc_team_scan_mul_f32 NEEDS SYMC_SCAN
SYMC_SCAN(mul_f64, double, a * b);  // SYMBOL symc_team_scan_mul_f64 NEEDS SYMC_SCAN

SYMC_SCAN(max_i8, int8_t, a > b ? a : b);  // SYMBOL symc_team_scan_max_i8 NEEDS SYMC_SCAN
SYMC_SCAN(max_i16, int16_t, a > b ? a : b);  // SYMBOL symc_team_scan_max_i16 NEEDS SYMC_SCAN
SYMC_SCAN(max_i32, int32_t, a > b ? a : b);  // SYMBOL symc_team_scan_max_i32 NEEDS SYMC_SCAN
SYMC_SCAN(max_i64, int64_t, a > b ? a : b);  // SYMBOL symc_team_scan_max_i64 NEEDS SYMC_SCAN
SYMC_SCAN(max_u8, uint8_t, a > b ? a : b);  // SYMBOL symc_team_scan_max_u8 NEEDS SYMC_SCAN
SYMC_SCAN(max_u16, uint16_t, a > b ? a : b);  // SYMBOL symc_team_scan_max_u16 NEEDS SYMC_SCAN
SYMC_SCAN(max_u32, uint32_t, a > b ? a : b);  // SYMBOL symc_team_scan_max_u32 NEEDS SYMC_SCAN
SYMC_SCAN(max_u64, uint64_t, a > b ? a : b);  // SYMBOL symc_team_scan_max_u64 NEEDS SYMC_SCAN

// SYMBOL symc_team_scan_max_f32
// NEEDS SYMC_SCAN symc_maximum_f32
SYMC_SCAN(max_f32, float, symc_maximum_f32(a, b))

// SYMBOL symc_team_scan_max_f64
// NEEDS SYMC_SCAN symc_maximum_f64
SYMC_SCAN(max_f64, double, symc_maximum_f64(a, b))

SYMC_SCAN(min_i8, int8_t, a < b ? a : b);  // SYMBOL symc_team_scan_min_i8 NEEDS SYMC_SCAN
SYMC_SCAN(min_i16, int16_t, a < b ? a : b);  // SYMBOL symc_team_scan_min_i16 NEEDS SYMC_SCAN
SYMC_SCAN(min_i32, int32_t, a < b ? a : b);  // SYMBOL symc_team_scan_min_i32 NEEDS SYMC_SCAN
SYMC_SCAN(min_i64, int64_t, a < b ? a : b);  // SYMBOL symc_team_scan_min_i64 NEEDS SYMC_SCAN
SYMC_SCAN(min_u8, uint8_t, a < b ? a : b);  // SYMBOL symc_team_scan_min_u8 NEEDS SYMC_SCAN
SYMC_SCAN(min_u16, uint16_t, a < b ? a : b);  // SYMBOL symc_team_scan_min_u16 NEEDS SYMC_SCAN
SYMC_SCAN(min_u32, uint32_t, a < b ? a : b);  // SYMBOL symc_team_scan_min_u32 NEEDS SYMC_SCAN
SYMC_SCAN(min_u64, uint64_t, a < b ? a : b);  // SYMBOL symc_team_scan_min_u64 NEEDS SYMC_SCAN

// SYMBOL symc_team_scan_min_f32
// NEEDS SYMC_SCAN symc_minimum_f32
SYMC_SCAN(min_f32, float, symc_minimum_f32(a, b))

// SYMBOL symc_team_scan_min_f64
// NEEDS SYMC_SCAN symc_minimum_f64
SYMC_SCAN(min_f64, double, symc_minimum_f64(a, b))
