// Random bits from Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as
// 1, 2, 3, SC 2011), and the numbers that are made of them one for one. distributions.h has the
// samplers that reject.
//
// A key of symc is two numbers of 64 bits: Philox's own key, and the upper half of its counter.
// The lower half is for the elements of a draw: 48 bits of index, then 16 bits of *lane*. So each
// element's bits follow from the key and its index alone: the same in any order, on any device.
//
//     lane 0       the sequence of 32-bit words that one key gives: block i has words 4i to 4i+3
//     lanes above  block i again and again, for samplers that need more than one block
//     lane 0xffff  new keys

// SYMBOL symc_philox_block
// The 128 bits of a block: words 0 and 1 (word 0 in the low half), and words 2 and 3.
typedef struct symc_philox_block {
    uint64_t first;
    uint64_t second;
} symc_philox_block;

// SYMBOL SYMC_PHILOX_ROUND
// One round, and the keys of the next.
#define SYMC_PHILOX_ROUND                         \
    p = (uint64_t)0xD2511F53u * x0;               \
    q = (uint64_t)0xCD9E8D57u * x2;               \
    x0 = (uint32_t)(q >> 32) ^ x1 ^ k0;           \
    x1 = (uint32_t)q;                             \
    x2 = (uint32_t)(p >> 32) ^ x3 ^ k1;           \
    x3 = (uint32_t)p;                             \
    k0 += 0x9E3779B9u;                            \
    k1 += 0xBB67AE85u;

// SYMBOL symc_philox
// NEEDS symc_philox_block SYMC_PHILOX_ROUND
// One block. Without a loop over the rounds, so that loops over blocks vectorise.
static inline __attribute__((always_inline)) symc_philox_block symc_philox(uint64_t key, uint64_t high, uint64_t low) {
    uint32_t x0 = (uint32_t)low, x1 = (uint32_t)(low >> 32);
    uint32_t x2 = (uint32_t)high, x3 = (uint32_t)(high >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint64_t p, q;
    SYMC_PHILOX_ROUND SYMC_PHILOX_ROUND SYMC_PHILOX_ROUND SYMC_PHILOX_ROUND SYMC_PHILOX_ROUND
    SYMC_PHILOX_ROUND SYMC_PHILOX_ROUND SYMC_PHILOX_ROUND SYMC_PHILOX_ROUND SYMC_PHILOX_ROUND
    symc_philox_block block = {x0 | (uint64_t)x1 << 32, x2 | (uint64_t)x3 << 32};
    return block;
}

// SYMBOL symc_random_key_u64
// NEEDS symc_philox
// Number i of those that make new keys: two for each.
static inline uint64_t symc_random_key_u64(uint64_t key, uint64_t high, int64_t i) {
    symc_philox_block block = symc_philox(key, high, ((uint64_t)i >> 1) | (uint64_t)0xffff << 48);
    return i & 1 ? block.second : block.first;
}

// SYMBOL symc_random_bits_u64
// NEEDS symc_philox
// Words 2i and 2i+1 of the sequence.
static inline uint64_t symc_random_bits_u64(uint64_t key, uint64_t high, int64_t i) {
    symc_philox_block block = symc_philox(key, high, (uint64_t)i >> 1);
    return i & 1 ? block.second : block.first;
}

// SYMBOL symc_random_bits_u32
// NEEDS symc_philox
// Word i of the sequence.
static inline uint32_t symc_random_bits_u32(uint64_t key, uint64_t high, int64_t i) {
    symc_philox_block block = symc_philox(key, high, (uint64_t)i >> 2);
    uint64_t pair = i & 2 ? block.second : block.first;
    return (uint32_t)(i & 1 ? pair >> 32 : pair);
}

// SYMBOL symc_unit_f64
// The upper 53 bits as a number in [0, 1): ``(bits >> 11) * 2^-53``.
//
// No conversion, which AVX2 has none of: the upper 52 bits are the fraction of a number in [1, 2),
// from which 1 is subtracted, or the next number below 1 if the last bit is set.
typedef union symc_unit_bits {
    uint64_t bits;
    double value;
} symc_unit_bits;
static inline double symc_unit_f64(uint64_t bits) {
    symc_unit_bits number, one;
    number.bits = bits >> 12 | (uint64_t)0x3ff << 52;
    one.bits = ((uint64_t)0x3ff << 52) - (bits >> 11 & 1);
    return number.value - one.value;
}

// SYMBOL symc_random_uniform_f64
// NEEDS symc_random_bits_u64 symc_unit_f64
// Uniform in [0, 1), of words 2i and 2i+1.
static inline double symc_random_uniform_f64(uint64_t key, uint64_t high, int64_t i) {
    return symc_unit_f64(symc_random_bits_u64(key, high, i));
}

// SYMBOL symc_random_uniform_f32
// NEEDS symc_random_bits_u32
// Uniform in [0, 1): the upper 24 bits of word i.
static inline float symc_random_uniform_f32(uint64_t key, uint64_t high, int64_t i) {
    return (float)(int32_t)(symc_random_bits_u32(key, high, i) >> 8) * 0x1p-24f;
}

// SYMBOL symc_box_muller_f64
// NEEDS symc_unit_f64 log sqrt cos
// One of two normal numbers that two uniform ones give (Box and Muller 1958), in polar coordinates:
// a quarter turn after the one is the other. (sin would not vectorise: gcc makes one sincos of it
// and of the cos beside it.)
static inline double symc_box_muller_f64(uint64_t radius, uint64_t angle, int64_t other) {
    double r = sqrt(-2.0 * log(1.0 - symc_unit_f64(radius)));
    double turns = symc_unit_f64(angle) - (other ? 0.25 : 0.0);
    return r * cos(6.283185307179586 * turns);
}

// SYMBOL symc_random_normal_f64
// NEEDS symc_philox symc_box_muller_f64
// Standard normal: numbers 2k and 2k+1 are of the block k.
static inline double symc_random_normal_f64(uint64_t key, uint64_t high, int64_t i) {
    symc_philox_block block = symc_philox(key, high, (uint64_t)i >> 1);
    return symc_box_muller_f64(block.first, block.second, i & 1);
}

// SYMBOL symc_box_muller_f32
// NEEDS logf sqrtf cosf
// The same of two words. The radius has 31 bits, so that it reaches 6.5; the tail beyond has a
// probability of 5e-11.
static inline float symc_box_muller_f32(uint64_t pair, int64_t other) {
    float u = ((float)(int32_t)((uint32_t)pair >> 1) + 1.0f) * 0x1p-31f;
    float turns = (float)(int32_t)(uint32_t)(pair >> 40) * 0x1p-24f - (other ? 0.25f : 0.0f);
    return sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * turns);
}

// SYMBOL symc_random_normal_f32
// NEEDS symc_philox symc_box_muller_f32
// Standard normal: numbers 2k and 2k+1 are of words 2k and 2k+1.
static inline float symc_random_normal_f32(uint64_t key, uint64_t high, int64_t i) {
    symc_philox_block block = symc_philox(key, high, (uint64_t)i >> 2);
    return symc_box_muller_f32(i & 2 ? block.second : block.first, i & 1);
}
