// The tables of Fourier transforms of one length, and transforms by convolution: those of a length
// with a prime factor above 47, by a length without one (L. Bluestein 1970).

// SYMBOL symc_fft_fNN
// NEEDS symc_fft_matrix_fNN
// A length in one of three ways: passes over blocks, a matrix for sequences by themselves, or the
// transform of a convolution and its two factors.
typedef struct symc_fft_fNN {
    int64_t n;
    real scale;  // of the results
    symc_fft_passes_fNN passes;
    symc_fft_matrix_fNN matrix;
    struct symc_fft_fNN *inner;
    real *chirp;   // exp(-pi i k^2 / n)
    real *filter;  // the transform of the chirp's conjugate, scaled
    real *halves;  // for transforms of reals, the first roots of twice the length
} symc_fft_fNN;

static void symc_fft_free_fNN(symc_fft_fNN *f) {
    if (!f) return;
    symc_fft_free_fNN(f->inner);
    free(f->passes.roots);
    symc_fft_matrix_free_fNN(&f->matrix);
    free(f->chirp);
    free(f->filter);
    free(f->halves);
    free(f);
}

// Whether sequences are transformed by themselves.
static inline int symc_fft_alone_fNN(const symc_fft_fNN *f) {
    return (f->inner ? f->inner : f)->matrix.blocks != 0;
}

// How many vectors of work transforms of a block, or of a sequence by itself, need.
static int64_t symc_fft_room_fNN(const symc_fft_fNN *f) {
    const symc_fft_fNN *by = f->inner ? f->inner : f;
    if (!symc_fft_alone_fNN(f)) return 4 * by->n;
    const int64_t apart = 4 * (by->n / SYMC_LANES_fNN + 1);
    return symc_fft_matrix_room_fNN(&by->matrix) + (f->inner ? apart : 0);
}

// SYMBOL symc_fft_block_fNN
// NEEDS symc_fft_fNN
// Transforms the block x; y has room for as much. Returns the one with the result, which is scaled
// if it was found by a convolution.
static void symc_fft_products_fNN(const real *w, int64_t count, symc_lanes_fNN *x, int swap) {
    for (int64_t k = 0; k < count; k++) {
        const symc_lanes_fNN re = x[2 * k + swap], im = x[2 * k + 1 - swap];
        x[2 * k] = re * w[2 * k] - im * w[2 * k + 1];
        x[2 * k + 1] = re * w[2 * k + 1] + im * w[2 * k];
    }
}
static symc_lanes_fNN *symc_fft_block_fNN(const symc_fft_fNN *f, symc_lanes_fNN *x,
                                          symc_lanes_fNN *y) {
    if (!f->inner)
        return (symc_lanes_fNN *)symc_fft_run_fNN(&f->passes, 0, f->passes.count, x, x, y);
    // An inverse transform is one of numbers whose parts are exchanged, before and after.
    const int64_t n = f->n, m = f->inner->n;
    symc_fft_products_fNN(f->chirp, n, x, 0);
    for (int64_t k = 2 * n; k < 2 * m; k++) x[k] = (symc_lanes_fNN){0};
    symc_lanes_fNN *z = symc_fft_block_fNN(f->inner, x, y);
    symc_fft_products_fNN(f->filter, m, z, 0);
    for (int64_t k = 0; k < m; k++) {
        const symc_lanes_fNN re = z[2 * k];
        z[2 * k] = z[2 * k + 1], z[2 * k + 1] = re;
    }
    z = symc_fft_block_fNN(f->inner, z, z == x ? y : x);
    symc_fft_products_fNN(f->chirp, n, z, 1);
    return z;
}

