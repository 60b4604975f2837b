// Sparse matrices in compressed rows, times dense ones: row i of m has the elements `data[p]` in
// the columns `indices[p]` below k, for p from `starts[i]` to `starts[i + 1]`, in any order; those
// of one place add up. Dense matrices are row-major, with n columns. Indices are looked at, those of
// some rows at once, before they are used: a status of 1 says that the parts are not a matrix.

// SYMBOL symc_sparse
typedef struct symc_sparse {
    int64_t m, k, entries;
    const int32_t *indices;
    const int64_t *starts;
} symc_sparse;

// SYMBOL symc_row_starts
// NEEDS symc_sparse
// Whether the rows follow each other from the first element to the last one.
static int64_t symc_row_starts(const symc_sparse *a) {
    int64_t wrong = a->m < 0 || a->starts[0] != 0 || a->starts[a->m] != a->entries;
    for (int64_t i = 0; i < a->m; i++) wrong |= a->starts[i + 1] < a->starts[i];
    return wrong;
}

// SYMBOL symc_row_indices
// NEEDS symc_sparse
// Whether an index in rows first ... last - 1 is none of a column. (A negative one is great.)
static int64_t symc_row_indices(const symc_sparse *a, int64_t first, int64_t last) {
    uint32_t greatest = 0;
    const uint32_t *indices = (const uint32_t *)a->indices;
    const int64_t start = a->starts[first], end = a->starts[last];
#pragma omp simd reduction(max : greatest)
    for (int64_t p = start; p < end; p++)
        greatest = indices[p] > greatest ? indices[p] : greatest;
    return start < end && (int64_t)greatest >= a->k;
}

// SYMBOL symc_row_chunk
// So many rows are a thread's next piece: several for each thread, as rows differ in length, and few
// enough that the indices are still in the cache after they were looked at.
static inline int64_t symc_row_chunk(int64_t rows, int64_t threads) {
    const int64_t chunk = rows / (8 * (threads > 0 ? threads : 1));
    return chunk > 512 ? 512 : chunk > 0 ? chunk : 1;
}

// SYMBOL symc_sparse_row_fNN
// NEEDS symc_sparse
// A row of A times a vector: four sums, none of which waits for the others.
static inline real symc_sparse_row_fNN(const symc_sparse *a, int64_t i, const real *data,
                                       const real *x) {
    real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const int64_t start = a->starts[i], count = a->starts[i + 1] - start;
    const int32_t *at = a->indices + start;
    data += start;
    int64_t p = 0;
    for (; p + 4 <= count; p += 4) {
        s0 += data[p] * x[at[p]];
        s1 += data[p + 1] * x[at[p + 1]];
        s2 += data[p + 2] * x[at[p + 2]];
        s3 += data[p + 3] * x[at[p + 3]];
    }
    for (; p < count; p++) s0 += data[p] * x[at[p]];
    return (s0 + s1) + (s2 + s3);
}

// SYMBOL symc_sparse_vector_fNN
// NEEDS symc_sparse symc_sparse_row_fNN symc_row_indices
// Rows first ... last - 1 of A times a vector. So many rows are looked at before they are used that
// their indices stay in the cache, and enough that elements of x are waited for together. A short row
// is one loop: the end of a second one would be guessed wrongly as often as that of the first.
static __attribute__((noinline)) int64_t symc_sparse_vector_fNN(const symc_sparse *a, int64_t first,
                                                                int64_t last,
                                                                const real *restrict data,
                                                                const real *restrict x,
                                                                real *restrict y) {
    const int32_t *restrict indices = a->indices;
    const int64_t *restrict starts = a->starts;
    const int64_t per_row = first < last ? (starts[last] - starts[first]) / (last - first) : 0;
    const int64_t rows = 2048 / (per_row + 1) + 8;
    for (int64_t i = first; i < last;) {
        const int64_t end = i + rows < last ? i + rows : last;
        if (symc_row_indices(a, i, end)) return 1;
        if (per_row < 16) {
            int64_t p = starts[i];
            for (; i < end; i++) {
                const int64_t stop = starts[i + 1];
                real sum = 0;
                for (; p < stop; p++) sum += data[p] * x[indices[p]];
                y[i] = sum;
            }
        } else {
            for (; i < end; i++) y[i] = symc_sparse_row_fNN(a, i, data, x);
        }
    }
    return 0;
}

// SYMBOL symc_eight_f32
typedef float symc_eight_f32 __attribute__((vector_size(32), aligned(4), may_alias));

