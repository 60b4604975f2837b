// Cholesky's factorisation of row-major matrices, its derivative, and inverses by it. `kind` and
// `info` are those of lapack.h; of symmetric matrices and triangles nothing is read above the
// diagonal.

// SYMBOL symc_less_square
// NEEDS symc_one_product
// The lower triangle of c[n, n] less that of x x*, for x[n, k]; what is above it is anything after.
static void symc_less_square(int64_t kind, int64_t n, int64_t k, const void *x, int64_t ldx,
                             void *c, int64_t ldc, int64_t threads) {
    const int64_t side = n < 256 ? 48 : n < 768 ? 96 : 192, down = (n + side - 1) / side;
    const int64_t count = down * (down + 1) / 2;
    const int many = threads > 1 && count > 1 && (double)n * n * k > 1e6;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t number = 0; number < count; number++) {
        int64_t row = 0, before = number;
        while (before > row) before -= ++row;
        const int64_t i = row * side, j = before * side;
        symc_one_product(kind, 0, kind < 2 ? 1 : 2, n - i < side ? n - i : side,
                     n - j < side ? n - j : side, k, -1, symc_at(kind, x, i * ldx), ldx,
                     symc_at(kind, x, j * ldx), ldx, 1, symc_at(kind, c, i * ldc + j), ldc);
    }
}

// SYMBOL symc_cholesky
// NEEDS symc_triangle symc_less_square symc_lower_part symc_blas_enter symc_threads_of_pieces
// NEEDS symc_small_cholesky symc_block_cholesky
// The lower triangles l with a = l l*, of which only the lower triangles are read: one half of the
// rows, then the other half without what they have in common.
static int64_t symc_cholesky_part(int64_t kind, int64_t n, void *l, int64_t ldl, int64_t threads) {
    typedef void potrf(const char *, const symc_int *, void *, const symc_int *, symc_int *,
                       size_t);
    const int64_t half = symc_halving(n), rest = n - half;
    if (n <= SYMC_CORNER && kind < 2) return symc_block_cholesky(kind, n, l, ldl);
    if (n <= SYMC_CORNER) {
        const symc_int size = (symc_int)n, lead = symc_leading(ldl);
        symc_int info = 0;
        ((potrf *)symc_lapack[4 * SYMC_POTRF + kind])("U", &size, l, &lead, &info, 1);
        return info;
    }
    void *const panel = symc_at(kind, l, half * ldl), *const corner = symc_at(kind, panel, half);
    const int64_t first = symc_cholesky_part(kind, half, l, ldl, threads);
    if (first) return first;
    symc_triangle(kind, 1, 1, kind < 2 ? 1 : 2, 0, half, rest, l, ldl, panel, ldl, threads);
    symc_less_square(kind, rest, half, panel, ldl, corner, ldl, threads);
    const int64_t second = symc_cholesky_part(kind, rest, corner, ldl, threads);
    return second > 0 ? second + half : second;
}
static int64_t symc_cholesky_one(int64_t kind, int64_t n, void *l, int64_t threads) {
    if (symc_is_small(kind, n)) return symc_small_cholesky(kind, n, l);
    return symc_cholesky_part(kind, n, l, n, threads);
}
static void symc_cholesky(int64_t kind, int64_t batch, int64_t n, const void *a, void *l,
                          int64_t *info, int64_t threads) {
    const int64_t each = symc_threads_of_pieces(batch, n, threads);
    const int many = batch > 1 && each < threads;
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        void *own = symc_at(kind, l, q * n * n);
        symc_lower_part(kind, n, symc_at(kind, a, q * n * n), own);
        info[q] = symc_cholesky_one(kind, n, own, each);
        symc_lower_part(kind, n, own, own);
    }
    symc_blas_enter(-1);
}

