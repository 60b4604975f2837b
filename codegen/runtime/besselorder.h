// Bessel functions of any real order. Below, x > 0 and v >= 0; the functions of the ops reflect.
//
//   x small (2)       series for the two second solutions, Temme, J. Comput. Phys. 19 (1975) 324
//                     and 21 (1976) 343: there the limit at whole orders is no special case
//   x between         Steed's continued fraction, Barnett et al., Comput. Phys. Comm. 8 (1974) 377
//   x large, > v*v    Hankel's expansions                                     DLMF 10.17, 10.40
//
// The first solutions follow from a continued fraction for the ratio of neighbours (DLMF 10.10,
// 10.33), which is exact for them, and the Wronskian (DLMF 10.5.2, 10.28.2).

// SYMBOL symc_temme_f64
// The sum of ((-1)^k b[k] m^(k-1)) for odd k (part = 1) or of b[k] m^k for even ones (part = 0), where
// 1 / Gamma(1 + m) = sum of b[k] m^k (DLMF 5.7.1), |m| <= 1/2.
static inline double symc_temme_f64(double m, int part) {
    static const double b[24] = {
        1.0, 0.5772156649015329, -0.6558780715202539, -0.04200263503409524, 0.16653861138229148,
        -0.04219773455554433, -0.009621971527876973, 0.0072189432466631, -0.0011651675918590652,
        -0.00021524167411495098, 0.0001280502823881162, -2.013485478078824e-05,
        -1.2504934821426706e-06, 1.133027231981696e-06, -2.056338416977607e-07,
        6.116095104481416e-09, 5.002007644469223e-09, -1.18127457048702e-09,
        1.0434267116911005e-10, 7.782263439905071e-12, -3.696805618642206e-12,
        5.100370287454476e-13, -2.0583260535665066e-14, -5.348122539423018e-15
    };
    double sum = 0.0, z = m * m;
    for (int k = 22 + part; k >= 0; k -= 2) sum = sum * z + b[k];
    return part ? -sum : sum;
}

// SYMBOL symc_sinpi_f64
// NEEDS rint sin
// sin(pi v), exact at multiples of 1/2.
static inline double symc_sinpi_f64(double v) {
    double r = v - 2.0 * rint(0.5 * v);
    if (r > 0.5) r = 1.0 - r;
    if (r < -0.5) r = -1.0 - r;
    return sin(3.141592653589793 * r);
}

// SYMBOL symc_hankel_f64
// NEEDS fabs
// The terms a[k](v) / x^k of DLMF 10.17.1: the sum of all (sign 1), or with alternating signs (-1).
static inline double symc_hankel_f64(double v, double x, double sign) {
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 200; k++) {
        double next = term * sign * (4.0 * v * v - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * k * x);
        if (fabs(next) > fabs(term) && k > v) break;
        term = next;
        sum += term;
        if (fabs(term) < 0x1p-56 * fabs(sum)) break;
    }
    return sum;
}

// SYMBOL symc_bessel_k_f64
// NEEDS cosh exp fabs floor log sin sinh sqrt symc_hankel_f64 symc_temme_f64
// exp(x) K(v, x), and at `above` exp(x) K(v + 1, x).
static inline double symc_bessel_k_f64(double v, double x, double *above) {
    const double pi = 3.141592653589793;
    if (x > 100.0 && x > v * v) {
        *above = sqrt(pi / (2.0 * x)) * symc_hankel_f64(v + 1.0, x, 1.0);
        return sqrt(pi / (2.0 * x)) * symc_hankel_f64(v, x, 1.0);
    }
    double steps = floor(v + 0.5), m = v - steps, low, high;
    if (steps > 1e7 && x > 1e7) return *above = NAN; /* that many steps would take seconds */
    if (x <= 2.0) {
        double odd = symc_temme_f64(m, 1), even = symc_temme_f64(m, 0);
        double l = log(2.0 / x), e = m * l, power = exp(e);
        double ratio = m == 0.0 ? 1.0 : pi * m / sin(pi * m);
        double f = ratio * (odd * cosh(e) + even * (e == 0.0 ? 1.0 : sinh(e) / e) * l);
        double p = 0.5 * power / (even - m * odd), q = 0.5 / (power * (even + m * odd));
        double c = 1.0, z = 0.25 * x * x;
        low = f, high = p;
        for (int k = 1; k < 500; k++) {
            f = (k * f + p + q) / (k * k - m * m);
            c *= z / k;
            p /= k - m;
            q /= k + m;
            low += c * f;
            high += c * (p - k * f);
            if (fabs(c * f) < 0x1p-56 * fabs(low)) break;
        }
        low *= exp(x);
        high *= exp(x) * 2.0 / x;
    } else {
        double b = 2.0 * (1.0 + x), d = 1.0 / b, delta = d, h = d, first = 0.25 - m * m;
        double before = 0.0, now = 1.0, c = first, q = first, a = -first, s = 1.0 + q * delta;
        for (int k = 2; k < 10000; k++) {
            a -= 2 * (k - 1);
            c = -a * c / k;
            double next = (before - b * now) / a;
            before = now;
            now = next;
            q += c * next;
            b += 2.0;
            d = 1.0 / (b + a * d);
            delta *= b * d - 1.0;
            h += delta;
            s += q * delta;
            if (fabs(q * delta) < 0x1p-56 * fabs(s)) break;
        }
        low = sqrt(pi / (2.0 * x)) / s;
        high = low * (m + x + 0.5 - first * h) / x;
    }
    double k = 1.0;
    for (; k <= steps && high < INFINITY; k++) {
        double next = 2.0 * (m + k) / x * high + low;
        low = high;
        high = next;
    }
    *above = high;
    return k > steps ? low : INFINITY;
}

