// Fourier transforms from and to real numbers along one axis of an array. Those of an even length
// are complex ones of half of it, of pairs of neighbours (J. Cooley, P. Lewis and P. Welch 1970).

// SYMBOL symc_fft_real_parts_fNN
// NEEDS symc_lanes_fNN
// From Z = E + i O, the transform of pairs, to E + W^k O, for k (`here`) and m - k (`there`) at
// once, by their root c + i s; and the opposite, but for a factor of 2, by the conjugate of it. In
// the middle, where both are one element, `here` is what stays: zeros of it are not negative.
SYMC_INLINE void symc_fft_apart_fNN(const symc_lanes_fNN *here, const symc_lanes_fNN *there,
                                    symc_lanes_fNN c, symc_lanes_fNN s, symc_lanes_fNN *to_here,
                                    symc_lanes_fNN *to_there) {
    const real half = 0.5;
    const symc_lanes_fNN er = half * (here[0] + there[0]), dr = half * (here[0] - there[0]);
    const symc_lanes_fNN ei = half * (here[1] - there[1]), di = half * (here[1] + there[1]);
    const symc_lanes_fNN tr = c * di + s * dr, ti = s * di - c * dr;
    to_there[0] = er - tr, to_there[1] = ti - ei;
    to_here[0] = er + tr, to_here[1] = ti + ei;
}
SYMC_INLINE void symc_fft_together_fNN(const symc_lanes_fNN *here, const symc_lanes_fNN *there,
                                       symc_lanes_fNN c, symc_lanes_fNN s, symc_lanes_fNN *to_here,
                                       symc_lanes_fNN *to_there) {
    const symc_lanes_fNN er = here[0] + there[0], dr = here[0] - there[0];
    const symc_lanes_fNN ei = here[1] - there[1], di = here[1] + there[1];
    const symc_lanes_fNN tr = c * di + s * dr, ti = c * dr - s * di;
    to_there[0] = er + tr, to_there[1] = ti - ei;
    to_here[0] = er - tr, to_here[1] = ti + ei;
}

// SYMBOL symc_fft_halves_fNN
// NEEDS symc_fft_real_parts_fNN symc_shuffles_fNN
// The same for sequences by themselves, of complex numbers in turn: elements 1 to m - 1, from x to
// y, for m pairs. Vectors from both ends meet in the middle, where they may overlap.
#define SYMC_FFT_HALVES_fNN(name, both)                                                         \
    static void name(const real *roots, int64_t m, const real *restrict x, real *restrict y) {  \
        enum { L = SYMC_LANES_fNN };                                                            \
        for (int64_t start = 1; start <= m / 2; start += m > L ? L : 1) {                       \
            const int64_t k = m > L && start > m - L ? m - L : start;                           \
            symc_lanes_fNN here[2] = {{0}}, there[2] = {{0}}, c = {0}, s = {0}, to[4];          \
            if (m > L) {                                                                        \
                symc_split_lanes_fNN(x + 2 * k, here, here + 1);                                \
                symc_split_lanes_fNN(x + 2 * (m - k - L + 1), there, there + 1);                \
                symc_split_lanes_fNN(roots + 2 * k, &c, &s);                                    \
                there[0] = symc_turn_lanes_fNN(there[0]);                                       \
                there[1] = symc_turn_lanes_fNN(there[1]);                                       \
                both(here, there, c, s, to, to + 2);                                            \
                symc_join_lanes_fNN(y + 2 * (m - k - L + 1), symc_turn_lanes_fNN(to[2]),        \
                                    symc_turn_lanes_fNN(to[3]));                                \
                symc_join_lanes_fNN(y + 2 * k, to[0], to[1]);                                   \
                continue;                                                                       \
            }                                                                                   \
            here[0][0] = x[2 * k], here[1][0] = x[2 * k + 1];                                   \
            there[0][0] = x[2 * (m - k)], there[1][0] = x[2 * (m - k) + 1];                     \
            c[0] = roots[2 * k], s[0] = roots[2 * k + 1];                                       \
            both(here, there, c, s, to, to + 2);                                                \
            y[2 * (m - k)] = to[2][0], y[2 * (m - k) + 1] = to[3][0];                           \
            y[2 * k] = to[0][0], y[2 * k + 1] = to[1][0];                                       \
        }                                                                                       \
    }
