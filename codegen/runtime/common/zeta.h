// Hurwitz' zeta function, exponential integrals, and Lambert's function.

// SYMBOL symc_zeta_sum_f64
// NEEDS fabs pow
// The sum of (q + n)^-s over n >= 0, q > 0, s not 1, by Euler and Maclaurin's formula (DLMF 25.11.5),
// which also continues it to s < 1.
static inline double symc_zeta_sum_f64(double s, double q) {
    static const double b[12] = {  // B(2k) / (2k)!
        0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05,
        -8.267195767195768e-07, 2.08767569878681e-08, -5.284190138687493e-10,
        1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
        -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812524e-19
    };
    double sum = 0.0;
    for (; q < 10.0 + 0.5 * s; q += 1.0) {
        double term = pow(q, -s);
        sum += term;
        if (term * q <= 0x1p-56 * sum && s > 2.0) return sum; /* also where terms are too small */
    }
    double power = pow(q, -s), rising = s / q, z = 1.0 / (q * q);
    sum += (power > 1e-280 ? power * q : pow(q, 1.0 - s)) / (s - 1.0) + 0.5 * power;
    for (int k = 0; k < 12; k++) {
        double term = b[k] * rising * power;
        sum += term;
        if (fabs(term) <= 0x1p-56 * fabs(sum)) break;
        rising *= (s + 2 * k + 1.0) * (s + 2 * k + 2.0) * z;
    }
    return sum;
}

// SYMBOL symc_hurwitz_f64
// NEEDS fabs floor pow rint symc_sinpi_f64 symc_zeta_sum_f64 tgamma
// Zeta(s, q) of s > 1; for q = 1 of any s, by the reflection DLMF 25.4.1. Negative q, for whole s:
// the sums on both sides of zero (25.11.1).
static inline double symc_hurwitz_f64(double s, double q) {
    if (s != s || q != q) return NAN;
    if (s == 1.0) return INFINITY;
    if (s < 1.0) {
        if (q != 1.0) return NAN;
        if (s > -0.5) return symc_zeta_sum_f64(s, 1.0); /* r below would round beside its pole */
        if (s == -INFINITY) return NAN;
        if (0.5 * s == rint(0.5 * s)) return 0.0;
        // (2 pi)^s Gamma(r), gamma doubled (DLMF 5.5.5): in two factors that do not overflow.
        double r = 1.0 - s, root = pow(3.141592653589793, -0.5 * r), size = INFINITY;
        if (r < 340.0)
            size = root * tgamma(0.5 * r) * 1.772453850905516 * (root * tgamma(0.5 * r + 0.5));
        return size / 3.141592653589793 * symc_sinpi_f64(0.5 * s) * symc_zeta_sum_f64(r, 1.0);
    }
    if (q > 0.0) return s == INFINITY ? (q > 1.0 ? 0.0 : q == 1.0 ? 1.0 : INFINITY)
                                      : q == INFINITY ? 0.0 : symc_zeta_sum_f64(s, q);
    if (q == -INFINITY) return NAN;
    if (q == rint(q)) return INFINITY;
    if (s != rint(s) || s == INFINITY) return NAN;
    double steps = -floor(q), r = q + steps, odd = fabs(s - 2.0 * rint(0.5 * s));
    double rest = -q - (steps - 1.0); /* 1 - r, exactly */
    double below = symc_zeta_sum_f64(s, rest) - symc_zeta_sum_f64(s, steps + 1.0 - r);
    return symc_zeta_sum_f64(s, r) + (odd == 1.0 ? -below : below);
}

// SYMBOL symc_exp1_scaled_f64
// NEEDS exp log
// exp(x) E1(x), x > 0: up to 1 by the series DLMF 6.6.2, beyond by the continued fraction 6.9.1, from
// its end.
static inline double symc_exp1_scaled_f64(double x) {
    if (x <= 1.0) {
        double sum = 0.0, term = 1.0;
        for (int k = 1; k < 30; k++) {
            term *= -x / k;
            sum -= term / k;
        }
        return exp(x) * (sum - 0.5772156649015329 - log(x));
    }
    int count = 10 + (int)(100.0 / x);
    double below = x + 2 * count + 1.0;
    for (int k = count; k > 0; k--) below = x + 2 * k - 1.0 - (double)k * k / below;
    return 1.0 / below;
}

// SYMBOL symc_exp1_f64
// NEEDS exp symc_exp1_scaled_f64
// E1(x), x > 0.
static inline double symc_exp1_f64(double x) {
    if (!(x >= 0.0)) return NAN;
    return x == 0.0 ? INFINITY : x > 745.0 ? 0.0 : exp(-x) * symc_exp1_scaled_f64(x);
}