// SYMBOL symc_eight_f64
typedef double symc_eight_f64 __attribute__((vector_size(64), aligned(8), may_alias));

// SYMBOL symc_sparse_four_fNN
// NEEDS symc_sparse symc_eight_fNN
// 32 columns of a row of A x, whose sums stay in registers.
static inline void symc_sparse_four_fNN(const symc_sparse *a, int64_t i, int64_t n,
                                        const real *data, const real *x, real *y) {
    symc_eight_fNN s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t p = a->starts[i]; p < a->starts[i + 1]; p++) {
        const symc_eight_fNN *row = (const symc_eight_fNN *)(x + a->indices[p] * n);
        const real factor = data[p];
        s0 += factor * row[0];
        s1 += factor * row[1];
        s2 += factor * row[2];
        s3 += factor * row[3];
    }
    symc_eight_fNN *to = (symc_eight_fNN *)y;
    to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
}

// SYMBOL symc_sparse_one_fNN
// NEEDS symc_sparse symc_eight_fNN
// 8 columns of a row of A x.
static inline void symc_sparse_one_fNN(const symc_sparse *a, int64_t i, int64_t n,
                                       const real *data, const real *x, real *y) {
    symc_eight_fNN sum = {0};
    for (int64_t p = a->starts[i]; p < a->starts[i + 1]; p++)
        sum += data[p] * *(const symc_eight_fNN *)(x + a->indices[p] * n);
    *(symc_eight_fNN *)y = sum;
}

// SYMBOL symc_sparse_few_fNN
// NEEDS symc_sparse
// The last columns of a row of A x, fewer than 8.
static inline void symc_sparse_few_fNN(const symc_sparse *a, int64_t i, int64_t n, int64_t width,
                                       const real *data, const real *x, real *y) {
    for (int64_t j = 0; j < width; j++) y[j] = 0;
    for (int64_t p = a->starts[i]; p < a->starts[i + 1]; p++) {
        const real factor = data[p], *row = x + a->indices[p] * n;
        for (int64_t j = 0; j < width; j++) y[j] += factor * row[j];
    }
}

// SYMBOL symc_sparse_rows_fNN
// NEEDS symc_sparse_four_fNN symc_sparse_one_fNN symc_sparse_few_fNN
// NEEDS symc_sparse_vector_fNN symc_row_indices
// Rows first ... last - 1 of A x. What a row needs of x stays in the cache from one piece of the
// columns to the next.
static __attribute__((noinline)) int64_t symc_sparse_rows_fNN(const symc_sparse *a, int64_t first,
                                                              int64_t last, int64_t n,
                                                              const real *data, const real *x,
                                                              real *y) {
    if (n == 1) return symc_sparse_vector_fNN(a, first, last, data, x, y);
    if (symc_row_indices(a, first, last)) return 1;
    for (int64_t i = first; i < last; i++) {
        int64_t j = 0;
        for (; j + 32 <= n; j += 32) symc_sparse_four_fNN(a, i, n, data, x + j, y + i * n + j);
        for (; j + 8 <= n; j += 8) symc_sparse_one_fNN(a, i, n, data, x + j, y + i * n + j);
        if (j < n) symc_sparse_few_fNN(a, i, n, n - j, data, x + j, y + i * n + j);
    }
    return 0;
}

// SYMBOL symc_sparse_dot_fNN
// NEEDS symc_sparse_rows_fNN symc_row_starts symc_row_chunk
// y[m, n] = A x
static void symc_sparse_dot_fNN(int64_t m, int64_t k, int64_t n, int64_t entries, const real *data,
                                const int32_t *indices, const int64_t *starts, const real *x,
                                real *y, int64_t *status, int64_t threads) {
    const symc_sparse a = {m, k, entries, indices, starts};
    const int64_t chunk = symc_row_chunk(m, threads);
    const int many = threads > 1 && (double)entries * n > 2e4;
    if ((*status = symc_row_starts(&a))) return;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t i = 0; i < m; i += chunk)
        if (symc_sparse_rows_fNN(&a, i, i + chunk < m ? i + chunk : m, n, data, x, y))
            __atomic_store_n(status, 1, __ATOMIC_RELAXED);
}

