// Discrete Fourier transforms of blocks of sequences; `fftaxes.h` makes blocks of arrays.
//
// A block has one sequence of n complex numbers, real and imaginary parts apart: x[i], and x[n + i]
// for the imaginary part. Or it has as many side by side as a vector register has lanes, L: element
// i of sequence v is x[2 * L * i + v], and the imaginary part L numbers after it, so that all of an
// element is one line of the cache. Numbers are float or double, and all is computed in that type
// but the roots of unity, which are rounded from double: the error of a result is then a few units
// of its last place times the logarithm of n.
//
// A transform of length n is Stockham's: one pass over the data for each factor of n, from one
// array to another, in order at the end (J. Cooley and J. Tukey 1965; W. Cochran et al. 1967). A
// length with a prime factor above 47 is a convolution of a length without one (L. Bluestein 1970).
// Only forward transforms, by exp(-2 pi i j k / n), are written out: exchanging real and imaginary
// parts before and after makes them inverse. Nothing is divided by n here.

// SYMBOL symc_fft_fNN
// NEEDS malloc free
// The tables of a length: its factors, the roots of unity exp(-2 pi i k / (n * step)), and for
// Bluestein's method the inner transform and its two factors.
typedef struct symc_fft_fNN {
    int64_t n, step, count, factors[64];
    real *roots;                 // cosines and sines in turn
    struct symc_fft_fNN *inner;  // the transform of a convolution
    real *chirp;                 // exp(-pi i k^2 / n)
    real *filter;                // the transform of the chirp's conjugate
} symc_fft_fNN;

static void symc_fft_free_fNN(symc_fft_fNN *f) {
    if (!f) return;
    symc_fft_free_fNN(f->inner);
    free(f->roots);
    free(f->chirp);
    free(f->filter);
    free(f);
}

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

// SYMBOL symc_fft_roots_fNN
// NEEDS symc_fft_root malloc free
// All n roots: products of one of sqrt(n) roots far apart and one of sqrt(n) near 1.
static real *symc_fft_roots_fNN(int64_t n) {
    int64_t near = 1;
    while (near * near < n) near *= 2;
    const int64_t far = (n + near - 1) / near;
    real *roots = malloc((size_t)(2 * far * near) * sizeof(real));
    double *parts = malloc((size_t)(2 * (near + far)) * sizeof(double)), *first = parts + 2 * near;
    if (roots && parts) {
        for (int64_t k = 0; k < near; k++) symc_fft_root(k, n, parts + 2 * k);
        for (int64_t k = 0; k < far; k++) symc_fft_root(k * near, n, first + 2 * k);
        for (int64_t j = 0; j < far; j++) {
            const double c = first[2 * j], s = first[2 * j + 1];
            real *at = roots + 2 * j * near;
#pragma omp simd
            for (int64_t k = 0; k < near; k++) {
                at[2 * k] = (real)(c * parts[2 * k] - s * parts[2 * k + 1]);
                at[2 * k + 1] = (real)(c * parts[2 * k + 1] + s * parts[2 * k]);
            }
        }
    } else {
        free(roots);
        roots = 0;
    }
    free(parts);
    return roots;
}

