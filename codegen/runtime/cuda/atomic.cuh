// Updates of elements that other threads may be updating. The order of integers does not count, so
// results are the same in any.

// SYMBOL SYMC_ATOMIC
#define SYMC_ATOMIC(name, function, type, word)            \
    static inline void symc_atomic_##name(type *at, type value) { \
        function((word *)at, (word)value);                 \
    }

SYMC_ATOMIC(add_i32, atomicAdd, int32_t, int);  // SYMBOL symc_atomic_add_i32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(add_i64, atomicAdd, int64_t, unsigned long long);  // SYMBOL symc_atomic_add_i64 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(add_u32, atomicAdd, uint32_t, unsigned);  // SYMBOL symc_atomic_add_u32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(add_u64, atomicAdd, uint64_t, unsigned long long);  // SYMBOL symc_atomic_add_u64 NEEDS SYMC_ATOMIC

SYMC_ATOMIC(min_i32, atomicMin, int32_t, int);  // SYMBOL symc_atomic_min_i32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(min_i64, atomicMin, int64_t, long long);  // SYMBOL symc_atomic_min_i64 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(min_u32, atomicMin, uint32_t, unsigned);  // SYMBOL symc_atomic_min_u32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(min_u64, atomicMin, uint64_t, unsigned long long);  // SYMBOL symc_atomic_min_u64 NEEDS SYMC_ATOMIC

SYMC_ATOMIC(max_i32, atomicMax, int32_t, int);  // SYMBOL symc_atomic_max_i32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(max_i64, atomicMax, int64_t, long long);  // SYMBOL symc_atomic_max_i64 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(max_u32, atomicMax, uint32_t, unsigned);  // SYMBOL symc_atomic_max_u32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(max_u64, atomicMax, uint64_t, unsigned long long);  // SYMBOL symc_atomic_max_u64 NEEDS SYMC_ATOMIC

SYMC_ATOMIC(band_i32, atomicAnd, int32_t, int);  // SYMBOL symc_atomic_band_i32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(band_i64, atomicAnd, int64_t, unsigned long long);  // SYMBOL symc_atomic_band_i64 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(band_u32, atomicAnd, uint32_t, unsigned);  // SYMBOL symc_atomic_band_u32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(band_u64, atomicAnd, uint64_t, unsigned long long);  // SYMBOL symc_atomic_band_u64 NEEDS SYMC_ATOMIC

SYMC_ATOMIC(bor_i32, atomicOr, int32_t, int);  // SYMBOL symc_atomic_bor_i32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(bor_i64, atomicOr, int64_t, unsigned long long);  // SYMBOL symc_atomic_bor_i64 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(bor_u32, atomicOr, uint32_t, unsigned);  // SYMBOL symc_atomic_bor_u32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(bor_u64, atomicOr, uint64_t, unsigned long long);  // SYMBOL symc_atomic_bor_u64 NEEDS SYMC_ATOMIC

SYMC_ATOMIC(bxor_i32, atomicXor, int32_t, int);  // SYMBOL symc_atomic_bxor_i32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(bxor_i64, atomicXor, int64_t, unsigned long long);  // SYMBOL symc_atomic_bxor_i64 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(bxor_u32, atomicXor, uint32_t, unsigned);  // SYMBOL symc_atomic_bxor_u32 NEEDS SYMC_ATOMIC
SYMC_ATOMIC(bxor_u64, atomicXor, uint64_t, unsigned long long);  // SYMBOL symc_atomic_bxor_u64 NEEDS SYMC_ATOMIC
