// Integers: Python's division, NumPy's shifts, wrapping arithmetic. No function here traps or has
// undefined behaviour, whatever its arguments: division by zero gives 0 (the program checks it
// apart and raises), INT_MIN / -1 wraps to INT_MIN as in NumPy.
//
// Each function is a macro that is instantiated for the types it serves.

// SYMBOL SYMC_ARE_BRIEF
// Whether two integers of 64 bits are below 2^32: processors divide such in half of the time. Not
// asked where a compiler knows b, and multiplies instead.
#if defined(__GNUC__) && !defined(__cplusplus) && !defined(__OPENCL_VERSION__)
#define SYMC_ARE_BRIEF(a, b)                                  \
    (sizeof(a) == 8 && !__builtin_constant_p(b) && (((uint64_t)(a) | (uint64_t)(b)) >> 32) == 0)
#else
#define SYMC_ARE_BRIEF(a, b) 0
#endif

// SYMBOL SYMC_IS_DIVISOR
// Whether a compiler knows that b, of 64 bits, is above 0. By such it multiplies: the remainder is
// then made of the quotient, so that both have the product in common. Narrow ones are vectors as is.
#if defined(__GNUC__) && !defined(__cplusplus) && !defined(__OPENCL_VERSION__)
#define SYMC_IS_DIVISOR(b) (sizeof(b) == 8 && __builtin_constant_p(b) && (b) > 0)
#else
#define SYMC_IS_DIVISOR(b) 0
#endif

// SYMBOL SYMC_DEFINE_FLOORDIV
// NEEDS SYMC_ARE_BRIEF SYMC_IS_DIVISOR
// Division rounded towards minus infinity, as Python's //.
#define SYMC_DEFINE_FLOORDIV(name, type, unsigned_type)                    \
    static inline type name(type a, type b) {                              \
        if (b == 0) return 0;                                              \
        if (SYMC_ARE_BRIEF(a, b))                                          \
            return (type)((uint32_t)a / (uint32_t)b);                      \
        if (b == -1) return (type)(0u - (unsigned_type)a);                 \
        type quotient = (type)(a / b);                                     \
        if (SYMC_IS_DIVISOR(b)) return (type)(quotient - (a - quotient * b < 0)); \
        type rest = (type)(a % b);                                         \
        return (type)(quotient - ((rest != 0) & ((rest < 0) != (b < 0)))); \
    }

// SYMBOL symc_floordiv_i8
// NEEDS SYMC_DEFINE_FLOORDIV
SYMC_DEFINE_FLOORDIV(symc_floordiv_i8, int8_t, uint8_t)

// SYMBOL symc_floordiv_i16
// NEEDS SYMC_DEFINE_FLOORDIV
SYMC_DEFINE_FLOORDIV(symc_floordiv_i16, int16_t, uint16_t)

// SYMBOL symc_floordiv_i32
// NEEDS SYMC_DEFINE_FLOORDIV
SYMC_DEFINE_FLOORDIV(symc_floordiv_i32, int32_t, uint32_t)

// SYMBOL symc_floordiv_i64
// NEEDS SYMC_DEFINE_FLOORDIV
SYMC_DEFINE_FLOORDIV(symc_floordiv_i64, int64_t, uint64_t)

// SYMBOL symc_floordiv_step_i64
// NEEDS SYMC_STAYS symc_floordiv_i64
// symc_floordiv_i64 by a constant above 0, in steps of a loop that wait for each other: of what is
// not negative, as most numbers of such steps, the quotient needs no correction to wait for.
static inline int64_t symc_floordiv_step_i64(int64_t a, int64_t b) {
    if (__builtin_expect(a < 0 || b <= 0, 0)) {
        SYMC_STAYS;
        return symc_floordiv_i64(a, b);
    }
    return (int64_t)((uint64_t)a / (uint64_t)b);
}

// SYMBOL SYMC_DEFINE_FLOORDIV_UNSIGNED
// a // b.
#define SYMC_DEFINE_FLOORDIV_UNSIGNED(name, type) \
    static inline type name(type a, type b) {     \
        return b == 0 ? (type)0 : (type)(a / b);  \
    }

// SYMBOL symc_floordiv_u8
// NEEDS SYMC_DEFINE_FLOORDIV_UNSIGNED
SYMC_DEFINE_FLOORDIV_UNSIGNED(symc_floordiv_u8, uint8_t)

