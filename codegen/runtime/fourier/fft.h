// Discrete Fourier transforms of sequences side by side in the lanes of vectors, and their tables;
// `fftrows.h` makes such blocks of one sequence, `fftaxes.h` of arrays.
//
// A block has a sequence of n complex numbers in each lane: element i of all of them is the vector
// x[2 * i], and x[2 * i + 1] for the imaginary parts. Numbers are float or double, and all is
// computed in that type but the roots of unity, which are rounded from double: the error of a
// result is then a few units of its last place times the logarithm of n.
//
// A transform of length n is Stockham's: one pass over the data for each factor of n, from one
// array to another, in order at the end (J. Cooley and J. Tukey 1965; W. Cochran et al. 1967). A
// length with a prime factor above 47 is a convolution of a length without one (L. Bluestein 1970).
// Inverse transforms, by exp(2 pi i j k / n), have other roots, and the same passes.

// SYMBOL symc_fft_root
// exp(-2 pi i k / n) for 0 <= k < n, from an angle of the first octant, in double.
static void symc_fft_root(int64_t k, int64_t n, double *root) {
    int64_t eighths = 8 * k;  // of the circle, in parts of n
    const int below = eighths > 4 * n, left = (below ? 8 * n - eighths : eighths) > 2 * n;
    if (below) eighths = 8 * n - eighths;
    if (left) eighths = 4 * n - eighths;
    const int steep = eighths > n;
    if (steep) eighths = 2 * n - eighths;
    const double angle = 0.78539816339744830962 * (double)eighths / (double)n;
    const double c = __builtin_cos(angle), s = __builtin_sin(angle);
    root[0] = left ? -(steep ? s : c) : (steep ? s : c);
    root[1] = below ? (steep ? c : s) : -(steep ? c : s);
}

// SYMBOL symc_fft_circle
// NEEDS symc_fft_root malloc free
// All roots of order n, as products of one of sqrt(n) roots near 1 and one of sqrt(n) far apart; or
// of inverse transforms, their conjugates.
typedef struct symc_fft_circle {
    int64_t n, bits;
    int inverse;
    double *near, *far;
} symc_fft_circle;

static int symc_fft_circle_new(symc_fft_circle *circle, int64_t n, int inverse) {
    int64_t bits = 0;
    while ((int64_t)1 << 2 * bits < n) bits++;
    const int64_t near = (int64_t)1 << bits, far = (n >> bits) + 1;
    *circle = (symc_fft_circle){.n = n, .bits = bits, .inverse = inverse};
    circle->near = malloc((size_t)(2 * (near + far)) * sizeof(double));
    if (!circle->near) return 0;
    circle->far = circle->near + 2 * near;
    for (int64_t k = 0; k < near; k++) symc_fft_root(k < n ? k : 0, n, circle->near + 2 * k);
    for (int64_t k = 0; k < far; k++)
        symc_fft_root(k << bits < n ? k << bits : 0, n, circle->far + 2 * k);
    return 1;
}

// SYMBOL symc_fft_turn_fNN
// NEEDS symc_fft_circle
// The root with the number k, 0 <= k < n.
static inline void symc_fft_turn_fNN(const symc_fft_circle *of, int64_t k, real *re, real *im) {
    const double *a = of->near + 2 * (k & (((int64_t)1 << of->bits) - 1));
    const double *b = of->far + 2 * (k >> of->bits);
    const double sine = a[0] * b[1] + a[1] * b[0];
    *re = (real)(a[0] * b[0] - a[1] * b[1]);
    *im = (real)(of->inverse ? -sine : sine);
}

