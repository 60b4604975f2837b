// Divisors and multiples that two integers have in common.

// SYMBOL symc_twos_u64
// How often 2 divides a number; 64 for 0, which all its powers divide.
static inline int64_t symc_twos_u64(uint64_t x) {
    if (x == 0) return 64;
#if defined(__CUDACC__)
    return __ffsll((int64_t)x) - 1;
#elif defined(__OPENCL_VERSION__)
    return 63 - (int)clz(x & (0 - x));
#else
    return __builtin_ctzll(x);
#endif
}

// SYMBOL symc_gcd_u64
// NEEDS symc_twos_u64
// The greatest common divisor by Stein's algorithm, which does not divide. gcd(0, b) is b.
static inline uint64_t symc_gcd_u64(uint64_t a, uint64_t b) {
    if (a == 0 || b == 0) return a | b;
    const int64_t twos = symc_twos_u64(a | b);
    a >>= symc_twos_u64(a);
    do {
        b >>= symc_twos_u64(b);
        const uint64_t least = b < a ? b : a;
        b = b < a ? a - b : b - a;
        a = least;
    } while (b != 0);
    return a << twos;
}

// SYMBOL symc_gcd_i64
// NEEDS symc_gcd_u64
// That of the absolute values; 2^63 wraps.
static inline int64_t symc_gcd_i64(int64_t a, int64_t b) {
    uint64_t first = (uint64_t)a, second = (uint64_t)b;
    return (int64_t)symc_gcd_u64(a < 0 ? 0 - first : first, b < 0 ? 0 - second : second);
}

// SYMBOL symc_lcm_u64
// NEEDS symc_gcd_u64
// The least common multiple, wrapping; 0 if an argument is.
static inline uint64_t symc_lcm_u64(uint64_t a, uint64_t b) {
    uint64_t divisor = symc_gcd_u64(a, b);
    return divisor == 0 ? 0 : a / divisor * b;
}

// SYMBOL symc_lcm_i64
// NEEDS symc_lcm_u64
// That of the absolute values, wrapping.
static inline int64_t symc_lcm_i64(int64_t a, int64_t b) {
    uint64_t first = (uint64_t)a, second = (uint64_t)b;
    return (int64_t)symc_lcm_u64(a < 0 ? 0 - first : first, b < 0 ? 0 - second : second);
}
