// Convolutions on row-major arrays: inputs x[images, groups * channels, lengths], filters
// w[groups * features, channels, sizes] and outputs y[images, groups * features, counts], each from
// the other two (symc/tensor/nnet/convolution.py has the sums). There are three last axes;
// those that a convolution lacks have length 1. Padding has been done before.
//
// Each function cuts its work into tiles of 6 rows by two vectors, whose 12 sums stay in registers
// (of outputs, into tiles of 8 rows where there are registers enough, see convtall.h).
// Rows and lanes differ: features by positions for the outputs, elements of a filter by
// positions for the inputs, elements of a filter by features for the filters. Nothing depends on
// the number of threads.

// SYMBOL SYMC_LANE_BYTES
// The bytes of a vector.
#ifdef __AVX512F__
#define SYMC_LANE_BYTES 64
#elif defined(__AVX__)
#define SYMC_LANE_BYTES 32
#else
#define SYMC_LANE_BYTES 16
#endif

// SYMBOL symc_lanes_fNN
// NEEDS SYMC_LANE_BYTES
typedef real symc_lanes_fNN
    __attribute__((vector_size(SYMC_LANE_BYTES), aligned(sizeof(real)), may_alias));

// SYMBOL symc_conv
// NEEDS SYMC_LANE_BYTES
typedef struct symc_conv {
    int64_t images, groups, channels, features;  // the last two in a group
    int64_t size[3], count[3];                   // of a filter's channel, of a channel of y
    int64_t stride[3], dilation[3];              // in elements of x
    int64_t plane, taps, spots;  // how many elements a channel of x, of a filter and of y has
    int64_t elements;            // of a filter: in all its channels
} symc_conv;
enum {
    SYMC_ROWS = 6,     // of a tile
    SYMC_DEPTH = 512,  // how many products are added up before a tile is stored
    SYMC_PANELS = 32,  // how many tiles side by side are a job
};

// SYMBOL SYMC_TILE
// The sums of a tile, one step of the loop that adds to them, and how they leave the registers.
#define SYMC_TILE(vector)                                                    \
    vector s00 = {0}, s10 = {0}, s20 = {0}, s30 = {0}, s40 = {0}, s50 = {0}; \
    vector s01 = {0}, s11 = {0}, s21 = {0}, s31 = {0}, s41 = {0}, s51 = {0};
#define SYMC_TILE_STEP(a0, a1, a2, a3, a4, a5, first, second) \
    s00 += (a0) * first, s01 += (a0) * second;                \
    s10 += (a1) * first, s11 += (a1) * second;                \
    s20 += (a2) * first, s21 += (a2) * second;                \
    s30 += (a3) * first, s31 += (a3) * second;                \
    s40 += (a4) * first, s41 += (a4) * second;                \
    s50 += (a5) * first, s51 += (a5) * second;
#define SYMC_TILE_END(tile, set)                                      \
    tile[0] set s00, tile[1] set s01, tile[2] set s10, tile[3] set s11; \
    tile[4] set s20, tile[5] set s21, tile[6] set s30, tile[7] set s31; \
    tile[8] set s40, tile[9] set s41, tile[10] set s50, tile[11] set s51;

// --- outputs -------------------------------------------------------------------------------------

// SYMBOL symc_conv_outputs_tile_fNN
// NEEDS symc_lanes_fNN SYMC_TILE
// Six filters times the two vectors that each of their elements meets.
static void symc_conv_outputs_tile_fNN(int64_t depth, const real *const *rows, const real *first,
                                       const real *second, const int64_t *at,
                                       symc_lanes_fNN *tile) {
    const real *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4], *f = rows[5];
    SYMC_TILE(symc_lanes_fNN)
    for (int64_t k = 0; k < depth; k++) {
        const symc_lanes_fNN left = *(const symc_lanes_fNN *)(first + at[k]);
        const symc_lanes_fNN right = *(const symc_lanes_fNN *)(second + at[k]);
        SYMC_TILE_STEP(a[k], b[k], c[k], d[k], e[k], f[k], left, right)
    }
    SYMC_TILE_END(tile, =)
}