// SYMBOL symc_floordiv_u16
// NEEDS SYMC_DEFINE_FLOORDIV_UNSIGNED
SYMC_DEFINE_FLOORDIV_UNSIGNED(symc_floordiv_u16, uint16_t)

// SYMBOL symc_floordiv_u32
// NEEDS SYMC_DEFINE_FLOORDIV_UNSIGNED
SYMC_DEFINE_FLOORDIV_UNSIGNED(symc_floordiv_u32, uint32_t)

// SYMBOL symc_floordiv_u64
// NEEDS SYMC_DEFINE_FLOORDIV_UNSIGNED
SYMC_DEFINE_FLOORDIV_UNSIGNED(symc_floordiv_u64, uint64_t)

// SYMBOL SYMC_DEFINE_MOD
// NEEDS SYMC_ARE_BRIEF SYMC_IS_DIVISOR
// Remainder with the sign of b, as Python's %. Masked: a jump would be told wrong for random signs.
#define SYMC_DEFINE_MOD(name, type)                                            \
    static inline type name(type a, type b) {                                  \
        if (b == 0 || b == -1) return 0;                                       \
        if (SYMC_ARE_BRIEF(a, b)) return (type)((uint32_t)a % (uint32_t)b);    \
        type rest = SYMC_IS_DIVISOR(b) ? (type)(a - a / b * b) : (type)(a % b); \
        if (SYMC_IS_DIVISOR(b)) return (type)(rest + (b & -(type)(rest < 0))); \
        return (type)(rest + (b & -(type)((rest != 0) & ((rest ^ b) < 0))));   \
    }

// SYMBOL symc_mod_i8
// NEEDS SYMC_DEFINE_MOD
SYMC_DEFINE_MOD(symc_mod_i8, int8_t)

// SYMBOL symc_mod_i16
// NEEDS SYMC_DEFINE_MOD
SYMC_DEFINE_MOD(symc_mod_i16, int16_t)

// SYMBOL symc_mod_i32
// NEEDS SYMC_DEFINE_MOD
SYMC_DEFINE_MOD(symc_mod_i32, int32_t)

// SYMBOL symc_mod_i64
// NEEDS SYMC_DEFINE_MOD
SYMC_DEFINE_MOD(symc_mod_i64, int64_t)

// SYMBOL symc_mod_step_i64
// NEEDS SYMC_STAYS symc_mod_i64
// See symc_floordiv_step_i64.
static inline int64_t symc_mod_step_i64(int64_t a, int64_t b) {
    if (__builtin_expect(a < 0 || b <= 0, 0)) {
        SYMC_STAYS;
        return symc_mod_i64(a, b);
    }
    return (int64_t)((uint64_t)a - (uint64_t)a / (uint64_t)b * (uint64_t)b);
}

// SYMBOL SYMC_DEFINE_MOD_UNSIGNED
// a % b.
#define SYMC_DEFINE_MOD_UNSIGNED(name, type)     \
    static inline type name(type a, type b) {    \
        return b == 0 ? (type)0 : (type)(a % b); \
    }

// SYMBOL symc_mod_u8
// NEEDS SYMC_DEFINE_MOD_UNSIGNED
SYMC_DEFINE_MOD_UNSIGNED(symc_mod_u8, uint8_t)

// SYMBOL symc_mod_u16
// NEEDS SYMC_DEFINE_MOD_UNSIGNED
SYMC_DEFINE_MOD_UNSIGNED(symc_mod_u16, uint16_t)

// SYMBOL symc_mod_u32
// NEEDS SYMC_DEFINE_MOD_UNSIGNED
SYMC_DEFINE_MOD_UNSIGNED(symc_mod_u32, uint32_t)

// SYMBOL symc_mod_u64
// NEEDS SYMC_DEFINE_MOD_UNSIGNED
SYMC_DEFINE_MOD_UNSIGNED(symc_mod_u64, uint64_t)

// SYMBOL SYMC_DEFINE_IPOW
// base ** exponent, wrapping. A negative exponent truncates the true value: 1, -1 or 0.
#define SYMC_DEFINE_IPOW(name, type)                                                       \
    static inline type name(type base, type exponent) {                                    \
        if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0; \
        uint64_t square = (uint64_t)base, power = 1;                                       \
        for (; exponent > 0; exponent >>= 1) {                                             \
            if (exponent & 1) power *= square;                                             \
            square *= square;                                                              \
        }                                                                                  \
        return (type)power;                                                                \
    }

// SYMBOL symc_ipow_i8
// NEEDS SYMC_DEFINE_IPOW
SYMC_DEFINE_IPOW(symc_ipow_i8, int8_t)

