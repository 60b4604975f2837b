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
// B(a, b) for 0 < a <= b. From b >= 10 on with Stirling's formula (DLMF 5.11.1) for what is large.
static inline double symc_beta_ordered_f64(double a, double b) {
    const double tau = 6.283185307179586;
    double sum = a + b;
    if (b < 10.0) {
        double lost = sum > 2.0 ? (a - (sum - b)) * (log(sum) - 0.5 / sum) : 0.0;
        return tgamma(a) * (tgamma(b) / tgamma(sum)) * (1.0 - lost);
    }
    if (b > 0x1p1000) return tgamma(a) * pow(b, -a);
    double small = symc_stirling_f64(b) - symc_stirling_f64(sum);
    if (a < 10.0)
        return tgamma(a) * pow(sum, -a) * exp(a + small) * symc_power_of_share_f64(b, a, b - 0.5);
    return sqrt(tau / a * (sum / b)) * exp(symc_stirling_f64(a) + small) *
           symc_power_of_share_f64(a, b, a) * symc_power_of_share_f64(b, a, b);
}

// SYMBOL symc_beta_f64
// NEEDS floor rint symc_beta_ordered_f64 tgamma
// B(a, b). Where one argument is zero or a negative whole number it is inf, but for a whole b with
// 1 - a - b > 0 it is (-1)^b B(1 - a - b, b), as in scipy. Other negative arguments go through
// gamma itself and are right only while that neither overflows nor underflows.
static inline double symc_beta_f64(double a, double b) {
    double low = a < b ? a : b, high = a < b ? b : a;
    if (a != a || b != b) return NAN;
    if (low > 0.0) return symc_beta_ordered_f64(low, high);
    if (low == rint(low)) {
        double mirrored = 1.0 - low - high;
        if (high != rint(high) || !(mirrored > 0.0) || high <= 0.0) return INFINITY;
        double size = mirrored < high ? symc_beta_ordered_f64(mirrored, high)
                                      : symc_beta_ordered_f64(high, mirrored);
        return 0.5 * high == floor(0.5 * high) ? size : -size;
    }
    if (high <= 0.0 && high == rint(high)) return INFINITY;
    double sum = low + high;
    if (sum <= 0.0 && sum == rint(sum)) return 0.0;
    return tgamma(low) * (tgamma(high) / tgamma(sum));
}

// SYMBOL symc_betaln_f64
// NEEDS fabs lgamma_r log log1p symc_beta_f64 symc_stirling_f64 symc_gammaln_f64
// log |B(a, b)|: the logarithm of beta where that is a normal number, else term by term.
static inline double symc_betaln_f64(double a, double b) {
    const double log_tau = 1.8378770664093453;
    double direct = fabs(symc_beta_f64(a, b));
    if ((direct > 0x1p-1000 && direct < 0x1p1000) || direct != direct) return log(direct);
    double low = a < b ? a : b, high = a < b ? b : a;
    if (!(low > 0.0) || high < 10.0) return log(direct);
    double sum = low + high, ratio = low / high;
    double tail = (0.5 - high) * log1p(ratio) + symc_stirling_f64(high) - symc_stirling_f64(sum);
    if (low < 10.0) return symc_gammaln_f64(low) - low * log(sum) + (tail + low);
    return low * log(low / sum) + (tail + symc_stirling_f64(low) + 0.5 * (log_tau - log(low)));
}