// SYMBOL symc_conv_outputs_strip_fNN
// NEEDS symc_lanes_fNN
// One filter times the six vectors that each of its elements meets.
static void symc_conv_outputs_strip_fNN(int64_t depth, const real *row, const real *const *starts,
                                        const int64_t *at, symc_lanes_fNN *tile) {
    const real *a = starts[0], *b = starts[1], *c = starts[2];
    const real *d = starts[3], *e = starts[4], *f = starts[5];
    symc_lanes_fNN s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0};
    for (int64_t k = 0; k < depth; k++) {
        const int64_t place = at[k];
        const real factor = row[k];
        s0 += factor * *(const symc_lanes_fNN *)(a + place);
        s1 += factor * *(const symc_lanes_fNN *)(b + place);
        s2 += factor * *(const symc_lanes_fNN *)(c + place);
        s3 += factor * *(const symc_lanes_fNN *)(d + place);
        s4 += factor * *(const symc_lanes_fNN *)(e + place);
        s5 += factor * *(const symc_lanes_fNN *)(f + place);
    }
    tile[0] = s0, tile[1] = s1, tile[2] = s2, tile[3] = s3, tile[4] = s4, tile[5] = s5;
}

// SYMBOL symc_conv_store_fNN
// NEEDS symc_lanes_fNN symc_conv_places
static inline void symc_conv_store_fNN(real *y, symc_lanes_fNN lanes, const symc_conv_place *place,
                                       int more) {
    const int64_t width = sizeof(lanes) / sizeof(real);
    symc_lanes_fNN *target = (symc_lanes_fNN *)y;
    if (place->begin != 0 || place->end != width)
        for (int64_t l = place->begin; l < place->end; l++)
            y[l] = more ? y[l] + lanes[l] : lanes[l];
    else if (more)
        *target += lanes;
    else
        *target = lanes;
}

// SYMBOL symc_conv_gather_fNN
// NEEDS symc_conv symc_conv_offsets symc_lanes_fNN
// The elements of x that a filter meets at two vectors of outputs, side by side.
static void symc_conv_gather_fNN(const symc_conv *v, const real *x, const int64_t *taps,
                                 int64_t depth, const symc_conv_place *one,
                                 const symc_conv_place *two, real *gathered) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    int64_t spots[2 * V];
    for (int64_t l = 0; l < 2 * V; l++) spots[l] = one->x;
    symc_conv_offsets(v->count, v->stride, 0, one->y, one->end, spots);
    symc_conv_offsets(v->count, v->stride, 0, two->y, two->end, spots + V);
    for (int64_t k = 0; k < depth; k++)
        for (int64_t l = 0; l < 2 * V; l++) gathered[k * 2 * V + l] = x[taps[k] + spots[l]];
}

// SYMBOL symc_conv_outputs_few_fNN
// NEEDS symc_conv symc_conv_outputs_strip_fNN symc_conv_store_fNN
// Vectors of outputs of a group of one or two features, which would leave most rows of a tile empty.
// Part of a filter's elements, from `start` on, meets `x` at `at`; the vectors begin at their places
// there, or side by side in `gathered`.
static void symc_conv_outputs_few_fNN(const symc_conv *v, const real *x, const real *gathered,
                                      const int64_t *at, const real *w, int64_t start,
                                      int64_t depth, const symc_conv_place *places, int64_t count,
                                      real *y) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    for (int64_t o = 0; o < v->features; o++)
        for (int64_t j = 0; j < count; j += 6) {
            const real *starts[6];
            symc_lanes_fNN tile[6];
            for (int64_t q = 0; q < 6; q++) {
                const int64_t one = j + q < count ? j + q : j;
                starts[q] = gathered ? gathered + one * V : x + places[one].x;
            }
            symc_conv_outputs_strip_fNN(depth, w + o * v->elements + start, starts, at, tile);
            for (int64_t q = 0; q < 6 && j + q < count; q++)
                symc_conv_store_fNN(y + o * v->spots + places[j + q].y, tile[q], &places[j + q],
                                    start > 0);
        }
}

