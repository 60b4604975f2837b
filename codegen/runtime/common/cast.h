// Float to integer where the value may not fit. A plain C cast is undefined for NaN and for values
// out of range; these give the results of NumPy's arrays on x86:
//
//   to             NaN, +inf, -inf, out of range
//   int64          -2^63
//   int32          -2^31
//   int8, int16    the low bits of the int32 above: 300.7 -> int8 is 44, NaN is 0
//   uint8, uint16  likewise
//   uint32         below 2^31 the bits of the int32, else 2^31 ^ int32(x - 2^31): -1.5 is 2^32 - 1,
//                  NaN is 2^31, +inf is 0. NumPy's own scalars and arrays differ out of range;
//                  this is the array's.
//   uint64         as uint32, one size up: NaN is 2^63, +inf is 0
//
// All truncate towards zero. Those to 32 bits and fewer vectorise with AVX2.

// SYMBOL symc_f64_to_i32
static inline int32_t symc_f64_to_i32(double x) {
    return (x > -0x1.00000002p31) & (x < 0x1p31) ? (int32_t)x : (int32_t)-0x80000000ll;
}

// SYMBOL symc_f64_to_i64
static inline int64_t symc_f64_to_i64(double x) {
    return (x >= -0x1p63) & (x < 0x1p63) ? (int64_t)x : -0x7fffffffffffffffll - 1;
}

// SYMBOL symc_f64_to_i64_alone
// NEEDS symc_f64_to_i64
// The same outside of vectors: x86 has an instruction that gives just this. Compilers test whether a
// number is in range before they use it for a conversion.
static inline int64_t symc_f64_to_i64_alone(double x) {
#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
    typedef double lanes __attribute__((vector_size(16)));
    return __builtin_ia32_cvttsd2si64((lanes){x, 0});
#else
    return symc_f64_to_i64(x);
#endif
}

// SYMBOL symc_f64_to_i8
// NEEDS symc_f64_to_i32
static inline int8_t symc_f64_to_i8(double x) {
    return (int8_t)symc_f64_to_i32(x);
}

// SYMBOL symc_f64_to_i16
// NEEDS symc_f64_to_i32
static inline int16_t symc_f64_to_i16(double x) {
    return (int16_t)symc_f64_to_i32(x);
}

// SYMBOL symc_f64_to_u8
// NEEDS symc_f64_to_i32
static inline uint8_t symc_f64_to_u8(double x) {
    return (uint8_t)symc_f64_to_i32(x);
}

// SYMBOL symc_f64_to_u16
// NEEDS symc_f64_to_i32
static inline uint16_t symc_f64_to_u16(double x) {
    return (uint16_t)symc_f64_to_i32(x);
}

// SYMBOL symc_f64_to_u32
// NEEDS symc_f64_to_i32
static inline uint32_t symc_f64_to_u32(double x) {
    bool high = x >= 0x1p31;
    uint32_t low = (uint32_t)symc_f64_to_i32(high ? x - 0x1p31 : x);
    return high ? low ^ 0x80000000u : low;
}

// SYMBOL symc_f64_to_u64
// NEEDS symc_f64_to_i64
static inline uint64_t symc_f64_to_u64(double x) {
    bool high = x >= 0x1p63;
    uint64_t low = (uint64_t)symc_f64_to_i64(high ? x - 0x1p63 : x);
    return high ? low ^ 0x8000000000000000ull : low;
}

// SYMBOL symc_f32_to_i32
static inline int32_t symc_f32_to_i32(float x) {
    return (x >= -0x1p31f) & (x < 0x1p31f) ? (int32_t)x : (int32_t)-0x80000000ll;
}

// SYMBOL symc_f32_to_i64
static inline int64_t symc_f32_to_i64(float x) {
    return (x >= -0x1p63f) & (x < 0x1p63f) ? (int64_t)x : -0x7fffffffffffffffll - 1;
}

// SYMBOL symc_f32_to_i64_alone
// NEEDS symc_f32_to_i64
// See symc_f64_to_i64_alone.
static inline int64_t symc_f32_to_i64_alone(float x) {
#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
    typedef float lanes __attribute__((vector_size(16)));
    return __builtin_ia32_cvttss2si64((lanes){x, 0, 0, 0});
#else
    return symc_f32_to_i64(x);
#endif
}

// SYMBOL symc_f32_to_i8
// NEEDS symc_f32_to_i32
static inline int8_t symc_f32_to_i8(float x) {
    return (int8_t)symc_f32_to_i32(x);
}

// SYMBOL symc_f32_to_i16
// NEEDS symc_f32_to_i32
static inline int16_t symc_f32_to_i16(float x) {
    return (int16_t)symc_f32_to_i32(x);
}

// SYMBOL symc_f32_to_u8
// NEEDS symc_f32_to_i32
static inline uint8_t symc_f32_to_u8(float x) {
    return (uint8_t)symc_f32_to_i32(x);
}

// SYMBOL symc_f32_to_u16
// NEEDS symc_f32_to_i32
static inline uint16_t symc_f32_to_u16(float x) {
    return (uint16_t)symc_f32_to_i32(x);
}

// SYMBOL symc_f32_to_u32
// NEEDS symc_f32_to_i32
static inline uint32_t symc_f32_to_u32(float x) {
    bool high = x >= 0x1p31f;
    uint32_t low = (uint32_t)symc_f32_to_i32(high ? x - 0x1p31f : x);
    return high ? low ^ 0x80000000u : low;
}

// SYMBOL symc_f32_to_u64
// NEEDS symc_f32_to_i64
static inline uint64_t symc_f32_to_u64(float x) {
    bool high = x >= 0x1p63f;
    uint64_t low = (uint64_t)symc_f32_to_i64(high ? x - 0x1p63f : x);
    return high ? low ^ 0x8000000000000000ull : low;
}
