// Collective operations of MPI, called through a table of addresses: no program is linked with an
// MPI, and the one that mpi4py has loaded serves all (targets/mpi.py fills the table).
//
// Handles of communicators, types and operations are ints in MPICH's binary interface and pointers
// in Open MPI's. Both pass in a register or in a slot of the stack of eight bytes, of which the
// callee reads as many as it needs, on x86-64 and on 64-bit Arm. So one prototype serves both.
//
// Errors of MPI end the process: symc's communicators have MPI's fatal error handler. Arrays whose
// lengths differ between the processes would only sometimes be one. Where lengths are not in the
// program, they are compared before anything is sent: `lengths` receives the least and the largest
// number of elements, and a result is left as it is unless these are equal.

// SYMBOL symc_mpi
// In the order of targets/mpi.py: functions, the number of no process, the address that says that a
// buffer is both given and received, element types, operations, communicators.
enum {
    SYMC_MPI_ALLREDUCE, SYMC_MPI_ALLGATHER, SYMC_MPI_REDUCE_SCATTER, SYMC_MPI_BCAST,
    SYMC_MPI_SENDRECV, SYMC_MPI_RANK, SYMC_MPI_SIZE, SYMC_MPI_IALLREDUCE, SYMC_MPI_WAIT,
    SYMC_MPI_NOBODY, SYMC_MPI_IN_PLACE, SYMC_MPI_TYPES,
    SYMC_MPI_REDUCTIONS = SYMC_MPI_TYPES + 13, SYMC_MPI_GROUPS = SYMC_MPI_REDUCTIONS + 3,
    SYMC_MPI_ENTRIES = SYMC_MPI_GROUPS + 16
};
void *symc_mpi[SYMC_MPI_ENTRIES];
#define SYMC_MPI_MOST ((int64_t)1 << 30) /* elements in one message: counts are ints */

// SYMBOL symc_mpi_handle
// NEEDS symc_mpi
static inline void *symc_mpi_type(int64_t kind) { return symc_mpi[SYMC_MPI_TYPES + kind]; }
static inline void *symc_mpi_group(int64_t group) { return symc_mpi[SYMC_MPI_GROUPS + group]; }
static inline int64_t symc_mpi_bytes(int64_t kind) {
    static const char bytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};
    return bytes[kind];
}
static inline int symc_mpi_ask(int64_t group, int what) {
    int answer = 0;
    ((int (*)(void *, int *))symc_mpi[what])(symc_mpi_group(group), &answer);
    return answer;
}

// SYMBOL symc_mpi_reduce
// NEEDS symc_mpi_handle
static inline void symc_mpi_reduce(int64_t group, int64_t kind, int64_t reduction, int64_t n,
                                   const void *x, void *result) {
    int (*all_reduce)(const void *, void *, int, void *, void *, void *) =
        (int (*)(const void *, void *, int, void *, void *, void *))symc_mpi[SYMC_MPI_ALLREDUCE];
    for (int64_t start = 0; start < n; start += SYMC_MPI_MOST) {
        const int64_t left = n - start, bytes = start * symc_mpi_bytes(kind);
        all_reduce((const char *)x + bytes, (char *)result + bytes,
                   (int)(left < SYMC_MPI_MOST ? left : SYMC_MPI_MOST), symc_mpi_type(kind),
                   symc_mpi[SYMC_MPI_REDUCTIONS + reduction], symc_mpi_group(group));
    }
}

// SYMBOL symc_mpi_agree
// NEEDS symc_mpi_reduce
// Whether all processes have arrays of `n` elements. Known: `fixed`, by the program.
static inline int symc_mpi_agree(int64_t group, int64_t fixed, int64_t n, int64_t *lengths) {
    int64_t mine[2] = {-n, n}, most[2] = {-n, n};
    if (!fixed) symc_mpi_reduce(group, 4, 1, 2, mine, most); /* int64, max */
    lengths[0] = -most[0];
    lengths[1] = most[1];
    return lengths[0] == lengths[1];
}

