// Fourier transforms along one axis of an array, seen as [outer, n, inner]: blocks of sequences are
// loaded, transformed by `fft.h` and stored, several at a time. Numbers are complex, or real for one
// side of the real transforms, in float or double.

// SYMBOL symc_fft_block
// NEEDS SYMC_INLINE
// Which sequences of an array [outer, n, inner] are transformed together: neighbours along `inner`,
// or rows where that is 1. `first` is the place of the first one, `next` the distance to the next.
typedef struct symc_fft_block {
    int64_t first, next, width;
} symc_fft_block;

static int64_t symc_fft_width(int64_t n, int64_t outer, int64_t inner) {
    const int64_t most = n <= 512 || inner > 1 ? 4 : 1;
    const int64_t there = inner > 1 ? inner : outer;
    return most < there ? most : there;
}

SYMC_INLINE symc_fft_block symc_fft_place(int64_t number, int64_t width, int64_t n, int64_t outer,
                                          int64_t inner) {
    symc_fft_block block;
    const int64_t there = inner > 1 ? inner : outer, blocks = (there + width - 1) / width;
    const int64_t start = number % blocks * width;
    block.width = there - start < width ? there - start : width;
    block.first = inner > 1 ? number / blocks * n * inner + start : start * n;
    block.next = inner > 1 ? 1 : n;
    return block;
}

// One number of an array of floats (kind 0) or doubles (kind 1).
SYMC_INLINE double symc_fft_get(int64_t kind, const void *array, int64_t at) {
    return kind & 1 ? ((const double *)array)[at] : ((const float *)array)[at];
}
SYMC_INLINE void symc_fft_put(int64_t kind, void *array, int64_t at, double value) {
    if (kind & 1)
        ((double *)array)[at] = value;
    else
        ((float *)array)[at] = (float)value;
}

// Complex numbers from an array to a block, and back: `turned` exchanges real and imaginary parts.
// Rows go in pieces of eight elements, so that a line of the cache is used while it is there.
SYMC_INLINE void symc_fft_load_piece(int64_t kind, const void *a, int64_t first, int64_t step,
                                     int64_t count, int64_t width, double *re, double *im) {
    for (int64_t i = 0; i < count; i++) {
        re[i * width] = symc_fft_get(kind, a, first + 2 * i * step);
        im[i * width] = symc_fft_get(kind, a, first + 2 * i * step + 1);
    }
}
SYMC_INLINE void symc_fft_store_piece(int64_t kind, void *c, int64_t first, int64_t step,
                                      int64_t count, int64_t width, const double *re,
                                      const double *im) {
    for (int64_t i = 0; i < count; i++) {
        symc_fft_put(kind, c, first + 2 * i * step, re[i * width]);
        symc_fft_put(kind, c, first + 2 * i * step + 1, im[i * width]);
    }
}
#define SYMC_FFT_MOVE(move, kind)                                                                 \
    for (int64_t i = 0; i < n; i += 8)                                                            \
        for (int64_t v = 0; v < width; v++) {                                                     \
            const int64_t first = 2 * (block.first + v * block.next + i * inner);                 \
            if (n - i >= 8)                                                                       \
                move(kind, array, first, inner, 8, width, re + i * width + v, im + i * width + v); \
            else                                                                                  \
                move(kind, array, first, inner, n - i, width, re + i * width + v,                 \
                     im + i * width + v);                                                         \
        }
static void symc_fft_load(int64_t kind, int turned, const void *array, symc_fft_block block,
                          int64_t n, int64_t inner, double *x) {
    const int64_t width = block.width;
    double *re = turned ? x + n * width : x, *im = turned ? x : x + n * width;
    if (kind & 1) {
        SYMC_FFT_MOVE(symc_fft_load_piece, 1)
    } else {
        SYMC_FFT_MOVE(symc_fft_load_piece, 0)
    }
}
static void symc_fft_store(int64_t kind, int turned, void *array, symc_fft_block block, int64_t n,
                           int64_t inner, const double *x) {
    const int64_t width = block.width;
    const double *re = turned ? x + n * width : x, *im = turned ? x : x + n * width;
    if (kind & 1) {
        SYMC_FFT_MOVE(symc_fft_store_piece, 1)
    } else {
        SYMC_FFT_MOVE(symc_fft_store_piece, 0)
    }
}

