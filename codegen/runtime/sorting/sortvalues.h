// Sorting the values of rows, where it does not matter which of equal numbers is which.
//
// A number becomes a key: an integer in the order that NumPy sorts by, of 32 bits (names in _f32)
// or of 64 (names in _f64). Keys are shared out to those below a pivot and the others, again and
// again, many at once: quicksort. Few keys go through a network that compares the same places
// whatever they hold. `kind` numbers the element type, as in sort.h.

// SYMBOL symc_key_f32
// The keys of numbers of at most 32 bits, and a vector of them.
typedef int32_t symc_key_f32;
typedef int32_t symc_keys_f32 __attribute__((vector_size(32), aligned(4), may_alias));

// SYMBOL symc_key_f64
// The keys of numbers of 64 bits, and a vector of them.
typedef int64_t symc_key_f64;
typedef int64_t symc_keys_f64 __attribute__((vector_size(32), aligned(8), may_alias));

// SYMBOL SYMC_ORDERED
// The lesser and the greater of each pair of keys. Compilers other than gcc, and processors without
// AVX2, choose by masks.
typedef int symc_sort_words __attribute__((vector_size(32)));
typedef double symc_sort_doubles __attribute__((vector_size(32)));
#if defined(__AVX2__) && !defined(__clang__)
#define SYMC_ORDERED_f32(a, b, low, high)                                                          \
    const symc_sort_words low##_a = (symc_sort_words)(a), low##_b = (symc_sort_words)(b);          \
    const symc_keys_f32 low = (symc_keys_f32)__builtin_ia32_pminsd256(low##_a, low##_b);           \
    const symc_keys_f32 high = (symc_keys_f32)__builtin_ia32_pmaxsd256(low##_a, low##_b);
#define SYMC_ORDERED_f64(a, b, low, high)                                                          \
    const symc_sort_doubles low##_a = (symc_sort_doubles)(a), low##_b = (symc_sort_doubles)(b);    \
    const symc_sort_doubles low##_turn = (symc_sort_doubles)((a) > (b));                           \
    const symc_keys_f64 low = (symc_keys_f64)__builtin_ia32_blendvpd256(low##_a, low##_b, low##_turn);  \
    const symc_keys_f64 high = (symc_keys_f64)__builtin_ia32_blendvpd256(low##_b, low##_a, low##_turn);
#else
#define SYMC_ORDERED_f32(a, b, low, high)                                                          \
    const __typeof__(a) low##_turn = ((a) ^ (b)) & ((a) > (b));                                    \
    const __typeof__(a) low = (a) ^ low##_turn, high = (b) ^ low##_turn;
#define SYMC_ORDERED_f64(a, b, low, high) SYMC_ORDERED_f32(a, b, low, high)
#endif

// SYMBOL SYMC_NETWORK
// NEEDS SYMC_ORDERED
// Steps of networks on eight rows v0 ... v7 of keys, each a vector; the keys of one lane are a
// column. `swap` exchanges lanes, and `choose` takes the lower lanes of each pair from its first
// vector and the upper ones from the second.
#define SYMC_PAIR(bits, a, b)                                                                      \
    {                                                                                              \
        SYMC_ORDERED_##bits(a, b, low, high)                                                       \
        a = low;                                                                                   \
        b = high;                                                                                  \
    }
// Each column by itself: of any keys, and of keys that first grow and then fall (or the reverse).
#define SYMC_SORT_COLUMNS(P, bits)                                                                 \
    P(bits, v0, v2) P(bits, v1, v3) P(bits, v4, v6) P(bits, v5, v7)                                \
    P(bits, v0, v4) P(bits, v1, v5) P(bits, v2, v6) P(bits, v3, v7)                                \
    P(bits, v0, v1) P(bits, v2, v3) P(bits, v4, v5) P(bits, v6, v7)                                \
    P(bits, v2, v4) P(bits, v3, v5) P(bits, v1, v4) P(bits, v3, v6)                                \
    P(bits, v1, v2) P(bits, v3, v4) P(bits, v5, v6)
#define SYMC_MERGE_COLUMNS(P, bits)                                                                \
    P(bits, v0, v4) P(bits, v1, v5) P(bits, v2, v6) P(bits, v3, v7)                                \
    P(bits, v0, v2) P(bits, v1, v3) P(bits, v4, v6) P(bits, v5, v7)                                \
    P(bits, v0, v1) P(bits, v2, v3) P(bits, v4, v5) P(bits, v6, v7)
// Sorted columns, compared with the last first: then no key of a lower lane is above the upper's.
#define SYMC_MIRROR(bits, a, b, swap, choose)                                                      \
    {                                                                                              \
        const symc_keys_##bits turned = swap(b);                                                   \
        SYMC_ORDERED_##bits(a, turned, low, high)                                                  \
        const symc_keys_##bits other = choose(high, low);                                          \
        a = choose(low, high);                                                                     \
        b = swap(other);                                                                           \
    }
#define SYMC_MIRRORS(bits, swap, choose)                                                           \
    SYMC_MIRROR(bits, v0, v7, swap, choose) SYMC_MIRROR(bits, v1, v6, swap, choose)                \
    SYMC_MIRROR(bits, v2, v5, swap, choose) SYMC_MIRROR(bits, v3, v4, swap, choose)
// The same for columns that grow and fall, row by row.
#define SYMC_ACROSS(bits, a, swap, choose)                                                         \
    {                                                                                              \
        const symc_keys_##bits turned = swap(a);                                                   \
        SYMC_ORDERED_##bits(a, turned, low, high)                                                  \
        a = choose(low, high);                                                                     \
    }
#define SYMC_ACROSS_ALL(bits, swap, choose)                                                        \
    SYMC_ACROSS(bits, v0, swap, choose) SYMC_ACROSS(bits, v1, swap, choose)                        \
    SYMC_ACROSS(bits, v2, swap, choose) SYMC_ACROSS(bits, v3, swap, choose)                        \
    SYMC_ACROSS(bits, v4, swap, choose) SYMC_ACROSS(bits, v5, swap, choose)                        \
    SYMC_ACROSS(bits, v6, swap, choose) SYMC_ACROSS(bits, v7, swap, choose)
// Columns become rows: blocks of a and b change places.
#define SYMC_TURN(a, b, first, second)                                                             \
    {                                                                                              \
        const __typeof__(a) upper = first(a, b);                                                   \
        b = second(a, b);                                                                          \
        a = upper;                                                                                 \
    }

// SYMBOL symc_network_f32
// NEEDS symc_key_f32 SYMC_NETWORK
// Sorts 64 keys.
#define SYMC_SWAP_1(a) __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6)
#define SYMC_SWAP_2(a) __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5)
#define SYMC_MIRROR_4(a) __builtin_shufflevector(a, a, 3, 2, 1, 0, 7, 6, 5, 4)
#define SYMC_MIRROR_8(a) __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0)
#define SYMC_CHOOSE_1(a, b) __builtin_shufflevector(a, b, 0, 9, 2, 11, 4, 13, 6, 15)
#define SYMC_CHOOSE_2(a, b) __builtin_shufflevector(a, b, 0, 1, 10, 11, 4, 5, 14, 15)
#define SYMC_CHOOSE_4(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 12, 13, 14, 15)
#define SYMC_FIRST_1(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define SYMC_SECOND_1(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define SYMC_FIRST_2(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define SYMC_SECOND_2(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define SYMC_FIRST_4(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define SYMC_SECOND_4(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
static __attribute__((noinline)) void symc_network_f32(symc_key_f32 *keys) {
    symc_keys_f32 *rows = (symc_keys_f32 *)keys;
    symc_keys_f32 v0 = rows[0], v1 = rows[1], v2 = rows[2], v3 = rows[3];
    symc_keys_f32 v4 = rows[4], v5 = rows[5], v6 = rows[6], v7 = rows[7];
    SYMC_SORT_COLUMNS(SYMC_PAIR, f32)
    SYMC_MIRRORS(f32, SYMC_SWAP_1, SYMC_CHOOSE_1)
    SYMC_MERGE_COLUMNS(SYMC_PAIR, f32)
    SYMC_MIRRORS(f32, SYMC_MIRROR_4, SYMC_CHOOSE_2)
    SYMC_ACROSS_ALL(f32, SYMC_SWAP_1, SYMC_CHOOSE_1)
    SYMC_MERGE_COLUMNS(SYMC_PAIR, f32)
    SYMC_MIRRORS(f32, SYMC_MIRROR_8, SYMC_CHOOSE_4)
    SYMC_ACROSS_ALL(f32, SYMC_SWAP_2, SYMC_CHOOSE_2)
    SYMC_ACROSS_ALL(f32, SYMC_SWAP_1, SYMC_CHOOSE_1)
    SYMC_MERGE_COLUMNS(SYMC_PAIR, f32)
    SYMC_TURN(v0, v1, SYMC_FIRST_1, SYMC_SECOND_1) SYMC_TURN(v2, v3, SYMC_FIRST_1, SYMC_SECOND_1)
    SYMC_TURN(v4, v5, SYMC_FIRST_1, SYMC_SECOND_1) SYMC_TURN(v6, v7, SYMC_FIRST_1, SYMC_SECOND_1)
    SYMC_TURN(v0, v2, SYMC_FIRST_2, SYMC_SECOND_2) SYMC_TURN(v1, v3, SYMC_FIRST_2, SYMC_SECOND_2)
    SYMC_TURN(v4, v6, SYMC_FIRST_2, SYMC_SECOND_2) SYMC_TURN(v5, v7, SYMC_FIRST_2, SYMC_SECOND_2)
    SYMC_TURN(v0, v4, SYMC_FIRST_4, SYMC_SECOND_4) SYMC_TURN(v1, v5, SYMC_FIRST_4, SYMC_SECOND_4)
    SYMC_TURN(v2, v6, SYMC_FIRST_4, SYMC_SECOND_4) SYMC_TURN(v3, v7, SYMC_FIRST_4, SYMC_SECOND_4)
    rows[0] = v0, rows[1] = v1, rows[2] = v2, rows[3] = v3;
    rows[4] = v4, rows[5] = v5, rows[6] = v6, rows[7] = v7;
}

// SYMBOL symc_network_f64
// NEEDS symc_key_f64 SYMC_NETWORK
// Sorts 32 keys.
#define SYMC_WIDE_SWAP_1(a) __builtin_shufflevector(a, a, 1, 0, 3, 2)
#define SYMC_WIDE_MIRROR_4(a) __builtin_shufflevector(a, a, 3, 2, 1, 0)
#define SYMC_WIDE_CHOOSE_1(a, b) __builtin_shufflevector(a, b, 0, 5, 2, 7)
#define SYMC_WIDE_CHOOSE_2(a, b) __builtin_shufflevector(a, b, 0, 1, 6, 7)
#define SYMC_WIDE_FIRST_1(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define SYMC_WIDE_SECOND_1(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define SYMC_WIDE_FIRST_2(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define SYMC_WIDE_SECOND_2(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define SYMC_WIDE_TURN_1(a, b) SYMC_TURN(a, b, SYMC_WIDE_FIRST_1, SYMC_WIDE_SECOND_1)
#define SYMC_WIDE_TURN_2(a, b) SYMC_TURN(a, b, SYMC_WIDE_FIRST_2, SYMC_WIDE_SECOND_2)
static __attribute__((noinline)) void symc_network_f64(symc_key_f64 *keys) {
    symc_keys_f64 *rows = (symc_keys_f64 *)keys;
    symc_keys_f64 v0 = rows[0], v1 = rows[1], v2 = rows[2], v3 = rows[3];
    symc_keys_f64 v4 = rows[4], v5 = rows[5], v6 = rows[6], v7 = rows[7];
    SYMC_SORT_COLUMNS(SYMC_PAIR, f64)
    SYMC_MIRRORS(f64, SYMC_WIDE_SWAP_1, SYMC_WIDE_CHOOSE_1)
    SYMC_MERGE_COLUMNS(SYMC_PAIR, f64)
    SYMC_MIRRORS(f64, SYMC_WIDE_MIRROR_4, SYMC_WIDE_CHOOSE_2)
    SYMC_ACROSS_ALL(f64, SYMC_WIDE_SWAP_1, SYMC_WIDE_CHOOSE_1)
    SYMC_MERGE_COLUMNS(SYMC_PAIR, f64)
    SYMC_WIDE_TURN_1(v0, v1) SYMC_WIDE_TURN_1(v2, v3)
    SYMC_WIDE_TURN_1(v4, v5) SYMC_WIDE_TURN_1(v6, v7)
    SYMC_WIDE_TURN_2(v0, v2) SYMC_WIDE_TURN_2(v1, v3)
    SYMC_WIDE_TURN_2(v4, v6) SYMC_WIDE_TURN_2(v5, v7)
    rows[0] = v0, rows[1] = v4, rows[2] = v1, rows[3] = v5;
    rows[4] = v2, rows[5] = v6, rows[6] = v3, rows[7] = v7;
}

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
// The set of lanes that are below a pivot.
static inline unsigned symc_below_f32(const symc_keys_f32 *keys, symc_key_f32 pivot) {
    typedef float floats __attribute__((vector_size(32)));
    return (unsigned)__builtin_ia32_movmskps256((floats)(*keys < pivot));
}
#endif

// SYMBOL symc_below_f64
// NEEDS symc_key_f64
#if defined(__AVX2__)
// The set of lanes that are below a pivot.
static inline unsigned symc_below_f64(const symc_keys_f64 *keys, symc_key_f64 pivot) {
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
        const symc_keys_fNN *keys = (const symc_keys_fNN *)(end - left);
        const unsigned below = symc_below_fNN(keys, pivot);
        const symc_keys_fNN divided = (symc_keys_fNN)__builtin_ia32_permvarsi256(
            (symc_sort_words)*keys, orders[below]);
        *(symc_keys_fNN *)next = divided;
        *(symc_keys_fNN *)(next + left - LANES) = divided;
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
    enum { LANES = 32 / sizeof(real) };
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
    enum { LANES = 32 / sizeof(real) };
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
    enum { FEW = 256 / sizeof(real) };
    const symc_key_fNN most = (symc_key_fNN)(~0ull >> (65 - 8 * sizeof(real)));
    while (n > FEW) {
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
    symc_key_fNN few[FEW];
    for (int64_t i = n / 8 * 8; i < FEW; i++) few[i] = most;
    symc_copy_few_fNN(a, few, n);
    symc_network_fNN(few);
    symc_copy_few_fNN(few, over ? b : a, n);
}

// SYMBOL symc_sort_beside_fNN
// NEEDS SYMC_ORDERED symc_key_fNN
// Sorts SYMC_BESIDE rows of n keys each, of at most SYMC_SHORT, side by side: the same elements of all
// rows are vectors, and the pairs that Batcher's odd-even merge sort compares are the same for each
// row (Knuth, The Art of Computer Programming 3, algorithm 5.2.2 M).
enum { SYMC_BESIDE_fNN = 32, SYMC_SHORT_fNN = 16 };
static void symc_sort_beside_fNN(symc_key_fNN *a, int64_t n) {
    enum { ROWS = SYMC_BESIDE_fNN, LANES = 32 / sizeof(real) };
    symc_key_fNN tile[SYMC_SHORT_fNN * ROWS] __attribute__((aligned(32)));
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < ROWS; r++) tile[i * ROWS + r] = a[r * n + i];
    for (int64_t p = 1; p < n; p *= 2)
        for (int64_t k = p; k > 0; k /= 2)
            for (int64_t first = k % p; first + k < n; first += 2 * k)
                for (int64_t i = first; i < first + k && i + k < n; i++) {
                    if (i / (2 * p) != (i + k) / (2 * p)) continue;
                    symc_keys_fNN *x = (symc_keys_fNN *)(tile + i * ROWS);
                    symc_keys_fNN *y = (symc_keys_fNN *)(tile + (i + k) * ROWS);
                    for (int64_t v = 0; v < ROWS / LANES; v++) {
                        SYMC_ORDERED_fNN(x[v], y[v], low, high)
                        x[v] = low;
                        y[v] = high;
                    }
                }
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < ROWS; r++) a[r * n + i] = tile[i * ROWS + r];
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
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t r = 0; r < rows; r += SYMC_BESIDE_fNN) {
        symc_key_fNN keys[SYMC_SHORT_fNN * SYMC_BESIDE_fNN];
        const int64_t left = rows - r, count = left < SYMC_BESIDE_fNN ? left : SYMC_BESIDE_fNN;
        for (int64_t i = count * n; i < SYMC_BESIDE_fNN * n; i++) keys[i] = 0;
        symc_keys_of_fNN(kind, turn, count * n, (const char *)x + r * n * bytes, keys);
        symc_sort_beside_fNN(keys, n);
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
