// Convolutions of groups that have few features (conv.h), with rows of a plane joined to one line:
// what a window meets at the next output is right beside it, also where a row of outputs ends. The
// places between two rows, or between outputs that are a stride apart, are computed too, and left
// out. So vectors are full where rows are shorter than a vector, and nothing is gathered.

// SYMBOL symc_conv_flat
// NEEDS symc_conv
typedef struct symc_conv_flat {
    int64_t parts;   // of the rows of outputs, each a line; 0: lines would be too short or wasteful
    int64_t cuts;    // of a row, where that is a part
    int64_t length;  // of the longest line
} symc_conv_flat;
enum {
    SYMC_FLAT = 4096,  // elements that a line has at most, so that it stays in the first cache
    SYMC_WASTE = 10,   // how many places are computed for each output at most
    SYMC_SOME = 24,    // features whose lines stay in the cache
};

// How outputs become lines of `width` elements or more. `line`: the length of a row of x.
static symc_conv_flat symc_conv_flat_of(const symc_conv *v, int64_t line, int64_t width) {
    const int64_t rows = v->count[1], across = (v->count[2] - 1) * v->stride[2] + 1;
    symc_conv_flat flat = {0, 1, 0};
    if (rows < 1 || v->count[2] < 1 || v->count[0] < 1 || v->elements < 1) return flat;
    // Rows that do not lie next to each other are lines of their own, if long enough.
    int64_t joined = v->stride[1] != line && across >= width ? 1 : SYMC_FLAT / v->stride[1];
    joined = joined < 1 ? 1 : joined > rows ? rows : joined;
    const int64_t parts = (rows + joined - 1) / joined, least = rows / parts;
    flat.cuts = joined > 1 ? 1 : (across + SYMC_FLAT / 2 - 1) / (SYMC_FLAT / 2);
    if (flat.cuts > v->count[2] / width) flat.cuts = v->count[2] < width ? 1 : v->count[2] / width;
    const int64_t wide = ((v->count[2] + flat.cuts - 1) / flat.cuts - 1) * v->stride[2] + 1;
    flat.length = ((rows + parts - 1) / parts - 1) * v->stride[1] + wide;
    if (flat.length <= SYMC_FLAT && (least - 1) * v->stride[1] + across >= width &&
        (least - 1) * v->stride[1] + across <= SYMC_WASTE * least * v->count[2])
        flat.parts = parts;
    return flat;
}

// SYMBOL symc_conv_piece
// NEEDS symc_conv_flat
// One line: `rows` rows with `columns` outputs each, and where the first of them is in x and y.
typedef struct symc_conv_piece {
    int64_t rows, columns, length, x, y;
} symc_conv_piece;

static inline symc_conv_piece symc_conv_piece_of(const symc_conv *v, const symc_conv_flat *flat,
                                                 int64_t number) {
    const int64_t cut = number % flat->cuts, part = number / flat->cuts % flat->parts;
    const int64_t i = number / flat->cuts / flat->parts;
    const int64_t row = v->count[1] * part / flat->parts;
    const int64_t column = v->count[2] * cut / flat->cuts;
    symc_conv_piece p;
    p.rows = v->count[1] * (part + 1) / flat->parts - row;
    p.columns = v->count[2] * (cut + 1) / flat->cuts - column;
    p.length = (p.rows - 1) * v->stride[1] + (p.columns - 1) * v->stride[2] + 1;
    p.x = i * v->stride[0] + row * v->stride[1] + column * v->stride[2];
    p.y = (i * v->count[1] + row) * v->count[2] + column;
    return p;
}

// SYMBOL symc_conv_copy_fNN
// NEEDS symc_lanes_fNN
// Copies a row. Rows are short: a call of memcpy would take longer.
static inline void symc_conv_copy_fNN(const real *from, int64_t count, real *to) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), HALF = V / 2, QUARTER = V / 4 };
    if (count >= V) {
        for (int64_t k = 0; k + V <= count; k += V)
            *(symc_lanes_fNN *)(to + k) = *(const symc_lanes_fNN *)(from + k);
        *(symc_lanes_fNN *)(to + count - V) = *(const symc_lanes_fNN *)(from + count - V);
    } else if (count >= HALF) {
        __builtin_memcpy(to, from, HALF * sizeof(real));
        __builtin_memcpy(to + count - HALF, from + count - HALF, HALF * sizeof(real));
    } else if (count >= QUARTER) {
        __builtin_memcpy(to, from, QUARTER * sizeof(real));
        __builtin_memcpy(to + count - QUARTER, from + count - QUARTER, QUARTER * sizeof(real));
    } else {
        if (count & 1) *to++ = *from++;
        if (count & 2) to[0] = from[0], to[1] = from[1];
    }
}

