// Fourier transforms along one axis of an array, seen as [outer, n, inner]: blocks of sequences are
// loaded, transformed by `fft.h` and stored, several at a time. Numbers are complex, or real for
// one side of the real transforms.

// SYMBOL symc_fft_block
// Which sequences of an array [outer, n, inner] are transformed together: `width` neighbours along
// `inner`, or rows where that is 1. Element i of sequence v is at `first + i * along + v * across`,
// and what the block has as its imaginary part `pair` after it.
typedef struct symc_fft_block {
    int64_t first, along, across, pair, width;
} symc_fft_block;

// Blocks of complex numbers.
SYMC_INLINE symc_fft_block symc_fft_place(int64_t number, int64_t lanes, int64_t n, int64_t outer,
                                          int64_t inner) {
    symc_fft_block block = {.along = 2 * inner, .across = inner > 1 ? 2 : 2 * n, .pair = 1};
    const int64_t there = inner > 1 ? inner : outer, blocks = (there + lanes - 1) / lanes;
    const int64_t start = number % blocks * lanes;
    block.width = there - start < lanes ? there - start : lanes;
    block.first = number / blocks * n * inner * 2 + start * block.across;
    return block;
}

// Blocks of pairs of neighbours among numbers without imaginary parts.
SYMC_INLINE symc_fft_block symc_fft_place_pairs(int64_t number, int64_t lanes, int64_t n,
                                                int64_t outer, int64_t inner) {
    symc_fft_block block = symc_fft_place(number, lanes, n, outer, inner);
    block.first /= 2, block.across /= 2, block.pair = inner;
    return block;
}

// SYMBOL symc_fft_moves_fNN
// NEEDS symc_fft_block symc_fft_lanes_fNN
// Elements from an array to a block, and back; `re` and `im` are of the block's first one. Rows go
// in pieces of eight elements, so that a line of the cache is used while it is there.
SYMC_INLINE void symc_fft_load_piece_fNN(const real *a, symc_fft_block of, int64_t count,
                                         int64_t next, real *restrict re, real *restrict im) {
    for (int64_t v = 0; v < of.width; v++)
        for (int64_t i = 0; i < count; i++) {
            re[i * next + v] = a[i * of.along + v * of.across];
            im[i * next + v] = a[i * of.along + v * of.across + of.pair];
        }
}
SYMC_INLINE void symc_fft_store_piece_fNN(real *restrict c, symc_fft_block of, int64_t count,
                                          int64_t next, const real *re, const real *im) {
    for (int64_t v = 0; v < of.width; v++)
        for (int64_t i = 0; i < count; i++) {
            c[i * of.along + v * of.across] = re[i * next + v];
            c[i * of.along + v * of.across + of.pair] = im[i * next + v];
        }
}
// How they lie in the array is given by constants where it can be.
#define SYMC_FFT_MOVE_fNN(move)                                                        \
    enum { LANES = SYMC_FFT_LANES_fNN, BOTH = 2 * LANES };                             \
    symc_fft_block full = block;                                                       \
    array += block.first;                                                              \
    if (lanes == 1) {                                                                  \
        full.width = 1;                                                                \
        if (block.along == 2 && block.pair == 1) {                                     \
            full.along = 2, full.pair = 1;                                             \
            move(array, full, n, 1, re, im);                                           \
        } else {                                                                       \
            move(array, full, n, 1, re, im);                                           \
        }                                                                              \
    } else if (block.across > 2 || block.width < LANES) {                              \
        full.width = LANES, full.along = 2, full.pair = 1;                             \
        const int there = block.width == LANES && block.along == 2 && block.pair == 1; \
        for (int64_t i = 0; i < n; i += 8) {                                           \
            if (there && n - i >= 8)                                                   \
                move(array, full, 8, BOTH, re, im);                                    \
            else                                                                       \
                move(array, block, n - i < 8 ? n - i : 8, BOTH, re, im);               \
            array += 8 * block.along, re += 8 * BOTH, im += 8 * BOTH;                  \
        }                                                                              \
    } else {                                                                           \
        full.width = LANES;                                                            \
        for (int64_t i = 0; i < n; i++) {                                              \
            if (block.across == 2) {                                                   \
                full.across = 2, full.pair = 1;                                        \
                move(array, full, 1, BOTH, re, im);                                    \
            } else {                                                                   \
                full.across = 1;                                                       \
                move(array, full, 1, BOTH, re, im);                                    \
            }                                                                          \
            array += block.along, re += BOTH, im += BOTH;                              \
        }                                                                              \
    }
