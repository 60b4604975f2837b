// Shared by the host functions of every program: sizes in bytes that stop at SYMC_HUGE instead of
// wrapping, so that absurd lengths run out of memory.

void *malloc(size_t size);  // SYMBOL malloc
void free(void *memory);  // SYMBOL free

// SYMBOL SYMC_TOO_LARGE
// The status of a call of which a length does not fit into 64 bits. Lengths are exact: the functions
// below set a flag where they would wrap, and then the call ends before anything is done with them.
#define SYMC_TOO_LARGE ((int64_t)1 << 30)

// SYMBOL SYMC_PLAIN
// Before host functions that are a long list of steps. To optimise them takes gcc as long as the
// kernels of a network, and there is nothing in them to gain: what takes time is called from there.
#if defined(__GNUC__) && !defined(__clang__)
#define SYMC_PLAIN __attribute__((optimize("O0")))
#else
#define SYMC_PLAIN
#endif

// SYMBOL SYMC_STEPS
// Before host functions that run steps of a few operations. What one step stores and the next one
// loads from the same place then stays in a register; gcc has no such pass below -O2. In loops of
// vectors it is of no use, and makes some slower.
#if defined(__GNUC__) && !defined(__clang__)
#define SYMC_STEPS __attribute__((optimize("tree-pre")))
#else
#define SYMC_STEPS
#endif

// SYMBOL SYMC_JUMPS
// Before host functions that run steps of a few operations and have no vector loops. A condition
// that one step stores and the next one tests is then tested once. With vector loops gcc 12 loses
// stores so, see `flags` in targets/c.py.
#if defined(__GNUC__) && !defined(__clang__)
#define SYMC_JUMPS __attribute__((optimize("thread-jumps")))
#else
#define SYMC_JUMPS
#endif

// SYMBOL symc_length_sum
static inline int64_t symc_length_sum(int64_t a, int64_t b, bool *too_large) {
    int64_t sum;
    *too_large |= __builtin_add_overflow(a, b, &sum);
    return sum;
}

// SYMBOL symc_length_difference
static inline int64_t symc_length_difference(int64_t a, int64_t b, bool *too_large) {
    int64_t difference;
    *too_large |= __builtin_sub_overflow(a, b, &difference);
    return difference;
}

// SYMBOL symc_length_product
static inline int64_t symc_length_product(int64_t a, int64_t b, bool *too_large) {
    int64_t product;
    *too_large |= __builtin_mul_overflow(a, b, &product);
    return product;
}

// SYMBOL symc_length_quotient
// NEEDS symc_floordiv_i64
static inline int64_t symc_length_quotient(int64_t a, int64_t b, bool *too_large) {
    *too_large |= b == -1 && a == -0x7fffffffffffffff - 1;
    return symc_floordiv_i64(a, b);
}

// SYMBOL symc_stops
// NEEDS symc_call
// Whether the call is to end, its results unfinished. Asks, which takes some 40 ns.
static int symc_stops(symc_call *call) {
    if (!call->stopped && call->ask) call->stopped = call->ask(call->context) != 0;
    return call->stopped != 0;
}

// SYMBOL symc_parts
// How many parts a loop is cut into, of which threads take one after the other. There are several
// for each thread: one that the system lets wait then holds up little. None takes more than some
// milliseconds, as between them it is asked whether to stop; none is too short to be worth taking.
static inline int64_t symc_parts(int64_t work, int64_t threads) {
    int64_t parts = threads > 1 ? 4 * threads : 1;
    if (parts > work >> 16) parts = work >> 16;
    if (parts < work >> 22) parts = work >> 22;
    return parts < 1 ? 1 : parts > 65536 ? 65536 : parts;
}

// SYMBOL SYMC_HUGE
#define SYMC_HUGE ((int64_t)1 << 60)

// SYMBOL symc_times
// NEEDS SYMC_HUGE
static inline int64_t symc_times(int64_t bytes, int64_t length) {
    int64_t product;
    if (length <= 0) return 0;
    return __builtin_mul_overflow(bytes, length, &product) || product > SYMC_HUGE ? SYMC_HUGE
                                                                                 : product;
}

// SYMBOL symc_larger
static inline int64_t symc_larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// SYMBOL symc_after
// NEEDS SYMC_HUGE
// Where the next array may begin.
static inline int64_t symc_after(int64_t offset, int64_t bytes) {
    int64_t end = offset + ((bytes + 63) & ~(int64_t)63);
    return end > SYMC_HUGE ? SYMC_HUGE : end;
}

// SYMBOL symc_share
// Where a part of a loop begins: all but the last end are multiples of `granule`.
static inline int64_t symc_share(int64_t length, int64_t granule, int64_t part, int64_t parts) {
    return part == parts ? length : length / granule * part / parts * granule;
}
