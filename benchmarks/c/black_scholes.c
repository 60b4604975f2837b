/* European call and put prices, n at a time: libmvec's log, exp and erf in one OpenMP loop. */
#include <stdint.h>

#define VECTOR __attribute__((simd("notinbranch"), const))
VECTOR double log(double);
VECTOR double exp(double);
VECTOR double erf(double);
__attribute__((const)) double sqrt(double);

void black_scholes(const double *restrict spot, const double *restrict strike,
                   const double *restrict years, double rate, double sigma,
                   double *restrict call, double *restrict put, int64_t n)
{
    const double drift = rate + 0.5 * sigma * sigma;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const double spread = sigma * sqrt(years[i]);
        const double d1 = (log(spot[i] / strike[i]) + drift * years[i]) / spread;
        const double d2 = d1 - spread;
        const double present = strike[i] * exp(-rate * years[i]);
        const double n1 = 0.5 + 0.5 * erf(d1 * 0.70710678118654752440);
        const double n2 = 0.5 + 0.5 * erf(d2 * 0.70710678118654752440);
        const double price = spot[i] * n1 - present * n2;
        call[i] = price;
        put[i] = price - spot[i] + present;
    }
}