static void symc_fft_load_fNN(const real *array, symc_fft_block block, int64_t n, int64_t lanes,
                              real *re, real *im) {
    SYMC_FFT_MOVE_fNN(symc_fft_load_piece_fNN)
}
static void symc_fft_store_fNN(real *array, symc_fft_block block, int64_t n, int64_t lanes,
                               const real *re, const real *im) {
    SYMC_FFT_MOVE_fNN(symc_fft_store_piece_fNN)
}

// SYMBOL symc_fft_over_fNN
// NEEDS symc_fft_new_fNN symc_fft_moves_fNN malloc free
// Runs `each` for all blocks of an array, on several threads. Where there is no memory for the work
// the result is filled with NaN. Lanes without a sequence keep numbers of others, or zeros.
typedef void symc_fft_each_fNN(int64_t n, int64_t inner, const symc_fft_fNN *f, int64_t number,
                               int64_t lanes, int64_t outer, const real *a, real *c, real *x,
                               real *y);

static void symc_fft_over_fNN(symc_fft_each_fNN *each, int64_t n, const symc_fft_fNN *f,
                              int64_t outer, int64_t inner, const real *a, real *c, int64_t size,
                              int64_t threads) {
    const int64_t there = inner > 1 ? inner : outer, most = SYMC_FFT_LANES_fNN;
    const int64_t lanes = 2 * there > most && (inner > 1 || n <= 8192) ? most : 1;
    const int64_t count = (there + lanes - 1) / lanes * (inner > 1 ? outer : 1);
    const int many = threads > 1 && count > 1 && (double)n * (double)outer * (double)inner > 1e4;
    int failed = !f;
    if (f) {
#pragma omp parallel num_threads(threads) if (many)
        {
            const size_t room = (size_t)((symc_fft_room_fNN(f) + 2) * lanes + 8);
            real *x = malloc(2 * room * sizeof(real)), *y = x ? x + room : 0;
            if (!x) failed = 1;
            if (x && lanes > 1) __builtin_memset(x, 0, 2 * room * sizeof(real));
#pragma omp for schedule(static) nowait
            for (int64_t number = 0; number < count; number++)
                if (x) each(n, inner, f, number, lanes, outer, a, c, x, y);
            free(x);
        }
    }
    if (failed)
        for (int64_t i = 0; i < size; i++) c[i] = __builtin_nan("");
}

// SYMBOL symc_fft_complex_fNN
// NEEDS symc_fft_over_fNN
// c[outer, n, inner] = the transforms of a along the middle axis.
static void symc_fft_forward_fNN(int64_t n, int64_t inner, const symc_fft_fNN *f, int64_t number,
                                 int64_t lanes, int64_t outer, const real *a, real *c, real *x,
                                 real *y) {
    const symc_fft_block block = symc_fft_place(number, lanes, n, outer, inner);
    const int64_t apart = symc_fft_apart_fNN(lanes, n);
    symc_fft_load_fNN(a, block, n, lanes, x, x + apart);
    const real *z = symc_fft_run_fNN(f, lanes, x, y);
    symc_fft_store_fNN(c, block, n, lanes, z, z + apart);
}
static void symc_fft_inverse_fNN(int64_t n, int64_t inner, const symc_fft_fNN *f, int64_t number,
                                 int64_t lanes, int64_t outer, const real *a, real *c, real *x,
                                 real *y) {
    const symc_fft_block block = symc_fft_place(number, lanes, n, outer, inner);
    const int64_t apart = symc_fft_apart_fNN(lanes, n);
    symc_fft_load_fNN(a, block, n, lanes, x + apart, x);
    const real *z = symc_fft_run_fNN(f, lanes, x, y);
    symc_fft_store_fNN(c, block, n, lanes, z + apart, z);
}
static void symc_fft_complex_fNN(int64_t inverse, int64_t outer, int64_t n, int64_t inner,
                                 const real *a, real *c, int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    symc_fft_fNN *f = symc_fft_new_fNN(n, 1);
    symc_fft_over_fNN(inverse ? symc_fft_inverse_fNN : symc_fft_forward_fNN, n, f, outer, inner, a,
                      c, 2 * outer * n * inner, threads);
    symc_fft_free_fNN(f);
}

