// Products of small matrices and vectors, whose sums stay in vector registers.

// SYMBOL symc_head_fNN
// NEEDS SYMC_LANE_BYTES
// How many columns come before the first that begins a vector's worth of memory, if they are as
// many in all rows. A vector that lies in two lines of the cache takes twice as long. Sums along
// rows do not begin there: their last bits would depend on where an array lies.
static inline int64_t symc_head_fNN(const real *a, int64_t lda, int64_t n) {
    enum { L = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t beyond = (int64_t)((size_t)a % SYMC_LANE_BYTES / sizeof(real));
    return lda % L || n < 4 * L || !beyond ? 0 : L - beyond;
}

// SYMBOL symc_small_columns_of_fNN
// NEEDS symc_part_of_lanes_fNN symc_head_fNN SYMC_OUT_OF_LINE
// y = alpha x a + beta y, several vectors of columns at a time; the last has `rest` columns. Sums of
// one vector would wait for each other, so there are four, each of every fourth row.
#if defined(SYMC_HAS_PARTS)
#if defined(__AVX512F__)
#define SYMC_ABREAST 4
#else
#define SYMC_ABREAST 2  // sixteen registers
#endif
#define SYMC_LINE(t)                                                       \
    (vectors == t + 1 ? symc_part_of_lanes_fNN(line + t * L, rest)         \
                      : *(const symc_lanes_fNN *)(line + t * L))
#define SYMC_ADD(row, sum)                                                 \
    {                                                                      \
        const real *const line = a + (row) * lda;                          \
        const real factor = x[row];                                        \
        s##sum += factor * SYMC_LINE(0);                                   \
        if (vectors > 1) t##sum += factor * SYMC_LINE(1);                  \
        if (vectors > 2) u##sum += factor * SYMC_LINE(2);                  \
        if (vectors > 3) v##sum += factor * SYMC_LINE(3);                  \
    }
#define SYMC_PUT(t, sum)                                                   \
    if (vectors > t)                                                       \
        symc_small_row_fNN(y + t * L, vectors > t + 1 ? L : rest, alpha, beta, sum);
SYMC_INLINE void symc_add_lines_fNN(const int vectors, int64_t rest, int64_t m, real alpha,
                                    const real *a, int64_t lda, const real *x, real beta, real *y) {
    enum { L = SYMC_LANE_BYTES / sizeof(real) };
    symc_lanes_fNN s0 = {0}, s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
    symc_lanes_fNN u0 = s0, u1 = s0, u2 = s0, u3 = s0, v0 = s0, v1 = s0, v2 = s0, v3 = s0;
    int64_t i = 0;
    for (; i + 4 <= m; i += 4) {
        SYMC_ADD(i, 0) SYMC_ADD(i + 1, 1) SYMC_ADD(i + 2, 2) SYMC_ADD(i + 3, 3)
    }
    if (m & 2) {
        SYMC_ADD(i, 0) SYMC_ADD(i + 1, 1)
    }
    if (m & 1) SYMC_ADD(m - 1, 2)
    SYMC_PUT(0, (s0 + s1) + (s2 + s3))
    SYMC_PUT(1, (t0 + t1) + (t2 + t3))
    SYMC_PUT(2, (u0 + u1) + (u2 + u3))
    SYMC_PUT(3, (v0 + v1) + (v2 + v3))
}
#undef SYMC_LINE
#undef SYMC_ADD
#undef SYMC_PUT
SYMC_OUT_OF_LINE
static void symc_small_columns_of_fNN(int64_t m, int64_t n, real alpha, const real *a, int64_t lda,
                                      const real *x, real beta, real *y) {
    enum { L = SYMC_LANE_BYTES / sizeof(real), MOST = SYMC_ABREAST * L };
#define SYMC_LINES(t)                                                                \
    if (n > (t - 1) * L && SYMC_ABREAST >= t) {                                      \
        const int64_t rest = n < t * L ? n - (t - 1) * L : L;                        \
        symc_add_lines_fNN(t, rest, m, alpha, a + j, lda, x, beta, y + j);           \
    }
    int64_t j = symc_head_fNN(a, lda, n);
    if (j) symc_add_lines_fNN(1, j, m, alpha, a, lda, x, beta, y);
    n -= j;
    for (; n > MOST; n -= MOST, j += MOST)
        symc_add_lines_fNN(SYMC_ABREAST, L, m, alpha, a + j, lda, x, beta, y + j);
    SYMC_LINES(4) else SYMC_LINES(3) else SYMC_LINES(2) else SYMC_LINES(1)
#undef SYMC_LINES
}
#endif

// SYMBOL symc_small_rows_of_fNN
// NEEDS symc_part_of_lanes_fNN symc_shuffles_fNN SYMC_TIMES SYMC_OUT_OF_LINE
// y = alpha a x + beta y, eight rows at a time, or as many as there are.
#if defined(SYMC_HAS_PARTS)
SYMC_INLINE void symc_sum_rows_fNN(int64_t count, int64_t n, real alpha, const real *a, int64_t lda,
                                   const real *x, real beta, real *y) {
    enum { L = SYMC_LANES_fNN };
    const int64_t last = count - 1, rest = n % L, whole = n - rest;
    const real *row = a;
#define SYMC_ROW(k)           \
    const real *row##k = row; \
    row += k < last ? lda : 0;
    SYMC_TIMES_8(SYMC_ROW)
#undef SYMC_ROW
    symc_lanes_fNN s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    for (int64_t j = 0; j < whole; j += L) {
        const symc_lanes_fNN part = *(const symc_lanes_fNN *)(x + j);
#define SYMC_ADD(k) s##k += *(const symc_lanes_fNN *)(row##k + j) * part;
        SYMC_TIMES_8(SYMC_ADD)
#undef SYMC_ADD
    }
    if (rest) {
        const symc_lanes_fNN part = symc_part_of_lanes_fNN(x + whole, rest);
#define SYMC_ADD(k) s##k += symc_part_of_lanes_fNN(row##k + whole, rest) * part;
        SYMC_TIMES_8(SYMC_ADD)
#undef SYMC_ADD
    }
    // Sums of two vectors become one of both, until each lane has a row's.
#define SYMC_FOLD(a, b) \
    (SYMC_SHUFFLE_fNN(a, b, SYMC_LOW) + SYMC_SHUFFLE_fNN(a, b, SYMC_HIGH))
#define SYMC_PUT(k, sum)                                                                           \
    if (count > k * L)                                                                             \
        symc_small_row_fNN(y + k * L, count < k * L + L ? count - k * L : L, alpha, beta, sum);
    s0 = SYMC_FOLD(s0, s4), s1 = SYMC_FOLD(s1, s5), s2 = SYMC_FOLD(s2, s6), s3 = SYMC_FOLD(s3, s7);
    s0 = SYMC_FOLD(s0, s2), s1 = SYMC_FOLD(s1, s3);
    if (L > 4) s0 = SYMC_FOLD(s0, s1);
#if SYMC_LANE_BYTES == 64
    if (L > 8) {
        const symc_places_double both = (symc_places_double)s0;
        s0 += (symc_lanes_fNN)SYMC_SHUFFLE(double, both, both, 4, 5, 6, 7, 0, 1, 2, 3);
    }
#endif
    if (L > 4) {
        SYMC_PUT(0, s0)
    } else {
        SYMC_PUT(0, SYMC_SHUFFLE_fNN(s0, s1, SYMC_LOW))
        SYMC_PUT(1, SYMC_SHUFFLE_fNN(s0, s1, SYMC_HIGH))
    }
#undef SYMC_FOLD
#undef SYMC_PUT
}
SYMC_OUT_OF_LINE
static void symc_small_rows_of_fNN(int64_t m, int64_t n, real alpha, const real *a, int64_t lda,
                                   const real *x, real beta, real *y) {
    for (; m > 0; m -= 8, a += 8 * lda, y += 8)
        symc_sum_rows_fNN(m < 8 ? m : 8, n, alpha, a, lda, x, beta, y);
}
#endif