// SYMBOL symc_bessel_i_f64
// NEEDS fabs sqrt symc_bessel_k_f64 symc_hankel_f64
// exp(-x) I(v, x). The continued fraction of I(v + 1, x) / I(v, x) has positive terms only.
static inline double symc_bessel_i_f64(double v, double x) {
    if (x > 100.0 && x > v * v) return symc_hankel_f64(v, x, -1.0) / sqrt(6.283185307179586 * x);
    double c = 0x1p-900, d = 0.0, ratio = c;
    for (int k = 1; k < 1000000; k++) {
        double b = 2.0 * (v + k) / x;
        d = 1.0 / (b + d);
        c = b + 1.0 / c;
        ratio *= c * d;
        if (fabs(c * d - 1.0) < 0x1p-53) break;
    }
    double above, k = symc_bessel_k_f64(v, x, &above);
    return k < INFINITY ? 1.0 / (x * (above + k * ratio)) : 0.0;
}

// SYMBOL symc_bessel_j_f64
// NEEDS cos cosh exp fabs floor log sin sinh sqrt symc_temme_f64
// J(v, x), and at `second` Y(v, x).
static inline double symc_bessel_j_f64(double v, double x, double *second) {
    const double pi = 3.141592653589793;
    if (x > 50.0 && x > v * v) {
        double real = 1.0, imaginary = 0.0, term = 1.0;
        for (int k = 1; k < 200 && fabs(term) > 0x1p-56; k++) {
            double next = term * (4.0 * v * v - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * k * x);
            if (fabs(next) > fabs(term) && k > v) break;
            term = next;
            double part = k & 2 ? -term : term;
            if (k & 1) imaginary += part;
            else real += part;
        }
        double size = sqrt(2.0 / (pi * x)), turn = v - 4.0 * floor(0.25 * v);
        double s = sin(pi * (0.5 * turn + 0.25)), c = cos(pi * (0.5 * turn + 0.25));
        double cosine = cos(x) * c + sin(x) * s, sine = sin(x) * c - cos(x) * s;
        *second = size * (real * sine + imaginary * cosine);
        return size * (real * cosine - imaginary * sine);
    }
    // The order m is near 0 for small x and at most x else, where the ratio J' / J is found by
    // recurrence from v down: J grows that way.
    double steps = x < 2.0 ? floor(v + 0.5) : v - x + 1.5 > 0.0 ? floor(v - x + 1.5) : 0.0;
    if (steps > 1e7) { /* J is below what doubles hold, until about v = 1e15 */
        *second = v < 1e15 ? -INFINITY : NAN;
        return v < 1e15 ? 0.0 : NAN;
    }
    double m = v - steps, sign = 1.0, ratio = v / x > 1e-300 ? v / x : 1e-300;
    double c = ratio, d = 0.0, b = 2.0 * v / x;
    for (int k = 1; k < 1000000; k++) {
        b += 2.0 / x;
        d = b - d;
        if (fabs(d) < 1e-300) d = 1e-300;
        c = b - 1.0 / c;
        if (fabs(c) < 1e-300) c = 1e-300;
        d = 1.0 / d;
        ratio *= c * d;
        if (d < 0.0) sign = -sign;
        if (fabs(c * d - 1.0) < 0x1p-53) break;
    }
    double wanted = sign * 1e-280, now = wanted, slope = ratio * now;
    for (double k = 0.0; k < steps; k++) {
        double next = (v - k) / x * now + slope;
        slope = (v - k - 1.0) / x * next - now;
        now = next;
        if (fabs(now) > 1e250) {
            now *= 1e-250;
            slope *= 1e-250;
            wanted *= 1e-250;
        }
    }
    double f = slope / now, wronskian = 2.0 / (pi * x), first, low, high;
    if (x < 2.0) {
        double odd = symc_temme_f64(m, 1), even = symc_temme_f64(m, 0);
        double l = log(2.0 / x), e = m * l, power = exp(e);
        double ratio = m == 0.0 ? 1.0 : pi * m / sin(pi * m);
        double t = 2.0 / pi * ratio * (odd * cosh(e) + even * (e == 0.0 ? 1.0 : sinh(e) / e) * l);
        double p = power / (pi * (even - m * odd)), q = 1.0 / (power * pi * (even + m * odd));
        double half = sin(0.5 * pi * m), r = m == 0.0 ? 0.0 : 2.0 * half * half / m;
        double factor = 1.0, z = -0.25 * x * x;
        low = t + r * q, high = p;
        for (int k = 1; k < 500; k++) {
            t = (k * t + p + q) / (k * k - m * m);
            factor *= z / k;
            p /= k - m;
            q /= k + m;
            double step = factor * (t + r * q);
            low += step;
            high += factor * p - k * step;
            if (fabs(step) < 0x1p-56 * (1.0 + fabs(low))) break;
        }
        low = -low;
        high = -high * 2.0 / x;
        first = wronskian / (m / x * low - high - f * low);
    } else {
        // p + i q = (J' + i Y') / (J + i Y), by Lentz's method in complex numbers.
        double a = 0.25 - m * m, p = -0.5 / x, q = 1.0, br = 2.0 * x, bi = 2.0;
        double size = a / (x * (p * p + q * q)), cr = br + q * size, ci = bi + p * size;
        double den = br * br + bi * bi, dr = br / den, di = -bi / den;
        double er = cr * dr - ci * di, ei = cr * di + ci * dr, old = p;
        p = old * er - q * ei;
        q = old * ei + q * er;
        for (int k = 2; k < 100000; k++) {
            a += 2 * (k - 1);
            bi += 2.0;
            dr = a * dr + br;
            di = a * di + bi;
            size = a / (cr * cr + ci * ci);
            cr = br + cr * size;
            ci = bi - ci * size;
            if (fabs(cr) + fabs(ci) < 1e-300) cr = 1e-300;
            den = dr * dr + di * di;
            dr /= den;
            di /= -den;
            er = cr * dr - ci * di;
            ei = cr * di + ci * dr;
            old = p;
            p = old * er - q * ei;
            q = old * ei + q * er;
            if (fabs(er - 1.0) + fabs(ei) < 0x1p-52) break;
        }
        double gamma = (p - f) / q;
        first = sqrt(wronskian / ((p - f) * gamma + q));
        if (now < 0.0) first = -first;
        low = first * gamma;
        high = m / x * low - (low * p + first * q);
    }
    for (double k = 1.0; k <= steps && fabs(high) < INFINITY; k++) {
        double next = 2.0 * (m + k) / x * high - low;
        low = high;
        high = next;
    }
    *second = fabs(high) < INFINITY ? low : -INFINITY;
    return wanted * (first / now);
}