// SYMBOL symc_ipow_i16
// NEEDS SYMC_DEFINE_IPOW
SYMC_DEFINE_IPOW(symc_ipow_i16, int16_t)

// SYMBOL symc_ipow_i32
// NEEDS SYMC_DEFINE_IPOW
SYMC_DEFINE_IPOW(symc_ipow_i32, int32_t)

// SYMBOL symc_ipow_i64
// NEEDS SYMC_DEFINE_IPOW
SYMC_DEFINE_IPOW(symc_ipow_i64, int64_t)

// SYMBOL SYMC_DEFINE_IPOW_UNSIGNED
// base ** exponent, wrapping.
#define SYMC_DEFINE_IPOW_UNSIGNED(name, type)           \
    static inline type name(type base, type exponent) { \
        uint64_t square = base, power = 1;              \
        for (; exponent > 0; exponent >>= 1) {          \
            if (exponent & 1) power *= square;          \
            square *= square;                           \
        }                                               \
        return (type)power;                             \
    }

// SYMBOL symc_ipow_u8
// NEEDS SYMC_DEFINE_IPOW_UNSIGNED
SYMC_DEFINE_IPOW_UNSIGNED(symc_ipow_u8, uint8_t)

// SYMBOL symc_ipow_u16
// NEEDS SYMC_DEFINE_IPOW_UNSIGNED
SYMC_DEFINE_IPOW_UNSIGNED(symc_ipow_u16, uint16_t)

// SYMBOL symc_ipow_u32
// NEEDS SYMC_DEFINE_IPOW_UNSIGNED
SYMC_DEFINE_IPOW_UNSIGNED(symc_ipow_u32, uint32_t)

// SYMBOL symc_ipow_u64
// NEEDS SYMC_DEFINE_IPOW_UNSIGNED
SYMC_DEFINE_IPOW_UNSIGNED(symc_ipow_u64, uint64_t)

// SYMBOL SYMC_DEFINE_SHL
// a << count as NumPy: 0 for a count that is negative or not below the width.
#define SYMC_DEFINE_SHL(name, type, unsigned_type)                            \
    static inline type name(type a, type count) {                             \
        bool in_range = (unsigned_type)count < 8 * sizeof(type);              \
        return in_range ? (type)((0u + (unsigned_type)a) << count) : (type)0; \
    }

// SYMBOL symc_shl_i8
// NEEDS SYMC_DEFINE_SHL
SYMC_DEFINE_SHL(symc_shl_i8, int8_t, uint8_t)

// SYMBOL symc_shl_i16
// NEEDS SYMC_DEFINE_SHL
SYMC_DEFINE_SHL(symc_shl_i16, int16_t, uint16_t)

// SYMBOL symc_shl_i32
// NEEDS SYMC_DEFINE_SHL
SYMC_DEFINE_SHL(symc_shl_i32, int32_t, uint32_t)

// SYMBOL symc_shl_i64
// NEEDS SYMC_DEFINE_SHL
SYMC_DEFINE_SHL(symc_shl_i64, int64_t, uint64_t)

// SYMBOL symc_shl_u8
// NEEDS SYMC_DEFINE_SHL
SYMC_DEFINE_SHL(symc_shl_u8, uint8_t, uint8_t)

// SYMBOL symc_shl_u16
// NEEDS SYMC_DEFINE_SHL
SYMC_DEFINE_SHL(symc_shl_u16, uint16_t, uint16_t)

// SYMBOL symc_shl_u32
// NEEDS SYMC_DEFINE_SHL
SYMC_DEFINE_SHL(symc_shl_u32, uint32_t, uint32_t)

// SYMBOL symc_shl_u64
// NEEDS SYMC_DEFINE_SHL
SYMC_DEFINE_SHL(symc_shl_u64, uint64_t, uint64_t)

// SYMBOL SYMC_DEFINE_SHR
// a >> count as NumPy: all sign bits for a count that is negative or not below the width.
#define SYMC_DEFINE_SHR(name, type, unsigned_type)                             \
    static inline type name(type a, type count) {                              \
        bool in_range = (unsigned_type)count < 8 * sizeof(type);               \
        return (type)(a >> (in_range ? count : (type)(8 * sizeof(type) - 1))); \
    }

// SYMBOL symc_shr_i8
// NEEDS SYMC_DEFINE_SHR
SYMC_DEFINE_SHR(symc_shr_i8, int8_t, uint8_t)

