// The diagonal blocks of triangular systems. LAPACK and BLAS take most of their time there: the
// products between blocks run at the speed of the processor, blocks of 64 rows at a quarter of it.
// Blocks are worked on in float64, whatever their type, and in memory of their own, so that neither
// the distance between rows nor the order of elements matters. `kind` is that of lapack.h, and real.

// SYMBOL symc_sides
// Two vectors of right sides are eliminated at once: as many as keep the processor's units busy
// together with four rows, and still find room in its registers.
#ifdef __AVX512F__
enum { SYMC_SIDES = 8 };
#else
enum { SYMC_SIDES = 4 };
#endif
typedef double symc_sides __attribute__((vector_size(8 * SYMC_SIDES)));
enum { SYMC_CORNER = 64, SYMC_STRIP = 2 * SYMC_SIDES };

// SYMBOL symc_load
// One element of an array of either real kind, as float64; and the same way back.
static inline double symc_load(int64_t kind, const void *array, int64_t index) {
    return kind ? ((const double *)array)[index] : (double)((const float *)array)[index];
}
static inline void symc_store(int64_t kind, void *array, int64_t index, double value) {
    if (kind) ((double *)array)[index] = value;
    else ((float *)array)[index] = (float)value;
}

// SYMBOL symc_eliminate
// NEEDS symc_sides
// x = t^-1 x for a lower triangle t with the reciprocals of its diagonal, and a strip of columns.
// n is a multiple of 4.
static void symc_eliminate(int64_t n, const double *t, symc_sides *x) {
    for (int64_t i = 0; i < n; i += 4) {
        const double *const t0 = t + i * SYMC_CORNER, *const t1 = t0 + SYMC_CORNER;
        const double *const t2 = t1 + SYMC_CORNER, *const t3 = t2 + SYMC_CORNER;
        symc_sides *const own = x + 2 * i;
        symc_sides a0 = own[0], a1 = own[2], a2 = own[4], a3 = own[6];
        symc_sides b0 = own[1], b1 = own[3], b2 = own[5], b3 = own[7];
        for (int64_t j = 0; j < i; j++) {
            const symc_sides a = x[2 * j], b = x[2 * j + 1];
            a0 -= t0[j] * a, b0 -= t0[j] * b;
            a1 -= t1[j] * a, b1 -= t1[j] * b;
            a2 -= t2[j] * a, b2 -= t2[j] * b;
            a3 -= t3[j] * a, b3 -= t3[j] * b;
        }
        a0 *= t0[i], b0 *= t0[i];
        a1 = (a1 - t1[i] * a0) * t1[i + 1], b1 = (b1 - t1[i] * b0) * t1[i + 1];
        a2 = (a2 - t2[i] * a0 - t2[i + 1] * a1) * t2[i + 2];
        b2 = (b2 - t2[i] * b0 - t2[i + 1] * b1) * t2[i + 2];
        a3 = (a3 - t3[i] * a0 - t3[i + 1] * a1 - t3[i + 2] * a2) * t3[i + 3];
        b3 = (b3 - t3[i] * b0 - t3[i + 1] * b1 - t3[i + 2] * b2) * t3[i + 3];
        own[0] = a0, own[1] = b0, own[2] = a1, own[3] = b1;
        own[4] = a2, own[5] = b2, own[6] = a3, own[7] = b3;
    }
}

