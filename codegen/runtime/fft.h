// Discrete Fourier transforms of blocks of sequences; `fftaxes.h` makes blocks of arrays.
//
// A block has `width` sequences of n complex numbers side by side, real and imaginary parts apart:
// element i of sequence v is x[i * width + v], its imaginary part `n * width` after it. So each
// step of a transform runs in vector registers, whatever the sequences were. All is computed in
// double.
//
// A transform of length n is Stockham's: one pass over the data for each factor of n, from one
// array to another, in order at the end (J. Cooley and J. Tukey 1965; W. Cochran et al. 1967). A
// length with a prime factor above 47 is a convolution of a length without one (L. Bluestein 1970).
// Only forward transforms, by exp(-2 pi i j k / n), are written out: exchanging real and imaginary
// parts before and after makes them inverse. Nothing is divided by n here.

// SYMBOL symc_fft
// NEEDS malloc free
// The tables of a length: its factors, the roots of unity exp(-2 pi i k / (n * step)), and for
// Bluestein's method the inner transform and its two factors.
typedef struct symc_fft {
    int64_t n, step, count, factors[64];
    double *roots;           // real and imaginary parts in turn
    struct symc_fft *inner;  // the transform of a convolution
    double *chirp;           // exp(-pi i k^2 / n)
    double *filter;          // the transform of the chirp's conjugate
} symc_fft;

static void symc_fft_free(symc_fft *f) {
    if (!f) return;
    symc_fft_free(f->inner);
    free(f->roots);
    free(f->chirp);
    free(f->filter);
    free(f);
}

// SYMBOL symc_fft_root
// exp(-2 pi i k / n) for 0 <= k < n, from an angle of the first octant.
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

// SYMBOL symc_fft_roots
// NEEDS symc_fft_root malloc free
// All n roots: products of one of sqrt(n) roots far apart and one of sqrt(n) near 1.
static double *symc_fft_roots(int64_t n) {
    int64_t near = 1;
    while (near * near < n) near *= 2;
    const int64_t far = (n + near - 1) / near;
    double *roots = malloc((size_t)(2 * far * near) * sizeof(double));
    double *parts = malloc((size_t)(2 * (near + far)) * sizeof(double)), *first = parts + 2 * near;
    if (roots && parts) {
        for (int64_t k = 0; k < near; k++) symc_fft_root(k, n, parts + 2 * k);
        for (int64_t k = 0; k < far; k++) symc_fft_root(k * near, n, first + 2 * k);
        for (int64_t j = 0; j < far; j++) {
            const double c = first[2 * j], s = first[2 * j + 1];
            double *at = roots + 2 * j * near;
#pragma omp simd
            for (int64_t k = 0; k < near; k++) {
                at[2 * k] = c * parts[2 * k] - s * parts[2 * k + 1];
                at[2 * k + 1] = c * parts[2 * k + 1] + s * parts[2 * k];
            }
        }
    } else {
        free(roots);
        roots = 0;
    }
    free(parts);
    return roots;
}

// SYMBOL SYMC_INLINE
#define SYMC_INLINE static inline __attribute__((always_inline))

