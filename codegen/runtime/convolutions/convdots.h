// Gradients of the filters of convolutions (conv.h) whose groups have few features: each element of
// a filter is a product of two lines, of x from that element on, and of outputs that stand as far
// apart as their windows in x, with zeros between them (convflat.h).

// SYMBOL symc_conv_dots_fNN
// NEEDS symc_lanes_fNN
// What elements of filters meet, times the outputs: `count` vectors of them, and one more that
// begins at `last` and has zeros where it was met before. Nine sums stay in registers, or three.
static void symc_conv_dots_9_fNN(int64_t count, int64_t last, const real *x, const int64_t *at,
                                 const real *y, symc_lanes_fNN end, symc_lanes_fNN *sums) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const real *a = x + at[0], *b = x + at[1], *c = x + at[2], *d = x + at[3], *e = x + at[4];
    const real *f = x + at[5], *g = x + at[6], *h = x + at[7], *m = x + at[8];
    symc_lanes_fNN s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3], s4 = sums[4];
    symc_lanes_fNN s5 = sums[5], s6 = sums[6], s7 = sums[7], s8 = sums[8];
#define SYMC_CONV_AT(p, k) *(const symc_lanes_fNN *)((p) + (k))
    for (int64_t k = 0; k < count * V; k += V) {
        const symc_lanes_fNN by = SYMC_CONV_AT(y, k);
        s0 += SYMC_CONV_AT(a, k) * by, s1 += SYMC_CONV_AT(b, k) * by;
        s2 += SYMC_CONV_AT(c, k) * by, s3 += SYMC_CONV_AT(d, k) * by;
        s4 += SYMC_CONV_AT(e, k) * by, s5 += SYMC_CONV_AT(f, k) * by;
        s6 += SYMC_CONV_AT(g, k) * by, s7 += SYMC_CONV_AT(h, k) * by;
        s8 += SYMC_CONV_AT(m, k) * by;
    }
    sums[0] = s0 + SYMC_CONV_AT(a, last) * end, sums[1] = s1 + SYMC_CONV_AT(b, last) * end;
    sums[2] = s2 + SYMC_CONV_AT(c, last) * end, sums[3] = s3 + SYMC_CONV_AT(d, last) * end;
    sums[4] = s4 + SYMC_CONV_AT(e, last) * end, sums[5] = s5 + SYMC_CONV_AT(f, last) * end;
    sums[6] = s6 + SYMC_CONV_AT(g, last) * end, sums[7] = s7 + SYMC_CONV_AT(h, last) * end;
    sums[8] = s8 + SYMC_CONV_AT(m, last) * end;
}
static void symc_conv_dots_3_fNN(int64_t count, int64_t last, const real *x, const int64_t *at,
                                 const real *y, symc_lanes_fNN end, symc_lanes_fNN *sums) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const real *a = x + at[0], *b = x + at[1], *c = x + at[2];
    symc_lanes_fNN s0 = sums[0], s1 = sums[1], s2 = sums[2];
    for (int64_t k = 0; k < count * V; k += V) {
        const symc_lanes_fNN by = SYMC_CONV_AT(y, k);
        s0 += SYMC_CONV_AT(a, k) * by, s1 += SYMC_CONV_AT(b, k) * by;
        s2 += SYMC_CONV_AT(c, k) * by;
    }
    sums[0] = s0 + SYMC_CONV_AT(a, last) * end, sums[1] = s1 + SYMC_CONV_AT(b, last) * end;
    sums[2] = s2 + SYMC_CONV_AT(c, last) * end;
#undef SYMC_CONV_AT
}

// SYMBOL symc_conv_dots_piece_fNN
// NEEDS symc_conv_piece symc_conv_copy_fNN symc_conv_dots_fNN
// Adds what a line of outputs meets to the sums of all elements. `room` has zeros between outputs.
static void symc_conv_dots_piece_fNN(const symc_conv *v, symc_conv_piece p, const int64_t *at,
                                     const real *x, const real *y, real *room,
                                     symc_lanes_fNN *sums) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t count = p.length / V, rest = p.length % V, step = v->stride[2];
    union {
        symc_lanes_fNN lanes;
        real each[V];
    } end = {{0}};
    for (int64_t r = 0; r < p.rows; r++) {
        const real *from = y + p.y + r * v->count[2];
        real *to = room + r * v->stride[1];
        if (step == 1)
            symc_conv_copy_fNN(from, p.columns, to);
        else
            for (int64_t k = 0; k < p.columns; k++) to[k * step] = from[k];
    }
    for (int64_t l = 0; l < rest; l++) end.each[V - rest + l] = room[count * V + l];
    for (int64_t e = 0; e < v->elements;) {
        const int64_t left = v->elements - e, height = left > 3 ? 9 : 3;
        (left > 3 ? symc_conv_dots_9_fNN : symc_conv_dots_3_fNN)(
            count, p.length - V, x + p.x, at + e, room, end.lanes, sums + e);
        e += height;
    }
}