// SYMBOL SYMC_DEFINE_HALVES
// Two steps on a small square block: its lower triangle with half the diagonal; and, of a lower
// triangle, the sum with the transpose, below the diagonal or everywhere.
#define SYMC_DEFINE_HALVES(suffix, type)                                                          \
    static inline void symc_half_##suffix(int64_t n, type *x) {                                   \
        for (int64_t i = 0; i < n; i++)                                                           \
            for (int64_t j = i; j < n; j++) x[i * n + j] = i == j ? x[i * n + j] / 2 : 0;         \
    }                                                                                             \
    static inline void symc_folded_##suffix(int64_t n, const type *x, type *y, int64_t ldy) {     \
        for (int64_t i = 0; i < n; i++)                                                           \
            for (int64_t j = 0; j <= i; j++)                                                      \
                y[i * ldy + j] = x[i * n + j] + (i == j ? 0 : x[j * n + i]);                      \
    }                                                                                             \
    static inline void symc_mirrored_##suffix(int64_t n, const type *x, int64_t ldx, type *y) {   \
        for (int64_t i = 0; i < n; i++)                                                           \
            for (int64_t j = 0; j <= i; j++) {                                                    \
                y[i * n + j] = x[i * ldx + j];                                                    \
                y[j * n + i] = (i == j ? 2 : 1) * x[i * ldx + j];                                 \
            }                                                                                     \
    }

// SYMBOL symc_halves
// NEEDS SYMC_DEFINE_HALVES
SYMC_DEFINE_HALVES(f32, float)
SYMC_DEFINE_HALVES(f64, double)

