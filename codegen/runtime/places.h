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