// SYMBOL symc_conv_flat_rows_fNN
// NEEDS symc_conv_piece symc_conv_copy_fNN
// Copies the outputs of a line. A store of a vector may go beyond its row, where the next one
// follows later, but not beyond the outputs of a feature.
static void symc_conv_flat_rows_fNN(const symc_conv *v, symc_conv_piece p, const real *line,
                                    real *y) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t step = v->stride[2];
    const real *const end = y + v->spots;
    for (int64_t r = 0; r < p.rows; r++) {
        const real *from = line + r * v->stride[1];
        real *to = y + p.y + r * v->count[2];
        int64_t k = 0;
        if (step == 1)
            for (; k < p.columns && end - to >= k + V; k += V)
                *(symc_lanes_fNN *)(to + k) = *(const symc_lanes_fNN *)(from + k);
        if (step == 1)
            symc_conv_copy_fNN(from + k, p.columns - (k < p.columns ? k : p.columns), to + k);
        else if (step == 2)
            for (; k < p.columns; k++) to[k] = from[2 * k];
        else
            for (; k < p.columns; k++) to[k] = from[k * step];
    }
}

// SYMBOL symc_conv_flat_map_fNN
// NEEDS symc_conv_flat_rows_fNN symc_conv_line_fNN symc_conv_rows_fNN
// The outputs of a feature.
static void symc_conv_flat_map_fNN(const symc_conv *v, const symc_conv_flat *flat,
                                   const int64_t *at, const real *x, const real *w, real *y) {
    real room[SYMC_FLAT + SYMC_LANE_BYTES / sizeof(real)] __attribute__((aligned(64)));
    const int64_t pieces = v->count[0] * flat->parts * flat->cuts;
    for (int64_t number = 0; number < pieces; number++) {
        const symc_conv_piece p = symc_conv_piece_of(v, flat, number);
        const int wide = p.columns >= (int64_t)(SYMC_LANE_BYTES / sizeof(real));
        const int done = symc_conv_rows_fNN(v, p.rows, p.columns, w, x + p.x, wide ? y + p.y : room,
                                            wide ? v->count[2] : v->stride[1]);
        if (!done) symc_conv_line_fNN(p.length, v->elements, w, x + p.x, at, room);
        if (!done || !wide) symc_conv_flat_rows_fNN(v, p, room, y);
    }
}

// SYMBOL symc_conv_flat_group_fNN
// NEEDS symc_conv_flat_rows_fNN symc_conv_outputs_job_fNN
// The outputs of all features of a group, as tiles: some features at a time, so that their lines in
// `room` (SYMC_SOME of them and a vector) stay in the cache. For `at` see symc_conv_outputs_job_fNN.
static void symc_conv_flat_group_fNN(const symc_conv *v, const symc_conv_flat *flat,
                                     const int64_t *at, const real *x, const real *w, real *y,
                                     real *room) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), MOST = 2 * SYMC_PANELS };
    const int64_t pieces = v->count[0] * flat->parts * flat->cuts;
    for (int64_t number = 0; number < pieces; number++) {
        const symc_conv_piece p = symc_conv_piece_of(v, flat, number);
        const int64_t vectors = (p.length + V - 1) / V;
        symc_conv line = *v;
        line.count[0] = line.count[1] = line.stride[2] = 1;
        line.count[2] = line.spots = p.length;
        for (int64_t o = 0; o < v->features; o += SYMC_SOME) {
            const int64_t rest = v->features - o;
            line.features = rest < SYMC_SOME ? rest : SYMC_SOME;
            for (int64_t from = 0; from < vectors; from += MOST)
                symc_conv_outputs_job_fNN(&line, x + p.x, w + o * v->elements, room, from,
                                          vectors - from < MOST ? vectors - from : MOST, 1, at);
            for (int64_t f = 0; f < line.features; f++)
                symc_conv_flat_rows_fNN(v, p, room + f * p.length, y + (o + f) * v->spots);
        }
    }
}

