/* Softmax over rows: three passes over a row, which stays in the first-level cache. */
#include <stdint.h>

#include "vector_exp.h"

/* The exponentials are kept in `out` between the passes. */
void softmax(const float *restrict x, float *restrict out, int64_t rows, int64_t columns)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict from = x + i * columns;
        float *restrict to = out + i * columns;
        float most = -__builtin_inff();
#pragma omp simd reduction(max : most)
        for (int64_t j = 0; j < columns; j++)
            most = from[j] > most ? from[j] : most;
        float total = 0.0f;
#pragma omp simd reduction(+ : total)
        for (int64_t j = 0; j < columns; j++) {
            const float e = vector_exp(from[j] - most);
            to[j] = e;
            total += e;
        }
        const float factor = 1.0f / total;
#pragma omp simd
        for (int64_t j = 0; j < columns; j++)
            to[j] *= factor;
    }
}