// SYMBOL symc_fft_over
// NEEDS symc_fft_new symc_fft_block malloc free
// Runs `each` for all blocks of an array, on several threads. Where there is no memory for the work
// the result is filled with NaN.
typedef void symc_fft_each(int64_t kind, int64_t n, int64_t inner, const symc_fft *f, int64_t number,
                           int64_t width, int64_t outer, const void *a, void *c, double *x,
                           double *y);

static void symc_fft_over(symc_fft_each *each, int64_t kind, int64_t n, const symc_fft *f,
                          int64_t outer, int64_t inner, const void *a, void *c, int64_t size,
                          int64_t threads) {
    const int64_t width = symc_fft_width(n, outer, inner), there = inner > 1 ? inner : outer;
    const int64_t count = (there + width - 1) / width * (inner > 1 ? outer : 1);
    const int many = threads > 1 && count > 1 && (double)n * (double)outer * (double)inner > 1e4;
    int failed = !f;
    if (f) {
#pragma omp parallel num_threads(threads) if (many)
        {
            const size_t room = (size_t)(symc_fft_room(f) * width + 8) * sizeof(double);
            double *x = malloc(2 * room), *y = x ? x + room / sizeof(double) : 0;
            if (!x) failed = 1;
#pragma omp for schedule(static) nowait
            for (int64_t number = 0; number < count; number++)
                if (x) each(kind, n, inner, f, number, width, outer, a, c, x, y);
            free(x);
        }
    }
    if (failed)
        for (int64_t i = 0; i < size; i++) symc_fft_put(kind, c, i, __builtin_nan(""));
}

// SYMBOL symc_fft_complex
// NEEDS symc_fft_over
// c[outer, n, inner] = the transforms of a along the middle axis.
static void symc_fft_forward(int64_t kind, int64_t n, int64_t inner, const symc_fft *f,
                             int64_t number, int64_t width, int64_t outer, const void *a, void *c,
                             double *x, double *y) {
    const symc_fft_block block = symc_fft_place(number, width, n, outer, inner);
    symc_fft_load(kind, 0, a, block, n, inner, x);
    symc_fft_store(kind, 0, c, block, n, inner, symc_fft_run(f, block.width, x, y));
}
static void symc_fft_inverse(int64_t kind, int64_t n, int64_t inner, const symc_fft *f,
                             int64_t number, int64_t width, int64_t outer, const void *a, void *c,
                             double *x, double *y) {
    const symc_fft_block block = symc_fft_place(number, width, n, outer, inner);
    symc_fft_load(kind, 1, a, block, n, inner, x);
    symc_fft_store(kind, 1, c, block, n, inner, symc_fft_run(f, block.width, x, y));
}
static void symc_fft_complex(int64_t kind, int64_t inverse, int64_t outer, int64_t n,
                             int64_t inner, const void *a, void *c, int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    symc_fft *f = symc_fft_new(n, 1);
    symc_fft_over(inverse ? symc_fft_inverse : symc_fft_forward, kind, n, f, outer, inner, a, c,
                  2 * outer * n * inner, threads);
    symc_fft_free(f);
}