// SYMBOL symc_fft_butterflies_fNN
// NEEDS symc_lanes_fNN
// Transforms of 2, 3, 4, 5 or 8 elements, real parts r and imaginary parts i, where they are.
SYMC_INLINE void symc_butterfly2_fNN(symc_lanes_fNN *r, symc_lanes_fNN *i) {
    const symc_lanes_fNN r0 = r[0], i0 = i[0];
    r[0] = r0 + r[1], i[0] = i0 + i[1];
    r[1] = r0 - r[1], i[1] = i0 - i[1];
}
SYMC_INLINE void symc_butterfly3_fNN(symc_lanes_fNN *r, symc_lanes_fNN *i) {
    const real half_root3 = 0.86602540378443864676, half = 0.5;
    const symc_lanes_fNN sr = r[1] + r[2], si = i[1] + i[2];
    const symc_lanes_fNN dr = half_root3 * (r[1] - r[2]), di = half_root3 * (i[1] - i[2]);
    const symc_lanes_fNN mr = r[0] - half * sr, mi = i[0] - half * si;
    r[0] += sr, i[0] += si;
    r[1] = mr + di, i[1] = mi - dr;
    r[2] = mr - di, i[2] = mi + dr;
}
SYMC_INLINE void symc_butterfly4_fNN(symc_lanes_fNN *r, symc_lanes_fNN *i) {
    const symc_lanes_fNN ar = r[0] + r[2], ai = i[0] + i[2], br = r[0] - r[2], bi = i[0] - i[2];
    const symc_lanes_fNN cr = r[1] + r[3], ci = i[1] + i[3], dr = r[1] - r[3], di = i[1] - i[3];
    r[0] = ar + cr, i[0] = ai + ci;
    r[1] = br + di, i[1] = bi - dr;
    r[2] = ar - cr, i[2] = ai - ci;
    r[3] = br - di, i[3] = bi + dr;
}
SYMC_INLINE void symc_butterfly5_fNN(symc_lanes_fNN *r, symc_lanes_fNN *i) {
    const real c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
    const real s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    const symc_lanes_fNN r0 = r[0], i0 = i[0];
    const symc_lanes_fNN ar = r[1] + r[4], ai = i[1] + i[4], br = r[1] - r[4], bi = i[1] - i[4];
    const symc_lanes_fNN cr = r[2] + r[3], ci = i[2] + i[3], dr = r[2] - r[3], di = i[2] - i[3];
    const symc_lanes_fNN er = r0 + c1 * ar + c2 * cr, ei = i0 + c1 * ai + c2 * ci;
    const symc_lanes_fNN fr = r0 + c2 * ar + c1 * cr, fi = i0 + c2 * ai + c1 * ci;
    const symc_lanes_fNN gr = s1 * bi + s2 * di, gi = s1 * br + s2 * dr;
    const symc_lanes_fNN hr = s2 * bi - s1 * di, hi = s2 * br - s1 * dr;
    r[0] = r0 + ar + cr, i[0] = i0 + ai + ci;
    r[1] = er + gr, i[1] = ei - gi;
    r[2] = fr + hr, i[2] = fi - hi;
    r[3] = fr - hr, i[3] = fi + hi;
    r[4] = er - gr, i[4] = ei + gi;
}
// Two of 4 elements, those with even and with odd numbers; then four of 2.
SYMC_INLINE void symc_butterfly8_fNN(symc_lanes_fNN *r, symc_lanes_fNN *i) {
    const real half_root2 = 0.70710678118654752440;
    symc_lanes_fNN er[4] = {r[0], r[2], r[4], r[6]}, ei[4] = {i[0], i[2], i[4], i[6]};
    symc_lanes_fNN or[4] = {r[1], r[3], r[5], r[7]}, oi[4] = {i[1], i[3], i[5], i[7]};
    symc_butterfly4_fNN(er, ei);
    symc_butterfly4_fNN(or, oi);
    const symc_lanes_fNN tr = half_root2 * (or[1] + oi[1]), ti = half_root2 * (oi[1] - or[1]);
    const symc_lanes_fNN ur = half_root2 * (oi[3] - or[3]), ui = -half_root2 * (oi[3] + or[3]);
    r[0] = er[0] + or[0], i[0] = ei[0] + oi[0], r[4] = er[0] - or[0], i[4] = ei[0] - oi[0];
    r[1] = er[1] + tr, i[1] = ei[1] + ti, r[5] = er[1] - tr, i[5] = ei[1] - ti;
    r[2] = er[2] + oi[2], i[2] = ei[2] - or[2], r[6] = er[2] - oi[2], i[6] = ei[2] + or[2];
    r[3] = er[3] + ur, i[3] = ei[3] + ui, r[7] = er[3] - ur, i[7] = ei[3] - ui;
}

// SYMBOL symc_fft_pass_fNN
// NEEDS symc_fft_butterflies_fNN SYMC_TIMES symc_shuffles_fNN SYMC_OUT_OF_LINE
// An element of a butterfly: as it is; turned by a root of unity, but for the first; from an array.
// And where it goes.
#define SYMC_FFT_TAKE_fNN(k) r[k] = x[t + k * m], i[k] = x[t + k * m + 1];
#define SYMC_FFT_TURN_fNN(k)                                   \
    SYMC_FFT_TAKE_fNN(k) if (k) {                              \
        const real cosine = w[2 * k - 2], sine = w[2 * k - 1]; \
        const symc_lanes_fNN re = r[k];                        \
        r[k] = re * cosine - i[k] * sine;                      \
        i[k] = re * sine + i[k] * cosine;                      \
    }