// SYMBOL symc_butterflies_fNN
// One transform of 2, 3, 4 or 5 elements. They stand `from` apart in x and go `to` apart into y;
// the imaginary parts are xi and yi. Before, all but the first are turned by roots of unity.
SYMC_INLINE void symc_butterfly2_fNN(const real *x, const real *xi, real *y, real *yi, int64_t from,
                                     int64_t to, const real *w) {
    const real r = x[from] * w[0] - xi[from] * w[1], i = x[from] * w[1] + xi[from] * w[0];
    const real r0 = x[0], i0 = xi[0];
    y[0] = r0 + r, yi[0] = i0 + i;
    y[to] = r0 - r, yi[to] = i0 - i;
}
SYMC_INLINE void symc_butterfly3_fNN(const real *x, const real *xi, real *y, real *yi, int64_t from,
                                     int64_t to, const real *w1, const real *w2) {
    const real half_root3 = 0.86602540378443864676;
    const real r0 = x[0], i0 = xi[0];
    const real r1 = x[from] * w1[0] - xi[from] * w1[1], i1 = x[from] * w1[1] + xi[from] * w1[0];
    const real r2 = x[2 * from] * w2[0] - xi[2 * from] * w2[1];
    const real i2 = x[2 * from] * w2[1] + xi[2 * from] * w2[0];
    const real sr = r1 + r2, si = i1 + i2;
    const real dr = half_root3 * (r1 - r2), di = half_root3 * (i1 - i2);
    const real half = 0.5, mr = r0 - half * sr, mi = i0 - half * si;
    y[0] = r0 + sr, yi[0] = i0 + si;
    y[to] = mr + di, yi[to] = mi - dr;
    y[2 * to] = mr - di, yi[2 * to] = mi + dr;
}
SYMC_INLINE void symc_butterfly4_fNN(const real *x, const real *xi, real *y, real *yi, int64_t from,
                                     int64_t to, const real *w1, const real *w2, const real *w3) {
    const real r0 = x[0], i0 = xi[0];
    const real r1 = x[from] * w1[0] - xi[from] * w1[1], i1 = x[from] * w1[1] + xi[from] * w1[0];
    const real r2 = x[2 * from] * w2[0] - xi[2 * from] * w2[1];
    const real i2 = x[2 * from] * w2[1] + xi[2 * from] * w2[0];
    const real r3 = x[3 * from] * w3[0] - xi[3 * from] * w3[1];
    const real i3 = x[3 * from] * w3[1] + xi[3 * from] * w3[0];
    const real ar = r0 + r2, ai = i0 + i2, br = r0 - r2, bi = i0 - i2;
    const real cr = r1 + r3, ci = i1 + i3, dr = r1 - r3, di = i1 - i3;
    y[0] = ar + cr, yi[0] = ai + ci;
    y[to] = br + di, yi[to] = bi - dr;
    y[2 * to] = ar - cr, yi[2 * to] = ai - ci;
    y[3 * to] = br - di, yi[3 * to] = bi + dr;
}
SYMC_INLINE void symc_butterfly5_fNN(const real *x, const real *xi, real *y, real *yi, int64_t from,
                                     int64_t to, const real *w1, const real *w2, const real *w3,
                                     const real *w4) {
    const real c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
    const real s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    const real r0 = x[0], i0 = xi[0];
    const real r1 = x[from] * w1[0] - xi[from] * w1[1], i1 = x[from] * w1[1] + xi[from] * w1[0];
    const real r2 = x[2 * from] * w2[0] - xi[2 * from] * w2[1];
    const real i2 = x[2 * from] * w2[1] + xi[2 * from] * w2[0];
    const real r3 = x[3 * from] * w3[0] - xi[3 * from] * w3[1];
    const real i3 = x[3 * from] * w3[1] + xi[3 * from] * w3[0];
    const real r4 = x[4 * from] * w4[0] - xi[4 * from] * w4[1];
    const real i4 = x[4 * from] * w4[1] + xi[4 * from] * w4[0];
    const real ar = r1 + r4, ai = i1 + i4, br = r1 - r4, bi = i1 - i4;
    const real cr = r2 + r3, ci = i2 + i3, dr = r2 - r3, di = i2 - i3;
    const real er = r0 + c1 * ar + c2 * cr, ei = i0 + c1 * ai + c2 * ci;
    const real fr = r0 + c2 * ar + c1 * cr, fi = i0 + c2 * ai + c1 * ci;
    const real gr = s1 * bi + s2 * di, gi = s1 * br + s2 * dr;
    const real hr = s2 * bi - s1 * di, hi = s2 * br - s1 * dr;
    y[0] = r0 + ar + cr, yi[0] = i0 + ai + ci;
    y[to] = er + gr, yi[to] = ei - gi;
    y[2 * to] = fr + hr, yi[2 * to] = fi - hi;
    y[3 * to] = fr - hr, yi[3 * to] = fi + hi;
    y[4 * to] = er - gr, yi[4 * to] = ei + gi;
}

