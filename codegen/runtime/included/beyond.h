// Functions of libmvec beyond the numbers that its vectors compute: its exp of x whose result is no
// normal number, and its log of 0, of denormal and of negative numbers, leave for scalar code, which
// takes 10 to 60 times as long, for all numbers of the vector that are such. Masks of -1e9 in a
// softmax and the tails of exp(-x * x) are full of them.
//
// The vector functions that gcc calls are therefore ours: a comparison and a jump to libmvec's, or
// where a number of the vector is beyond, libmvec's of arguments within. That costs exp 5 to 10 %.
// In C the names are the usual ones: `exp` is the symbol symc_exp to the assembler, which takes it
// for exp where one number is computed, and vectors of it for _ZGVeN8v_symc_exp, which is here.
//
// gcc reads this before a program, which declares the functions as ever, with a definition of
// SYMC_BEYOND_exp if it uses exp (`targets/beyond.py`). Without it a program has libmvec's own.

// The vectors that loops use, their functions in libmvec (vectors of b are SSE's, c AVX's, d AVX2's,
// e AVX-512's), and whether a <= b in all lanes. Ends of loops may take shorter ones, which are
// computed as the low lanes of these.
#if defined(__AVX512F__)
#define SYMC_VECTOR_BYTES 64
#define SYMC_VECTORS_double "_ZGVeN8v_"
#define SYMC_VECTORS_float "_ZGVeN16v_"
#define SYMC_SHORT_double(f) SYMC_LOW(f, "dN4", "eN8") SYMC_LOWEST(f, "bN2", "eN8")
#define SYMC_SHORT_float(f) SYMC_LOW(f, "dN8", "eN16") SYMC_LOWEST(f, "bN4", "eN16")
#define SYMC_ALL_double(a, b) (__builtin_ia32_cmppd512_mask(a, b, 22, -1, 4) == 0)
#define SYMC_ALL_float(a, b) (__builtin_ia32_cmpps512_mask(a, b, 22, -1, 4) == 0)
#elif defined(__AVX__)
#define SYMC_VECTOR_BYTES 32
#if defined(__AVX2__)
#define SYMC_VECTORS_double "_ZGVdN4v_"
#define SYMC_SHORT_double(f) SYMC_LOWEST(f, "bN2", "dN4")
#define SYMC_VECTORS_float "_ZGVdN8v_"
#define SYMC_SHORT_float(f) SYMC_LOWEST(f, "bN4", "dN8")
#else
#define SYMC_VECTORS_double "_ZGVcN4v_"
#define SYMC_SHORT_double(f) SYMC_LOWEST(f, "bN2", "cN4")
#define SYMC_VECTORS_float "_ZGVcN8v_"
#define SYMC_SHORT_float(f) SYMC_LOWEST(f, "bN4", "cN8")
#endif
#define SYMC_ALL_double(a, b) (__builtin_ia32_movmskpd256((V)((a) <= (b))) == 15)
#define SYMC_ALL_float(a, b) (__builtin_ia32_movmskps256((V)((a) <= (b))) == 255)
#else
#define SYMC_VECTOR_BYTES 16
#define SYMC_VECTORS_double "_ZGVbN2v_"
#define SYMC_VECTORS_float "_ZGVbN4v_"
#define SYMC_SHORT_double(f) ""
#define SYMC_SHORT_float(f) ""
#define SYMC_ALL_double(a, b) (__builtin_ia32_movmskpd((V)((a) <= (b))) == 3)
#define SYMC_ALL_float(a, b) (__builtin_ia32_movmskps((V)((a) <= (b))) == 15)
#endif
typedef double symc_doubles __attribute__((vector_size(SYMC_VECTOR_BYTES)));
typedef float symc_floats __attribute__((vector_size(SYMC_VECTOR_BYTES)));
#define SYMC_LOW(f, kind, whole)                                                                  \
    "_ZGV" kind "v_symc_" #f ": vmovaps %ymm0, %ymm0\njmp _ZGV" whole "v_symc_" #f "\n"
#define SYMC_LOWEST(f, kind, whole)                                                               \
    "_ZGV" kind "v_symc_" #f ": vmovaps %xmm0, %xmm0\nsub $8, %rsp\n"                             \
    "call _ZGV" whole "v_symc_" #f "\nadd $8, %rsp\nvzeroupper\nret\n"

// In each lane `a` or `b`.
#define SYMC_EITHER(condition, a, b) \
    (V)(((__typeof__(condition))(a) & (condition)) | ((__typeof__(condition))(b) & ~(condition)))

