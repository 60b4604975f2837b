// LU factors of row-major matrices, and systems, inverses and determinants by them. `kind` and
// `info` are those of lapack.h.

// SYMBOL SYMC_DEFINE_PIVOTING
// For float32 and float64: exchanges of columns, and the factors of a few rows of n numbers.
#define SYMC_DEFINE_PIVOTING(suffix, type, bits)                                                  \
    static void symc_exchange_columns_##suffix(int64_t rows, int64_t count, type *a, int64_t lda, \
                                               const int64_t *pivots) {                           \
        for (int64_t i = 0; i < rows; i++) {                                                      \
            type *const row = a + i * lda;                                                        \
            for (int64_t k = 0; k < count; k++) {                                                 \
                const type kept = row[k];                                                         \
                row[k] = row[pivots[k]];                                                          \
                row[pivots[k]] = kept;                                                            \
            }                                                                                     \
        }                                                                                         \
    }                                                                                             \
    /* The place of the largest number: the bits of absolute values are in their order. */        \
    static int64_t symc_largest_##suffix(int64_t n, const type *row) {                            \
        const bits *const word = (const bits *)row, mask = (bits)~((bits)1 << (sizeof(bits) * 8 - 1)); \
        bits most = 0;                                                                            \
        _Pragma("omp simd reduction(max : most)") for (int64_t j = 0; j < n; j++) {               \
            const bits size = word[j] & mask;                                                     \
            most = size > most ? size : most;                                                     \
        }                                                                                         \
        int64_t place = 0;                                                                        \
        while ((word[place] & mask) != most) place++;                                             \
        return place;                                                                             \
    }                                                                                             \
    static int64_t symc_lu_rows_##suffix(int64_t rows, int64_t n, type *a, int64_t lda,           \
                                         int64_t *pivots) {                                       \
        int64_t info = 0;                                                                         \
        for (int64_t k = 0; k < rows; k++) {                                                      \
            type *const row = a + k * lda;                                                        \
            const int64_t best = k + symc_largest_##suffix(n - k, row + k);                       \
            pivots[k] = best;                                                                     \
            if (row[best] == 0 && !info) info = k + 1;                                            \
            if (row[best] == 0) continue;                                                         \
            for (int64_t i = 0; i < rows && best != k; i++) {                                     \
                const type kept = a[i * lda + k];                                                 \
                a[i * lda + k] = a[i * lda + best];                                               \
                a[i * lda + best] = kept;                                                         \
            }                                                                                     \
            const type pivot = row[k];                                                            \
            _Pragma("omp simd") for (int64_t j = k + 1; j < n; j++) row[j] /= pivot;              \
            for (int64_t i = k + 1; i < rows; i++) {                                              \
                type *const other = a + i * lda;                                                  \
                const type factor = other[k];                                                     \
                _Pragma("omp simd") for (int64_t j = k + 1; j < n; j++) other[j] -= factor * row[j]; \
            }                                                                                     \
        }                                                                                         \
        return info;                                                                              \
    }

// SYMBOL symc_pivoting
// NEEDS SYMC_DEFINE_PIVOTING
SYMC_DEFINE_PIVOTING(f32, float, int32_t)
SYMC_DEFINE_PIVOTING(f64, double, int64_t)

// SYMBOL symc_exchange_columns
// NEEDS symc_at symc_pivoting
// Exchanges the first `count` columns of some rows with those that `pivots` names, in this order.
static void symc_exchange_columns(int64_t kind, int64_t rows, int64_t count, void *a, int64_t lda,
                                  const int64_t *pivots, int64_t threads) {
    const int64_t pieces = (rows + 63) / 64;
    const int many = threads > 1 && pieces > 1 && (double)rows * count > 5e4;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t piece = 0; piece < pieces; piece++) {
        const int64_t start = piece * 64, most = rows - start < 64 ? rows - start : 64;
        void *const own = symc_at(kind, a, start * lda);
        if (kind) symc_exchange_columns_f64(most, count, own, lda, pivots);
        else symc_exchange_columns_f32(most, count, own, lda, pivots);
    }
}