// SYMBOL symc_sparse_columns_fNN
// NEEDS symc_sparse
// Columns first ... last - 1 of A' x.
static __attribute__((noinline)) void symc_sparse_columns_fNN(
    const symc_sparse *a, int64_t n, int64_t first, int64_t last, const real *data, const real *x,
    real *y) {
    for (int64_t i = 0; i < a->k; i++)
        for (int64_t j = first; j < last; j++) y[i * n + j] = 0;
    for (int64_t i = 0; i < a->m; i++) {
        const real *row = x + i * n;
        for (int64_t p = a->starts[i]; p < a->starts[i + 1]; p++) {
            const real factor = data[p];
            real *to = y + a->indices[p] * n;
#pragma omp simd
            for (int64_t j = first; j < last; j++) to[j] += factor * row[j];
        }
    }
}

// SYMBOL symc_sparse_scatter_fNN
// NEEDS symc_sparse
// A' times a vector.
static void symc_sparse_scatter_fNN(const symc_sparse *a, const real *data, const real *x,
                                    real *y) {
    for (int64_t i = 0; i < a->k; i++) y[i] = 0;
    for (int64_t i = 0; i < a->m; i++) {
        const real factor = x[i];
        const int64_t end = a->starts[i + 1];
        for (int64_t p = a->starts[i]; p < end; p++) y[a->indices[p]] += data[p] * factor;
    }
}

// SYMBOL symc_sparse_back_fNN
// NEEDS symc_sparse_columns_fNN symc_sparse_scatter_fNN symc_row_starts symc_row_indices
// y[k, n] = A' x. Threads share the columns, so that no two add to the same element; few columns
// are not shared.
static void symc_sparse_back_fNN(int64_t m, int64_t k, int64_t n, int64_t entries,
                                 const real *data, const int32_t *indices, const int64_t *starts,
                                 const real *x, real *y, int64_t *status, int64_t threads) {
    const symc_sparse a = {m, k, entries, indices, starts};
    const int64_t parts = n / 16 < threads ? n / 16 : threads;
    const int many = parts > 1 && (double)entries * n > 2e4;
    const int64_t step = many ? (n / parts + 7) / 8 * 8 : n > 0 ? n : 1;
    if ((*status = symc_row_starts(&a) || symc_row_indices(&a, 0, m))) return;
    if (n == 1) {
        symc_sparse_scatter_fNN(&a, data, x, y);
        return;
    }
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t j = 0; j < n; j += step)
        symc_sparse_columns_fNN(&a, n, j, j + step < n ? j + step : n, data, x, y);
}

// SYMBOL symc_sparse_some_fNN
// NEEDS symc_row_indices
// The elements of u v' in rows first ... last - 1.
static __attribute__((noinline)) int64_t symc_sparse_some_fNN(const symc_sparse *a, int64_t first,
                                                              int64_t last, int64_t n,
                                                              const real *u, const real *v,
                                                              real *values) {
    if (symc_row_indices(a, first, last)) return 1;
    for (int64_t i = first; i < last; i++)
        for (int64_t p = a->starts[i]; p < a->starts[i + 1]; p++) {
            const real *left = u + i * n, *right = v + a->indices[p] * n;
            real sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t j = 0; j < n; j++) sum += left[j] * right[j];
            values[p] = sum;
        }
    return 0;
}

// SYMBOL symc_sparse_samples_fNN
// NEEDS symc_sparse_some_fNN symc_row_starts symc_row_chunk
// The elements of u v' where A has one: values[p] = u[i] . v[indices[p]]
static void symc_sparse_samples_fNN(int64_t m, int64_t k, int64_t n, int64_t entries,
                                    const int32_t *indices, const int64_t *starts, const real *u,
                                    const real *v, real *values, int64_t *status,
                                    int64_t threads) {
    const symc_sparse a = {m, k, entries, indices, starts};
    const int64_t chunk = symc_row_chunk(m, threads);
    const int many = threads > 1 && (double)entries * n > 2e4;
    if ((*status = symc_row_starts(&a))) return;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t i = 0; i < m; i += chunk)
        if (symc_sparse_some_fNN(&a, i, i + chunk < m ? i + chunk : m, n, u, v, values))
            __atomic_store_n(status, 1, __ATOMIC_RELAXED);
}

// SYMBOL symc_sparse_row_numbers
// NEEDS symc_row_starts symc_row_indices
// The row of each element.
static void symc_sparse_row_numbers(int64_t m, int64_t k, int64_t entries, const int32_t *indices,
                                    const int64_t *starts, int32_t *numbers, int64_t *status) {
    const symc_sparse a = {m, k, entries, indices, starts};
    if ((*status = symc_row_starts(&a) || symc_row_indices(&a, 0, m))) return;
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = starts[i]; p < starts[i + 1]; p++) numbers[p] = (int32_t)i;
}
