// Convolutions of few features whose windows are more than one element apart (conv.h): the inputs
// are sorted by their remainders, so that what an element of a filter meets lies side by side.

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
// The elements of a row, two vectors or longer, with even numbers and with odd ones.
static void symc_conv_halves_fNN(const real *from, int64_t length, real *even, real *odd) {
    enum { V = SYMC_LANE_BYTES / sizeof(real) };
    const int64_t half = length / 2;
    if (length % 2) even[half] = from[length - 1];
    for (int64_t k = 0; k < half; k += V) {
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
        for (int64_t k = 0; k < size; k++) room[k] = 0;
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