// SYMBOL symc_conv_outputs_groups_fNN
// NEEDS symc_conv_flat_group_fNN symc_conv_height malloc free
// All outputs of groups of some features, whose windows do not lie next to each other, or 0 where
// it takes less time to gather two vectors than to compute the places between outputs.
static int symc_conv_outputs_groups_fNN(const symc_conv *v, symc_conv_flat flat, const real *x,
                                        const real *w, real *y, int64_t threads) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), GATHER = 3 * V / 2 };
    const int64_t height = symc_conv_height(v->features);
    const int64_t each = (v->features + height - 1) / height * height;
    const int64_t maps = v->images * v->groups;
    const int64_t lines = v->count[0] * flat.parts * flat.cuts;
    const int64_t pairs = lines * ((flat.length + 2 * V - 1) / (2 * V));
    const int64_t gathered = (v->spots + 2 * V - 1) / (2 * V);
    const int many = threads > 1 && (double)maps * v->features * v->spots * v->elements > 1e6;
    if (pairs * each > gathered * (each + GATHER)) return 0;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t map = 0; map < maps; map++) {
        const real *const from = x + map * v->channels * v->plane;
        const real *const filters = w + map % v->groups * v->features * v->elements;
        real *const to = y + map * v->features * v->spots;
        real *room = malloc((size_t)(SYMC_SOME * flat.length + V) * sizeof(real));
        if (room)
            symc_conv_flat_group_fNN(v, &flat, 0, from, filters, to, room);
        else
            for (int64_t k = 0, vectors = (v->spots + V - 1) / V; k < vectors; k += 2)
                symc_conv_outputs_job_fNN(v, from, filters, to, k, vectors - k < 2 ? 1 : 2, 0, 0);
        free(room);
    }
    return 1;
}

// SYMBOL symc_conv_outputs_flat_fNN
// NEEDS symc_conv_flat_map_fNN symc_conv_outputs_groups_fNN symc_conv_offsets
// All outputs where windows do not lie next to each other, or 0 where lines would not do. `line`:
// the length of a row of x.
static int symc_conv_outputs_flat_fNN(const symc_conv *v, int64_t line, const real *x,
                                      const real *w, real *y, int64_t threads) {
    const int64_t maps = v->images * v->groups * v->features;
    const symc_conv_flat flat =
        symc_conv_flat_of(v, line, SYMC_LANE_BYTES / (int64_t)sizeof(real));
    const int many = threads > 1 && (double)maps * v->spots * (double)v->elements > 1e6;
    int64_t at[SYMC_DEPTH];
    if (flat.parts < 1) return 0;
    if (v->features > 2) return symc_conv_outputs_groups_fNN(v, flat, x, w, y, threads);
    if (v->elements > SYMC_DEPTH) return 0;
    symc_conv_offsets(v->size, v->dilation, v->plane, 0, v->elements, at);
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t map = 0; map < maps; map++)
        symc_conv_flat_map_fNN(v, &flat, at,
                               x + map / v->features * v->channels * v->plane,
                               w + map % (v->groups * v->features) * v->elements,
                               y + map * v->spots);
    return 1;
}

// --- inputs --------------------------------------------------------------------------------------

// SYMBOL symc_conv_turned_of
// NEEDS symc_conv_of
// The convolution that computes inputs from outputs, with zeros between and around these, and
// turned filters.
static symc_conv symc_conv_turned_of(const symc_conv *v, const int64_t (*axes)[5]) {
    int64_t turned[3][5];
    for (int axis = 0; axis < 3; axis++) {
        const int64_t size = axes[axis][1], dilation = axes[axis][4];
        turned[axis][0] = axes[axis][0] + (size - 1) * dilation;
        turned[axis][1] = size;
        turned[axis][2] = axes[axis][0];
        turned[axis][3] = 1;
        turned[axis][4] = dilation;
    }
    return symc_conv_of(1, 1, v->features, v->channels, turned);
}