// SYMBOL symc_butterflies
// NEEDS SYMC_INLINE
// One transform of 2, 3, 4 or 5 elements. They stand `from` apart in x and go `to` apart into y;
// the imaginary parts are xi and yi. Before, all but the first are turned by roots of unity.
SYMC_INLINE void symc_butterfly2(const double *x, const double *xi, double *y, double *yi,
                                 int64_t from, int64_t to, const double *w) {
    const double r = x[from] * w[0] - xi[from] * w[1], i = x[from] * w[1] + xi[from] * w[0];
    const double r0 = x[0], i0 = xi[0];
    y[0] = r0 + r, yi[0] = i0 + i;
    y[to] = r0 - r, yi[to] = i0 - i;
}
SYMC_INLINE void symc_butterfly3(const double *x, const double *xi, double *y, double *yi,
                                 int64_t from, int64_t to, const double *w1, const double *w2) {
    const double half_root3 = 0.86602540378443864676;
    const double r0 = x[0], i0 = xi[0];
    const double r1 = x[from] * w1[0] - xi[from] * w1[1], i1 = x[from] * w1[1] + xi[from] * w1[0];
    const double r2 = x[2 * from] * w2[0] - xi[2 * from] * w2[1];
    const double i2 = x[2 * from] * w2[1] + xi[2 * from] * w2[0];
    const double sr = r1 + r2, si = i1 + i2;
    const double dr = half_root3 * (r1 - r2), di = half_root3 * (i1 - i2);
    const double mr = r0 - 0.5 * sr, mi = i0 - 0.5 * si;
    y[0] = r0 + sr, yi[0] = i0 + si;
    y[to] = mr + di, yi[to] = mi - dr;
    y[2 * to] = mr - di, yi[2 * to] = mi + dr;
}
SYMC_INLINE void symc_butterfly4(const double *x, const double *xi, double *y, double *yi,
                                 int64_t from, int64_t to, const double *w1, const double *w2,
                                 const double *w3) {
    const double r0 = x[0], i0 = xi[0];
    const double r1 = x[from] * w1[0] - xi[from] * w1[1], i1 = x[from] * w1[1] + xi[from] * w1[0];
    const double r2 = x[2 * from] * w2[0] - xi[2 * from] * w2[1];
    const double i2 = x[2 * from] * w2[1] + xi[2 * from] * w2[0];
    const double r3 = x[3 * from] * w3[0] - xi[3 * from] * w3[1];
    const double i3 = x[3 * from] * w3[1] + xi[3 * from] * w3[0];
    const double ar = r0 + r2, ai = i0 + i2, br = r0 - r2, bi = i0 - i2;
    const double cr = r1 + r3, ci = i1 + i3, dr = r1 - r3, di = i1 - i3;
    y[0] = ar + cr, yi[0] = ai + ci;
    y[to] = br + di, yi[to] = bi - dr;
    y[2 * to] = ar - cr, yi[2 * to] = ai - ci;
    y[3 * to] = br - di, yi[3 * to] = bi + dr;
}
SYMC_INLINE void symc_butterfly5(const double *x, const double *xi, double *y, double *yi,
                                 int64_t from, int64_t to, const double *w1, const double *w2,
                                 const double *w3, const double *w4) {
    const double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
    const double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    const double r0 = x[0], i0 = xi[0];
    const double r1 = x[from] * w1[0] - xi[from] * w1[1], i1 = x[from] * w1[1] + xi[from] * w1[0];
    const double r2 = x[2 * from] * w2[0] - xi[2 * from] * w2[1];
    const double i2 = x[2 * from] * w2[1] + xi[2 * from] * w2[0];
    const double r3 = x[3 * from] * w3[0] - xi[3 * from] * w3[1];
    const double i3 = x[3 * from] * w3[1] + xi[3 * from] * w3[0];
    const double r4 = x[4 * from] * w4[0] - xi[4 * from] * w4[1];
    const double i4 = x[4 * from] * w4[1] + xi[4 * from] * w4[0];
    const double ar = r1 + r4, ai = i1 + i4, br = r1 - r4, bi = i1 - i4;
    const double cr = r2 + r3, ci = i2 + i3, dr = r2 - r3, di = i2 - i3;
    const double er = r0 + c1 * ar + c2 * cr, ei = i0 + c1 * ai + c2 * ci;
    const double fr = r0 + c2 * ar + c1 * cr, fi = i0 + c2 * ai + c1 * ci;
    const double gr = s1 * bi + s2 * di, gi = s1 * br + s2 * dr;
    const double hr = s2 * bi - s1 * di, hi = s2 * br - s1 * dr;
    y[0] = r0 + ar + cr, yi[0] = i0 + ai + ci;
    y[to] = er + gr, yi[to] = ei - gi;
    y[2 * to] = fr + hr, yi[2 * to] = fi - hi;
    y[3 * to] = fr - hr, yi[3 * to] = fi + hi;
    y[4 * to] = er - gr, yi[4 * to] = ei + gi;
}

