// Factorisations of row-major matrices by LAPACK, and solvers made of them.
//
// `kind` numbers the element type: float32, float64, complex64, complex128. LAPACK takes all it is
// given by address, so one text serves all kinds. It reads memory by columns: a matrix
// here is its transpose there, and a lower triangle an upper one. Wherever that suffices nothing is
// copied to turn it around.
//
// As in blas.h nothing depends on the number of threads: LAPACK runs on one, and work is shared out
// by matrices of a batch, or in pieces of fixed size. `info` has 0 for each matrix that could be
// factorised, LAPACK's number (counted from 1) of the offending minor or pivot for others, and -1
// where there was no memory for the work.

// SYMBOL symc_int
// The integers of the BLAS that a program is compiled for.
#ifdef SYMC_BLAS64
typedef int64_t symc_int;
#else
typedef int symc_int;
#endif

// SYMBOL symc_lapack
// NEEDS symc_imports symc_int
// The LAPACK of this process, filled in by whoever loads the program (targets/lapack.py has the
// same list): four functions of each name, one for each kind.
enum {
    SYMC_GEMM, SYMC_TRSM, SYMC_POTRF, SYMC_GETRF, SYMC_GETRI, SYMC_GELQF, SYMC_ORGLQ, SYMC_SYEVD,
    SYMC_GESDD, SYMC_GEEV, SYMC_GEES, SYMC_LAPACK_NAMES
};
void *symc_lapack[4 * SYMC_LAPACK_NAMES];

// SYMBOL symc_at
// NEEDS symc_int
// The address of an element. A matrix that is only read is given as a constant, as BLAS reads it.
static inline int64_t symc_bytes(int64_t kind) {
    return (int64_t)4 << (kind & 1) << (kind >> 1);
}
static inline void *symc_at(int64_t kind, const void *array, int64_t index) {
    return (char *)array + index * symc_bytes(kind);
}

// SYMBOL symc_leading
// NEEDS symc_int
// A leading dimension: LAPACK wants at least 1.
static inline symc_int symc_leading(int64_t length) {
    return (symc_int)(length > 1 ? length : 1);
}

// SYMBOL symc_number
// NEEDS symc_int
// The address of 1, 0 or -1 in memory as every kind has it.
static inline const void *symc_number(int64_t kind, int value) {
    static const float narrow[3][2] = {{-1, 0}, {0, 0}, {1, 0}};
    static const double wide[3][2] = {{-1, 0}, {0, 0}, {1, 0}};
    return kind & 1 ? (const void *)wide[value + 1] : (const void *)narrow[value + 1];
}

// SYMBOL symc_threads_for
// NEEDS symc_blas_enter
// How many threads may work on each of `batch` matrices, if on several the batch is worked on by
// one each. `work` is the number of multiplications for one matrix.
static inline int64_t symc_threads_for(int64_t batch, double work, int64_t threads) {
    return threads > 1 && batch > 1 && (double)batch * work > 1e5 ? 1 : threads;
}

// SYMBOL symc_threads_of_pieces
// NEEDS symc_threads_for
// The same for work that is done in many short pieces, one after the other: below some 400 rows
// threads would wait for each other longer than they work.
static inline int64_t symc_threads_of_pieces(int64_t batch, int64_t n, int64_t threads) {
    return n < 384 ? 1 : symc_threads_for(batch, (double)n * n * n, threads);
}

// SYMBOL symc_operation
// The form in which a matrix is used: 0 nothing, 1 the transpose, 2 the adjoint.
static inline const char *symc_operation(int trans) {
    return "N\0T\0C" + 2 * trans;
}

