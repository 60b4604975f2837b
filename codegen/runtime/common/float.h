// Floating-point arithmetic with NumPy's meaning: extremes, sign, division, remainder, exponents.
// rint and copysign mean the same in C and NumPy: they are in libm.h.

// SYMBOL symc_maximum_f64
// The larger; NaN if either is NaN. maximum(-0.0, 0.0) is its first argument, as in NumPy.
// `b > a ? b : a` is one instruction of vectors, which gives its second operand for NaN.
static inline double symc_maximum_f64(double a, double b) {
    double most = b > a ? b : a;
    return b != b ? b : most;
}

// SYMBOL symc_maximum_f32
// See symc_maximum_f64.
static inline float symc_maximum_f32(float a, float b) {
    float most = b > a ? b : a;
    return b != b ? b : most;
}

// SYMBOL symc_minimum_f64
// The smaller; NaN if either is NaN.
static inline double symc_minimum_f64(double a, double b) {
    double least = b < a ? b : a;
    return b != b ? b : least;
}

// SYMBOL symc_minimum_f32
// See symc_minimum_f64.
static inline float symc_minimum_f32(float a, float b) {
    float least = b < a ? b : a;
    return b != b ? b : least;
}

// SYMBOL SYMC_STAYS
// In a branch: compilers do not make a choice of both sides of it.
#if defined(__CUDACC__) || defined(__OPENCL_VERSION__)
#define SYMC_STAYS ((void)0)
#else
#define SYMC_STAYS __asm__ volatile("")
#endif

// SYMBOL SYMC_APART
// The number in a register: compilers that would make one instruction of it and of a sum do not
// see that it is a product. (The register of a float is named by the processor.)
#if defined(__CUDACC__) || defined(__OPENCL_VERSION__)
#define SYMC_APART(x) ((void)0)
#elif defined(__x86_64__)
#define SYMC_APART(x) __asm__("" : "+x"(x))
#elif defined(__aarch64__)
#define SYMC_APART(x) __asm__("" : "+w"(x))
#else
#define SYMC_APART(x) ((void)0)
#endif

// SYMBOL symc_apart_f64
// NEEDS SYMC_APART
// A product that is computed apart from the sum it is a term of.
static inline double symc_apart_f64(double x) {
    SYMC_APART(x);
    return x;
}

// SYMBOL symc_apart_f32
// NEEDS SYMC_APART
// See symc_apart_f64.
static inline float symc_apart_f32(float x) {
    SYMC_APART(x);
    return x;
}

// SYMBOL symc_apart_i64
// A side of a choice, computed before it is made: then compilers choose a register, and no branch.
static inline int64_t symc_apart_i64(int64_t x) {
#if !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
    __asm__("" : "+r"(x));
#endif
    return x;
}

// SYMBOL symc_maximum_step_f64
// NEEDS SYMC_STAYS
// symc_maximum_f64 in steps of a loop that wait for each other: one instruction to wait for, and a
// branch that processors foresee. No loop with it is vectorised.
static inline double symc_maximum_step_f64(double a, double b) {
    double most = b > a ? b : a;
    if (__builtin_expect(b != b, 0)) {
        SYMC_STAYS;
        most = b;
    }
    return most;
}

// SYMBOL symc_minimum_step_f64
// NEEDS SYMC_STAYS
// See symc_maximum_step_f64.
static inline double symc_minimum_step_f64(double a, double b) {
    double least = b < a ? b : a;
    if (__builtin_expect(b != b, 0)) {
        SYMC_STAYS;
        least = b;
    }
    return least;
}

// SYMBOL symc_maximum_step_f32
// NEEDS SYMC_STAYS
// See symc_maximum_step_f64.
static inline float symc_maximum_step_f32(float a, float b) {
    float most = b > a ? b : a;
    if (__builtin_expect(b != b, 0)) {
        SYMC_STAYS;
        most = b;
    }
    return most;
}

// SYMBOL symc_minimum_step_f32
// NEEDS SYMC_STAYS
// See symc_maximum_step_f64.
static inline float symc_minimum_step_f32(float a, float b) {
    float least = b < a ? b : a;
    if (__builtin_expect(b != b, 0)) {
        SYMC_STAYS;
        least = b;
    }
    return least;
}

