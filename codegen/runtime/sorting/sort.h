// Sorting rows of numbers, and searching in sorted ones.
//
// A number becomes a key: an unsigned integer in the order that NumPy sorts by, NaN last. Keys are
// shared out to equal ranges of their values, again and again, until few are left, which are sorted
// by insertion. This is stable, so places are sorted by it; values are by sortvalues.h. The number of
// threads does not matter. `kind` numbers the element type, as sorting/order.py does: bool, uint8,
// 16, 32, 64, int8, 16, 32, 64, float16, 32, 64.

// SYMBOL symc_sort_key
// The key of a float: its bits, turned so that they grow with it. `symc_sort_float` is the inverse.
static inline uint64_t symc_sort_key(double v) {
    uint64_t bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    return v != v ? ~0ull : bits >> 63 ? ~bits : bits | 1ull << 63;
}
static inline double symc_sort_float(uint64_t key) {
    const uint64_t bits = key >> 63 ? key ^ 1ull << 63 : ~key;
    double v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}

// SYMBOL symc_sort_encode
// NEEDS symc_sort_key
// The keys of a row. Descending, they are turned around. Where `zeros` are equal, -0.0 is 0.0.
#define SYMC_ENCODE(number, type, key)                                                             \
    case number:                                                                                   \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {                                      \
            const type v = ((const type *)x)[i];                                                   \
            keys[i] = (key) ^ turn;                                                                \
        }                                                                                          \
        break;
#define SYMC_ENCODE_FLOAT(number, type)                                                            \
    SYMC_ENCODE(number, type, symc_sort_key(zeros ? (double)v + 0.0 : (double)v))
#define SYMC_ENCODE_SIGNED(number, type) SYMC_ENCODE(number, type, (uint64_t)v ^ 1ull << 63)
static void symc_sort_encode(int64_t kind, int descending, int zeros, int64_t n, const void *x,
                             uint64_t *keys) {
    const uint64_t turn = descending ? ~0ull : 0;
    switch (kind) {
        SYMC_ENCODE(0, uint8_t, v)
        SYMC_ENCODE(1, uint8_t, v)
        SYMC_ENCODE(2, uint16_t, v)
        SYMC_ENCODE(3, uint32_t, v)
        SYMC_ENCODE(4, uint64_t, v)
        SYMC_ENCODE_SIGNED(5, int8_t)
        SYMC_ENCODE_SIGNED(6, int16_t)
        SYMC_ENCODE_SIGNED(7, int32_t)
        SYMC_ENCODE_SIGNED(8, int64_t)
        SYMC_ENCODE_FLOAT(9, _Float16)
        SYMC_ENCODE_FLOAT(10, float)
        SYMC_ENCODE_FLOAT(11, double)
    }
}

// SYMBOL symc_pile
// Keys, and with them if `order` is not 0 their positions: where they came from.
typedef struct symc_pile {
    uint64_t *keys;
    int64_t *order;
} symc_pile;

// SYMBOL symc_sort_few
// NEEDS symc_pile
// By insertion, from `a` into `to`, which may be `a`: for few keys, or where none has far to go.
static void symc_sort_few(symc_pile a, symc_pile to, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = a.keys[i];
        const int64_t place = a.order ? a.order[i] : 0;
        int64_t j = i;
        for (; j > 0 && to.keys[j - 1] > key; j--) {
            to.keys[j] = to.keys[j - 1];
            if (a.order) to.order[j] = to.order[j - 1];
        }
        to.keys[j] = key;
        if (a.order) to.order[j] = place;
    }
}

// SYMBOL symc_ranges
// NEEDS symc_sort_key symc_pile
// Ranges of keys. `scale` is not 0 where they are equal as floats, from `low` to the key `last`: so
// most data are shared out well. Else they are equal as keys, which takes any data apart soon.
typedef struct symc_ranges {
    uint64_t least, most, first, last;
    double low, scale;
    int shift;
    int64_t count;
} symc_ranges;

static inline int64_t symc_range_of(const symc_ranges *ranges, uint64_t key) {
    if (ranges->scale == 0) return (int64_t)((key - ranges->least) >> ranges->shift);
    const double at = (symc_sort_float(key) * 0.5 - ranges->low) * ranges->scale;
    if (key <= ranges->first) return 0;
    return key >= ranges->last ? ranges->count - 1 : (int64_t)at;
}