// SYMBOL symc_conv_outputs_job_fNN
// NEEDS symc_conv_outputs_tile_fNN symc_conv_store_fNN symc_conv_gather_fNN symc_conv_outputs_few_fNN
// NEEDS symc_conv_outputs_tall_fNN symc_conv_height
// Some vectors of all outputs of an image and a group. Where windows lie next to each other
// (`direct`), vectors are read where they are in x; otherwise they are gathered, two at a time. `at`,
// if not 0: where all elements of a filter meet x.
static __attribute__((noinline)) void symc_conv_outputs_job_fNN(const symc_conv *v, const real *x,
                                                                const real *w, real *y,
                                                                int64_t from, int64_t count,
                                                                int direct, const int64_t *at) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    symc_conv_place places[2 * SYMC_PANELS + 2];
    int64_t room[SYMC_DEPTH], steps[SYMC_DEPTH];
    real gathered[SYMC_DEPTH * 2 * V] __attribute__((aligned(64)));
    const int64_t height = symc_conv_height(v->features);
    symc_conv_places(v, direct ? v->count[2] : v->spots, V, from, count, places);
    for (int64_t k = 0; k < SYMC_DEPTH; k++) steps[k] = k * 2 * V;
    for (int64_t start = 0; start < v->elements; start += SYMC_DEPTH) {
        const int64_t rest = v->elements - start, depth = rest < SYMC_DEPTH ? rest : SYMC_DEPTH;
        const int64_t *const taps = at ? at + start : room;
        if (!at) symc_conv_offsets(v->size, v->dilation, v->plane, start, depth, room);
        for (int64_t first = 0; first < count; first += direct ? count : 2) {
            const int64_t end = direct || first + 2 > count ? count : first + 2;
            if (!direct)
                symc_conv_gather_fNN(v, x, taps, depth, &places[first], &places[end - 1], gathered);
            if (v->features < 3) {
                symc_conv_outputs_few_fNN(v, x, direct ? 0 : gathered, direct ? taps : steps, w,
                                          start, depth, &places[first], end - first, y);
                continue;
            }
            for (int64_t o = 0; o < v->features; o += height) {
                const real *rows[SYMC_TALL];
                symc_lanes_fNN tile[2 * SYMC_TALL];
                for (int64_t r = 0; r < height; r++)
                    rows[r] = w + (o + r < v->features ? o + r : o) * v->elements + start;
                for (int64_t j = first; j < end; j += 2) {
                    const symc_conv_place *one = &places[j], *two = j + 1 < end ? one + 1 : one;
                    const real *left = direct ? x + one->x : gathered;
                    const real *right = direct ? x + two->x : gathered + V;
                    (height == SYMC_ROWS ? symc_conv_outputs_tile_fNN : symc_conv_outputs_tall_fNN)(
                        depth, rows, left, right, direct ? taps : steps, tile);
                    for (int64_t r = 0; r < height && o + r < v->features; r++) {
                        real *row = y + (o + r) * v->spots;
                        symc_conv_store_fNN(row + one->y, tile[2 * r], one, start > 0);
                        if (two != one)
                            symc_conv_store_fNN(row + two->y, tile[2 * r + 1], two, start > 0);
                    }
                }
            }
        }
    }
}