// SYMBOL symc_expi_f64
// NEEDS exp log log1p symc_exp1_f64
// Ei(x): the series DLMF 6.6.1 less itself at the zero, so that digits are right around it; from 40
// on the asymptotic series 6.12.2.
static inline double symc_expi_f64(double x) {
    const double zero = 0.3725074107813666, rest = 1.3140183414386028e-17;
    if (x != x) return x;
    if (x < 0.0) return -symc_exp1_f64(-x);
    if (x == 0.0) return -INFINITY;
    if (x > 40.0) {
        double term = 1.0, sum = 1.0;
        for (int k = 1; k < 40; k++) {
            term *= k / x;
            sum += term;
            if (term < 0x1p-56) break;
        }
        double half = exp(0.5 * x);
        return half < INFINITY ? half * (half / x * sum) : INFINITY;
    }
    double apart = x - zero - rest, power = 1.0, difference = 0.0, at = 1.0, sum = 0.0;
    for (int k = 1; k < 200; k++) {  // difference: (x^k - zero^k) / (apart k!)
        difference = (x * difference + at) / k;
        at *= zero / k;
        power *= x / k;
        sum += difference / k;
        if (power < 0x1p-60 * sum * apart) break;
    }
    double ratio = apart / zero;
    return (ratio < -0.5 ? log(x) - log(zero) : log1p(ratio)) + apart * sum;
}

// SYMBOL symc_lambertw_branch_f64
// NEEDS exp fabs log log1p sqrt
// The real w with w exp(w) = x on branch 0 (w >= -1) or -1 (w <= -1): Halley's method from the series
// at the branch point -1/e, or from logarithms (Corless et al., Adv. Comput. Math. 5 (1996) 329).
static inline double symc_lambertw_branch_f64(double x, double branch) {
    int lower = branch == -1.0;
    if (x != x || (branch != 0.0 && !lower)) return NAN;
    if (x == INFINITY) return lower ? NAN : x;
    double over = (x + 0.36787944117144233 - 1.2428753672788363e-17) * 2.718281828459045;
    if (over < 0.0) return over > -1e-16 ? -1.0 : NAN;
    if (lower && x >= 0.0) return x == 0.0 ? -INFINITY : NAN;
    if (x == 0.0) return x;
    double p = sqrt(2.0 * over) * (lower ? -1.0 : 1.0), w;
    if (fabs(p) < 3e-2)
        return -1.0 + p * (1.0 + p * (-1.0 / 3.0 + p * (11.0 / 72.0 + p * (-43.0 / 540.0
             + p * (769.0 / 17280.0 + p * (-221.0 / 8505.0 + p * (680863.0 / 43545600.0
             + p * (-1963.0 / 204120.0 + p * (226287557.0 / 37623398400.0)))))))));
    if (fabs(p) < 0.5) w = -1.0 + p * (1.0 + p * (-1.0 / 3.0 + p * (11.0 / 72.0)));
    else if (lower) {
        double l = log(-x);
        w = l - log(-l);
    } else w = x < 3.0 ? log1p(x) * (1.0 - 0.3 * log1p(log1p(x) > 0.0 ? log1p(x) : 0.0))
                       : log(x) - log(log(x));
    for (int k = 0; k < 60; k++) {
        double miss = w - x * exp(-w);
        double step = miss / (w + 1.0 - (w + 2.0) * miss / (2.0 * w + 2.0));
        w -= step;
        if (fabs(step) <= 1e-10 * fabs(w)) {
            miss = w - x * exp(-w);
            return w - miss / (w + 1.0);
        }
    }
    return w;
}

// SYMBOL symc_owens_t_f64
// NEEDS erfc exp fabs
// Owen's T(h, a), the integral of exp(-h^2 (1 + t^2) / 2) / (2 pi (1 + t^2)) over 0 < t < a: by Gauss'
// rule for |a| <= 1, up to where the integrand has ended, and by symmetry (Owen, 1956) beyond.
static inline double symc_owens_t_f64(double h, double a) {
    static const double node[10] = {
        0.07652652113349734, 0.22778585114164507, 0.37370608871541955, 0.5108670019508271,
        0.636053680726515, 0.7463319064601508, 0.8391169718222188, 0.912234428251326,
        0.9639719272779138, 0.993128599185095
    };
    static const double weight[10] = {
        0.15275338713072628, 0.14917298647260424, 0.1420961093183824, 0.1316886384491769,
        0.1181945319615186, 0.1019301198172407, 0.08327674157670471, 0.06267204833410879,
        0.040601429800386446, 0.017614007139150893
    };
    if (h != h || a != a) return NAN;
    const double root = 0.7071067811865476, tau = 6.283185307179586;
    double size = fabs(a), x = fabs(h), swapped = size > 1.0, outer = 0.0;
    if (swapped != 0.0) {
        if (size == INFINITY) return (a < 0.0 ? -0.25 : 0.25) * erfc(x * root);
        double near = 0.5 * erfc(x * root), far = 0.5 * erfc(x * size * root);
        outer = x == 0.0 ? 0.25 : 0.5 * (near + far) - near * far;
        x = x * size;
        size = 1.0 / size;
    }
    if (x == INFINITY) return swapped != 0.0 ? (a < 0.0 ? -outer : outer) : a < 0.0 ? -0.0 : 0.0;
    double end = x * size > 9.0 ? 9.0 / x : size, sum = 0.0;
    for (int piece = 0; piece < 2; piece++)
        for (int k = 0; k < 20; k++) {
            double at = k < 10 ? node[k] : -node[k - 10];
            double t = 0.25 * end * (at + 1.0) + 0.5 * piece * end;
            sum += weight[k % 10] * exp(-0.5 * (x * t) * (x * t)) / (1.0 + t * t);
        }
    double inner = 0.25 * end * sum * exp(-0.5 * x * x) / tau;
    double result = swapped != 0.0 ? outer - inner : inner;
    return a < 0.0 ? -result : result;
}
