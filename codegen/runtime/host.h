// What the host functions of every program use: one call as Python describes it, and sizes in
// bytes that stop at SYMC_HUGE instead of wrapping, so that absurd lengths run out of memory.

void *malloc(size_t size);  // SYMBOL malloc
void free(void *memory);  // SYMBOL free

// SYMBOL symc_call
typedef struct symc_call {
    void **data;                // one pointer for each input, shared, constant and output buffer
    const int64_t *lengths;     // every axis of inputs and shared buffers
    int64_t *shapes;            // every axis of outputs; -1 until measured
    int64_t *sizes;             // from prepare to run: the program's sizes, then the memory plan
    char *workspace;            // given between prepare and run, aligned to 64 bytes
    int64_t workspace_bytes;    // written by prepare
    int64_t threads;            // how many threads run may use
    void *(*allocate)(void *context, int64_t output);  // for an output that run measured
    void *context;
    int64_t (*host)(void *context, int64_t number, const void *const *arrays,
                    const int64_t *lengths);  // a function in Python: not 0 if it raises
} symc_call;

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
