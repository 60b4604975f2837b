// Attention, softmax(q k' + bias) v, and its gradients, without the whole matrix of scores:
// blocks of it are computed, used and forgotten (Dao et al., 2022). Arrays are q[batch, n, d],
// k[batch, m, d], v[batch, m, e] and bias[batch or 1, n, m]; logs[batch, n] are the logarithms of
// the sums of exponentials. The gradients compute the blocks again: once in rows for the
// queries, once in columns for keys and values, so that nothing is added up by several threads.
// Without a bias its pointer is of something else, and not read.

// SYMBOL symc_attention
typedef struct symc_attention {
    int64_t n, m, d, e;
    int64_t row_d, row_e;  // how far rows are apart, for BLAS not 0
    int64_t causal;  // whether query i sees no key after number i
    int64_t biased, shared;  // whether there is a bias, and only one for the whole batch
} symc_attention;
enum { SYMC_BLOCK = 64 };

// SYMBOL symc_block
static inline int64_t symc_block(int64_t length, int64_t start) {
    return length - start < SYMC_BLOCK ? length - start : SYMC_BLOCK;
}

// SYMBOL symc_power_f32
// NEEDS expf
#define symc_power_f32 expf

// SYMBOL symc_power_f64
// NEEDS exp
#define symc_power_f64 exp

// SYMBOL symc_decay_f32
// NEEDS symc_exp_nonpositive_f32
// exp(x) of x <= 0 or NaN.
#define symc_decay_f32 symc_exp_nonpositive_f32

// SYMBOL symc_decay_f64
// NEEDS exp
#define symc_decay_f64 exp

// SYMBOL symc_logarithm_f32
// NEEDS logf
#define symc_logarithm_f32 logf

// SYMBOL symc_logarithm_f64
// NEEDS log
#define symc_logarithm_f64 log

// SYMBOL symc_scores_fNN
// NEEDS symc_attention symc_block symc_gemm_piece_fNN
// A block of q k' + bias, in rows of SYMC_BLOCK; -inf where a query may not see a key.
static void symc_scores_fNN(const symc_attention *v, int64_t batch, const real *q, const real *k,
                            const real *bias, int64_t i, int64_t j, real *scores) {
    const int64_t rows = symc_block(v->n, i), columns = symc_block(v->m, j);
    symc_gemm_piece_fNN(0, 1, rows, columns, v->d, 1, q + (batch * v->n + i) * v->d, v->row_d,
                        k + (batch * v->m + j) * v->d, v->row_d, 0, scores, SYMC_BLOCK);
    const real *more = bias + ((v->shared ? 0 : batch) * v->n + i) * v->m + j;
    for (int64_t r = 0; v->biased && r < rows; r++) {
        const real *const from = more + r * v->m;
        real *const row = scores + r * SYMC_BLOCK;
#pragma omp simd
        for (int64_t c = 0; c < columns; c++) row[c] += from[c];
    }
    for (int64_t r = 0; v->causal && r < rows; r++)
        for (int64_t c = i + r + 1 > j ? i + r + 1 - j : 0; c < columns; c++)
            scores[r * SYMC_BLOCK + c] = -INFINITY;
}