#define SYMC_FFT_SPLIT_fNN(k) symc_split_lanes_fNN(a + k * m * along, r + k, i + k);
#define SYMC_FFT_PUT_fNN(k) (k ? end + k * to : 0)
#define SYMC_FFT_STORE_fNN(k) \
    y[SYMC_FFT_PUT_fNN(k) + t] = r[k], y[SYMC_FFT_PUT_fNN(k) + t + 1] = i[k];
#define SYMC_FFT_JOIN_fNN(k) \
    symc_join_lanes_fNN(c + SYMC_FFT_PUT_fNN(k), scale * r[k], scale * i[k]);

// One pass: `done` transforms' lengths multiply by `factor`, and `left` are still to come. `w` are
// the roots that turn, factor - 1 for each of `done` but the first, whose are 1. An inverse
// butterfly is the same one with its results from the end, but for the first of them.
#define SYMC_FFT_PASS_fNN(factor)                                                           \
    static SYMC_OUT_OF_LINE void symc_fft_pass##factor##_fNN(                               \
        int64_t done, int64_t left, int inverse, const real *w,                             \
        const symc_lanes_fNN *restrict x, symc_lanes_fNN *restrict y) {                     \
        const int64_t m = 2 * left, to = (inverse ? -done : done) * m;                      \
        const int64_t end = inverse ? factor * done * m : 0;                                \
        symc_lanes_fNN r[factor], i[factor];                                                \
        for (int64_t t = 0; t < m; t += 2) {                                                \
            SYMC_TIMES_##factor(SYMC_FFT_TAKE_fNN)                                          \
            symc_butterfly##factor##_fNN(r, i);                                             \
            SYMC_TIMES_##factor(SYMC_FFT_STORE_fNN)                                         \
        }                                                                                   \
        for (int64_t j = 1; j < done; j++, w += 2 * (factor - 1)) {                         \
            x += factor * m, y += m;                                                        \
            for (int64_t t = 0; t < m; t += 2) {                                            \
                SYMC_TIMES_##factor(SYMC_FFT_TURN_fNN)                                      \
                symc_butterfly##factor##_fNN(r, i);                                         \
                SYMC_TIMES_##factor(SYMC_FFT_STORE_fNN)                                     \
            }                                                                               \
        }                                                                                   \
    }
SYMC_FFT_PASS_fNN(2)
SYMC_FFT_PASS_fNN(3)
SYMC_FFT_PASS_fNN(4)
SYMC_FFT_PASS_fNN(5)
SYMC_FFT_PASS_fNN(8)

// The first pass, of complex numbers of an array, `along` numbers apart, and the last one, to such.
#define SYMC_FFT_ENDS_fNN(factor)                                                              \
    static SYMC_OUT_OF_LINE void symc_fft_first##factor##_fNN(                                 \
        int64_t m, int inverse, const real *a, int64_t along, symc_lanes_fNN *restrict y) {    \
        const int64_t to = (inverse ? -2 : 2) * m, end = inverse ? 2 * factor * m : 0;         \
        symc_lanes_fNN r[factor], i[factor];                                                   \
        for (int64_t t = 0; t < 2 * m; t += 2, a += along) {                                   \
            SYMC_TIMES_##factor(SYMC_FFT_SPLIT_fNN)                                            \
            symc_butterfly##factor##_fNN(r, i);                                                \
            SYMC_TIMES_##factor(SYMC_FFT_STORE_fNN)                                            \
        }                                                                                      \
    }                                                                                          \
    static SYMC_OUT_OF_LINE void symc_fft_last##factor##_fNN(                                  \
        int64_t done, int inverse, const real *w, const symc_lanes_fNN *restrict x,            \
        real scale, real *c, int64_t along) {                                                  \
        enum { m = 2, t = 0 };                                                                 \
        const int64_t to = (inverse ? -done : done) * along;                                   \
        const int64_t end = inverse ? factor * done * along : 0;                               \
        symc_lanes_fNN r[factor], i[factor];                                                   \
        SYMC_TIMES_##factor(SYMC_FFT_TAKE_fNN)                                                 \
        symc_butterfly##factor##_fNN(r, i);                                                    \
        SYMC_TIMES_##factor(SYMC_FFT_JOIN_fNN)                                                 \
        for (int64_t j = 1; j < done; j++, w += 2 * (factor - 1)) {                            \
            x += 2 * factor, c += along;                                                       \
            SYMC_TIMES_##factor(SYMC_FFT_TURN_fNN)                                             \
            symc_butterfly##factor##_fNN(r, i);                                                \
            SYMC_TIMES_##factor(SYMC_FFT_JOIN_fNN)                                             \
        }                                                                                      \
    }
