// Exponentials and logarithms of sums that neither overflow nor lose digits, branch-free so that
// loops over them vectorise (on libmvec's exp and log1p).

// SYMBOL symc_sigmoid_f64
// NEEDS exp fabs
// 1 / (1 + exp(-x)). exp only ever sees -|x|: for x < 0 the answer is e / (1 + e).
static inline double symc_sigmoid_f64(double x) {
    double e = exp(-fabs(x));
    return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

// SYMBOL symc_sigmoid_f32
// NEEDS expf fabsf
// See symc_sigmoid_f64.
static inline float symc_sigmoid_f32(float x) {
    float e = expf(-fabsf(x));
    return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

// SYMBOL symc_softplus_f64
// NEEDS exp fabs log1p
// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)).
static inline double symc_softplus_f64(double x) {
    return (x > 0.0 ? x : 0.0) + log1p(exp(-fabs(x)));
}

// SYMBOL symc_softplus_f32
// NEEDS expf fabsf log1pf
// See symc_softplus_f64.
static inline float symc_softplus_f32(float x) {
    return (x > 0.0f ? x : 0.0f) + log1pf(expf(-fabsf(x)));
}

// SYMBOL symc_log_sigmoid_f64
// NEEDS exp fabs log1p
// log(sigmoid(x)) = -softplus(-x).
static inline double symc_log_sigmoid_f64(double x) {
    return (x < 0.0 ? x : -0.0) - log1p(exp(-fabs(x)));
}

// SYMBOL symc_log_sigmoid_f32
// NEEDS expf fabsf log1pf
// See symc_log_sigmoid_f64.
static inline float symc_log_sigmoid_f32(float x) {
    return (x < 0.0f ? x : -0.0f) - log1pf(expf(-fabsf(x)));
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
// NEEDS expf fabsf log1pf
// See symc_logaddexp_f64.
static inline float symc_logaddexp_f32(float a, float b) {
    float apart = a == b ? 0.0f : fabsf(a - b);
    return (a > b ? a : b) + log1pf(expf(-apart));
}

// SYMBOL symc_logaddexp2_f64
// NEEDS exp2 fabs log1p
// log2(2^a + 2^b), as symc_logaddexp_f64; the constant is log2(e).
static inline double symc_logaddexp2_f64(double a, double b) {
    double apart = a == b ? 0.0 : fabs(a - b);
    return (a > b ? a : b) + 1.4426950408889634 * log1p(exp2(-apart));
}

// SYMBOL symc_logaddexp2_f32
// NEEDS exp2f fabsf log1pf
// See symc_logaddexp2_f64.
static inline float symc_logaddexp2_f32(float a, float b) {
    float apart = a == b ? 0.0f : fabsf(a - b);
    return (a > b ? a : b) + 1.44269504f * log1pf(exp2f(-apart));
}
