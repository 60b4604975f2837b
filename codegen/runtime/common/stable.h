// Exponentials and logarithms of sums that neither overflow nor lose digits, branch-free so that
// loops over them vectorise (in float64 on libmvec's exp, and on its log1p).

// SYMBOL symc_bits_f32
// A float and its bits: sign, 8 of the exponent, 23 of the fraction.
typedef union symc_bits_f32 {
    float value;
    uint32_t bits;
} symc_bits_f32;

// SYMBOL symc_exp_from_104_f32
// NEEDS symc_bits_f32
// exp(x) for -104 <= x <= 0 or NaN, at most 0.91 ulp off (1.2 without fused multiply-add). It never
// overflows, and so takes two thirds of the instructions of libmvec's (2.7 ulp).
//
// exp(x) = 2^n exp(r) for n = x / log(2) rounded. Adding 1.5 * 2^23 to a float rounds it to a whole
// number in the last bits of its fraction, which 23 places further left are an exponent. The
// polynomial for exp(r), minimax of degree 6, is scaled by 2^-64 and 2^n by 2^64, so that 2^n is a
// normal number where the result is none. log(2) comes in two parts; n times the first is exact.
static inline float symc_exp_from_104_f32(float x) {
    const float shift = 0x1.8p23f + 127.0f + 64.0f, one = 0x1p-64f;
    symc_bits_f32 shifted = {x * 1.44269504f + shift};
    float n = shifted.value - shift;
    float r = x - n * 0.693359375f;
    r = r + n * 0.000212194440f;
    float p = 0.00138219539f * one;
    p = p * r + 0.00836867839f * one;
    p = p * r + 0.0416682549f * one;
    p = p * r + 0.166665211f * one;
    p = p * r + 0.49999994f * one;
    p = p * r + one;
    p = p * r + one;
    symc_bits_f32 power;
    power.bits = shifted.bits << 23;
    return p * power.value;
}

// SYMBOL symc_exp_nonpositive_f32
// NEEDS symc_exp_from_104_f32
// exp(x) for all x <= 0 or NaN: below -104 it rounds to 0.
static inline float symc_exp_nonpositive_f32(float x) {
    return x < -104.0f ? 0.0f : symc_exp_from_104_f32(x);
}

// SYMBOL symc_sigmoid_f64
// NEEDS exp fabs
// 1 / (1 + exp(-x)). exp only ever sees -|x|: for x < 0 the answer is e / (1 + e).
static inline double symc_sigmoid_f64(double x) {
    double e = exp(-fabs(x));
    return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

// SYMBOL symc_sigmoid_f32
// NEEDS fabsf symc_exp_nonpositive_f32
// See symc_sigmoid_f64.
static inline float symc_sigmoid_f32(float x) {
    float e = symc_exp_nonpositive_f32(-fabsf(x));
    return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

// SYMBOL symc_softplus_f64
// NEEDS exp fabs log1p
// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)).
static inline double symc_softplus_f64(double x) {
    return (x > 0.0 ? x : 0.0) + log1p(exp(-fabs(x)));
}

// SYMBOL symc_softplus_f32
// NEEDS fabsf log1pf symc_exp_nonpositive_f32
// See symc_softplus_f64.
static inline float symc_softplus_f32(float x) {
    return (x > 0.0f ? x : 0.0f) + log1pf(symc_exp_nonpositive_f32(-fabsf(x)));
}

// SYMBOL symc_log_sigmoid_f64
// NEEDS exp fabs log1p
// log(sigmoid(x)) = -softplus(-x).
static inline double symc_log_sigmoid_f64(double x) {
    return (x < 0.0 ? x : -0.0) - log1p(exp(-fabs(x)));
}

// SYMBOL symc_log_sigmoid_f32
// NEEDS fabsf log1pf symc_exp_nonpositive_f32
// See symc_log_sigmoid_f64.
static inline float symc_log_sigmoid_f32(float x) {
    return (x < 0.0f ? x : -0.0f) - log1pf(symc_exp_nonpositive_f32(-fabsf(x)));
}

// SYMBOL symc_logaddexp_f64
// NEEDS exp fabs log1p
// log(exp(a) + exp(b)) = max(a, b) + log1p(exp(-|a - b|)). Equal arguments, infinities among them,
// count as 0 apart, which spares inf - inf; NaN comes through the difference.
static inline double symc_logaddexp_f64(double a, double b) {
    double apart = a == b ? 0.0 : fabs(a - b);
    return (a > b ? a : b) + log1p(exp(-apart));
}

// SYMBOL symc_logaddexp_f32
// NEEDS fabsf log1pf symc_exp_nonpositive_f32
// See symc_logaddexp_f64.
static inline float symc_logaddexp_f32(float a, float b) {
    float apart = a == b ? 0.0f : fabsf(a - b);
    return (a > b ? a : b) + log1pf(symc_exp_nonpositive_f32(-apart));
}
