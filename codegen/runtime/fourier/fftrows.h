// Fourier transforms of single sequences that lie in one piece. The sequence is a matrix, row after
// row: its columns are transformed, several side by side in the lanes of vectors, then each element
// is turned by a root of unity, and then the rows are transformed (D. Bailey 1990). Everything but
// the longest sequences stays in the caches next to the processor.

// SYMBOL symc_fft_rows
// The rows of the best matrix for a length, or 0 if there is none. There are at least as many rows
// and columns as lanes, so that all blocks are full where the last one overlaps the one before. Of
// short lengths too much would be computed twice: those in blocks of sequences are faster.
static int64_t symc_fft_rows(int64_t n, int64_t lanes, int blocks) {
    int64_t best = 0, least = 0;
    for (int64_t rows = lanes; rows * rows <= n; rows++) {
        if (n % rows) continue;
        const int64_t columns = n / rows;
        const int64_t whole = (rows + lanes - 1) / lanes * lanes * columns +
                              (columns + lanes - 1) / lanes * lanes * rows;
        if (blocks && n < 4 * lanes * lanes && 4 * whole > 9 * n) continue;
        if (!best || whole + 2 * columns <= least) best = rows, least = whole + 2 * columns;
    }
    return best;
}

// SYMBOL symc_fft_matrix_fNN
// NEEDS symc_fft_run_fNN symc_fft_rows symc_shuffles_fNN malloc free
// A length as a matrix: the transforms of its columns and of its rows, and the roots that turn its
// elements, each a product of one for the place in a block of columns and one for the block.
typedef struct symc_fft_matrix_fNN {
    symc_fft_passes_fNN down, across;
    symc_lanes_fNN *within;
    real *blocks;
} symc_fft_matrix_fNN;

static void symc_fft_matrix_free_fNN(symc_fft_matrix_fNN *f) {
    free(f->down.roots);
    free(f->across.roots);
    free(f->within);
    free(f->blocks);
}

static int symc_fft_matrix_new_fNN(symc_fft_matrix_fNN *f, int64_t rows, int64_t columns,
                                   const symc_fft_circle *circle) {
    enum { L = SYMC_LANES_fNN };
    const int64_t blocks = (columns + L - 1) / L, turn = circle->n / (rows * columns);
    *f = (symc_fft_matrix_fNN){{0}};
    int complete = symc_fft_passes_new_fNN(&f->down, rows, circle);
    complete = symc_fft_passes_new_fNN(&f->across, columns, circle) && complete;
    f->within = malloc((size_t)(2 * rows) * sizeof(symc_lanes_fNN));
    f->blocks = malloc((size_t)(2 * rows * blocks) * sizeof(real));
    if (!complete || !f->within || !f->blocks) return 0;  // who asked for it frees what there is
    for (int64_t k = 0; k < rows; k++) {
        real *re = (real *)(f->within + 2 * k), *im = re + L;
        for (int64_t v = 0; v < L; v++) symc_fft_turn_fNN(circle, k * v * turn, re + v, im + v);
    }
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t start = b * L < columns - L ? b * L : columns - L;
        real *w = f->blocks + 2 * b * rows;
        for (int64_t k = 0; k < rows; k++, w += 2)
            symc_fft_turn_fNN(circle, k * start * turn, w, w + 1);
    }
    return 1;
}

// How many vectors of work a transform needs.
static int64_t symc_fft_matrix_room_fNN(const symc_fft_matrix_fNN *f) {
    enum { L = SYMC_LANES_fNN };
    const int64_t rows = f->down.n, columns = f->across.n, most = rows > columns ? rows : columns;
    return 2 * ((rows + L - 1) / L * columns + 2 * most);
}

// SYMBOL symc_fft_row_fNN
// NEEDS symc_fft_matrix_fNN
// Asks for numbers that will be read, or written, before they are: those of a matrix are read and
// written in steps, which no processor sees coming.
#define SYMC_FFT_SOON_fNN(from, count, written) \
    for (int64_t soon = 0; soon < (count); soon += 64 / (int64_t)sizeof(real)) \
        __builtin_prefetch((from) + soon, written, 2);

// The scaled transform of a sequence of complex numbers. Where it is short, another one is expected
// to follow it in memory.
static void symc_fft_row_fNN(const symc_fft_matrix_fNN *f, real scale, const real *a, real *c,
                             symc_lanes_fNN *work) {
    enum { L = SYMC_LANES_fNN };
    const int64_t rows = f->down.n, columns = f->across.n, most = rows > columns ? rows : columns;
    symc_lanes_fNN *x = work, *y = work + 2 * most, *turned = work + 4 * most;
    const real *blocks = f->blocks, *next = a + 2 * rows * columns;
    const int follows = 2 * rows * columns * (int64_t)sizeof(real) <= 65536;
    for (int64_t start = 0; start < columns; start += L, blocks += 2 * rows) {
        if (follows) SYMC_FFT_SOON_fNN(next + 2 * start * rows, 2 * L * rows, 0)
        const int64_t first = start < columns - L ? start : columns - L;
        const symc_lanes_fNN *z =
            symc_fft_run_from_fNN(&f->down, f->down.count, a + 2 * first, 2 * columns, x, y);
        for (int64_t at = 0; at < rows; at += L) {
            const int64_t k = at < rows - L ? at : rows - L;
            symc_lanes_fNN re[L], im[L];
#pragma GCC unroll 16
            for (int v = 0; v < L; v++) {
                const symc_lanes_fNN *within = f->within + 2 * (k + v), *from = z + 2 * (k + v);
                const real c = blocks[2 * (k + v)], s = blocks[2 * (k + v) + 1];
                const symc_lanes_fNN wr = within[0] * c - within[1] * s;
                const symc_lanes_fNN wi = within[0] * s + within[1] * c;
                re[v] = from[0] * wr - from[1] * wi, im[v] = from[0] * wi + from[1] * wr;
            }
            symc_transpose_lanes_fNN(re);
            symc_transpose_lanes_fNN(im);
            symc_lanes_fNN *to = turned + 2 * (at / L * columns + first);
#pragma GCC unroll 16
            for (int v = 0; v < L; v++) to[2 * v] = re[v], to[2 * v + 1] = im[v];
        }
    }
    for (int64_t at = 0; at < rows; at += L, turned += 2 * columns) {
        const int64_t k = at < rows - L ? at : rows - L;
        if (follows) SYMC_FFT_SOON_fNN(c + 2 * (rows + at) * columns, 2 * L * columns, 1)
        symc_fft_run_to_fNN(&f->across, 0, turned, x, y, scale, c + 2 * k, 2 * rows);
    }
}
