// Samplers that take as many random bits as they need: each attempt has a lane of its own (see
// philox.h), so that element i depends on nothing but the key and i.

// SYMBOL symc_attempt
// NEEDS symc_philox
// Block i in a lane.
static inline symc_philox_block symc_attempt(uint64_t key, uint64_t high, int64_t i, int lane) {
    return symc_philox(key, high, (uint64_t)i | (uint64_t)lane << 48);
}

// SYMBOL symc_product_high
// The upper half of a product, by halves: not every compiler for a device has 128 bits.
static inline uint64_t symc_product_high(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), low = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (low >> 32);
}

// SYMBOL symc_random_below_u64
// NEEDS symc_attempt symc_product_high
// A whole number below `count`, all equally likely; 0 stands for 2^64.
//
// Lemire, Fast random integer generation in an interval, 2019: the upper half of bits * count,
// drawn again if the lower half is below 2^64 mod count.
static inline uint64_t symc_random_below_u64(
    uint64_t key, uint64_t high, int64_t i, uint64_t count) {
    uint64_t bits = symc_attempt(key, high, i, 0).first;
    if (count == 0) return bits;
    if (bits * count < count) {
        uint64_t rest = (0 - count) % count;
        for (int lane = 1; bits * count < rest && lane < 64; lane++)
            bits = symc_attempt(key, high, i, lane).first;
    }
    return symc_product_high(bits, count);
}

// SYMBOL symc_gamma_above_one
// NEEDS symc_attempt symc_box_muller_f64 log sqrt
// A number of the gamma distribution of shape a >= 1.
//
// Marsaglia and Tsang, A simple method for generating gamma variables, 2000.
static inline double symc_gamma_above_one(uint64_t key, uint64_t high, int64_t i, double a) {
    double d = a - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d), v = 1.0;
    for (int lane = 1; lane < 512; lane += 2) {
        symc_philox_block block = symc_attempt(key, high, i, lane);
        double x = symc_box_muller_f64(block.first, block.second, 0);
        v = 1.0 + c * x;
        if (v <= 0.0) continue;
        v = v * v * v;
        double u = 1.0 - symc_unit_f64(symc_attempt(key, high, i, lane + 1).first);
        if (log(u) < 0.5 * x * x + d - d * v + d * log(v)) break;
    }
    return d * v;
}

// SYMBOL symc_log_boost
// NEEDS symc_attempt symc_unit_f64 log
// The logarithm of the factor that makes a gamma number of shape a + 1 one of shape a: a uniform
// number to the power 1 / a.
static inline double symc_log_boost(uint64_t key, uint64_t high, int64_t i, double a) {
    return log(1.0 - symc_unit_f64(symc_attempt(key, high, i, 0).first)) / a;
}

// SYMBOL symc_random_loggamma_f64
// NEEDS symc_gamma_above_one symc_log_boost log
// The logarithm of a gamma number of shape a > 0, which itself underflows where a is small.
static inline double symc_random_loggamma_f64(uint64_t key, uint64_t high, int64_t i, double a) {
    if (!(a > 0.0 && a < INFINITY)) return a == 0.0 ? -INFINITY : a == INFINITY ? a : NAN;
    if (a >= 1.0) return log(symc_gamma_above_one(key, high, i, a));
    return log(symc_gamma_above_one(key, high, i, a + 1.0)) + symc_log_boost(key, high, i, a);
}

// SYMBOL symc_random_gamma_f64
// NEEDS symc_gamma_above_one symc_log_boost exp
// A gamma number of shape a >= 0.
static inline double symc_random_gamma_f64(uint64_t key, uint64_t high, int64_t i, double a) {
    if (!(a > 0.0 && a < INFINITY)) return a == 0.0 || a == INFINITY ? a : NAN;
    if (a >= 1.0) return symc_gamma_above_one(key, high, i, a);
    return symc_gamma_above_one(key, high, i, a + 1.0) * exp(symc_log_boost(key, high, i, a));
}

