/* sum_j exp(-|x_i - x_j|^2) v_j for n points in three dimensions. */
#include <stdint.h>

#define VECTOR __attribute__((simd("notinbranch"), const))
VECTOR double exp(double);

void pairwise(const double *restrict x, const double *restrict v, double *restrict out, int64_t n)
{
    /* the coordinates side by side, so that the inner loop reads along the vector registers */
    double *restrict const by_axis = __builtin_malloc(3 * n * sizeof(double));
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < 3; k++)
            by_axis[k * n + j] = x[3 * j + k];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const double x0 = x[3 * i], x1 = x[3 * i + 1], x2 = x[3 * i + 2];
        double total = 0.0;
#pragma omp simd reduction(+ : total)
        for (int64_t j = 0; j < n; j++) {
            const double d0 = x0 - by_axis[j], d1 = x1 - by_axis[n + j];
            const double d2 = x2 - by_axis[2 * n + j];
            total += exp(-(d0 * d0 + d1 * d1 + d2 * d2)) * v[j];
        }
        out[i] = total;
    }
    __builtin_free(by_axis);
}
