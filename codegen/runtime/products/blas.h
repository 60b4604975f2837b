// Linear algebra on row-major arrays, called by name from host functions (codegen/routines.py).
//
// Nothing here depends on the number of threads: work is cut into pieces of fixed size, and a piece
// is computed by one thread. OpenBLAS itself does not keep that promise (it blocks k by the number
// of threads, so bits differ), therefore gemm calls it piece by piece with one thread each. That
// costs 3 to 8 % against its own threads. Matrix times vector is bound by memory: loops of our own
// are as fast.
//
// y and c are not read where beta is 0: they may be uninitialised, and NaN in them does not spread.

// SYMBOL symc_imports
// The BLAS of this process, filled in by whoever loads the program. Zero: there is none.
// Compiled with SYMC_BLAS64, a program says by `wide` that it has no loops of its own instead.
typedef struct symc_blas {
    void *functions[8];  // sgemm, dgemm, get_num_threads, set_num_threads, ssyrk, dsyrk
    int64_t wide;        // whether its integers have 64 bits
    int64_t *guard;      // for all programs of this process: lock, calls in progress, threads before
} symc_blas;
#ifdef SYMC_BLAS64
symc_blas symc_imports = {.wide = 1};
#else
symc_blas symc_imports;
#endif

// SYMBOL symc_blas_enter
// NEEDS symc_imports
// The first of several calls at a time sets BLAS to one thread, the last restores what it was.
static inline void symc_blas_enter(int step) {
    int64_t *guard = symc_imports.guard;
    while (__atomic_exchange_n(&guard[0], 1, __ATOMIC_ACQUIRE)) {}
    if (step > 0 && guard[1] == 0) {
        guard[2] = ((int (*)(void))symc_imports.functions[2])();
        if (guard[2] != 1) ((void (*)(int))symc_imports.functions[3])(1);
    }
    guard[1] += step;
    if (step < 0 && guard[1] == 0 && guard[2] != 1)
        ((void (*)(int))symc_imports.functions[3])((int)guard[2]);
    __atomic_store_n(&guard[0], 0, __ATOMIC_RELEASE);
}

// SYMBOL SYMC_OUT_OF_LINE
// Compiling these once is enough: the time is spent in BLAS.
#define SYMC_OUT_OF_LINE __attribute__((noinline))

// SYMBOL SYMC_DEFINE_PLAIN_GEMM
// NEEDS SYMC_OUT_OF_LINE
// c = alpha a b + beta c without BLAS: blocks of b are packed so that the inner loop is contiguous
// whatever is transposed, and four rows of a share each element of it.
#define SYMC_DEFINE_PLAIN_GEMM(name, type)                                                        \
    SYMC_OUT_OF_LINE                                                                              \
    static void name(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,           \
                     type alpha, const type *a, int64_t lda, const type *b, int64_t ldb,          \
                     type beta, type *c, int64_t ldc) {                                           \
        enum { K = 64, N = 128 };                                                                 \
        type block[K * N], rows[4][N];                                                            \
        const int64_t row = trans_a ? 1 : lda, col = trans_a ? lda : 1;                           \
        for (int64_t i = 0; i < m; i++)                                                           \
            for (int64_t j = 0; j < n; j++) c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j]; \
        for (int64_t q = 0; q < k; q += K)                                                        \
            for (int64_t j = 0; j < n; j += N) {                                                  \
                const int64_t depth = k - q < K ? k - q : K, width = n - j < N ? n - j : N;       \
                for (int64_t s = 0; s < depth; s++)                                               \
                    for (int64_t t = 0; t < N; t++)                                               \
                        block[s * N + t] = t >= width ? 0                                         \
                                           : trans_b ? b[(j + t) * ldb + q + s]                   \
                                                     : b[(q + s) * ldb + j + t];                  \
                for (int64_t i = 0; i < m; i += 4) {                                              \
                    const int64_t height = m - i < 4 ? m - i : 4;                                 \
                    const type *first = a + i * row + q * col;                                    \
                    const type *second = height > 1 ? first + row : first;                        \
                    const type *third = height > 2 ? second + row : first;                        \
                    const type *fourth = height > 3 ? third + row : first;                        \
                    for (int64_t t = 0; t < N; t++)                                               \
                        rows[0][t] = rows[1][t] = rows[2][t] = rows[3][t] = 0;                    \
                    for (int64_t s = 0; s < depth; s++) {                                         \
                        const type a0 = first[s * col], a1 = second[s * col];                     \
                        const type a2 = third[s * col], a3 = fourth[s * col];                     \
                        const type *line = block + s * N;                                         \
                        _Pragma("omp simd") for (int64_t t = 0; t < N; t++) {                     \
                            rows[0][t] += a0 * line[t];                                           \
                            rows[1][t] += a1 * line[t];                                           \
                            rows[2][t] += a2 * line[t];                                           \
                            rows[3][t] += a3 * line[t];                                           \
                        }                                                                         \
                    }                                                                             \
                    for (int64_t r = 0; r < height; r++)                                          \
                        for (int64_t t = 0; t < width; t++)                                       \
                            c[(i + r) * ldc + j + t] += alpha * rows[r][t];                       \
                }                                                                                 \
            }                                                                                     \
    }

