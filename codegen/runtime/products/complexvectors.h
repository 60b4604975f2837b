// Products of complex matrices and vectors: numbers as pairs, as they lie in memory.

// SYMBOL symc_eight_sums_fNN
// NEEDS symc_shuffles_fNN
// The sums of eight vectors: sums of two become one vector of both, until each lane has one's.
SYMC_INLINE void symc_eight_sums_fNN(symc_lanes_fNN s0, symc_lanes_fNN s1, symc_lanes_fNN s2,
                                     symc_lanes_fNN s3, symc_lanes_fNN s4, symc_lanes_fNN s5,
                                     symc_lanes_fNN s6, symc_lanes_fNN s7, real *sums) {
    enum { L = SYMC_LANES_fNN, LEFT = L > 4 ? 1 : 8 / L };
#define SYMC_FOLD(a, b) \
    (SYMC_SHUFFLE_fNN(a, b, SYMC_LOW) + SYMC_SHUFFLE_fNN(a, b, SYMC_HIGH))
    symc_lanes_fNN found[4] = {SYMC_FOLD(s0, s4), SYMC_FOLD(s1, s5), SYMC_FOLD(s2, s6),
                               SYMC_FOLD(s3, s7)};
    if (L > 2) found[0] = SYMC_FOLD(found[0], found[2]), found[1] = SYMC_FOLD(found[1], found[3]);
    if (L > 4) found[0] = SYMC_FOLD(found[0], found[1]);
#undef SYMC_FOLD
    real lanes[4 * L];
    __builtin_memcpy(lanes, found, sizeof(lanes));
    if (L == 16) {
#pragma omp simd
        for (int k = 0; k < 8; k++) lanes[k] += lanes[k + 8];
    }
#pragma omp simd
    for (int k = 0; k < 8; k++) sums[k] = lanes[k % LEFT * L + k / LEFT];
}