SYMC_FFT_HALVES_fNN(symc_fft_line_apart_fNN, symc_fft_apart_fNN)
SYMC_FFT_HALVES_fNN(symc_fft_line_together_fNN, symc_fft_together_fNN)

// SYMBOL symc_fft_real_fNN
// NEEDS symc_fft_over_fNN symc_fft_halves_fNN symc_fft_strided_fNN
// c[outer, n/2 + 1, inner] = the first half of the transforms of a[outer, n, inner]: the rest is
// its mirror image.
static void symc_fft_line_of_reals_fNN(const symc_fft_fNN *f, int64_t n, const real *a, real *c,
                                       symc_lanes_fNN *work) {
    const int64_t m = f->n;
    real *x = (real *)work, *y = x + 2 * m;
    if (m == n) {
        for (int64_t k = 0; k < n; k++) x[2 * k] = a[k], x[2 * k + 1] = 0;
        symc_fft_line_fNN(f, x, y, work + 4 * (n / SYMC_LANES_fNN + 1));
        __builtin_memcpy(c, y, (size_t)(2 * (n / 2 + 1)) * sizeof(real));
        return;
    }
    symc_fft_line_fNN(f, a, x, work + n / SYMC_LANES_fNN + 1);
    c[0] = x[0] + x[1], c[1] = 0;
    c[2 * m] = x[0] - x[1], c[2 * m + 1] = 0;
    symc_fft_line_apart_fNN(f->halves, m, x, c);
}
static void symc_fft_each_real_fNN(const symc_fft_job_fNN *job, int64_t number,
                                   symc_lanes_fNN *work) {
    const symc_fft_fNN *f = job->f;
    const int64_t n = job->n, inner = job->inner, m = f->n, half = n / 2 + 1;
    if (job->alone) {
        const real *a = job->a + number / inner * n * inner + number % inner;
        real *c = job->c + 2 * (number / inner * half * inner + number % inner);
        if (inner == 1) {
            symc_fft_line_of_reals_fNN(f, n, a, c, work);
            return;
        }
        real *x = (real *)work, *y = x + n;
        symc_fft_strided_fNN(a, n, 1, inner, 1, x);
        symc_fft_line_of_reals_fNN(f, n, x, y, work + 2 * (n / SYMC_LANES_fNN + 2));
        symc_fft_strided_fNN(y, half, 2, 1, inner, c);
        return;
    }
    const int64_t outer = job->outer;
    const symc_fft_place from = symc_fft_place_of_pairs(number, SYMC_LANES_fNN, n, outer, inner);
    const symc_fft_place to = symc_fft_place_of(number, SYMC_LANES_fNN, half, outer, inner);
    symc_lanes_fNN *y = work + symc_fft_room_fNN(f) / 2 + 2;
    symc_fft_load_fNN(job->a, from, m, work);
    symc_lanes_fNN *z = symc_fft_block_fNN(f, work, y), *x = z == y ? work : y;
    if (m == n) {
        symc_fft_store_fNN(job->c, to, half, job->scale, z);
        return;
    }
    const symc_lanes_fNN none = {0};
    x[0] = z[0] + z[1], x[1] = none;
    x[2 * m] = z[0] - z[1], x[2 * m + 1] = none;
    for (int64_t k = 1; k <= m / 2; k++)
        symc_fft_apart_fNN(z + 2 * k, z + 2 * (m - k), none + f->halves[2 * k],
                           none + f->halves[2 * k + 1], x + 2 * k, x + 2 * (m - k));
    symc_fft_store_fNN(job->c, to, half, job->scale, x);
}
static void symc_fft_real_fNN(int64_t power, int64_t outer, int64_t n, int64_t inner, const real *a,
                              real *c, int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    const symc_fft_job_fNN job = {.n = n, .outer = outer, .inner = inner,
                                  .apart = (n % 2 ? 4 : 1) + (inner > 1 ? 2 : 0), .a = a, .c = c};
    symc_fft_over_fNN(symc_fft_each_real_fNN, job, n % 2 == 0, power,
                      2 * outer * (n / 2 + 1) * inner, threads);
}

