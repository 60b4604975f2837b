// Products of a matrix and a vector.

// SYMBOL symc_eight_rows_fNN
// NEEDS symc_shuffles_fNN SYMC_TIMES
// The sums of eight rows of a matrix, as many of them as there are: in chunks of 1024 columns,
// which share their part of x and meet in double precision. What a row has beyond whole vectors is
// in a last one that overlaps the one before; `mask` has the bits of the elements that are new in
// it. Rows shorter than a vector are in the first of its lanes, where `padded` says that what is
// after them can be read, too.
#define SYMC_ROW_VECTOR(type, k) (*(const type *)(row##k + j))
SYMC_INLINE void symc_eight_rows_fNN(int64_t count, int64_t n, const real *a, int64_t lda,
                                     const real *x, SYMC_PLACES(real) mask, int padded,
                                     double *totals) {
    enum { L = SYMC_LANES_fNN, LEFT = L > 4 ? 1 : 8 / L };
    const int64_t last = count - 1;
    const real *row = a;
#define SYMC_ROW(k)          \
    const real *row##k = row; \
    row += k < last ? lda : 0;
    SYMC_TIMES_8(SYMC_ROW)
#undef SYMC_ROW
#pragma omp simd
    for (int k = 0; k < 8; k++) totals[k] = 0;
    for (int64_t start = 0; start < n; start += 1024) {
        const int64_t end = n - start < 1024 ? n : start + 1024;
        const int64_t whole = start + (end - start) / L * L;
        symc_lanes_fNN s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
        for (int64_t j = start; j < whole; j += L) {
            const symc_lanes_fNN part = *(const symc_lanes_fNN *)(x + j);
#define SYMC_ADD(k) s##k += SYMC_ROW_VECTOR(symc_lanes_fNN, k) * part;
            SYMC_TIMES_8(SYMC_ADD)
#undef SYMC_ADD
        }
        if (whole < end && (end >= L || padded)) {
            const int64_t j = end < L ? 0 : end - L;
            const SYMC_PLACES(real) rest = *(const SYMC_PLACES(real) *)(x + j) & mask;
            const symc_lanes_fNN part = (symc_lanes_fNN)rest;
#define SYMC_ADD(k) s##k += (symc_lanes_fNN)(SYMC_ROW_VECTOR(SYMC_PLACES(real), k) & mask) * part;
            SYMC_TIMES_8(SYMC_ADD)
#undef SYMC_ADD
        }
        // Sums of two vectors become one of both, three times or until each lane has a row's.
#define SYMC_FOLD(a, b) \
    (SYMC_SHUFFLE_fNN(a, b, SYMC_LOW) + SYMC_SHUFFLE_fNN(a, b, SYMC_HIGH))
        symc_lanes_fNN found[4] = {SYMC_FOLD(s0, s4), SYMC_FOLD(s1, s5), SYMC_FOLD(s2, s6),
                                   SYMC_FOLD(s3, s7)};
        if (L > 2) {
            found[0] = SYMC_FOLD(found[0], found[2]);
            found[1] = SYMC_FOLD(found[1], found[3]);
        }
        if (L > 4) found[0] = SYMC_FOLD(found[0], found[1]);
#undef SYMC_FOLD
        real sums[4 * L];
        __builtin_memcpy(sums, found, sizeof(sums));
        if (L == 16) {
#pragma omp simd
            for (int k = 0; k < 8; k++) sums[k] += sums[k + 8];
        }
        for (int64_t j = end < L && !padded ? whole : end; j < end; j++) {
#define SYMC_ADD(k) sums[k % LEFT * L + k / LEFT] += row##k[j] * x[j];
            SYMC_TIMES_8(SYMC_ADD)
#undef SYMC_ADD
        }
#pragma omp simd
        for (int k = 0; k < 8; k++) totals[k] += sums[k % LEFT * L + k / LEFT];
    }
}

// SYMBOL symc_tiny_gemv_fNN
// A product of a few numbers, which is over before vectors have begun.
static inline void symc_tiny_gemv_fNN(int64_t length, int64_t terms, real alpha, const real *a,
                                      int64_t row, int64_t col, const real *x, real beta, real *y) {
    for (int64_t i = 0; i < length; i++) {
        real sum = 0;
        for (int64_t j = 0; j < terms; j++) sum += a[i * row + j * col] * x[j];
        if (alpha != 1) sum *= alpha;
        y[i] = beta == 0 ? sum : sum + beta * y[i];
    }
}