// SYMBOL symc_conv_outputs_fNN
// NEEDS symc_conv_outputs_job_fNN symc_conv_lines_fNN symc_conv_outputs_flat_fNN symc_conv_of
// NEEDS symc_conv_outputs_phases_fNN symc_conv_outputs_sorted_fNN symc_conv_across_fNN
// y from x and w. Rows are features, lanes are positions.
static void symc_conv_outputs_fNN(int64_t images, int64_t groups, int64_t channels,
                                  int64_t features, int64_t l0, int64_t k0, int64_t t0, int64_t s0,
                                  int64_t d0, int64_t l1, int64_t k1, int64_t t1, int64_t s1,
                                  int64_t d1, int64_t l2, int64_t k2, int64_t t2, int64_t s2,
                                  int64_t d2, const real *x, const real *w, real *y,
                                  int64_t threads) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t axes[3][5] = {{l0, k0, t0, s0, d0}, {l1, k1, t1, s1, d1}, {l2, k2, t2, s2, d2}};
    const symc_conv v = symc_conv_of(images, groups, channels, features, axes);
    const int direct = s2 == 1 && t2 >= V;
    const int64_t line = direct ? t2 : v.spots, across = (line + V - 1) / V;
    const int64_t pairs = ((direct ? t0 * t1 : 1) * across + 1) / 2;
    const int64_t vectors = (direct ? t0 * t1 : 1) * across;
    const int64_t parts = (pairs + SYMC_PANELS - 1) / SYMC_PANELS, jobs = images * groups * parts;
    const int many = threads > 1 && (double)images * groups * features * v.elements * pairs > 1e5;
    if (v.elements <= 0)
        for (int64_t k = 0; k < images * groups * features * v.spots; k++) y[k] = 0;
    else if (symc_conv_across_fNN(&v, x, w, y, threads) ||
             symc_conv_outputs_phases_fNN(&v, axes, x, w, y, threads) ||
             symc_conv_outputs_sorted_fNN(&v, axes, x, w, y, threads))
        return;
    else if (!(direct && t2 >= 4 * V) && symc_conv_outputs_flat_fNN(&v, l2, x, w, y, threads))
        return;
    else if (direct && features < 3 && v.elements <= SYMC_DEPTH)
        symc_conv_lines_fNN(&v, x, w, y, threads);
    else
        _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
        for (int64_t job = 0; job < jobs; job++) {
            const int64_t part = job % parts, number = job / parts, group = number % groups;
            const int64_t from = pairs * part / parts * 2, next = pairs * (part + 1) / parts * 2;
            symc_conv_outputs_job_fNN(&v, x + number * channels * v.plane,
                                      w + group * features * v.elements,
                                      y + number * features * v.spots, from,
                                      (next < vectors ? next : vectors) - from, direct, 0);
        }
}

// --- inputs --------------------------------------------------------------------------------------

// SYMBOL symc_conv_inputs_tile_fNN
// NEEDS symc_lanes_fNN SYMC_TILE
// Six elements of filters, side by side for each feature, times two vectors of outputs.
static void symc_conv_inputs_tile_fNN(int64_t depth, const real *rows, int64_t below,
                                      const real *first, const real *second, int64_t step,
                                      symc_lanes_fNN *tile) {
    SYMC_TILE(symc_lanes_fNN)
    for (int64_t k = 0; k < depth; k++) {
        const symc_lanes_fNN left = *(const symc_lanes_fNN *)first;
        const symc_lanes_fNN right = *(const symc_lanes_fNN *)second;
        SYMC_TILE_STEP(rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], left, right)
        rows += below, first += step, second += step;
    }
    SYMC_TILE_END(tile, =)
}

// SYMBOL symc_conv_add_fNN
// NEEDS symc_lanes_fNN symc_conv_places
// Adds a vector to x, where one element of the windows is. `spots`: where the windows begin.
static inline void symc_conv_add_fNN(real *x, symc_lanes_fNN lanes, const symc_conv_place *place,
                                     const int64_t *spots) {
    const int64_t width = sizeof(lanes) / sizeof(real);
    symc_lanes_fNN *target = (symc_lanes_fNN *)(x + spots[0]);
    if (place->begin == 0 && place->end == width && spots[width - 1] == spots[0] + width - 1)
        *target += lanes;
    else
        for (int64_t l = place->begin; l < place->end; l++) x[spots[l]] += lanes[l];
}

