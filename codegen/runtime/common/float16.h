// float16 as its bits: it is only stored, and computed in float. Where a device does not convert it,
// numbers below 2^-14, of which it has only multiples of 2^-24, are rounded by an addition: beside a
// half a float has the same multiples. `vload_half` is no help: compilers that tell types of pointers
// apart read the bits before it has written them.

// SYMBOL symc_f16_to_f32
// NEEDS symc_bits_f32
// The float of the same value.
static inline float symc_f16_to_f32(uint16_t x) {
#ifdef cl_khr_fp16
    symc_bits_f16 given;
    given.bits = x;
    return convert_float(given.value);
#else
    const uint32_t magnitude = x & 0x7fffu, small = 113u << 23;
    symc_bits_f32 found = {0.0f}, least = {0.0f};
    least.bits = small;
    found.bits = (magnitude << 13) + (magnitude < 0x400 ? small : magnitude < 0x7c00 ? 112u << 23
                                                                                     : 224u << 23);
    if (magnitude < 0x400) found.value -= least.value;
    found.bits |= (uint32_t)(x & 0x8000u) << 16;
    return found.value;
#endif
}

// SYMBOL symc_f32_to_f16
// NEEDS symc_bits_f32
// The nearest float16, the even one of two that are equally near.
static inline uint16_t symc_f32_to_f16(float x) {
#ifdef cl_khr_fp16
    symc_bits_f16 found;
    found.value = convert_half_rte(x);
    return found.bits;
#else
    symc_bits_f32 given = {x};
    const uint32_t sign = given.bits & 0x80000000u;
    uint32_t found;
    given.bits ^= sign;
    if (given.bits > 0x7f800000u) {
        found = 0x7e00u;
    } else if (given.bits >= 143u << 23) {
        found = 0x7c00u;
    } else if (given.bits < 113u << 23) {
        given.value += 0.5f;
        found = given.bits - (126u << 23);
    } else {  // a carry out of the fraction is right in the exponent, up to infinity
        found = (given.bits - (112u << 23) + 0xfffu + (given.bits >> 13 & 1u)) >> 13;
    }
    return (uint16_t)(found | sign >> 16);
#endif
}

// SYMBOL symc_f64_to_f16
// NEEDS symc_f32_to_f16
// The same of a double, rounded once: by way of the float next to it whose last bit is 1, which says
// on which side it is of the middle between two.
static inline uint16_t symc_f64_to_f16(double x) {
    symc_bits_f32 odd = {(float)x};
    if (odd.value != x) {
        if ((odd.value < 0 ? -(double)odd.value : (double)odd.value) > (x < 0 ? -x : x)) odd.bits--;
        odd.bits |= 1u;
    }
    return symc_f32_to_f16(odd.value);
}