// SYMBOL symc_fft_lanes_fNN
// How many sequences are side by side: two vectors of them are a line of the cache. How far
// elements of a sequence are apart, and the two parts of one, in a block of n elements.
enum { SYMC_FFT_LANES_fNN = 32 / sizeof(real) };
static inline int64_t symc_fft_next_fNN(int64_t lanes) {
    return lanes == 1 ? 1 : 2 * SYMC_FFT_LANES_fNN;
}
static inline int64_t symc_fft_apart_fNN(int64_t lanes, int64_t n) {
    return lanes == 1 ? n : SYMC_FFT_LANES_fNN;
}

// SYMBOL symc_fft_pass_fNN
// NEEDS symc_fft_fNN symc_fft_lanes_fNN symc_butterflies_fNN SYMC_OUT_OF_LINE
// One pass: `done` transforms' lengths multiply by `factor`. Vector loops run over sequences side
// by side, or of a single one over what is left to do; or at the end over roots, for the factor
// that is the last one of most lengths, as gcc takes long for such a loop.
#define SYMC_FFT_PASS_fNN(factor, ...)                                                            \
    static SYMC_OUT_OF_LINE void symc_fft_pass##factor##_fNN(                                     \
        const symc_fft_fNN *f, int64_t done, int64_t lanes, const real *restrict x,               \
        real *restrict y) {                                                                       \
        enum { LANES = SYMC_FFT_LANES_fNN, BOTH = 2 * LANES };                                    \
        const int64_t left = f->n / (factor * done), turn = 2 * left * f->step;                   \
        const int64_t m = lanes == 1 ? left : BOTH * left, n = f->n, to = done * m;               \
        const real *roots = f->roots;                                                             \
        if (factor == 4 && m == 1) {                                                              \
            _Pragma("omp simd") for (int64_t j = 0; j < done; j++) {                              \
                const real *w = roots + j * turn, *p = x + j * factor;                            \
                real *q = y + j;                                                                  \
                symc_butterfly##factor##_fNN(p, p + n, q, q + n, 1, to, __VA_ARGS__);             \
            }                                                                                     \
            return;                                                                               \
        }                                                                                         \
        for (int64_t j = 0; j < done; j++) {                                                      \
            const real *w = roots + j * turn;                                                     \
            if (lanes == 1) {                                                                     \
                _Pragma("omp simd") for (int64_t t = 0; t < m; t++) {                             \
                    const real *p = x + j * factor * m + t;                                       \
                    real *q = y + j * m + t;                                                      \
                    symc_butterfly##factor##_fNN(p, p + n, q, q + n, m, to, __VA_ARGS__);         \
                }                                                                                 \
                continue;                                                                         \
            }                                                                                     \
            for (int64_t t = 0; t < m; t += BOTH)                                                 \
                _Pragma("omp simd") for (int64_t v = t; v < t + LANES; v++) {                     \
                    const real *p = x + j * factor * m + v;                                       \
                    real *q = y + j * m + v;                                                      \
                    symc_butterfly##factor##_fNN(p, p + LANES, q, q + LANES, m, to, __VA_ARGS__); \
                }                                                                                 \
        }                                                                                         \
    }
