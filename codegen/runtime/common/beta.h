// The beta function B(a, b) = Gamma(a) Gamma(b) / Gamma(a + b) and its logarithm.

// SYMBOL symc_power_of_share_f64
// NEEDS exp fma pow
// (a / (a + b))^n for positive a, b, n, as accurate as pow: the rounding errors of the sum (Knuth's
// two-sum) and of the quotient (its remainder), which n would multiply, go back in as exp(n error).
static inline double symc_power_of_share_f64(double a, double b, double n) {
    double sum = a + b, other = sum - a;
    double lost = (a - (sum - other)) + (b - other);
    double share = a / sum;
    double rest = fma(-share, sum, a) - share * lost;
    double power = pow(share, n);
    return power > 0.0 ? power * exp(n * (rest / a)) : 0.0;
}

// SYMBOL symc_beta_ordered_f64
// NEEDS exp log pow sqrt symc_power_of_share_f64 symc_stirling_f64 tgamma
// B(a, b) for 0 < a <= b. From b >= 10 on with Stirling's formula (DLMF 5.11.1) for large numbers.
static inline double symc_beta_ordered_f64(double a, double b) {
    const double tau = 6.283185307179586;
    if (b < 0x1p-100) return 1.0 / a + 1.0 / b;
    double sum = a + b;
    if (b < 10.0) {
        double lost = sum > 2.0 ? (a - (sum - b)) * (log(sum) - 0.5 / sum) : 0.0;
        return tgamma(a) * (tgamma(b) / tgamma(sum)) * (1.0 - lost);
    }
    if (a > 1100.0) return 0.0;
    if (b > 0x1p1000) return a > 100.0 ? 0.0 : tgamma(a) * pow(b, -a);
    double small = symc_stirling_f64(b) - symc_stirling_f64(sum);
    if (a < 10.0)
        return tgamma(a) * pow(sum, -a) * exp(a + small) * symc_power_of_share_f64(b, a, b - 0.5);
    return sqrt(tau / a * (sum / b)) * exp(symc_stirling_f64(a) + small) *
           symc_power_of_share_f64(a, b, a) * symc_power_of_share_f64(b, a, b);
}

// SYMBOL symc_sinpi_sum_f64
// NEEDS rint symc_sinpi_f64
// sin(pi (a + b)), also where the sum rounds (Knuth's two-sum).
static inline double symc_sinpi_sum_f64(double a, double b) {
    double sum = a + b, other = sum - a, lost = (a - (sum - other)) + (b - other);
    double cosine = symc_sinpi_f64(0.5 - (sum - 2.0 * rint(0.5 * sum)));
    return symc_sinpi_f64(sum) * symc_sinpi_f64(0.5 - lost) + cosine * symc_sinpi_f64(lost);
}

// SYMBOL symc_beta_reflected_f64
// NEEDS symc_sinpi_f64 symc_sinpi_sum_f64
// B(a, b) of a negative a is factor B(c, d), or factor / B(c, d), of positive c and d, by the
// reflection DLMF 5.5.3 of each negative number among a, b and a + b. Returns whether it is a quotient.
static inline int symc_beta_reflected_f64(double a, double b, double *c, double *d, double *factor) {
    const double pi = 3.141592653589793;
    double sum = a + b, sine = symc_sinpi_f64(a);
    if (sum > 0.0) {
        *c = sum, *d = -a, *factor = -pi / (a * sine);
        return 1;
    }
    if (b > 0.0) {
        *c = b, *d = 1.0 - sum, *factor = symc_sinpi_sum_f64(a, b) / sine;
        return 0;
    }
    *c = 1.0 - a, *d = 1.0 - b;
    *factor = pi / (1.0 - sum) * (symc_sinpi_sum_f64(a, b) / (sine * symc_sinpi_f64(b)));
    return 1;
}

// SYMBOL symc_betaln_ordered_f64
// NEEDS log log1p symc_gammaln_f64 symc_stirling_f64
// log B(a, b) for 0 < a <= b and b >= 10, with Stirling's formula (DLMF 5.11.1) for large numbers.
static inline double symc_betaln_ordered_f64(double a, double b) {
    const double log_tau = 1.8378770664093453;
    double sum = a + b, tail = (0.5 - b) * log1p(a / b) + symc_stirling_f64(b) - symc_stirling_f64(sum);
    if (a < 10.0) return symc_gammaln_f64(a) - a * log(sum) + (tail + a);
    return tail - a * log1p(b / a) + symc_stirling_f64(a) + 0.5 * (log_tau - log(a));
}