// SYMBOL symc_ranges_for
// NEEDS symc_ranges
// Ranges for a pile, so many that few keys should be in each, but 2048 at most. Floats that are not
// finite are in the first or the last.
static symc_ranges symc_ranges_for(symc_pile a, int64_t n, int floats) {
    const uint64_t lowest = symc_sort_key(-1.7976931348623157e308), highest = ~lowest;
    symc_ranges found = {~0ull, 0, ~0ull, 0, 0, 0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = a.keys[i];
        found.least = key < found.least ? key : found.least;
        found.most = key > found.most ? key : found.most;
    }
    if (found.least == found.most) return found;
    const int wide = 64 - __builtin_clzll(found.most - found.least);
    const int wanted = 62 - __builtin_clzll((uint64_t)n), bits = wanted < 11 ? wanted : 11;
    if (floats > 0) {
        found.first = found.least < lowest ? lowest : found.least;
        found.last = found.most > highest ? highest : found.most;
        const double low = symc_sort_float(found.first) * 0.5;
        const double width = symc_sort_float(found.last) * 0.5 - low;
        found.count = (int64_t)1 << bits;
        found.low = low;
        found.scale = width > 1e-290 && found.first < found.last ? (double)(found.count - 1) / width : 0;
    }
    if (found.scale == 0) {
        found.shift = wide > bits ? wide - bits : 0;
        found.count = (int64_t)((found.most - found.least) >> found.shift) + 1;
    }
    return found;
}

// SYMBOL symc_sort_part
// NEEDS symc_ranges
// Part of a row, from `start` to `end`: counts in which of the ranges its keys are, or moves them
// from `a` to `b`, where `places` has the next free place of each range.
static void symc_sort_count(symc_pile a, int64_t start, int64_t end, symc_ranges ranges,
                            int64_t *counts) {
    for (int64_t i = start; i < end; i++) counts[symc_range_of(&ranges, a.keys[i])]++;
}
static void symc_sort_move(symc_pile a, symc_pile b, int64_t start, int64_t end,
                           symc_ranges ranges, int64_t *places) {
    for (int64_t i = start; i < end; i++) {
        const uint64_t key = a.keys[i];
        const int64_t place = places[symc_range_of(&ranges, key)]++;
        b.keys[place] = key;
        if (a.order) b.order[place] = a.order[i];
    }
}