// SYMBOL symc_fmax_f64
// The larger; a NaN counts as missing. Unlike libm's fmax this vectorises.
static inline double symc_fmax_f64(double a, double b) {
    double most = b > a ? b : a;
    return a != a ? b : most;
}

// SYMBOL symc_fmax_f32
// See symc_fmax_f64.
static inline float symc_fmax_f32(float a, float b) {
    float most = b > a ? b : a;
    return a != a ? b : most;
}

// SYMBOL symc_fmin_f64
// The smaller; a NaN counts as missing.
static inline double symc_fmin_f64(double a, double b) {
    double least = b < a ? b : a;
    return a != a ? b : least;
}

// SYMBOL symc_fmin_f32
// See symc_fmin_f64.
static inline float symc_fmin_f32(float a, float b) {
    float least = b < a ? b : a;
    return a != a ? b : least;
}

// SYMBOL symc_sign_f64
// -1, 0 or 1; NaN stays NaN. sign(-0.0) is 0.0, as in NumPy.
static inline double symc_sign_f64(double x) {
    double sign = (double)((x > 0.0) - (x < 0.0));
    return x == x ? sign : x;
}

// SYMBOL symc_sign_f32
// See symc_sign_f64.
static inline float symc_sign_f32(float x) {
    float sign = (float)((x > 0.0f) - (x < 0.0f));
    return x == x ? sign : x;
}

// SYMBOL symc_fmod_f64
// NEEDS fabs trunc fma copysign fmod
// C's fmod (sign of a), exact. glibc's takes a step per bit of the quotient; below 2^53 one fused
// step does: the quotient rounds to the true whole number or one more, so that the fused remainder
// is representable and at most one b below zero.
static inline double symc_fmod_f64(double a, double b) {
#if defined(__FMA__) || defined(__CUDA_ARCH__)
    double size = fabs(a), step = fabs(b), quotient = size / step;
    if (quotient < 0x1p53 && step < INFINITY) {
        double rest = fma(-trunc(quotient), step, size);
        return copysign(rest < 0.0 ? rest + step : rest, a);
    }
#endif
    return fmod(a, b);
}

// SYMBOL symc_fmod_f32
// NEEDS fabs trunc fma copysignf symc_fmod_f64
// C's fmodf, exact: the double remainder of floats is a float.
//
// With fused operations it has no branch, so that loops over it vectorise. What is left of a is
// divided by b 2^250, b 2^200 ... b, from the largest quotient of floats on. Each whole quotient is
// at most 2^51, and one off at most; what is left then is a multiple of b's last bit and below 2 b
// times the power of two, so that double has room for it.
static inline float symc_fmod_f32(float a, float b) {
#if defined(__FMA__) && !defined(__CUDA_ARCH__)
    const double size = fabs((double)a), step = fabs((double)b), inverse = 1.0 / step;
    double rest = size;
    rest = fma(-trunc(rest * (inverse * 0x1p-250)), step * 0x1p250, rest);
    rest = fma(-trunc(rest * (inverse * 0x1p-200)), step * 0x1p200, rest);
    rest = fma(-trunc(rest * (inverse * 0x1p-150)), step * 0x1p150, rest);
    rest = fma(-trunc(rest * (inverse * 0x1p-100)), step * 0x1p100, rest);
    rest = fma(-trunc(rest * (inverse * 0x1p-50)), step * 0x1p50, rest);
    rest = fma(-trunc(rest * inverse), step, rest);
    rest += rest < 0.0 ? step : 0.0;
    rest -= rest >= step ? step : 0.0;
    rest = step == INFINITY && size < INFINITY ? size : rest;
    return copysignf((float)rest, a);
#else
    return (float)symc_fmod_f64(a, b);
#endif
}