// SYMBOL symc_multiply
// NEEDS symc_lapack symc_at symc_leading symc_number symc_operation
// c[m, n] = sign * a[m, k] b[k, n] + beta * c, row-major with the given distances between rows, in
// pieces of c.
static void symc_multiply(int64_t kind, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
                          int sign, const void *a, int64_t lda, const void *b, int64_t ldb,
                          int beta, void *c, int64_t ldc, int64_t threads) {
    typedef void gemm(const char *, const char *, const symc_int *, const symc_int *,
                      const symc_int *, const void *, const void *, const symc_int *, const void *,
                      const symc_int *, const void *, void *, const symc_int *, size_t, size_t);
    gemm *const call = (gemm *)symc_lapack[4 * SYMC_GEMM + kind];
    const symc_int la = symc_leading(lda), lb = symc_leading(ldb), lc = symc_leading(ldc);
    const symc_int depth = (symc_int)k;
    const int64_t down = (m + 191) / 192, across = (n + 191) / 192;
    const int many = threads > 1 && down * across > 1;
    if (m <= 0 || n <= 0) return;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t number = 0; number < down * across; number++) {
        const int64_t i = number / across * 192, j = number % across * 192;
        const symc_int rows = (symc_int)(m - i < 192 ? m - i : 192);
        const symc_int columns = (symc_int)(n - j < 192 ? n - j : 192);
        call(symc_operation(trans_b), symc_operation(trans_a), &columns, &rows, &depth,
             symc_number(kind, sign), symc_at(kind, b, trans_b ? j * ldb : j), &lb,
             symc_at(kind, a, trans_a ? i : i * lda), &la, symc_number(kind, beta),
             symc_at(kind, c, i * ldc + j), &lc, 1, 1);
    }
}

// SYMBOL symc_matmul
// NEEDS symc_multiply symc_blas_enter symc_threads_for
// c[m, n] = a[m, k] b[k, n] for each matrix of a batch, either of them transposed first.
static void symc_matmul(int64_t kind, int64_t batch, int64_t trans_a, int64_t trans_b, int64_t m,
                        int64_t n, int64_t k, const void *a, const void *b, void *c,
                        int64_t threads) {
    const int64_t each = symc_threads_for(batch, (double)m * n * k, threads);
    const int many = each < threads;
    if (batch <= 0 || m <= 0 || n <= 0) return;
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++)
        symc_multiply(kind, (int)trans_a, (int)trans_b, m, n, k, 1, symc_at(kind, a, q * m * k),
                      trans_a ? m : k, symc_at(kind, b, q * k * n), trans_b ? k : n, 0,
                      symc_at(kind, c, q * m * n), n, each);
    symc_blas_enter(-1);
}

// SYMBOL symc_triangle
// NEEDS symc_lapack symc_at symc_leading symc_number symc_operation symc_small_triangle
// Solves op(a) x = x in place, for the n by n triangle `a` and x[n, m], in pieces of columns; or
// with `right` x op(a) = x for x[m, n], in pieces of rows.
static void symc_triangle(int64_t kind, int right, int lower, int trans, int unit, int64_t n,
                          int64_t m, const void *a, int64_t lda, void *x, int64_t ldx,
                          int64_t threads) {
    typedef void trsm(const char *, const char *, const char *, const char *, const symc_int *,
                      const symc_int *, const void *, const void *, const symc_int *, void *,
                      const symc_int *, size_t, size_t, size_t, size_t);
    trsm *const call = (trsm *)symc_lapack[4 * SYMC_TRSM + kind];
    const int column = !right && m == 1 && ldx == 1;  // contiguous: the same turned around
    const int from_left = right || column, turned = column ? !trans : trans;
    const symc_int la = symc_leading(lda), lx = symc_leading(column ? n : ldx), size = (symc_int)n;
    const int64_t pieces = (m + 63) / 64;
    const int many = threads > 1 && pieces > 1 && (double)n * n * m > 1e6;
    if (n <= 0 || m <= 0) return;
    if (symc_is_small(kind, n) && m <= SYMC_SIDE) {  // x op(a) = y is op(a)' x' = y'
        const int across = right ? !trans : trans;
        symc_small_triangle(kind, across ? !lower : lower, unit, n, m, a, across ? 1 : lda,
                            across ? lda : 1, x, right ? 1 : ldx, right ? ldx : 1);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t piece = 0; piece < pieces; piece++) {
        const int64_t start = piece * 64;
        const symc_int count = (symc_int)(m - start < 64 ? m - start : 64);
        call(from_left ? "L" : "R", lower ? "U" : "L", symc_operation(turned), unit ? "U" : "N",
             from_left ? &size : &count, from_left ? &count : &size, symc_number(kind, 1), a, &la,
             symc_at(kind, x, right ? start * ldx : start), &lx, 1, 1, 1, 1);
    }
}