// SYMBOL symc_conv_spread_fNN
// NEEDS symc_conv symc_conv_copy_fNN symc_shuffles_fNN
// Outputs of an image and a group, put where the turned filters meet them: zeros are there already.
static void symc_conv_spread_fNN(const symc_conv *v, const symc_conv *turned,
                                 const int64_t (*axes)[5], const real *y, real *spread) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t pitch = turned->stride[1], deep = turned->stride[0], step = axes[2][3];
    const symc_lanes_fNN zeros = {0};
    for (int axis = 0; axis < 3; axis++)
        spread += (v->size[axis] - 1) * turned->dilation[axis];
    for (int64_t o = 0; o < v->features; o++)
        for (int64_t i = 0; i < v->count[0]; i++)
            for (int64_t j = 0; j < v->count[1]; j++) {
                const real *from = y + ((o * v->count[0] + i) * v->count[1] + j) * v->count[2];
                real *to = spread + o * turned->plane + i * axes[0][3] * deep +
                           j * axes[1][3] * pitch;
                if (step == 1)
                    symc_conv_copy_fNN(from, v->count[2], to);
                else {
                    int64_t k = 0;
                    for (; step == 2 && k + V < v->count[2]; k += V)
                        symc_join_lanes_fNN(to + 2 * k, *(const symc_lanes_fNN *)(from + k), zeros);
                    for (; k < v->count[2]; k++) to[k * step] = from[k];
                }
            }
}

// SYMBOL symc_conv_turn_filters_fNN
// NEEDS symc_conv
// The filters of a group, turned: features and channels change places, and taps their order.
static void symc_conv_turn_filters_fNN(const symc_conv *v, const real *w, real *filters) {
    const int64_t taps = v->taps;
    for (int64_t o = 0; o < v->features; o++)
        for (int64_t c = 0; c < v->channels; c++) {
            const real *from = w + o * v->elements + c * taps;
            real *to = filters + (c * v->features + o) * taps;
            for (int64_t k = 0; k < taps; k++) to[k] = from[taps - 1 - k];
        }
}

// SYMBOL symc_conv_turned_rows_fNN
// NEEDS symc_conv symc_conv_line_fNN symc_conv_offsets
// The inputs of a channel in rows of a vector or more, where every `step`-th row of the spread
// outputs has numbers: each row of inputs meets only those.
static void symc_conv_turned_rows_fNN(const symc_conv *turned, int64_t step, const real *spread,
                                      const real *filter, real *x) {
    const int64_t *const size = turned->size, rows = turned->count[1];
    const int64_t pitch = turned->stride[1], taps = size[1] * size[2];
    const int64_t dilation = turned->dilation[1] / pitch, before = (size[1] - 1) * dilation;
    int64_t all[SYMC_DEPTH], at[SYMC_DEPTH];
    real w[SYMC_DEPTH];
    symc_conv_offsets(size, turned->dilation, turned->plane, 0, turned->elements, all);
    for (int64_t phase = 0; phase < step && phase < rows; phase++) {
        int64_t depth = 0;
        for (int64_t e = 0; e < turned->elements; e++) {
            const int64_t row = phase + e % taps / size[2] * dilation - before;
            if (row % step) continue;
            at[depth] = all[e], w[depth++] = filter[e];
        }
        for (int64_t i = 0; i < turned->count[0]; i++)
            for (int64_t j = phase; j < rows; j += step)
                symc_conv_line_fNN(turned->count[2], depth, w,
                                   spread + i * turned->stride[0] + j * pitch, at,
                                   x + (i * rows + j) * turned->count[2]);
    }
}

// SYMBOL symc_conv_turned_job_fNN
// NEEDS symc_conv_flat_map_fNN symc_conv_flat_group_fNN symc_conv_outputs_job_fNN
// NEEDS symc_conv_lines_fNN symc_conv_offsets symc_conv_turned_rows_fNN
// The inputs of an image and a group, from outputs that are spread, and turned filters. `step`: more
// than 1 where only every `step`-th row of these is computed with.
static void symc_conv_turned_job_fNN(const symc_conv *turned, const symc_conv_flat *flat,
                                     int64_t step, const real *spread, const real *filters,
                                     real *x, real *room) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), MOST = 2 * SYMC_PANELS };
    const int64_t line = (turned->count[2] + V - 1) / V;
    const int64_t vectors = turned->count[0] * turned->count[1] * line;
    if (turned->features > 2 && turned->count[2] >= V) {
        for (int64_t from = 0; from < vectors; from += MOST)
            symc_conv_outputs_job_fNN(turned, spread, filters, x, from,
                                      vectors - from < MOST ? vectors - from : MOST, 1, 0);
    } else if (turned->features > 2) {
        symc_conv_flat_group_fNN(turned, flat, 0, spread, filters, x, room);
    } else if (step > 1) {
        for (int64_t c = 0; c < turned->features; c++)
            symc_conv_turned_rows_fNN(turned, step, spread, filters + c * turned->elements,
                                      x + c * turned->spots);
    } else if (flat->parts > 0) {
        int64_t at[SYMC_DEPTH];
        symc_conv_offsets(turned->size, turned->dilation, turned->plane, 0, turned->elements, at);
        for (int64_t c = 0; c < turned->features; c++)
            symc_conv_flat_map_fNN(turned, flat, at, spread, filters + c * turned->elements,
                                   x + c * turned->spots);
    } else
        symc_conv_lines_fNN(turned, spread, filters, x, 1);
}