// SYMBOL symc_plain_gemm_f32
// NEEDS SYMC_DEFINE_PLAIN_GEMM
#ifndef SYMC_BLAS64
SYMC_DEFINE_PLAIN_GEMM(symc_plain_gemm_f32, float)
#endif

// SYMBOL symc_plain_gemm_f64
// NEEDS SYMC_DEFINE_PLAIN_GEMM
#ifndef SYMC_BLAS64
SYMC_DEFINE_PLAIN_GEMM(symc_plain_gemm_f64, double)
#endif

// SYMBOL SYMC_DEFINE_GEMM_PIECE
// NEEDS symc_imports
// One call of cblas (101: row-major, 111 and 112: as it is and transposed), or of the loops above
// where there is no BLAS or a length does not fit its integers.
#ifdef SYMC_BLAS64
#define SYMC_DEFINE_GEMM_PIECE(name, plain, type, slot)                                           \
    static void name(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,           \
                     type alpha, const type *a, int64_t lda, const type *b, int64_t ldb,          \
                     type beta, type *c, int64_t ldc) {                                           \
        typedef void wide(int, int, int, int64_t, int64_t, int64_t, type, const type *, int64_t,  \
                          const type *, int64_t, type, type *, int64_t);                          \
        const int ta = trans_a ? 112 : 111, tb = trans_b ? 112 : 111;                             \
        ((wide *)symc_imports.functions[slot])(101, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, \
                                               c, ldc);                                           \
    }