SYMC_FFT_PASS_fNN(2, w) SYMC_FFT_PASS_fNN(3, w, roots + 2 * j * turn)
    SYMC_FFT_PASS_fNN(4, w, roots + 2 * j * turn, roots + 3 * j * turn)
        SYMC_FFT_PASS_fNN(5, w, roots + 2 * j * turn, roots + 3 * j * turn, roots + 4 * j * turn)

    // Any other prime: by the definition, eight columns at a time.
    static void symc_fft_pass_of_prime_fNN(const symc_fft_fNN *f, int64_t prime, int64_t done,
                                           int64_t lanes, const real *restrict x,
                                           real *restrict y) {
    enum { WIDE = 8, MOST = 48 };
    const int64_t next = symc_fft_next_fNN(lanes), apart = symc_fft_apart_fNN(lanes, f->n);
    const int64_t left = f->n / (prime * done), m = left * next;
    const int64_t size = f->n * f->step, turn = left * f->step, part = size / prime;
    real re[MOST][WIDE], im[MOST][WIDE];
    for (int64_t j = 0; j < done; j++)
        for (int64_t t = 0; t < m; t += lanes == 1 ? WIDE : next) {
            const int64_t wide = lanes > 1 ? lanes : m - t < WIDE ? m - t : WIDE;
            for (int64_t q = 0; q < prime; q++) {
                const real *w = f->roots + 2 * (j * q * turn);
                const real *p = x + (j * prime + q) * m + t;
                for (int64_t v = 0; v < wide; v++) {
                    re[q][v] = p[v] * w[0] - p[apart + v] * w[1];
                    im[q][v] = p[v] * w[1] + p[apart + v] * w[0];
                }
            }
            for (int64_t k = 0; k < prime; k++) {
                real sum[WIDE] = {0}, sum_i[WIDE] = {0};
                for (int64_t q = 0; q < prime; q++) {
                    const real *w = f->roots + 2 * (k * q % prime * part);
#pragma omp simd
                    for (int64_t v = 0; v < WIDE; v++) {
                        sum[v] += re[q][v] * w[0] - im[q][v] * w[1];
                        sum_i[v] += re[q][v] * w[1] + im[q][v] * w[0];
                    }
                }
                real *to = y + (j + done * k) * m + t;
                for (int64_t v = 0; v < wide; v++) to[v] = sum[v], to[apart + v] = sum_i[v];
            }
        }
}

// SYMBOL symc_fft_products_fNN
// NEEDS symc_fft_lanes_fNN
// The first elements of a block times numbers w that all of its sequences share.
static void symc_fft_products_fNN(const real *w, int64_t count, int64_t lanes,
                                  const real *restrict re, const real *restrict im,
                                  real *restrict to_re, real *restrict to_im) {
    enum { LANES = SYMC_FFT_LANES_fNN };
    if (lanes == 1) {
#pragma omp simd
        for (int64_t k = 0; k < count; k++) {
            const real c = w[2 * k], s = w[2 * k + 1], r = re[k], i = im[k];
            to_re[k] = r * c - i * s, to_im[k] = r * s + i * c;
        }
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        const real c = w[2 * k], s = w[2 * k + 1];
#pragma omp simd
        for (int64_t v = 2 * LANES * k; v < 2 * LANES * k + LANES; v++) {
            const real r = re[v], i = im[v];
            to_re[v] = r * c - i * s, to_im[v] = r * s + i * c;
        }
    }
}

// SYMBOL symc_fft_run_fNN
// NEEDS symc_fft_pass_fNN symc_fft_products_fNN
// Transforms a block; x and y have room for symc_fft_room_fNN numbers of each of its sequences.
// Returns the one with the result.
static real *symc_fft_run_fNN(const symc_fft_fNN *f, int64_t lanes, real *x, real *y) {
    if (f->inner) {
        const int64_t n = f->n, m = f->inner->n, next = symc_fft_next_fNN(lanes);
        const int64_t apart = symc_fft_apart_fNN(lanes, n), wide = symc_fft_apart_fNN(lanes, m);
        symc_fft_products_fNN(f->chirp, n, lanes, x, x + apart, y, y + wide);
        for (int64_t k = n; k < m; k++)
            for (int64_t v = k * next; v < k * next + lanes; v++) y[v] = y[wide + v] = 0;
        real *found = symc_fft_run_fNN(f->inner, lanes, y, x), *other = found == x ? y : x;
        symc_fft_products_fNN(f->filter, m, lanes, found, found + wide, other + wide, other);
        found = symc_fft_run_fNN(f->inner, lanes, other, found);
        other = found == x ? y : x;
        symc_fft_products_fNN(f->chirp, n, lanes, found + wide, found, other, other + apart);
        return other;
    }
    int64_t done = 1;
    for (int64_t number = 0; number < f->count; number++) {
        const int64_t factor = f->factors[number];
        real *spare = x;
        switch (factor) {
            case 2: symc_fft_pass2_fNN(f, done, lanes, x, y); break;
            case 3: symc_fft_pass3_fNN(f, done, lanes, x, y); break;
            case 4: symc_fft_pass4_fNN(f, done, lanes, x, y); break;
            case 5: symc_fft_pass5_fNN(f, done, lanes, x, y); break;
            default: symc_fft_pass_of_prime_fNN(f, factor, done, lanes, x, y);
        }
        x = y, y = spare;
        done *= factor;
    }
    return x;
}

