// Where the greatest or the least element of each row is.

// SYMBOL SYMC_DEFINE_ARGEXTREME
// NEEDS SYMC_FOLDS
// For each of `rows` rows of n elements (1 or more) the place of the first element that no other one
// beats, by `sign`, or of the first NaN if there is one.
//
// The extreme of a block is found in vector registers; only the block that has the row's extreme is
// searched for its place. So memory is read once. Of short rows each vector of elements is compared
// with the best of its lanes so far, and then the lanes of some rows at a time; the last vector of a
// row has elements of the one before, too. Rows of fewer elements are done many at a time, a lane for
// each; `lane` is an integer as wide as the elements. `equal` is `sign` or equality. Threads take
// rows, or parts of a long one.
#define SYMC_PRAGMA(text) _Pragma(#text)
#define SYMC_EXTREME_BLOCK 4096
#define SYMC_EXTREME_LANES 32
#define SYMC_DEFINE_ARGEXTREME(name, type, lane, sign, equal, fold)                                       \
    static __attribute__((noinline)) int64_t SYMC_FOLDS name##_row(const type *x, int64_t n) {     \
        type best = x[0];                                                                          \
        int64_t at = 0;                                                                            \
        if (best != best) return 0;                                                                \
        for (int64_t start = 0; start < n; start += SYMC_EXTREME_BLOCK) {                          \
            const int64_t size = n - start < SYMC_EXTREME_BLOCK ? n - start : SYMC_EXTREME_BLOCK;  \
            const type *const b = x + start;                                                       \
            type most = b[0];                                                                      \
            lane nan = 0;                                                                          \
            SYMC_PRAGMA(omp simd reduction(fold : most) reduction(| : nan))                        \
            for (int64_t i = 0; i < size; i++) {                                                   \
                most = b[i] sign most ? b[i] : most;                                               \
                nan |= -(lane)(b[i] != b[i]);                                                      \
            }                                                                                      \
            if (nan) {                                                                             \
                at = start;                                                                        \
                while (x[at] == x[at]) at++;                                                       \
                return at;                                                                         \
            }                                                                                      \
            if (most sign best) best = most, at = start;                                           \
        }                                                                                          \
        for (lane hit = 0; at + 64 <= n; at += 64) {                                               \
            _Pragma("omp simd reduction(| : hit)")                                                 \
            for (int64_t i = 0; i < 64; i++) hit |= -(lane)(x[at + i] == best);                    \
            if (hit) break;                                                                        \
        }                                                                                          \
        while (x[at] != best) at++;                                                                \
        return at;                                                                                 \
    }                                                                                              \
    static __attribute__((noinline)) void SYMC_FOLDS name##_few(const type *x, int64_t n,          \
                                                                int64_t *places) {                 \
        type best[SYMC_EXTREME_LANES];                                                             \
        lane at[SYMC_EXTREME_LANES];                                                               \
        _Pragma("omp simd") for (int64_t l = 0; l < SYMC_EXTREME_LANES; l++) best[l] = x[l * n];   \
        __builtin_memset(at, 0, sizeof at);                                                        \
        for (lane j = 1; j < n; j++) {                                                             \
            _Pragma("omp simd") for (int64_t l = 0; l < SYMC_EXTREME_LANES; l++) {                 \
                const type v = x[l * n + j], b = best[l];                                          \
                const lane take = -(lane)(v sign b) | (-(lane)(v != v) & -(lane)(b == b));         \
                best[l] = take ? v : b;                                                            \
                at[l] = take ? j : at[l];                                                          \
            }                                                                                      \
        }                                                                                          \
        for (int64_t l = 0; l < SYMC_EXTREME_LANES; l++) places[l] = at[l];                        \
    }                                                                                              \
    typedef type name##_lanes                                                                      \
        __attribute__((vector_size(64), aligned(sizeof(type)), may_alias));                        \
    typedef lane name##_places __attribute__((vector_size(64)));                                   \
    static __attribute__((noinline)) void SYMC_FOLDS name##_short(const type *x, int64_t n,        \
                                                                  int64_t *places) {               \
        enum { L = 64 / sizeof(type) };                                                            \
        union { name##_lanes v[L]; type s[L * L]; } best, turned;                                  \
        union { name##_places v[L]; lane s[L * L]; } at, placed;                                   \
        name##_places own;                                                                         \
        for (lane l = 0; l < L; l++) own[l] = l;                                                   \
        for (int64_t r = 0; r < L; r++) {                                                          \
            name##_lanes b = *(const name##_lanes *)(x + r * n);                                   \
            name##_places a = own;                                                                 \
            for (int64_t next = L; next < n; next += L) {                                          \
                const int64_t j = next + L > n ? n - L : next;                                     \
                const name##_lanes v = *(const name##_lanes *)(x + r * n + j);                     \
                const name##_places take = (name##_places)(b == b) & ~(name##_places)(b equal v);  \
                b = (name##_lanes)(((name##_places)v & take) | ((name##_places)b & ~take));        \
                a = ((own + (lane)j) & take) | (a & ~take);                                        \
            }                                                                                      \
            best.v[r] = b, at.v[r] = a;                                                            \
        }                                                                                          \
        for (int64_t r = 0; r < L; r++)                                                            \
            for (int64_t l = 0; l < L; l++) {                                                      \
                turned.s[l * L + r] = best.s[r * L + l];                                           \
                placed.s[l * L + r] = at.s[r * L + l];                                             \
            }                                                                                      \
        name##_lanes b = turned.v[0];                                                              \
        name##_places a = placed.v[0];                                                             \
        for (int64_t l = 1; l < L; l++) {                                                          \
            const name##_lanes v = turned.v[l];                                                    \
            const name##_places p = placed.v[l];                                                   \
            const name##_places mine = (name##_places)(b != b), its = (name##_places)(v != v);     \
            const name##_places same = (name##_places)(v == b) | (its & mine);                     \
            const name##_places beats = (name##_places)(v sign b) | (its & ~mine);                 \
            const name##_places take = beats | (same & (name##_places)(p < a));                    \
            b = (name##_lanes)(((name##_places)v & take) | ((name##_places)b & ~take));            \
            a = (p & take) | (a & ~take);                                                          \
        }                                                                                          \
        for (int64_t r = 0; r < L; r++) places[r] = a[r];                                          \
    }                                                                                              \
    static void name(int64_t rows, int64_t n, const type *x, int64_t *places, int64_t threads) {   \
        if (rows == 1 && threads > 1 && n >= 131072) {                                             \
            const int64_t parts = threads < 64 ? threads : 64;                                     \
            int64_t found[64], at;                                                                 \
            _Pragma("omp parallel for num_threads(threads)")                                       \
            for (int64_t p = 0; p < parts; p++) {                                                  \
                const int64_t start = n * p / parts;                                               \
                found[p] = start + name##_row(x + start, n * (p + 1) / parts - start);             \
            }                                                                                      \
            at = found[0];                                                                         \
            for (int64_t p = 1; p < parts; p++) {                                                  \
                const type v = x[found[p]], b = x[at];                                             \
                if ((v sign b) | ((v != v) & (b == b))) at = found[p];                             \
            }                                                                                      \
            places[0] = at;                                                                        \
            return;                                                                                \
        }                                                                                          \
        const int wide = n >= (int64_t)(64 / sizeof(type));                                        \
        const int64_t step = n > 64 ? 1 : wide ? 64 / (int64_t)sizeof(type) : SYMC_EXTREME_LANES;  \
        _Pragma("omp parallel for num_threads(threads) if (threads > 1 && rows * n >= 65536)")     \
        for (int64_t r = 0; r < rows; r += step) {                                                 \
            if (step > 1 && r + step <= rows) {                                                    \
                if (wide) name##_short(x + r * n, n, places + r);                                  \
                else name##_few(x + r * n, n, places + r);                                         \
                continue;                                                                          \
            }                                                                                      \
            for (int64_t k = r; k < r + step && k < rows; k++)                                     \
                places[k] = name##_row(x + k * n, n);                                              \
        }                                                                                          \
    }

// SYMBOL symc_argmax_f32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_f32, float, int32_t, >, >=, max)

// SYMBOL symc_argmax_f64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_f64, double, int64_t, >, >=, max)

// SYMBOL symc_argmax_i32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_i32, int32_t, int32_t, >, >=, max)

// SYMBOL symc_argmax_i64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_i64, int64_t, int64_t, >, >=, max)

// SYMBOL symc_argmin_f32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_f32, float, int32_t, <, <=, min)

// SYMBOL symc_argmin_f64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_f64, double, int64_t, <, <=, min)

// SYMBOL symc_argmin_i32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_i32, int32_t, int32_t, <, <=, min)

// SYMBOL symc_argmin_i64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_i64, int64_t, int64_t, <, <=, min)