// SYMBOL symc_share_f64
// NEEDS fma
// part / total for 0 <= part <= total, given 1 / total, at most one unit in the last place off. Two
// fused operations correct the product by what is left over, in a third of a division's time; numbers
// in that range cannot overflow, where the correction would be NaN. NaN stays NaN.
static inline double symc_share_f64(double part, double total, double reciprocal) {
#if defined(__FMA__) || defined(__CUDA_ARCH__)
    const double quotient = part * reciprocal;
    return fma(fma(-quotient, total, part), reciprocal, quotient);
#else
    (void)reciprocal;
    return part / total;
#endif
}

// SYMBOL symc_share_f32
// NEEDS fmaf
// See symc_share_f64.
static inline float symc_share_f32(float part, float total, float reciprocal) {
#if defined(__FMA__) || defined(__CUDA_ARCH__)
    const float quotient = part * reciprocal;
    return fmaf(fmaf(-quotient, total, part), reciprocal, quotient);
#else
    (void)reciprocal;
    return part / total;
#endif
}

// SYMBOL symc_where_f64
// The number where a condition holds, else zero, by a mask: signs are as good as random, and a branch
// that is taken at random costs more than all other steps of a remainder.
static inline double symc_where_f64(bool condition, double x) {
    union {
        double number;
        int64_t bits;
    } u;
    u.number = x;
    u.bits &= -(int64_t)condition;
    return u.number;
}

// SYMBOL symc_where_f32
// See symc_where_f64.
static inline float symc_where_f32(bool condition, float x) {
    union {
        float number;
        int32_t bits;
    } u;
    u.number = x;
    u.bits &= -(int32_t)condition;
    return u.number;
}

// SYMBOL symc_mod_f64
// NEEDS symc_fmod_f64 symc_where_f64 copysign
// NumPy's remainder: the sign of b, also on zero. mod(x, 0) and mod(inf, y) are NaN,
// mod(-1, inf) is inf.
static inline double symc_mod_f64(double a, double b) {
    double rest = symc_fmod_f64(a, b);
    if (b == 0.0) return rest;
    if (rest == 0.0) return copysign(0.0, b);
    return rest + symc_where_f64((b < 0.0) != (rest < 0.0), b);
}

// SYMBOL symc_mod_f32
// NEEDS symc_fmod_f32 symc_where_f32 copysignf
// See symc_mod_f64; without branches.
static inline float symc_mod_f32(float a, float b) {
    const float rest = symc_fmod_f32(a, b);
    const float moved = rest + symc_where_f32((b < 0.0f) != (rest < 0.0f), b);
    return b == 0.0f ? rest : rest == 0.0f ? copysignf(0.0f, b) : moved;
}

