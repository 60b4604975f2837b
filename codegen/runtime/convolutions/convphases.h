// Convolutions whose windows are more than one element apart (conv.h): the inputs are sorted by
// their remainders, so that what an element of a filter meets lies side by side.

// SYMBOL symc_conv_phased
// Whether sorting takes less time than to compute what lies between two outputs: every other
// element of long rows is a shuffle of two vectors.
static inline int symc_conv_phased(const int64_t (*axes)[5], int64_t width) {
    return axes[2][3] == 2 && axes[2][0] >= 2 * width;
}

// SYMBOL symc_conv_phases_of
// NEEDS symc_conv
// The convolution of sorted inputs. `at`: where they are that the elements of a filter meet.
static symc_conv symc_conv_phases_of(const symc_conv *v, const int64_t (*axes)[5], int64_t *at) {
    symc_conv sorted = *v;
    int64_t size = 1, phases = 1, pitch[3];
    for (int axis = 2; axis >= 0; axis--) {
        sorted.dilation[axis] = 0;  // no distance is that of all elements
        pitch[axis] = sorted.stride[axis] = size;
        size *= (axes[axis][0] + axes[axis][3] - 1) / axes[axis][3];
        phases *= axes[axis][3];
    }
    sorted.plane = size * phases;
    for (int64_t e = 0; e < v->elements; e++) {
        int64_t rest = e, place = 0, phase = 0, step = 1;
        for (int axis = 2; axis >= 0; axis--) {
            const int64_t far = rest % v->size[axis] * axes[axis][4], stride = axes[axis][3];
            rest /= v->size[axis];
            place += far / stride * pitch[axis];
            phase += far % stride * step;
            step *= stride;
        }
        at[e] = rest * sorted.plane + phase * size + place;
    }
    return sorted;
}

// SYMBOL symc_conv_halves_fNN
// NEEDS symc_shuffles_fNN
// The elements of a row with even numbers and with odd ones. Shorter ones than two vectors go in
// halves of these, which gcc shuffles.
static void symc_conv_halves_fNN(const real *from, int64_t length, real *even, real *odd) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), SHORT = V / 2 };
    const int64_t half = length / 2;
    if (length % 2) even[half] = from[length - 1];
    for (int64_t k = 0; half < V && k < half; k += SHORT) {
        const int64_t at = k + SHORT <= half || half < SHORT ? k : half - SHORT;
        const real *const pairs = from + 2 * at;
        if (half < SHORT)
            for (int64_t l = 0; l < half; l++) even[l] = pairs[2 * l], odd[l] = pairs[2 * l + 1];
        else
            _Pragma("omp simd")
            for (int64_t l = 0; l < SHORT; l++) {
                even[at + l] = pairs[2 * l];
                odd[at + l] = pairs[2 * l + 1];
            }
    }
    for (int64_t k = 0; half >= V && k < half; k += V) {
        const int64_t at = k + V <= half ? k : half - V;  // the last ones, some of them again
        symc_lanes_fNN one, two;
        symc_split_lanes_fNN(from + 2 * at, &one, &two);
        *(symc_lanes_fNN *)(even + at) = one;
        *(symc_lanes_fNN *)(odd + at) = two;
    }
}

// SYMBOL symc_conv_sort_fNN
// NEEDS symc_conv symc_conv_halves_fNN
// Sorts the inputs of an image and a group, whose last stride is 2.
static void symc_conv_sort_fNN(const symc_conv *v, const symc_conv *sorted,
                               const int64_t (*axes)[5], const real *x, real *to) {
    const int64_t s0 = axes[0][3], s1 = axes[1][3], length = axes[2][0];
    const int64_t size = sorted->plane / (s0 * s1 * 2);
    for (int64_t c = 0; c < v->channels; c++)
        for (int64_t i = 0; i < axes[0][0]; i++) {
            real *plane = to + c * sorted->plane + i % s0 * s1 * 2 * size +
                          i / s0 * sorted->stride[0];
            const real *from = x + c * v->plane + i * axes[1][0] * length;
            for (int64_t j = 0, phase = 0, line = 0; j < axes[1][0]; j++, from += length) {
                real *row = plane + phase * 2 * size + line * sorted->stride[1];
                if (++phase == s1) phase = 0, line++;
                symc_conv_halves_fNN(from, length, row, row + size);
            }
        }
}

