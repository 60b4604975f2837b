// Convolutions to one or two features of a group (conv.h), several rows of outputs at a time: where
// windows lie next to each other in both directions, a row of inputs meets as many rows of a filter
// as there are rows of outputs. Vectors begin anywhere, mostly over the end of a line of the cache,
// so that to load one takes as long as two products: it is loaded once for four of them. (Without
// AVX each factor is spread to its vector by two instructions, which takes longer than that saves.)

// SYMBOL SYMC_LOADED
// A vector that is in a register from now on: gcc would load it again for each product.
#if defined(__x86_64__)
#define SYMC_LOADED(x) __asm__("" : "+v"(x))
#elif defined(__aarch64__)
#define SYMC_LOADED(x) __asm__("" : "+w"(x))
#else
#define SYMC_LOADED(x) ((void)0)
#endif

// SYMBOL symc_conv_four_rows_fNN
// NEEDS symc_conv symc_lanes_fNN SYMC_LOADED
// Vectors of outputs in each of four rows, from two places on, or from four where there are
// registers for 16 sums: `at` and `to` say where they are in x and y, counted from the first.
// `below`: from a row to the next in y. Filters have three rows at least.
#define SYMC_CONV_LANES_fNN(from) (*(const symc_lanes_fNN *)(from))
#define SYMC_CONV_LOAD_2_fNN                                                                       \
    symc_lanes_fNN p = SYMC_CONV_LANES_fNN(from), q = SYMC_CONV_LANES_fNN(from + at1);             \
    SYMC_LOADED(p);                                                                                \
    SYMC_LOADED(q);
#define SYMC_CONV_LOAD_4_fNN                                                                       \
    SYMC_CONV_LOAD_2_fNN symc_lanes_fNN s = SYMC_CONV_LANES_fNN(from + at2);                       \
    symc_lanes_fNN t = SYMC_CONV_LANES_fNN(from + at3);                                            \
    SYMC_LOADED(s);                                                                                \
    SYMC_LOADED(t);
#define SYMC_CONV_MEET_2_fNN(n, factor) a##n += (factor) * p, b##n += (factor) * q;
#define SYMC_CONV_MEET_4_fNN(n, factor)                                                            \
    SYMC_CONV_MEET_2_fNN(n, factor) c##n += (factor) * s, d##n += (factor) * t;
#define SYMC_CONV_SUMS_2_fNN(n) symc_lanes_fNN a##n = {0}, b##n = {0};
#define SYMC_CONV_SUMS_4_fNN(n) SYMC_CONV_SUMS_2_fNN(n) symc_lanes_fNN c##n = {0}, d##n = {0};
#define SYMC_CONV_STORE_2_fNN(n)                                                                   \
    *(symc_lanes_fNN *)(y + n * below) = a##n;                                                     \
    *(symc_lanes_fNN *)(y + n * below + to[1]) = b##n;
#define SYMC_CONV_STORE_4_fNN(n)                                                                   \
    SYMC_CONV_STORE_2_fNN(n) *(symc_lanes_fNN *)(y + n * below + to[2]) = c##n;                    \
    *(symc_lanes_fNN *)(y + n * below + to[3]) = d##n;
#define SYMC_CONV_FOUR_ROWS_fNN(LOAD, MEET, SUMS, STORE)                                           \
    const int64_t step = v->stride[1], one = v->size[2], two = 2 * one, three = 3 * one;           \
    SUMS(0) SUMS(1) SUMS(2) SUMS(3)                                                                \
    for (int64_t c = 0; c < v->channels; c++)                                                      \
        for (int64_t i = 0; i < v->size[0]; i++, w += v->size[1] * one)                            \
            for (int64_t k = 0; k < one; k++) {                                                    \
                const real *from = x + c * v->plane + i * v->dilation[0] + k * v->dilation[2];     \
                const real *f = w + k;                                                             \
                { LOAD MEET(0, f[0]) }                                                             \
                from += step;                                                                      \
                { LOAD MEET(0, f[one]) MEET(1, f[0]) }                                             \
                from += step;                                                                      \
                { LOAD MEET(0, f[two]) MEET(1, f[one]) MEET(2, f[0]) }                             \
                from += step;                                                                      \
                for (int64_t r = 3; r < v->size[1]; r++, f += one, from += step) {                 \
                    LOAD MEET(0, f[three]) MEET(1, f[two]) MEET(2, f[one]) MEET(3, f[0])           \
                }                                                                                  \
                { LOAD MEET(1, f[two]) MEET(2, f[one]) MEET(3, f[0]) }                             \
                from += step;                                                                      \
                { LOAD MEET(2, f[two]) MEET(3, f[one]) }                                           \
                from += step;                                                                      \
                { LOAD MEET(3, f[two]) }                                                           \
            }                                                                                      \
    STORE(0) STORE(1) STORE(2) STORE(3)
