// Products of matrices that are over before BLAS has begun.

// SYMBOL symc_part_of_lanes_fNN
// NEEDS symc_lanes_fNN
// The first `count` numbers of a vector, at least one: from memory, with zeros after them, and to it.
#if defined(__AVX512F__)
typedef double symc_whole_f64_fNN __attribute__((vector_size(64)));
typedef float symc_whole_f32_fNN __attribute__((vector_size(64)));
#endif
SYMC_INLINE symc_lanes_fNN symc_part_of_lanes_fNN(const real *from, int64_t count) {
#if defined(__AVX512F__)
    const unsigned set = (2u << (count - 1)) - 1;
    if (sizeof(real) == 8)
        return (symc_lanes_fNN)__builtin_ia32_loadupd512_mask(
            (const double *)from, (symc_whole_f64_fNN){0}, (unsigned char)set);
    return (symc_lanes_fNN)__builtin_ia32_loadups512_mask(
        (const float *)from, (symc_whole_f32_fNN){0}, (unsigned short)set);
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
#else
    for (int64_t t = 0; t < count; t++) to[t] = ((real *)&part)[t];
#endif
}

// SYMBOL symc_small_gemm_fNN
// NEEDS symc_part_of_lanes_fNN SYMC_SMALL SYMC_OUT_OF_LINE
// c = alpha a b + beta c. Columns of b, as many as a vector has lanes, are copied into whole vectors.
// Four rows of a share them at a time: the sums of one would wait for each other.
SYMC_INLINE void symc_small_row_fNN(real *to, int64_t width, real alpha, real beta,
                                    symc_lanes_fNN sum) {
    sum *= alpha;
    if (beta != 0) sum += beta * symc_part_of_lanes_fNN(to, width);
    if (width * sizeof(real) == SYMC_LANE_BYTES) *(symc_lanes_fNN *)to = sum;
    else symc_store_part_fNN(to, width, sum);
}
SYMC_OUT_OF_LINE
static void symc_small_gemm_fNN(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                                real alpha, const real *a, int64_t lda, const real *b, int64_t ldb,
                                real beta, real *c, int64_t ldc) {
    enum { W = SYMC_LANE_BYTES / sizeof(real) };
    symc_lanes_fNN lines[SYMC_SMALL] __attribute__((aligned(64)));
    const int64_t row = trans_a ? 1 : lda, col = trans_a ? lda : 1;
    for (int64_t j = 0; j < n; j += W) {
        const int64_t width = n - j < W ? n - j : W;
        for (int64_t s = 0; s < k && !trans_b; s++)
            lines[s] = width == W ? *(const symc_lanes_fNN *)(b + s * ldb + j)
                                  : symc_part_of_lanes_fNN(b + s * ldb + j, width);
        for (int64_t s = 0; s < k && trans_b; s++) {
            real *const line = (real *)(lines + s);
            for (int64_t t = 0; t < W; t++) line[t] = t < width ? b[(j + t) * ldb + s] : 0;
        }
        for (int64_t i = 0; i < m; i += 4) {
            const int64_t left = m - i;
            const real *first = a + i * row;
            const real *second = left > 1 ? first + row : first;
            const real *third = left > 2 ? second + row : first;
            const real *fourth = left > 3 ? third + row : first;
            symc_lanes_fNN sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
            for (int64_t s = 0; s < k; s++) {
                const symc_lanes_fNN line = lines[s];
                sum0 += first[s * col] * line;
                sum1 += second[s * col] * line;
                sum2 += third[s * col] * line;
                sum3 += fourth[s * col] * line;
            }
            real *const to = c + i * ldc + j;
            symc_small_row_fNN(to, width, alpha, beta, sum0);
            if (left > 1) symc_small_row_fNN(to + ldc, width, alpha, beta, sum1);
            if (left > 2) symc_small_row_fNN(to + 2 * ldc, width, alpha, beta, sum2);
            if (left > 3) symc_small_row_fNN(to + 3 * ldc, width, alpha, beta, sum3);
        }
    }
}