// SYMBOL symc_substitute
// NEEDS symc_eliminate symc_load
// The same for a triangle of at most 64 rows, `row` and `column` elements apart, and m columns of x,
// whose rows are `down` and whose columns are `along` elements apart, one of which is 1 or -1. An
// upper triangle is a lower one that begins at its end.
static void symc_take_strip(int64_t kind, int64_t n, int64_t m, const void *x, int64_t down,
                            int64_t along, double *to) {
    if (kind && along == 1 && m == SYMC_STRIP)
        for (int64_t i = 0; i < n; i++)
            __builtin_memcpy(to + i * SYMC_STRIP, (const double *)x + i * down,
                             SYMC_STRIP * sizeof(double));
    else
        for (int64_t c = 0; c < m; c++)
            for (int64_t i = 0; i < n; i++)
                to[i * SYMC_STRIP + c] = symc_load(kind, x, i * down + c * along);
}
static void symc_put_strip(int64_t kind, int64_t n, int64_t m, const double *from, void *x,
                           int64_t down, int64_t along) {
    if (kind && along == 1 && m == SYMC_STRIP)
        for (int64_t i = 0; i < n; i++)
            __builtin_memcpy((double *)x + i * down, from + i * SYMC_STRIP,
                             SYMC_STRIP * sizeof(double));
    else
        for (int64_t c = 0; c < m; c++)
            for (int64_t i = 0; i < n; i++)
                symc_store(kind, x, i * down + c * along, from[i * SYMC_STRIP + c]);
}
static int64_t symc_take_triangle(int64_t kind, int unit, int64_t n, const void *a, int64_t row,
                                  int64_t column, double *t) {
    const int64_t rows = (n + 3) / 4 * 4;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < i; j++)
            t[i * SYMC_CORNER + j] = i < n ? symc_load(kind, a, i * row + j * column) : 0;
        t[i * SYMC_CORNER + i] = unit || i >= n ? 1 : 1 / symc_load(kind, a, i * (row + column));
    }
    return rows;
}
static void symc_eliminate_strips(int64_t kind, int64_t n, int64_t m, int64_t rows, const double *t,
                                  void *x, int64_t down, int64_t along) {
    symc_sides strip[2 * SYMC_CORNER] = {0};
    const int64_t width = 4 << kind;
    for (int64_t first = 0; first < m; first += SYMC_STRIP) {
        const int64_t count = m - first < SYMC_STRIP ? m - first : SYMC_STRIP;
        void *const own = (char *)x + first * along * width;
        symc_take_strip(kind, n, count, own, down, along, (double *)strip);
        symc_eliminate(rows, t, strip);
        symc_put_strip(kind, n, count, (const double *)strip, own, down, along);
    }
}
static void symc_substitute(int64_t kind, int unit, int64_t n, int64_t m, const void *a,
                            int64_t row, int64_t column, void *x, int64_t down, int64_t along) {
    double t[SYMC_CORNER * SYMC_CORNER];
    const int64_t rows = symc_take_triangle(kind, unit, n, a, row, column, t);
    symc_eliminate_strips(kind, n, m, rows, t, x, down, along);
}

// SYMBOL symc_block_cholesky
// NEEDS symc_sides symc_load
// The Cholesky factor of a block of at most 64 rows, in place of the lower triangle. It is worked on
// as its transpose, whose rows are vectors. The order of the minor that is not positive, or 0.
static int64_t symc_block_cholesky(int64_t kind, int64_t n, void *l, int64_t ldl) {
    double u[SYMC_CORNER * SYMC_CORNER];
    const int64_t width = (n + 7) / 8 * 8;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) u[j * SYMC_CORNER + i] = symc_load(kind, l, i * ldl + j);
        for (int64_t j = 0; j < i; j++) u[i * SYMC_CORNER + j] = 0;
        for (int64_t j = n; j < width; j++) u[i * SYMC_CORNER + j] = 0;
    }
    for (int64_t k = 0; k < n; k++) {
        double *const row = u + k * SYMC_CORNER;
        if (row[k] <= 0) return k + 1;  // NaN stays NaN, as with LAPACK
        const double root = __builtin_sqrt(row[k]), scale = 1 / root;
        for (int64_t j = k + 1; j < n; j++) row[j] *= scale;
        row[k] = root;
        for (int64_t i = k + 1; i < n; i++) {
            double *const other = u + i * SYMC_CORNER;
            const double factor = row[i];
#pragma omp simd
            for (int64_t j = i / 8 * 8; j < width; j++) other[j] -= factor * row[j];
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) symc_store(kind, l, i * ldl + j, u[j * SYMC_CORNER + i]);
    return 0;
}

// SYMBOL symc_invert_block
// NEEDS symc_substitute
// The inverse of a lower triangle of at most 64 rows, in place; and a row of numbers, negated.
static void symc_invert_block(int64_t kind, int64_t n, void *l, int64_t ldl) {
    double t[SYMC_CORNER * SYMC_CORNER], x[SYMC_CORNER * SYMC_CORNER] = {0};
    const int64_t rows = symc_take_triangle(kind, 0, n, l, ldl, 1, t);
    for (int64_t i = 0; i < n; i++) x[i * SYMC_CORNER + i] = 1;
    symc_eliminate_strips(1, n, n, rows, t, x, SYMC_CORNER, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) symc_store(kind, l, i * ldl + j, x[i * SYMC_CORNER + j]);
}
static void symc_negate(int64_t kind, int64_t n, void *x) {
    for (int64_t j = 0; j < n; j++) symc_store(kind, x, j, -symc_load(kind, x, j));
}
