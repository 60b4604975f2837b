// Factorisations of real matrices so small that LAPACK would take most of its time to begin. They
// are worked on in float64, whatever their type, and one by one: nothing depends on threads. `kind`
// and `info` are those of lapack.h.

// SYMBOL symc_is_small
// Whether a matrix is one of these; copies of matrices whose rows and columns are `row` and
// `column` elements apart.
enum { SYMC_SIDE = 16 };
static inline int symc_is_small(int64_t kind, int64_t n) { return kind < 2 && n <= SYMC_SIDE; }
static void symc_take(int64_t kind, int64_t n, int64_t m, const void *a, int64_t row,
                      int64_t column, double *to) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            to[i * m + j] = kind ? ((const double *)a)[i * row + j * column]
                                 : (double)((const float *)a)[i * row + j * column];
}
static void symc_put(int64_t kind, int64_t n, int64_t m, const double *from, void *a, int64_t row,
                     int64_t column) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            if (kind) ((double *)a)[i * row + j * column] = from[i * m + j];
            else ((float *)a)[i * row + j * column] = (float)from[i * m + j];
}

// SYMBOL symc_small_lu
// NEEDS symc_is_small
// The LU factors of one matrix, as `symc_lu` gives them.
static int64_t symc_small_lu(int64_t kind, int64_t n, void *matrix, int64_t *pivots) {
    int64_t info = 0;
    double a[SYMC_SIDE * SYMC_SIDE];
    symc_take(kind, n, n, matrix, n, 1, a);
    for (int64_t k = 0; k < n; k++) {
        double *const row = a + k * n;
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (__builtin_fabs(row[i]) > __builtin_fabs(row[best])) best = i;
        pivots[k] = best;
        if (row[best] == 0 && !info) info = k + 1;
        if (row[best] == 0) continue;
        for (double *at = a; best != k && at < a + n * n; at += n) {
            const double kept = at[k];
            at[k] = at[best];
            at[best] = kept;
        }
        for (int64_t i = k + 1; i < n; i++) row[i] /= row[k];
        for (int64_t j = k + 1; j < n; j++)
            for (int64_t i = k + 1; i < n; i++) a[j * n + i] -= a[j * n + k] * row[i];
    }
    symc_put(kind, n, n, a, matrix, n, 1);
    return info;
}

// SYMBOL symc_small_cholesky
// NEEDS symc_is_small
// The lower triangle of a matrix's factor, in place.
static int64_t symc_small_cholesky(int64_t kind, int64_t n, void *matrix) {
    double l[SYMC_SIDE * SYMC_SIDE];
    symc_take(kind, n, n, matrix, n, 1, l);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double rest = l[i * n + j];
            for (int64_t k = 0; k < j; k++) rest -= l[i * n + k] * l[j * n + k];
            if (i == j && rest <= 0) return i + 1;  // NaN stays NaN, as with LAPACK
            l[i * n + j] = i == j ? __builtin_sqrt(rest) : rest / l[j * n + j];
        }
    symc_put(kind, n, n, l, matrix, n, 1);
    return 0;
}

// SYMBOL symc_small_triangle
// NEEDS symc_is_small
// Solves a x = x for a triangle and m columns, by substitution.
static void symc_small_triangle(int64_t kind, int lower, int unit, int64_t n, int64_t m,
                                const void *triangle, int64_t row, int64_t column, void *result,
                                int64_t down, int64_t along) {
    double a[SYMC_SIDE * SYMC_SIDE], x[SYMC_SIDE * SYMC_SIDE];
    symc_take(kind, n, n, triangle, row, column, a);
    symc_take(kind, n, m, result, down, along, x);
    for (int64_t step = 0; step < n; step++) {
        const int64_t i = lower ? step : n - 1 - step;
        for (int64_t before = 0; before < step; before++) {
            const int64_t j = lower ? before : n - 1 - before;
            for (int64_t c = 0; c < m; c++) x[i * m + c] -= a[i * n + j] * x[j * m + c];
        }
        for (int64_t c = 0; c < m && !unit; c++) x[i * m + c] /= a[i * n + i];
    }
    symc_put(kind, n, m, x, result, down, along);
}
