// The exponential of a matrix: scaling, a Pade approximant and squaring (Higham 2005, "The scaling
// and squaring method for the matrix exponential revisited"); see lapack.h.

// SYMBOL SYMC_DEFINE_COMBINE
// The largest sum of absolute values in a column, and a linear combination of matrices and the
// identity; a complex number is two reals next to each other.
#define SYMC_DEFINE_COMBINE(suffix, type)                                                         \
    static double symc_column_norm_##suffix(int64_t n, int64_t parts, const type *a,              \
                                            double *sums) {                                       \
        double largest = 0;                                                                       \
        for (int64_t j = 0; j < n; j++) sums[j] = 0;                                              \
        for (int64_t i = 0; i < n * n * parts; i++)                                               \
            sums[i / parts % n] += a[i] < 0 ? -a[i] : a[i];                                       \
        for (int64_t j = 0; j < n; j++)                                                           \
            if (!(sums[j] <= largest)) largest = sums[j]; /* NaN stays */                         \
        return largest;                                                                           \
    }                                                                                             \
    static void symc_combine_##suffix(int64_t n, int64_t parts, int count, double identity,       \
                                      const double *factors, const type *const *terms,            \
                                      type *result) {                                             \
        for (int64_t i = 0; i < n * n * parts; i++) {                                             \
            type sum = 0;                                                                         \
            for (int k = 0; k < count; k++) sum += (type)factors[k] * terms[k][i];                \
            result[i] = sum;                                                                      \
        }                                                                                         \
        for (int64_t i = 0; i < n; i++) result[i * (n + 1) * parts] += (type)identity;            \
    }

// SYMBOL symc_combine
// NEEDS SYMC_DEFINE_COMBINE
SYMC_DEFINE_COMBINE(f32, float)
SYMC_DEFINE_COMBINE(f64, double)
static inline double symc_column_norm(int64_t kind, int64_t n, const void *a, double *sums) {
    return kind & 1 ? symc_column_norm_f64(n, 1 + (kind >> 1), (const double *)a, sums)
                    : symc_column_norm_f32(n, 1 + (kind >> 1), (const float *)a, sums);
}
static inline void symc_combine(int64_t kind, int64_t n, int count, double identity,
                                const double *factors, void *const *terms, void *result) {
    if (kind & 1)
        symc_combine_f64(n, 1 + (kind >> 1), count, identity, factors,
                         (const double *const *)terms, (double *)result);
    else
        symc_combine_f32(n, 1 + (kind >> 1), count, identity, factors,
                         (const float *const *)terms, (float *)result);
}

// SYMBOL symc_pade
// NEEDS symc_combine symc_multiply
// The odd part u and the even part v of the numerator of order m, from the powers 1, 2, 4, 6 and 8
// of a; `work` is one more matrix.
static void symc_pade(int64_t kind, int64_t n, int m, void *const *powers, void *u, void *v,
                      void *work, int64_t threads) {
    static const double b3[] = {120, 60, 12, 1}, b5[] = {30240, 15120, 3360, 420, 30, 1};
    static const double b7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
    static const double b9[] = {17643225600, 8821612800, 2075673600, 302702400, 30270240,
                                2162160,     110880,     3960,       90,        1};
    static const double b13[] = {64764752532480000, 32382376266240000, 7771770303897600,
                                 1187353796428800,  129060195264000,   10559470521600,
                                 670442572800,      33522128640,       1323241920,
                                 40840800,          960960,            16380,
                                 182,               1};
    const double *b = m == 3 ? b3 : m == 5 ? b5 : m == 7 ? b7 : m == 9 ? b9 : b13;
    const int low = m == 13 ? 3 : m / 2;
    double odd[4], even[4], high[3];
    for (int k = 0; k < low; k++) odd[k] = b[2 * k + 3], even[k] = b[2 * k + 2];
    symc_combine(kind, n, low, b[1], odd, powers + 1, work);
    symc_combine(kind, n, low, b[0], even, powers + 1, v);
    if (m == 13) {
        for (int k = 0; k < 3; k++) high[k] = b[2 * k + 9];
        symc_combine(kind, n, 3, 0, high, powers + 1, u);
        symc_multiply(kind, 0, 0, n, n, n, 1, powers[3], n, u, n, 1, work, n, threads);
        for (int k = 0; k < 3; k++) high[k] = b[2 * k + 8];
        symc_combine(kind, n, 3, 0, high, powers + 1, u);
        symc_multiply(kind, 0, 0, n, n, n, 1, powers[3], n, u, n, 1, v, n, threads);
    }
    symc_multiply(kind, 0, 0, n, n, n, 1, powers[0], n, work, n, 0, u, n, threads);
}

