// Bessel functions of any real order. Below, x > 0 and v >= 0; the functions of the ops reflect.
//
//   x tiny (1e-8)     the first term of the power series, and of the others' series
//   x small (2)       series for the two second solutions, Temme, J. Comput. Phys. 19 (1975) 324
//                     and 21 (1976) 343: there the limit at whole orders is no special case
//   x between         Steed's continued fraction, Barnett et al., Comput. Phys. Comm. 8 (1974) 377
//   x large, > v*v    Hankel's expansions of I and K                          DLMF 10.40
//   x large, > 2 v    the expansions of modulus and phase of J + i Y          DLMF 10.18
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

// SYMBOL symc_temme_sinh_f64
// NEEDS fabs pow sinh
// sinh(m l) / m for l = log(2 / x), |m| <= 1/2, and at `power` exp(m l) = (2 / x)^m: not by exp, which
// would multiply the error of m l.
static inline double symc_temme_sinh_f64(double m, double x, double l, double *power) {
    double e = m * l;
    *power = pow(x, -m) * pow(2.0, m);
    if (fabs(e) > 1.0) return 0.5 * (*power - 1.0 / *power) / m;
    return e == 0.0 ? l : sinh(e) / m;
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

// SYMBOL symc_cospi_f64
// NEEDS fabs rint symc_sinpi_f64
// cos(pi v), exact at multiples of 1/2.
static inline double symc_cospi_f64(double v) {
    return symc_sinpi_f64(0.5 - fabs(v - 2.0 * rint(0.5 * v)));
}

// SYMBOL symc_hankel_f64
// NEEDS fabs
// The terms a[k](v) / x^k of DLMF 10.17.1: the sum of all (sign 1), or with alternating signs (-1).
static inline double symc_hankel_f64(double v, double x, double sign) {
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 200; k++) {
        double odd = 2.0 * k - 1.0;
        double next = term * sign * ((2.0 * v - odd) / (8.0 * k)) * ((2.0 * v + odd) / x);
        if (fabs(next) > fabs(term) && k > v) break;
        term = next;
        sum += term;
        if (fabs(term) < 0x1p-56 * fabs(sum)) break;
    }
    return sum;
}

// SYMBOL symc_bessel_debye_f64
// NEEDS asinh exp floor sqrt
// exp(-x) I(v, x) 2^bits (sign 1) or exp(x) K(v, x) / 2^bits (-1) of an order beyond 1e5, by Debye's
// expansion DLMF 10.41.3, in which x is subtracted from the exponent without cancellation.
static inline double symc_bessel_debye_f64(double v, double x, double sign, double *bits) {
    double most = v > x ? v : x, a = v / most, b = x / most, size = sqrt(a * a + b * b), p = a / size;
    double power = v * asinh(v / x) - v * (a / (size + b)), q = p * p, u = sign * p / v;
    double sum = 1.0 + u * ((3.0 - 5.0 * q) / 24.0 + u * (81.0 - q * (462.0 - 385.0 * q)) / 1152.0);
    double turns = floor(power * 1.4426950408889634);
    if (!(turns < 1.7e308)) turns = 1.7e308;
    double rest = (power - turns * 0.6931471803691238) - turns * 1.9082149292705877e-10;
    if (!(rest > 0.0 && rest < 1.0)) rest = 0.0; /* so many turns that no digit of it is left */
    *bits = turns;
    return (sign < 0.0 ? 1.2533141373155003 : 0.3989422804014327) / (sqrt(most) * sqrt(size)) * sum *
           exp(-sign * rest);
}