#else
#define SYMC_DEFINE_GEMM_PIECE(name, plain, type, slot)                                           \
    static void name(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,           \
                     type alpha, const type *a, int64_t lda, const type *b, int64_t ldb,          \
                     type beta, type *c, int64_t ldc) {                                           \
        typedef void wide(int, int, int, int64_t, int64_t, int64_t, type, const type *, int64_t,  \
                          const type *, int64_t, type, type *, int64_t);                          \
        typedef void narrow(int, int, int, int, int, int, type, const type *, int, const type *,  \
                            int, type, type *, int);                                              \
        void *function = symc_imports.functions[slot];                                            \
        const int ta = trans_a ? 112 : 111, tb = trans_b ? 112 : 111;                             \
        if (function && symc_imports.wide)                                                        \
            ((wide *)function)(101, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);        \
        else if (function && (m | n | k | lda | ldb | ldc) <= 0x7fffffff)                         \
            ((narrow *)function)(101, ta, tb, (int)m, (int)n, (int)k, alpha, a, (int)lda, b,      \
                                 (int)ldb, beta, c, (int)ldc);                                    \
        else                                                                                      \
            plain(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                \
    }
#endif

// SYMBOL symc_gemm_piece_f32
// NEEDS SYMC_DEFINE_GEMM_PIECE symc_plain_gemm_f32
SYMC_DEFINE_GEMM_PIECE(symc_gemm_piece_f32, symc_plain_gemm_f32, float, 0)

// SYMBOL symc_gemm_piece_f64
// NEEDS SYMC_DEFINE_GEMM_PIECE symc_plain_gemm_f64
SYMC_DEFINE_GEMM_PIECE(symc_gemm_piece_f64, symc_plain_gemm_f64, double, 1)

// SYMBOL SYMC_DEFINE_SYRK_PIECE
// NEEDS symc_imports
// c = alpha a a^T, or alpha a^T a where it is transposed: on the diagonal and above it, which takes
// cblas (121: the upper part) half of a product's time. Where there is no BLAS, all of c.
#define SYMC_DEFINE_SYRK_PIECE(name, gemm, type, slot)                                            \
    static void name(int64_t trans, int64_t n, int64_t k, type alpha, const type *a, int64_t lda, \
                     type *c, int64_t ldc) {                                                      \
        typedef void wide(int, int, int, int64_t, int64_t, type, const type *, int64_t, type,     \
                          type *, int64_t);                                                       \
        typedef void narrow(int, int, int, int, int, type, const type *, int, type, type *, int); \
        void *function = symc_imports.functions[slot];                                            \
        const int turned = trans ? 112 : 111;                                                     \
        if (function && symc_imports.wide)                                                        \
            ((wide *)function)(101, 121, turned, n, k, alpha, a, lda, 0, c, ldc);                 \
        else if (function && (n | k | lda | ldc) <= 0x7fffffff)                                   \
            ((narrow *)function)(101, 121, turned, (int)n, (int)k, alpha, a, (int)lda, 0, c,      \
                                 (int)ldc);                                                       \
        else                                                                                      \
            gemm(trans, !trans, n, n, k, alpha, a, lda, a, lda, 0, c, ldc);                       \
    }

// SYMBOL symc_syrk_piece_f32
// NEEDS SYMC_DEFINE_SYRK_PIECE symc_gemm_piece_f32
SYMC_DEFINE_SYRK_PIECE(symc_syrk_piece_f32, symc_gemm_piece_f32, float, 4)

// SYMBOL symc_syrk_piece_f64
// NEEDS SYMC_DEFINE_SYRK_PIECE symc_gemm_piece_f64
SYMC_DEFINE_SYRK_PIECE(symc_syrk_piece_f64, symc_gemm_piece_f64, double, 5)

// SYMBOL SYMC_SMALL
// NEEDS SYMC_LANE_BYTES
// The longest k of a small product, and how many multiplications it may have, those of lanes that are
// empty counted; and how many rows and columns one may have that is a sum of such.
#define SYMC_SMALL 64
#define SYMC_SMALL_WORK 4096
#define SYMC_WHOLE(count, of) (((count) + (of) - 1) / (of) * (of))
#define SYMC_IS_SMALL(m, n, k, type)                                                              \
    ((m) <= SYMC_SMALL && (n) <= SYMC_SMALL && (k) <= SYMC_SMALL &&                               \
     SYMC_WHOLE(m, 4) * SYMC_WHOLE(n, SYMC_LANE_BYTES / (int64_t)sizeof(type)) * (k) <=           \
         SYMC_SMALL_WORK)
#define SYMC_NARROW 16

// SYMBOL SYMC_DEFINE_GEMM
// NEEDS symc_blas_enter symc_gemm_pieces symc_twin_pieces SYMC_OUT_OF_LINE SYMC_SMALL
// c[m, n] = alpha a[m, k] b[k, n] + beta c for `batch` matrices that are `stride` elements apart,
// in pieces of c. With k of 0 the product is 0.
#define SYMC_DEFINE_GEMM(name, batched, piece, twin_piece, small, type)                           \
    /* What is below the diagonal from what is above it, in blocks that fit into a cache. */      \
    static void name##_mirror(int64_t n, type *c, int64_t ldc) {                                  \
        for (int64_t down = 0; down < n; down += 16)                                              \
            for (int64_t across = 0; across <= down; across += 16)                                \
                for (int64_t i = down; i < n && i < down + 16; i++)                               \
                    for (int64_t j = across; j < across + 16 && j < i; j++)                       \
                        c[i * ldc + j] = c[j * ldc + i];                                          \
    }                                                                                             \
    SYMC_OUT_OF_LINE                                                                              \
    static void batched(int64_t batch, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,    \
                        int64_t k, type alpha, const type *a, int64_t lda, const type *b,         \
                        int64_t ldb, type beta, type *c, int64_t ldc, int64_t stride_a,           \
                        int64_t stride_b, int64_t stride_c, int64_t threads) {                    \
        int64_t height, width, depth;                                                             \
        if (batch <= 0 || m <= 0 || n <= 0) return;                                               \
        if (k <= 0) {                                                                             \
            for (int64_t q = 0; q < batch; q++)                                                   \
                for (int64_t i = 0; i < m; i++)                                                   \
                    for (int64_t j = 0; j < n; j++) {                                             \
                        type *at = c + q * stride_c + i * ldc + j;                                \
                        *at = beta == 0 ? 0 : beta * *at;                                         \
                    }                                                                             \
            return;                                                                               \
        }                                                                                         \
        if (!trans_b && m <= SYMC_NARROW && n <= SYMC_NARROW && k > SYMC_SMALL) {                 \
            /* Few columns, long ones: BLAS takes most of its time to pack them. */               \
            const int many = threads > 1 && batch > 1 && (double)batch * m * n * k > 1e6;         \
            _Pragma("omp parallel for schedule(static) num_threads(threads) if(many)")            \
            for (int64_t q = 0; q < batch; q++)                                                   \
                for (int64_t s = 0; s < k; s += SYMC_SMALL)                                       \
                    small(trans_a, 0, m, n, k - s < SYMC_SMALL ? k - s : SYMC_SMALL, alpha,       \
                          a + q * stride_a + (trans_a ? s * lda : s), lda,                        \
                          b + q * stride_b + s * ldb, ldb, s ? 1 : beta, c + q * stride_c, ldc);  \
            return;                                                                               \
        }                                                                                         \
        symc_gemm_pieces(batch, trans_a, trans_b, m, n, k, ldb, sizeof(type), &height, &width,    \
                         &depth);                                                                 \
        /* A matrix times its own transpose: what is below the diagonal is what is above it. */   \
        const int twin = a == b && !trans_a != !trans_b && lda == ldb && stride_a == stride_b &&  \
                         m == n && m >= 64 && k >= 32 && beta == 0;                               \
        if (twin) height = width = symc_twin_pieces(batch, m, k), depth = k;                      \
        const int64_t down = (m + height - 1) / height, across = (n + width - 1) / width;         \
        const int64_t count = batch * down * across;                                              \
        const int guarded = symc_imports.functions[0] != 0;                                       \
        if (guarded) symc_blas_enter(1);                                                          \
        const int many = threads > 1 && count > 1 && (double)batch * m * n * k > 1e6;             \
        _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")               \
        for (int64_t number = 0; number < count; number++) {                                      \
            const int64_t q = number / (down * across);                                           \
            const int64_t i = number / across % down * height, j = number % across * width;       \
            const int64_t rows = m - i < height ? m - i : height;                                 \
            const int64_t columns = n - j < width ? n - j : width;                                \
            const type *const from = a + q * stride_a + (trans_a ? i : i * lda);                  \
            const type *const by = b + q * stride_b + (trans_b ? j * ldb : j);                    \
            type *const to = c + q * stride_c + i * ldc + j;                                      \
            if (twin && j < i) continue;                                                          \
            if (twin && j == i) twin_piece(trans_a, rows, k, alpha, from, lda, to, ldc);          \
            else                                                                                  \
                for (int64_t s = 0; s < k; s += depth)                                            \
                    piece(trans_a, trans_b, rows, columns, k - s < depth ? k - s : depth, alpha,  \
                          from + (trans_a ? s * lda : s), lda, by + (trans_b ? s : s * ldb), ldb, \
                          s ? 1 : beta, to, ldc);                                                 \
        }                                                                                         \
        if (guarded) symc_blas_enter(-1);                                                         \
        for (int64_t q = 0; twin && q < batch; q++)                                               \
            name##_mirror(m, c + q * stride_c, ldc);                                              \
    }                                                                                             \
    static __attribute__((noinline))                                                              \
    void name(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,                  \
                            type alpha, const type *a, int64_t lda, const type *b, int64_t ldb,   \
                            type beta, type *c, int64_t ldc, int64_t threads) {                   \
        if (k > 0 && SYMC_IS_SMALL(m, n, k, type))                                                \
            small(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                \
        else                                                                                      \
            batched(1, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 0, 0, 0,   \
                    threads);                                                                     \
    }

// SYMBOL symc_gemm_f32
// NEEDS SYMC_DEFINE_GEMM symc_gemm_piece_f32 symc_syrk_piece_f32 symc_small_gemm_f32
SYMC_DEFINE_GEMM(symc_gemm_f32, symc_products_f32, symc_gemm_piece_f32, symc_syrk_piece_f32,
                 symc_small_gemm_f32, float)

// SYMBOL symc_gemm_f64
// NEEDS SYMC_DEFINE_GEMM symc_gemm_piece_f64 symc_syrk_piece_f64 symc_small_gemm_f64
SYMC_DEFINE_GEMM(symc_gemm_f64, symc_products_f64, symc_gemm_piece_f64, symc_syrk_piece_f64,
                 symc_small_gemm_f64, double)

// SYMBOL SYMC_DEFINE_BATCHED_GEMM
// NEEDS SYMC_OUT_OF_LINE SYMC_SMALL
// The products of a batch: small ones one after the other.
#define SYMC_DEFINE_BATCHED_GEMM(name, products, small, type)                                     \
    SYMC_OUT_OF_LINE                                                                              \
    static void name(int64_t batch, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,       \
                     int64_t k, type alpha, const type *a, int64_t lda, const type *b,            \
                     int64_t ldb, type beta, type *c, int64_t ldc, int64_t stride_a,              \
                     int64_t stride_b, int64_t stride_c, int64_t threads) {                       \
        if (k <= 0 || !SYMC_IS_SMALL(m, n, k, type)) {                                            \
            products(batch, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,       \
                     stride_a, stride_b, stride_c, threads);                                      \
            return;                                                                               \
        }                                                                                         \
        const int64_t parts = threads > 1 && (double)batch * m * n * k > 1e6 ? threads : 1;       \
        _Pragma("omp parallel for schedule(static) num_threads(threads) if(parts > 1)")           \
        for (int64_t part = 0; part < parts; part++) {                                            \
            const int64_t q = batch * part / parts, end = batch * (part + 1) / parts;             \
            small(end - q, trans_a, trans_b, m, n, k, alpha, a + q * stride_a, lda,               \
                  b + q * stride_b, ldb, beta, c + q * stride_c, ldc, stride_a, stride_b,         \
                  stride_c);                                                                      \
        }                                                                                         \
    }

// SYMBOL symc_batched_gemm_f32
// NEEDS SYMC_DEFINE_BATCHED_GEMM symc_small_batch_f32 symc_gemm_f32
SYMC_DEFINE_BATCHED_GEMM(symc_batched_gemm_f32, symc_products_f32, symc_small_batch_f32, float)

// SYMBOL symc_batched_gemm_f64
// NEEDS SYMC_DEFINE_BATCHED_GEMM symc_small_batch_f64 symc_gemm_f64
SYMC_DEFINE_BATCHED_GEMM(symc_batched_gemm_f64, symc_products_f64, symc_small_batch_f64, double)

// SYMBOL SYMC_DEFINE_DOT
// The sum of products, in chunks of which each has four running sums.
#define SYMC_DEFINE_DOT(name, type)                                                               \
    static type name(int64_t n, const type *x, const type *y) {                                   \
        double total = 0;                                                                         \
        for (int64_t start = 0; start < n; start += 4096) {                                       \
            const int64_t end = n - start < 4096 ? n : start + 4096;                              \
            const int64_t step = (end - start) / 64 * 16; /* whole vectors */                     \
            type s0 = 0, s1 = 0, s2 = 0, s3 = 0;                                                  \
            const type *a = x + start, *b = y + start;                                            \
            _Pragma("omp simd reduction(+ : s0, s1, s2, s3)")                                     \
            for (int64_t i = 0; i < step; i++) {                                                  \
                s0 += a[i] * b[i];                                                                \
                s1 += a[i + step] * b[i + step];                                                  \
                s2 += a[i + 2 * step] * b[i + 2 * step];                                          \
                s3 += a[i + 3 * step] * b[i + 3 * step];                                          \
            }                                                                                     \
            _Pragma("omp simd reduction(+ : s0)")                                                 \
            for (int64_t i = 4 * step; i < end - start; i++) s0 += a[i] * b[i];                   \
            total += (s0 + s1) + (s2 + s3);                                                       \
        }                                                                                         \
        return (type)total;                                                                       \
    }

// SYMBOL symc_sum_of_products_f32
// NEEDS SYMC_DEFINE_DOT
SYMC_DEFINE_DOT(symc_sum_of_products_f32, float)

// SYMBOL symc_sum_of_products_f64
// NEEDS SYMC_DEFINE_DOT
SYMC_DEFINE_DOT(symc_sum_of_products_f64, double)

// SYMBOL symc_dot_f32
// NEEDS symc_sum_of_products_f32
static inline void symc_dot_f32(int64_t n, const float *x, const float *y, float *result,
                                int64_t threads) {
    (void)threads;
    *result = symc_sum_of_products_f32(n, x, y);
}

// SYMBOL symc_dot_f64
// NEEDS symc_sum_of_products_f64
static inline void symc_dot_f64(int64_t n, const double *x, const double *y, double *result,
                                int64_t threads) {
    (void)threads;
    *result = symc_sum_of_products_f64(n, x, y);
}

// SYMBOL SYMC_DEFINE_GER
// a[m, n] += alpha x y, the outer product.
#define SYMC_DEFINE_GER(name, type)                                                               \
    static void name(int64_t m, int64_t n, type alpha, const type *x, const type *y, type *a,     \
                     int64_t lda, int64_t threads) {                                              \
        const int many = threads > 1 && (double)m * n > 1 << 18;                                  \
        _Pragma("omp parallel for schedule(static) num_threads(threads) if(many)")                \
        for (int64_t i = 0; i < m; i++) {                                                         \
            const type factor = alpha * x[i];                                                     \
            _Pragma("omp simd") for (int64_t j = 0; j < n; j++) a[i * lda + j] += factor * y[j];  \
        }                                                                                         \
    }

// SYMBOL symc_ger_f32
// NEEDS SYMC_DEFINE_GER
SYMC_DEFINE_GER(symc_ger_f32, float)

// SYMBOL symc_ger_f64
// NEEDS SYMC_DEFINE_GER
SYMC_DEFINE_GER(symc_ger_f64, double)

// SYMBOL symc_copy_bytes
static inline void symc_copy_bytes(void *dst, const void *src, int64_t n) {
    if (n > 0) __builtin_memcpy(dst, src, (size_t)n);
}