// SYMBOL symc_fft_real
// NEEDS symc_fft_over
// c[outer, n/2 + 1, inner] = the first half of the transforms of real a[outer, n, inner]: the rest
// is its mirror image. An even length is a complex transform of half of it, whose real parts are
// the even elements: Z = E + i O, and then E + W^k O.
static void symc_fft_from_real(int64_t kind, int64_t n, int64_t inner, const symc_fft *f,
                               int64_t number, int64_t width, int64_t outer, const void *a, void *c,
                               double *x, double *y) {
    const symc_fft_block block = symc_fft_place(number, width, n, outer, inner);
    const symc_fft_block to = symc_fft_place(number, width, n / 2 + 1, outer, inner);
    const int64_t wide = block.width, m = f->n, total = m * wide, apart = n / m;  // 2 if even
    for (int64_t start = 0; start < m; start += 8)
        for (int64_t v = 0; v < wide; v++)
            for (int64_t i = start; i < m && i < start + 8; i++) {
                const int64_t at = block.first + v * block.next + apart * i * inner;
                x[i * wide + v] = symc_fft_get(kind, a, at);
                x[total + i * wide + v] = apart == 2 ? symc_fft_get(kind, a, at + inner) : 0;
            }
    const double *z = symc_fft_run(f, wide, x, y);
    for (int64_t v = 0; v < wide; v++)
        for (int64_t k = 0; k <= n / 2; k++) {
            const int64_t here = (k < m ? k : 0) * wide + v, there = (k ? m - k : 0) * wide + v;
            double re = z[here], im = z[total + here];
            if (apart == 2) {
                const double er = 0.5 * (z[here] + z[there]), dr = 0.5 * (z[here] - z[there]);
                const double ei = 0.5 * (z[total + here] - z[total + there]);
                const double di = 0.5 * (z[total + here] + z[total + there]);
                const double wr = f->roots[2 * k], wi = f->roots[2 * k + 1];
                re = er + wr * di + wi * dr;
                im = ei + wi * di - wr * dr;
            }
            const int64_t at = 2 * (to.first + v * to.next + k * inner);
            symc_fft_put(kind, c, at, re);
            symc_fft_put(kind, c, at + 1, im);
        }
}
static void symc_fft_real(int64_t kind, int64_t outer, int64_t n, int64_t inner, const void *a,
                          void *c, int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    symc_fft *f = n % 2 ? symc_fft_new(n, 1) : symc_fft_new(n / 2, 2);
    symc_fft_over(symc_fft_from_real, kind, n, f, outer, inner, a, c,
                  2 * outer * (n / 2 + 1) * inner, threads);
    symc_fft_free(f);
}

// SYMBOL symc_fft_to_real
// NEEDS symc_fft_over
// The opposite, without dividing by n: real c[outer, n, inner] from a[outer, n/2 + 1, inner], whose
// first element, and last one if n is even, count as real.
static void symc_fft_from_half(int64_t kind, int64_t n, int64_t inner, const symc_fft *f,
                               int64_t number, int64_t width, int64_t outer, const void *a, void *c,
                               double *x, double *y) {
    const symc_fft_block block = symc_fft_place(number, width, n / 2 + 1, outer, inner);
    const symc_fft_block to = symc_fft_place(number, width, n, outer, inner);
    const int64_t wide = block.width, m = f->n, total = m * wide, apart = n / m;  // 2 if even
    for (int64_t v = 0; v < wide; v++)
        for (int64_t k = 0; k < m; k++) {
            const int64_t mirror = apart == 2 ? m - k : n - k, own = k <= n / 2 ? k : mirror;
            const int64_t at = 2 * (block.first + v * block.next + own * inner);
            double re = symc_fft_get(kind, a, at);
            double im = k == 0 ? 0 : symc_fft_get(kind, a, at + 1) * (own == k ? 1 : -1);
            if (apart == 2) {
                const int64_t other = 2 * (block.first + v * block.next + mirror * inner);
                const double hr = symc_fft_get(kind, a, other);
                const double hi = k == 0 ? 0 : symc_fft_get(kind, a, other + 1);
                const double wr = f->roots[2 * k], wi = f->roots[2 * k + 1];
                const double dr = re - hr, di = im + hi;
                re += hr - (wr * di - wi * dr);
                im += -hi + (wr * dr + wi * di);
            }
            x[total + k * wide + v] = re;  // exchanged: the transform is inverse
            x[k * wide + v] = im;
        }
    const double *z = symc_fft_run(f, wide, x, y);
    for (int64_t start = 0; start < m; start += 8)
        for (int64_t v = 0; v < wide; v++)
            for (int64_t i = start; i < m && i < start + 8; i++) {
                const int64_t at = to.first + v * to.next + apart * i * inner;
                symc_fft_put(kind, c, at, z[total + i * wide + v]);
                if (apart == 2) symc_fft_put(kind, c, at + inner, z[i * wide + v]);
            }
}
static void symc_fft_to_real(int64_t kind, int64_t outer, int64_t n, int64_t inner, const void *a,
                             void *c, int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    symc_fft *f = n % 2 ? symc_fft_new(n, 1) : symc_fft_new(n / 2, 2);
    symc_fft_over(symc_fft_from_half, kind, n, f, outer, inner, a, c, outer * n * inner, threads);
    symc_fft_free(f);
}
