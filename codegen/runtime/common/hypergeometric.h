// Gauss' hypergeometric function F(a, b; c; z) of real numbers, z <= 1.

// SYMBOL symc_hyp2f1_series_f64
// NEEDS fabs
// The power series DLMF 15.2.1; it ends where a or b is zero or a negative whole number. At `slope`
// the derivative.
static inline double symc_hyp2f1_series_f64(double a, double b, double c, double z, double *slope) {
    double term = 1.0, sum = 1.0, rise = a * b / c, slopes = rise;
    int settled = 0;
    for (int k = 0; k < 100000 && settled < 3; k++) {
        if (a + k == 0.0 || b + k == 0.0) break; /* where c + k may be 0, too */
        term *= (a + k) / (c + k) * (b + k) / (k + 1.0) * z;
        if (term == 0.0) break;
        sum += term;
        double more = (a + k + 1.0) * (b + k + 1.0), at = more == 0.0 ? 0.0 : more / (c + k + 1.0) * term;
        slopes += at;
        settled = fabs(term) < 0x1p-55 * fabs(sum) && fabs(at) < 0x1p-55 * fabs(slopes)
                ? settled + 1 : 0;
    }
    *slope = slopes;
    return sum;
}

// SYMBOL symc_hyp2f1_near_f64
// NEEDS fabs symc_hyp2f1_series_f64
// F for 0 <= z < 1, given w = 1 - z. Up to z = 1/2 by the series. Beyond, the differential equation
// DLMF 15.10.1 is followed: its solution's Taylor series about w0 reaches to w0 / 2, whatever a, b
// and c are. With u = u[0] + u[1] s + ..., s = w0 - w, the equation reads
// (w0 - s) (1 - w0 + s) u'' + (c - (a + b + 1) (1 - w0 + s)) u' - a b u = 0.
static inline double symc_hyp2f1_near_f64(double a, double b, double c, double z, double w) {
    double at = z > 0.5 ? 0.5 : z, slope, value = symc_hyp2f1_series_f64(a, b, c, at, &slope);
    double here = 1.0 - at;
    while (here > w) {
        double next = 0.5 * here > w ? 0.5 * here : w, s = here - next, x = 1.0 - here;
        // p[k] = u[k] s^k; the sums are the value and s times the slope at the next point.
        double before = value, now = slope * s, sum = before + now, rises = now;
        double head = here * x, turn = here - x, drift = c - (a + b + 1.0) * x;
        int settled = 0;
        for (int k = 0; k < 2000 && settled < 3; k++) {
            double pull = k * (k - 1.0) + k * (a + b + 1.0) + a * b;
            double push = (k + 1.0) * (k * turn + drift);
            double p = (pull * before * s - push * now) * s / ((k + 2.0) * (k + 1.0) * head);
            before = now;
            now = p;
            sum += p;
            rises += (k + 2.0) * p;
            settled = fabs((k + 2.0) * p) < 0x1p-57 * fabs(rises) && fabs(p) < 0x1p-56 * fabs(sum)
                    ? settled + 1 : 0;
        }
        value = sum;
        slope = rises / s;
        here = next;
    }
    return value;
}

// SYMBOL symc_hyp2f1_f64
// NEEDS exp floor log1p pow symc_hyp2f1_near_f64 symc_hyp2f1_series_f64 tgamma
// At z = 1 Gauss' sum DLMF 15.4.20; for z < 0 Pfaff's transformation 15.8.1; NaN for z > 1, where the
// function is complex, unless it is a polynomial.
static inline double symc_hyp2f1_f64(double a, double b, double c, double z) {
    double unused;
    if (a != a || b != b || c != c || z != z) return NAN;
    if (z == 0.0 || a == 0.0 || b == 0.0) return 1.0;
    int ends_a = a < 0.0 && a == floor(a), ends_b = b < 0.0 && b == floor(b);
    int ends = ends_a || ends_b;
    double degree = ends_a && ends_b ? (a > b ? -a : -b) : ends_a ? -a : -b;
    if (c <= 0.0 && c == floor(c) && !(ends && degree < -c + 0.5)) return INFINITY;
    if (ends) {
        if (z < 0.0 || z > 1.0 || degree < 20.0) return symc_hyp2f1_series_f64(a, b, c, z, &unused);
    }
    if (z > 1.0) return NAN;
    if (z == -INFINITY) return a > 0.0 && b > 0.0 ? 0.0 : NAN;
    if (z == 1.0) {
        double s = c - a - b;
        return s > 0.0 ? tgamma(c) / tgamma(c - a) * (tgamma(s) / tgamma(c - b)) : INFINITY;
    }
    if (z < 0.0) {
        double w = 1.0 / (1.0 - z);
        if (b < a) {
            double first = a;
            a = b;
            b = first;
        }
        return exp(-a * log1p(-z)) * symc_hyp2f1_near_f64(a, c - b, c, -z * w, w);
    }
    // Euler's transformation where the exponent at 1 is negative: what remains is finite there.
    double s = c - a - b;
    if (s < 0.0 && z > 0.5)
        return pow(1.0 - z, s) * symc_hyp2f1_near_f64(c - a, c - b, c, z, 1.0 - z);
    return symc_hyp2f1_near_f64(a, b, c, z, 1.0 - z);
}