// SYMBOL symc_shr_i16
// NEEDS SYMC_DEFINE_SHR
SYMC_DEFINE_SHR(symc_shr_i16, int16_t, uint16_t)

// SYMBOL symc_shr_i32
// NEEDS SYMC_DEFINE_SHR
SYMC_DEFINE_SHR(symc_shr_i32, int32_t, uint32_t)

// SYMBOL symc_shr_i64
// NEEDS SYMC_DEFINE_SHR
SYMC_DEFINE_SHR(symc_shr_i64, int64_t, uint64_t)

// SYMBOL SYMC_DEFINE_SHR_UNSIGNED
// a >> count as NumPy: 0 for a count that is not below the width.
#define SYMC_DEFINE_SHR_UNSIGNED(name, type)                            \
    static inline type name(type a, type count) {                       \
        return count < 8 * sizeof(type) ? (type)(a >> count) : (type)0; \
    }

// SYMBOL symc_shr_u8
// NEEDS SYMC_DEFINE_SHR_UNSIGNED
SYMC_DEFINE_SHR_UNSIGNED(symc_shr_u8, uint8_t)

// SYMBOL symc_shr_u16
// NEEDS SYMC_DEFINE_SHR_UNSIGNED
SYMC_DEFINE_SHR_UNSIGNED(symc_shr_u16, uint16_t)

// SYMBOL symc_shr_u32
// NEEDS SYMC_DEFINE_SHR_UNSIGNED
SYMC_DEFINE_SHR_UNSIGNED(symc_shr_u32, uint32_t)

// SYMBOL symc_shr_u64
// NEEDS SYMC_DEFINE_SHR_UNSIGNED
SYMC_DEFINE_SHR_UNSIGNED(symc_shr_u64, uint64_t)

// SYMBOL SYMC_DEFINE_NEG
// -a, wrapping: the smallest integer is its own negative.
#define SYMC_DEFINE_NEG(name, type, unsigned_type) \
    static inline type name(type a) {              \
        return (type)(0u - (unsigned_type)a);      \
    }

// SYMBOL symc_neg_i8
// NEEDS SYMC_DEFINE_NEG
SYMC_DEFINE_NEG(symc_neg_i8, int8_t, uint8_t)

// SYMBOL symc_neg_i16
// NEEDS SYMC_DEFINE_NEG
SYMC_DEFINE_NEG(symc_neg_i16, int16_t, uint16_t)

// SYMBOL symc_neg_i32
// NEEDS SYMC_DEFINE_NEG
SYMC_DEFINE_NEG(symc_neg_i32, int32_t, uint32_t)

// SYMBOL symc_neg_i64
// NEEDS SYMC_DEFINE_NEG
SYMC_DEFINE_NEG(symc_neg_i64, int64_t, uint64_t)

// SYMBOL symc_neg_u8
// NEEDS SYMC_DEFINE_NEG
SYMC_DEFINE_NEG(symc_neg_u8, uint8_t, uint8_t)

// SYMBOL symc_neg_u16
// NEEDS SYMC_DEFINE_NEG
SYMC_DEFINE_NEG(symc_neg_u16, uint16_t, uint16_t)

// SYMBOL symc_neg_u32
// NEEDS SYMC_DEFINE_NEG
SYMC_DEFINE_NEG(symc_neg_u32, uint32_t, uint32_t)

// SYMBOL symc_neg_u64
// NEEDS SYMC_DEFINE_NEG
SYMC_DEFINE_NEG(symc_neg_u64, uint64_t, uint64_t)

// SYMBOL SYMC_DEFINE_SIGN
// -1, 0 or 1.
#define SYMC_DEFINE_SIGN(name, type)      \
    static inline type name(type a) {     \
        return (type)((a > 0) - (a < 0)); \
    }

// SYMBOL symc_sign_i8
// NEEDS SYMC_DEFINE_SIGN
SYMC_DEFINE_SIGN(symc_sign_i8, int8_t)

// SYMBOL symc_sign_i16
// NEEDS SYMC_DEFINE_SIGN
SYMC_DEFINE_SIGN(symc_sign_i16, int16_t)

// SYMBOL symc_sign_i32
// NEEDS SYMC_DEFINE_SIGN
SYMC_DEFINE_SIGN(symc_sign_i32, int32_t)

// SYMBOL symc_sign_i64
// NEEDS SYMC_DEFINE_SIGN
SYMC_DEFINE_SIGN(symc_sign_i64, int64_t)