// SYMBOL symc_stirling_rest
// The remainder of Stirling's formula for the logarithm of x!, to 1e-10 for x >= 10.
static inline double symc_stirling_rest(double x) {
    double square = 1.0 / (x * x);
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0)) / x;
}

// SYMBOL symc_random_poisson_i64
// NEEDS symc_attempt symc_unit_f64 symc_stirling_rest exp fabs floor lgamma_r log log1p sqrt
// A Poisson number of mean lam >= 0.
//
// Below 10 the distribution function is summed up until it exceeds a uniform number. Above: PTRS of
// Hoermann, The transformed rejection method for generating Poisson random variables, 1993. The
// terms of the density's logarithm are many orders of magnitude larger than it is, where lam is
// large: Stirling's formula leaves their difference.
static inline int64_t symc_random_poisson_i64(uint64_t key, uint64_t high, int64_t i, double lam) {
    if (!(lam > 0.0)) return 0;
    if (lam < 10.0) {
        double u = symc_unit_f64(symc_attempt(key, high, i, 0).first);
        double p = exp(-lam);
        int64_t k = 0;
        while (u >= p && k < 200) {
            u -= p;
            k++;
            p *= lam / (double)k;
        }
        return k;
    }
    double b = 0.931 + 2.53 * sqrt(lam), a = -0.059 + 0.02483 * b;
    double log_lam = log(lam), k = floor(lam);
    int sign;
    for (int lane = 0; lane < 512; lane++) {
        symc_philox_block block = symc_attempt(key, high, i, lane);
        double u = symc_unit_f64(block.first) - 0.5, v = 1.0 - symc_unit_f64(block.second);
        double us = 0.5 - fabs(u);
        k = floor((2.0 * a / us + b) * u + lam + 0.43);
        if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0)) break;
        if (k < 0.0 || (us < 0.013 && v > us)) continue;
        double scale = (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b);
        double above = k - lam, chance;
        if (k < 10.0) chance = k * log_lam - lam - lgamma_r(k + 1.0, &sign);
        else
            chance = above - k * log1p(above / lam) - 0.5 * log(6.283185307179586 * k)
                - symc_stirling_rest(k);
        if (log(v * scale) <= chance) break;
    }
    return (int64_t)k;
}

// SYMBOL symc_binomial_small
// NEEDS symc_attempt symc_unit_f64 exp log1p
// A binomial number where n p < 10 and p <= 1/2: sums the distribution function up.
static inline int64_t symc_binomial_small(
    uint64_t key, uint64_t high, int64_t i, int64_t n, double p) {
    double u = symc_unit_f64(symc_attempt(key, high, i, 0).first);
    double odds = p / (1.0 - p), chance = exp((double)n * log1p(-p));
    int64_t k = 0;
    while (u >= chance && k < n && k < 400) {
        u -= chance;
        k++;
        chance *= odds * ((double)(n - k + 1) / (double)k);
    }
    return k;
}

// SYMBOL symc_log_growth
// NEEDS symc_stirling_rest lgamma_r log log1p
// The logarithm of (a + more)! / a!, whose terms would cancel where both are large.
static inline double symc_log_growth(double a, double more) {
    double b = a + more;
    int sign;
    if (a < 10.0 || b < 10.0) return lgamma_r(b + 1.0, &sign) - lgamma_r(a + 1.0, &sign);
    return more * log(a) + (b + 0.5) * log1p(more / a) - more
        + (symc_stirling_rest(b) - symc_stirling_rest(a));
}

