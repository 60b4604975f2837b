// Places in arrays.

// SYMBOL symc_place
// An index that counts from the end if it is negative, for code outside of vectors. It is a jump:
// compilers make arithmetic of ?:, which makes the way from an index to its element longer. Where a
// decision waits for the element, a processor finds out later that it has guessed wrongly. Hardly a
// program mixes indexes of both signs, so this jump itself is guessed rightly. The empty
// instruction keeps compilers from making arithmetic of it.
static inline int64_t symc_place(int64_t index, int64_t length) {
    if (__builtin_expect(index < 0, 0)) {
        index = (int64_t)((uint64_t)index + (uint64_t)length);
#if !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
        __asm__("" : "+r"(index));
#endif
    }
    return index;
}

// SYMBOL symc_is_place
// Whether an index that may count from the end is one: `-length <= index && index < length`. It is
// one comparison, as sums that are below zero are large if they are taken as unsigned; what the
// lengths alone say is computed once before a loop.
static inline bool symc_is_place(int64_t index, int64_t length) {
    const uint64_t places = length > 0 ? 2 * (uint64_t)length : 0;
    return (uint64_t)index + (uint64_t)length < places;
}

// SYMBOL symc_below_or
// A place that a loop moves on by one until an end. It is a jump, as it hardly ever ends: so the
// next step does not wait for a choice. The other place is often the same in all steps; what is
// not volatile would be moved before the loop.
static inline int64_t symc_below_or(int64_t index, int64_t end, int64_t other) {
    if (__builtin_expect(index >= end, 0)) {
        index = other;
#if !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
        __asm__ volatile("" : "+r"(index));
#endif
    }
    return index;
}

// SYMBOL symc_unless
// The same where the end is one place, from either side.
static inline int64_t symc_unless(int64_t index, int64_t end, int64_t other) {
    if (__builtin_expect(index == end, 0)) {
        index = other;
#if !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
        __asm__ volatile("" : "+r"(index));
#endif
    }
    return index;
}
