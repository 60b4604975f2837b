// Convolutions of each channel with a filter of its own (conv.h), of small planes: channels stand side
// by side in the lanes of vectors. Rows of outputs may then be as short and as far apart as they like.

// SYMBOL symc_conv_square_fNN
// NEEDS symc_shuffles_fNN
// As many vectors as each has lanes, transposed; of the new ones, the first `skip` are not stored.
static __attribute__((noinline)) void symc_conv_square_fNN(const real *from, int64_t row, real *to,
                                                           int64_t column, int64_t skip) {
    enum { V = SYMC_LANES_fNN };
    symc_lanes_fNN square[V];
    for (int l = 0; l < V; l++) square[l] = *(const symc_lanes_fNN *)(from + l * row);
    symc_transpose_lanes_fNN(square);
    for (int64_t l = skip; l < V; l++) *(symc_lanes_fNN *)(to + l * column) = square[l];
}

// SYMBOL symc_conv_lanes_of_fNN
// NEEDS symc_conv_square_fNN
// As many rows as there are lanes, of `length` elements each, become the lanes of `length` vectors,
// or come back from there, but the first `skip`. Squares that do not fit lie over those before them;
// where rows are shorter than a vector, elements go one by one.
static void symc_conv_lanes_of_fNN(const real *rows, int64_t length, real *lanes) {
    enum { V = SYMC_LANES_fNN };
    for (int64_t k = 0; k < length && length >= V; k += V) {
        const int64_t at = k + V <= length ? k : length - V;
        symc_conv_square_fNN(rows + at, length, lanes + at * V, V, 0);
    }
    for (int64_t k = 0; k < length && length < V; k++)
        for (int64_t l = 0; l < V; l++) lanes[k * V + l] = rows[l * length + k];
}
static void symc_conv_rows_of_fNN(const real *lanes, int64_t length, int64_t skip, real *rows) {
    enum { V = SYMC_LANES_fNN };
    for (int64_t k = 0; k < length && length >= V; k += V) {
        const int64_t at = k + V <= length ? k : length - V;
        symc_conv_square_fNN(lanes + at * V, V, rows + at, length, skip);
    }
    for (int64_t k = 0; k < length && length < V; k++)
        for (int64_t l = skip; l < V; l++) rows[l * length + k] = lanes[k * V + l];
}

// SYMBOL symc_conv_across_row_fNN
// NEEDS symc_lanes_fNN symc_conv SYMC_TIMES
// A row of outputs, eight of them at a time, or four: the last ones of a longer row may be computed
// twice, those beyond the end of a shorter one are the last one's. `at`: in bytes.
#define SYMC_CONV_ACROSS(name, WIDE, TIMES)                                                        \
    static void name(int64_t count, int64_t step, int64_t taps, const int64_t *at,            \
                          const symc_lanes_fNN *x, const symc_lanes_fNN *w, symc_lanes_fNN *y) {   \
        for (int64_t j = 0; j < count; j += WIDE) {                                                \
            const int64_t first = j + WIDE <= count || count < WIDE ? j : count - WIDE;            \
            const int64_t last = count - 1;                                                        \
            TIMES(SYMC_CONV_AT)                                                                    \
            for (int64_t e = 0; e < taps; e++) {                                                   \
                const symc_lanes_fNN factor = w[e];                                                \
                const int64_t place = at[e];                                                       \
                TIMES(SYMC_CONV_ADD)                                                               \
            }                                                                                      \
            TIMES(SYMC_CONV_PUT)                                                                   \
        }                                                                                          \
    }
#define SYMC_CONV_AT(k)                                                                            \
    const int64_t to##k = first + k < last ? first + k : last;                                     \
    const char *const x##k = (const char *)(x + to##k * step);                                     \
    symc_lanes_fNN s##k = {0};
#define SYMC_CONV_ADD(k) s##k += factor * *(const symc_lanes_fNN *)(x##k + place);
#define SYMC_CONV_PUT(k) y[to##k] = s##k;
SYMC_CONV_ACROSS(symc_conv_across_eight_fNN, 8, SYMC_TIMES_8)
SYMC_CONV_ACROSS(symc_conv_across_four_fNN, 4, SYMC_TIMES_4)
#undef SYMC_CONV_ACROSS
#undef SYMC_CONV_AT
#undef SYMC_CONV_ADD
#undef SYMC_CONV_PUT

// SYMBOL symc_conv_small
// NEEDS symc_conv
// The longest planes, filters and rows that are convolved so, and whether those of a convolution are:
// not where planes are large, channels fewer than lanes, or rows make good lines (convflat.h).
enum { SYMC_SMALL_PLANE = 512, SYMC_SMALL_FILTER = 128, SYMC_SHORT_ROW = 8 };
static inline int symc_conv_is_small(const symc_conv *v, int64_t lanes) {
    return v->channels == 1 && v->features == 1 && v->groups >= lanes &&
           v->taps <= SYMC_SMALL_FILTER && v->plane <= SYMC_SMALL_PLANE &&
           v->spots <= SYMC_SMALL_PLANE && (v->count[2] <= SYMC_SHORT_ROW || v->stride[2] > 1);
}