// SYMBOL symc_fft_real_fNN
// NEEDS symc_fft_over_fNN
// c[outer, n/2 + 1, inner] = the first half of the transforms of a[outer, n, inner]: the rest is
// its mirror image. An even length is a complex transform of half of it, Z = E + i O of the even
// elements and the odd ones, and then E + W^k O.
SYMC_INLINE void symc_fft_split_fNN(const real *re, const real *im, int64_t here, int64_t there,
                                    const real *w, real *to_re, real *to_im) {
    const real half = 0.5;
    const real er = half * (re[here] + re[there]), dr = half * (re[here] - re[there]);
    const real ei = half * (im[here] - im[there]), di = half * (im[here] + im[there]);
    *to_re = er + w[0] * di + w[1] * dr;
    *to_im = ei + w[1] * di - w[0] * dr;
}
static void symc_fft_from_real_fNN(int64_t n, int64_t inner, const symc_fft_fNN *f, int64_t number,
                                   int64_t lanes, int64_t outer, const real *a, real *c, real *x,
                                   real *y) {
    enum { LANES = SYMC_FFT_LANES_fNN, BOTH = 2 * LANES };
    symc_fft_block block = symc_fft_place_pairs(number, lanes, n, outer, inner);
    const symc_fft_block to = symc_fft_place(number, lanes, n / 2 + 1, outer, inner);
    const int64_t m = f->n, next = symc_fft_next_fNN(lanes), apart = symc_fft_apart_fNN(lanes, m);
    if (m == n) {
        block.along = inner, block.pair = 0;
        symc_fft_load_fNN(a, block, m, lanes, x, x + apart);
        for (int64_t i = 0; i < m; i++)
            for (int64_t v = 0; v < lanes; v++) x[i * next + apart + v] = 0;
        const real *z = symc_fft_run_fNN(f, lanes, x, y);
        symc_fft_store_fNN(c, to, n / 2 + 1, lanes, z, z + apart);
        return;
    }
    symc_fft_load_fNN(a, block, m, lanes, x, x + apart);
    const real *z = symc_fft_run_fNN(f, lanes, x, y), *zi = z + apart, *w = f->roots;
    real *re = z == x ? y : x, *im = re + symc_fft_apart_fNN(lanes, m + 1);
    for (int64_t v = 0; v < lanes; v++) {
        re[v] = z[v] + zi[v], re[m * next + v] = z[v] - zi[v];
        im[v] = im[m * next + v] = 0;
    }
    if (lanes == 1) {
#pragma omp simd
        for (int64_t k = 1; k < m; k++)
            symc_fft_split_fNN(z, zi, k, m - k, w + 2 * k, re + k, im + k);
    } else {
        for (int64_t k = 1; k < m; k++)
#pragma omp simd
            for (int64_t v = 0; v < LANES; v++)
                symc_fft_split_fNN(z + v, zi + v, BOTH * k, BOTH * (m - k), w + 2 * k,
                                   re + BOTH * k + v, im + BOTH * k + v);
    }
    symc_fft_store_fNN(c, to, m + 1, lanes, re, im);
}
static void symc_fft_real_fNN(int64_t outer, int64_t n, int64_t inner, const real *a, real *c,
                              int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    symc_fft_fNN *f = n % 2 ? symc_fft_new_fNN(n, 1) : symc_fft_new_fNN(n / 2, 2);
    symc_fft_over_fNN(symc_fft_from_real_fNN, n, f, outer, inner, a, c,
                      2 * outer * (n / 2 + 1) * inner, threads);
    symc_fft_free_fNN(f);
}

