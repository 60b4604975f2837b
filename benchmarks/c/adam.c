/* One step of Adam: parameters and both running means are changed in place. */
#include <stdint.h>

void adam(float *restrict value, float *restrict mean, float *restrict squares,
          const float *restrict gradient, float rate, float from_mean, float from_squares,
          int64_t count)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count; i++) {
        const float g = gradient[i];
        const float m = mean[i] = 0.9f * mean[i] + 0.1f * g;
        const float s = squares[i] = 0.999f * squares[i] + 0.001f * (g * g);
        value[i] -= rate * (m * from_mean / (__builtin_sqrtf(s * from_squares) + 1e-8f));
    }
}
