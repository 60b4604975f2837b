// Sorting the values of rows, where it does not matter which of equal numbers is which.
//
// A number becomes a key: an integer in the order that NumPy sorts by, of 32 bits (names in _f32)
// or of 64 (names in _f64). Keys are shared out to those below a pivot and the others, again and
// again, many at once: quicksort. Few keys go through a network that compares the same places
// whatever they hold. `kind` numbers the element type, as in sort.h.

// SYMBOL symc_sort_orders
// NEEDS SYMC_ORDERED
// For each set of lanes the order that puts them before the others, eight words at a time. A set of
// `lanes` bits stands for as many lanes, each of 8 / lanes words.
static const symc_sort_words *symc_sort_orders(int lanes) {
    static symc_sort_words orders[2][256];
    static int filled[2];
    symc_sort_words *found = orders[lanes == 8];
    if (__atomic_load_n(&filled[lanes == 8], __ATOMIC_ACQUIRE)) return found;
    const int words = 8 / lanes;
    for (int set = 0; set < 1 << lanes; set++) {
        int *next = (int *)&found[set];
        for (int in = 1; in >= 0; in--)
            for (int word = 0; word < 8; word++)
                if ((set >> word / words & 1) == in) __atomic_store_n(next++, word, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&filled[lanes == 8], 1, __ATOMIC_RELEASE);
    return found;
}

// SYMBOL symc_below_f32
// NEEDS symc_key_f32
#if defined(__AVX2__)
// A vector of 32 bytes, which instructions divide in less time than one of 64, and the set of its
// lanes that are below a pivot.
typedef int32_t symc_divided_f32 __attribute__((vector_size(32), aligned(4), may_alias));
static inline unsigned symc_below_f32(const symc_divided_f32 *keys, symc_key_f32 pivot) {
    typedef float floats __attribute__((vector_size(32)));
    return (unsigned)__builtin_ia32_movmskps256((floats)(*keys < pivot));
}
#endif

// SYMBOL symc_below_f64
// NEEDS symc_key_f64
#if defined(__AVX2__)
// A vector of 32 bytes, which instructions divide in less time than one of 64, and the set of its
// lanes that are below a pivot.
typedef int64_t symc_divided_f64 __attribute__((vector_size(32), aligned(8), may_alias));
static inline unsigned symc_below_f64(const symc_divided_f64 *keys, symc_key_f64 pivot) {
    typedef double doubles __attribute__((vector_size(32)));
    return (unsigned)__builtin_ia32_movmskpd256((doubles)(*keys < pivot));
}
#endif

// SYMBOL symc_divide_fNN
// NEEDS SYMC_ORDERED symc_below_fNN symc_sort_orders
// Moves the keys below a pivot to the start of b and the others to its end; returns how many are
// below. A vector goes to both ends whole, with those below in front: the excess is
// overwritten by the next ones, as there is room for just the keys that are left.
static int64_t symc_divide_fNN(const symc_key_fNN *a, symc_key_fNN *b, int64_t n,
                               symc_key_fNN pivot) {
    const symc_key_fNN *end = a + n;
    symc_key_fNN *next = b;
    int64_t left = n;
#if defined(__AVX2__)
    enum { LANES = 32 / sizeof(real) };
    const symc_sort_words *orders = symc_sort_orders(LANES);
#else
    enum { LANES = 1 };
#endif
    for (; LANES > 1 ? left % LANES : left; left--) {
        const symc_key_fNN key = end[-left];
        next[0] = key;
        next[left - 1] = key;
        next += key < pivot;
    }
#if defined(__AVX2__)
    for (; left > 0; left -= LANES) {
        const symc_divided_fNN *keys = (const symc_divided_fNN *)(end - left);
        const unsigned below = symc_below_fNN(keys, pivot);
        const symc_divided_fNN divided = (symc_divided_fNN)__builtin_ia32_permvarsi256(
            (symc_sort_words)*keys, orders[below]);
        *(symc_divided_fNN *)next = divided;
        *(symc_divided_fNN *)(next + left - LANES) = divided;
        next += (unsigned)__builtin_popcount(below);
    }
#endif
    return next - b;
}

// SYMBOL symc_pivot_fNN
// NEEDS symc_network_fNN
// A key that is likely to be near the middle: the median of three medians, or of eight vectors from
// places that no data are made for.
static inline symc_key_fNN symc_median_fNN(symc_key_fNN a, symc_key_fNN b, symc_key_fNN c) {
    const symc_key_fNN low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c < high ? c : high;
}
static symc_key_fNN symc_pivot_fNN(const symc_key_fNN *a, int64_t n) {
    enum { LANES = SYMC_SORT_BYTES / sizeof(real) };
    if (n < 320) {
        const int64_t step = n / 9;
        symc_key_fNN medians[3];
        for (int i = 0; i < 3; i++, a += step)
            medians[i] = symc_median_fNN(a[0], a[3 * step], a[6 * step]);
        return symc_median_fNN(medians[0], medians[1], medians[2]);
    }
    symc_key_fNN sample[8 * LANES];
    uint64_t random = (uint64_t)n;
    for (int i = 0; i < 8; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const int64_t place = (int64_t)((random >> 32) * ((uint64_t)(n - LANES) >> 3) >> 29);
        ((symc_keys_fNN *)sample)[i] = *(const symc_keys_fNN *)(a + place);
    }
    symc_network_fNN(sample);
    return sample[4 * LANES];
}

// SYMBOL symc_copy_few_fNN
// NEEDS symc_key_fNN
// Copies few keys. A call of memcpy takes longer, the more so as it may leave AVX.
static inline void symc_copy_few_fNN(const symc_key_fNN *from, symc_key_fNN *to, int64_t n) {
    enum { LANES = SYMC_SORT_BYTES / sizeof(real) };
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        *(symc_keys_fNN *)(to + i) = *(const symc_keys_fNN *)(from + i);
    for (; i < n; i++) to[i] = from[i];
}

// SYMBOL symc_sort_keys_fNN
// NEEDS symc_divide_fNN symc_pivot_fNN symc_copy_few_fNN
// Sorts `a`, with `b` to work in, and leaves the result in `b` where `over`, else in `a`. Where no key
// is below the pivot, those equal to it are divided off. Threads take the smaller parts.
static void symc_sort_keys_fNN(symc_key_fNN *a, symc_key_fNN *b, int64_t n, int over, int threads) {
    enum { FEW = 8 * SYMC_SORT_BYTES / sizeof(real) };
    const symc_key_fNN most = (symc_key_fNN)(~0ull >> (65 - 8 * sizeof(real)));
    while (n > 2 * FEW) {
        const symc_key_fNN pivot = symc_pivot_fNN(a, n);
        const int64_t below = symc_divide_fNN(a, b, n, pivot);
        if (below == 0) {
            const int64_t equal = pivot == most ? n : symc_divide_fNN(a, b, n, pivot + 1);
            for (int64_t i = 0; i < equal && !over; i++) a[i] = pivot;
            symc_key_fNN *rest = a + equal;
            a = b + equal, b = rest, n -= equal, over = !over;
            continue;
        }
        const int lower = below <= n - below;
        symc_key_fNN *small = lower ? b : b + below, *spare = lower ? a : a + below;
        const int64_t count = lower ? below : n - below;
        if (threads && count > 8192) {
#pragma omp task
            symc_sort_keys_fNN(small, spare, count, !over, 1);
        } else {
            symc_sort_keys_fNN(small, spare, count, !over, 0);
        }
        symc_key_fNN *large = lower ? b + below : b, *other = lower ? a + below : a;
        a = large, b = other, n -= count, over = !over;
    }
    symc_key_fNN few[2 * FEW] __attribute__((aligned(64)));
    for (int64_t i = n / 8 * 8; i < (n > FEW ? 2 * FEW : FEW); i++) few[i] = most;
    symc_copy_few_fNN(a, few, n);
    symc_network_fNN(few);
    if (n > FEW) {
        symc_network_fNN(few + FEW);
        symc_merged_fNN(few);
    }
    symc_copy_few_fNN(few, over ? b : a, n);
}

// SYMBOL symc_side_f32
// NEEDS SYMC_NETWORK_8
// A side of a block of keys, and the turn that makes rows of its columns.
typedef int32_t symc_side_f32 __attribute__((vector_size(32), aligned(4), may_alias));
#define SYMC_TURN_BLOCK_f32                                                                        \
    SYMC_TURNS_1(SYMC_FIRST_1_8, SYMC_SECOND_1_8)                                                  \
    SYMC_TURNS_2(SYMC_FIRST_2_8, SYMC_SECOND_2_8)                                                  \
    SYMC_TURNS_4(SYMC_FIRST_4_8, SYMC_SECOND_4_8)

// SYMBOL symc_side_f64
// NEEDS symc_key_f64 SYMC_NETWORK_4 SYMC_NETWORK_8
// As of keys of 32 bits; of a side of four keys two blocks are turned, v0 ... v3 and v4 ... v7.
typedef symc_keys_f64 symc_side_f64;
#if SYMC_SORT_BYTES == 64
#define SYMC_TURN_BLOCK_f64                                                                        \
    SYMC_TURNS_1(SYMC_FIRST_1_8, SYMC_SECOND_1_8)                                                  \
    SYMC_TURNS_2(SYMC_FIRST_2_8, SYMC_SECOND_2_8)                                                  \
    SYMC_TURNS_4(SYMC_FIRST_4_8, SYMC_SECOND_4_8)
#else
#define SYMC_TURN_BLOCK_f64                                                                        \
    SYMC_TURNS_1(SYMC_FIRST_1_4, SYMC_SECOND_1_4)                                                  \
    SYMC_TURNS_2(SYMC_FIRST_2_4, SYMC_SECOND_2_4)
#endif

// SYMBOL symc_turn_block_fNN
// NEEDS symc_side_fNN symc_key_fNN
// Eight rows of `from`, which are `apart`, become columns of `to`, whose rows are `wide`. Rows are
// written one after the other: what goes past the end of one is overwritten by the next.
#define SYMC_SIDE_OF_BLOCK_fNN(i) symc_side_fNN v##i = *(const symc_side_fNN *)(from + i * apart);
#define SYMC_COLUMN_OF_BLOCK_fNN(i)                                                                \
    *(symc_side_fNN *)(to + i % SIDE * wide + i / SIDE * SIDE) = v##i;
static inline void symc_turn_block_fNN(const symc_key_fNN *from, int64_t apart, symc_key_fNN *to,
                                       int64_t wide) {
    enum { SIDE = sizeof(symc_side_fNN) / sizeof(real) };
    SYMC_SIDE_OF_BLOCK_fNN(0) SYMC_SIDE_OF_BLOCK_fNN(1) SYMC_SIDE_OF_BLOCK_fNN(2)
    SYMC_SIDE_OF_BLOCK_fNN(3) SYMC_SIDE_OF_BLOCK_fNN(4) SYMC_SIDE_OF_BLOCK_fNN(5)
    SYMC_SIDE_OF_BLOCK_fNN(6) SYMC_SIDE_OF_BLOCK_fNN(7)
    SYMC_TURN_BLOCK_fNN
    SYMC_COLUMN_OF_BLOCK_fNN(0)
    if (SIDE == 4) { SYMC_COLUMN_OF_BLOCK_fNN(4) }
    SYMC_COLUMN_OF_BLOCK_fNN(1)
    if (SIDE == 4) { SYMC_COLUMN_OF_BLOCK_fNN(5) }
    SYMC_COLUMN_OF_BLOCK_fNN(2)
    if (SIDE == 4) { SYMC_COLUMN_OF_BLOCK_fNN(6) }
    SYMC_COLUMN_OF_BLOCK_fNN(3)
    if (SIDE == 8) { SYMC_COLUMN_OF_BLOCK_fNN(4) SYMC_COLUMN_OF_BLOCK_fNN(5) }
    if (SIDE == 8) { SYMC_COLUMN_OF_BLOCK_fNN(6) }
    SYMC_COLUMN_OF_BLOCK_fNN(7)
}

// SYMBOL SYMC_SHORT
// NEEDS SYMC_SORT_BYTES
// The most elements of rows that are sorted side by side: longer ones take less time one by one, in
// the network. Without AVX2 so do most, and shuffles take longer than copies.
#if SYMC_SORT_BYTES == 64
enum { SYMC_SHORT_f32 = 64, SYMC_SHORT_f64 = 48, SYMC_BLOCKS_FROM = 4 };
#elif defined(__AVX2__)
enum { SYMC_SHORT_f32 = 48, SYMC_SHORT_f64 = 64, SYMC_BLOCKS_FROM = 4 };
#else
enum { SYMC_SHORT_f32 = 16, SYMC_SHORT_f64 = 8, SYMC_BLOCKS_FROM = 65 };
#endif

// SYMBOL symc_sort_pairs
// The places that Batcher's odd-even merge sort of n elements compares, one pair after the other
// (Knuth, The Art of Computer Programming 3, algorithm 5.2.2 M). Returns how many there are.
enum { SYMC_PAIRS = 543 };  // of 64 elements
typedef struct symc_sort_pair {
    uint8_t low, high;
} symc_sort_pair;
static int64_t symc_sort_pairs(int64_t n, symc_sort_pair *pairs) {
    int64_t count = 0;
    for (int64_t p = 1; p < n; p *= 2)
        for (int64_t k = p; k > 0; k /= 2)
            for (int64_t first = k % p; first + k < n; first += 2 * k)
                for (int64_t i = first; i < first + k && i + k < n; i++)
                    if ((i ^ (i + k)) < 2 * p)
                        pairs[count++] = (symc_sort_pair){(uint8_t)i, (uint8_t)(i + k)};
    return count;
}

// SYMBOL symc_sort_beside_fNN
// NEEDS SYMC_ORDERED SYMC_SHORT symc_turn_block_fNN symc_sort_pairs
// Sorts SYMC_BESIDE rows of n keys each, of at most SYMC_SHORT, side by side: the same elements of
// all rows are vectors, and so are the pairs that are compared. A vector is left free after them, or
// loads would wait for stores of other elements whose addresses differ by 4096. Blocks go past the
// end of a row: there is room behind the last, and those of a row are written from the last on.
enum { SYMC_BESIDE_fNN = 32, SYMC_BEHIND_fNN = 8 };
static void symc_sort_beside_fNN(symc_key_fNN *a, int64_t n, const symc_sort_pair *pairs,
                                 int64_t count) {
    enum { ROWS = SYMC_BESIDE_fNN, LANES = SYMC_SORT_BYTES / sizeof(real), WIDE = ROWS + LANES };
    enum { SIDE = sizeof(symc_side_fNN) / sizeof(real) };
    const int in_blocks = n >= SYMC_BLOCKS_FROM;
    symc_key_fNN tile[SYMC_SHORT_fNN * WIDE] __attribute__((aligned(SYMC_SORT_BYTES)));
    for (int64_t i = 0; i < n && !in_blocks; i++)
        for (int64_t r = 0; r < ROWS; r++) tile[i * WIDE + r] = a[r * n + i];
    for (int64_t r = 0; r < ROWS && in_blocks; r += 8)
        for (int64_t i = 0; i < n; i += SIDE)
            symc_turn_block_fNN(a + r * n + i, n, tile + i * WIDE + r, WIDE);
    for (int64_t pair = 0; pair < count; pair++) {
        symc_keys_fNN *x = (symc_keys_fNN *)(tile + pairs[pair].low * WIDE);
        symc_keys_fNN *y = (symc_keys_fNN *)(tile + pairs[pair].high * WIDE);
        for (int64_t v = 0; v < ROWS / LANES; v++) {
            SYMC_ORDERED_fNN(x[v], y[v], low, high)
            x[v] = low;
            y[v] = high;
        }
    }
    for (int64_t i = 0; i < n && !in_blocks; i++)
        for (int64_t r = 0; r < ROWS; r++) a[r * n + i] = tile[i * WIDE + r];
    for (int64_t r = 0; r < ROWS && in_blocks; r += SIDE)
        for (int64_t i = (n - 1) / 8 * 8; i >= 0; i -= 8)
            symc_turn_block_fNN(tile + i * WIDE + r, WIDE, a + r * n + i, n);
}

// SYMBOL SYMC_EACH_KEY
// The cases of a switch by `kind`: the statement for the keys of a row of a type.
#define SYMC_TO_KEYS(number, type, ...)                                                            \
    case number:                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const type v = ((const type *)x)[i];                                                   \
            __VA_ARGS__;                                                                           \
            keys[i] = key ^ turn;                                                                  \
        }                                                                                          \
        break;