// SYMBOL symc_conv_outputs_phases_fNN
// NEEDS symc_conv_phased symc_conv_phases_of symc_conv_sort_fNN symc_conv_flat_map_fNN
// NEEDS malloc free
// All outputs of one or two features of a group, or 0 where lines would not do.
static int symc_conv_outputs_phases_fNN(const symc_conv *v, const int64_t (*axes)[5],
                                        const real *x, const real *w, real *y, int64_t threads) {
    enum { V = SYMC_LANE_BYTES / sizeof(real), RUN = 8 };
    int64_t at[SYMC_DEPTH];
    if (!symc_conv_phased(axes, V) || v->features > 2 || v->elements > SYMC_DEPTH) return 0;
    const symc_conv sorted = symc_conv_phases_of(v, axes, at);
    const symc_conv_flat flat = symc_conv_flat_of(&sorted, sorted.stride[1], V);
    const int64_t total = v->images * v->groups, size = v->channels * sorted.plane;
    const int64_t jobs = (total + RUN - 1) / RUN;
    const int many = threads > 1 && (double)total * v->spots * (double)v->elements > 1e6;
    int failed = 0;
    if (flat.parts < 1) return 0;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t job = 0; job < jobs; job++) {
        real *const room = malloc((size_t)size * sizeof(real));
        if (!room) {
            _Pragma("omp atomic write")
            failed = 1;
            continue;
        }
        __builtin_memset(room, 0, (size_t)size * sizeof(real));
        for (int64_t map = total * job / jobs; map < total * (job + 1) / jobs; map++) {
            symc_conv_sort_fNN(v, &sorted, axes, x + map * v->channels * v->plane, room);
            for (int64_t f = 0; f < v->features; f++)
                symc_conv_flat_map_fNN(&sorted, &flat, at, room,
                                       w + (map % v->groups * v->features + f) * v->elements,
                                       y + (map * v->features + f) * v->spots);
        }
        free(room);
    }
    return !failed;
}

// SYMBOL symc_conv_pairs
// NEEDS symc_conv_flat
// How many pairs of vectors of `width` the lines of a feature's outputs have; none if there are no
// lines.
static inline int64_t symc_conv_pairs(const symc_conv *v, const symc_conv_flat *flat,
                                      int64_t width) {
    return v->count[0] * flat->parts * flat->cuts * ((flat->length + 2 * width - 1) / (2 * width));
}

// SYMBOL symc_conv_sorted_pays
// NEEDS symc_conv_pairs symc_conv_height
// Whether to sort the inputs of a group of some features takes less time than to gather them for
// two vectors at a time, or to compute what lies between two outputs. In steps of a tile's row.
static inline int symc_conv_sorted_pays(const symc_conv *v, const symc_conv_flat *sorted,
                                        const symc_conv_flat *flat, int64_t width) {
    enum { QUICK = 4 };  // elements that are sorted in such a step
    const int64_t height = symc_conv_height(v->features);
    const int64_t each = (v->features + height - 1) / height * height, gather = 3 * width / 2;
    const int64_t gathered = (v->spots + 2 * width - 1) / (2 * width);
    const int64_t time = v->plane / QUICK + v->taps * each * symc_conv_pairs(v, sorted, width);
    return sorted->parts > 0 && time < v->taps * gathered * (each + gather) &&
           (flat->parts < 1 || time < v->taps * each * symc_conv_pairs(v, flat, width));
}

// SYMBOL symc_conv_outputs_sorted_fNN
// NEEDS symc_conv_phases_of symc_conv_sorted_pays symc_conv_sort_fNN symc_conv_flat_group_fNN
// NEEDS malloc free
// All outputs of groups of more features, or 0 where that would not do. A job is an image and a
// group.
static int symc_conv_outputs_sorted_fNN(const symc_conv *v, const int64_t (*axes)[5],
                                        const real *x, const real *w, real *y, int64_t threads) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t maps = v->images * v->groups;
    const int many = threads > 1 && (double)maps * v->features * v->spots * v->elements > 1e6;
    if (axes[2][3] != 2 || v->features < 3 || (many && maps < threads)) return 0;
    int64_t *const at = malloc((size_t)v->elements * sizeof(int64_t));
    if (!at) return 0;
    const symc_conv sorted = symc_conv_phases_of(v, axes, at);
    const symc_conv_flat flat = symc_conv_flat_of(&sorted, sorted.stride[1], V);
    const symc_conv_flat between = symc_conv_flat_of(v, axes[2][0], V);
    const int64_t size = v->channels * sorted.plane, lines = SYMC_SOME * flat.length + V;
    int failed = !symc_conv_sorted_pays(v, &flat, &between, V), uneven = 0;
    for (int axis = 0; axis < 3; axis++) uneven |= axes[axis][0] % axes[axis][3] != 0;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t map = 0; map < (failed ? 0 : maps); map++) {
        real *const room = malloc((size_t)(size + lines) * sizeof(real));
        if (room) {
            if (uneven) __builtin_memset(room, 0, (size_t)size * sizeof(real));
            symc_conv_sort_fNN(v, &sorted, axes, x + map * v->channels * v->plane, room);
            symc_conv_flat_group_fNN(&sorted, &flat, at, room,
                                     w + map % v->groups * v->features * v->elements,
                                     y + map * v->features * v->spots, room + size);
        } else {
            _Pragma("omp atomic write")
            failed = 1;
        }
        free(room);
    }
    free(at);
    return !failed;
}