// SYMBOL symc_solve_triangular
// NEEDS symc_triangle symc_blas_enter symc_threads_for
// x = op(a)^-1 b, or b op(a)^-1, for each matrix of a batch; `step_a` is the distance between two
// triangles, 0 where all are the same.
static void symc_solve_triangular(int64_t kind, int64_t batch, int64_t right, int64_t lower,
                                  int64_t trans, int64_t unit, int64_t n, int64_t m, const void *a,
                                  int64_t step_a, const void *b, void *x, int64_t threads) {
    const int64_t each = symc_threads_for(batch, (double)n * n * m, threads);
    const int many = each < threads;
    if (batch <= 0 || n <= 0 || m <= 0) return;
    __builtin_memcpy(x, b, (size_t)(batch * n * m * symc_bytes(kind)));
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++)
        symc_triangle(kind, (int)right, (int)lower, (int)trans, (int)unit, n, m,
                      symc_at(kind, a, q * step_a), n, symc_at(kind, x, q * n * m), right ? n : m,
                      each);
    symc_blas_enter(-1);
}

// SYMBOL symc_lower_part
// NEEDS symc_at
// Copies the lower triangle of a matrix and puts zeros above it.
static inline void symc_lower_part(int64_t kind, int64_t n, const void *a, void *l) {
    for (int64_t i = 0; i < n; i++) {
        const size_t filled = (size_t)((i + 1) * symc_bytes(kind));
        const size_t rest = (size_t)((n - i - 1) * symc_bytes(kind));
        if (l != a) __builtin_memcpy(symc_at(kind, l, i * n), symc_at(kind, a, i * n), filled);
        __builtin_memset(symc_at(kind, l, i * n + i + 1), 0, rest);
    }
}