// SYMBOL symc_floordiv_f64
// NEEDS symc_fmod_f64 symc_where_f64 floor copysign fabs trunc fma
// NumPy's floor_divide, bit for bit: the whole number q with a = q * b + mod(a, b), rounded; a / b
// where b is zero. Not floor(a / b), which rounds first: floordiv(1, 0.1) is 9. Quotients below 2^50
// are exact, as in symc_fmod_f64, without a branch that depends on their signs.
static inline double symc_floordiv_f64(double a, double b) {
#if defined(__FMA__) || defined(__CUDA_ARCH__)
    const double size = fabs(a), step = fabs(b), ratio = size / step;
    if (ratio < 0x1p50 && step < INFINITY) {
        const double near = trunc(ratio), left = fma(-near, step, size);
        const double sign = copysign(1.0, a) * copysign(1.0, b);
        const double whole = near - symc_where_f64(left < 0.0, 1.0);
        return sign * (whole + symc_where_f64((sign < 0.0) & (left != 0.0), 1.0));
    }
#endif
    if (b == 0.0) return a / b;
    double rest = symc_fmod_f64(a, b);
    double quotient = (a - rest) / b;
    quotient -= symc_where_f64((rest != 0.0) & ((b < 0.0) != (rest < 0.0)), 1.0);
    if (quotient == 0.0) return copysign(0.0, a / b);
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

// SYMBOL symc_floordiv_f32
// NEEDS symc_fmod_f32 symc_where_f32 floorf copysignf
// See symc_floordiv_f64; without branches.
static inline float symc_floordiv_f32(float a, float b) {
    const float rest = symc_fmod_f32(a, b), ratio = a / b;
    const float quotient =
        (a - rest) / b - symc_where_f32((rest != 0.0f) & ((b < 0.0f) != (rest < 0.0f)), 1.0f);
    const float down = floorf(quotient);
    const float whole = down + symc_where_f32(quotient - down > 0.5f, 1.0f);
    return b == 0.0f ? ratio : quotient == 0.0f ? copysignf(0.0f, ratio) : whole;
}

// SYMBOL symc_power_of_two
// 2^n for n from -1022 to 1023.
static inline double symc_power_of_two(int32_t n) {
    union {
        uint64_t bits;
        double value;
    } power;
    power.bits = (uint64_t)(1023 + n) << 52;
    return power.value;
}

// SYMBOL symc_ldexp_step
// What is taken of an exponent that is no float's: steps down stop where all digits are still there.
static inline int32_t symc_ldexp_step(int32_t n) { return n > 1023 ? 1023 : n < -1022 ? -969 : 0; }

// SYMBOL symc_ldexp_f64
// NEEDS symc_power_of_two symc_ldexp_step
// a * 2^n for a whole n, rounded once.
static inline double symc_ldexp_f64(double a, double n) {
    int32_t rest = (int32_t)(n > 3000.0 ? 3000.0 : n < -3000.0 ? -3000.0 : n == n ? n : 0.0);
    int32_t first = symc_ldexp_step(rest), second = symc_ldexp_step(rest - first);
    rest -= first + second;
    rest = rest > 1023 ? 1023 : rest < -1022 ? -1022 : rest;
    a = a * symc_power_of_two(first) * symc_power_of_two(second) * symc_power_of_two(rest);
    return n == n ? a : n;
}

// SYMBOL symc_to_bits_f64
// The bits of a number.
static inline uint64_t symc_to_bits_f64(double a) {
    union {
        double value;
        uint64_t bits;
    } number;
    number.value = a;
    return number.bits;
}

// SYMBOL symc_from_bits_f64
static inline double symc_from_bits_f64(uint64_t bits) {
    union {
        uint64_t bits;
        double value;
    } number;
    number.bits = bits;
    return number.value;
}

// SYMBOL symc_frexp_exponent_f64
// NEEDS symc_to_bits_f64
// The n for which |a| is from 2^(n - 1) to below 2^n; 0 where there is none: for 0, inf and NaN.
// Denormal numbers are scaled.
static inline double symc_frexp_exponent_f64(double a) {
    int32_t exponent = (int32_t)(symc_to_bits_f64(a) >> 52 & 0x7ff);
    int32_t scaled = (int32_t)(symc_to_bits_f64(a * 0x1p53) >> 52 & 0x7ff);
    int32_t found = exponent ? exponent - 1022 : scaled - 1075;
    return (exponent == 0x7ff) | (a == 0.0) ? 0.0 : (double)found;
}

// SYMBOL symc_frexp_mantissa_f64
// NEEDS symc_to_bits_f64 symc_from_bits_f64
// |a| by that power of two, with the sign of a; a itself for 0, inf and NaN.
static inline double symc_frexp_mantissa_f64(double a) {
    uint64_t bits = symc_to_bits_f64(a), most = (uint64_t)0x7ff << 52;
    uint64_t digits = bits & most ? bits : symc_to_bits_f64(a * 0x1p53);
    double found = symc_from_bits_f64((digits & ~most) | (uint64_t)1022 << 52);
    return ((bits & most) == most) | (a == 0.0) ? a : found;
}

// SYMBOL symc_nextafter_f64
// NEEDS symc_to_bits_f64 symc_from_bits_f64
// The number after x towards y: bits grow with numbers away from 0.
static inline double symc_nextafter_f64(double x, double y) {
    uint64_t bits = symc_to_bits_f64(x), outward = (x < y) == (x > 0.0);
    uint64_t sign = symc_to_bits_f64(y) & (uint64_t)1 << 63;
    double found = symc_from_bits_f64(x == 0.0 ? sign | 1 : outward ? bits + 1 : bits - 1);
    return (x != x) | (y != y) ? x + y : x == y ? y : found;
}

// SYMBOL symc_to_bits_f32
// The bits of a number.
static inline uint32_t symc_to_bits_f32(float a) {
    union {
        float value;
        uint32_t bits;
    } number;
    number.value = a;
    return number.bits;
}

// SYMBOL symc_from_bits_f32
static inline float symc_from_bits_f32(uint32_t bits) {
    union {
        uint32_t bits;
        float value;
    } number;
    number.bits = bits;
    return number.value;
}

// SYMBOL symc_frexp_exponent_f32
// NEEDS symc_to_bits_f32
// The n for which |a| is from 2^(n - 1) to below 2^n; 0 where there is none: for 0, inf and NaN.
// Denormal numbers are scaled.
static inline float symc_frexp_exponent_f32(float a) {
    int32_t exponent = (int32_t)(symc_to_bits_f32(a) >> 23 & 0xff);
    int32_t scaled = (int32_t)(symc_to_bits_f32(a * 0x1p24f) >> 23 & 0xff);
    int32_t found = exponent ? exponent - 126 : scaled - 150;
    return (exponent == 0xff) | (a == 0.0f) ? 0.0f : (float)found;
}

// SYMBOL symc_frexp_mantissa_f32
// NEEDS symc_to_bits_f32 symc_from_bits_f32
// |a| by that power of two, with the sign of a; a itself for 0, inf and NaN.
static inline float symc_frexp_mantissa_f32(float a) {
    uint32_t bits = symc_to_bits_f32(a), most = (uint32_t)0xff << 23;
    uint32_t digits = bits & most ? bits : symc_to_bits_f32(a * 0x1p24f);
    float found = symc_from_bits_f32((digits & ~most) | (uint32_t)126 << 23);
    return ((bits & most) == most) | (a == 0.0f) ? a : found;
}

// SYMBOL symc_nextafter_f32
// NEEDS symc_to_bits_f32 symc_from_bits_f32
// The number after x towards y: bits grow with numbers away from 0.
static inline float symc_nextafter_f32(float x, float y) {
    uint32_t bits = symc_to_bits_f32(x), outward = (x < y) == (x > 0.0f);
    uint32_t sign = symc_to_bits_f32(y) & (uint32_t)1 << 31;
    float found = symc_from_bits_f32(x == 0.0f ? sign | 1 : outward ? bits + 1 : bits - 1);
    return (x != x) | (y != y) ? x + y : x == y ? y : found;
}

// SYMBOL symc_hypot_f64
// NEEDS fabs sqrt
// sqrt(x*x + y*y) of numbers that are scaled by a power of 2 where their squares might overflow or
// vanish; at most 1.2 ulp off. libmvec's takes twenty times as long where one of a vector is 0.
static inline double symc_hypot_f64(double x, double y) {
    double a = fabs(x), b = fabs(y), larger = a > b ? a : b;
    double scale = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-500 ? 0x1p600 : 1.0;
    double back = larger > 0x1p500 ? 0x1p600 : larger < 0x1p-500 ? 0x1p-600 : 1.0;
    double u = x * scale, v = y * scale, root = sqrt(u * u + v * v) * back;
    return (a == INFINITY) | (b == INFINITY) ? INFINITY : root;  // also beside a NaN
}

// SYMBOL symc_hypot_f32
// NEEDS fabsf sqrtf
// See symc_hypot_f64.
static inline float symc_hypot_f32(float x, float y) {
    float a = fabsf(x), b = fabsf(y), larger = a > b ? a : b;
    float scale = larger > 0x1p60f ? 0x1p-70f : larger < 0x1p-60f ? 0x1p90f : 1.0f;
    float back = larger > 0x1p60f ? 0x1p70f : larger < 0x1p-60f ? 0x1p-90f : 1.0f;
    float u = x * scale, v = y * scale, root = sqrtf(u * u + v * v) * back;
    return (a == (float)INFINITY) | (b == (float)INFINITY) ? (float)INFINITY : root;
}
