// The functions of libm.h that CUDA lacks.

// SYMBOL lgamma_r
// NEEDS floor
// log |Gamma(x)|, and at `sign` the sign of Gamma: between -1 and 0, -3 and -2, ... it is negative.
static inline double symc_lgamma_r(double x, int *sign) {
    double below = floor(x);
    *sign = below < x && x < 0.0 && 0.5 * below != floor(0.5 * below) ? -1 : 1;
    if (x == 0.0 && 1.0 / x < 0.0) *sign = -1;
    return lgamma(x);
}
#define lgamma_r symc_lgamma_r