// SYMBOL symc_cholesky
// NEEDS symc_triangle symc_multiply symc_lower_part symc_blas_enter symc_threads_of_pieces
// NEEDS symc_small_cholesky
// The lower triangles l with a = l l*, of which only the lower triangles are read; block by block,
// so that the rest of the matrix is worked on in pieces.
static int64_t symc_cholesky_one(int64_t kind, int64_t n, void *l, int64_t threads) {
    typedef void potrf(const char *, const symc_int *, void *, const symc_int *, symc_int *,
                       size_t);
    const symc_int lead = symc_leading(n);
    const int64_t block = n <= 256 ? n : 128;
    if (symc_is_small(kind, n)) return symc_small_cholesky(kind, n, l);
    const int turned = kind < 2 ? 1 : 2;
    for (int64_t k = 0; k < n; k += block) {
        const int64_t width = n - k < block ? n - k : block, next = k + width;
        void *corner = symc_at(kind, l, k * n + k), *panel = symc_at(kind, l, next * n + k);
        const symc_int size = (symc_int)width;
        symc_int info = 0;
        ((potrf *)symc_lapack[4 * SYMC_POTRF + kind])("U", &size, corner, &lead, &info, 1);
        if (info) return info > 0 ? info + k : info;
        symc_triangle(kind, 1, 1, turned, 0, width, n - next, corner, n, panel, n, threads);
        for (int64_t j = next; j < n; j += 192) {  // above the diagonal nothing is needed
            const int64_t across = n - j < 192 ? n - j : 192;
            void *rows = symc_at(kind, l, j * n + k);
            symc_multiply(kind, 0, turned, n - j, across, width, -1, rows, n, rows, n, 1,
                          symc_at(kind, l, j * n + j), n, threads);
        }
    }
    return 0;
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

// SYMBOL symc_lu
// NEEDS symc_lapack symc_at symc_leading symc_blas_enter symc_threads_for symc_small_lu
// a = l u p with u's diagonal 1: the lower and the strictly upper triangle of `lu`, and the column
// that each column was exchanged with, in this order.
static void symc_lu(int64_t kind, int64_t batch, int64_t n, const void *a, void *lu,
                    int64_t *pivots, int64_t *info, int64_t threads) {
    typedef void getrf(const symc_int *, const symc_int *, void *, const symc_int *, symc_int *,
                       symc_int *);
    const int many = symc_threads_for(batch, (double)n * n * n, threads) < threads;
    const symc_int size = (symc_int)n, lead = symc_leading(n);
    if (batch <= 0) return;
    __builtin_memcpy(lu, a, (size_t)(batch * n * n * symc_bytes(kind)));
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        symc_int status = 0, *found = (symc_int *)(pivots + q * n);
        void *const own = symc_at(kind, lu, q * n * n);
        if (symc_is_small(kind, n)) {
            info[q] = symc_small_lu(kind, n, own, pivots + q * n);
            continue;
        }
        ((getrf *)symc_lapack[4 * SYMC_GETRF + kind])(&size, &size, own, &lead, found, &status);
        for (int64_t i = n - 1; i >= 0; i--) {  // in place: these integers may be narrower
            symc_int column;
            __builtin_memcpy(&column, found + i, sizeof(column));
            pivots[q * n + i] = (int64_t)column - 1;
        }
        info[q] = status;
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_exchange_rows
// NEEDS symc_at
// Applies the exchanges of `symc_lu` to the rows of x[n, m], in order or backwards.
static inline void symc_exchange_rows(int64_t kind, int64_t n, int64_t m, const int64_t *pivots,
                                      int backwards, void *x) {
    const int64_t bytes = m * symc_bytes(kind);
    for (int64_t step = 0; step < n; step++) {
        const int64_t i = backwards ? n - 1 - step : step;
        char *one = symc_at(kind, x, i * m), *other = symc_at(kind, x, pivots[i] * m);
        if (one == other) continue;
        for (int64_t byte = 0; byte < bytes; byte++) {
            const char kept = one[byte];
            one[byte] = other[byte];
            other[byte] = kept;
        }
    }
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

// SYMBOL symc_lu_inverse
// NEEDS symc_lapack symc_at symc_leading symc_blas_enter symc_threads_for malloc free
// The inverses from the factors of `symc_lu`; NaN where there is no memory for the work.
static void symc_lu_inverse(int64_t kind, int64_t batch, int64_t n, const void *lu,
                            const int64_t *pivots, void *x, int64_t threads) {
    typedef void getri(const symc_int *, void *, const symc_int *, const symc_int *, void *,
                       const symc_int *, symc_int *);
    const int many = symc_threads_for(batch, (double)n * n * n, threads) < threads;
    const symc_int size = (symc_int)n, lead = symc_leading(n);
    if (batch <= 0) return;
    __builtin_memcpy(x, lu, (size_t)(batch * n * n * symc_bytes(kind)));
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        const symc_int room = (symc_int)(n * 64 + 1);
        char *work = malloc((size_t)room * symc_bytes(kind) + (size_t)(n + 1) * sizeof(symc_int));
        symc_int status, *rows = (symc_int *)(work + room * symc_bytes(kind));
        if (work) {
            for (int64_t i = 0; i < n; i++) rows[i] = (symc_int)(pivots[q * n + i] + 1);
            ((getri *)symc_lapack[4 * SYMC_GETRI + kind])(&size, symc_at(kind, x, q * n * n), &lead,
                                                          rows, work, &room, &status);
        } else {
            __builtin_memset(symc_at(kind, x, q * n * n), 0xff, (size_t)(n * n * symc_bytes(kind)));
        }
        free(work);
    }
    symc_blas_enter(-1);
}
