// The regularised incomplete beta function I(a, b, x), its slopes by a and b, and inverses of it and
// of the incomplete gamma functions.

// SYMBOL symc_beta_term_f64
// NEEDS exp fma log log1p pow sqrt symc_beta_f64 symc_betaln_f64 symc_log1p_excess_f64
// NEEDS symc_stirling_f64
// x^a y^b / B(a, b) for y = 1 - x. For large a and b by Stirling's formula around x = a / (a + b),
// where the leading terms cancel; `apart` is x (a + b) - a with all digits.
static inline double symc_beta_term_f64(double a, double b, double x, double y) {
    if (a >= 10.0 && b >= 10.0) {
        double s = a + b, rest = symc_stirling_f64(s) - symc_stirling_f64(a) - symc_stirling_f64(b);
        double lost = a > b ? b - (s - a) : a - (s - b);
        double apart = x < y ? fma(x, s, -a) + x * lost : -(fma(y, s, -b) + y * lost);
        double excess = a * symc_log1p_excess_f64(apart / a) + b * symc_log1p_excess_f64(-apart / b);
        return sqrt(a / s * b / 6.283185307179586) * exp(rest - excess);
    }
    double whole = symc_beta_f64(a, b);
    if (!(whole > 0x1p-1000 && whole < INFINITY)) {
        double logs = x < y ? b * log1p(-x) + a * log(x) : a * log1p(-y) + b * log(y);
        return exp(logs - symc_betaln_f64(a, b));
    }
    double power = x < y ? exp(b * log1p(-x)) * pow(x, a) : exp(a * log1p(-y)) * pow(y, b);
    return power / whole;
}

// SYMBOL symc_beta_step_f64
// The numerator k of the continued fraction DLMF 8.17.22, and its derivatives by a and b.
static inline double symc_beta_step_f64(double a, double b, double x, int k, double *slopes) {
    double m = k / 2, n;
    if (k & 1) {
        n = -(a + m) / (a + 2.0 * m) * (a + b + m) / (a + 2.0 * m + 1.0) * x;
        slopes[1] = n / (a + b + m);
        slopes[0] = slopes[1] + n * (1.0 / (a + m) - 1.0 / (a + 2.0 * m) - 1.0 / (a + 2.0 * m + 1.0));
    } else {
        slopes[1] = m / (a + 2.0 * m - 1.0) / (a + 2.0 * m) * x;
        n = slopes[1] * (b - m);
        slopes[0] = -n * (1.0 / (a + 2.0 * m - 1.0) + 1.0 / (a + 2.0 * m));
    }
    return n;
}

// SYMBOL symc_beta_tail_f64
// NEEDS fabs log log1p symc_beta_step_f64 symc_beta_term_f64 symc_digamma_f64
// I(a, b, x) by that fraction, for x below its mean; at `slopes` also the derivatives by a and b.
// Lentz's method finds how many steps it takes, and from the last to the first they are exact.
static inline double symc_beta_tail_f64(double a, double b, double x, double y, double *slopes) {
    double c = 0x1p900, d = 1.0, steps[2], front = symc_beta_term_f64(a, b, x, y) / a;
    int count = 0;
    if (front == 0.0) return slopes[0] = slopes[1] = 0.0; /* also for x = 1, where there is no end */
    while (count++ < 100000) {
        double n = symc_beta_step_f64(a, b, x, count, steps), under = 1.0 + n * d;
        d = 1.0 / (fabs(under) < 1e-300 ? 1e-300 : under);
        c = 1.0 + n / c;
        if (fabs(c) < 1e-300) c = 1e-300;
        if (fabs(c * d - 1.0) < 0x1p-53) break;
    }
    double below = 1.0, by_a = 0.0, by_b = 0.0;
    for (int k = count + 4; k > 0; k--) {
        double n = symc_beta_step_f64(a, b, x, k, steps) / below;
        by_a = (steps[0] - n * by_a) / below;
        by_b = (steps[1] - n * by_b) / below;
        below = 1.0 + n;
    }
    double value = front / below, both = symc_digamma_f64(a + b);
    double lx = x < y ? log(x) : log1p(-y), ly = x < y ? log1p(-x) : log(y);
    slopes[0] = value * (lx - symc_digamma_f64(a + 1.0) + both - by_a / below);
    slopes[1] = value * (ly - symc_digamma_f64(b) + both - by_b / below);
    return value;
}