// SYMBOL symc_conv_across_fNN
// NEEDS symc_conv_across_row_fNN symc_conv_lanes_of_fNN symc_conv_offsets symc_conv_small
// All outputs, or 0 if they are not small. A job is an image and as many channels as there are lanes;
// the last ones may be some of those before, too.
static __attribute__((noinline)) int symc_conv_across_fNN(const symc_conv *v, const real *x,
                                                          const real *w, real *y,
                                                          int64_t threads) {
    enum { V = SYMC_LANES_fNN };
    const int64_t blocks = (v->groups + V - 1) / V, jobs = blocks * v->images;
    const int64_t rows = v->count[0] * v->count[1], count = v->count[2];
    const int many = threads > 1 && (double)jobs * V * v->spots * v->taps > 1e6;
    int64_t at[SYMC_SMALL_FILTER];
    if (!symc_conv_is_small(v, V)) return 0;
    symc_conv_offsets(v->size, v->dilation, v->plane, 0, v->taps, at);
    for (int64_t e = 0; e < v->taps; e++) at[e] *= SYMC_LANE_BYTES;
    _Pragma("omp parallel for schedule(static) num_threads(threads) if(many)")
    for (int64_t job = 0; job < jobs; job++) {
        symc_lanes_fNN from[SYMC_SMALL_PLANE] __attribute__((aligned(64)));
        symc_lanes_fNN to[SYMC_SMALL_PLANE] __attribute__((aligned(64)));
        symc_lanes_fNN filters[SYMC_SMALL_FILTER] __attribute__((aligned(64)));
        const int64_t image = job / blocks, group = job % blocks * V;
        const int64_t rest = v->groups - V, first = group < rest ? group : rest;
        symc_conv_lanes_of_fNN(x + (image * v->groups + first) * v->plane, v->plane, (real *)from);
        symc_conv_lanes_of_fNN(w + first * v->taps, v->taps, (real *)filters);
        for (int64_t row = 0; row < rows; row++) {
            const int64_t i = row / v->count[1], j = row % v->count[1];
            const symc_lanes_fNN *const begin = from + i * v->stride[0] + j * v->stride[1];
            if (count > 4)
                symc_conv_across_eight_fNN(count, v->stride[2], v->taps, at, begin, filters,
                                           to + row * count);
            else
                symc_conv_across_four_fNN(count, v->stride[2], v->taps, at, begin, filters,
                                          to + row * count);
        }
        symc_conv_rows_of_fNN((const real *)to, v->spots, group - first,
                              y + (image * v->groups + first) * v->spots);
    }
    return 1;
}

// SYMBOL symc_conv_inputs_across_fNN
// NEEDS symc_conv_lanes_of_fNN symc_conv_offsets symc_conv_small
// All inputs, or 0 if they are not small: each output is added to those that it has met.
static __attribute__((noinline)) int symc_conv_inputs_across_fNN(const symc_conv *v, const real *y,
                                                                 const real *w, real *x,
                                                                 int64_t threads) {
    enum { V = SYMC_LANES_fNN };
    const int64_t blocks = (v->groups + V - 1) / V, jobs = blocks * v->images;
    const int64_t rows = v->count[0] * v->count[1], count = v->count[2], step = v->stride[2];
    const int many = threads > 1 && (double)jobs * V * v->spots * v->taps > 1e6;
    int64_t at[SYMC_SMALL_FILTER];
    if (!symc_conv_is_small(v, V)) return 0;
    symc_conv_offsets(v->size, v->dilation, v->plane, 0, v->taps, at);
    _Pragma("omp parallel for schedule(static) num_threads(threads) if(many)")
    for (int64_t job = 0; job < jobs; job++) {
        symc_lanes_fNN to[SYMC_SMALL_PLANE] __attribute__((aligned(64)));
        symc_lanes_fNN from[SYMC_SMALL_PLANE] __attribute__((aligned(64)));
        symc_lanes_fNN filters[SYMC_SMALL_FILTER] __attribute__((aligned(64)));
        const int64_t image = job / blocks, group = job % blocks * V;
        const int64_t rest = v->groups - V, first = group < rest ? group : rest;
        symc_conv_lanes_of_fNN(y + (image * v->groups + first) * v->spots, v->spots, (real *)from);
        symc_conv_lanes_of_fNN(w + first * v->taps, v->taps, (real *)filters);
        __builtin_memset(to, 0, (size_t)v->plane * sizeof(*to));
        for (int64_t e = 0; e < v->taps; e++)
            for (int64_t row = 0; row < rows; row++) {
                const int64_t i = row / v->count[1], j = row % v->count[1];
                const symc_lanes_fNN factor = filters[e], *const met = from + row * count;
                symc_lanes_fNN *const sum = to + at[e] + i * v->stride[0] + j * v->stride[1];
                for (int64_t k = 0; k < count; k++) sum[k * step] += factor * met[k];
            }
        symc_conv_rows_of_fNN((const real *)to, v->plane, group - first,
                              x + (image * v->groups + first) * v->plane);
    }
    return 1;
}