#define SYMC_FROM_KEYS(number, type, ...)                                                          \
    case number:                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const __typeof__(*keys) key = keys[i] ^ turn;                                          \
            const type v = (type)(__VA_ARGS__);                                                    \
            __builtin_memcpy((type *)x + i, &v, sizeof v);                                         \
        }                                                                                          \
        break;

// SYMBOL symc_float_key_fNN
// NEEDS symc_key_fNN
// The key of a float: its bits, turned so that they grow with it; NaN has the greatest.
static inline symc_key_fNN symc_float_key_fNN(real v) {
    const symc_key_fNN most = (symc_key_fNN)(~0ull >> (65 - 8 * sizeof v));
    symc_key_fNN bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    return v != v ? most : bits ^ (bits >> (8 * sizeof v - 1) & most);
}
static inline real symc_key_float_fNN(symc_key_fNN key) {
    const symc_key_fNN most = (symc_key_fNN)(~0ull >> (65 - 8 * sizeof key));
    const symc_key_fNN bits = key ^ (key >> (8 * sizeof key - 1) & most);
    real v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}

// SYMBOL symc_keys_of_f32
// NEEDS SYMC_EACH_KEY symc_float_key_f32
// The keys of a row, and the numbers of keys. Descending, keys are turned around.
static __attribute__((optimize("O3"))) void symc_keys_of_f32(int64_t kind, int descending, int64_t n, const void *x,
                             symc_key_f32 *keys) {
    const symc_key_f32 turn = descending ? -1 : 0, least = (symc_key_f32)(1u << 31);
    switch (kind) {
        SYMC_TO_KEYS(0, uint8_t, const symc_key_f32 key = v)
        SYMC_TO_KEYS(1, uint8_t, const symc_key_f32 key = v)
        SYMC_TO_KEYS(2, uint16_t, const symc_key_f32 key = v)
        SYMC_TO_KEYS(3, uint32_t, const symc_key_f32 key = (symc_key_f32)v ^ least)
        SYMC_TO_KEYS(5, int8_t, const symc_key_f32 key = v)
        SYMC_TO_KEYS(6, int16_t, const symc_key_f32 key = v)
        SYMC_TO_KEYS(7, int32_t, const symc_key_f32 key = v)
        SYMC_TO_KEYS(9, _Float16, const symc_key_f32 key = symc_float_key_f32((float)v))
        SYMC_TO_KEYS(10, float, const symc_key_f32 key = symc_float_key_f32(v))
    }
}
static __attribute__((optimize("O3"))) void symc_of_keys_f32(int64_t kind, int descending, int64_t n, const symc_key_f32 *keys,
                             void *x) {
    const symc_key_f32 turn = descending ? -1 : 0, least = (symc_key_f32)(1u << 31);
    switch (kind) {
        SYMC_FROM_KEYS(0, uint8_t, key)
        SYMC_FROM_KEYS(1, uint8_t, key)
        SYMC_FROM_KEYS(2, uint16_t, key)
        SYMC_FROM_KEYS(3, uint32_t, key ^ least)
        SYMC_FROM_KEYS(5, int8_t, key)
        SYMC_FROM_KEYS(6, int16_t, key)
        SYMC_FROM_KEYS(7, int32_t, key)
        SYMC_FROM_KEYS(9, _Float16, symc_key_float_f32(key))
        SYMC_FROM_KEYS(10, float, symc_key_float_f32(key))
    }
}