// SYMBOL symc_mpi_all_reduce
// NEEDS symc_mpi_agree
static void symc_mpi_all_reduce(int64_t group, int64_t fixed, int64_t kind, int64_t reduction,
                                int64_t n, const void *x, void *result, int64_t *lengths,
                                int64_t threads) {
    (void)threads;
    if (symc_mpi_agree(group, fixed, n, lengths))
        symc_mpi_reduce(group, kind, reduction, n, x, result);
}

// SYMBOL symc_mpi_all_gather
// NEEDS symc_mpi_agree
// `x` of every process, one after the other.
static void symc_mpi_all_gather(int64_t group, int64_t fixed, int64_t kind, int64_t n,
                                const void *x, void *result, int64_t *lengths, int64_t threads) {
    (void)threads;
    if (!symc_mpi_agree(group, fixed, n, lengths)) return;
    ((int (*)(const void *, int, void *, void *, int, void *, void *))symc_mpi[SYMC_MPI_ALLGATHER])(
        x, (int)n, symc_mpi_type(kind), result, (int)n, symc_mpi_type(kind), symc_mpi_group(group));
}

// SYMBOL symc_mpi_reduce_scatter
// NEEDS symc_mpi_agree
// Sums over the processes: of as many parts as there are processes, each receives its own.
static void symc_mpi_reduce_scatter(int64_t group, int64_t fixed, int64_t kind, int64_t n,
                                    const void *x, void *result, int64_t *lengths,
                                    int64_t threads) {
    (void)threads;
    if (!symc_mpi_agree(group, fixed, n, lengths)) return;
    ((int (*)(const void *, void *, int, void *, void *, void *))symc_mpi[SYMC_MPI_REDUCE_SCATTER])(
        x, result, (int)n, symc_mpi_type(kind), symc_mpi[SYMC_MPI_REDUCTIONS],
        symc_mpi_group(group));
}

// SYMBOL symc_mpi_broadcast
// NEEDS symc_mpi_agree
static void symc_mpi_broadcast(int64_t group, int64_t fixed, int64_t kind, int64_t root, int64_t n,
                               const void *x, void *result, int64_t *lengths, int64_t threads) {
    (void)threads;
    const int64_t size = symc_mpi_bytes(kind);
    if (!symc_mpi_agree(group, fixed, n, lengths)) return;
    if (symc_mpi_ask(group, SYMC_MPI_RANK) == root) memcpy(result, x, (size_t)(n * size));
    for (int64_t start = 0; start < n; start += SYMC_MPI_MOST) {
        const int64_t left = n - start;
        ((int (*)(void *, int, void *, int, void *))symc_mpi[SYMC_MPI_BCAST])(
            (char *)result + start * size, (int)(left < SYMC_MPI_MOST ? left : SYMC_MPI_MOST),
            symc_mpi_type(kind), (int)root, symc_mpi_group(group));
    }
}

// SYMBOL symc_mpi_to_root
// NEEDS symc_mpi_agree
// The sum over the processes on one of them, and 0 on the others.
static void symc_mpi_to_root(int64_t group, int64_t fixed, int64_t kind, int64_t root, int64_t n,
                             const void *x, void *result, int64_t *lengths, int64_t threads) {
    (void)threads;
    if (!symc_mpi_agree(group, fixed, n, lengths)) return;
    symc_mpi_reduce(group, kind, 0, n, x, result);
    if (symc_mpi_ask(group, SYMC_MPI_RANK) != root)
        memset(result, 0, (size_t)(n * symc_mpi_bytes(kind)));
}

