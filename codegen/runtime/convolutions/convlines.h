// Convolutions to one or two features of a group, line by line (conv.h): a tile of six features would
// be mostly empty, and short sums leave no time to look up where each vector of outputs is.

// SYMBOL symc_conv_strips_fNN
// NEEDS symc_lanes_fNN
// One filter times the vectors side by side that each of its elements meets: 8, 4, 2 or 1.
#define SYMC_CONV_TAPS_fNN                                              \
    for (int64_t k = 0; k < depth; k++) {                           \
        const symc_lanes_fNN *p = (const symc_lanes_fNN *)(x + at[k]); \
        const real factor = w[k];
static void symc_conv_strip_8_fNN(int64_t depth, const real *w, const real *x, const int64_t *at,
                                  real *y) {
    symc_lanes_fNN s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
    symc_lanes_fNN *to = (symc_lanes_fNN *)y;
    SYMC_CONV_TAPS_fNN
        s0 += factor * p[0], s1 += factor * p[1], s2 += factor * p[2], s3 += factor * p[3];
        s4 += factor * p[4], s5 += factor * p[5], s6 += factor * p[6], s7 += factor * p[7];
    }
    to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3, to[4] = s4, to[5] = s5, to[6] = s6, to[7] = s7;
}
static void symc_conv_strip_4_fNN(int64_t depth, const real *w, const real *x, const int64_t *at,
                                  real *y) {
    symc_lanes_fNN s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, *to = (symc_lanes_fNN *)y;
    SYMC_CONV_TAPS_fNN
        s0 += factor * p[0], s1 += factor * p[1], s2 += factor * p[2], s3 += factor * p[3];
    }
    to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
}
static void symc_conv_strip_2_fNN(int64_t depth, const real *w, const real *x, const int64_t *at,
                                  real *y) {
    symc_lanes_fNN s0 = {0}, s1 = {0}, *to = (symc_lanes_fNN *)y;
    SYMC_CONV_TAPS_fNN
        s0 += factor * p[0], s1 += factor * p[1];
    }
    to[0] = s0, to[1] = s1;
}
static void symc_conv_strip_1_fNN(int64_t depth, const real *w, const real *x, const int64_t *at,
                                  real *y) {
    symc_lanes_fNN s0 = {0};
    SYMC_CONV_TAPS_fNN
        s0 += factor * p[0];
    }
    *(symc_lanes_fNN *)y = s0;
}

// SYMBOL symc_conv_line_fNN
// NEEDS symc_conv_strips_fNN
// Outputs that follow each other, at least a vector of them. Where the last strip would go beyond
// them it begins earlier, and some are computed twice.
static void symc_conv_line_fNN(int64_t length, int64_t depth, const real *w, const real *x,
                               const int64_t *at, real *y) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    for (int64_t done = 0; done < length;) {
        const int64_t left = length - done;
        int64_t strip = 8;
        while (strip > 1 && (strip * V > length || strip * V >= 2 * left)) strip /= 2;
        const int64_t start = strip * V > left ? length - strip * V : done;
        switch (strip) {
            case 8: symc_conv_strip_8_fNN(depth, w, x + start, at, y + start); break;
            case 4: symc_conv_strip_4_fNN(depth, w, x + start, at, y + start); break;
            case 2: symc_conv_strip_2_fNN(depth, w, x + start, at, y + start); break;
            default: symc_conv_strip_1_fNN(depth, w, x + start, at, y + start);
        }
        done = start + strip * V;
    }
}

// SYMBOL symc_conv_lines_fNN
// NEEDS symc_conv symc_conv_line_fNN symc_conv_rows_fNN symc_conv_offsets
// All outputs, where windows lie next to each other and a sum is of SYMC_DEPTH products at most. Jobs
// are some lines of a feature, or parts of a long line.
static void symc_conv_lines_fNN(const symc_conv *v, const real *x, const real *w, real *y,
                                int64_t threads) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t length = v->count[2], lines = v->count[0] * v->count[1];
    const int64_t parts = length < 128 * V ? 1 : length / (64 * V);
    const int64_t blocks = parts > 1 ? lines : (lines + 15) / 16;
    const int64_t jobs = v->images * v->groups * v->features * blocks * parts;
    const int many = threads > 1 && jobs > 1 && (double)v->images * v->groups * v->features *
                                                        v->spots * (double)v->elements > 1e6;
    int64_t at[SYMC_DEPTH];
    symc_conv_offsets(v->size, v->dilation, v->plane, 0, v->elements, at);
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t job = 0; job < jobs; job++) {
        const int64_t part = job % parts, block = job / parts % blocks, map = job / parts / blocks;
        const int64_t begin = length * part / parts, end = length * (part + 1) / parts;
        const int64_t group = map / v->features % v->groups, number = map / v->features;
        const real *const from = x + number * v->channels * v->plane + begin;
        const real *const filter =
            w + (group * v->features + map % v->features) * v->elements;
        const int64_t last = lines * (block + 1) / blocks;
        for (int64_t line = lines * block / blocks, rows; line < last; line += rows) {
            const int64_t i = line / v->count[1], j = line % v->count[1];
            const real *const start = from + i * v->stride[0] + j * v->stride[1];
            real *const to = y + map * v->spots + line * length + begin;
            rows = last - line < v->count[1] - j ? last - line : v->count[1] - j;
            if (symc_conv_rows_fNN(v, rows, end - begin, filter, start, to, length)) continue;
            symc_conv_line_fNN(end - begin, v->elements, filter, start, at, to);
            rows = 1;
        }
    }
}