SYMC_FFT_ENDS_fNN(4)
SYMC_FFT_ENDS_fNN(5)
SYMC_FFT_ENDS_fNN(8)

// Any other prime: by the definition, for pairs of elements as far from the first as from the end.
// Before the roots that turn are those of the prime's order.
static SYMC_OUT_OF_LINE void symc_fft_pass_of_prime_fNN(int64_t prime, int64_t done, int64_t left,
                                                        const real *roots,
                                                        const symc_lanes_fNN *restrict x,
                                                        symc_lanes_fNN *restrict y) {
    const int64_t half = prime / 2, m = 2 * left, to = done * m;
    const real *w = roots + 2 * prime - 2 * (prime - 1);
    symc_lanes_fNN sum[48], difference[48];
    for (int64_t j = 0; j < done; j++, w += 2 * (prime - 1))
        for (int64_t t = 0; t < m; t += 2) {
            const symc_lanes_fNN *p = x + j * prime * m + t;
            symc_lanes_fNN *q = y + j * m + t, all_r = p[0], all_i = p[1];
            for (int64_t k = 1; k <= half; k++) {
                const symc_lanes_fNN *u = p + k * m, *v = p + (prime - k) * m;
                symc_lanes_fNN ur = u[0], ui = u[1], vr = v[0], vi = v[1];
                if (j) {
                    const real *a = w + 2 * k - 2, *b = w + 2 * (prime - k) - 2;
                    ur = u[0] * a[0] - u[1] * a[1], ui = u[0] * a[1] + u[1] * a[0];
                    vr = v[0] * b[0] - v[1] * b[1], vi = v[0] * b[1] + v[1] * b[0];
                }
                sum[2 * k] = ur + vr, sum[2 * k + 1] = ui + vi;
                difference[2 * k] = ur - vr, difference[2 * k + 1] = ui - vi;
                all_r += sum[2 * k], all_i += sum[2 * k + 1];
            }
            q[0] = all_r, q[1] = all_i;
            for (int64_t k = 1; k <= half; k++) {
                symc_lanes_fNN ar = p[0], ai = p[1], br = {0}, bi = {0};
                for (int64_t e = 1, at = k; e <= half; e++, at += at + k < prime ? k : k - prime) {
                    const real c = roots[2 * at], s = roots[2 * at + 1];
                    ar += c * sum[2 * e], ai += c * sum[2 * e + 1];
                    br += s * difference[2 * e], bi += s * difference[2 * e + 1];
                }
                q[k * to] = ar - bi, q[k * to + 1] = ai + br;
                q[(prime - k) * to] = ar + bi, q[(prime - k) * to + 1] = ai - br;
            }
        }
}