// SYMBOL symc_bessel_k_f64
// NEEDS exp fabs floor log sin sqrt symc_bessel_debye_f64 symc_hankel_f64 symc_ldexp_f64 symc_temme_f64 symc_temme_sinh_f64
// exp(x) K(v, x) / 2^bits, and at `above` the same of v + 1. Both are infinite where even K(v, x) is
// too large: its growth in v may go on long after exp(x) K(v, x) has left the doubles.
static inline double symc_bessel_k_f64(double v, double x, double *above, double *bits) {
    const double pi = 3.141592653589793;
    *bits = 0.0;
    if (x > 100.0 && x > v * v) {
        double size = 1.2533141373155003 / sqrt(x);
        *above = size * symc_hankel_f64(v + 1.0, x, 1.0);
        return size * symc_hankel_f64(v, x, 1.0);
    }
    if (v > 1e5) {
        double bits_above, value = symc_bessel_debye_f64(v, x, -1.0, bits);
        *above = symc_bessel_debye_f64(v + 1.0, x, -1.0, &bits_above);
        *above = symc_ldexp_f64(*above, bits_above - *bits);
        return value;
    }
    double steps = floor(v + 0.5), m = v - steps, low, high;
    if (fabs(m) < 0x1p-200) m = 0.0; /* which changes no digit, where m has too few itself */
    if (x <= 2.0) {
        double odd = symc_temme_f64(m, 1), even = symc_temme_f64(m, 0);
        double l = 0.6931471805599453 - log(x), power;
        double hyperbolic = symc_temme_sinh_f64(m, x, l, &power), cosine = 0.5 * (power + 1.0 / power);
        double ratio = m == 0.0 ? 1.0 : pi * m / sin(pi * m);
        double f = ratio * (odd * cosine + even * hyperbolic);
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
        high = high * exp(x) / x * 2.0;
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
    for (; k <= steps && high < INFINITY && *bits < 3000.0 + 1.5 * x; k++) {
        double next = 2.0 * (m + k) / x * high + low;
        low = high;
        high = next;
        if (high > 0x1p800) {
            low *= 0x1p-800;
            high *= 0x1p-800;
            *bits += 800.0;
        }
    }
    *above = k > steps ? high : INFINITY;
    return k > steps ? low : INFINITY;
}

// SYMBOL symc_bessel_first_f64
// NEEDS pow tgamma
// (x/2)^v / Gamma(v + 1), the first term of the power series of J and I: all of it below 1e-8.
static inline double symc_bessel_first_f64(double v, double x) {
    return pow(x, v) * pow(0.5, v) / tgamma(v + 1.0);
}

// SYMBOL symc_times_power_f64
// NEEDS exp floor symc_ldexp_f64
// value exp(x) 2^bits, where the factors alone would overflow.
static inline double symc_times_power_f64(double value, double x, double bits) {
    double turns = floor(x * 1.4426950408889634);
    double rest = (x - turns * 0.6931471803691238) - turns * 1.9082149292705877e-10;
    if (!(rest > 0.0 && rest < 1.0)) rest = 0.0; /* so many turns that no digit of it is left */
    double sum = turns + bits;
    if (sum > 5000.0) sum = 5000.0;
    if (sum < -5000.0) sum = -5000.0;
    return symc_ldexp_f64(value * exp(rest), sum);
}

// SYMBOL symc_bessel_i_f64
// NEEDS exp fabs sqrt symc_bessel_debye_f64 symc_bessel_first_f64 symc_bessel_k_f64 symc_hankel_f64
// exp(-x) I(v, x) 2^bits. The continued fraction of I(v + 1, x) / I(v, x) has positive terms only.
static inline double symc_bessel_i_f64(double v, double x, double *bits) {
    *bits = 0.0;
    if (x < 1e-8) return symc_bessel_first_f64(v, x) * exp(-x);
    if (x > 100.0 && x > v * v)
        return 0.3989422804014327 / sqrt(x) * symc_hankel_f64(v, x, -1.0);
    if (v > 1e5) return symc_bessel_debye_f64(v, x, 1.0, bits);
    double c = 0x1p-900, d = 0.0, ratio = c;
    for (int k = 1; k < 1000000; k++) {
        double b = 2.0 * (v + k) / x;
        d = 1.0 / (b + d);
        c = b + 1.0 / c;
        ratio *= c * d;
        if (fabs(c * d - 1.0) < 0x1p-53) break;
    }
    double above, k = symc_bessel_k_f64(v, x, &above, bits);
    return k < INFINITY ? 1.0 / (x * (above + k * ratio)) : 0.0;
}

// SYMBOL symc_bessel_modulus_f64
// NEEDS fabs sqrt
// The modulus of J + i Y, by DLMF 10.18.17, and at `less` what its phase lacks to x - (v/2 + 1/4) pi.
// The derivative of the phase is 2 / (pi x modulus^2): the series' reciprocal, term by term.
static inline double symc_bessel_modulus_f64(double v, double x, double *less) {
    double square[32], slope[32], sum = 1.0, phase = 0.0;
    square[0] = slope[0] = 1.0;
    for (int k = 1; k < 32; k++) {
        double odd = 2.0 * k - 1.0, share = (v - 0.5 * odd) / x * ((v + 0.5 * odd) / x);
        square[k] = square[k - 1] * share * odd / (2.0 * k);
        slope[k] = 0.0;
        for (int i = 1; i <= k; i++) slope[k] -= square[i] * slope[k - i];
        sum += square[k];
        phase += slope[k] / odd;
        if (fabs(square[k]) + fabs(slope[k]) < 0x1p-58) break;
    }
    *less = phase * x;
    return 0.7978845608028654 / sqrt(x) * sqrt(sum);
}

// SYMBOL symc_bessel_ratio_f64
// NEEDS cbrt floor
// J(v + 1, x) / J(v, x), the continued fraction DLMF 10.10.1 from its end, which passes over zeros of
// J(v + k, x) without losing digits; and at `sign` the sign of J(v, x).
static inline double symc_bessel_ratio_f64(double v, double x, double *sign) {
    double beyond = x > v ? x - v : 0.0, count = beyond + 40.0 + 15.0 * cbrt(x), ratio = 0.0;
    *sign = 1.0;
    for (double k = floor(count); k > 0.0; k--) {
        ratio = 1.0 / (2.0 * (v + k) / x - ratio);
        if (ratio < 0.0) *sign = -*sign;
    }
    return ratio;
}

// SYMBOL symc_bessel_j_f64
// NEEDS cos fabs floor log sin sqrt symc_bessel_first_f64 symc_bessel_modulus_f64
// NEEDS symc_bessel_ratio_f64 symc_temme_f64 symc_temme_sinh_f64
// J(v, x), and at `second` Y(v, x).
static inline double symc_bessel_j_f64(double v, double x, double *second) {
    const double pi = 3.141592653589793;
    if (x > 50.0 && x > 2.0 * v) {
        double less, turn = v - 4.0 * floor(0.25 * v);
        double size = symc_bessel_modulus_f64(v, x, &less), near = pi * (0.5 * turn + 0.25) + less;
        double s = sin(near), c = cos(near), sine = sin(x), cosine = cos(x);
        *second = size * (sine * c - cosine * s);
        return size * (cosine * c + sine * s);
    }
    // The order m is near 0 for small x and at most x else, where the ratio J' / J is found by
    // recurrence from v down: J grows that way.
    double steps = x < 2.0 ? floor(v + 0.5) : v - x + 1.5 > 0.0 ? floor(v - x + 1.5) : 0.0;
    if (steps > 1e7) { /* J is below exp(-h), Y beyond exp(h), h = (8/9)^(1/2) (v - x)^(3/2) / v^(1/2) */
        int none = (v - x) * sqrt((v - x) / v) > 800.0; /* DLMF 10.14.5: until v = 1e15 always */
        *second = none ? -INFINITY : NAN;
        return none ? 0.0 : NAN;
    }
    // So many steps would take seconds: of the ratio below, too, which takes 15 cbrt(x).
    if (x - v > 1e7 || x > 1e14) return *second = NAN;
    double m = v - steps, sign = 1.0, ratio;
    if (fabs(m) < 0x1p-200) m = 0.0; /* as in K */
    int tiny = x < 1e-8;
    // J' / J at the order v.
    ratio = tiny ? 0.0 : v / x - symc_bessel_ratio_f64(v, x, &sign);
    double wanted = sign * 1e-280, now = wanted, slope = ratio * now;
    for (double k = 0.0; k < steps && !tiny; k++) {
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
        double l = 0.6931471805599453 - log(x), power;
        double hyperbolic = symc_temme_sinh_f64(m, x, l, &power), cosine = 0.5 * (power + 1.0 / power);
        double ratio = m == 0.0 ? 1.0 : pi * m / sin(pi * m);
        double t = 2.0 / pi * ratio * (odd * cosine + even * hyperbolic);
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
    double k = 1.0;
    for (; k <= steps && fabs(high) < INFINITY; k++) {
        double next = 2.0 * (m + k) / x * high - low;
        low = high;
        high = next;
    }
    *second = k > steps ? low : -INFINITY;
    if (tiny) return symc_bessel_first_f64(v, x);
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
    if (x >= 0.0) return 1.0;
    return v != rint(v) ? NAN : 0.5 * v == rint(0.5 * v) ? 1.0 : -1.0;
}

// SYMBOL symc_bessel_k_times_f64
// NEEDS fabs symc_bessel_k_f64 symc_times_power_f64
// exp(x + more) K(v, x) of any v; inf at 0, NaN below.
static inline double symc_bessel_k_times_f64(double v, double x, double more) {
    double above, bits, value;
    if (!(fabs(v) < INFINITY && x >= 0.0)) return NAN;
    if (x == 0.0) return INFINITY;
    if (x == INFINITY) return 0.0;
    value = symc_bessel_k_f64(fabs(v), x, &above, &bits);
    return bits == 0.0 && more == 0.0 ? value : symc_times_power_f64(value, more, bits);
}

// SYMBOL symc_bessel_i_times_f64
// NEEDS fabs symc_bessel_i_f64 symc_bessel_k_times_f64 symc_bessel_parity_f64 symc_sinpi_f64 symc_times_power_f64
// exp(more - |x|) I(v, x) of any v (DLMF 10.27.2); x is not 0, both are finite.
static inline double symc_bessel_i_times_f64(double v, double x, double more) {
    double a = fabs(x), bits, value = symc_bessel_i_f64(fabs(v), a, &bits), sine = symc_sinpi_f64(-v);
    if (bits != 0.0 || more != 0.0) value = symc_times_power_f64(value, more, -bits);
    if (v < 0.0 && sine != 0.0)
        value += 0.6366197723675814 * sine * symc_bessel_k_times_f64(-v, a, more - 2.0 * a);
    return symc_bessel_parity_f64(v, x) * value;
}