// SYMBOL symc_attention_rows_fNN
// NEEDS symc_scores_fNN symc_decay_fNN symc_logarithm_fNN SYMC_FOLDS
// The output of a block of queries. Sums are kept for the greatest score so far, and scaled when a
// block has a greater one. A score that is NaN is never the greatest; it makes the sum NaN.
static __attribute__((noinline)) void SYMC_FOLDS symc_attention_rows_fNN(const symc_attention *v,
                                                              int64_t batch, const real *q,
                                                              const real *k, const real *values,
                                                              const real *bias, real *output,
                                                              real *logs, int64_t i) {
    const int64_t rows = symc_block(v->n, i), e = v->e;
    real scores[SYMC_BLOCK * SYMC_BLOCK], top[SYMC_BLOCK];
    double sums[SYMC_BLOCK];
    output += (batch * v->n + i) * e;
    for (int64_t r = 0; r < rows; r++) top[r] = -INFINITY, sums[r] = 0;
    __builtin_memset(output, 0, (size_t)(rows * e) * sizeof(real));
    for (int64_t j = 0; j < v->m && (!v->causal || j < i + rows); j += SYMC_BLOCK) {
        const int64_t columns = symc_block(v->m, j);
        symc_scores_fNN(v, batch, q, k, bias, i, j, scores);
        for (int64_t r = 0; r < rows; r++) {
            real *const row = scores + r * SYMC_BLOCK, *const to = output + r * e;
            real greatest = top[r], sum = 0;
#pragma omp simd reduction(max : greatest)
            for (int64_t c = 0; c < columns; c++)
                greatest = row[c] > greatest ? row[c] : greatest;
            const real shift = greatest == -INFINITY ? 0 : greatest;
            const real factor = top[r] == -INFINITY ? 0 : symc_decay_fNN(top[r] - shift);
#pragma omp simd reduction(+ : sum)
            for (int64_t c = 0; c < columns; c++) {
                row[c] = symc_decay_fNN(row[c] - shift);
                sum += row[c];
            }
            if (greatest != top[r])
                _Pragma("omp simd")
                for (int64_t l = 0; l < e; l++) to[l] *= factor;
            sums[r] = sums[r] * factor + sum;
            top[r] = greatest;
        }
        symc_gemm_piece_fNN(0, 0, rows, v->e, columns, 1, scores, SYMC_BLOCK,
                            values + (batch * v->m + j) * v->e, v->row_e, 1, output, v->row_e);
    }
    for (int64_t r = 0; r < rows; r++) {
        logs[batch * v->n + i + r] = top[r] + symc_logarithm_fNN((real)sums[r]);
        const real sum = (real)sums[r];
        real *const to = output + r * e;
#pragma omp simd
        for (int64_t l = 0; l < (v->m > 0 ? e : 0); l++) to[l] /= sum;
    }
}

// SYMBOL symc_attention_outputs_fNN
// NEEDS symc_attention_rows_fNN symc_blas_enter
static void symc_attention_outputs_fNN(int64_t batch, int64_t n, int64_t m, int64_t d, int64_t e,
                                       int64_t causal, int64_t biased, int64_t shared,
                                       const real *q, const real *keys, const real *values,
                                       const real *bias, real *output, real *logs,
                                       int64_t threads) {
    const symc_attention v = {
        n, m, d, e, d > 0 ? d : 1, e > 0 ? e : 1, causal, biased, shared};
    const int64_t blocks = (n + SYMC_BLOCK - 1) / SYMC_BLOCK;
    const int guarded = symc_imports.functions[0] != 0;
    if (guarded) symc_blas_enter(1);
    const int many = threads > 1 && (double)batch * n * m > 1e4;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t job = 0; job < batch * blocks; job++)
        symc_attention_rows_fNN(&v, job / blocks, q, keys, values, bias, output, logs,
                                job % blocks * SYMC_BLOCK);
    if (guarded) symc_blas_enter(-1);
}

// SYMBOL symc_attention_back_fNN
// NEEDS symc_scores_fNN symc_power_fNN
// A block of the weights, and of the gradients of scores: weights (bar v' - delta), where delta is
// the sum of bar times output in each row.
static void symc_attention_back_fNN(const symc_attention *v, int64_t batch, const real *q,
                                    const real *k, const real *values, const real *bias,
                                    const real *output, const real *logs, const real *bar,
                                    int64_t i, int64_t j, real *weights, real *back) {
    const int64_t rows = symc_block(v->n, i), columns = symc_block(v->m, j);
    const int64_t first = batch * v->n + i;
    symc_scores_fNN(v, batch, q, k, bias, i, j, weights);
    symc_gemm_piece_fNN(0, 1, rows, columns, v->e, 1, bar + first * v->e, v->row_e,
                        values + (batch * v->m + j) * v->e, v->row_e, 0, back, SYMC_BLOCK);
    for (int64_t r = 0; r < rows; r++) {
        const real log = logs[first + r];
        const real *const to = bar + (first + r) * v->e, *const of = output + (first + r) * v->e;
        real *weight = weights + r * SYMC_BLOCK, *here = back + r * SYMC_BLOCK, delta = 0;
#pragma omp simd reduction(+ : delta)
        for (int64_t l = 0; l < v->e; l++) delta += to[l] * of[l];
#pragma omp simd
        for (int64_t c = 0; c < columns; c++) {
            weight[c] = symc_power_fNN(weight[c] - log);
            here[c] = weight[c] * (here[c] - delta);
        }
    }
}

