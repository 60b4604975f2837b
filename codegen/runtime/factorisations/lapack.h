// What factorisations of row-major matrices are made of: LAPACK, products, triangular systems. The
// factorisations are in definite.h, general.h and spectral.h.
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
    SYMC_GEMM, SYMC_TRSM, SYMC_TRSV, SYMC_POTRF, SYMC_GETRF, SYMC_GETRI, SYMC_GELQF, SYMC_ORGLQ,
    SYMC_SYEVD, SYMC_GESDD, SYMC_GEEV, SYMC_GEES, SYMC_LAPACK_NAMES
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

// SYMBOL symc_one_product
// NEEDS symc_lapack symc_at symc_leading symc_number symc_operation
// c[m, n] = sign * a[m, k] b[k, n] + beta * c, row-major with the given distances between rows, by
// one call.
static void symc_one_product(int64_t kind, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
                         int sign, const void *a, int64_t lda, const void *b, int64_t ldb,
                         int beta, void *c, int64_t ldc) {
    typedef void gemm(const char *, const char *, const symc_int *, const symc_int *,
                      const symc_int *, const void *, const void *, const symc_int *, const void *,
                      const symc_int *, const void *, void *, const symc_int *, size_t, size_t);
    const symc_int la = symc_leading(lda), lb = symc_leading(ldb), lc = symc_leading(ldc);
    const symc_int rows = (symc_int)m, columns = (symc_int)n, depth = (symc_int)k;
    if (m <= 0 || n <= 0) return;
    ((gemm *)symc_lapack[4 * SYMC_GEMM + kind])(
        symc_operation(trans_b), symc_operation(trans_a), &columns, &rows, &depth,
        symc_number(kind, sign), b, &lb, a, &la, symc_number(kind, beta), c, &lc, 1, 1);
}

// SYMBOL symc_multiply
// NEEDS symc_one_product
// The same in pieces of c.
static void symc_multiply(int64_t kind, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
                          int sign, const void *a, int64_t lda, const void *b, int64_t ldb,
                          int beta, void *c, int64_t ldc, int64_t threads) {
    const int64_t down = (m + 191) / 192, across = (n + 191) / 192;
    const int many = threads > 1 && down * across > 1 && (double)m * n * k > 5e5;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t number = 0; number < down * across; number++) {
        const int64_t i = number / across * 192, j = number % across * 192;
        symc_one_product(kind, trans_a, trans_b, m - i < 192 ? m - i : 192, n - j < 192 ? n - j : 192,
                     k, sign, symc_at(kind, a, trans_a ? i : i * lda), lda,
                     symc_at(kind, b, trans_b ? j * ldb : j), ldb, beta,
                     symc_at(kind, c, i * ldc + j), ldc);
    }
}

// SYMBOL symc_small_products_fNN
// c[m, n] = a[m, k] b[k, n] of complex numbers, for a product that is over before BLAS has begun.
static void symc_small_products_fNN(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,
                                    int64_t k, const real *a, const real *b, real *c) {
    const int64_t row = trans_a ? 2 : 2 * k, column = trans_a ? 2 * m : 2;
    const int64_t down = trans_b ? 2 : 2 * n, along = trans_b ? 2 * k : 2;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const real *x = a + i * row, *y = b + j * along;
            real re = 0, im = 0;
            for (int64_t s = 0; s < k; s++, x += column, y += down) {
                re += x[0] * y[0] - x[1] * y[1];
                im += x[0] * y[1] + x[1] * y[0];
            }
            c[2 * (i * n + j)] = re;
            c[2 * (i * n + j) + 1] = im;
        }
}