// SYMBOL symc_conv_dots_map_fNN
// NEEDS symc_conv_dots_piece_fNN symc_conv_filters_job_fNN symc_conv_sort_fNN
// The filter of a feature. Where windows are more than one element apart, `sorted` is the
// convolution of sorted inputs, for which there is `space`. Where a sum is not finite, zeros may
// have met what is not: then everything is computed without them.
static void symc_conv_dots_map_fNN(const symc_conv *v, const symc_conv *sorted,
                                   const int64_t (*axes)[5], const symc_conv_flat *flat,
                                   const int64_t *at, int64_t map, const real *x, const real *y,
                                   real *w, real *space) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), MOST = SYMC_PANELS * SYMC_ROWS, LONG = 1024 };
    real room[SYMC_FLAT + V] __attribute__((aligned(64)));
    symc_lanes_fNN sums[MOST + 8];
    double totals[MOST];
    const int64_t pieces = v->count[0] * flat->parts * flat->cuts, group = map / v->features;
    const int64_t feature = map % v->features, all = v->images * pieces;
    int bad = sorted != v && !space;
    __builtin_memset(room, 0, (size_t)(flat->length + V) * sizeof(real));
    if (space) __builtin_memset(space, 0, (size_t)(v->channels * sorted->plane) * sizeof(real));
    for (int64_t e = 0; e < v->elements; e++) totals[e] = 0;
    __builtin_memset(sums, 0, sizeof(sums));
    for (int64_t number = 0, waiting = 0; !bad && number < all; number++) {
        const int64_t place = number / pieces * v->groups + group;
        const symc_conv_piece p = symc_conv_piece_of(sorted, flat, number % pieces);
        const real *const from = x + place * v->channels * v->plane;
        if (space && number % pieces == 0) symc_conv_sort_fNN(v, sorted, axes, from, space);
        symc_conv_dots_piece_fNN(sorted, p, at, space ? space : from,
                                 y + (place * v->features + feature) * v->spots, room, sums);
        waiting += p.length / V + 1;
        if (waiting < LONG && number + 1 < all) continue;
        for (int64_t e = 0; e < v->elements; e++)
            for (int64_t l = 0; l < V; l++) totals[e] += sums[e][l];
        __builtin_memset(sums, 0, sizeof(sums));
        waiting = 0;
    }
    for (int64_t e = 0; e < v->elements; e++) {
        const real total = (real)totals[e];
        w[map * v->elements + e] = total;
        bad |= !(total - total == 0);
    }
    if (bad)
        symc_conv_filters_job_fNN(v, group, x, y, w + group * v->features * v->elements, 0,
                                  v->elements, feature, 1);
}

// SYMBOL symc_conv_filters_flat_fNN
// NEEDS symc_conv_dots_map_fNN symc_conv_offsets symc_conv_phased symc_conv_phases_of
// NEEDS malloc free
// All filters where a group has few features, or 0 where that would not do.
static int symc_conv_filters_flat_fNN(const symc_conv *v, const int64_t (*axes)[5], const real *x,
                                      const real *y, real *w, int64_t threads) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), MOST = SYMC_PANELS * SYMC_ROWS };
    const int64_t maps = v->groups * v->features;
    const int many =
        threads > 1 && (double)v->images * maps * v->spots * (double)v->elements > 1e6;
    const int apart = symc_conv_phased(axes, V) && v->features < 3;
    int64_t at[MOST + 8];
    if (v->features > V / 2 || v->elements > MOST) return 0;
    const symc_conv other = symc_conv_phases_of(v, axes, at);
    if (!apart) symc_conv_offsets(v->size, v->dilation, v->plane, 0, v->elements, at);
    const symc_conv *const sorted = apart ? &other : v;
    const symc_conv_flat flat = symc_conv_flat_of(sorted, apart ? other.stride[1] : axes[2][0], V);
    if (flat.parts < 1) return 0;
    if (v->features * flat.length * flat.parts > 2 * V * v->count[1] * v->count[2]) return 0;
    for (int64_t e = v->elements; e < v->elements + 8; e++) at[e] = at[0];
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t map = 0; map < maps; map++) {
        const size_t bytes = (size_t)(v->channels * sorted->plane) * sizeof(real);
        real *const space = apart ? malloc(bytes) : 0;
        symc_conv_dots_map_fNN(v, sorted, axes, &flat, at, map, x, y, w, space);
        free(space);
    }
    return 1;
}
