// Orthogonal factorisations and eigenvalues of row-major matrices by LAPACK; see lapack.h.
//
// Eigenvectors and singular vectors are determined up to a sign. Matrices are handed over turned
// around, as NumPy does, so that the signs are NumPy's. Where there is no memory for the work,
// results without an `info` are NaN.

// SYMBOL symc_turned
// NEEDS symc_at
// The transpose, n by m, of a[m, n].
static void symc_turned(int64_t kind, int64_t m, int64_t n, const void *a, void *result) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            __builtin_memcpy(symc_at(kind, result, j * m + i), symc_at(kind, a, i * n + j),
                             (size_t)symc_bytes(kind));
}

// SYMBOL symc_eigh
// NEEDS symc_lapack symc_leading symc_turned symc_blas_enter symc_threads_for malloc free
// Eigenvalues w, ascending, and eigenvectors, the columns of v (unless that is 0), of symmetric
// (Hermitian) matrices, of which only the lower triangles are read.
static void symc_eigh(int64_t kind, int64_t batch, int64_t n, const void *a, void *w, void *v,
                      int64_t *info, int64_t threads) {
    typedef void syevd(const char *, const char *, const symc_int *, void *, const symc_int *,
                       void *, void *, const symc_int *, symc_int *, const symc_int *, symc_int *,
                       size_t, size_t);
    typedef void heevd(const char *, const char *, const symc_int *, void *, const symc_int *,
                       void *, void *, const symc_int *, void *, const symc_int *, symc_int *,
                       const symc_int *, symc_int *, size_t, size_t);
    void *const function = symc_lapack[4 * SYMC_SYEVD + kind];
    const int many = symc_threads_for(batch, (double)n * n * n, threads) < threads;
    const symc_int size = (symc_int)n, lead = symc_leading(n);
    const symc_int room = (symc_int)(v ? 1 + 6 * n + 2 * n * n : 1 + 66 * n);
    const symc_int reals = (symc_int)(kind < 2 ? 0 : 1 + 5 * n + 2 * n * n);
    const symc_int indexes = (symc_int)(3 + 5 * n);
    const char *const job = v ? "V" : "N";
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        const int64_t bytes = (n * n + room) * symc_bytes(kind) + reals * 8;
        char *copy = malloc((size_t)bytes + (size_t)indexes * sizeof(symc_int));
        symc_int status = -1, *integers = (symc_int *)(copy + bytes);
        if (copy) {
            void *values = symc_at(kind & 1, w, q * n), *work = symc_at(kind, copy, n * n);
            symc_turned(kind, n, n, symc_at(kind, a, q * n * n), copy);
            if (kind < 2)
                ((syevd *)function)(job, "L", &size, copy, &lead, values, work, &room, integers,
                                    &indexes, &status, 1, 1);
            else
                ((heevd *)function)(job, "L", &size, copy, &lead, values, work, &room,
                                    symc_at(kind, work, room), &reals, integers, &indexes, &status,
                                    1, 1);
            if (v) symc_turned(kind, n, n, copy, symc_at(kind, v, q * n * n));
        }
        free(copy);
        info[q] = status;
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_eigvalsh
// NEEDS symc_eigh
static inline void symc_eigvalsh(int64_t kind, int64_t batch, int64_t n, const void *a, void *w,
                                 int64_t *info, int64_t threads) {
    symc_eigh(kind, batch, n, a, w, 0, info, threads);
}

// SYMBOL symc_identity
// NEEDS symc_at symc_number
static void symc_identity(int64_t kind, int64_t n, void *x) {
    __builtin_memset(x, 0, (size_t)(n * n * symc_bytes(kind)));
    for (int64_t i = 0; i < n; i++)
        __builtin_memcpy(symc_at(kind, x, i * n + i), symc_number(kind, 1),
                         (size_t)symc_bytes(kind));
}

// SYMBOL symc_svd
// NEEDS symc_identity symc_lapack symc_leading symc_turned symc_blas_enter symc_threads_for
// NEEDS malloc free
// a = u s vh for a[m, n] with s descending. u has `left` columns and vh `right` rows: m and n, or
// the smaller of the two; without them (u is 0) only s is computed.
static void symc_svd(int64_t kind, int64_t batch, int64_t m, int64_t n, int64_t left,
                     int64_t right, const void *a, void *u, void *s, void *vh, int64_t *info,
                     int64_t threads) {
    typedef void gesdd(const char *, const symc_int *, const symc_int *, void *, const symc_int *,
                       void *, void *, const symc_int *, void *, const symc_int *, void *,
                       const symc_int *, symc_int *, symc_int *, size_t);
    typedef void cgesdd(const char *, const symc_int *, const symc_int *, void *, const symc_int *,
                        void *, void *, const symc_int *, void *, const symc_int *, void *,
                        const symc_int *, void *, symc_int *, symc_int *, size_t);
    void *const function = symc_lapack[4 * SYMC_GESDD + kind];
    const int64_t small = m < n ? m : n, large = m < n ? n : m;
    const int many = symc_threads_for(batch, (double)m * n * small, threads) < threads;
    const symc_int rows = (symc_int)m, columns = (symc_int)n, lead = symc_leading(m);
    const symc_int lead_vh = symc_leading(right);
    const symc_int room = (symc_int)((u ? 4 * small * small : 0) + 8 * small + 65 * large + 64);
    const int64_t reals = kind < 2 ? 0 : 7 * small * small + 7 * small + 2 * small * large;
    const int64_t sides = u ? m * left + right * n : 0;
    const char *const job = !u ? "N" : left == m && right == n ? "A" : "S";
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        const int64_t bytes = (m * n + sides + room) * symc_bytes(kind) + reals * 8;
        char *copy = malloc((size_t)bytes + (size_t)(8 * small + 1) * sizeof(symc_int));
        symc_int status = -1, *integers = (symc_int *)(copy + bytes);
        if (copy) {
            void *values = symc_at(kind & 1, s, q * small);
            char *own_u = symc_at(kind, copy, m * n), *own_vh = symc_at(kind, own_u, m * left);
            char *work = symc_at(kind, copy, m * n + sides);
            symc_turned(kind, m, n, symc_at(kind, a, q * m * n), copy);
            status = 0;
            if (small > 0 && kind < 2)
                ((gesdd *)function)(job, &rows, &columns, copy, &lead, values, own_u, &lead, own_vh,
                                    &lead_vh, work, &room, integers, &status, 1);
            else if (small > 0)
                ((cgesdd *)function)(job, &rows, &columns, copy, &lead, values, own_u, &lead,
                                     own_vh, &lead_vh, work, &room, symc_at(kind, work, room),
                                     integers, &status, 1);
            if (u && small == 0) {  // LAPACK leaves them alone
                symc_identity(kind, left, symc_at(kind, u, q * m * left));
                symc_identity(kind, right, symc_at(kind, vh, q * right * n));
            } else if (u) {
                symc_turned(kind, left, m, own_u, symc_at(kind, u, q * m * left));
                symc_turned(kind, n, right, own_vh, symc_at(kind, vh, q * right * n));
            }
        }
        free(copy);
        info[q] = status;
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_svdvals
// NEEDS symc_svd
static inline void symc_svdvals(int64_t kind, int64_t batch, int64_t m, int64_t n, const void *a,
                                void *s, int64_t *info, int64_t threads) {
    symc_svd(kind, batch, m, n, 0, 0, a, 0, s, 0, info, threads);
}

// SYMBOL symc_qr
// NEEDS symc_lapack symc_at symc_leading symc_blas_enter symc_threads_for malloc free
// a = q r for a[m, n], q[m, k] with orthonormal columns and r[k, n] with zeros below its diagonal;
// k is m, or the smaller of m and n. Without q (q is 0) only r is computed. LAPACK sees the
// transposes and computes r.T q.T, the same reflections.
static void symc_qr(int64_t kind, int64_t batch, int64_t m, int64_t n, int64_t k, const void *a,
                    void *q, void *r, int64_t threads) {
    typedef void gelqf(const symc_int *, const symc_int *, void *, const symc_int *, void *, void *,
                       const symc_int *, symc_int *);
    typedef void orglq(const symc_int *, const symc_int *, const symc_int *, void *,
                       const symc_int *, const void *, void *, const symc_int *, symc_int *);
    const int64_t small = m < n ? m : n;
    const int many = symc_threads_for(batch, (double)m * n * small, threads) < threads;
    const symc_int rows = (symc_int)m, columns = (symc_int)n, inner = (symc_int)small;
    const symc_int wide = (symc_int)k, lead = symc_leading(n), lead_q = symc_leading(k);
    const symc_int room = (symc_int)(64 * (m > n ? m : n) + 1);
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t number = 0; number < batch; number++) {
        char *copy = malloc((size_t)((m * n + small + room) * symc_bytes(kind)));
        char *own_r = symc_at(kind, r, number * k * n);
        char *own_q = q ? symc_at(kind, q, number * m * k) : 0;
        symc_int status;
        if (!copy) {
            __builtin_memset(own_r, 0xff, (size_t)(k * n * symc_bytes(kind)));
            if (q) __builtin_memset(own_q, 0xff, (size_t)(m * k * symc_bytes(kind)));
            continue;
        }
        char *factors = symc_at(kind, copy, m * n), *work = symc_at(kind, factors, small);
        __builtin_memcpy(copy, symc_at(kind, a, number * m * n),
                         (size_t)(m * n * symc_bytes(kind)));
        ((gelqf *)symc_lapack[4 * SYMC_GELQF + kind])(&columns, &rows, copy, &lead, factors, work,
                                                      &room, &status);
        for (int64_t i = 0; i < k; i++) {
            const int64_t zeros = i < n ? i : n, kept = i < small ? n - i : 0;
            char *line = symc_at(kind, own_r, i * n);
            __builtin_memset(line, 0, (size_t)((kept ? zeros : n) * symc_bytes(kind)));
            if (kept)
                __builtin_memcpy(symc_at(kind, line, i), symc_at(kind, copy, i * n + i),
                                 (size_t)(kept * symc_bytes(kind)));
        }
        if (q) {
            for (int64_t i = 0; i < m; i++)
                __builtin_memcpy(symc_at(kind, own_q, i * k), symc_at(kind, copy, i * n),
                                 (size_t)(small * symc_bytes(kind)));
            ((orglq *)symc_lapack[4 * SYMC_ORGLQ + kind])(&wide, &rows, &inner, own_q, &lead_q,
                                                          factors, work, &room, &status);
        }
        free(copy);
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_qr_r
// NEEDS symc_qr
static inline void symc_qr_r(int64_t kind, int64_t batch, int64_t m, int64_t n, int64_t k,
                             const void *a, void *r, int64_t threads) {
    symc_qr(kind, batch, m, n, k, a, 0, r, threads);
}

// SYMBOL SYMC_DEFINE_PAIRED
// Complex eigenvalues and vectors from LAPACK's real ones: two columns for each conjugate pair.
#define SYMC_DEFINE_PAIRED(suffix, type)                                                          \
    static void symc_paired_##suffix(int64_t n, const type *re, const type *im, const type *given, \
                                     type *w, type *v) {                                          \
        for (int64_t j = 0; j < n; j++) {                                                         \
            w[2 * j] = re[j];                                                                     \
            w[2 * j + 1] = im[j];                                                                 \
            const int second = im[j] < 0;                                                         \
            const type *column = given + (second ? j - 1 : j) * n;                                \
            for (int64_t i = 0; v && i < n; i++) {                                                \
                const type other = im[j] == 0 ? 0 : column[n + i];                                \
                v[2 * (i * n + j)] = column[i];                                                   \
                v[2 * (i * n + j) + 1] = second ? -other : other;                                 \
            }                                                                                     \
        }                                                                                         \
    }

// SYMBOL symc_paired
// NEEDS SYMC_DEFINE_PAIRED
SYMC_DEFINE_PAIRED(f32, float)
SYMC_DEFINE_PAIRED(f64, double)

// SYMBOL symc_all_finite
// NEEDS symc_at
// Whether there is no inf and no NaN. LAPACK's iterations print complaints about these.
static int symc_all_finite(int64_t kind, int64_t count, const void *a) {
    double sum = 0;
    for (int64_t i = 0; i < count << (kind >> 1); i++)
        sum += (kind & 1 ? ((const double *)a)[i] : (double)((const float *)a)[i]) * 0;
    return sum == 0;
}

// SYMBOL symc_eig
// NEEDS symc_lapack symc_leading symc_turned symc_paired symc_blas_enter symc_threads_for
// NEEDS symc_all_finite malloc free
// Complex eigenvalues w and eigenvectors, the columns of v (unless that is 0), of any matrices.
static void symc_eig(int64_t kind, int64_t batch, int64_t n, const void *a, void *w, void *v,
                     int64_t *info, int64_t threads) {
    typedef void geev(const char *, const char *, const symc_int *, void *, const symc_int *,
                      void *, void *, void *, const symc_int *, void *, const symc_int *, void *,
                      const symc_int *, symc_int *, size_t, size_t);
    typedef void cgeev(const char *, const char *, const symc_int *, void *, const symc_int *,
                       void *, void *, const symc_int *, void *, const symc_int *, void *,
                       const symc_int *, void *, symc_int *, size_t, size_t);
    void *const function = symc_lapack[4 * SYMC_GEEV + kind];
    const int many = symc_threads_for(batch, (double)n * n * n, threads) < threads;
    const symc_int size = (symc_int)n, lead = symc_leading(n), room = (symc_int)(68 * n + 1);
    const int64_t wide = kind | 2;
    const char *const job = v ? "V" : "N";
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        void *copy = malloc((size_t)((2 * n * n + 4 * n + room) * symc_bytes(kind)));
        void *values = symc_at(wide, w, q * n), *out = v ? symc_at(wide, v, q * n * n) : 0;
        symc_int status = -1;
        if (!symc_all_finite(kind, n * n, symc_at(kind, a, q * n * n))) {
            status = 1;
            __builtin_memset(values, 0xff, (size_t)(n * symc_bytes(wide)));
            if (out) __builtin_memset(out, 0xff, (size_t)(n * n * symc_bytes(wide)));
        } else if (copy) {
            void *own = symc_at(kind, copy, n * n), *reals = symc_at(kind, own, n * n);
            void *others = symc_at(kind, reals, n), *work = symc_at(kind, reals, 4 * n);
            symc_turned(kind, n, n, symc_at(kind, a, q * n * n), copy);
            if (kind < 2) {
                ((geev *)function)("N", job, &size, copy, &lead, reals, others, own, &lead, own,
                                   &lead, work, &room, &status, 1, 1);
                if (kind & 1) symc_paired_f64(n, reals, others, own, values, out);
                else symc_paired_f32(n, reals, others, own, values, out);
            } else {
                ((cgeev *)function)("N", job, &size, copy, &lead, values, own, &lead, own, &lead,
                                    work, &room, reals, &status, 1, 1);
                if (out) symc_turned(kind, n, n, own, out);
            }
        }
        free(copy);
        info[q] = status;
    }
    symc_blas_enter(-1);
}

// SYMBOL symc_eigvals
// NEEDS symc_eig
static inline void symc_eigvals(int64_t kind, int64_t batch, int64_t n, const void *a, void *w,
                                int64_t *info, int64_t threads) {
    symc_eig(kind, batch, n, a, w, 0, info, threads);
}

// SYMBOL symc_schur
// NEEDS symc_all_finite symc_lapack symc_leading symc_turned symc_blas_enter symc_threads_for
// NEEDS malloc free
// a = z t z^H with z unitary and t upper triangular, with blocks of 2 by 2 where a is real.
static void symc_schur(int64_t kind, int64_t batch, int64_t n, const void *a, void *t, void *z,
                       int64_t *info, int64_t threads) {
    typedef void gees(const char *, const char *, const void *, const symc_int *, void *,
                      const symc_int *, symc_int *, void *, void *, void *, const symc_int *,
                      void *, const symc_int *, symc_int *, symc_int *, size_t, size_t);
    typedef void cgees(const char *, const char *, const void *, const symc_int *, void *,
                       const symc_int *, symc_int *, void *, void *, const symc_int *, void *,
                       const symc_int *, void *, symc_int *, symc_int *, size_t, size_t);
    void *const function = symc_lapack[4 * SYMC_GEES + kind];
    const int many = symc_threads_for(batch, (double)n * n * n, threads) < threads;
    const symc_int size = (symc_int)n, lead = symc_leading(n), room = (symc_int)(68 * n + 1);
    symc_blas_enter(1);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (many)
    for (int64_t q = 0; q < batch; q++) {
        void *copy = malloc((size_t)((2 * n * n + 2 * n + room) * symc_bytes(kind)));
        void *form = symc_at(kind, t, q * n * n), *turn = symc_at(kind, z, q * n * n);
        symc_int status = -1, chosen = 0, unread = 0;
        if (!symc_all_finite(kind, n * n, symc_at(kind, a, q * n * n))) {
            status = 1;
            __builtin_memset(form, 0xff, (size_t)(n * n * symc_bytes(kind)));
            __builtin_memset(turn, 0xff, (size_t)(n * n * symc_bytes(kind)));
        } else if (copy) {
            void *basis = symc_at(kind, copy, n * n), *values = symc_at(kind, basis, n * n);
            void *others = symc_at(kind, values, n), *work = symc_at(kind, values, 2 * n);
            symc_turned(kind, n, n, symc_at(kind, a, q * n * n), copy);
            if (kind < 2)
                ((gees *)function)("V", "N", 0, &size, copy, &lead, &chosen, values, others, basis,
                                   &lead, work, &room, &unread, &status, 1, 1);
            else
                ((cgees *)function)("V", "N", 0, &size, copy, &lead, &chosen, values, basis, &lead,
                                    work, &room, others, &unread, &status, 1, 1);
            symc_turned(kind, n, n, copy, form);
            symc_turned(kind, n, n, basis, turn);
        }
        free(copy);
        info[q] = status;
    }
    symc_blas_enter(-1);
}
