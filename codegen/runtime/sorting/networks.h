// Networks that sort few keys: they compare the same places, whatever these hold.

// SYMBOL SYMC_SORT_BYTES
// The bytes of a vector of keys. Only gcc has the names of instructions that those of 64 take.
#if defined(__AVX512F__) && !defined(__clang__)
#define SYMC_SORT_BYTES 64
#else
#define SYMC_SORT_BYTES 32
#endif

// SYMBOL symc_key_f32
// NEEDS SYMC_SORT_BYTES
// The keys of numbers of at most 32 bits, and a vector of them.
typedef int32_t symc_key_f32;
typedef int32_t symc_keys_f32
    __attribute__((vector_size(SYMC_SORT_BYTES), aligned(4), may_alias));

// SYMBOL symc_key_f64
// NEEDS SYMC_SORT_BYTES
// The keys of numbers of 64 bits, and a vector of them.
typedef int64_t symc_key_f64;
typedef int64_t symc_keys_f64
    __attribute__((vector_size(SYMC_SORT_BYTES), aligned(8), may_alias));

// SYMBOL SYMC_ORDERED
// NEEDS SYMC_SORT_BYTES
// The lesser and the greater of each pair of keys. Compilers other than gcc, and processors without
// AVX2, choose by masks.
typedef int symc_sort_words __attribute__((vector_size(32)));
typedef double symc_sort_doubles __attribute__((vector_size(32)));
#if SYMC_SORT_BYTES == 64
typedef int symc_sort_ints __attribute__((vector_size(64)));
typedef long long symc_sort_longs __attribute__((vector_size(64)));
#define SYMC_ORDERED_f32(a, b, low, high)                                                          \
    const symc_sort_ints low##_a = (symc_sort_ints)(a), low##_b = (symc_sort_ints)(b);             \
    const symc_keys_f32 low =                                                                      \
        (symc_keys_f32)__builtin_ia32_pminsd512_mask(low##_a, low##_b, low##_a, (uint16_t)-1);     \
    const symc_keys_f32 high =                                                                     \
        (symc_keys_f32)__builtin_ia32_pmaxsd512_mask(low##_a, low##_b, low##_a, (uint16_t)-1);
#define SYMC_ORDERED_f64(a, b, low, high)                                                          \
    const symc_sort_longs low##_a = (symc_sort_longs)(a), low##_b = (symc_sort_longs)(b);          \
    const symc_keys_f64 low =                                                                      \
        (symc_keys_f64)__builtin_ia32_pminsq512_mask(low##_a, low##_b, low##_a, (uint8_t)-1);      \
    const symc_keys_f64 high =                                                                     \
        (symc_keys_f64)__builtin_ia32_pmaxsq512_mask(low##_a, low##_b, low##_a, (uint8_t)-1);
#elif defined(__AVX2__) && !defined(__clang__)
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
#define SYMC_TURNS_1(first, second)                                                                \
    SYMC_TURN(v0, v1, first, second) SYMC_TURN(v2, v3, first, second)                              \
    SYMC_TURN(v4, v5, first, second) SYMC_TURN(v6, v7, first, second)
#define SYMC_TURNS_2(first, second)                                                                \
    SYMC_TURN(v0, v2, first, second) SYMC_TURN(v1, v3, first, second)                              \
    SYMC_TURN(v4, v6, first, second) SYMC_TURN(v5, v7, first, second)
#define SYMC_TURNS_4(first, second)                                                                \
    SYMC_TURN(v0, v4, first, second) SYMC_TURN(v1, v5, first, second)                              \
    SYMC_TURN(v2, v6, first, second) SYMC_TURN(v3, v7, first, second)

// SYMBOL SYMC_NETWORK_4
// NEEDS SYMC_NETWORK
// The network of 32 keys in vectors of 4: pairs of columns stand side by side.
#define SYMC_SWAP_1_4(a) __builtin_shufflevector(a, a, 1, 0, 3, 2)
#define SYMC_SWAP_2_4(a) __builtin_shufflevector(a, a, 2, 3, 0, 1)
#define SYMC_MIRROR_4_4(a) __builtin_shufflevector(a, a, 3, 2, 1, 0)
#define SYMC_TURNED_4(a) SYMC_MIRROR_4_4(a)
#define SYMC_CHOOSE_1_4(a, b) __builtin_shufflevector(a, b, 0, 5, 2, 7)
#define SYMC_CHOOSE_2_4(a, b) __builtin_shufflevector(a, b, 0, 1, 6, 7)
#define SYMC_FIRST_1_4(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define SYMC_SECOND_1_4(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define SYMC_FIRST_2_4(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define SYMC_SECOND_2_4(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
// Rows that grow and then fall, or the reverse, as one.
#define SYMC_MERGE_4(bits)                                                                         \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_2_4, SYMC_CHOOSE_2_4)                                          \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_4, SYMC_CHOOSE_1_4)
#define SYMC_NETWORK_4(bits)                                                                       \
    SYMC_SORT_COLUMNS(SYMC_PAIR, bits)                                                             \
    SYMC_MIRRORS(bits, SYMC_SWAP_1_4, SYMC_CHOOSE_1_4)                                             \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_MIRRORS(bits, SYMC_MIRROR_4_4, SYMC_CHOOSE_2_4)                                           \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_4, SYMC_CHOOSE_1_4)                                          \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_TURNS_1(SYMC_FIRST_1_4, SYMC_SECOND_1_4)                                                  \
    SYMC_TURNS_2(SYMC_FIRST_2_4, SYMC_SECOND_2_4)                                                  \
    rows[0] = v0, rows[1] = v4, rows[2] = v1, rows[3] = v5, rows[4] = v2, rows[5] = v6;            \
    rows[6] = v3, rows[7] = v7;

// SYMBOL SYMC_NETWORK_8
// NEEDS SYMC_NETWORK
// The network of 64 keys in vectors of 8.
#define SYMC_SWAP_1_8(a) __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6)
#define SYMC_SWAP_2_8(a) __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5)
#define SYMC_SWAP_4_8(a) __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3)
#define SYMC_MIRROR_4_8(a) __builtin_shufflevector(a, a, 3, 2, 1, 0, 7, 6, 5, 4)
#define SYMC_MIRROR_8_8(a) __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0)
#define SYMC_TURNED_8(a) SYMC_MIRROR_8_8(a)
#define SYMC_CHOOSE_1_8(a, b) __builtin_shufflevector(a, b, 0, 9, 2, 11, 4, 13, 6, 15)
#define SYMC_CHOOSE_2_8(a, b) __builtin_shufflevector(a, b, 0, 1, 10, 11, 4, 5, 14, 15)
#define SYMC_CHOOSE_4_8(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 12, 13, 14, 15)
#define SYMC_FIRST_1_8(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define SYMC_SECOND_1_8(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define SYMC_FIRST_2_8(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define SYMC_SECOND_2_8(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define SYMC_FIRST_4_8(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define SYMC_SECOND_4_8(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
// Rows that grow and then fall, or the reverse, as one.
#define SYMC_MERGE_8(bits)                                                                         \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_4_8, SYMC_CHOOSE_4_8)                                          \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_2_8, SYMC_CHOOSE_2_8)                                          \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_8, SYMC_CHOOSE_1_8)
#define SYMC_NETWORK_8(bits)                                                                       \
    SYMC_SORT_COLUMNS(SYMC_PAIR, bits)                                                             \
    SYMC_MIRRORS(bits, SYMC_SWAP_1_8, SYMC_CHOOSE_1_8)                                             \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_MIRRORS(bits, SYMC_MIRROR_4_8, SYMC_CHOOSE_2_8)                                           \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_8, SYMC_CHOOSE_1_8)                                          \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_MIRRORS(bits, SYMC_MIRROR_8_8, SYMC_CHOOSE_4_8)                                           \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_2_8, SYMC_CHOOSE_2_8)                                          \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_8, SYMC_CHOOSE_1_8)                                          \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_TURNS_1(SYMC_FIRST_1_8, SYMC_SECOND_1_8)                                                  \
    SYMC_TURNS_2(SYMC_FIRST_2_8, SYMC_SECOND_2_8)                                                  \
    SYMC_TURNS_4(SYMC_FIRST_4_8, SYMC_SECOND_4_8)                                                  \
    rows[0] = v0, rows[1] = v1, rows[2] = v2, rows[3] = v3, rows[4] = v4, rows[5] = v5;            \
    rows[6] = v6, rows[7] = v7;