// SYMBOL symc_conv_inputs_part_fNN
// NEEDS symc_conv_inputs_tile_fNN symc_conv_add_fNN symc_conv_offsets
// The terms that some vectors of outputs of `depth` features add to some channels of x.
static void symc_conv_inputs_part_fNN(const symc_conv *v, const real *y, int64_t step,
                                      const real *w, real *x, int64_t depth, int64_t channels,
                                      int64_t count, const symc_conv_place *places) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    int64_t spots[2 * SYMC_PANELS][V], taps[SYMC_ROWS];
    real copy[SYMC_DEPTH * SYMC_ROWS];
    for (int64_t j = 0; j < count; j++)
        symc_conv_offsets(v->count, v->stride, 0, places[j].y, places[j].end, spots[j]);
    for (int64_t element = 0; element < channels * v->taps; element += SYMC_ROWS) {
        const int64_t rest = channels * v->taps - element;
        const int64_t height = rest < SYMC_ROWS ? rest : SYMC_ROWS;
        symc_lanes_fNN tile[2 * SYMC_ROWS];
        symc_conv_offsets(v->size, v->dilation, v->plane, element, height, taps);
        for (int64_t k = 0; height < SYMC_ROWS && k < depth; k++)
            for (int64_t r = 0; r < SYMC_ROWS; r++)
                copy[k * SYMC_ROWS + r] = r < height ? w[k * v->elements + element + r] : 0;
        const real *rows = height < SYMC_ROWS ? copy : w + element;
        const int64_t below = height < SYMC_ROWS ? SYMC_ROWS : v->elements;
        for (int64_t j = 0; j < count; j += 2) {
            const int64_t other = j + 1 < count ? j + 1 : j;
            symc_conv_inputs_tile_fNN(depth, rows, below, y + places[j].y, y + places[other].y,
                                      step, tile);
            for (int64_t r = 0; r < height; r++) {
                symc_conv_add_fNN(x + taps[r], tile[2 * r], &places[j], spots[j]);
                if (other != j)
                    symc_conv_add_fNN(x + taps[r], tile[2 * r + 1], &places[other], spots[other]);
            }
        }
    }
}

// SYMBOL symc_conv_inputs_job_fNN
// NEEDS symc_conv_inputs_part_fNN
// Some channels of x in an image and a group. Few outputs are copied, to fill vectors.
static __attribute__((noinline)) void symc_conv_inputs_job_fNN(const symc_conv *v, const real *y,
                                                               const real *w, real *x,
                                                               int64_t channels) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t all = v->spots > 0 ? v->spots : 1;
    const int64_t line = v->stride[2] == 1 && v->count[2] >= V ? v->count[2] : all;
    const int64_t vectors = v->spots / line * ((line + V - 1) / V);
    const int few = v->spots < V;
    symc_conv_place places[2 * SYMC_PANELS];
    real copy[SYMC_DEPTH * V];
    for (int64_t k = 0; k < channels * v->plane; k++) x[k] = 0;
    for (int64_t o = 0; o < v->features; o += SYMC_DEPTH) {
        const int64_t depth = v->features - o < SYMC_DEPTH ? v->features - o : SYMC_DEPTH;
        const real *base = y + o * v->spots;
        for (int64_t k = 0; few && k < depth; k++)
            for (int64_t l = 0; l < V; l++)
                copy[k * V + l] = l < v->spots ? base[k * v->spots + l] : 0;
        for (int64_t from = 0; from < vectors; from += 2 * SYMC_PANELS) {
            const int64_t rest = vectors - from;
            const int64_t count = rest < 2 * SYMC_PANELS ? rest : 2 * SYMC_PANELS;
            symc_conv_places(v, line, V, from, count, places);
            symc_conv_inputs_part_fNN(v, few ? copy : base, few ? V : v->spots,
                                      w + o * v->elements, x, depth, channels, count, places);
        }
    }
}