// SYMBOL symc_sort_pile
// NEEDS symc_sort_few symc_sort_part symc_ranges_for
// Sorts `a`, with `b` to work in, and leaves the result in `b` where `over`, else in `a`. The keys
// move to the other pile by the range that they are in, and each range is sorted by itself. Ranges
// are of keys, or in turn of floats where `floats` is 1, and of keys where it is -1. If there are few
// keys in each, no key has far to go. Threads first take parts of the row, whose keys go to a range
// in the order of the parts, and then ranges.
static void symc_sort_pile(symc_pile a, symc_pile b, int64_t n, int over, int floats,
                           int64_t threads) {
    if (n <= 16) {
        symc_sort_few(a, over ? b : a, n);
        return;
    }
    const symc_ranges ranges = symc_ranges_for(a, n, floats);
    if (ranges.least == ranges.most) {
        if (!over) return;
        __builtin_memcpy(b.keys, a.keys, (size_t)n * sizeof *b.keys);
        if (a.order) __builtin_memcpy(b.order, a.order, (size_t)n * sizeof *b.order);
        return;
    }
    const int64_t parts = n < 65536 || threads < 2 ? 1 : threads < 16 ? threads : 16;
    int64_t places[parts][ranges.count], total = 0, fullest = 0;
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
    for (int64_t part = 0; part < parts; part++) {
        __builtin_memset(places[part], 0, sizeof places[0]);
        symc_sort_count(a, n * part / parts, n * (part + 1) / parts, ranges, places[part]);
    }
    for (int64_t range = 0; range < ranges.count; range++) {
        const int64_t before = total;
        for (int64_t part = 0; part < parts; part++) {
            const int64_t count = places[part][range];
            places[part][range] = total;
            total += count;
        }
        fullest = total - before > fullest ? total - before : fullest;
    }
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
    for (int64_t part = 0; part < parts; part++)
        symc_sort_move(a, b, n * part / parts, n * (part + 1) / parts, ranges, places[part]);
    if (fullest <= 16) {
        symc_sort_few(b, over ? b : a, n);
        return;
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(parts) if (parts > 1)
    for (int64_t range = 0; range < ranges.count; range++) {
        const int64_t start = range ? places[parts - 1][range - 1] : 0;
        const int64_t count = places[parts - 1][range] - start;
        const symc_pile here = {b.keys + start, a.order ? b.order + start : 0};
        const symc_pile there = {a.keys + start, a.order ? a.order + start : 0};
        if (count) symc_sort_pile(here, there, count, !over, -floats, 1);
    }
}

// SYMBOL symc_sort_rows
// NEEDS symc_pile
// The bytes of an element, and whether threads take a row each.
static inline int64_t symc_sort_bytes(int64_t kind) {
    static const char bytes[12] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
    return bytes[kind];
}
static inline int symc_sort_many(int64_t rows, int64_t n, int64_t threads) {
    return threads > 1 && rows >= threads && rows * n >= 16384;
}

// SYMBOL symc_argsort
// NEEDS symc_sort_pile symc_sort_encode symc_sort_rows
// For each row of x the places of its elements in sorted order; equal ones stay as they are.
// `room` has place for three numbers of 64 bits for each element.
static void symc_argsort(int64_t kind, int64_t descending, int64_t rows, int64_t n, const void *x,
                         int64_t *out, uint64_t *room, int64_t threads) {
    const int64_t row = n * symc_sort_bytes(kind);
    const int many = symc_sort_many(rows, n, threads);
#pragma omp parallel for schedule(static) num_threads(threads) if (many)
    for (int64_t r = 0; r < rows; r++) {
        uint64_t *own = room + 3 * r * n;
        const symc_pile a = {own, out + r * n}, b = {own + n, (int64_t *)own + 2 * n};
        symc_sort_encode(kind, (int)descending, 1, n, (const char *)x + r * row, own);
        for (int64_t i = 0; i < n; i++) a.order[i] = i;
        symc_sort_pile(a, b, n, 0, kind > 8, many ? 1 : threads);
    }
}

// SYMBOL symc_row_order
// NEEDS symc_sort_encode
// The order of whole rows x[n, m]: by their first elements, where these are equal by the second, and
// so on; equal rows stay as they are. Runs that are in order are merged, two at a time. `room` has
// place for n (m + 1) numbers of 64 bits.
static inline int symc_row_before(const uint64_t *one, const uint64_t *other, int64_t m) {
    for (int64_t k = 0; k < m; k++)
        if (one[k] != other[k]) return one[k] < other[k];
    return 0;
}
static void symc_row_order(int64_t kind, int64_t n, int64_t m, const void *x, int64_t *out,
                           uint64_t *room, int64_t threads) {
    int64_t *order = out, *merged = (int64_t *)room + n * m;
    (void)threads;
    symc_sort_encode(kind, 0, 1, n * m, x, room);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t start = 0; start < n; start += 2 * run) {
            const int64_t middle = start + run < n ? start + run : n;
            const int64_t end = middle + run < n ? middle + run : n;
            int64_t i = start, j = middle;
            for (int64_t k = start; k < end; k++) {
                const int second = i == middle || (j < end && symc_row_before(room + order[j] * m,
                                                                              room + order[i] * m, m));
                merged[k] = second ? order[j++] : order[i++];
            }
        }
        int64_t *const sorted = merged;
        merged = order, order = sorted;
    }
    if (order != out) __builtin_memcpy(out, order, (size_t)n * sizeof *out);
}

// SYMBOL symc_topmost
// NEEDS symc_sort_pile symc_sort_encode symc_sort_rows SYMC_FOLDS
// For each row of x the places of its first `count` elements in sorted order; of equal ones the
// first come first; where there are fewer, the rest are 0. A pile takes the keys that are below the
// last of those chosen so far, and is sorted when it is full. `room` has place for four numbers of
// 64 bits for each of a pile's keys. If only a few are wanted, they are kept in order instead.
#define SYMC_TOPMOST_BLOCK 128
#define SYMC_TOPMOST_FEW 16
#define SYMC_TOPMOST_SCAN 512
// Whether any of some elements may come before the one at `limit`. They are compared as they are,
// which takes less than making keys of them; NaN, and what has no case here, may always come before.
#define SYMC_BEYOND(number, type, lane)                                                            \
    case 2 * number: {                                                                             \
        lane hit = 0;                                                                              \
        const type last = *(const type *)limit;                                                    \
        _Pragma("omp simd reduction(| : hit)") for (int64_t i = 0; i < n; i++)                     \
            hit |= -(lane)!(((const type *)x)[i] >= last);                                         \
        return hit != 0;                                                                           \
    }                                                                                              \
    case 2 * number + 1: {                                                                         \
        lane hit = 0;                                                                              \
        const type last = *(const type *)limit;                                                    \
        _Pragma("omp simd reduction(| : hit)") for (int64_t i = 0; i < n; i++)                     \
            hit |= -(lane)!(((const type *)x)[i] <= last);                                         \
        return hit != 0;                                                                           \
    }