// SYMBOL symc_complex_rows_fNN
// NEEDS symc_eight_sums_fNN SYMC_OUT_OF_LINE
// y += a x for up to 64 rows and 512 columns. Of x two rows are made, (re, -im, ...) and
// (im, re, ...): the sums of both their products with a row of a, as it lies, are a number of y. Of
// a row's last vector, which overlaps the one before, a mask has what is new. There are as many
// columns as make a vector.
SYMC_OUT_OF_LINE
static void symc_complex_rows_fNN(int64_t rows, int64_t columns, const real *a, int64_t lda,
                                  const real *x, real *y) {
    enum { L = SYMC_LANES_fNN, MOST = 1024 };
    const int64_t n = 2 * columns, rest = n % L, whole = n - rest;
    real first[MOST], second[MOST];
    SYMC_PLACES(real) mask;
    for (int v = 0; v < L; v++) mask[v] = v >= L - rest ? -1 : 0;
#pragma omp simd
    for (int64_t j = 0; j < columns; j++) {
        first[2 * j] = x[2 * j];
        first[2 * j + 1] = -x[2 * j + 1];
        second[2 * j] = x[2 * j + 1];
        second[2 * j + 1] = x[2 * j];
    }
    for (int64_t i = 0; i < rows; i += 4) {
        const int64_t left = rows - i;
        const real *row0 = a + i * lda, *row1 = left > 1 ? row0 + lda : row0;
        const real *row2 = left > 2 ? row1 + lda : row0, *row3 = left > 3 ? row2 + lda : row0;
        symc_lanes_fNN s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
#define SYMC_ADD(k, re, im)                       \
    {                                             \
        const symc_lanes_fNN line = SYMC_LINE(k); \
        __builtin_prefetch(row##k + j + 4 * lda); \
        s##re += line * real_part;                \
        s##im += line * imaginary;                \
    }
#define SYMC_LINE(k) (*(const symc_lanes_fNN *)(row##k + j))
        for (int64_t j = 0; j < whole; j += L) {
            const symc_lanes_fNN real_part = *(const symc_lanes_fNN *)(first + j);
            const symc_lanes_fNN imaginary = *(const symc_lanes_fNN *)(second + j);
            SYMC_ADD(0, 0, 1) SYMC_ADD(1, 2, 3) SYMC_ADD(2, 4, 5) SYMC_ADD(3, 6, 7)
        }
#undef SYMC_LINE
#define SYMC_LINE(k) (symc_lanes_fNN)(*(const SYMC_PLACES(real) *)(row##k + j) & mask)
        if (rest) {
            const int64_t j = n - L;
            const SYMC_PLACES(real) re = *(const SYMC_PLACES(real) *)(first + j) & mask;
            const SYMC_PLACES(real) im = *(const SYMC_PLACES(real) *)(second + j) & mask;
            const symc_lanes_fNN real_part = (symc_lanes_fNN)re, imaginary = (symc_lanes_fNN)im;
            SYMC_ADD(0, 0, 1) SYMC_ADD(1, 2, 3) SYMC_ADD(2, 4, 5) SYMC_ADD(3, 6, 7)
        }
#undef SYMC_LINE
#undef SYMC_ADD
        real sums[8];
        symc_eight_sums_fNN(s0, s1, s2, s3, s4, s5, s6, s7, sums);
        const int64_t numbers = left < 4 ? 2 * left : 8;
        for (int64_t k = 0; k < numbers; k++) y[2 * i + k] += sums[k];
    }
}

// SYMBOL symc_complex_alike_fNN
// NEEDS symc_shuffles_fNN
// Rows of a, `lda` reals apart, that all begin equally far into a line of the cache, times numbers
// of x that are `apart` reals apart: the products by real parts are added to `re`, those by
// imaginary ones to `im`. Vectors begin where lines do: most others would lie in two lines, and
// such take twice as long to load. What is before the first and after the last is added up apart,
// in vectors of which a mask has what is new.
SYMC_INLINE void symc_complex_alike_fNN(int64_t rows, int64_t n, const real *a, int64_t lda,
                                        const real *x, int64_t apart, real *re, real *im) {
    enum { L = SYMC_LANES_fNN, MOST = 1024 };
    const int64_t begin = (int64_t)((uint64_t)a % SYMC_LANE_BYTES / sizeof(real));
    const int64_t head = begin ? L - begin : 0, whole = n - (n - head) % L, tail = n - whole;
    real sums[2][MOST + L] __attribute__((aligned(SYMC_LANE_BYTES)));
    real *const first = sums[0] + begin, *const second = sums[1] + begin;
    SYMC_PLACES(real) before, after;
    for (int v = 0; v < L; v++) before[v] = v < head ? -1 : 0, after[v] = v >= L - tail ? -1 : 0;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) first[j] = second[j] = 0;
    symc_lanes_fNN f0 = {0}, s0 = f0, f1 = f0, s1 = f0;
    int64_t i = 0;
#define SYMC_ROW(k)                                                                   \
    const real *const row##k = a + (i + k) * lda, *const at##k = x + (i + k) * apart; \
    const real re##k = at##k[0], im##k = at##k[1];
#define SYMC_LINE(k) (*(const symc_lanes_fNN *)(row##k + j))
#define SYMC_HEAD(k) (symc_lanes_fNN)(*(const SYMC_PLACES(real) *)row##k & before)
#define SYMC_TAIL(k) (symc_lanes_fNN)(*(const SYMC_PLACES(real) *)(row##k + n - L) & after)
#define SYMC_ADD(k, LINE, sum, other)       \
    {                                       \
        const symc_lanes_fNN line = LINE(k); \
        sum += re##k * line;                \
        other += im##k * line;              \
    }
#define SYMC_FOUR(LINE, sum, other)                       \
    SYMC_ADD(0, LINE, sum, other) SYMC_ADD(1, LINE, sum, other) \
    SYMC_ADD(2, LINE, sum, other) SYMC_ADD(3, LINE, sum, other)
    for (; i + 4 <= rows; i += 4) {
        SYMC_ROW(0) SYMC_ROW(1) SYMC_ROW(2) SYMC_ROW(3)
        for (int64_t j = head; j < whole; j += L) {
            symc_lanes_fNN sum = *(symc_lanes_fNN *)(first + j);
            symc_lanes_fNN other = *(symc_lanes_fNN *)(second + j);
            SYMC_FOUR(SYMC_LINE, sum, other)
            *(symc_lanes_fNN *)(first + j) = sum;
            *(symc_lanes_fNN *)(second + j) = other;
        }
        if (head) SYMC_FOUR(SYMC_HEAD, f0, s0)
        if (tail) SYMC_FOUR(SYMC_TAIL, f1, s1)
    }
    for (; i < rows; i++) {
        SYMC_ROW(0)
        for (int64_t j = head; j < whole; j += L)
            SYMC_ADD(0, SYMC_LINE, *(symc_lanes_fNN *)(first + j), *(symc_lanes_fNN *)(second + j))
        SYMC_ADD(0, SYMC_HEAD, f0, s0) SYMC_ADD(0, SYMC_TAIL, f1, s1)
    }
#undef SYMC_FOUR
#undef SYMC_ADD
#undef SYMC_TAIL
#undef SYMC_HEAD
#undef SYMC_LINE
#undef SYMC_ROW
    for (int64_t j = 0; j < head; j++) first[j] = f0[j], second[j] = s0[j];
    for (int64_t j = whole; j < n; j++) first[j] = f1[j - n + L], second[j] = s1[j - n + L];
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        re[j] += first[j];
        im[j] += second[j];
    }
}