// SYMBOL symc_cholesky_pullback
// NEEDS symc_triangle symc_multiply symc_lower_part symc_halves symc_blas_enter
// NEEDS symc_threads_of_pieces
// From the gradient with respect to l that with respect to the lower triangle of a, in place: the
// factorisation's blocks in reverse (Murray 2016, "Differentiation of the Cholesky decomposition").
// At each step d is the block on the diagonal, r the row to the left of it, c below it, b below r.
static void symc_cholesky_reverse(int64_t kind, int64_t n, const void *l, void *bar,
                                  int64_t threads) {
    enum { BLOCK = 64 };
    double first[BLOCK * BLOCK], second[BLOCK * BLOCK];  // in the kind of the matrices
    for (int64_t end = n; end > 0;) {
        const int64_t j = (end - 1) / BLOCK * BLOCK, w = end - j, rest = n - end;
        const void *d = symc_at(kind, l, j * n + j), *r = symc_at(kind, l, j * n);
        const void *b = symc_at(kind, l, end * n), *c = symc_at(kind, l, end * n + j);
        void *dbar = symc_at(kind, bar, j * n + j), *rbar = symc_at(kind, bar, j * n);
        void *bbar = symc_at(kind, bar, end * n), *cbar = symc_at(kind, bar, end * n + j);
        symc_triangle(kind, 1, 1, 0, 0, w, rest, d, n, cbar, n, threads);
        symc_multiply(kind, 0, 0, rest, j, w, -1, cbar, n, r, n, 1, bbar, n, threads);
        symc_multiply(kind, 1, 0, w, w, rest, -1, cbar, n, c, n, 1, dbar, n, threads);
        for (int64_t i = 0; i < w; i++) {  // the block alone, with zeros above the diagonal of d
            const size_t row = (size_t)(w * symc_bytes(kind));
            __builtin_memcpy(symc_at(kind, first, i * w), symc_at(kind, dbar, i * n), row);
            __builtin_memset(symc_at(kind, first, i * w + i + 1), 0,
                             (size_t)((w - i - 1) * symc_bytes(kind)));
        }
        symc_multiply(kind, 1, 0, w, w, w, 1, d, n, first, w, 0, second, w, 1);
        if (kind & 1) symc_half_f64(w, second);
        else symc_half_f32(w, (float *)second);
        symc_triangle(kind, 0, 1, 1, 0, w, w, d, n, second, w, 1);
        symc_triangle(kind, 1, 1, 0, 0, w, w, d, n, second, w, 1);
        if (kind & 1) {
            symc_folded_f64(w, second, (double *)dbar, n);
            symc_mirrored_f64(w, (double *)dbar, n, first);
        } else {
            symc_folded_f32(w, (float *)second, (float *)dbar, n);
            symc_mirrored_f32(w, (float *)dbar, n, (float *)first);
        }
        symc_multiply(kind, 1, 0, w, j, rest, -1, cbar, n, b, n, 1, rbar, n, threads);
        symc_multiply(kind, 0, 0, w, j, w, -1, first, w, r, n, 1, rbar, n, threads);
        end = j;
    }
}
static void symc_cholesky_pullback(int64_t kind, int64_t batch, int64_t n, const void *l,
                                   const void *bar, void *result, int64_t threads) {
    const int64_t each = symc_threads_of_pieces(batch, n, threads);
    const int many = batch > 1 && each < threads;
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        void *own = symc_at(kind, result, q * n * n);
        symc_lower_part(kind, n, symc_at(kind, bar, q * n * n), own);
        symc_cholesky_reverse(kind, n, symc_at(kind, l, q * n * n), own, each);
        symc_lower_part(kind, n, own, own);
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_triangle_inverse
// NEEDS symc_invert_triangle symc_lower_part symc_blas_enter symc_threads_of_pieces
// The inverses of lower triangles.
static void symc_triangle_inverse(int64_t kind, int64_t batch, int64_t n, const void *a, void *x,
                                  int64_t threads) {
    const int64_t each = symc_threads_of_pieces(batch, n, threads);
    const int many = batch > 1 && each < threads;
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        const void *const own = symc_at(kind, a, q * n * n);
        void *const out = symc_at(kind, x, q * n * n);
        if (kind < 2) {
            symc_lower_part(kind, n, own, out);
            symc_invert_triangle(kind, n, out, n, each);
            continue;
        }
        __builtin_memset(out, 0, (size_t)(n * n * symc_bytes(kind)));
        for (int64_t i = 0; i < n; i++)
            __builtin_memcpy(symc_at(kind, out, i * (n + 1)), symc_number(kind, 1),
                             (size_t)symc_bytes(kind));
        symc_triangle(kind, 0, 1, 0, 0, n, n, own, n, out, n, each);
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_triangle_square
// NEEDS symc_one_product symc_at symc_blas_enter symc_threads_of_pieces
// l* l of real lower triangles, with zeros above their diagonals: symmetric matrices, of which half
// is computed. A tile of rows i to j needs what is below both.
static void symc_triangle_square_one(int64_t kind, int64_t n, const void *l, void *x,
                                     int64_t threads) {
    const int64_t side = n < 256 ? 48 : n < 768 ? 96 : 192, down = (n + side - 1) / side;
    const int64_t count = down * (down + 1) / 2;
    const int many = threads > 1 && count > 1;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t number = 0; number < count; number++) {
        int64_t row = 0, before = number;
        while (before > row) before -= ++row;
        const int64_t i = row * side, j = before * side;
        const int64_t rows = n - i < side ? n - i : side, columns = n - j < side ? n - j : side;
        symc_one_product(kind, 1, 0, rows, columns, n - i, 1, symc_at(kind, l, i * n + i), n,
                         symc_at(kind, l, i * n + j), n, 0, symc_at(kind, x, i * n + j), n);
        for (int64_t r = i; r < i + rows; r++)  // and what is mirrored, while it is in the cache
            for (int64_t c = j; c < j + columns && c < r; c++)
                __builtin_memcpy(symc_at(kind, x, c * n + r), symc_at(kind, x, r * n + c),
                                 (size_t)symc_bytes(kind));
    }
}
static void symc_triangle_square(int64_t kind, int64_t batch, int64_t n, const void *l, void *x,
                                 int64_t threads) {
    const int64_t each = symc_threads_of_pieces(batch, n, threads);
    const int many = batch > 1 && each < threads;
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++)
        symc_triangle_square_one(kind, n, symc_at(kind, l, q * n * n), symc_at(kind, x, q * n * n),
                                 each);
    symc_blas_enter(-1);
}
