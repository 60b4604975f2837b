// bfloat16, the upper half of a float, as its bits: it is only stored, and computed in float. Both
// ways vectorise: there are no branches, and no operations but those of integers.

// SYMBOL symc_bf16_to_f32
// The float that has these upper bits: exact.
typedef union symc_float_bits {
    uint32_t bits;
    float value;
} symc_float_bits;
static inline float symc_bf16_to_f32(uint16_t x) {
    symc_float_bits wide;
    wide.bits = (uint32_t)x << 16;
    return wide.value;
}

// SYMBOL symc_f32_to_bf16
// NEEDS symc_bf16_to_f32
// The nearest bfloat16, the even one of two that are equally near. A carry out of the fraction is
// right in the exponent, up to infinity; NaN, which might lose its last bit, is the quiet one.
static inline uint16_t symc_f32_to_bf16(float x) {
    symc_float_bits wide;
    wide.value = x;
    uint32_t even = wide.bits >> 16 & 1u;
    uint32_t nearest = (wide.bits + 0x7fffu + even) >> 16;
    uint32_t quiet = (wide.bits >> 16 & 0x8000u) | 0x7fc0u;
    return (uint16_t)(x == x ? nearest : quiet);
}