// SYMBOL symc_fft_to_real_fNN
// NEEDS symc_fft_over_fNN symc_fft_halves_fNN symc_fft_strided_fNN
// The opposite: c[outer, n, inner] from a[outer, n/2 + 1, inner], whose first element, and last one
// if n is even, count without imaginary parts.
static void symc_fft_line_to_reals_fNN(const symc_fft_fNN *f, int64_t n, const real *a, real *c,
                                       symc_lanes_fNN *work) {
    const int64_t m = f->n;
    real *x = (real *)work, *y = x + 2 * m;
    if (m == n) {
        x[0] = a[0], x[1] = 0;
        for (int64_t k = 1; k <= n / 2; k++) {
            x[2 * k] = x[2 * (n - k)] = a[2 * k];
            x[2 * k + 1] = a[2 * k + 1], x[2 * (n - k) + 1] = -a[2 * k + 1];
        }
        symc_fft_line_fNN(f, x, y, work + 4 * (n / SYMC_LANES_fNN + 1));
        for (int64_t k = 0; k < n; k++) c[k] = y[2 * k];
        return;
    }
    x[0] = a[0] + a[2 * m], x[1] = a[0] - a[2 * m];
    symc_fft_line_together_fNN(f->halves, m, a, x);
    symc_fft_line_fNN(f, x, c, work + n / SYMC_LANES_fNN + 1);
}
static void symc_fft_each_to_real_fNN(const symc_fft_job_fNN *job, int64_t number,
                                      symc_lanes_fNN *work) {
    const symc_fft_fNN *f = job->f;
    const int64_t n = job->n, inner = job->inner, m = f->n, half = n / 2 + 1;
    if (job->alone) {
        const real *a = job->a + 2 * (number / inner * half * inner + number % inner);
        real *c = job->c + number / inner * n * inner + number % inner;
        if (inner == 1) {
            symc_fft_line_to_reals_fNN(f, n, a, c, work);
            return;
        }
        real *x = (real *)work, *y = x + 2 * half;
        symc_fft_strided_fNN(a, half, 2, inner, 1, x);
        symc_fft_line_to_reals_fNN(f, n, x, y, work + 2 * (n / SYMC_LANES_fNN + 2));
        symc_fft_strided_fNN(y, n, 1, 1, inner, c);
        return;
    }
    const int64_t outer = job->outer;
    const symc_fft_place from = symc_fft_place_of(number, SYMC_LANES_fNN, half, outer, inner);
    const symc_fft_place to = symc_fft_place_of_pairs(number, SYMC_LANES_fNN, n, outer, inner);
    const symc_lanes_fNN none = {0};
    symc_lanes_fNN *x = work + symc_fft_room_fNN(f) / 2 + 2;
    symc_fft_load_fNN(job->a, from, half, work);
    if (m == n) {
        x[0] = work[0], x[1] = none;
        for (int64_t k = 1; k <= n / 2; k++) {
            x[2 * k] = x[2 * (n - k)] = work[2 * k];
            x[2 * k + 1] = work[2 * k + 1], x[2 * (n - k) + 1] = -work[2 * k + 1];
        }
    } else {
        x[0] = work[0] + work[2 * m], x[1] = work[0] - work[2 * m];
        for (int64_t k = 1; k <= m / 2; k++)
            symc_fft_together_fNN(work + 2 * k, work + 2 * (m - k), none + f->halves[2 * k],
                                  none + f->halves[2 * k + 1], x + 2 * k, x + 2 * (m - k));
    }
    symc_fft_store_fNN(job->c, to, m, job->scale, symc_fft_block_fNN(f, x, work));
}
static void symc_fft_to_real_fNN(int64_t power, int64_t outer, int64_t n, int64_t inner,
                                 const real *a, real *c, int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    const symc_fft_job_fNN job = {.n = n, .outer = outer, .inner = inner,
                                  .apart = (n % 2 ? 4 : 1) + (inner > 1 ? 2 : 0), .inverse = 1,
                                  .a = a, .c = c};
    symc_fft_over_fNN(symc_fft_each_to_real_fNN, job, n % 2 == 0, power, outer * n * inner,
                      threads);
}