// SYMBOL symc_complex_narrow_fNN
// Up to 256 rows of columns that make no vector, `n` reals a row, times x: the products by real
// parts are added to `re`, those by imaginary ones to `im`.
static void symc_complex_narrow_fNN(int64_t rows, int64_t n, const real *a, int64_t lda,
                                    const real *x, real *re, real *im) {
    enum { L = SYMC_LANE_BYTES / sizeof(real) };
    real first[L] = {0}, second[L] = {0};
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        const real *const row0 = a + i * lda, *const row1 = row0 + lda;
        const real *const row2 = row1 + lda, *const row3 = row2 + lda;
        const real r0 = x[2 * i], r1 = x[2 * i + 2], r2 = x[2 * i + 4], r3 = x[2 * i + 6];
        const real i0 = x[2 * i + 1], i1 = x[2 * i + 3], i2 = x[2 * i + 5], i3 = x[2 * i + 7];
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            const real p0 = row0[j], p1 = row1[j], p2 = row2[j], p3 = row3[j];
            first[j] = first[j] + r0 * p0 + r1 * p1 + r2 * p2 + r3 * p3;
            second[j] = second[j] + i0 * p0 + i1 * p1 + i2 * p2 + i3 * p3;
        }
    }
    for (; i < rows; i++) {
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            first[j] += x[2 * i] * a[i * lda + j];
            second[j] += x[2 * i + 1] * a[i * lda + j];
        }
    }
    for (int64_t j = 0; j < n; j++) re[j] += first[j], im[j] += second[j];
}

// SYMBOL symc_complex_columns_fNN
// NEEDS symc_complex_alike_fNN symc_complex_narrow_fNN SYMC_OUT_OF_LINE
// y = x a for up to 512 columns of a. The rows of a are added as they lie, once times the real
// parts of x and once times the imaginary ones; only the sums change places. Those that begin
// alike in lines of the cache are added together, where there are some of each kind. 256 rows at a
// time are added before they meet the total.
SYMC_OUT_OF_LINE
static void symc_complex_columns_fNN(int64_t rows, int64_t columns, const real *a, int64_t lda,
                                     const real *x, real *y) {
    enum { MOST = 1024, ROWS = 256, SOME = 32, L = SYMC_LANES_fNN };
    const int64_t n = 2 * columns;
    real re[MOST], im[MOST];
#pragma omp simd
    for (int64_t j = 0; j < n; j++) re[j] = im[j] = 0;
    int64_t kinds = 1;
    while (kinds * lda % L && rows >= SOME * kinds) kinds *= 2;
    for (int64_t start = 0; start < rows; start += ROWS) {
        const int64_t end = rows - start < ROWS ? rows : start + ROWS;
        if (n < L) {
            symc_complex_narrow_fNN(end - start, n, a + start * lda, lda, x + 2 * start, re, im);
            continue;
        }
        for (int64_t i = start; i < start + kinds && i < end; i++)
            symc_complex_alike_fNN((end - i + kinds - 1) / kinds, n, a + i * lda, kinds * lda,
                                   x + 2 * i, 2 * kinds, re, im);
    }
#pragma omp simd
    for (int64_t j = 0; j < n; j += 2) {
        y[j] = re[j] - im[j + 1];
        y[j + 1] = re[j + 1] + im[j];
    }
}

// SYMBOL symc_tiny_complex_gemv_fNN
// A product of a few numbers; `row` and `col` are complex ones apart.
static inline void symc_tiny_complex_gemv_fNN(int64_t length, int64_t terms, const real *a,
                                              int64_t row, int64_t col, const real *x, real *y) {
    for (int64_t i = 0; i < length; i++) {
        real re = 0, im = 0;
        for (int64_t j = 0; j < terms; j++) {
            const real *const at = a + 2 * (i * row + j * col);
            re += at[0] * x[2 * j] - at[1] * x[2 * j + 1];
            im += at[0] * x[2 * j + 1] + at[1] * x[2 * j];
        }
        y[2 * i] = re;
        y[2 * i + 1] = im;
    }
}

