#include "waves.h"

#include <math.h>
#include <stdint.h>

// The running sum of x, each with `step` added, and the sum of all.
void running(const double *x, int64_t n, double step, double *y, double *total) {
    *total = 0;
    for (int64_t i = 0; i < n; i++) y[i] = *total += x[i] + step;
}

void outer(const float *a, int64_t n, const float *b, int64_t m, int64_t size, float *c) {
    for (int64_t i = 0; i < size; i++) c[i] = n && m ? a[i / m] * b[i % m] : 0;
}

double wave(double x, double a) { return waves_half(sin(a * x)); }

float tripled(float x) { return 3 * x; }

int64_t other(int64_t x) { return x; }