// SYMBOL SYMC_NETWORK_16
// NEEDS SYMC_NETWORK
// The network of 128 keys in vectors of 16, in whose halves columns stand.
#define SYMC_SWAP_1_16(a)                                                                          \
    __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#define SYMC_SWAP_2_16(a)                                                                          \
    __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
#define SYMC_SWAP_4_16(a)                                                                          \
    __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
#define SYMC_SWAP_8_16(a)                                                                          \
    __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#define SYMC_MIRROR_4_16(a)                                                                        \
    __builtin_shufflevector(a, a, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
#define SYMC_MIRROR_8_16(a)                                                                        \
    __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)
#define SYMC_MIRROR_16_16(a)                                                                       \
    __builtin_shufflevector(a, a, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SYMC_TURNED_16(a) SYMC_MIRROR_16_16(a)
#define SYMC_CHOOSE_1_16(a, b)                                                                     \
    __builtin_shufflevector(a, b, 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31)
#define SYMC_CHOOSE_2_16(a, b)                                                                     \
    __builtin_shufflevector(a, b, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31)
#define SYMC_CHOOSE_4_16(a, b)                                                                     \
    __builtin_shufflevector(a, b, 0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11, 28, 29, 30, 31)
#define SYMC_CHOOSE_8_16(a, b)                                                                     \
    __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31)
#define SYMC_FIRST_1_16(a, b)                                                                      \
    __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30)
#define SYMC_SECOND_1_16(a, b)                                                                     \
    __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31)
#define SYMC_FIRST_2_16(a, b)                                                                      \
    __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define SYMC_SECOND_2_16(a, b)                                                                     \
    __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define SYMC_FIRST_4_16(a, b)                                                                      \
    __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27)