// The vector function f, where a <= b in all lanes of x libmvec's; if not, the rest is a body that
// calls libmvec's as g.
#define SYMC_BEYOND(f, real, a, b, ...)                                                           \
    __attribute__((simd("notinbranch"), const)) real f(real x) __asm__("symc_" #f);               \
    __asm__(".set symc_" #f ", " #f "\n" SYMC_SHORT_##real(f));                                   \
    __attribute__((noplt)) symc_##real##s symc_libmvec_##f(symc_##real##s x)                      \
        __asm__(SYMC_VECTORS_##real #f);                                                          \
    static __attribute__((noinline)) symc_##real##s symc_##f##_beyond(symc_##real##s x) {         \
        typedef symc_##real##s V;                                                                 \
        V (*const g)(V) = symc_libmvec_##f;                                                       \
        __VA_ARGS__                                                                               \
    }                                                                                             \
    static __attribute__((used, optimize("optimize-sibling-calls"))) symc_##real##s               \
        symc_##f##_of_vectors(symc_##real##s x) __asm__(SYMC_VECTORS_##real "symc_" #f);          \
    static symc_##real##s symc_##f##_of_vectors(symc_##real##s x) {                               \
        typedef symc_##real##s V;                                                                 \
        if (__builtin_expect(SYMC_ALL_##real(a, b), 1)) return symc_libmvec_##f(x);               \
        return symc_##f##_beyond(x);                                                              \
    }

// f(x) is f(x - part) * f(part) where |x| > near, `part` with the sign of x; x is taken as at most
// `most`, of which it is 0 or inf. The difference is exact, and so no digits are lost.
#define SYMC_POWERS_BEYOND(f, real, near, most, part, power_of_part, power_of_minus)              \
    SYMC_BEYOND(f, real, x *x, (real)(near * near) - (V){}, {                                     \
        const V upper = (real)most - (V){}, own = (real)part - (V){};                             \
        const V large = (real)power_of_part - (V){}, one = (real)1 - (V){};                       \
        const V small = (real)power_of_minus - (V){};                                             \
        const __typeof__(x < x) is_near = x * x <= (real)(near * near), is_above = x > (real)0;   \
        const V above = SYMC_EITHER(x > -upper, x, -upper);                                       \
        const V within = SYMC_EITHER(above < upper, above, upper);                                \
        const V rest = within - SYMC_EITHER(is_above, own, -own);                                 \
        const V factor = SYMC_EITHER(is_near, one, SYMC_EITHER(is_above, large, small));          \
        const V result = g(SYMC_EITHER(is_near, x, rest)) * factor;                               \
        return SYMC_EITHER(x == x, result, x);                                                    \
    })

// f(x) is f(scale * x) - f(scale) where x is below the least normal number.
#define SYMC_LOGARITHMS_BEYOND(f, real, least, scale, of_scale)                                   \
    SYMC_BEYOND(f, real, (real)least - (V){}, x, {                                                \
        const V one = (real)1 - (V){}, none = (real)__builtin_nan("") - (V){};                                  \
        const V lowest = (real)-__builtin_inf() - (V){};                                               \
        const __typeof__(x < x) is_near = x >= (real)least, is_positive = x > (real)0;            \
        const V scaled = SYMC_EITHER(is_positive, x * (real)scale, one);                          \
        const V result = g(SYMC_EITHER(is_near, x, scaled));                                      \
        const V at_most_0 = SYMC_EITHER(x == (real)0, lowest, none);                              \
        const V beyond = SYMC_EITHER(is_positive, result - (real)of_scale, at_most_0);            \
        return SYMC_EITHER(x == x, SYMC_EITHER(is_near, result, beyond), x);                      \
    })

#ifdef SYMC_BEYOND_exp
SYMC_POWERS_BEYOND(exp, double, 708.0, 800.0, 512.0, 2.284413586539756e222, 4.377491037053051e-223)
#endif

#ifdef SYMC_BEYOND_expf
SYMC_POWERS_BEYOND(expf, float, 87.0, 120.0, 64.0, 6.235149080811617e27, 1.603810890548638e-28)
#endif

#ifdef SYMC_BEYOND_exp2
SYMC_POWERS_BEYOND(exp2, double, 1021.0, 1200.0, 512.0, 0x1p512, 0x1p-512)
#endif

#ifdef SYMC_BEYOND_exp2f
SYMC_POWERS_BEYOND(exp2f, float, 126.0, 160.0, 64.0, 0x1p64, 0x1p-64)
#endif

#ifdef SYMC_BEYOND_log
SYMC_LOGARITHMS_BEYOND(log, double, 0x1p-1022, 0x1p64, 44.361419555836500)
#endif

#ifdef SYMC_BEYOND_logf
SYMC_LOGARITHMS_BEYOND(logf, float, 0x1p-126, 0x1p32, 22.180709777918250)
#endif

#ifdef SYMC_BEYOND_log2
SYMC_LOGARITHMS_BEYOND(log2, double, 0x1p-1022, 0x1p64, 64.0)
#endif

#ifdef SYMC_BEYOND_log2f
SYMC_LOGARITHMS_BEYOND(log2f, float, 0x1p-126, 0x1p32, 32.0)
#endif

#ifdef SYMC_BEYOND_log10
SYMC_LOGARITHMS_BEYOND(log10, double, 0x1p-1022, 0x1p64, 19.265919722494796)
#endif

#ifdef SYMC_BEYOND_log10f
SYMC_LOGARITHMS_BEYOND(log10f, float, 0x1p-126, 0x1p32, 9.632959861247398)
#endif