// SYMBOL symc_expm
// NEEDS symc_pade symc_lu symc_lu_solve symc_blas_enter symc_threads_for malloc free
// x = exp(a) for each matrix of a batch. Of float32 lower orders suffice.
static void symc_expm_one(int64_t kind, int64_t n, const void *a, void *x, void *memory,
                          int64_t threads) {
    static const double wide[] = {1.495585217958292e-2, 2.539398330063230e-1,
                                  9.504178996162932e-1, 2.097847961257068, 5.371920351148152};
    static const double narrow[] = {4.258730016922831e-1, 1.880152677804762, 3.925724783138660};
    static const int orders[] = {3, 5, 7, 9, 13};
    const double *limits = kind & 1 ? wide : narrow;
    const int last = kind & 1 ? 4 : 2;
    void *places[9];
    // The longest numbers come first: after an odd number of float32 they would lie askew.
    int64_t *pivots = memory, info;
    for (int k = 0; k < 9; k++) places[k] = symc_at(kind, pivots + n, k * n * n);
    void **powers = places, *u = places[5], *v = places[6], *work = places[7], *lu = places[8];
    const double norm = symc_column_norm(kind, n, a, (double *)pivots);
    if (!(norm < 1e300)) {
        __builtin_memset(x, 0xff, (size_t)(n * n * symc_bytes(kind)));
        return;
    }
    int choice = 0, squarings = 0;
    while (choice < last && norm > limits[choice]) choice++;
    double scale = 1;
    while (norm * scale > limits[last]) scale /= 2, squarings++;
    void *given = (void *)a;
    symc_combine(kind, n, 1, 0, &scale, &given, powers[0]);
    for (int k = 1; k < 5 && (k < 4 || orders[choice] == 9); k++)
        symc_multiply(kind, 0, 0, n, n, n, 1, k == 1 ? powers[0] : powers[1], n, powers[k - 1], n,
                      0, powers[k], n, threads);
    symc_pade(kind, n, orders[choice], powers, u, v, work, threads);
    void *const sides[] = {v, u};
    symc_combine(kind, n, 2, 0, (double[]){1, -1}, sides, powers[0]);
    symc_combine(kind, n, 2, 0, (double[]){1, 1}, sides, powers[1]);
    symc_lu(kind, 1, n, powers[0], lu, pivots, &info, threads);
    symc_lu_solve(kind, 1, 0, n, n, lu, pivots, 1, powers[1], work, threads);
    for (; squarings > 0; squarings--) {
        symc_multiply(kind, 0, 0, n, n, n, 1, work, n, work, n, 0, u, n, threads);
        void *const squared = u;
        u = work, work = squared;
    }
    __builtin_memcpy(x, work, (size_t)(n * n * symc_bytes(kind)));
}
static void symc_expm(int64_t kind, int64_t batch, int64_t n, const void *a, void *x,
                      int64_t threads) {
    const int64_t each = symc_threads_for(batch, 20.0 * n * n * n, threads);
    const int many = each < threads;
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        void *memory = malloc((size_t)(9 * n * n * symc_bytes(kind) + 8 * n + 8));
        void *own = symc_at(kind, x, q * n * n);
        if (memory)
            symc_expm_one(kind, n, symc_at(kind, a, q * n * n), own, memory, each);
        else
            __builtin_memset(own, 0xff, (size_t)(n * n * symc_bytes(kind)));
        free(memory);
    }
    symc_blas_enter(-1);
}