// SYMBOL symc_attention_queries_fNN
// NEEDS symc_attention_back_fNN symc_blas_enter
// The gradient of the queries, or with `scores` the bias (of each of the batch).
static void symc_attention_queries_fNN(int64_t batch, int64_t n, int64_t m, int64_t d, int64_t e,
                                       int64_t causal, int64_t biased, int64_t shared,
                                       int64_t scores, const real *q, const real *keys,
                                       const real *values, const real *bias, const real *output,
                                       const real *logs, const real *bar, real *result,
                                       int64_t threads) {
    const symc_attention v = {
        n, m, d, e, d > 0 ? d : 1, e > 0 ? e : 1, causal, biased, shared};
    const int64_t blocks = (n + SYMC_BLOCK - 1) / SYMC_BLOCK, width = scores ? m : d;
    const int guarded = symc_imports.functions[0] != 0;
    if (guarded) symc_blas_enter(1);
    const int many = threads > 1 && (double)batch * n * m > 1e4;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t job = 0; job < batch * blocks; job++) {
        const int64_t number = job / blocks, i = job % blocks * SYMC_BLOCK;
        const int64_t rows = symc_block(n, i);
        real weights[SYMC_BLOCK * SYMC_BLOCK], back[SYMC_BLOCK * SYMC_BLOCK];
        real *to = result + (number * n + i) * width;
        __builtin_memset(to, 0, (size_t)(rows * width) * sizeof(real));
        for (int64_t j = 0; j < m && (!causal || j < i + rows); j += SYMC_BLOCK) {
            const int64_t columns = symc_block(m, j);
            symc_attention_back_fNN(&v, number, q, keys, values, bias, output, logs, bar, i, j,
                                    weights, back);
            for (int64_t r = 0; scores && r < rows; r++)
                for (int64_t c = 0; c < columns; c++) to[r * m + j + c] = back[r * SYMC_BLOCK + c];
            if (!scores)
                symc_gemm_piece_fNN(0, 0, rows, d, columns, 1, back, SYMC_BLOCK,
                                    keys + (number * m + j) * d, v.row_d, 1, to, v.row_d);
        }
    }
    if (guarded) symc_blas_enter(-1);
}

// SYMBOL symc_attention_keys_fNN
// NEEDS symc_attention_back_fNN symc_blas_enter
// The gradients of keys and values.
static void symc_attention_keys_fNN(int64_t batch, int64_t n, int64_t m, int64_t d, int64_t e,
                                    int64_t causal, int64_t biased, int64_t shared, const real *q,
                                    const real *keys, const real *values, const real *bias,
                                    const real *output, const real *logs, const real *bar,
                                    real *to_k, real *to_v, int64_t threads) {
    const symc_attention v = {
        n, m, d, e, d > 0 ? d : 1, e > 0 ? e : 1, causal, biased, shared};
    const int64_t blocks = (m + SYMC_BLOCK - 1) / SYMC_BLOCK;
    const int guarded = symc_imports.functions[0] != 0;
    if (guarded) symc_blas_enter(1);
    const int many = threads > 1 && (double)batch * n * m > 1e4;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t job = 0; job < batch * blocks; job++) {
        const int64_t number = job / blocks, j = job % blocks * SYMC_BLOCK;
        const int64_t columns = symc_block(m, j);
        real weights[SYMC_BLOCK * SYMC_BLOCK], back[SYMC_BLOCK * SYMC_BLOCK];
        real *to = to_k + (number * m + j) * d, *sums = to_v + (number * m + j) * e;
        __builtin_memset(to, 0, (size_t)(columns * d) * sizeof(real));
        __builtin_memset(sums, 0, (size_t)(columns * e) * sizeof(real));
        for (int64_t i = causal ? j : 0; i < n; i += SYMC_BLOCK) {
            const int64_t rows = symc_block(n, i);
            symc_attention_back_fNN(&v, number, q, keys, values, bias, output, logs, bar, i, j,
                                    weights, back);
            symc_gemm_piece_fNN(1, 0, columns, e, rows, 1, weights, SYMC_BLOCK,
                                bar + (number * n + i) * e, v.row_e, 1, sums, v.row_e);
            symc_gemm_piece_fNN(1, 0, columns, d, rows, 1, back, SYMC_BLOCK,
                                q + (number * n + i) * d, v.row_d, 1, to, v.row_d);
        }
    }
    if (guarded) symc_blas_enter(-1);
}