// SYMBOL symc_conv_inputs_fNN
// NEEDS symc_conv_inputs_job_fNN symc_conv_inputs_turned_fNN symc_conv_inputs_across_fNN
// NEEDS symc_conv_of
// x from y and w. Rows are elements of filters, lanes are positions.
static void symc_conv_inputs_fNN(int64_t images, int64_t groups, int64_t channels,
                                 int64_t features, int64_t l0, int64_t k0, int64_t t0, int64_t s0,
                                 int64_t d0, int64_t l1, int64_t k1, int64_t t1, int64_t s1,
                                 int64_t d1, int64_t l2, int64_t k2, int64_t t2, int64_t s2,
                                 int64_t d2, const real *y, const real *w, real *x,
                                 int64_t threads) {
    enum { MOST = 32 };  // channels of a job
    const int64_t axes[3][5] = {{l0, k0, t0, s0, d0}, {l1, k1, t1, s1, d1}, {l2, k2, t2, s2, d2}};
    const symc_conv v = symc_conv_of(images, groups, channels, features, axes);
    const int64_t parts = (channels + MOST - 1) / MOST, jobs = images * groups * parts;
    const int many = threads > 1 && (double)images * groups * features * v.spots * v.elements > 1e6;
    if (symc_conv_inputs_across_fNN(&v, y, w, x, threads)) return;
    if (symc_conv_inputs_turned_fNN(&v, axes, y, w, x, threads)) return;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t job = 0; job < jobs; job++) {
        const int64_t part = job % parts, number = job / parts, group = number % groups;
        const int64_t first = channels * part / parts, next = channels * (part + 1) / parts;
        symc_conv_inputs_job_fNN(&v, y + number * features * v.spots,
                                 w + group * features * v.elements + first * v.taps,
                                 x + (number * channels + first) * v.plane, next - first);
    }
}

// --- filters -------------------------------------------------------------------------------------

// SYMBOL symc_conv_filters_tile_fNN
// NEEDS symc_lanes_fNN SYMC_TILE
// The elements of x that six filter elements meet, times two vectors of features side by side.
static void symc_conv_filters_tile_fNN(int64_t depth, const real *const *rows, const real *lanes,
                                       const int64_t *at, symc_lanes_fNN *tile) {
    const real *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4], *f = rows[5];
    const symc_lanes_fNN *vectors = (const symc_lanes_fNN *)lanes;
    SYMC_TILE(symc_lanes_fNN)
    for (int64_t k = 0; k < depth; k++) {
        const int64_t spot = at[k];
        const symc_lanes_fNN left = vectors[2 * k], right = vectors[2 * k + 1];
        SYMC_TILE_STEP(a[spot], b[spot], c[spot], d[spot], e[spot], f[spot], left, right)
    }
    SYMC_TILE_END(tile, +=)
}

// SYMBOL symc_conv_turn_fNN
// NEEDS symc_lanes_fNN
// Rows that are `step` apart become lanes side by side; lanes that have no row are 0. Some columns
// at a time, so that those lanes stay in the cache.
static void symc_conv_turn_fNN(const real *rows, int64_t step, int64_t width, int64_t depth,
                               real *lanes) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), COLUMNS = 16 };
    for (int64_t start = 0; start < depth; start += COLUMNS) {
        const int64_t end = depth - start < COLUMNS ? depth : start + COLUMNS;
        for (int64_t l = 0; l < width; l++)
            for (int64_t k = start; k < end; k++) lanes[k * 2 * V + l] = rows[l * step + k];
        for (int64_t k = start; k < end; k++)
            for (int64_t l = width; l < 2 * V; l++) lanes[k * 2 * V + l] = 0;
    }
}

