// Elements of vectors in another order: complex numbers and their parts, squares of vectors.

// SYMBOL SYMC_SHUFFLES
// NEEDS SYMC_LANE_BYTES
// Which elements of two vectors stand in a third: both in turn, from their lower halves or the
// upper ones; those with even numbers, or odd ones; and those of one vector from its end.
#define SYMC_LOW_2 0, 2
#define SYMC_HIGH_2 1, 3
#define SYMC_EVEN_2 0, 2
#define SYMC_ODD_2 1, 3
#define SYMC_BACK_2 1, 0
#define SYMC_LOW_4 0, 4, 1, 5
#define SYMC_HIGH_4 2, 6, 3, 7
#define SYMC_EVEN_4 0, 2, 4, 6
#define SYMC_ODD_4 1, 3, 5, 7
#define SYMC_BACK_4 3, 2, 1, 0
#define SYMC_LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define SYMC_HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define SYMC_EVEN_8 0, 2, 4, 6, 8, 10, 12, 14
#define SYMC_ODD_8 1, 3, 5, 7, 9, 11, 13, 15
#define SYMC_BACK_8 7, 6, 5, 4, 3, 2, 1, 0
#define SYMC_LOW_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define SYMC_HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define SYMC_EVEN_16 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define SYMC_ODD_16 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define SYMC_BACK_16 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0

#if SYMC_LANE_BYTES == 64
#define SYMC_LIST_float(name) name##_16
#define SYMC_LIST_double(name) name##_8
#elif SYMC_LANE_BYTES == 32
#define SYMC_LIST_float(name) name##_8
#define SYMC_LIST_double(name) name##_4
#else
#define SYMC_LIST_float(name) name##_4
#define SYMC_LIST_double(name) name##_2
#endif
typedef int32_t symc_places_float
    __attribute__((vector_size(SYMC_LANE_BYTES), aligned(4), may_alias));
typedef int64_t symc_places_double
    __attribute__((vector_size(SYMC_LANE_BYTES), aligned(8), may_alias));
#define SYMC_PLACES(type) symc_places_##type
#define SYMC_LIST(type, name) SYMC_LIST_##type(name)
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
#define SYMC_SHUFFLE(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SYMC_SHUFFLE(type, a, b, ...) __builtin_shuffle(a, b, (symc_places_##type){__VA_ARGS__})
#endif

// SYMBOL symc_shuffles_fNN
// NEEDS symc_lanes_fNN SYMC_SHUFFLES
// Complex numbers to vectors of real and of imaginary parts, and back; the transposed of a square
// of vectors; the lanes of a vector in opposite order.
enum { SYMC_LANES_fNN = SYMC_LANE_BYTES / sizeof(real) };
#define SYMC_SHUFFLE_fNN(a, b, list) SYMC_SHUFFLE(real, a, b, SYMC_LIST(real, list))

SYMC_INLINE void symc_split_lanes_fNN(const real *a, symc_lanes_fNN *re, symc_lanes_fNN *im) {
    const symc_lanes_fNN low = *(const symc_lanes_fNN *)a;
    const symc_lanes_fNN high = *(const symc_lanes_fNN *)(a + SYMC_LANES_fNN);
    *re = SYMC_SHUFFLE_fNN(low, high, SYMC_EVEN);
    *im = SYMC_SHUFFLE_fNN(low, high, SYMC_ODD);
}
SYMC_INLINE void symc_join_lanes_fNN(real *c, symc_lanes_fNN re, symc_lanes_fNN im) {
    *(symc_lanes_fNN *)c = SYMC_SHUFFLE_fNN(re, im, SYMC_LOW);
    *(symc_lanes_fNN *)(c + SYMC_LANES_fNN) = SYMC_SHUFFLE_fNN(re, im, SYMC_HIGH);
}
SYMC_INLINE symc_lanes_fNN symc_turn_lanes_fNN(symc_lanes_fNN a) {
    return SYMC_SHUFFLE_fNN(a, a, SYMC_BACK);
}
SYMC_INLINE void symc_transpose_lanes_fNN(symc_lanes_fNN *v) {
    enum { L = SYMC_LANES_fNN };
#pragma GCC unroll 4
    for (int step = 1; step < L; step *= 2) {
        symc_lanes_fNN old[L];
#pragma GCC unroll 16
        for (int k = 0; k < L; k++) old[k] = v[k];
#pragma GCC unroll 8
        for (int k = 0; k < L / 2; k++) {
            v[2 * k] = SYMC_SHUFFLE_fNN(old[k], old[k + L / 2], SYMC_LOW);
            v[2 * k + 1] = SYMC_SHUFFLE_fNN(old[k], old[k + L / 2], SYMC_HIGH);
        }
    }
}

// SYMBOL SYMC_TIMES
// A macro for the first numbers from 0 on: of a loop gcc would keep arrays in memory.
#define SYMC_TIMES_2(each) each(0) each(1)
#define SYMC_TIMES_3(each) SYMC_TIMES_2(each) each(2)
#define SYMC_TIMES_4(each) SYMC_TIMES_3(each) each(3)
#define SYMC_TIMES_5(each) SYMC_TIMES_4(each) each(4)
#define SYMC_TIMES_8(each) SYMC_TIMES_5(each) each(5) each(6) each(7)