static __attribute__((noinline)) int SYMC_FOLDS symc_topmost_beyond(int64_t kind, int descending,
                                                                    int64_t n, const void *x,
                                                                    const void *limit) {
    switch (2 * kind + (descending != 0)) {
        SYMC_BEYOND(7, int32_t, int32_t)
        SYMC_BEYOND(8, int64_t, int64_t)
        SYMC_BEYOND(10, float, int32_t)
        SYMC_BEYOND(11, double, int64_t)
    }
    return 1;
}
static void symc_topmost_few(int64_t kind, int descending, int64_t n, int64_t count, const char *x,
                             int64_t *out) {
    const int64_t bytes = symc_sort_bytes(kind);
    uint64_t block[SYMC_TOPMOST_BLOCK], chosen[SYMC_TOPMOST_FEW];
    int64_t held = 0;
    for (int64_t i = 0; i < count; i++) out[i] = 0;
    for (int64_t start = 0; start < n; start += SYMC_TOPMOST_BLOCK) {
        const int64_t left = n - start, size = left < SYMC_TOPMOST_BLOCK ? left : SYMC_TOPMOST_BLOCK;
        const int64_t scan = left < SYMC_TOPMOST_SCAN ? left : SYMC_TOPMOST_SCAN;
        const char *const here = x + start * bytes;
        if (held == count) {
            const char *const limit = x + out[count - 1] * bytes;
            if (!symc_topmost_beyond(kind, descending, scan, here, limit)) {
                start += scan - SYMC_TOPMOST_BLOCK;
                continue;
            }
            if (!symc_topmost_beyond(kind, descending, size, here, limit)) continue;
        }
        symc_sort_encode(kind, descending, 1, size, here, block);
        for (int64_t part = 0; part < size; part += 32) {
            const int64_t end = size - part < 32 ? size : part + 32;
            if (held == count) {
                const uint64_t limit = chosen[count - 1];
                int64_t below = 0;
#pragma omp simd reduction(| : below)
                for (int64_t i = part; i < end; i++) below |= -(int64_t)(block[i] < limit);
                if (!below) continue;
            }
            for (int64_t i = part; i < end; i++) {
                const uint64_t key = block[i];
                if (held == count && key >= chosen[count - 1]) continue;
                int64_t place = held < count ? held++ : count - 1;
                for (; place > 0 && chosen[place - 1] > key; place--) {
                    chosen[place] = chosen[place - 1];
                    out[place] = out[place - 1];
                }
                chosen[place] = key;
                out[place] = start + i;
            }
        }
    }
}
static inline int64_t symc_topmost_choose(symc_pile a, symc_pile b, int64_t held, int64_t count,
                                          int floats) {
    symc_sort_pile(a, b, held, 0, floats, 1);
    return held < count ? held : count;
}
static void symc_topmost_row(int64_t kind, int descending, int64_t n, int64_t count, const char *x,
                             int64_t *out, uint64_t *room) {
    const int64_t most = 2 * count + 2 * SYMC_TOPMOST_BLOCK, bytes = symc_sort_bytes(kind);
    const symc_pile a = {room, (int64_t *)room + most};
    const symc_pile b = {room + 2 * most, (int64_t *)room + 3 * most};
    int64_t held = 0, chosen = 0;  // whether `limit` is one
    uint64_t block[SYMC_TOPMOST_BLOCK], limit = 0;
    for (int64_t start = 0; start < n; start += SYMC_TOPMOST_BLOCK) {
        const int64_t left = n - start, size = left < SYMC_TOPMOST_BLOCK ? left : SYMC_TOPMOST_BLOCK;
        int64_t below = 0;
        const char *const here = x + start * bytes;
        if (chosen && !symc_topmost_beyond(kind, descending, size, here,
                                           x + a.order[count - 1] * bytes))
            continue;
        symc_sort_encode(kind, descending, 1, size, here, block);
#pragma omp simd reduction(+ : below)
        for (int64_t i = 0; i < size; i++) below += block[i] < limit;
        if (chosen && !below) continue;
        for (int64_t i = 0; i < size; i++) {
            a.keys[held] = block[i];
            a.order[held] = start + i;
            held += !chosen | (block[i] < limit);
        }
        if (held + SYMC_TOPMOST_BLOCK < most) continue;
        held = symc_topmost_choose(a, b, held, count, kind > 8);
        chosen = held == count;
        if (chosen) limit = a.keys[count - 1];
    }
    held = symc_topmost_choose(a, b, held, count, kind > 8);
    for (int64_t i = 0; i < count; i++) out[i] = i < held ? a.order[i] : 0;
}
static void symc_topmost(int64_t kind, int64_t descending, int64_t rows, int64_t n, int64_t count,
                         const void *x, int64_t *out, uint64_t *room, int64_t threads) {
    const int64_t row = n * symc_sort_bytes(kind), own = 8 * (count + SYMC_TOPMOST_BLOCK);
    if (!count) return;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && rows * n >= 16384)
    for (int64_t r = 0; r < rows; r++) {
        const char *const from = (const char *)x + r * row;
        int64_t *const to = out + r * count;
        if (count <= SYMC_TOPMOST_FEW) symc_topmost_few(kind, (int)descending, n, count, from, to);
        else symc_topmost_row(kind, (int)descending, n, count, from, to, room + r * own);
    }
}