// SYMBOL symc_fft_to_real_fNN
// NEEDS symc_fft_over_fNN
// The opposite, without dividing by n: c[outer, n, inner] from a[outer, n/2 + 1, inner], whose
// first element, and last one if n is even, count without imaginary parts.
SYMC_INLINE void symc_fft_join_fNN(const real *re, const real *im, int64_t here, int64_t there,
                                   const real *w, real *to_re, real *to_im) {
    const real dr = re[here] - re[there], di = im[here] + im[there];
    *to_re = re[here] + re[there] - (w[0] * di - w[1] * dr);
    *to_im = im[here] - im[there] + (w[0] * dr + w[1] * di);
}
static void symc_fft_from_half_fNN(int64_t n, int64_t inner, const symc_fft_fNN *f, int64_t number,
                                   int64_t lanes, int64_t outer, const real *a, real *c, real *x,
                                   real *y) {
    enum { LANES = SYMC_FFT_LANES_fNN, BOTH = 2 * LANES };
    const symc_fft_block block = symc_fft_place(number, lanes, n / 2 + 1, outer, inner);
    symc_fft_block to = symc_fft_place_pairs(number, lanes, n, outer, inner);
    const int64_t m = f->n, next = symc_fft_next_fNN(lanes), apart = symc_fft_apart_fNN(lanes, m);
    const int64_t last = n / 2, wide = symc_fft_apart_fNN(lanes, last + 1);
    real *re = y, *im = y + wide, *xi = x, *xr = x + apart;  // exchanged: the transform is inverse
    const real *w = f->roots;
    symc_fft_load_fNN(a, block, last + 1, lanes, re, im);
    for (int64_t v = 0; v < lanes; v++) im[v] = 0;
    if (m == n) {
        for (int64_t v = 0; v < lanes; v++) xr[v] = re[v], xi[v] = 0;
        for (int64_t k = 1; k <= last; k++)
            for (int64_t v = 0; v < lanes; v++) {
                const int64_t here = k * next + v, there = (m - k) * next + v;
                xr[here] = xr[there] = re[here];
                xi[here] = im[here], xi[there] = -im[here];
            }
    } else {
        for (int64_t v = 0; v < lanes; v++) im[m * next + v] = 0;
        if (lanes == 1) {
#pragma omp simd
            for (int64_t k = 0; k < m; k++)
                symc_fft_join_fNN(re, im, k, m - k, w + 2 * k, xr + k, xi + k);
        } else {
            for (int64_t k = 0; k < m; k++)
#pragma omp simd
                for (int64_t v = 0; v < LANES; v++)
                    symc_fft_join_fNN(re + v, im + v, BOTH * k, BOTH * (m - k), w + 2 * k,
                                      xr + BOTH * k + v, xi + BOTH * k + v);
        }
    }
    const real *z = symc_fft_run_fNN(f, lanes, x, y);
    if (m == n) to.along = inner, to.pair = 0;
    symc_fft_store_fNN(c, to, m, lanes, z + apart, m == n ? z + apart : z);
}
static void symc_fft_to_real_fNN(int64_t outer, int64_t n, int64_t inner, const real *a, real *c,
                                 int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    symc_fft_fNN *f = n % 2 ? symc_fft_new_fNN(n, 1) : symc_fft_new_fNN(n / 2, 2);
    symc_fft_over_fNN(symc_fft_from_half_fNN, n, f, outer, inner, a, c, outer * n * inner, threads);
    symc_fft_free_fNN(f);
}