// SYMBOL symc_matmul
// NEEDS symc_multiply symc_blas_enter symc_threads_for symc_small_products_f32
// NEEDS symc_small_products_f64
// c[m, n] = a[m, k] b[k, n] for each matrix of a batch, either of them transposed first. The kind
// is one of complex numbers.
static void symc_matmul(int64_t kind, int64_t batch, int64_t trans_a, int64_t trans_b, int64_t m,
                        int64_t n, int64_t k, const void *a, const void *b, void *c,
                        int64_t threads) {
    const int64_t each = symc_threads_for(batch, (double)m * n * k, threads);
    const int many = each < threads;
    if (batch <= 0 || m <= 0 || n <= 0) return;
    if (k <= 16 && (double)m * n * k <= 128) {
#pragma omp parallel for schedule(static) num_threads(threads) if (many)
        for (int64_t q = 0; q < batch; q++) {
            const void *x = symc_at(kind, a, q * m * k), *y = symc_at(kind, b, q * k * n);
            void *z = symc_at(kind, c, q * m * n);
            if (kind & 1) symc_small_products_f64(trans_a, trans_b, m, n, k, x, y, z);
            else symc_small_products_f32(trans_a, trans_b, m, n, k, x, y, z);
        }
        return;
    }
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++)
        symc_multiply(kind, (int)trans_a, (int)trans_b, m, n, k, 1, symc_at(kind, a, q * m * k),
                      trans_a ? m : k, symc_at(kind, b, q * k * n), trans_b ? k : n, 0,
                      symc_at(kind, c, q * m * n), n, each);
    symc_blas_enter(-1);
}

// SYMBOL symc_halving
// How many of n rows or columns are taken first: about half, which suits the kernels of BLAS.
static inline int64_t symc_halving(int64_t n) {
    return (n / 2 + 15) / 16 * 16;
}

// SYMBOL symc_columns
// NEEDS symc_one_product symc_substitute symc_halving
// Solves op(a) x = x in place, for the real n by n triangle `a` and x[n, m]; or with `right`
// x op(a) = x for x[m, n]. One half of the unknowns first, which then leave the other half's system,
// so that nearly all work is in products.
static void symc_columns(int64_t kind, int right, int lower, int trans, int unit, int64_t n,
                         int64_t m, const void *a, int64_t lda, void *x, int64_t ldx) {
    const int forward = right ? lower == trans : lower != trans;
    const int64_t down = right ? 1 : ldx, along = right ? ldx : 1;
    if (n <= SYMC_CORNER) {
        const int turned = right != trans;
        const int64_t row = turned ? 1 : lda, column = turned ? lda : 1, last = n - 1;
        if (forward)
            symc_substitute(kind, unit, n, m, a, row, column, x, down, along);
        else
            symc_substitute(kind, unit, n, m, symc_at(kind, a, last * (row + column)), -row,
                            -column, symc_at(kind, x, last * down), -down, along);
        return;
    }
    const int64_t half = symc_halving(n), rest = n - half;
    const int64_t first = forward ? 0 : half, other = forward ? half : 0;
    const int64_t before = forward ? half : rest, after = n - before;
    void *const found = symc_at(kind, x, first * down), *const left = symc_at(kind, x, other * down);
    symc_columns(kind, right, lower, trans, unit, before, m, symc_at(kind, a, first * (lda + 1)),
                 lda, found, ldx);
    if (right)
        symc_one_product(kind, 0, trans, m, after, before, -1, found, ldx,
                     symc_at(kind, a, trans ? other * lda + first : first * lda + other), lda, 1,
                     left, ldx);
    else
        symc_one_product(kind, trans, 0, after, m, before, -1,
                     symc_at(kind, a, trans ? first * lda + other : other * lda + first), lda,
                     found, ldx, 1, left, ldx);
    symc_columns(kind, right, lower, trans, unit, after, m, symc_at(kind, a, other * (lda + 1)),
                 lda, left, ldx);
}

// SYMBOL symc_vectors
// NEEDS symc_lapack symc_at symc_leading symc_operation
// The same for so few vectors that the triangle is read from memory for each of them.
static void symc_vectors(int64_t kind, int right, int lower, int trans, int unit, int64_t n,
                         int64_t m, const void *a, int64_t lda, void *x, int64_t ldx) {
    typedef void trsv(const char *, const char *, const char *, const symc_int *, const void *,
                      const symc_int *, void *, const symc_int *, size_t, size_t, size_t);
    const symc_int size = (symc_int)n, la = symc_leading(lda), step = right ? 1 : (symc_int)ldx;
    for (int64_t c = 0; c < m; c++)
        ((trsv *)symc_lapack[4 * SYMC_TRSV + kind])(
            lower ? "U" : "L", symc_operation(right ? trans : !trans), unit ? "U" : "N", &size, a,
            &la, symc_at(kind, x, right ? c * ldx : c), &step, 1, 1, 1);
}