// SYMBOL symc_fft_pass
// NEEDS symc_fft symc_butterflies SYMC_OUT_OF_LINE
// One pass: `done` transforms' lengths multiply by `factor`. Vector loops run over neighbouring
// sequences, or over roots where only one sequence is left.
#define SYMC_FFT_PASS(factor, ...)                                                               \
    static SYMC_OUT_OF_LINE void symc_fft_pass##factor(const symc_fft *f, int64_t done,          \
                                                       int64_t width, const double *restrict x,  \
                                                       double *restrict y) {                     \
        const int64_t total = f->n * width, left = f->n / (factor * done), m = left * width;     \
        const int64_t turn = 2 * left * f->step, to = done * m;                                  \
        const double *roots = f->roots;                                                          \
        if (m == 1) {                                                                            \
            _Pragma("omp simd") for (int64_t j = 0; j < done; j++) {                             \
                const double *w = roots + j * turn, *p = x + j * factor;                         \
                double *q = y + j;                                                               \
                symc_butterfly##factor(p, p + total, q, q + total, 1, to, __VA_ARGS__);          \
            }                                                                                    \
            return;                                                                              \
        }                                                                                        \
        for (int64_t j = 0; j < done; j++) {                                                     \
            const double *w = roots + j * turn;                                                  \
            _Pragma("omp simd") for (int64_t t = 0; t < m; t++) {                                \
                const double *p = x + j * factor * m + t;                                        \
                double *q = y + j * m + t;                                                       \
                symc_butterfly##factor(p, p + total, q, q + total, m, to, __VA_ARGS__);          \
            }                                                                                    \
        }                                                                                        \
    }
SYMC_FFT_PASS(2, w)
SYMC_FFT_PASS(3, w, roots + 2 * j * turn)
SYMC_FFT_PASS(4, w, roots + 2 * j * turn, roots + 3 * j * turn)
SYMC_FFT_PASS(5, w, roots + 2 * j * turn, roots + 3 * j * turn, roots + 4 * j * turn)

// Any other prime: by the definition, eight sequences at a time.
static void symc_fft_pass_of_prime(const symc_fft *f, int64_t prime, int64_t done, int64_t width,
                                   const double *restrict x, double *restrict y) {
    enum { WIDE = 8, MOST = 48 };
    const int64_t total = f->n * width, left = f->n / (prime * done), m = left * width;
    const int64_t size = f->n * f->step, turn = left * f->step, part = size / prime;
    double re[MOST][WIDE], im[MOST][WIDE];
    for (int64_t j = 0; j < done; j++)
        for (int64_t t = 0; t < m; t += WIDE) {
            const int64_t wide = m - t < WIDE ? m - t : WIDE;
            for (int64_t q = 0; q < prime; q++) {
                const double *w = f->roots + 2 * (j * q * turn);
                const double *p = x + (j * prime + q) * m + t;
                for (int64_t v = 0; v < wide; v++) {
                    re[q][v] = p[v] * w[0] - p[total + v] * w[1];
                    im[q][v] = p[v] * w[1] + p[total + v] * w[0];
                }
            }
            for (int64_t k = 0; k < prime; k++) {
                double sum[WIDE] = {0}, sum_i[WIDE] = {0};
                for (int64_t q = 0; q < prime; q++) {
                    const double *w = f->roots + 2 * (k * q % prime * part);
#pragma omp simd
                    for (int64_t v = 0; v < WIDE; v++) {
                        sum[v] += re[q][v] * w[0] - im[q][v] * w[1];
                        sum_i[v] += re[q][v] * w[1] + im[q][v] * w[0];
                    }
                }
                double *to = y + (j + done * k) * m + t;
                for (int64_t v = 0; v < wide; v++) to[v] = sum[v], to[total + v] = sum_i[v];
            }
        }
}