// SYMBOL symc_long_gemv_fNN
// NEEDS symc_eight_rows_fNN symc_head_fNN SYMC_OUT_OF_LINE
// One of any size. Transposed, each block of columns adds 256 rows at a time before they meet the
// total.
SYMC_OUT_OF_LINE
static void symc_long_gemv_fNN(int64_t trans, int64_t m, int64_t n, real alpha, const real *a,
                               int64_t lda, const real *x, real beta, real *y, int64_t threads) {
    enum { COLUMNS = 512, ROWS = 256 };
    const int64_t length = trans ? n : m;
    const int many = threads > 1 && (double)m * n > 1 << 18;
    if (length <= 0) return;
    if (beta == 0) {
        __builtin_memset(y, 0, (size_t)length * sizeof(real));
    } else {
#pragma omp simd
        for (int64_t i = 0; i < length; i++) y[i] *= beta;
    }
    if (!trans) {
        enum { L = SYMC_LANES_fNN };
        SYMC_PLACES(real) mask;
        real short_x[L] = {0};
        for (int v = 0; v < L; v++) mask[v] = (n < L ? v < n : v >= L - n % L) ? -1 : 0;
        if (n < L) {
            for (int64_t j = 0; j < n; j++) short_x[j] = x[j];
            x = short_x;
        }
#pragma omp parallel for schedule(static) num_threads(threads) if (many)
        for (int64_t i = 0; i < m; i += 8) {
            double totals[8];
            const int64_t count = m - i < 8 ? m - i : 8;
            const int padded = n < L && i + 8 < m && (m - i - 8) * lda >= L;
            symc_eight_rows_fNN(count, n, a + i * lda, lda, x, mask, padded, totals);
            if (count == 8) {
#pragma omp simd
                for (int k = 0; k < 8; k++) y[i + k] += alpha * (real)totals[k];
                continue;
            }
            for (int64_t k = 0; k < count; k++) y[i + k] += alpha * (real)totals[k];
        }
        return;
    }
    const int64_t head = symc_head_fNN(a, lda, n);
#pragma omp parallel for schedule(static) num_threads(threads) if (many && n > COLUMNS)
    for (int64_t block = head ? -1 : 0; block < (n - head + COLUMNS - 1) / COLUMNS; block++) {
        const int64_t first = block < 0 ? 0 : head + block * COLUMNS;
        const int64_t left = block < 0 ? head : n - first, width = left < COLUMNS ? left : COLUMNS;
        real sums[COLUMNS];
        for (int64_t start = 0; start < m; start += ROWS) {
            const int64_t end = m - start < ROWS ? m : start + ROWS;
            for (int64_t j = 0; j < width; j++) sums[j] = 0;
            int64_t i = start;
            for (; i + 4 <= end; i += 4) {
                const real *row = a + i * lda + first;
                const real x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
#pragma omp simd
                for (int64_t j = 0; j < width; j++)
                    sums[j] += (x0 * row[j] + x1 * row[j + lda]) +
                               (x2 * row[j + 2 * lda] + x3 * row[j + 3 * lda]);
            }
            for (; i < end; i++)
                for (int64_t j = 0; j < width; j++) sums[j] += x[i] * a[i * lda + first + j];
            for (int64_t j = 0; j < width; j++) y[first + j] += alpha * sums[j];
        }
    }
}

// SYMBOL symc_gemv_fNN
// NEEDS symc_tiny_gemv_fNN symc_small_columns_of_fNN symc_small_rows_of_fNN symc_long_gemv_fNN
// y = alpha a x + beta y, or with the transpose of a. a has m rows and n columns either way. What is
// small begins with nothing else: in a step of a loop all of it takes some 10 ns. At the end of a
// page that is the last in memory its masks take 300 ns; but last bits that depend on where arrays
// lie would be worse.
static inline void symc_gemv_fNN(int64_t trans, int64_t m, int64_t n, real alpha, const real *a,
                                 int64_t lda, const real *x, real beta, real *y, int64_t threads) {
#if defined(SYMC_HAS_PARTS)
    enum { SMALL = 2 * SYMC_LANE_BYTES, L = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t few = trans ? 2 : 4, length = trans ? n : m;
    const int is_tiny = m <= few && n <= few;
#else
    const int is_tiny = m <= 16 && n <= 16 && m * n <= 48;
#endif
    if (is_tiny && trans) {
        symc_tiny_gemv_fNN(n, m, alpha, a, 1, lda, x, beta, y);
        return;
    }
    if (is_tiny) {
        symc_tiny_gemv_fNN(m, n, alpha, a, lda, 1, x, beta, y);
        return;
    }
#if defined(SYMC_HAS_PARTS)
    if (m <= SMALL && n <= SMALL) {
        if (trans) symc_small_columns_of_fNN(m, n, alpha, a, lda, x, beta, y);
        else symc_small_rows_of_fNN(m, n, alpha, a, lda, x, beta, y);
        return;
    }
#endif
    symc_long_gemv_fNN(trans, m, n, alpha, a, lda, x, beta, y, threads);
}