static void symc_conv_four_rows_2_fNN(const symc_conv *v, const real *w, const real *x,
                                      const int64_t *at, real *y, int64_t below,
                                      const int64_t *to) {
    const int64_t at1 = at[1];
    SYMC_CONV_FOUR_ROWS_fNN(SYMC_CONV_LOAD_2_fNN, SYMC_CONV_MEET_2_fNN, SYMC_CONV_SUMS_2_fNN,
                            SYMC_CONV_STORE_2_fNN)
}
static void symc_conv_four_rows_4_fNN(const symc_conv *v, const real *w, const real *x,
                                      const int64_t *at, real *y, int64_t below,
                                      const int64_t *to) {
    const int64_t at1 = at[1], at2 = at[2], at3 = at[3];
    SYMC_CONV_FOUR_ROWS_fNN(SYMC_CONV_LOAD_4_fNN, SYMC_CONV_MEET_4_fNN, SYMC_CONV_SUMS_4_fNN,
                            SYMC_CONV_STORE_4_fNN)
}

// SYMBOL symc_conv_rows_fNN
// NEEDS symc_conv_four_rows_fNN
// Some rows of outputs, or 0 where that would not do. `x`: where the window of the first one
// begins. Vectors that would go beyond the last row, or column, begin earlier, and some outputs are
// computed twice. Where `columns` are fewer than a vector has lanes, `below` is the distance of
// rows in x, and what lies between two rows is computed, too.
static int symc_conv_rows_fNN(const symc_conv *v, int64_t rows, int64_t columns, const real *w,
                              const real *x, real *y, int64_t below) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), MOST = SYMC_LANE_BYTES == 64 ? 4 : 2 };
    enum { TIME = 5, ALONE = 9 };  // of a product: here, and in a line
    const int64_t step = v->stride[1], length = (rows - 1) * step + columns;
    const int narrow = columns < V;
    const int64_t across = narrow ? 1 : (columns + V - 1) / V, total = (rows + 3) / 4 * across;
    if (SYMC_LANE_BYTES == 16 || v->size[1] < 3 || rows < 4) return 0;
    if (step != v->dilation[1] || v->stride[2] != 1) return 0;
    if (narrow && ((rows - 4) * step + columns < V || step + columns < V)) return 0;
    if ((total + 1) / 2 * 8 * TIME > (length + V - 1) / V * ALONE) return 0;
    for (int64_t number = 0; number < total;) {
        const int64_t some = total - number > 2 ? MOST : 2;
        int64_t at[MOST], to[MOST];
        for (int q = 0; q < some; q++) {
            const int64_t place = number + q < total ? number + q : number;
            const int64_t first = place / across * 4, left = place % across * V;
            const int64_t row = first + 4 <= rows ? first : rows - 4;
            const int64_t last = left + V <= columns ? left : columns - V;
            const int64_t column = narrow && row + 4 < rows ? 0 : last;
            at[q] = row * step + column - (q ? at[0] : 0);
            to[q] = row * below + column - (q ? to[0] : 0);
        }
        (some == 2 ? symc_conv_four_rows_2_fNN : symc_conv_four_rows_4_fNN)(v, w, x + at[0], at,
                                                                            y + to[0], below, to);
        number += some;
    }
    return 1;
}
