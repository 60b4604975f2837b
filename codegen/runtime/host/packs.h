// Packs: the numbers of four iterations in one vector register, of loops that gather and scatter.

// SYMBOL symc_pack_fNN
// Four numbers side by side; in memory they need not be aligned.
typedef real symc_pack_fNN __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));

// SYMBOL symc_load_pack_fNN
// NEEDS symc_pack_fNN
// Four neighbours.
static inline symc_pack_fNN symc_load_pack_fNN(const real *x) { return *(const symc_pack_fNN *)x; }

// SYMBOL symc_store_pack_fNN
// NEEDS symc_pack_fNN
static inline void symc_store_pack_fNN(real *x, symc_pack_fNN pack) { *(symc_pack_fNN *)x = pack; }

// SYMBOL symc_all_pack_fNN
// NEEDS symc_pack_fNN
// The same number four times.
static inline symc_pack_fNN symc_all_pack_fNN(real x) { return (symc_pack_fNN){x, x, x, x}; }

// SYMBOL symc_either_pack_fNN
// NEEDS symc_pack_fNN
static inline symc_pack_fNN symc_either_pack_fNN(bool condition, symc_pack_fNN then,
                                                 symc_pack_fNN otherwise) {
    return condition ? then : otherwise;
}

// SYMBOL symc_sum_pack_fNN
// NEEDS symc_pack_fNN
static inline real symc_sum_pack_fNN(symc_pack_fNN pack) {
    return (pack[0] + pack[2]) + (pack[1] + pack[3]);
}

// SYMBOL symc_gather_pack_fNN
// NEEDS symc_pack_fNN
// The elements at four places.
static inline symc_pack_fNN symc_gather_pack_fNN(const real *x, int64_t a, int64_t b, int64_t c,
                                                 int64_t d) {
    return (symc_pack_fNN){x[a], x[b], x[c], x[d]};
}

// SYMBOL symc_scatter_pack_fNN
// NEEDS symc_pack_fNN
// Adds to the elements at four places, which may be the same, one after the other.
static inline void symc_scatter_pack_fNN(real *x, int64_t a, int64_t b, int64_t c, int64_t d,
                                         symc_pack_fNN pack) {
    x[a] += pack[0];
    x[b] += pack[1];
    x[c] += pack[2];
    x[d] += pack[3];
}

// SYMBOL SYMC_HALVES
// The pairs of two packs, in the order of instructions that interleave halves of registers: gcc does
// not find these by itself, and before version 12 has no other way to say so.
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
#define SYMC_HALVES(pack, pair, first, second)                                       \
    const pack even = __builtin_shufflevector(first, second, 0, 4, 2, 6);            \
    const pack odd = __builtin_shufflevector(first, second, 1, 5, 3, 7);             \
    const pair even_low = __builtin_shufflevector(even, even, 0, 1);                 \
    const pair even_high = __builtin_shufflevector(even, even, 2, 3);                \
    const pair odd_low = __builtin_shufflevector(odd, odd, 0, 1);                    \
    const pair odd_high = __builtin_shufflevector(odd, odd, 2, 3);
#else
#define SYMC_HALVES(pack, pair, first, second)                                       \
    const pair even_low = {first[0], second[0]}, odd_low = {first[1], second[1]};    \
    const pair even_high = {first[2], second[2]}, odd_high = {first[3], second[3]};
#endif

// SYMBOL symc_pair_fNN
typedef real symc_pair_fNN __attribute__((vector_size(2 * sizeof(real)), aligned(sizeof(real)), may_alias));

// SYMBOL symc_scatter_pairs_fNN
// NEEDS symc_pack_fNN symc_pair_fNN SYMC_HALVES
// The same for two packs, to the element at each place and to the one after it, at once.
static inline void symc_scatter_pairs_fNN(real *x, int64_t a, int64_t b, int64_t c, int64_t d,
                                          symc_pack_fNN first, symc_pack_fNN second) {
    SYMC_HALVES(symc_pack_fNN, symc_pair_fNN, first, second)
    *(symc_pair_fNN *)(x + a) += even_low;
    *(symc_pair_fNN *)(x + b) += odd_low;
    *(symc_pair_fNN *)(x + c) += even_high;
    *(symc_pair_fNN *)(x + d) += odd_high;
}
