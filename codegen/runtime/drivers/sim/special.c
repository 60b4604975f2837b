// Mathematical functions that CUDA has and the C library has not, to nearly full double precision:
// the work is done in long double.
#include <math.h>

#include "driver.h"

static const long double SQRT_PI = 1.77245385090551602729816748334L;
static const long double SQRT_2 = 1.41421356237309504880168872421L;

static long double scaled_erfc(long double x) {
    if (x < 25.0L) return expl(x * x) * erfcl(x);
    long double term = 1.0L, sum = 1.0L;  // the asymptotic series: its terms fall 1000-fold
    for (int n = 1; n < 9; n++) sum += term *= -(2 * n - 1) / (2 * x * x);
    return sum / (x * SQRT_PI);
}

double symc_erfcx(double x) { return (double)scaled_erfc(x); }

// Solves erfc(z) = y for 0 < y <= 1: Halley's method on log erfc, which is nearly a parabola, from
// its asymptote.
static long double inverse_erfc(long double y) {
    long double z = sqrtl(-logl(y));
    for (int step = 0; step < 50; step++) {
        long double scaled = scaled_erfc(z);
        long double excess = logl(scaled) - z * z - logl(y);
        long double slope = -2 / (SQRT_PI * scaled);
        long double curvature = slope * (-2 * z - slope);
        long double change = excess / (slope - excess * curvature / (2 * slope));
        z -= change;
        if (fabsl(change) <= 1e-19L * fabsl(z)) break;
    }
    return z;
}

double symc_erfcinv(double y) {
    if (!(y >= 0.0 && y <= 2.0)) return (double)NAN;
    if (y == 0.0 || y == 2.0) return y == 0.0 ? (double)INFINITY : -(double)INFINITY;
    if (y > 0.5 && y < 1.5) return symc_erfinv((double)(1.0L - y));
    return (double)(y <= 1.0 ? inverse_erfc(y) : -inverse_erfc(2.0L - y));
}

double symc_erfinv(double x) {
    if (!(x >= -1.0 && x <= 1.0)) return (double)NAN;
    if (fabs(x) == 1.0) return x * (double)INFINITY;
    if (fabs(x) > 0.5) return (double)copysignl(inverse_erfc(1.0L - fabsl(x)), x);
    long double z = 0.5L * SQRT_PI * x;  // Newton's method, from the first term of the series
    for (int step = 0; step < 8; step++) {
        z -= (erfl(z) - x) * 0.5L * SQRT_PI * expl(z * z);
    }
    return (double)z;
}

double symc_normcdf(double x) { return (double)(0.5L * erfcl(-x / SQRT_2)); }

double symc_normcdfinv(double p) {
    if (!(p >= 0.0 && p <= 1.0)) return (double)NAN;
    if (p == 0.0 || p == 1.0) return p == 0.0 ? -(double)INFINITY : (double)INFINITY;
    if (fabs(p - 0.5) < 0.25) return (double)(SQRT_2 * symc_erfinv((double)(2.0L * p - 1.0L)));
    return (double)(p < 0.5 ? -SQRT_2 * inverse_erfc(2.0L * p)
                            : SQRT_2 * inverse_erfc(2.0L * (1.0L - p)));
}

// The modified Bessel function of order 0 or 1: its series, or its asymptotic one.
static long double bessel_i(int order, long double x) {
    long double size = fabsl(x), sum, term;
    if (size < 40.0L) {
        sum = term = order ? size / 2 : 1.0L;
        for (int k = 1; term > 1e-22L * sum; k++) {
            sum += term *= size * size / 4 / ((long double)k * (k + order));
        }
    } else {
        sum = term = 1.0L;
        for (int k = 1; k < 40; k++) {
            int odd = 2 * k - 1;
            sum += term *= (odd * odd - 4 * order) / (8.0L * k * size);
        }
        sum *= expl(size) / sqrtl(2 * acosl(-1.0L) * size);
    }
    return order && x < 0 ? -sum : sum;
}

double symc_i0(double x) { return (double)bessel_i(0, x); }

double symc_i1(double x) { return (double)bessel_i(1, x); }
