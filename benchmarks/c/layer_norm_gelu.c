/* Layer normalisation with scale and shift, then gelu with erf: one pass over rows in the cache. */
#include <stdint.h>

#define VECTOR __attribute__((simd("notinbranch"), const))
VECTOR float erff(float);

void layer_norm_gelu(const float *restrict x, const float *restrict scale,
                     const float *restrict shift, float *restrict out, int64_t rows,
                     int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict from = x + i * columns;
        float *restrict to = out + i * columns;
        float total = 0.0f, squares = 0.0f;
#pragma omp simd reduction(+ : total)
        for (int64_t j = 0; j < columns; j++)
            total += from[j];
        const float mean = total / columns;
#pragma omp simd reduction(+ : squares)
        for (int64_t j = 0; j < columns; j++)
            squares += (from[j] - mean) * (from[j] - mean);
        const float factor = 1.0f / __builtin_sqrtf(squares / columns + 1e-5f);
#pragma omp simd
        for (int64_t j = 0; j < columns; j++) {
            const float y = (from[j] - mean) * factor * scale[j] + shift[j];
            to[j] = y * (0.5f + 0.5f * erff(y * 0.70710678118654752440f));
        }
    }
}
