// Threads, where the compiler has a runtime for them; else loops run on one. And vector registers.

// SYMBOL symc_thread
// The number of the present thread, among those of a parallel loop.
#ifdef _OPENMP
int omp_get_thread_num(void);
static inline int64_t symc_thread(void) { return omp_get_thread_num(); }
#else
static inline int64_t symc_thread(void) { return 0; }
#endif

// SYMBOL SYMC_FOLDS
// For kernels that accumulate in vector registers. At -O1 gcc folds their lanes at the end one by
// one through memory, which takes longer than a short row; the first two make it do so in
// registers. The third keeps vectors of 16 bytes there that it reads half by half at the end: it
// takes them for two integers, which without AVX stood on the stack throughout the loop.
#if defined(__GNUC__) && !defined(__clang__)
#define SYMC_FOLDS \
    __attribute__((optimize("peel-loops", "tree-slp-vectorize", "no-split-wide-types")))
#else
#define SYMC_FOLDS
#endif

// SYMBOL SYMC_CHOICES
// For kernels with vector loops that choose among results of functions. gcc moves what only one side
// needs into a branch, functions too, and those in branches have no vector form.
#if defined(__GNUC__) && !defined(__clang__)
#define SYMC_CHOICES __attribute__((optimize("no-tree-sink")))
#else
#define SYMC_CHOICES
#endif

// SYMBOL SYMC_FOLDED_CHOICES
// For kernels of both kinds: of two such attributes gcc heeds the last alone.
#if defined(__GNUC__) && !defined(__clang__)
#define SYMC_FOLDED_CHOICES                                                  \
    __attribute__((optimize("peel-loops", "tree-slp-vectorize",              \
                            "no-split-wide-types", "no-tree-sink")))
#else
#define SYMC_FOLDED_CHOICES
#endif

// SYMBOL SYMC_NARROW
// For kernels whose loops permute groups of doubles. gcc 12 takes some permutations of eight doubles
// for ones within pairs, and stores numbers of other groups; those of four are right.
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#define SYMC_NARROW __attribute__((target("prefer-vector-width=256")))
#else
#define SYMC_NARROW
#endif

// SYMBOL SYMC_SIMD_WITH_ARRAYS
// Of a loop whose iterations have arrays of their own: clang, up to 16 at least, takes "simd" to say
// that the lanes' arrays are apart, gives all lanes the same one, and then mixes their accesses.
#ifdef __clang__
#define SYMC_SIMD_WITH_ARRAYS simd safelen(1)
#else
#define SYMC_SIMD_WITH_ARRAYS simd
#endif

// SYMBOL symc_choose_f64
// `test ? a : b`, without a jump in what is left of a row after the last whole vector. gcc 12 takes as
// many elements at a time as a vector has bytes if the test is one of bytes, and shorter rows have
// none. In vectors it takes up to 1.15 times as long with AVX-512, 1.35 with AVX2.
static inline double symc_choose_f64(bool test, double a, double b) {
    int64_t one, other, mask = -(int64_t)test;
    double chosen;
    __builtin_memcpy(&one, &a, 8);
    __builtin_memcpy(&other, &b, 8);
    one = (one & mask) | (other & ~mask);
    __builtin_memcpy(&chosen, &one, 8);
    return chosen;
}

// SYMBOL symc_choose_f32
// See symc_choose_f64.
static inline float symc_choose_f32(bool test, float a, float b) {
    int32_t one, other, mask = -(int32_t)test;
    float chosen;
    __builtin_memcpy(&one, &a, 4);
    __builtin_memcpy(&other, &b, 4);
    one = (one & mask) | (other & ~mask);
    __builtin_memcpy(&chosen, &one, 4);
    return chosen;
}

// SYMBOL symc_choose_b1
// One of two bools of memory, of which the bytes are chosen: gcc makes `&` and `|` of bools of a
// selection of them, which is right for bytes that are 0 or 1 alone.
static inline bool symc_choose_b1(bool test, bool a, bool b) {
    uint8_t one, other, mask = (uint8_t)-(uint8_t)test;
    __builtin_memcpy(&one, &a, 1);
    __builtin_memcpy(&other, &b, 1);
    return ((one & mask) | (other & (uint8_t)~mask)) != 0;
}

// SYMBOL symc_truth
// A bool from memory as one that a comparison gives: gcc 12 vectorises no expression that mixes the
// two, no ! of one from memory, no sum of them, and no choice of floats by one.
static inline bool symc_truth(bool x) {
    uint8_t byte;
    __builtin_memcpy(&byte, &x, 1);
    return byte != 0;
}