// SYMBOL symc_conv_turns
// NEEDS symc_conv symc_conv_flat
// Whether inputs are to be computed so: zeros that lie between outputs take time, and turning many
// filters takes more than a few outputs do. `run`: for how many images they are turned.
static int symc_conv_turns(const symc_conv *v, const symc_conv *turned, const symc_conv_flat *flat,
                           int64_t width, int64_t waste, int64_t run) {
    enum { FEW = 32 };
    const int lines = turned->count[2] >= width || flat->parts > 0;
    if (v->spots < 1 || v->elements < 1 || turned->spots < 1 || !lines) return 0;
    if (v->channels < 3) return turned->elements <= SYMC_DEPTH && waste <= SYMC_WASTE;
    return waste == 1 && (v->features < FEW || (v->channels > 3 && v->spots * run >= 1024));
}

// SYMBOL symc_conv_inputs_turned_fNN
// NEEDS symc_conv_turned_job_fNN symc_conv_turned_of symc_conv_turns symc_conv_spread_fNN
// NEEDS symc_conv_turn_filters_fNN symc_conv_inputs_job_fNN malloc free
// All inputs, or 0 where that would not do: zeros times filters that are not finite would be NaN.
// A job is some images of a group, or of several.
static int symc_conv_inputs_turned_fNN(const symc_conv *v, const int64_t (*axes)[5], const real *y,
                                       const real *w, real *x, int64_t threads) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), RUN = 8 };
    const symc_conv turned = symc_conv_turned_of(v, axes);
    const int64_t line = axes[2][0] + (axes[2][1] - 1) * axes[2][4];
    const symc_conv_flat flat = symc_conv_flat_of(&turned, line, V);
    const int64_t total = v->images * v->groups, shared = threads > 1 ? total / (4 * threads) : RUN;
    const int64_t run = shared < 1 ? 1 : shared > RUN ? RUN : shared;
    const int64_t jobs = (total + run - 1) / run;
    const int64_t size = v->features * turned.plane, all = v->features * v->elements;
    const int64_t room = size + all + (v->channels > 2 ? SYMC_SOME * flat.length : 0) + V;
    const int many = threads > 1 && (double)total * v->features * v->spots * v->elements > 1e6;
    const int64_t step = v->channels < 3 && turned.count[2] >= 2 * V ? axes[1][3] : 1;
    const int64_t waste = axes[0][3] * axes[1][3] / step * axes[2][3];
    if (!symc_conv_turns(v, &turned, &flat, V, waste, run < v->images ? run : v->images)) return 0;
    int bad = 0;
    for (int64_t k = 0; k < v->groups * all; k++) bad |= !(w[k] - w[k] == 0);
    if (bad) return 0;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t job = 0; job < jobs; job++) {
        real *const spread = malloc((size_t)room * sizeof(real));
        int64_t before = -1;
        if (spread) __builtin_memset(spread, 0, (size_t)size * sizeof(real));
        for (int64_t place = total * job / jobs; place < total * (job + 1) / jobs; place++) {
            const int64_t group = place / v->images, image = place % v->images;
            const int64_t number = image * v->groups + group;
            const real *const outputs = y + number * v->features * v->spots;
            real *const to = x + number * v->channels * v->plane;
            if (!spread) {
                symc_conv_inputs_job_fNN(v, outputs, w + group * all, to, v->channels);
                continue;
            }
            if (group != before) symc_conv_turn_filters_fNN(v, w + group * all, spread + size);
            before = group;
            symc_conv_spread_fNN(v, &turned, axes, outputs, spread);
            symc_conv_turned_job_fNN(&turned, &flat, step, spread, spread + size, to,
                                     spread + size + all);
        }
        free(spread);
    }
    return 1;
}