// SYMBOL symc_beta_below_f64
// NEEDS copysign exp fabs log symc_beta_ordered_f64 symc_beta_reflected_f64 symc_betaln_ordered_f64
// B(a, b) for a < -20, reflected. Of values of B that are no normal numbers the logarithm is taken.
static inline double symc_beta_below_f64(double a, double b) {
    double c, d, factor;
    int quotient = symc_beta_reflected_f64(a, b, &c, &d, &factor);
    if (factor == 0.0) return factor; // a pole of Gamma(a + b)
    double low = c < d ? c : d, high = c < d ? d : c, size = symc_beta_ordered_f64(low, high);
    if (size < 0x1p-1000) {
        double log_of_size = symc_betaln_ordered_f64(low, high), more = log(fabs(factor));
        return copysign(exp(quotient ? more - log_of_size : more + log_of_size), factor);
    }
    return quotient ? factor / size : factor * size;
}

// SYMBOL symc_beta_f64
// NEEDS floor pow rint symc_beta_below_f64 symc_beta_ordered_f64 tgamma
// B(a, b); 0 for b = inf. Where one argument is zero or a negative whole number it is inf, but for
// a whole b with 1 - a - b > 0 it is (-1)^b B(1 - a - b, b), as in scipy. Other negative arguments
// are stepped up by B(a, b) = B(a + 1, b) (a + b) / a, below -20 reflected. The steps would overflow on
// the way for a large b, where Gamma(b) / Gamma(a + b) is b^-a to all digits (DLMF 5.11.12), and for
// a tiny a, where Gamma(a) is 1 / a (DLMF 5.7.1).
static inline double symc_beta_f64(double a, double b) {
    double low = a < b ? a : b, high = a < b ? b : a;
    if (a != a || b != b || low == -INFINITY) return NAN;
    if (low <= 0.0 && low == rint(low)) {
        double mirrored = 1.0 - low - high;
        if (high != rint(high) || !(mirrored > 0.0) || high <= 0.0) return INFINITY;
        double size = mirrored < high ? symc_beta_ordered_f64(mirrored, high)
                                      : symc_beta_ordered_f64(high, mirrored);
        return 0.5 * high == floor(0.5 * high) ? size : -size;
    }
    if (high <= 0.0 && high == rint(high)) return INFINITY;
    if (high == INFINITY) return low > 0.0 ? 0.0 : tgamma(low) * INFINITY;
    if (low < -20.0) return symc_beta_below_f64(low, high);
    if (low < 0.0 && high > 0x1p60) {
        double root = pow(high, -0.5 * low);
        return tgamma(low) * root * root;
    }
    double scale = low < 0.0 && high > 0x1p40 ? 0x1p900 : 1.0, factor = 1.0 / scale;
    while (low <= -0x1p-60) {
        factor *= (low + high) / low;
        double next = low + 1.0;
        low = next < high ? next : high;
        high = next < high ? high : next;
    }
    if (low < 0.0) return factor * (high < 0x1p-60 ? (low + high) / low / high : 1.0 / low) * scale;
    return factor == 0.0 ? factor : factor * symc_beta_ordered_f64(low, high) * scale;
}

// SYMBOL symc_betaln_f64
// NEEDS fabs log rint symc_beta_f64 symc_beta_reflected_f64 symc_betaln_ordered_f64
// log |B(a, b)|: the logarithm of beta where that is a normal number, else term by term.
static inline double symc_betaln_f64(double a, double b) {
    double direct = fabs(symc_beta_f64(a, b));
    if ((direct > 0x1p-1000 && direct < 0x1p1000) || direct != direct) return log(direct);
    double low = a < b ? a : b, high = a < b ? b : a, factor = 1.0, c, d;
    int quotient = 0;
    double tiny = fabs(a) < fabs(b) ? a : b, other = fabs(a) < fabs(b) ? b : a;
    if (tiny != 0.0 && fabs(tiny) < 0x1p-1000 && fabs(other) < INFINITY &&
        !(other <= 0.0 && other == rint(other)))  // 1 / a + 1 / b, or 1 / tiny
        return (fabs(other) < 0x1p-60 ? log(fabs(1.0 + tiny / other)) : 0.0) - log(fabs(tiny));
    if (low < 0.0 && high < INFINITY && high != 0.0) {
        if (low != rint(low)) quotient = symc_beta_reflected_f64(low, high, &c, &d, &factor);
        else c = high == rint(high) && high > 0.0 ? 1.0 - low - high : 0.0, d = high; // as in beta
        low = c < d ? c : d;
        high = c < d ? d : c;
    }
    if (!(low > 0.0) || high < 10.0 || high == INFINITY) return log(direct);
    double size = symc_betaln_ordered_f64(low, high);
    return log(fabs(factor)) + (quotient ? -size : size);
}