// SYMBOL symc_complex_columns
// NEEDS symc_lapack symc_leading symc_number symc_operation
// The same for complex numbers, by one call.
static void symc_complex_columns(int64_t kind, int right, int lower, int trans, int unit, int64_t n,
                                 int64_t m, const void *a, int64_t lda, void *x, int64_t ldx) {
    typedef void trsm(const char *, const char *, const char *, const char *, const symc_int *,
                      const symc_int *, const void *, const void *, const symc_int *, void *,
                      const symc_int *, size_t, size_t, size_t, size_t);
    const symc_int size = (symc_int)n, count = (symc_int)m;
    const symc_int la = symc_leading(lda), lx = symc_leading(ldx);
    ((trsm *)symc_lapack[4 * SYMC_TRSM + kind])(
        right ? "L" : "R", lower ? "U" : "L", symc_operation(trans), unit ? "U" : "N",
        right ? &size : &count, right ? &count : &size, symc_number(kind, 1), a, &la, x, &lx, 1, 1,
        1, 1);
}

// SYMBOL symc_triangle
// NEEDS symc_columns symc_complex_columns symc_vectors symc_small_triangle
// The same for triangles of all kinds, in pieces of columns, or of rows with `right`: an even number
// of them, none of which packs more than it computes.
static void symc_triangle(int64_t kind, int right, int lower, int trans, int unit, int64_t n,
                          int64_t m, const void *a, int64_t lda, void *x, int64_t ldx,
                          int64_t threads) {
    const int64_t wanted = m > 768 ? (m + 383) / 384 * 2 : 4, part = (m + wanted - 1) / wanted;
    const int64_t width = part < 64 ? 64 : (part + 15) / 16 * 16, pieces = (m + width - 1) / width;
    const int many = threads > 1 && pieces > 1 && (double)n * n * m > 1e6;
    if (n <= 0 || m <= 0) return;
    if (symc_is_small(kind, n) && m <= SYMC_SIDE) {  // x op(a) = y is op(a)' x' = y'
        const int across = right ? !trans : trans;
        symc_small_triangle(kind, across ? !lower : lower, unit, n, m, a, across ? 1 : lda,
                            across ? lda : 1, x, right ? 1 : ldx, right ? ldx : 1);
        return;
    }
    if (m <= 2) {
        symc_vectors(kind, right, lower, trans, unit, n, m, a, lda, x, ldx);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t piece = 0; piece < pieces; piece++) {
        const int64_t start = piece * width, count = m - start < width ? m - start : width;
        (kind < 2 ? symc_columns : symc_complex_columns)(
            kind, right, lower, trans, unit, n, count, a, lda,
            symc_at(kind, x, right ? start * ldx : start), ldx);
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

// SYMBOL symc_invert_triangle
// NEEDS symc_triangle symc_invert_block
// The inverse of a real lower triangle, in place: in [l 0; m k] m becomes -k^-1 m l^-1.
static void symc_invert_triangle(int64_t kind, int64_t n, void *l, int64_t ldl, int64_t threads) {
    if (n <= SYMC_CORNER) {
        symc_invert_block(kind, n, l, ldl);
        return;
    }
    const int64_t half = symc_halving(n), rest = n - half;
    void *const below = symc_at(kind, l, half * ldl), *const corner = symc_at(kind, below, half);
    symc_triangle(kind, 0, 1, 0, 0, rest, half, corner, ldl, below, ldl, threads);
    for (int64_t i = 0; i < rest; i++) symc_negate(kind, half, symc_at(kind, below, i * ldl));
    symc_triangle(kind, 1, 1, 0, 0, half, rest, l, ldl, below, ldl, threads);
    symc_invert_triangle(kind, half, l, ldl, threads);
    symc_invert_triangle(kind, rest, corner, ldl, threads);
}