// SYMBOL SYMC_DEFINE_SEARCH
// For each value the place in a sorted row before which it belongs: before equal elements, or after
// them where `right`. NaN is greater than all numbers. Some values at once halve the part of the row
// that is left, none waiting for another's element, and without a branch that could be mistaken.
// One value, as in a step of a loop, does so by itself.
#define SYMC_SEARCHES 16
#define SYMC_DEFINE_SEARCH(name, type)                                                             \
    SYMC_INLINE int name##_before(const int right, type m, type v) {                               \
        return right ? !((v < m) | ((m != m) & (v == v))) : (m < v) | ((v != v) & (m == m));       \
    }                                                                                              \
    SYMC_INLINE void name##_few(const int right, int64_t n, int64_t few, const type *a,            \
                                const type *x, int64_t *places) {                                  \
        type v[SYMC_SEARCHES];                                                                     \
        int64_t low[SYMC_SEARCHES];                                                                \
        for (int64_t k = 0; k < SYMC_SEARCHES; k++) v[k] = x[k < few ? k : few - 1];               \
        for (int64_t k = 0; k < SYMC_SEARCHES; k++) low[k] = 0;                                    \
        for (int64_t rest = n; rest > 0;) {                                                        \
            const int64_t half = (rest + 1) / 2;                                                   \
            _Pragma("omp simd") for (int64_t k = 0; k < SYMC_SEARCHES; k++)                        \
                low[k] += half & -(int64_t)name##_before(right, a[low[k] + half - 1], v[k]);       \
            rest -= half;                                                                          \
        }                                                                                          \
        for (int64_t k = 0; k < few; k++) places[k] = low[k];                                      \
    }                                                                                              \
    SYMC_INLINE int64_t name##_one(const int right, int64_t n, const type *a, type v) {            \
        int64_t low = 0;                                                                           \
        for (int64_t rest = n; rest > 0;) {                                                        \
            const int64_t half = (rest + 1) / 2;                                                   \
            low += half & -(int64_t)name##_before(right, a[low + half - 1], v);                    \
            rest -= half;                                                                          \
        }                                                                                          \
        return low;                                                                                \
    }                                                                                              \
    static void name(int64_t right, int64_t n, int64_t count, const type *a, const type *x,        \
                     int64_t *places, int64_t threads) {                                           \
        if (count == 1) {                                                                          \
            places[0] = right ? name##_one(1, n, a, x[0]) : name##_one(0, n, a, x[0]);             \
            return;                                                                                \
        }                                                                                          \
        _Pragma("omp parallel for num_threads(threads) if (threads > 1 && count >= 16384)")        \
        for (int64_t i = 0; i < count; i += SYMC_SEARCHES) {                                       \
            const int64_t few = count - i < SYMC_SEARCHES ? count - i : SYMC_SEARCHES;             \
            if (right) name##_few(1, n, few, a, x + i, places + i);                                \
            else name##_few(0, n, few, a, x + i, places + i);                                      \
        }                                                                                          \
    }

// SYMBOL symc_searchsorted_u64
// NEEDS SYMC_DEFINE_SEARCH
SYMC_DEFINE_SEARCH(symc_searchsorted_u64, uint64_t)

// SYMBOL symc_searchsorted_i64
// NEEDS SYMC_DEFINE_SEARCH
SYMC_DEFINE_SEARCH(symc_searchsorted_i64, int64_t)

// SYMBOL symc_searchsorted_f32
// NEEDS SYMC_DEFINE_SEARCH
SYMC_DEFINE_SEARCH(symc_searchsorted_f32, float)

// SYMBOL symc_searchsorted_f64
// NEEDS SYMC_DEFINE_SEARCH
SYMC_DEFINE_SEARCH(symc_searchsorted_f64, double)
