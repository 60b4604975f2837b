/* ---- kernels ---- */

/* x * w + 1.5   test_targets.py:25 */
static __attribute__((noinline, noipa)) void add_kernel(
    const uint16_t *restrict x, const uint16_t *restrict w, uint16_t *restrict out,
    const int64_t x_1, const int64_t begin, const int64_t end)
{
    /* x * w + 1.5   test_targets.py:25 */
    for (int64_t i = begin; i < end; i++) {
        if (x_1 >= 32) {
            const int64_t block_2_end = (x_1 + 31) / 32;
            for (int64_t block_2 = 0; block_2 < block_2_end; block_2++) {
                const int64_t first_2 = symc_minimum_i64(block_2 * 32, x_1 + -32);
#pragma omp simd
                for (int64_t place_2 = 0; place_2 < 32; place_2++) {
                    const int64_t j_2 = first_2 + place_2;
                    const uint16_t t_2 = symc_f32_to_bf16(symc_bf16_to_f32(x[i * x_1 + j_2]) * symc_bf16_to_f32(w[j_2]));
                    out[i * x_1 + j_2] = symc_f32_to_bf16(symc_bf16_to_f32(t_2) + 1.5f);
                }
            }
        } else {
#pragma omp simd
            for (int64_t j = 0; j < x_1; j++) {
                const uint16_t t = symc_f32_to_bf16(symc_bf16_to_f32(x[i * x_1 + j]) * symc_bf16_to_f32(w[j]));
                out[i * x_1 + j] = symc_f32_to_bf16(symc_bf16_to_f32(t) + 1.5f);
            }
        }
    }
}

/* sum(x, axis=1)   test_targets.py:25 */
static __attribute__((noinline, noipa)) void sum_kernel_points(
    const uint16_t *restrict x, uint16_t *restrict out_2, const int64_t x_0, const int64_t x_1,
    const int64_t begin, const int64_t end)
{
    /* sum(x, axis=1)   test_targets.py:25 */
    for (int64_t block = begin; block < end; block++) {
        const int64_t start = block * 4096;
        const int64_t i_in_block_end = symc_minimum_i64(4096, (x_1 == 3 ? x_0 : 0) - start);
#pragma omp simd
        for (int64_t i_in_block = 0; i_in_block < i_in_block_end; i_in_block++) {
            const int64_t i = start + i_in_block;
            float acc = 0.0f;
            acc += symc_bf16_to_f32(x[i * 3]);
            acc += symc_bf16_to_f32(x[i * 3 + 1]);
            acc += symc_bf16_to_f32(x[i * 3 + 2]);
            out_2[i] = symc_f32_to_bf16(acc);
        }
    }
}

/* sum(x, axis=1)   test_targets.py:25 */
static __attribute__((noinline, noipa)) void SYMC_FOLDS sum_kernel(
    const uint16_t *restrict x, uint16_t *restrict out_2, const int64_t x_1, const int64_t begin,
    const int64_t end)
{
    /* sum(x, axis=1)   test_targets.py:25 */
    for (int64_t i = begin; i < end; i++) {
        float acc = 0.0f;
        if (x_1 < 24) {
            for (int64_t j_2 = 0; j_2 < x_1; j_2++) {
                acc += symc_bf16_to_f32(x[i * x_1 + j_2]);
            }
        } else {
            /* sum(x, axis=1)   test_targets.py:25 */
#pragma omp simd reduction(+:acc)
            for (int64_t j = 0; j < x_1; j++) {
                acc += symc_bf16_to_f32(x[i * x_1 + j]);
            }
        }
        out_2[i] = symc_f32_to_bf16(acc);
    }
}