// SYMBOL symc_fft_line_fNN
// NEEDS symc_fft_fNN symc_fft_row_fNN
// The scaled transform of a sequence by itself.
static void symc_fft_turned_fNN(const real *w, int64_t count, const real *x, int swap, real *y) {
#pragma omp simd
    for (int64_t k = 0; k < count; k++) {
        const real re = x[2 * k + swap], im = x[2 * k + 1 - swap];
        y[2 * k] = re * w[2 * k] - im * w[2 * k + 1];
        y[2 * k + 1] = re * w[2 * k + 1] + im * w[2 * k];
    }
}
static void symc_fft_line_fNN(const symc_fft_fNN *f, const real *a, real *c, symc_lanes_fNN *work) {
    if (!f->inner) {
        symc_fft_row_fNN(&f->matrix, f->scale, a, c, work);
        return;
    }
    const int64_t n = f->n, m = f->inner->n;
    real *x = (real *)work, *y = x + 2 * m;
    work += 4 * (m / SYMC_LANES_fNN + 1);
    symc_fft_turned_fNN(f->chirp, n, a, 0, x);
    __builtin_memset(x + 2 * n, 0, (size_t)(2 * (m - n)) * sizeof(real));
    symc_fft_row_fNN(&f->inner->matrix, 1, x, y, work);
    symc_fft_turned_fNN(f->filter, m, y, 0, x);
    for (int64_t k = 0; k < m; k++) {
        const real re = x[2 * k];
        x[2 * k] = x[2 * k + 1], x[2 * k + 1] = re;
    }
    symc_fft_row_fNN(&f->inner->matrix, 1, x, y, work);
    symc_fft_turned_fNN(f->chirp, n, y, 1, c);
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
// NEEDS symc_fft_fNN symc_fft_block_fNN symc_fft_row_fNN symc_fft_smooth symc_fft_factors
// The tables for transforms of length n whose results are scaled, 0 where there is no memory for
// them. Of sequences by themselves if `alone` asks for that and a matrix is found, and else of
// blocks; 2 asks for what is faster where there are blocks.
// `halves` says how many roots of twice the length there are.
static symc_fft_fNN *symc_fft_new_fNN(int64_t n, int inverse, int alone, int64_t halves,
                                      double scale);

// A convolution's factors: the chirp, and the transform of its conjugate from both ends. The circle
// has twice as many roots as the length.
static int symc_fft_convolution_fNN(symc_fft_fNN *f, int alone, const symc_fft_circle *circle) {
    const int64_t n = f->n, m = symc_fft_smooth(2 * n - 1);
    f->inner = symc_fft_new_fNN(m, 0, alone, 0, 1);
    f->chirp = malloc((size_t)(2 * n) * sizeof(real));
    f->filter = malloc((size_t)(2 * m) * sizeof(real));
    if (!f->inner || !f->chirp || !f->filter) return 0;
    // Elements lie in turn for a matrix, and else in the first lanes of a block.
    const int in_turn = symc_fft_alone_fNN(f);
    const int64_t next = in_turn ? 1 : SYMC_LANES_fNN, room = symc_fft_room_fNN(f->inner) + 2 * m;
    symc_lanes_fNN *memory = malloc((size_t)room * sizeof(symc_lanes_fNN));
    if (!memory) return 0;
    __builtin_memset(memory, 0, (size_t)room * sizeof(symc_lanes_fNN));
    real *x = (real *)memory;
    const real scale = (real)((double)f->scale / (double)m);
    for (int64_t k = 0, square = 0; k < n; k++) {
        real *w = f->chirp + 2 * k;
        symc_fft_turn_fNN(circle, square, w, w + 1);
        square = (square + 2 * k + 1) % (2 * n);
        const int64_t mirrored = k ? m - k : 0;
        x[2 * k * next] = x[2 * mirrored * next] = w[0] * scale;
        x[(2 * k + 1) * next] = x[(2 * mirrored + 1) * next] = -w[1] * scale;
    }
    if (in_turn) {
        symc_fft_row_fNN(&f->inner->matrix, 1, x, f->filter, memory + 2 * m);
    } else {
        const symc_lanes_fNN *z = symc_fft_block_fNN(f->inner, memory, memory + 2 * m);
        for (int64_t k = 0; k < 2 * m; k++) f->filter[k] = z[k][0];
    }
    free(memory);
    return 1;
}

static symc_fft_fNN *symc_fft_new_fNN(int64_t n, int inverse, int alone, int64_t halves,
                                      double scale) {
    symc_fft_fNN *f = malloc(sizeof(symc_fft_fNN));
    symc_fft_circle circle = {0};
    if (!f) return 0;
    *f = (symc_fft_fNN){.n = n, .scale = (real)scale};
    int64_t factors[64], count;
    const int smooth = symc_fft_factors(n, factors, &count) == 1;
    int complete = symc_fft_circle_new(&circle, halves || !smooth ? 2 * n : n, inverse);
    if (complete && !smooth) {
        complete = symc_fft_convolution_fNN(f, alone, &circle);
    } else if (complete) {
        const int64_t rows = alone ? symc_fft_rows(n, SYMC_LANES_fNN, alone > 1) : 0;
        complete = rows ? symc_fft_matrix_new_fNN(&f->matrix, rows, n / rows, &circle)
                        : symc_fft_passes_new_fNN(&f->passes, n, &circle);
    }
    if (complete && halves) {
        f->halves = malloc((size_t)(2 * halves) * sizeof(real));
        complete = f->halves != 0;
        for (int64_t k = 0; complete && k < halves; k++)
            symc_fft_turn_fNN(&circle, k % circle.n, f->halves + 2 * k, f->halves + 2 * k + 1);
    }
    free(circle.near);
    if (complete) return f;
    symc_fft_free_fNN(f);
    return 0;
}
