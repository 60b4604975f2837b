// The gamma function, its logarithm and the logarithm's derivatives.

// SYMBOL symc_gamma_f64
// NEEDS tgamma
// Gamma(x). Poles: gamma(0) = inf, gamma(-0.0) = -inf, NaN at negative whole numbers and -inf.
static inline double symc_gamma_f64(double x) {
    return tgamma(x);
}

// SYMBOL symc_gammaln_f64
// NEEDS lgamma_r
// log |Gamma(x)|; inf at the poles and at -inf. lgamma_r, because lgamma writes the global signgam.
static inline double symc_gammaln_f64(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

// SYMBOL symc_digamma_f64
// NEEDS copysign log rint tan
// Gamma'(x) / Gamma(x). digamma(0) = -inf, digamma(-0.0) = inf, NaN at negative whole numbers and
// -inf.
//
// x < 0: reflection, DLMF 5.5.4. x >= 10: asymptotic series, DLMF 5.11.2. Between: recurrence,
// DLMF 5.5.2, to [1, 2], where digamma(x) / (x - root) is the interpolant at 23 Chebyshev points;
// the root is subtracted in two parts so that all digits are right beside it too.
static inline double symc_digamma_f64(double x) {
    const double pi = 3.141592653589793;
    double sum = 0.0;
    if (x == 0.0) return copysign(INFINITY, -x);
    if (x < 0.0) {
        double offset = x - rint(x);
        if (offset == 0.0) return NAN;
        sum = -pi / tan(pi * offset);
        x = 1.0 - x;
    }
    if (x >= 10.0) {
        double z = 1.0 / (x * x);
        double p = 3617.0 / 8160.0;
        p = p * z - 1.0 / 12.0;
        p = p * z + 691.0 / 32760.0;
        p = p * z - 1.0 / 132.0;
        p = p * z + 1.0 / 240.0;
        p = p * z - 1.0 / 252.0;
        p = p * z + 1.0 / 120.0;
        p = p * z - 1.0 / 12.0;
        return sum + (log(x) - 0.5 / x + p * z);
    }
    while (x > 2.0) {
        x -= 1.0;
        sum += 1.0 / x;
    }
    if (x < 1.0) {
        sum -= 1.0 / x;
        x += 1.0;
    }
    double t = 2.0 * x - 3.0;
    double p = 2.832706668021759e-11;
    p = p * t - 8.498137230186096e-11;
    p = p * t + 9.206434499177992e-11;
    p = p * t - 2.7619635330317715e-10;
    p = p * t + 1.2358072433984831e-09;
    p = p * t - 3.7075072647122386e-09;
    p = p * t + 1.0542687624027994e-08;
    p = p * t - 3.163020268955334e-08;
    p = p * t + 9.542050972688906e-08;
    p = p * t - 2.86315275846934e-07;
    p = p * t + 8.589127353033379e-07;
    p = p * t - 2.57809436305308e-06;
    p = p * t + 7.741232223504057e-06;
    p = p * t - 2.325824239445257e-05;
    p = p * t + 6.995018873950506e-05;
    p = p * t - 0.00021074841140458636;
    p = p * t + 0.0006368880303257201;
    p = p * t - 0.0019350666648590097;
    p = p * t + 0.005936795278305649;
    p = p * t - 0.018550615381735115;
    p = p * t + 0.060135621060196744;
    p = p * t - 0.2118137106407303;
    p = p * t + 0.9510558760318328;
    return sum + ((x - 1.4616321449683622) - 9.549995429965697e-17) * p;
}

// SYMBOL symc_trigamma_f64
// NEEDS rint sin
// The derivative of digamma; inf at 0, negative whole numbers and -inf.
//
// x < 0: reflection, DLMF 5.15.6. Then recurrence, DLMF 5.15.5, up to 10 and the asymptotic
// series, DLMF 5.15.8.
static inline double symc_trigamma_f64(double x) {
    const double pi = 3.141592653589793;
    double sum = 0.0, sign = 1.0;
    if (x <= 0.0) {
        double offset = x - rint(x);
        if (!(offset != 0.0) || x - x != 0.0) return INFINITY;
        double ratio = pi / sin(pi * offset);
        sum = ratio * ratio;
        sign = -1.0;
        x = 1.0 - x;
    }
    for (; x < 10.0; x += 1.0) sum += sign / (x * x);
    double inverse = 1.0 / x, z = inverse * inverse;
    double p = 43867.0 / 798.0;
    p = p * z - 3617.0 / 510.0;
    p = p * z + 7.0 / 6.0;
    p = p * z - 691.0 / 2730.0;
    p = p * z + 5.0 / 66.0;
    p = p * z - 1.0 / 30.0;
    p = p * z + 1.0 / 42.0;
    p = p * z - 1.0 / 30.0;
    p = p * z + 1.0 / 6.0;
    return sum + sign * (inverse + 0.5 * z + p * z * inverse);
}

// SYMBOL symc_tetragamma_f64
// NEEDS copysign cos rint sin
// The derivative of trigamma. tetragamma(0) = -inf, tetragamma(-0.0) = inf, NaN at negative whole
// numbers and -inf. By the derivatives of trigamma's formulas.
static inline double symc_tetragamma_f64(double x) {
    const double pi = 3.141592653589793;
    double sum = -0.0;  // the sign of tetragamma(inf)
    if (x == 0.0) return copysign(INFINITY, -x);
    if (x < 0.0) {
        double offset = x - rint(x);
        if (!(offset != 0.0) || x - x != 0.0) return NAN;
        double ratio = pi / sin(pi * offset);
        sum = -2.0 * ratio * ratio * ratio * cos(pi * offset);
        x = 1.0 - x;
    }
    for (; x < 10.0; x += 1.0) sum -= 2.0 / (x * x * x);
    double inverse = 1.0 / x, z = inverse * inverse;
    double p = 43867.0 / 42.0;
    p = p * z - 3617.0 / 30.0;
    p = p * z + 35.0 / 2.0;
    p = p * z - 691.0 / 210.0;
    p = p * z + 5.0 / 6.0;
    p = p * z - 3.0 / 10.0;
    p = p * z + 1.0 / 6.0;
    p = p * z - 1.0 / 6.0;
    p = p * z + 1.0 / 2.0;
    return sum - z * (1.0 + inverse + p * z);
}

// SYMBOL symc_stirling_f64
// log(Gamma(x) / (sqrt(2 pi / x) (x / e)^x)) for x >= 10: the asymptotic series DLMF 5.11.1. It is
// below 0.01, so callers may take exp of it and lose nothing.
static inline double symc_stirling_f64(double x) {
    double inverse = 1.0 / x, z = inverse * inverse;
    double p = -3617.0 / 122400.0;
    p = p * z + 1.0 / 156.0;
    p = p * z - 691.0 / 360360.0;
    p = p * z + 1.0 / 1188.0;
    p = p * z - 1.0 / 1680.0;
    p = p * z + 1.0 / 1260.0;
    p = p * z - 1.0 / 360.0;
    p = p * z + 1.0 / 12.0;
    return p * inverse;
}