// SYMBOL symc_small_complex_gemv_fNN
// NEEDS symc_small_columns_of_fNN symc_small_rows_of_fNN
// One of up to 32 rows and columns, as two products of real numbers, which are over sooner than the
// other ways have begun.
#if defined(SYMC_HAS_PARTS)
SYMC_OUT_OF_LINE
static void symc_small_complex_gemv_fNN(int64_t trans, int64_t m, int64_t n, const real *a,
                                        const real *x, real *y) {
    real first[64], second[64], re[64], im[64];
    if (trans) {
        for (int64_t i = 0; i < m; i++) {
            first[i] = x[2 * i];
            second[i] = x[2 * i + 1];
        }
        symc_small_columns_of_fNN(m, 2 * n, 1, a, 2 * n, first, 0, re);
        symc_small_columns_of_fNN(m, 2 * n, 1, a, 2 * n, second, 0, im);
        for (int64_t j = 0; j < 2 * n; j += 2) {
            y[j] = re[j] - im[j + 1];
            y[j + 1] = re[j + 1] + im[j];
        }
        return;
    }
    for (int64_t j = 0; j < 2 * n; j += 2) {
        first[j] = x[j];
        first[j + 1] = -x[j + 1];
        second[j] = x[j + 1];
        second[j + 1] = x[j];
    }
    symc_small_rows_of_fNN(m, 2 * n, 1, a, 2 * n, first, 0, re);
    symc_small_rows_of_fNN(m, 2 * n, 1, a, 2 * n, second, 0, im);
    for (int64_t i = 0; i < m; i++) {
        y[2 * i] = re[i];
        y[2 * i + 1] = im[i];
    }
}
#endif

// SYMBOL symc_long_complex_gemv_fNN
// NEEDS symc_complex_rows_fNN symc_complex_columns_fNN
// One of any size, with as many columns as make a vector if it is not transposed.
SYMC_OUT_OF_LINE
static void symc_long_complex_gemv_fNN(int64_t trans, int64_t m, int64_t n, const real *a,
                                       const real *x, real *y, int64_t threads) {
    enum { HIGH = 64, WIDE = 512 };
    const int many = threads > 1 && (double)m * n > 1 << 16;
    if (trans) {
#pragma omp parallel for schedule(static) num_threads(threads) if (many && n > WIDE)
        for (int64_t j = 0; j < n; j += WIDE)
            symc_complex_columns_fNN(m, n - j < WIDE ? n - j : WIDE, a + 2 * j, 2 * n, x,
                                     y + 2 * j);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (many)
    for (int64_t i = 0; i < m; i += HIGH) {
        const int64_t rows = m - i < HIGH ? m - i : HIGH;
        for (int64_t k = 0; k < 2 * rows; k++) y[2 * i + k] = 0;
        for (int64_t j = 0; j < n;) {
            // The last two pieces share what is left: each is to have a vector.
            const int64_t left = n - j;
            const int64_t columns = left <= WIDE ? left : left < 2 * WIDE ? left / 2 : WIDE;
            symc_complex_rows_fNN(rows, columns, a + 2 * (i * n + j), 2 * n, x + 2 * j, y + 2 * i);
            j += columns;
        }
    }
}

// SYMBOL symc_complex_gemv_fNN
// NEEDS symc_tiny_complex_gemv_fNN symc_small_complex_gemv_fNN symc_long_complex_gemv_fNN
// y = a x of complex numbers, or x a where it is transposed. a has m rows and n columns either way.
static inline void symc_complex_gemv_fNN(int64_t trans, int64_t m, int64_t n, const real *a,
                                         const real *x, real *y, int64_t threads) {
    enum { L = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t side = m < n ? n : m;
    if (trans && side <= 2) {
        symc_tiny_complex_gemv_fNN(n, m, a, 1, n, x, y);
        return;
    }
    if (!trans && side <= 4) {
        symc_tiny_complex_gemv_fNN(m, n, a, n, 1, x, y);
        return;
    }
#if defined(SYMC_HAS_PARTS)
    if (side <= 32) {
        symc_small_complex_gemv_fNN(trans, m, n, a, x, y);
        return;
    }
#endif
    if (!trans && 2 * n < L) symc_tiny_complex_gemv_fNN(m, n, a, n, 1, x, y);
    else symc_long_complex_gemv_fNN(trans, m, n, a, x, y, threads);
}
