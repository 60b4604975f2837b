// Where the elements are that convolutions multiply (conv.h): of windows in the inputs, of vectors of
// outputs.

// SYMBOL symc_conv_offsets
// Where numbers from `start` on are, that count three axes with these steps; after them comes the
// next channel.
static void symc_conv_offsets(const int64_t *axes, const int64_t *steps, int64_t plane,
                              int64_t start, int64_t count, int64_t *at) {
    const int64_t row = start / axes[2], whole = axes[0] * axes[1];
    int64_t i = row / axes[1] % axes[0], j = row % axes[1], k = start % axes[2];
    int64_t base = row / whole * plane;
    for (int64_t number = 0; number < count; number++) {
        at[number] = base + i * steps[0] + j * steps[1] + k * steps[2];
        if (++k < axes[2]) continue;
        k = 0;
        if (++j < axes[1]) continue;
        j = 0;
        if (++i < axes[0]) continue;
        i = 0;
        base += plane;
    }
}

// SYMBOL symc_conv_of
// NEEDS symc_conv
static inline symc_conv symc_conv_of(int64_t images, int64_t groups, int64_t channels,
                                     int64_t features, const int64_t (*axes)[5]) {
    symc_conv v = {.images = images, .groups = groups, .channels = channels, .features = features};
    int64_t line = 1;
    v.taps = v.spots = 1;
    for (int axis = 2; axis >= 0; axis--) {
        v.size[axis] = axes[axis][1];
        v.count[axis] = axes[axis][2];
        v.stride[axis] = axes[axis][3] * line;
        v.dilation[axis] = axes[axis][4] * line;
        line *= axes[axis][0];
        v.taps *= v.size[axis];
        v.spots *= v.count[axis];
    }
    v.plane = line;
    v.elements = channels * v.taps;
    return v;
}

// SYMBOL symc_conv_places
// NEEDS symc_conv symc_conv_offsets
// Vectors of `width` outputs, which stand in lines: where they are in y, where their windows begin
// in x, and which of their lanes count. Where the last one of a line would go beyond its end, it
// begins earlier, and its first lanes are those of the one before.
typedef struct symc_conv_place {
    int64_t x, y, begin, end;
} symc_conv_place;

static void symc_conv_places(const symc_conv *v, int64_t line, int64_t width, int64_t from,
                             int64_t count, symc_conv_place *places) {
    const int64_t across = (line + width - 1) / width;
    int64_t row = from / across, begin = from % across * width, base = -1;
    for (int64_t j = 0; j < count; j++) {
        const int64_t start = begin + width <= line ? begin : line < width ? 0 : line - width;
        places[j].y = row * line + start;
        places[j].begin = begin - start;
        places[j].end = line < width ? line : width;
        if (line != v->count[2])
            symc_conv_offsets(v->count, v->stride, 0, places[j].y, 1, &places[j].x);
        else if (base < 0)
            symc_conv_offsets(v->count, v->stride, 0, row * line, 1, &base);
        if (line == v->count[2]) places[j].x = base + start * v->stride[2];
        begin += width;
        if (begin < line) continue;
        begin = 0, row++, base = -1;
    }
}
