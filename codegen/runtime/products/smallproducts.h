// Products of matrices that are over before BLAS has begun.

// SYMBOL symc_part_of_lanes_fNN
// NEEDS symc_lanes_fNN
// The first `count` numbers of a vector, at least one: from memory, with zeros after them, and to it.
#if defined(__AVX512F__)
#define SYMC_HAS_PARTS
typedef double symc_whole_f64_fNN __attribute__((vector_size(64)));
typedef float symc_whole_f32_fNN __attribute__((vector_size(64)));
#elif defined(__AVX2__)
#define SYMC_HAS_PARTS
typedef double symc_whole_f64_fNN __attribute__((vector_size(32)));
typedef float symc_whole_f32_fNN __attribute__((vector_size(32)));
typedef long long symc_set_f64_fNN __attribute__((vector_size(32)));
typedef int symc_set_f32_fNN __attribute__((vector_size(32)));
SYMC_INLINE symc_set_f64_fNN symc_set_of_f64_fNN(int64_t count) {
    return (symc_set_f64_fNN){0, 1, 2, 3} < (long long)count;
}
SYMC_INLINE symc_set_f32_fNN symc_set_of_f32_fNN(int64_t count) {
    return (symc_set_f32_fNN){0, 1, 2, 3, 4, 5, 6, 7} < (int)count;
}
#endif
SYMC_INLINE symc_lanes_fNN symc_part_of_lanes_fNN(const real *from, int64_t count) {
#if defined(__AVX512F__)
    const unsigned set = (2u << (count - 1)) - 1;
    if (sizeof(real) == 8)
        return (symc_lanes_fNN)__builtin_ia32_loadupd512_mask(
            (const double *)from, (symc_whole_f64_fNN){0}, (unsigned char)set);
    return (symc_lanes_fNN)__builtin_ia32_loadups512_mask(
        (const float *)from, (symc_whole_f32_fNN){0}, (unsigned short)set);
#elif defined(SYMC_HAS_PARTS)
    if (sizeof(real) == 8)
        return (symc_lanes_fNN)__builtin_ia32_maskloadpd256(
            (const symc_whole_f64_fNN *)from, symc_set_of_f64_fNN(count));
    return (symc_lanes_fNN)__builtin_ia32_maskloadps256(
        (const symc_whole_f32_fNN *)from, symc_set_of_f32_fNN(count));
#else
    symc_lanes_fNN part = {0};
    for (int64_t t = 0; t < count; t++) ((real *)&part)[t] = from[t];
    return part;
#endif
}
SYMC_INLINE void symc_store_part_fNN(real *to, int64_t count, symc_lanes_fNN part) {
#if defined(__AVX512F__)
    const unsigned set = (2u << (count - 1)) - 1;
    if (sizeof(real) == 8)
        __builtin_ia32_storeupd512_mask((double *)to, (symc_whole_f64_fNN)part, (unsigned char)set);
    else
        __builtin_ia32_storeups512_mask((float *)to, (symc_whole_f32_fNN)part, (unsigned short)set);
#elif defined(SYMC_HAS_PARTS)
    if (sizeof(real) == 8)
        __builtin_ia32_maskstorepd256((symc_whole_f64_fNN *)to, symc_set_of_f64_fNN(count),
                                      (symc_whole_f64_fNN)part);
    else
        __builtin_ia32_maskstoreps256((symc_whole_f32_fNN *)to, symc_set_of_f32_fNN(count),
                                      (symc_whole_f32_fNN)part);
#else
    for (int64_t t = 0; t < count; t++) to[t] = ((real *)&part)[t];
#endif
}
// What a product adds to a vector's part, or sets it to. Steps of a loop wait for each operation.
SYMC_INLINE void symc_small_row_fNN(real *to, int64_t width, real alpha, real beta,
                                    symc_lanes_fNN sum) {
    if (alpha != 1) sum *= alpha;
    if (beta != 0) sum += beta * symc_part_of_lanes_fNN(to, width);
    if (width * sizeof(real) == SYMC_LANE_BYTES) *(symc_lanes_fNN *)to = sum;
    else symc_store_part_fNN(to, width, sum);
}