// SYMBOL symc_binomial_large
// NEEDS symc_attempt symc_unit_f64 symc_log_growth fabs floor log sqrt
// A binomial number where n p >= 10 and p <= 1/2.
//
// BTRS of Hoermann, The generation of binomial random variates, 1993.
static inline int64_t symc_binomial_large(
    uint64_t key, uint64_t high, int64_t i, int64_t count, double p) {
    double n = (double)count, spread = sqrt(n * p * (1.0 - p));
    double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
    double mode = floor((n + 1.0) * p), log_odds = log(p / (1.0 - p)), k = mode;
    for (int lane = 0; lane < 512; lane++) {
        symc_philox_block block = symc_attempt(key, high, i, lane);
        double u = symc_unit_f64(block.first) - 0.5, v = 1.0 - symc_unit_f64(block.second);
        double us = 0.5 - fabs(u);
        k = floor((2.0 * a / us + b) * u + n * p + 0.5);
        if (k < 0.0 || k > n) continue;
        if (us >= 0.07 && v <= 0.92 - 4.2 / b) break;
        double scale = (2.83 + 5.1 / b) * spread / (a / (us * us) + b);
        double ways = -symc_log_growth(mode, k - mode) - symc_log_growth(n - mode, mode - k);
        if (log(v * scale) <= ways + (k - mode) * log_odds) break;
    }
    return (int64_t)k;
}

// SYMBOL symc_random_binomial_i64
// NEEDS symc_binomial_small symc_binomial_large
// How many of n >= 0 trials succeed, each with probability p.
static inline int64_t symc_random_binomial_i64(
    uint64_t key, uint64_t high, int64_t i, int64_t n, double p) {
    if (!(p > 0.0) || n <= 0) return 0;
    if (p >= 1.0) return n;
    double rarer = p > 0.5 ? 1.0 - p : p;
    int64_t k = (double)n * rarer < 10.0 ? symc_binomial_small(key, high, i, n, rarer)
                                         : symc_binomial_large(key, high, i, n, rarer);
    return p > 0.5 ? n - k : k;
}

// SYMBOL symc_normal_above
// NEEDS symc_attempt symc_unit_f64 exp log sqrt
// A standard normal number in [low, high], for 0 <= low < high.
//
// Robert, Simulation of truncated normal variables, 1995: candidates are uniform where the interval
// is short, and exponential above `low` where it is long.
static inline double symc_normal_above(
    uint64_t key, uint64_t upper, int64_t i, double low, double high) {
    double rate = 0.5 * (low + sqrt(low * low + 4.0)), x = low;
    int is_short = (high - low) * rate < 2.0;
    for (int lane = 0; lane < 4096; lane++) {
        symc_philox_block block = symc_attempt(key, upper, i, lane);
        double u = symc_unit_f64(block.first), v = symc_unit_f64(block.second);
        if (is_short) {
            x = low + u * (high - low);
            if (v < exp(0.5 * (low - x) * (low + x))) break;
        } else {
            x = low - log(1.0 - u) / rate;
            if (x <= high && v < exp(-0.5 * (x - rate) * (x - rate))) break;
        }
    }
    return x < high ? x : high;
}

// SYMBOL symc_random_truncated_normal_f64
// NEEDS symc_normal_above symc_box_muller_f64
// A standard normal number in [low, high]; NaN unless low < high.
static inline double symc_random_truncated_normal_f64(
    uint64_t key, uint64_t upper, int64_t i, double low, double high) {
    if (!(low < high)) return low == high ? low : NAN;
    if (low >= 0.0) return symc_normal_above(key, upper, i, low, high);
    if (high <= 0.0) return -symc_normal_above(key, upper, i, -high, -low);
    double width = high - low, x = 0.0;
    for (int lane = 0; lane < 4096; lane++) {
        symc_philox_block block = symc_attempt(key, upper, i, lane);
        if (width > 2.5) {
            x = symc_box_muller_f64(block.first, block.second, 0);
            if (low <= x && x <= high) break;
        } else {
            x = low + symc_unit_f64(block.first) * width;
            if (symc_unit_f64(block.second) < exp(-0.5 * x * x)) break;
        }
    }
    return x;
}