// SYMBOL symc_bessel_ends_f64
// NEEDS fabs
// Whether J and I are known without computing: x or v is 0, infinite or NaN as below.
static inline int symc_bessel_ends_f64(double v, double x) {
    return x == 0.0 || !(fabs(x) < INFINITY) || !(fabs(v) < INFINITY);
}

// SYMBOL symc_bessel_end_f64
// NEEDS fabs floor rint symc_bessel_parity_f64
// J and scaled I there: (x/2)^v / Gamma(v + 1) at 0, else 0 or NaN.
static inline double symc_bessel_end_f64(double v, double x) {
    if (x != 0.0 || !(fabs(v) < INFINITY)) return symc_bessel_parity_f64(v, x) * 0.0;
    if (v >= 0.0 || v == rint(v)) return v == 0.0;
    return floor(v) - 2.0 * floor(0.5 * floor(v)) == 1.0 ? INFINITY : -INFINITY;
}

// SYMBOL symc_bessel_parity_f64
// NEEDS fabs rint
// The factor of J and I of x < 0: (-1)^v for whole orders, else NaN.
static inline double symc_bessel_parity_f64(double v, double x) {
    if (x != x || !(fabs(v) < INFINITY)) return NAN;
    return x >= 0.0 || 0.5 * v == rint(0.5 * v) ? 1.0 : v == rint(v) ? -1.0 : NAN;
}