// SYMBOL symc_mpi_shift
// NEEDS symc_mpi_agree
// `x` of the process `by` places before this one, around in a ring if `wrap`, else 0 where there is
// none.
static void symc_mpi_shift(int64_t group, int64_t fixed, int64_t kind, int64_t by, int64_t wrap,
                           int64_t n, const void *x, void *result, int64_t *lengths,
                           int64_t threads) {
    (void)threads;
    if (!symc_mpi_agree(group, fixed, n, lengths)) return;
    const int64_t rank = symc_mpi_ask(group, SYMC_MPI_RANK);
    const int64_t size = symc_mpi_ask(group, SYMC_MPI_SIZE);
    const int nobody = (int)(int64_t)symc_mpi[SYMC_MPI_NOBODY];
    int64_t ends[2] = {rank + by, rank - by}; /* to whom, from whom */
    for (int end = 0; end < 2; end++)
        if (wrap) ends[end] = ((ends[end] % size) + size) % size;
        else if (ends[end] < 0 || ends[end] >= size) ends[end] = nobody;
    if (ends[1] == nobody) memset(result, 0, (size_t)(n * symc_mpi_bytes(kind)));
    int64_t status[32];
    int (*exchange)(const void *, int, void *, int, int, void *, int, void *, int, int, void *,
                    void *) =
        (int (*)(const void *, int, void *, int, int, void *, int, void *, int, int, void *,
                 void *))symc_mpi[SYMC_MPI_SENDRECV];
    exchange(x, (int)n, symc_mpi_type(kind), (int)ends[0], 7, result, (int)n, symc_mpi_type(kind),
             (int)ends[1], 7, symc_mpi_group(group), status);
}

// SYMBOL symc_mpi_begin_sum
// NEEDS symc_mpi_agree malloc
// Begins a sum over the processes that goes on while the program does other things, in memory of
// its own: a call that ends with an error in between must not take it away. `pending` receives its
// address, for symc_mpi_end_sum. Without memory the process ends, as other errors of MPI end it.
static void symc_mpi_begin_sum(int64_t group, int64_t fixed, int64_t kind, int64_t n, const void *x,
                               int64_t *pending, int64_t *lengths, int64_t threads) {
    (void)threads;
    pending[0] = 0;
    if (!symc_mpi_agree(group, fixed, n, lengths)) return;
    const int64_t pieces = (n + SYMC_MPI_MOST - 1) / SYMC_MPI_MOST, bytes = n * symc_mpi_bytes(kind);
    void **memory = malloc((size_t)(pieces * 8 + bytes + 8));
    if (!memory) __builtin_trap();
    char *values = (char *)(memory + pieces);
    memcpy(values, x, (size_t)bytes);
    for (int64_t piece = 0; piece < pieces; piece++) {
        const int64_t start = piece * SYMC_MPI_MOST, left = n - start;
        memory[piece] = 0;
        ((int (*)(const void *, void *, int, void *, void *, void *,
                  void **))symc_mpi[SYMC_MPI_IALLREDUCE])(
            symc_mpi[SYMC_MPI_IN_PLACE], values + start * symc_mpi_bytes(kind),
            (int)(left < SYMC_MPI_MOST ? left : SYMC_MPI_MOST), symc_mpi_type(kind),
            symc_mpi[SYMC_MPI_REDUCTIONS], symc_mpi_group(group), memory + piece);
    }
    pending[0] = (int64_t)memory;
}

// SYMBOL symc_mpi_end_sum
// NEEDS symc_mpi_handle malloc free
// Waits for the sum that was begun.
static void symc_mpi_end_sum(int64_t kind, int64_t n, const int64_t *pending, void *result,
                             int64_t threads) {
    (void)threads;
    const int64_t pieces = (n + SYMC_MPI_MOST - 1) / SYMC_MPI_MOST;
    void **memory = (void **)pending[0];
    int64_t status[32];
    for (int64_t piece = 0; piece < pieces; piece++)
        ((int (*)(void **, void *))symc_mpi[SYMC_MPI_WAIT])(memory + piece, status);
    memcpy(result, memory + pieces, (size_t)(n * symc_mpi_bytes(kind)));
    free(memory);
}
