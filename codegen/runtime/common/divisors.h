// Divisors and multiples that two integers have in common.

// SYMBOL symc_gcd_u64
// The greatest common divisor by Stein's algorithm, which does not divide. gcd(0, b) is b.
static inline uint64_t symc_gcd_u64(uint64_t a, uint64_t b) {
    int twos = 0;
    if (a == 0 || b == 0) return a | b;
    for (; ((a | b) & 1) == 0; a >>= 1, b >>= 1) twos++;
    while ((a & 1) == 0) a >>= 1;
    while (b != 0) {
        while ((b & 1) == 0) b >>= 1;
        if (a > b) {
            uint64_t larger = a;
            a = b;
            b = larger;
        }
        b -= a;
    }
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
