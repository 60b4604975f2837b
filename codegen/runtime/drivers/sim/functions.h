// Mathematical functions. libm's are declared, those that only CUDA has are defined; each is
// there for double, for float under its own name, and for float under the name of the double one.
// Values are libm's, so they may differ from a GPU's in the last digits.

#define SYMC_SIM_LIBM1(name)                                                                    \
    extern "C" double name(double) noexcept;                                                    \
    extern "C" float name##f(float) noexcept;                                                   \
    static inline float name(float x) { return name##f(x); }
#define SYMC_SIM_LIBM2(name)                                                                    \
    extern "C" double name(double, double) noexcept;                                            \
    extern "C" float name##f(float, float) noexcept;                                            \
    static inline float name(float x, float y) { return name##f(x, y); }
#define SYMC_SIM_LIBM(result, name, ...)                                                        \
    extern "C" result name(__VA_ARGS__) noexcept;

SYMC_SIM_LIBM1(acos) SYMC_SIM_LIBM1(acosh) SYMC_SIM_LIBM1(asin) SYMC_SIM_LIBM1(asinh)
SYMC_SIM_LIBM1(atan) SYMC_SIM_LIBM1(atanh) SYMC_SIM_LIBM1(cbrt) SYMC_SIM_LIBM1(ceil)
SYMC_SIM_LIBM1(cos) SYMC_SIM_LIBM1(cosh) SYMC_SIM_LIBM1(erf) SYMC_SIM_LIBM1(erfc)
SYMC_SIM_LIBM1(exp) SYMC_SIM_LIBM1(exp10) SYMC_SIM_LIBM1(exp2) SYMC_SIM_LIBM1(expm1)
SYMC_SIM_LIBM1(fabs) SYMC_SIM_LIBM1(floor) SYMC_SIM_LIBM1(j0) SYMC_SIM_LIBM1(j1)
SYMC_SIM_LIBM1(lgamma) SYMC_SIM_LIBM1(log) SYMC_SIM_LIBM1(log10) SYMC_SIM_LIBM1(log1p)
SYMC_SIM_LIBM1(log2) SYMC_SIM_LIBM1(logb) SYMC_SIM_LIBM1(nearbyint) SYMC_SIM_LIBM1(rint)
SYMC_SIM_LIBM1(round) SYMC_SIM_LIBM1(sin) SYMC_SIM_LIBM1(sinh) SYMC_SIM_LIBM1(sqrt)
SYMC_SIM_LIBM1(tan) SYMC_SIM_LIBM1(tanh) SYMC_SIM_LIBM1(tgamma) SYMC_SIM_LIBM1(trunc)
SYMC_SIM_LIBM1(y0) SYMC_SIM_LIBM1(y1)
SYMC_SIM_LIBM2(atan2) SYMC_SIM_LIBM2(copysign) SYMC_SIM_LIBM2(fdim) SYMC_SIM_LIBM2(fmax)
SYMC_SIM_LIBM2(fmin) SYMC_SIM_LIBM2(fmod) SYMC_SIM_LIBM2(hypot) SYMC_SIM_LIBM2(nextafter)
SYMC_SIM_LIBM2(pow) SYMC_SIM_LIBM2(remainder)
SYMC_SIM_LIBM(double, fma, double, double, double) SYMC_SIM_LIBM(float, fmaf, float, float, float)
SYMC_SIM_LIBM(double, frexp, double, int *) SYMC_SIM_LIBM(float, frexpf, float, int *)
SYMC_SIM_LIBM(int, ilogb, double) SYMC_SIM_LIBM(int, ilogbf, float)
SYMC_SIM_LIBM(double, jn, int, double) SYMC_SIM_LIBM(float, jnf, int, float)
SYMC_SIM_LIBM(double, ldexp, double, int) SYMC_SIM_LIBM(float, ldexpf, float, int)
SYMC_SIM_LIBM(long long, llrint, double) SYMC_SIM_LIBM(long long, llrintf, float)
SYMC_SIM_LIBM(long long, llround, double) SYMC_SIM_LIBM(long long, llroundf, float)
SYMC_SIM_LIBM(long, lrint, double) SYMC_SIM_LIBM(long, lrintf, float)
SYMC_SIM_LIBM(long, lround, double) SYMC_SIM_LIBM(long, lroundf, float)
SYMC_SIM_LIBM(double, modf, double, double *) SYMC_SIM_LIBM(float, modff, float, float *)
SYMC_SIM_LIBM(double, remquo, double, double, int *)
SYMC_SIM_LIBM(float, remquof, float, float, int *)
SYMC_SIM_LIBM(double, scalbn, double, int) SYMC_SIM_LIBM(float, scalbnf, float, int)
SYMC_SIM_LIBM(void, sincos, double, double *, double *)
SYMC_SIM_LIBM(void, sincosf, float, float *, float *)
SYMC_SIM_LIBM(double, yn, int, double) SYMC_SIM_LIBM(float, ynf, int, float)
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
static inline float frexp(float x, int *exponent) { return frexpf(x, exponent); }
static inline float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
static inline float modf(float x, float *whole) { return modff(x, whole); }
static inline float scalbn(float x, int exponent) { return scalbnf(x, exponent); }

// Those that take float's way through double.
#define SYMC_SIM_FUNCTION1(name, value)                                                         \
    static inline double name(double x) { return value; }                                       \
    static inline float name##f(float x) { return (float)name((double)x); }                     \
    static inline float name(float x) { return name##f(x); }
#define SYMC_SIM_FUNCTION2(name, value)                                                         \
    static inline double name(double x, double y) { return value; }                             \
    static inline float name##f(float x, float y) { return (float)name((double)x, (double)y); } \
    static inline float name(float x, float y) { return name##f(x, y); }
#define SYMC_SIM_DRIVER_FUNCTION(name)                                                          \
    SYMC_SIM_UNCHECKED double symc_sim_##name(double x) { return symc_sim->name(x); }           \
    SYMC_SIM_FUNCTION1(name, symc_sim_##name(x))
SYMC_SIM_DRIVER_FUNCTION(erfcx)
SYMC_SIM_DRIVER_FUNCTION(erfinv)
SYMC_SIM_DRIVER_FUNCTION(erfcinv)
SYMC_SIM_DRIVER_FUNCTION(normcdf)
SYMC_SIM_DRIVER_FUNCTION(normcdfinv)
SYMC_SIM_DRIVER_FUNCTION(cyl_bessel_i0)
SYMC_SIM_DRIVER_FUNCTION(cyl_bessel_i1)
SYMC_SIM_FUNCTION1(rsqrt, 1.0 / sqrt(x))
SYMC_SIM_FUNCTION1(rcbrt, 1.0 / cbrt(x))
SYMC_SIM_FUNCTION2(rhypot, 1.0 / hypot(x, y))

// sin and cos of pi x: exact at multiples of 1/2, since the part taken off x is exact.
static inline double symc_sim_sinpi(double x, double shift) {
    const double pi = 3.14159265358979323846;
    double rest = x - 2.0 * rint(0.5 * x);
    double near = rint(2.0 * rest), angle = pi * (rest - 0.5 * near);
    switch ((int)(near + shift) & 3) {
    case 0: return sin(angle);
    case 1: return cos(angle);
    case 2: return -sin(angle);
    default: return -cos(angle);
    }
}
SYMC_SIM_FUNCTION1(sinpi, symc_sim_sinpi(x, 0.0))
SYMC_SIM_FUNCTION1(cospi, symc_sim_sinpi(x, 1.0))
static inline void sincospi(double x, double *sine, double *cosine) {
    *sine = sinpi(x), *cosine = cospi(x);
}
static inline void sincospif(float x, float *sine, float *cosine) {
    *sine = sinpif(x), *cosine = cospif(x);
}

static inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
static inline float norm3df(float x, float y, float z) { return hypotf(hypotf(x, y), z); }
static inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
static inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
static inline float fdividef(float x, float y) { return x / y; }

// The fast variants are macros: glibc has functions of these names of its own.
#define __fdividef(x, y) fdividef(x, y)
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, sine, cosine) sincosf(x, sine, cosine)
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }

// Rounded one by one: as calls, they are not contracted to fused multiply-add.
#define SYMC_SIM_ROUNDED2(name, T, operation)                                                   \
    __attribute__((noinline)) static inline T name(T x, T y) { return x operation y; }
SYMC_SIM_ROUNDED2(__fadd_rn, float, +)
SYMC_SIM_ROUNDED2(__fsub_rn, float, -)
SYMC_SIM_ROUNDED2(__fmul_rn, float, *)
SYMC_SIM_ROUNDED2(__fdiv_rn, float, /)
SYMC_SIM_ROUNDED2(__dadd_rn, double, +)
SYMC_SIM_ROUNDED2(__dsub_rn, double, -)
SYMC_SIM_ROUNDED2(__dmul_rn, double, *)
SYMC_SIM_ROUNDED2(__ddiv_rn, double, /)
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline double __drcp_rn(double x) { return 1.0 / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline double __dsqrt_rn(double x) { return sqrt(x); }

#define SYMC_SIM_CLASSIFY(T)                                                                    \
    static inline bool isnan(T x) { return __builtin_isnan(x); }                                \
    static inline bool isinf(T x) { return __builtin_isinf(x); }                                \
    static inline bool isfinite(T x) { return __builtin_isfinite(x); }                          \
    static inline bool signbit(T x) { return __builtin_signbit(x); }
SYMC_SIM_CLASSIFY(float)
SYMC_SIM_CLASSIFY(double)

extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
static inline long abs(long x) { return labs(x); }
static inline long long abs(long long x) { return llabs(x); }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }

#define SYMC_SIM_EXTREMES(T, left, right)                                                       \
    static inline T max(left a, right b) { return (T)a > (T)b ? (T)a : (T)b; }                  \
    static inline T min(left a, right b) { return (T)a < (T)b ? (T)a : (T)b; }
SYMC_SIM_EXTREMES(int, int, int)
SYMC_SIM_EXTREMES(unsigned, unsigned, unsigned)
SYMC_SIM_EXTREMES(unsigned, int, unsigned)
SYMC_SIM_EXTREMES(unsigned, unsigned, int)
SYMC_SIM_EXTREMES(long, long, long)
SYMC_SIM_EXTREMES(unsigned long, unsigned long, unsigned long)
SYMC_SIM_EXTREMES(long long, long long, long long)
SYMC_SIM_EXTREMES(unsigned long long, unsigned long long, unsigned long long)
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline float min(float a, float b) { return fminf(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }

// Conversions to integers: a number that does not fit becomes the nearest that does. NaN becomes 0,
// and the smallest number where the result has 64 bits.
template <class To, class From>
static inline To symc_sim_whole(From x) {
    const int bits = 8 * sizeof(To) - (To(-1) < To(0));
    const From limit = (From)(1ull << (bits - 1)) * 2;  // 2 to the power `bits`
    const To smallest = To(-1) < To(0) ? (To)(1ull << bits) : To(0);
    if (x != x) return sizeof(To) == 8 ? (To)(1ull << 63) : To(0);
    if (x >= limit) return (To)~smallest;
    if (x < (To(-1) < To(0) ? -limit : From(0))) return smallest;
    return (To)x;
}
#define SYMC_SIM_CONVERSIONS(name, From, To)                                                    \
    static inline To name##_rn(From x) { return symc_sim_whole<To>(rint(x)); }                  \
    static inline To name##_rz(From x) { return symc_sim_whole<To>(trunc(x)); }                 \
    static inline To name##_rd(From x) { return symc_sim_whole<To>(floor(x)); }                 \
    static inline To name##_ru(From x) { return symc_sim_whole<To>(ceil(x)); }
SYMC_SIM_CONVERSIONS(__float2int, float, int)
SYMC_SIM_CONVERSIONS(__float2uint, float, unsigned)
SYMC_SIM_CONVERSIONS(__float2ll, float, long long)
SYMC_SIM_CONVERSIONS(__float2ull, float, unsigned long long)
SYMC_SIM_CONVERSIONS(__double2int, double, int)
SYMC_SIM_CONVERSIONS(__double2uint, double, unsigned)
SYMC_SIM_CONVERSIONS(__double2ll, double, long long)
SYMC_SIM_CONVERSIONS(__double2ull, double, unsigned long long)
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
static inline double __int2double_rn(int x) { return (double)x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline float __double2float_rn(double x) { return (float)x; }