// SYMBOL symc_lu_part
// NEEDS symc_triangle symc_multiply symc_halving symc_exchange_columns
// The factors of some rows of n real numbers, in place: those of one half of the rows first, then of
// what these leave of the others (Toledo 1997, "Locality of reference in LU decomposition with
// partial pivoting"), so that nearly all work is in products.
static int64_t symc_lu_part(int64_t kind, int64_t rows, int64_t n, void *a, int64_t lda,
                            int64_t *pivots, int64_t threads) {
    if (rows <= 16)
        return kind ? symc_lu_rows_f64(rows, n, a, lda, pivots)
                    : symc_lu_rows_f32(rows, n, a, lda, pivots);
    const int64_t half = symc_halving(rows), rest = rows - half;
    void *const below = symc_at(kind, a, half * lda), *const corner = symc_at(kind, below, half);
    const int64_t first = symc_lu_part(kind, half, n, a, lda, pivots, threads);
    symc_exchange_columns(kind, rest, half, below, lda, pivots, threads);
    symc_triangle(kind, 1, 0, 0, 1, half, rest, a, lda, below, lda, threads);
    symc_multiply(kind, 0, 0, rest, n - half, half, -1, below, lda, symc_at(kind, a, half), lda, 1,
                  corner, lda, threads);
    const int64_t second = symc_lu_part(kind, rest, n - half, corner, lda, pivots + half, threads);
    symc_exchange_columns(kind, half, rest, symc_at(kind, a, half), lda, pivots + half, threads);
    for (int64_t k = half; k < rows; k++) pivots[k] += half;
    return first ? first : second ? second + half : 0;
}

// SYMBOL symc_complex_lu
// NEEDS symc_lapack symc_leading
// The factors of one matrix of any kind by LAPACK.
static int64_t symc_complex_lu(int64_t kind, int64_t n, void *lu, int64_t *pivots) {
    typedef void getrf(const symc_int *, const symc_int *, void *, const symc_int *, symc_int *,
                       symc_int *);
    const symc_int size = (symc_int)n, lead = symc_leading(n);
    symc_int status = 0, *found = (symc_int *)pivots;
    ((getrf *)symc_lapack[4 * SYMC_GETRF + kind])(&size, &size, lu, &lead, found, &status);
    for (int64_t i = n - 1; i >= 0; i--) {  // in place: these integers may be narrower
        symc_int column;
        __builtin_memcpy(&column, found + i, sizeof(column));
        pivots[i] = (int64_t)column - 1;
    }
    return status;
}