// SYMBOL symc_keys_of_f64
// NEEDS SYMC_EACH_KEY symc_float_key_f64
// The keys of a row, and the numbers of keys. Descending, keys are turned around.
static __attribute__((optimize("O3"))) void symc_keys_of_f64(int64_t kind, int descending, int64_t n, const void *x,
                             symc_key_f64 *keys) {
    const symc_key_f64 turn = descending ? -1 : 0, least = (symc_key_f64)(1ull << 63);
    switch (kind) {
        SYMC_TO_KEYS(4, uint64_t, const symc_key_f64 key = (symc_key_f64)v ^ least)
        SYMC_TO_KEYS(8, int64_t, const symc_key_f64 key = v)
        SYMC_TO_KEYS(11, double, const symc_key_f64 key = symc_float_key_f64(v))
    }
}
static __attribute__((optimize("O3"))) void symc_of_keys_f64(int64_t kind, int descending, int64_t n, const symc_key_f64 *keys,
                             void *x) {
    const symc_key_f64 turn = descending ? -1 : 0, least = (symc_key_f64)(1ull << 63);
    switch (kind) {
        SYMC_FROM_KEYS(4, uint64_t, key ^ least)
        SYMC_FROM_KEYS(8, int64_t, key)
        SYMC_FROM_KEYS(11, double, symc_key_float_f64(key))
    }
}