// SYMBOL symc_small_gemm_fNN
// NEEDS symc_part_of_lanes_fNN SYMC_SMALL SYMC_OUT_OF_LINE
// c = alpha a b + beta c. Two vectors of columns of b at a time, or one, where it is the last. What
// does not lie in memory as vectors that can be loaded is copied first.
typedef struct {
    const real *from;
    int64_t step, first, second;  // numbers from row to row, and those of a row for each vector
} symc_small_lines_fNN;
SYMC_INLINE symc_lanes_fNN symc_small_line_fNN(const real *from, int64_t width) {
#if defined(SYMC_HAS_PARTS)
    return symc_part_of_lanes_fNN(from, width);
#else
    return *(const symc_lanes_fNN *)from;  // copied where it is not whole
#endif
}
// Four rows of a at a time: the sums of one would wait for each other.
SYMC_INLINE void symc_small_columns_fNN(const int are_two, int64_t m, int64_t k, real alpha,
                                        const real *a, int64_t row, int64_t col,
                                        symc_small_lines_fNN b, real beta, real *c, int64_t ldc) {
    enum { W = SYMC_LANE_BYTES / sizeof(real) };
    for (int64_t i = 0; i < m; i += 4) {
        const int64_t left = m - i;
        const real *row0 = a + i * row, *row1 = left > 1 ? row0 + row : row0;
        const real *row2 = left > 2 ? row1 + row : row0, *row3 = left > 3 ? row2 + row : row0;
        symc_lanes_fNN sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
        symc_lanes_fNN next0 = {0}, next1 = {0}, next2 = {0}, next3 = {0};
#define SYMC_ADD(t)                                                                                \
    sum##t += row##t[s * col] * line;                                                              \
    if (are_two) next##t += row##t[s * col] * other;
        for (int64_t s = 0; s < k; s++) {
            const real *const from = b.from + s * b.step;
            const symc_lanes_fNN line = symc_small_line_fNN(from, b.first);
            const symc_lanes_fNN other =
                are_two ? symc_small_line_fNN(from + W, b.second) : (symc_lanes_fNN){0};
            SYMC_ADD(0) SYMC_ADD(1) SYMC_ADD(2) SYMC_ADD(3)
        }
#undef SYMC_ADD
        real *const to = c + i * ldc;
#define SYMC_PUT(t)                                                                                \
    if (left > t) {                                                                                \
        symc_small_row_fNN(to + t * ldc, b.first, alpha, beta, sum##t);                            \
        if (are_two) symc_small_row_fNN(to + t * ldc + W, b.second, alpha, beta, next##t);         \
    }
        SYMC_PUT(0) SYMC_PUT(1) SYMC_PUT(2) SYMC_PUT(3)
#undef SYMC_PUT
    }
}
SYMC_OUT_OF_LINE
static void symc_small_gemm_fNN(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                                real alpha, const real *a, int64_t lda, const real *b, int64_t ldb,
                                real beta, real *c, int64_t ldc) {
    enum { W = SYMC_LANE_BYTES / sizeof(real) };
    real copied[SYMC_SMALL * 2 * W] __attribute__((aligned(64)));
    const int64_t row = trans_a ? 1 : lda, col = trans_a ? lda : 1;
    for (int64_t j = 0; j < n; j += 2 * W) {
        const int64_t left = n - j;
        symc_small_lines_fNN lines = {b + j, ldb, left < W ? left : W, 0};
        lines.second = left < 2 * W ? left - W : W;
#if defined(SYMC_HAS_PARTS)
        const int is_apart = trans_b;
#else
        const int is_apart = trans_b || left < W || (left > W && left < 2 * W);
#endif
        if (is_apart) {
            for (int64_t t = 0; t < 2 * W; t++)
                for (int64_t s = 0; s < k; s++)
                    copied[s * 2 * W + t] =
                        t >= left ? 0 : trans_b ? b[(j + t) * ldb + s] : b[s * ldb + j + t];
            lines.from = copied;
            lines.step = 2 * W;
        }
        if (left > W) symc_small_columns_fNN(1, m, k, alpha, a, row, col, lines, beta, c + j, ldc);
        else symc_small_columns_fNN(0, m, k, alpha, a, row, col, lines, beta, c + j, ldc);
    }
}

// SYMBOL symc_small_batch_fNN
// NEEDS symc_small_gemm_fNN
// The products of a batch, one after the other. The loops of tiny ones are written out.
#define SYMC_TINY(few)                                                                            \
    for (int64_t q = 0; q < batch; q++) {                                                         \
        const symc_small_lines_fNN lines = {b + q * stride_b, ldb, n, 0};                         \
        symc_small_columns_fNN(0, m, few, alpha, a + q * stride_a, row, col, lines, beta,         \
                               c + q * stride_c, ldc);                                            \
    }                                                                                             \
    return;
SYMC_OUT_OF_LINE
static void symc_small_batch_fNN(int64_t batch, int64_t trans_a, int64_t trans_b, int64_t m,
                                    int64_t n, int64_t k, real alpha, const real *a, int64_t lda,
                                    const real *b, int64_t ldb, real beta, real *c, int64_t ldc,
                                    int64_t stride_a, int64_t stride_b, int64_t stride_c) {
#if defined(SYMC_HAS_PARTS)
    const int64_t row = trans_a ? 1 : lda, col = trans_a ? lda : 1;
    if (!trans_b && n > 0 && n * (int64_t)sizeof(real) <= SYMC_LANE_BYTES) {
        if (k == 2) { SYMC_TINY(2) }
        if (k == 3) { SYMC_TINY(3) }
        if (k == 4) { SYMC_TINY(4) }
    }
#endif
    for (int64_t q = 0; q < batch; q++)
        symc_small_gemm_fNN(trans_a, trans_b, m, n, k, alpha, a + q * stride_a, lda,
                            b + q * stride_b, ldb, beta, c + q * stride_c, ldc);
}
#undef SYMC_TINY