// SYMBOL symc_betainc_all_f64
// NEEDS symc_beta_tail_f64
// I(a, b, x) (part 0), its complement (1), and its derivatives by a (2) and b (3), for y = 1 - x.
static inline double symc_betainc_all_f64(double a, double b, double x, double y, int part) {
    if (!(a >= 0.0 && b >= 0.0 && x >= 0.0 && y >= 0.0)) return NAN;
    if ((a == 0.0 && b == 0.0) || (a == INFINITY && b == INFINITY)) return NAN;
    if (part > 1 && (a == 0.0 || b == 0.0)) return NAN;
    double sure = x == 0.0 || y == 0.0 || a == 0.0 || b == 0.0 || a == INFINITY || b == INFINITY;
    if (sure) {
        int full = x > 0.0 && (y == 0.0 || a == 0.0 || b == INFINITY);
        return part > 1 ? 0.0 : (double)(part ? !full : full);
    }
    double slopes[2], swap = x > (a + 1.0) / (a + b + 2.0);
    double value = swap != 0.0 ? symc_beta_tail_f64(b, a, y, x, slopes)
                        : symc_beta_tail_f64(a, b, x, y, slopes);
    if (swap != 0.0 && value > 0.9 && x < 0.99 && part != 1) {  // what remains has lost digits
        swap = 0.0;
        value = symc_beta_tail_f64(a, b, x, y, slopes);
    } else if (swap == 0.0 && value > 0.9 && y < 0.99 && part) {
        swap = 1.0;
        value = symc_beta_tail_f64(b, a, y, x, slopes);
    }
    if (part == 2) return swap != 0.0 ? -slopes[1] : slopes[0];
    if (part == 3) return swap != 0.0 ? -slopes[0] : slopes[1];
    return (swap != 0.0) == (part == 1) ? value : 1.0 - value;
}

// SYMBOL symc_betaincinv_f64
// NEEDS exp fabs log log1p symc_beta_term_f64 symc_betainc_all_f64
// The x of I(a, b, x) = p. With x = 1 / (1 + exp(-t)), whichever of log I and log(1 - I) is smaller
// is concave in t: Newton's method, with bisection where it leaves the bracket.
static inline double symc_betaincinv_f64(double a, double b, double p) {
    if (!(a > 0.0 && b > 0.0 && p >= 0.0 && p <= 1.0)) return NAN;
    if (p == 0.0 || p == 1.0) return p;
    if (a == INFINITY || b == INFINITY) return NAN;
    double low = -750.0, high = 750.0, t = log(a / b), upper = p > 0.5;
    double wanted = upper != 0.0 ? log1p(-p) : log(p);
    for (int k = 0; k < 200; k++) {
        double e = exp(-fabs(t)), near = e / (1.0 + e), far = 1.0 / (1.0 + e);
        double x = t < 0.0 ? near : far, y = t < 0.0 ? far : near;
        double value = symc_betainc_all_f64(a, b, x, y, upper != 0.0);
        double miss = log(value) - wanted, rising = upper != 0.0 ? -miss : miss;
        if (miss == 0.0) break;
        if (rising > 0.0) high = t;
        else low = t;
        double slope = symc_beta_term_f64(a, b, x, y) / value;
        double next = t - rising / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        double step = next - t;
        t = next;
        if (fabs(step) <= 1e-16 * fabs(t) || fabs(step) < 1e-17) break;
    }
    return t < -745.0 ? 0.0 : t < 0.0 ? exp(t) / (1.0 + exp(t)) : 1.0 / (1.0 + exp(-t));
}

// SYMBOL symc_gamma_inverse_f64
// NEEDS exp fabs log log1p sqrt symc_gamma_term_f64 symc_gammainc_f64 symc_gammaincc_f64 lgamma_r
// The x of P(a, x) = p (upper 0) or Q(a, x) = p (upper 1), by Newton's method for the logarithm of
// whichever of P and Q is smaller, in t = log x. For a = 0 and a = inf they jump from 0 to 1: there
// is an x for those two values alone.
static inline double symc_gamma_inverse_f64(double a, double p, int upper) {
    if (!(a >= 0.0 && p >= 0.0 && p <= 1.0)) return NAN;
    if (p == (double)upper) return 0.0;
    if (p == (double)!upper) return INFINITY;
    if (a == 0.0 || a == INFINITY) return NAN;
    int sign, other = p > 0.5 ? !upper : upper;
    double wanted = p > 0.5 ? log1p(-p) : log(p), low = -746.0, high = 710.0;
    double t = log(a);
    if (!other && a < 1.0 && wanted < -1.0) t = (wanted + lgamma_r(a + 1.0, &sign)) / a;
    if (!(t > low)) return 0.0;
    for (int k = 0; k < 200; k++) {
        double x = exp(t);
        double value = other ? symc_gammaincc_f64(a, x) : symc_gammainc_f64(a, x);
        double miss = log(value) - wanted, rising = other ? -miss : miss;
        if (miss == 0.0) break;
        if (rising > 0.0) high = t;
        else low = t;
        double slope = a * symc_gamma_term_f64(a, x) / value;
        double next = t - rising / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        double step = next - t;
        t = next;
        if (fabs(step) <= 1e-16 * fabs(t) || fabs(step) < 1e-17) break;
    }
    return t < -745.0 ? 0.0 : exp(t);
}

// SYMBOL symc_gammaincinv_f64
// NEEDS symc_gamma_inverse_f64
static inline double symc_gammaincinv_f64(double a, double p) {
    return symc_gamma_inverse_f64(a, p, 0);
}

// SYMBOL symc_gammainccinv_f64
// NEEDS symc_gamma_inverse_f64
static inline double symc_gammainccinv_f64(double a, double q) {
    return symc_gamma_inverse_f64(a, q, 1);
}