// SYMBOL symc_fft_factors
// Writes the factors; returns what is left of n without them. Those whose passes read and write
// arrays, too, come first and last.
static int64_t symc_fft_factors(int64_t n, int64_t *factors, int64_t *count) {
    static const int others[] = {3, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
    int64_t twos = __builtin_ctzll((unsigned long long)n), ends = 0;
    n >>= twos;
    for (; twos > 4 || twos == 3; twos -= 3) factors[ends++] = 8;
    for (; twos > 1; twos -= 2) factors[ends++] = 4;
    for (; n % 5 == 0; n /= 5) factors[ends++] = 5;
    *count = ends;
    if (twos) factors[(*count)++] = 2;
    for (int number = 0; number < 13; number++)
        for (; n % others[number] == 0; n /= others[number]) factors[(*count)++] = others[number];
    if (ends > 1) {
        const int64_t last = factors[*count - 1];
        factors[*count - 1] = factors[ends - 1], factors[ends - 1] = last;
    }
    return n;
}

// SYMBOL symc_fft_passes_fNN
// NEEDS symc_fft_turn_fNN symc_fft_pass_fNN symc_fft_factors malloc free
// A length without large prime factors: these, what is left of it after each, and the roots that
// turn before each.
typedef struct symc_fft_passes_fNN {
    int64_t n, count, factors[64], left[64];
    int inverse;
    real *roots, *turns[64];
} symc_fft_passes_fNN;

// The roots are among those of a multiple of the length.
static int symc_fft_passes_new_fNN(symc_fft_passes_fNN *f, int64_t n,
                                   const symc_fft_circle *circle) {
    *f = (symc_fft_passes_fNN){.n = n, .inverse = circle->inverse};
    symc_fft_factors(n, f->factors, &f->count);
    int64_t room = 1;
    for (int64_t number = 0, done = 1; number < f->count; done *= f->factors[number++])
        room += 2 * (done + 1) * f->factors[number];
    real *w = f->roots = malloc((size_t)room * sizeof(real));
    if (!w) return 0;
    for (int64_t number = 0, done = 1; number < f->count; done *= f->factors[number++]) {
        const int64_t factor = f->factors[number], turn = circle->n / (done * factor);
        f->left[number] = n / (done * factor);
        f->turns[number] = w;
        if (factor > 5 && factor != 8)
            for (int64_t k = 0; k < factor; k++, w += 2)
                symc_fft_turn_fNN(circle, k * done * turn, w, w + 1);
        for (int64_t j = 1; j < done; j++)
            for (int64_t k = 1; k < factor; k++, w += 2)
                symc_fft_turn_fNN(circle, j * k * turn, w, w + 1);
    }
    return 1;
}

// SYMBOL symc_fft_run_fNN
// NEEDS symc_fft_passes_fNN
// All passes but the first ones and the last ones, of a block that is left as it is; x and y have
// room for as much. Returns where the result is.
static const symc_lanes_fNN *symc_fft_run_fNN(const symc_fft_passes_fNN *f, int64_t first,
                                              int64_t end, const symc_lanes_fNN *from,
                                              symc_lanes_fNN *x, symc_lanes_fNN *y) {
    const int inverse = f->inverse;
    for (int64_t number = first; number < end; number++) {
        const int64_t left = f->left[number], done = number ? f->n / f->left[number - 1] : 1;
        const real *w = f->turns[number];
        symc_lanes_fNN *to = from == x ? y : x;
        switch (f->factors[number]) {
            case 2: symc_fft_pass2_fNN(done, left, inverse, w, from, to); break;
            case 3: symc_fft_pass3_fNN(done, left, inverse, w, from, to); break;
            case 4: symc_fft_pass4_fNN(done, left, inverse, w, from, to); break;
            case 5: symc_fft_pass5_fNN(done, left, inverse, w, from, to); break;
            case 8: symc_fft_pass8_fNN(done, left, inverse, w, from, to); break;
            default: symc_fft_pass_of_prime_fNN(f->factors[number], done, left, w, from, to);
        }
        from = to;
    }
    return from;
}

// The same of complex numbers of an array, `along` apart.
static const symc_lanes_fNN *symc_fft_run_from_fNN(const symc_fft_passes_fNN *f, int64_t end,
                                                   const real *a, int64_t along, symc_lanes_fNN *x,
                                                   symc_lanes_fNN *y) {
    switch (end ? f->factors[0] : 0) {
        case 4: symc_fft_first4_fNN(f->left[0], f->inverse, a, along, x); break;
        case 5: symc_fft_first5_fNN(f->left[0], f->inverse, a, along, x); break;
        case 8: symc_fft_first8_fNN(f->left[0], f->inverse, a, along, x); break;
        default:
            for (int64_t k = 0; k < f->n; k++)
                symc_split_lanes_fNN(a + k * along, x + 2 * k, x + 2 * k + 1);
            return symc_fft_run_fNN(f, 0, end, x, x, y);
    }
    return symc_fft_run_fNN(f, 1, end, x, x, y);
}

// The last pass, or what is left to do after it, to complex numbers of an array.
static void symc_fft_run_to_fNN(const symc_fft_passes_fNN *f, int64_t first,
                                const symc_lanes_fNN *from, symc_lanes_fNN *x, symc_lanes_fNN *y,
                                real scale, real *c, int64_t along) {
    const int64_t last = f->count - 1, factor = first <= last ? f->factors[last] : 0;
    const int ends = factor == 4 || factor == 5 || factor == 8;
    from = symc_fft_run_fNN(f, first, last + !ends, from, x, y);
    const int64_t done = ends ? f->n / factor : 1;
    switch (factor) {
        case 4: symc_fft_last4_fNN(done, f->inverse, f->turns[last], from, scale, c, along); break;
        case 5: symc_fft_last5_fNN(done, f->inverse, f->turns[last], from, scale, c, along); break;
        case 8: symc_fft_last8_fNN(done, f->inverse, f->turns[last], from, scale, c, along); break;
        default:
            for (int64_t k = 0; k < f->n; k++)
                symc_join_lanes_fNN(c + k * along, scale * from[2 * k], scale * from[2 * k + 1]);
    }
}
