// Many random numbers at once: the same as symc_random_uniform_f64, symc_random_normal_f64 and those
// of floats give one by one, from half and a quarter as many blocks.
//
// gcc has no good vector form for products of 32-bit numbers: it spends three instructions of four
// on moving halves to where it wants them. So blocks are made in vectors of 64-bit lanes, whose low
// halves AVX2 multiplies in one instruction.

// SYMBOL symc_lanes
// Four numbers of 64 bits, and the products of their low halves.
typedef uint64_t symc_lanes __attribute__((vector_size(32)));
static inline symc_lanes symc_low_products(symc_lanes a, symc_lanes b) {
#if defined(__AVX2__)
    typedef int symc_words __attribute__((vector_size(32)));
    return (symc_lanes)__builtin_ia32_pmuludq256((symc_words)a, (symc_words)b);
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// SYMBOL symc_philox_lanes
// NEEDS symc_lanes
// Blocks start, start + 1, ...: both halves of each, one after the other. `count` is divisible
// by 4. The upper halves of lanes do not matter until the end.
static void symc_philox_lanes(
    const uint64_t *key, int64_t start, int64_t count, uint64_t *halves) {
    const symc_lanes zero = {0, 0, 0, 0}, counting = {0, 1, 2, 3};
    const symc_lanes first = zero + 0xD2511F53u, second = zero + 0xCD9E8D57u;
    for (int64_t i = 0; i < count; i += 4) {
        symc_lanes x0 = counting + (uint64_t)(start + i), x1 = x0 >> 32;
        symc_lanes x2 = zero + key[1], x3 = x2 >> 32;
        symc_lanes k0 = zero + key[0], k1 = k0 >> 32;
        for (int round = 0; round < 10; round++) {
            symc_lanes p = symc_low_products(x0, first), q = symc_low_products(x2, second);
            x0 = q >> 32 ^ x1 ^ k0;
            x1 = q;
            x2 = p >> 32 ^ x3 ^ k1;
            x3 = p;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        symc_lanes a = (x0 & 0xffffffffu) | x1 << 32, b = (x2 & 0xffffffffu) | x3 << 32;
        *(symc_lanes *)(halves + 2 * i) = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        *(symc_lanes *)(halves + 2 * i + 4) = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    }
}

// SYMBOL SYMC_FILL
// The numbers of a chunk go to the result, or if it ends within the chunk, to memory of its own.
#define SYMC_FILL(name, type, blocks_for, numbers)                                               \
    static void name(const uint64_t *key, int64_t n, type *out, int64_t threads) {               \
        enum { BLOCKS = 128, SIZE = BLOCKS * blocks_for };                                       \
        int64_t chunks = (n + SIZE - 1) / SIZE;                                                  \
        _Pragma("omp parallel for schedule(static) num_threads(threads) if(chunks > 64)")        \
        for (int64_t chunk = 0; chunk < chunks; chunk++) {                                       \
            symc_lanes halves[BLOCKS / 2];                                                       \
            type last[SIZE];                                                                     \
            int64_t rest = n - chunk * SIZE;                                                     \
            symc_philox_lanes(key, chunk * BLOCKS, BLOCKS, (uint64_t *)halves);                  \
            numbers((uint64_t *)halves, rest < SIZE ? last : out + chunk * SIZE, SIZE / 2);                  \
            if (rest < SIZE)                                                                     \
                for (int64_t i = 0; i < rest; i++) out[chunk * SIZE + i] = last[i];              \
        }                                                                                        \
    }

// SYMBOL symc_pairs_f64
// NEEDS symc_box_muller_f64
// Pairs of normal numbers, each of a block.
static void symc_pairs_f64(const uint64_t *halves, double *restrict out, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        out[2 * i] = symc_box_muller_f64(halves[2 * i], halves[2 * i + 1], 0);
        out[2 * i + 1] = symc_box_muller_f64(halves[2 * i], halves[2 * i + 1], 1);
    }
}

// SYMBOL symc_fill_normal_f64
// NEEDS SYMC_FILL symc_philox_lanes symc_pairs_f64
// n numbers.
SYMC_FILL(symc_fill_normal_f64, double, 2, symc_pairs_f64)

// SYMBOL symc_pairs_f32
// NEEDS symc_box_muller_f32
// Pairs of normal numbers, each of half a block.
static void symc_pairs_f32(const uint64_t *halves, float *restrict out, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        out[2 * i] = symc_box_muller_f32(halves[i], 0);
        out[2 * i + 1] = symc_box_muller_f32(halves[i], 1);
    }
}

// SYMBOL symc_fill_normal_f32
// NEEDS SYMC_FILL symc_philox_lanes symc_pairs_f32
// n numbers.
SYMC_FILL(symc_fill_normal_f32, float, 4, symc_pairs_f32)

// SYMBOL symc_units_f64
// NEEDS symc_unit_f64
// Pairs of uniform numbers, each of a block.
static void symc_units_f64(const uint64_t *halves, double *restrict out, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < 2 * count; i++) out[i] = symc_unit_f64(halves[i]);
}

// SYMBOL symc_fill_uniform_f64
// NEEDS SYMC_FILL symc_philox_lanes symc_units_f64
// n numbers.
SYMC_FILL(symc_fill_uniform_f64, double, 2, symc_units_f64)

// SYMBOL symc_units_f32
// Pairs of uniform numbers, each of half a block.
static void symc_units_f32(const uint64_t *halves, float *restrict out, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        out[2 * i] = (float)((int32_t)halves[i] >> 8 & 0xffffff) * 0x1p-24f;
        out[2 * i + 1] = (float)(int32_t)(halves[i] >> 40) * 0x1p-24f;
    }
}

// SYMBOL symc_fill_uniform_f32
// NEEDS SYMC_FILL symc_philox_lanes symc_units_f32
// n numbers.
SYMC_FILL(symc_fill_uniform_f32, float, 4, symc_units_f32)