// SYMBOL SYMC_DEFINE_SIGN_UNSIGNED
// 0 or 1.
#define SYMC_DEFINE_SIGN_UNSIGNED(name, type) \
    static inline type name(type a) {         \
        return (type)(a != 0);                \
    }

// SYMBOL symc_sign_u8
// NEEDS SYMC_DEFINE_SIGN_UNSIGNED
SYMC_DEFINE_SIGN_UNSIGNED(symc_sign_u8, uint8_t)

// SYMBOL symc_sign_u16
// NEEDS SYMC_DEFINE_SIGN_UNSIGNED
SYMC_DEFINE_SIGN_UNSIGNED(symc_sign_u16, uint16_t)

// SYMBOL symc_sign_u32
// NEEDS SYMC_DEFINE_SIGN_UNSIGNED
SYMC_DEFINE_SIGN_UNSIGNED(symc_sign_u32, uint32_t)

// SYMBOL symc_sign_u64
// NEEDS SYMC_DEFINE_SIGN_UNSIGNED
SYMC_DEFINE_SIGN_UNSIGNED(symc_sign_u64, uint64_t)

// SYMBOL SYMC_DEFINE_ABS
// |a|, wrapping as NumPy's: the smallest integer is its own absolute value.
#define SYMC_DEFINE_ABS(name, type, unsigned_type)        \
    static inline type name(type a) {                     \
        return a < 0 ? (type)(0u - (unsigned_type)a) : a; \
    }

// SYMBOL symc_abs_i8
// NEEDS SYMC_DEFINE_ABS
SYMC_DEFINE_ABS(symc_abs_i8, int8_t, uint8_t)

// SYMBOL symc_abs_i16
// NEEDS SYMC_DEFINE_ABS
SYMC_DEFINE_ABS(symc_abs_i16, int16_t, uint16_t)

// SYMBOL symc_abs_i32
// NEEDS SYMC_DEFINE_ABS
SYMC_DEFINE_ABS(symc_abs_i32, int32_t, uint32_t)

// SYMBOL symc_abs_i64
// NEEDS SYMC_DEFINE_ABS
SYMC_DEFINE_ABS(symc_abs_i64, int64_t, uint64_t)

// SYMBOL SYMC_DEFINE_EXTREME
// The one of two integers for which `a sign b` holds.
#define SYMC_DEFINE_EXTREME(name, type, sign) \
    static inline type name(type a, type b) { \
        return a sign b ? a : b;              \
    }

// SYMBOL symc_maximum_i8
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_i8, int8_t, >)

// SYMBOL symc_maximum_i16
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_i16, int16_t, >)

// SYMBOL symc_maximum_i32
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_i32, int32_t, >)

// SYMBOL symc_maximum_i64
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_i64, int64_t, >)

// SYMBOL symc_maximum_u8
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_u8, uint8_t, >)

// SYMBOL symc_maximum_u16
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_u16, uint16_t, >)

// SYMBOL symc_maximum_u32
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_u32, uint32_t, >)

// SYMBOL symc_maximum_u64
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_u64, uint64_t, >)

// SYMBOL symc_maximum_b1
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_b1, bool, >)

// SYMBOL symc_minimum_i8
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_i8, int8_t, <)

// SYMBOL symc_minimum_i16
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_i16, int16_t, <)

// SYMBOL symc_minimum_i32
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_i32, int32_t, <)

// SYMBOL symc_minimum_i64
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_i64, int64_t, <)

// SYMBOL symc_minimum_u8
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_u8, uint8_t, <)

// SYMBOL symc_minimum_u16
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_u16, uint16_t, <)

// SYMBOL symc_minimum_u32
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_u32, uint32_t, <)

// SYMBOL symc_minimum_u64
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_u64, uint64_t, <)

// SYMBOL symc_minimum_b1
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_b1, bool, <)

// SYMBOL symc_bit_count_u64
// How many bits are 1: sums of neighbouring fields of 1, 2 and 4 bits, then of all bytes.
static inline uint64_t symc_bit_count_u64(uint64_t a) {
    a -= a >> 1 & 0x5555555555555555ull;
    a = (a & 0x3333333333333333ull) + (a >> 2 & 0x3333333333333333ull);
    a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return a * 0x0101010101010101ull >> 56;
}

// SYMBOL symc_bit_count_i64
// NEEDS symc_bit_count_u64
// That of the absolute value.
static inline int64_t symc_bit_count_i64(int64_t a) {
    uint64_t size = (uint64_t)a;
    return (int64_t)symc_bit_count_u64(a < 0 ? 0 - size : size);
}