// SYMBOL symc_conv_filters_job_fNN
// NEEDS symc_conv_filters_tile_fNN symc_conv_turn_fNN symc_conv_offsets
// `count` elements from `element` on of the filters of `width` features from `feature` on.
static __attribute__((noinline)) void symc_conv_filters_job_fNN(
    const symc_conv *v, int64_t group, const real *x, const real *y, real *w, int64_t element,
    int64_t count, int64_t feature, int64_t width) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    symc_lanes_fNN tiles[SYMC_PANELS][2 * SYMC_ROWS];
    int64_t at[SYMC_DEPTH], taps[SYMC_PANELS * SYMC_ROWS];
    real lanes[SYMC_DEPTH * 2 * V] __attribute__((aligned(64)));
    const int64_t high = (count + SYMC_ROWS - 1) / SYMC_ROWS;
    __builtin_memset(tiles, 0, sizeof(tiles));
    symc_conv_offsets(v->size, v->dilation, v->plane, element, count, taps);
    for (int64_t r = count; r < high * SYMC_ROWS; r++) taps[r] = taps[0];
    for (int64_t start = 0; start < v->spots; start += SYMC_DEPTH) {
        const int64_t depth = v->spots - start < SYMC_DEPTH ? v->spots - start : SYMC_DEPTH;
        symc_conv_offsets(v->count, v->stride, 0, start, depth, at);
        for (int64_t image = 0; image < v->images; image++) {
            const int64_t number = image * v->groups + group;
            const real *base = x + number * v->channels * v->plane;
            const real *outputs = y + (number * v->features + feature) * v->spots + start;
            symc_conv_turn_fNN(outputs, v->spots, width, depth, lanes);
            for (int64_t j = 0; j < high; j++) {
                const real *rows[SYMC_ROWS];
                for (int64_t r = 0; r < SYMC_ROWS; r++) rows[r] = base + taps[j * SYMC_ROWS + r];
                symc_conv_filters_tile_fNN(depth, rows, lanes, at, tiles[j]);
            }
        }
    }
    for (int64_t r = 0; r < count; r++)
        for (int64_t l = 0; l < width; l++)
            w[(feature + l) * v->elements + element + r] =
                tiles[r / SYMC_ROWS][r % SYMC_ROWS * 2 + l / V][l % V];
}

// SYMBOL symc_conv_filters_fNN
// NEEDS symc_conv_filters_job_fNN symc_conv_filters_flat_fNN symc_conv_of
// w from x and y. Rows are elements of filters, lanes are features.
static void symc_conv_filters_fNN(int64_t images, int64_t groups, int64_t channels,
                                  int64_t features, int64_t l0, int64_t k0, int64_t t0, int64_t s0,
                                  int64_t d0, int64_t l1, int64_t k1, int64_t t1, int64_t s1,
                                  int64_t d1, int64_t l2, int64_t k2, int64_t t2, int64_t s2,
                                  int64_t d2, const real *x, const real *y, real *w,
                                  int64_t threads) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), MOST = SYMC_PANELS * SYMC_ROWS };
    const int64_t axes[3][5] = {{l0, k0, t0, s0, d0}, {l1, k1, t1, s1, d1}, {l2, k2, t2, s2, d2}};
    const symc_conv v = symc_conv_of(images, groups, channels, features, axes);
    const int64_t parts = (v.elements + MOST - 1) / MOST, panels = (features + 2 * V - 1) / (2 * V);
    const int many = threads > 1 && (double)images * groups * features * v.spots * v.elements > 1e6;
    if (symc_conv_filters_flat_fNN(&v, axes, x, y, w, threads)) return;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t job = 0; job < groups * parts * panels; job++) {
        const int64_t part = job % parts, feature = job / parts % panels * 2 * V;
        const int64_t group = job / parts / panels, rest = features - feature;
        const int64_t first = v.elements * part / parts, next = v.elements * (part + 1) / parts;
        symc_conv_filters_job_fNN(&v, group, x, y, w + group * features * v.elements, first,
                                  next - first, feature, rest < 2 * V ? rest : 2 * V);
    }
}