// SYMBOL symc_lu
// NEEDS symc_lu_part symc_complex_lu symc_blas_enter symc_threads_of_pieces symc_small_lu
// a = l u p with u's diagonal 1: the lower and the strictly upper triangle of `lu`, and the column
// that each column was exchanged with, in this order.
static void symc_lu(int64_t kind, int64_t batch, int64_t n, const void *a, void *lu,
                    int64_t *pivots, int64_t *info, int64_t threads) {
    const int64_t each = symc_threads_of_pieces(batch, n, threads);
    const int many = symc_threads_for(batch, (double)n * n * n, threads) < threads;
    if (batch <= 0) return;
    __builtin_memcpy(lu, a, (size_t)(batch * n * n * symc_bytes(kind)));
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        int64_t *const own = pivots + q * n;
        void *const matrix = symc_at(kind, lu, q * n * n);
        if (symc_is_small(kind, n)) info[q] = symc_small_lu(kind, n, matrix, own);
        else if (kind < 2) info[q] = symc_lu_part(kind, n, n, matrix, n, own, each);
        else info[q] = symc_complex_lu(kind, n, matrix, own);
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_exchange_rows
// NEEDS symc_at
// Applies the exchanges of `symc_lu` to the rows of x[n, m], in order or backwards.
static inline void symc_exchange_rows(int64_t kind, int64_t n, int64_t m, const int64_t *pivots,
                                      int backwards, void *x) {
    const int64_t bytes = m * symc_bytes(kind);
    char kept[1024];
    for (int64_t step = 0; step < n; step++) {
        const int64_t i = backwards ? n - 1 - step : step;
        char *one = symc_at(kind, x, i * m), *other = symc_at(kind, x, pivots[i] * m);
        if (one == other) continue;
        for (int64_t start = 0; start < bytes; start += (int64_t)sizeof(kept)) {
            const int64_t left = bytes - start;
            const size_t count = left < (int64_t)sizeof(kept) ? (size_t)left : sizeof(kept);
            __builtin_memcpy(kept, one + start, count);
            __builtin_memcpy(one + start, other + start, count);
            __builtin_memcpy(other + start, kept, count);
        }
    }
}

// SYMBOL symc_exchanged
// NEEDS symc_exchange_rows
// The matrices b[n, m] with their rows exchanged backwards: p^-1 b for a = l u p.
static void symc_exchanged(int64_t kind, int64_t batch, int64_t n, int64_t m,
                           const int64_t *pivots, const void *b, void *x, int64_t threads) {
    (void)threads;
    if (batch <= 0 || n <= 0 || m <= 0) return;
    __builtin_memcpy(x, b, (size_t)(batch * n * m * symc_bytes(kind)));
    for (int64_t q = 0; q < batch; q++)
        symc_exchange_rows(kind, n, m, pivots + q * n, 1, symc_at(kind, x, q * n * m));
}

// SYMBOL symc_lu_solve
// NEEDS symc_triangle symc_exchange_rows symc_blas_enter symc_threads_for
// x = a^-1 b, or with the transpose of a, for each matrix of a batch, by the factors of `symc_lu`;
// `step` is 1, or 0 where all matrices are the same.
static void symc_lu_solve(int64_t kind, int64_t batch, int64_t trans, int64_t n, int64_t m,
                          const void *lu, const int64_t *pivots, int64_t step, const void *b,
                          void *x, int64_t threads) {
    const int64_t each = symc_threads_for(batch, (double)n * n * m, threads);
    const int many = each < threads;
    if (batch <= 0 || n <= 0 || m <= 0) return;
    __builtin_memcpy(x, b, (size_t)(batch * n * m * symc_bytes(kind)));
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        const void *own = symc_at(kind, lu, q * step * n * n);
        const int64_t *exchanges = pivots + q * step * n;
        void *out = symc_at(kind, x, q * n * m);
        if (trans) symc_exchange_rows(kind, n, m, exchanges, 0, out);
        symc_triangle(kind, 0, !trans, (int)trans, (int)trans, n, m, own, n, out, m, each);
        symc_triangle(kind, 0, (int)trans, (int)trans, !trans, n, m, own, n, out, m, each);
        if (!trans) symc_exchange_rows(kind, n, m, exchanges, 1, out);
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_complex_inverse
// NEEDS symc_lapack symc_at symc_leading malloc free
// The inverse of one matrix of any kind by LAPACK, in place of its factors; NaN where there is no
// memory for the work.
static void symc_complex_inverse(int64_t kind, int64_t n, const int64_t *pivots, void *x) {
    typedef void getri(const symc_int *, void *, const symc_int *, const symc_int *, void *,
                       const symc_int *, symc_int *);
    const symc_int size = (symc_int)n, lead = symc_leading(n), room = (symc_int)(n * 64 + 1);
    char *work = malloc((size_t)room * symc_bytes(kind) + (size_t)(n + 1) * sizeof(symc_int));
    symc_int status, *rows = (symc_int *)(work + room * symc_bytes(kind));
    if (work) {
        for (int64_t i = 0; i < n; i++) rows[i] = (symc_int)(pivots[i] + 1);
        ((getri *)symc_lapack[4 * SYMC_GETRI + kind])(&size, x, &lead, rows, work, &room, &status);
    } else {
        __builtin_memset(x, 0xff, (size_t)(n * n * symc_bytes(kind)));
    }
    free(work);
}

// SYMBOL symc_lu_inverse
// NEEDS symc_triangle symc_invert_triangle symc_lower_part symc_exchange_rows symc_complex_inverse
// NEEDS symc_blas_enter symc_threads_for
// The inverses from the factors of `symc_lu`: that of l, solved for with u, rows in a's order.
static void symc_lu_inverse(int64_t kind, int64_t batch, int64_t n, const void *lu,
                            const int64_t *pivots, void *x, int64_t threads) {
    const int64_t each = symc_threads_for(batch, (double)n * n * n, threads);
    const int many = each < threads;
    if (batch <= 0) return;
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        const void *const own = symc_at(kind, lu, q * n * n);
        void *const out = symc_at(kind, x, q * n * n);
        if (kind < 2) {
            symc_lower_part(kind, n, own, out);
            symc_invert_triangle(kind, n, out, n, each);
            symc_triangle(kind, 0, 0, 0, 1, n, n, own, n, out, n, each);
            symc_exchange_rows(kind, n, n, pivots + q * n, 1, out);
        } else {
            __builtin_memcpy(out, own, (size_t)(n * n * symc_bytes(kind)));
            symc_complex_inverse(kind, n, pivots + q * n, out);
        }
    }
    symc_blas_enter(-1);
}