// SYMBOL symc_sort_short_fNN
// NEEDS symc_sort_beside_fNN symc_keys_of_fNN
// The rows of x, of few elements each, sorted.
static void symc_sort_short_fNN(int64_t kind, int turn, int64_t rows, int64_t n, const void *x,
                                void *out, int64_t bytes, int64_t threads) {
    symc_sort_pair pairs[SYMC_PAIRS];
    const int64_t several = symc_sort_pairs(n, pairs);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t r = 0; r < rows; r += SYMC_BESIDE_fNN) {
        symc_key_fNN keys[SYMC_SHORT_fNN * SYMC_BESIDE_fNN + SYMC_BEHIND_fNN]
            __attribute__((aligned(SYMC_SORT_BYTES)));
        const int64_t left = rows - r, count = left < SYMC_BESIDE_fNN ? left : SYMC_BESIDE_fNN;
        for (int64_t i = count * n; i < SYMC_BESIDE_fNN * n; i++) keys[i] = 0;
        symc_keys_of_fNN(kind, turn, count * n, (const char *)x + r * n * bytes, keys);
        symc_sort_beside_fNN(keys, n, pairs, several);
        symc_of_keys_fNN(kind, turn, count * n, keys, (char *)out + r * n * bytes);
    }
}

// SYMBOL symc_sort_fNN
// NEEDS symc_sort_keys_fNN symc_sort_short_fNN symc_keys_of_fNN symc_sort_rows
// The rows of x, each sorted: numbers of at most as many bits as the keys. `room` has place for one
// number of 64 bits for each element. Keys are in the result if they fit there.
static void symc_sort_fNN(int64_t kind, int64_t descending, int64_t rows, int64_t n, const void *x,
                          void *out, uint64_t *room, int64_t threads) {
    const int64_t bytes = symc_sort_bytes(kind);
    const int many = symc_sort_many(rows, n, threads), turn = (int)descending;
    const int shared = threads > 1 && !many && n >= 32768;
    if (n <= SYMC_SHORT_fNN && rows >= SYMC_BESIDE_fNN / 2) {
        symc_sort_short_fNN(kind, turn, rows, n, x, out, bytes, many ? threads : 1);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (many)
    for (int64_t r = 0; r < rows; r++) {
        char *row = (char *)out + r * n * bytes;
        symc_key_fNN *b = (symc_key_fNN *)(room + r * n);
        symc_key_fNN *a = bytes == sizeof *a ? (symc_key_fNN *)row : b + n;
        symc_keys_of_fNN(kind, turn, n, (const char *)x + r * n * bytes, a);
        if (shared) {
#pragma omp parallel num_threads(threads)
#pragma omp single
            symc_sort_keys_fNN(a, b, n, 0, 1);
        } else {
            symc_sort_keys_fNN(a, b, n, 0, 0);
        }
        symc_of_keys_fNN(kind, turn, n, a, row);
    }
}