// SYMBOL symc_fft_smooth
// The least number from n on that is a power of two, perhaps times 3, 5, 9 or 15.
static int64_t symc_fft_smooth(int64_t n) {
    static const int odd[] = {1, 3, 5, 9, 15};
    int64_t least = 0;
    for (int number = 0; number < 5; number++) {
        int64_t m = odd[number];
        while (m < n) m *= 2;
        if (!least || m < least) least = m;
    }
    return least;
}

// SYMBOL symc_fft_new_fNN
// NEEDS symc_fft_fNN symc_fft_roots_fNN symc_fft_run_fNN symc_fft_smooth
// The tables for transforms of length n, 0 where there is no memory for them. With `step` 2 there
// are also the roots of twice the length, as transforms of reals use them.
static symc_fft_fNN *symc_fft_new_fNN(int64_t n, int64_t step) {
    static const int primes[] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
    symc_fft_fNN *f = malloc(sizeof(symc_fft_fNN));
    if (!f) return 0;
    *f = (symc_fft_fNN){.n = n, .step = step};
    int64_t rest = n;
    for (int number = 0; number < 14; number++)
        for (; rest % primes[number] == 0; rest /= primes[number])
            f->factors[f->count++] = primes[number];
    for (; rest % 4 == 0; rest /= 4) f->factors[f->count++] = 4;
    if (rest % 2 == 0) {
        f->factors[f->count++] = f->factors[0];
        f->factors[0] = 2;
        rest /= 2;
    }
    int complete = (f->roots = symc_fft_roots_fNN(n * step)) != 0;
    if (rest > 1 && complete) {
        const int64_t m = symc_fft_smooth(2 * n - 1);
        f->inner = symc_fft_new_fNN(m, 1);
        f->chirp = malloc((size_t)(2 * n) * sizeof(real));
        f->filter = malloc((size_t)(4 * m) * sizeof(real));
        real *work = malloc((size_t)(2 * m) * sizeof(real));
        complete = f->inner && f->chirp && f->filter && work;
        if (complete) {
            real *b = f->filter;
            const double scale = 1.0 / (double)m;
            __builtin_memset(b, 0, (size_t)(2 * m) * sizeof(real));
            for (int64_t k = 0, square = 0; k < n; k++) {
                double root[2];
                symc_fft_root(square, 2 * n, root);
                f->chirp[2 * k] = (real)root[0];
                f->chirp[2 * k + 1] = (real)root[1];
                square = (square + 2 * k + 1) % (2 * n);
                const int64_t mirrored = k ? m - k : 0;
                b[k] = b[mirrored] = (real)(root[0] * scale);
                b[m + k] = b[m + mirrored] = (real)(-root[1] * scale);
            }
            const real *found = symc_fft_run_fNN(f->inner, 1, b, work);
            real *parts = found == work ? b : work;
            for (int64_t k = 0; k < m; k++) {
                parts[2 * k] = found[k];
                parts[2 * k + 1] = found[m + k];
            }
            if (parts == work) __builtin_memcpy(b, work, (size_t)(2 * m) * sizeof(real));
        }
        free(work);
    }
    if (!complete) {
        symc_fft_free_fNN(f);
        return 0;
    }
    return f;
}

// How many numbers a block needs for each sequence.
static int64_t symc_fft_room_fNN(const symc_fft_fNN *f) {
    return 2 * (f->inner ? f->inner->n : f->n);
}