// SYMBOL symc_fft_run
// NEEDS symc_fft_pass
// Transforms a block; x and y have room for symc_fft_room numbers. Returns the one with the result.
static double *symc_fft_run(const symc_fft *f, int64_t width, double *x, double *y) {
    if (f->inner) {
        const int64_t n = f->n, m = f->inner->n, total = n * width, wide = m * width;
        for (int64_t k = 0; k < n; k++) {
            const double c = f->chirp[2 * k], s = f->chirp[2 * k + 1];
#pragma omp simd
            for (int64_t v = k * width; v < (k + 1) * width; v++) {
                y[v] = x[v] * c - x[total + v] * s;
                y[wide + v] = x[v] * s + x[total + v] * c;
            }
        }
        __builtin_memset(y + total, 0, (size_t)(wide - total) * sizeof(double));
        __builtin_memset(y + wide + total, 0, (size_t)(wide - total) * sizeof(double));
        double *found = symc_fft_run(f->inner, width, y, x), *other = found == x ? y : x;
        for (int64_t k = 0; k < m; k++) {
            const double c = f->filter[2 * k], s = f->filter[2 * k + 1];
#pragma omp simd
            for (int64_t v = k * width; v < (k + 1) * width; v++) {
                other[wide + v] = found[v] * c - found[wide + v] * s;
                other[v] = found[v] * s + found[wide + v] * c;
            }
        }
        found = symc_fft_run(f->inner, width, other, found);
        other = found == x ? y : x;
        for (int64_t k = 0; k < n; k++) {
            const double c = f->chirp[2 * k], s = f->chirp[2 * k + 1];
#pragma omp simd
            for (int64_t v = k * width; v < (k + 1) * width; v++) {
                other[v] = found[wide + v] * c - found[v] * s;
                other[total + v] = found[wide + v] * s + found[v] * c;
            }
        }
        return other;
    }
    int64_t done = 1;
    for (int64_t number = 0; number < f->count; number++) {
        const int64_t factor = f->factors[number];
        double *spare = x;
        switch (factor) {
            case 2: symc_fft_pass2(f, done, width, x, y); break;
            case 3: symc_fft_pass3(f, done, width, x, y); break;
            case 4: symc_fft_pass4(f, done, width, x, y); break;
            case 5: symc_fft_pass5(f, done, width, x, y); break;
            default: symc_fft_pass_of_prime(f, factor, done, width, x, y);
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

// SYMBOL symc_fft_new
// NEEDS symc_fft symc_fft_roots symc_fft_run symc_fft_smooth
// The tables for transforms of length n, 0 where there is no memory for them. With `step` 2 there
// are also the roots of twice the length, as real transforms use them.
static symc_fft *symc_fft_new(int64_t n, int64_t step) {
    static const int primes[] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
    symc_fft *f = malloc(sizeof(symc_fft));
    if (!f) return 0;
    *f = (symc_fft){.n = n, .step = step};
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
    int complete = (f->roots = symc_fft_roots(n * step)) != 0;
    if (rest > 1 && complete) {
        const int64_t m = symc_fft_smooth(2 * n - 1);
        f->inner = symc_fft_new(m, 1);
        f->chirp = malloc((size_t)(2 * n) * sizeof(double));
        f->filter = malloc((size_t)(4 * m) * sizeof(double));
        double *work = malloc((size_t)(2 * m) * sizeof(double));
        complete = f->inner && f->chirp && f->filter && work;
        if (complete) {
            double *b = f->filter, scale = 1.0 / (double)m;
            __builtin_memset(b, 0, (size_t)(2 * m) * sizeof(double));
            for (int64_t k = 0, square = 0; k < n; k++) {
                symc_fft_root(square, 2 * n, f->chirp + 2 * k);
                square = (square + 2 * k + 1) % (2 * n);
                const int64_t mirrored = k ? m - k : 0;
                b[k] = b[mirrored] = f->chirp[2 * k] * scale;
                b[m + k] = b[m + mirrored] = -f->chirp[2 * k + 1] * scale;
            }
            const double *found = symc_fft_run(f->inner, 1, b, work);
            double *parts = found == work ? b : work;
            for (int64_t k = 0; k < m; k++) {
                parts[2 * k] = found[k];
                parts[2 * k + 1] = found[m + k];
            }
            if (parts == work) __builtin_memcpy(b, work, (size_t)(2 * m) * sizeof(double));
        }
        free(work);
    }
    if (!complete) {
        symc_fft_free(f);
        return 0;
    }
    return f;
}

// How many numbers a block needs for each sequence.
static int64_t symc_fft_room(const symc_fft *f) {
    return 2 * (f->inner ? f->inner->n : f->n);
}