#define SYMC_SECOND_4_16(a, b)                                                                     \
    __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31)
#define SYMC_FIRST_8_16(a, b)                                                                      \
    __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define SYMC_SECOND_8_16(a, b)                                                                     \
    __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
// Rows that grow and then fall, or the reverse, as one.
#define SYMC_MERGE_16(bits)                                                                        \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_8_16, SYMC_CHOOSE_8_16)                                        \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_4_16, SYMC_CHOOSE_4_16)                                        \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_2_16, SYMC_CHOOSE_2_16)                                        \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_16, SYMC_CHOOSE_1_16)
#define SYMC_NETWORK_16(bits)                                                                      \
    SYMC_SORT_COLUMNS(SYMC_PAIR, bits)                                                             \
    SYMC_MIRRORS(bits, SYMC_SWAP_1_16, SYMC_CHOOSE_1_16)                                           \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_MIRRORS(bits, SYMC_MIRROR_4_16, SYMC_CHOOSE_2_16)                                         \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_16, SYMC_CHOOSE_1_16)                                        \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_MIRRORS(bits, SYMC_MIRROR_8_16, SYMC_CHOOSE_4_16)                                         \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_2_16, SYMC_CHOOSE_2_16)                                        \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_16, SYMC_CHOOSE_1_16)                                        \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_MIRRORS(bits, SYMC_MIRROR_16_16, SYMC_CHOOSE_8_16)                                        \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_4_16, SYMC_CHOOSE_4_16)                                        \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_2_16, SYMC_CHOOSE_2_16)                                        \
    SYMC_ACROSS_ALL(bits, SYMC_SWAP_1_16, SYMC_CHOOSE_1_16)                                        \
    SYMC_MERGE_COLUMNS(SYMC_PAIR, bits)                                                            \
    SYMC_TURNS_1(SYMC_FIRST_1_16, SYMC_SECOND_1_16)                                                \
    SYMC_TURNS_2(SYMC_FIRST_2_16, SYMC_SECOND_2_16)                                                \
    SYMC_TURNS_4(SYMC_FIRST_4_16, SYMC_SECOND_4_16)                                                \
    SYMC_TURNS_1(SYMC_FIRST_8_16, SYMC_SECOND_8_16)                                                \
    rows[0] = v0, rows[4] = v1, rows[1] = v2, rows[5] = v3, rows[2] = v4, rows[6] = v5;            \
    rows[3] = v6, rows[7] = v7;

// SYMBOL SYMC_OF_LANES_f32
// NEEDS SYMC_NETWORK_8 SYMC_NETWORK_16
// What is for as many lanes as a vector of keys has.
#if SYMC_SORT_BYTES == 64
#define SYMC_OF_LANES_f32(name) name##_16
#else
#define SYMC_OF_LANES_f32(name) name##_8
#endif

// SYMBOL SYMC_OF_LANES_f64
// NEEDS SYMC_NETWORK_4 SYMC_NETWORK_8
#if SYMC_SORT_BYTES == 64
#define SYMC_OF_LANES_f64(name) name##_8
#else
#define SYMC_OF_LANES_f64(name) name##_4
#endif

// SYMBOL symc_network_fNN
// NEEDS symc_key_fNN SYMC_OF_LANES_fNN
// Sorts the keys of eight vectors; and makes one of two such pieces: of keys that are compared with
// the last first, the lesser ones are in the first piece, and rows of either grow and then fall.
#define SYMC_ROWS_fNN(network)                                                                     \
    symc_keys_fNN v0 = rows[0], v1 = rows[1], v2 = rows[2], v3 = rows[3];                          \
    symc_keys_fNN v4 = rows[4], v5 = rows[5], v6 = rows[6], v7 = rows[7];                          \
    SYMC_OF_LANES_fNN(network)(fNN)
static __attribute__((noinline)) void symc_network_fNN(symc_key_fNN *keys) {
    symc_keys_fNN *rows = (symc_keys_fNN *)keys;
    SYMC_ROWS_fNN(SYMC_NETWORK)
}
static __attribute__((noinline)) void symc_merged_fNN(symc_key_fNN *keys) {
    symc_keys_fNN *rows = (symc_keys_fNN *)keys, *const other = rows + 8;
    for (int i = 0; i < 4; i++) {
        const symc_keys_fNN last = SYMC_OF_LANES_fNN(SYMC_TURNED)(other[7 - i]);
        const symc_keys_fNN first = SYMC_OF_LANES_fNN(SYMC_TURNED)(other[i]);
        SYMC_ORDERED_fNN(rows[i], last, low, high)
        SYMC_ORDERED_fNN(rows[7 - i], first, less, more)
        rows[i] = low, rows[7 - i] = less, other[i] = high, other[7 - i] = more;
    }
    for (int half = 0; half < 2; half++, rows = other) {
        SYMC_ROWS_fNN(SYMC_MERGE)
        rows[0] = v0, rows[1] = v1, rows[2] = v2, rows[3] = v3, rows[4] = v4, rows[5] = v5;
        rows[6] = v6, rows[7] = v7;
    }
}
