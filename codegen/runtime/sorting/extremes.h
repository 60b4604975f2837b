// Where the greatest or the least element of each row is.

// SYMBOL SYMC_DEFINE_ARGEXTREME
// NEEDS SYMC_LANE_BYTES
// For each of `rows` rows of n elements (1 or more) the place of the first element that no other
// one beats, by `sign`, or of the first NaN if there is one.
//
// Memory is read once. Vectors are dealt out to four streams, and each lane of a stream
// keeps the best element that it has seen and the number of its vector; `lane` is an integer as
// wide as an element. Then the best of all lanes is found, and the first place that has it. The
// last vectors of a row begin early enough to end with it: what they have of the vectors before
// comes second there, and so is not found. Rows of up to four vectors need no numbers. Of short
// rows some are done side by side, a lane for each.
//
// A NaN is beaten by nothing and beats nothing. Elements are also added up, which costs less than
// to compare each with itself: the sum of a row with a NaN is NaN, and so may be that of another
// one, with both infinities. Only then it is searched.
//
// Numbers fit into lanes of bytes in a block of 128 vectors. Of more narrow integers the extreme of
// each block is found, and then its place in the first block that has it; elements after one that
// is `top`, which nothing beats, are not read. `value` makes of elements what is compared. Threads
// take rows, or parts of a long one.
#define SYMC_EXTREME static inline __attribute__((always_inline))
#define SYMC_EXTREME_PICK(mask, take, v, b)                                                        \
    ((__typeof__(b))(((mask)(v) & (mask)(take)) | ((mask)(b) & ~(mask)(take))))
// What was loaded is in a register. gcc reads it anew for each use, up to three times, and vectors
// that lie across two lines of the cache take twice as long each time.
#if defined(__GNUC__) && defined(__x86_64__)
#define SYMC_EXTREME_ONCE(v) __asm__("" : "+v"(v))
#else
#define SYMC_EXTREME_ONCE(v) ((void)0)
#endif
#define SYMC_EXTREME_TURN(x, bits) ((x) >> (bits) | (x) << (64 - (bits)))
#define SYMC_AS_IS(v) (v)
#define SYMC_TRUTHS(v) (((v) != 0) & 1)

// The one of all lanes that no other one beats, by halves. Lanes narrower than 64 bits
// meet as words are turned.
#define SYMC_DEFINE_BEST_LANE(name, type, lane, sign)                                              \
    typedef type name##_whole __attribute__((vector_size(SYMC_LANE_BYTES), may_alias));            \
    typedef type name##_32 __attribute__((vector_size(32), may_alias));                            \
    typedef type name##_16 __attribute__((vector_size(16), may_alias));                            \
    typedef lane name##_mask_32 __attribute__((vector_size(32), may_alias));                       \
    typedef lane name##_mask_16 __attribute__((vector_size(16), may_alias));                       \
    typedef uint64_t name##_words __attribute__((vector_size(16), may_alias));                     \
    SYMC_EXTREME name##_16 name##_better(name##_16 a, name##_16 b) {                               \
        return SYMC_EXTREME_PICK(name##_mask_16, b sign a, b, a);                                  \
    }                                                                                              \
    SYMC_EXTREME type name##_of(name##_whole x) {                                                  \
        const union { name##_whole whole; name##_32 half[2]; } u = {x};                            \
        const name##_32 a = u.half[0], b = u.half[1];                                              \
        union { name##_32 whole; name##_16 half[2]; } w = {a};                                     \
        if (SYMC_LANE_BYTES == 64) w.whole = SYMC_EXTREME_PICK(name##_mask_32, b sign a, b, a);    \
        union { name##_16 v; name##_words w; type s[16 / sizeof(type)]; } t = {w.half[0]};         \
        if (SYMC_LANE_BYTES > 16) t.v = name##_better(w.half[0], w.half[1]);                       \
        if (sizeof(type) < 8) t.v = name##_better(t.v, (name##_16)SYMC_EXTREME_TURN(t.w, 32));     \
        if (sizeof(type) < 4) t.v = name##_better(t.v, (name##_16)SYMC_EXTREME_TURN(t.w, 16));     \
        if (sizeof(type) < 2) t.v = name##_better(t.v, (name##_16)SYMC_EXTREME_TURN(t.w, 8));      \
        return t.s[8 / sizeof(type)] sign t.s[0] ? t.s[8 / sizeof(type)] : t.s[0];                 \
    }

#define SYMC_DEFINE_ARGEXTREME(name, given, type, lane, sign, value, top)                          \
    SYMC_DEFINE_BEST_LANE(name##_best, type, lane, sign)                                           \
    SYMC_DEFINE_BEST_LANE(name##_first, lane, lane, <)                                             \
    typedef name##_best_whole name##_lanes;                                                        \
    typedef name##_first_whole name##_places;                                                      \
    typedef type name##_memory                                                                     \
        __attribute__((vector_size(SYMC_LANE_BYTES), aligned(sizeof(type)), may_alias));           \
    enum { name##_L = SYMC_LANE_BYTES / sizeof(type), name##_R = sizeof(type) == 1 ? 16 : 64 };    \
    enum { name##_block = sizeof(type) < 4 ? 128 * name##_L : 1048576 };                           \
    SYMC_EXTREME name##_lanes name##_load(const type *x) {                                         \
        name##_memory v = *(const name##_memory *)x;                                               \
        SYMC_EXTREME_ONCE(v);                                                                      \
        return (name##_lanes)value(v);                                                             \
    }                                                                                              \
    SYMC_EXTREME name##_lanes name##_all(type x) { return x - (name##_lanes){0}; }                 \
    SYMC_EXTREME name##_places name##_number(int64_t x) {                                          \
        return (lane)x - (name##_places){0};                                                       \
    }                                                                                              \
    SYMC_EXTREME name##_places name##_own(void) {                                                  \
        name##_places own = {0};                                                                   \
        for (int l = 0; l < name##_L; l++) own[l] = l;                                             \
        return own;                                                                                \
    }                                                                                              \
    SYMC_EXTREME name##_places name##_never(void) {                                                \
        return name##_number((int64_t)(((uint64_t)1 << (8 * sizeof(type) - 1)) - 1));              \
    }                                                                                              \
    SYMC_EXTREME int64_t name##_nan(const type *x, int64_t n, name##_lanes sum) {                  \
        if (!(type)0.5) return n;                                                                  \
        const union { name##_lanes whole; name##_best_32 half[2]; } u = {sum};                     \
        union { name##_best_32 whole; name##_best_16 half[2]; } w = {u.half[0]};                   \
        if (SYMC_LANE_BYTES == 64) w.whole += u.half[1];                                           \
        name##_best_16 t = w.half[0];                                                              \
        if (SYMC_LANE_BYTES > 16) t += w.half[1];                                                  \
        type all = t[0];                                                                           \
        for (int l = 1; l < (int)(16 / sizeof(type)); l++) all += t[l];                            \
        if (all == all) return n;                                                                  \
        int64_t at = 0;                                                                            \
        while (at < n && x[at] == x[at]) at++;                                                     \
        return at;                                                                                 \
    }                                                                                              \
    SYMC_EXTREME int64_t name##_few(const type *x, int64_t n, type *best) {                        \
        type most = value(x[0]);                                                                   \
        int64_t at = 0;                                                                            \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const type v = value(x[i]);                                                            \
            const int take = (v sign most) | ((v != v) & (most == most));                          \
            most = take ? v : most;                                                                \
            at = take ? i : at;                                                                    \
        }                                                                                          \
        return *best = most, at;                                                                   \
    }                                                                                              \
    SYMC_EXTREME void name##_beside(const type *x, int64_t n, int64_t *places) {                   \
        type most[name##_R], sum[name##_R], best;                                                  \
        lane at[name##_R];                                                                         \
        _Pragma("omp simd") for (int64_t r = 0; r < name##_R; r++) most[r] = value(x[r * n]);      \
        __builtin_memset(at, 0, sizeof at);                                                        \
        __builtin_memcpy(sum, most, sizeof sum);                                                   \
        for (lane j = 1; j < n; j++) {                                                             \
            _Pragma("omp simd") for (int64_t r = 0; r < name##_R; r++) {                           \
                const type v = value(x[r * n + j]);                                                \
                const lane take = -(lane)(v sign most[r]);                                         \
                most[r] = take ? v : most[r];                                                      \
                at[r] = take ? j : at[r];                                                          \
                if ((type)0.5) sum[r] += v;                                                        \
            }                                                                                      \
        }                                                                                          \
        for (int64_t r = 0; r < name##_R; r++) places[r] = at[r];                                  \
        if (!(type)0.5) return;                                                                    \
        lane odd = 0;                                                                              \
        for (int64_t r = 0; r < name##_R; r++) odd |= sum[r] != sum[r];                            \
        for (int64_t r = 0; odd && r < name##_R; r++)                                              \
            if (sum[r] != sum[r]) places[r] = name##_few(x + r * n, n, &best);                     \
    }                                                                                              \
    SYMC_EXTREME int64_t name##_place(name##_places hit, name##_places number, int64_t last,       \
                                      name##_places own) {                                         \
        const name##_places never = name##_never();                                                \
        if (sizeof(type) >= 4) {                                                                   \
            const int64_t at = name##_first_of(SYMC_EXTREME_PICK(                                  \
                name##_places, hit, number * name##_number(name##_L) + own, never));               \
            return (at & -name##_L) < last ? at : last + (at & (name##_L - 1));                    \
        }                                                                                          \
        const lane of = name##_first_of(SYMC_EXTREME_PICK(name##_places, hit, number, never));     \
        hit &= (name##_places)(number == name##_number(of));                                       \
        const lane at = name##_first_of(SYMC_EXTREME_PICK(name##_places, hit, own, never));        \
        const int64_t start = (int64_t)of * name##_L;                                              \
        return (start < last ? start : last) + at;                                                 \
    }                                                                                              \
    SYMC_EXTREME int64_t name##_some(const type *x, int64_t n, type *best, name##_places own) {    \
        const int64_t last = n - name##_L, one = name##_L < last ? name##_L : last;                \
        const int64_t two = 2 * name##_L < last ? 2 * name##_L : last;                             \
        const name##_lanes a = name##_load(x), b = name##_load(x + one);                           \
        const name##_lanes c = name##_load(x + two), d = name##_load(x + last);                    \
        name##_lanes most = SYMC_EXTREME_PICK(name##_places, b sign a, b, a), sum = a + b;         \
        if (n > 2 * name##_L) {                                                                    \
            const name##_lanes other = SYMC_EXTREME_PICK(name##_places, d sign c, d, c);           \
            most = SYMC_EXTREME_PICK(name##_places, other sign most, other, most);                 \
            sum += c + d;                                                                          \
        }                                                                                          \
        const int64_t nan = name##_nan(x, n, sum);                                                 \
        *best = name##_best_of(most);                                                              \
        if (nan < n) return *best = x[nan], nan;                                                   \
        most = name##_all(*best);                                                                  \
        name##_places at = name##_never();                                                         \
        if (n > 2 * name##_L) {                                                                    \
            at = SYMC_EXTREME_PICK(name##_places, d == most, name##_number(3), at);                \
            at = SYMC_EXTREME_PICK(name##_places, c == most, name##_number(2), at);                \
        }                                                                                          \
        at = SYMC_EXTREME_PICK(name##_places, b == most, name##_number(1), at);                    \
        at = SYMC_EXTREME_PICK(name##_places, a == most, name##_number(0), at);                    \
        return name##_place((name##_places)(at != name##_never()), at, last, own);                 \
    }                                                                                              \
    SYMC_EXTREME void name##_step(name##_lanes *best, name##_places *at, name##_lanes v,           \
                                  name##_places here) {                                            \
        const name##_places take = (name##_places)(v sign *best);                                  \
        *best = SYMC_EXTREME_PICK(name##_places, take, v, *best);                                  \
        *at = SYMC_EXTREME_PICK(name##_places, take, here, *at);                                   \
    }                                                                                              \
    SYMC_EXTREME void name##_meet(name##_lanes *best, name##_places *at, name##_lanes v,           \
                                  name##_places its) {                                             \
        const name##_places same = (name##_places)(v == *best);                                    \
        const name##_places sooner = same & (name##_places)(its < *at);                            \
        const name##_places take = (name##_places)(v sign *best) | sooner;                         \
        *best = SYMC_EXTREME_PICK(name##_places, take, v, *best);                                  \
        *at = SYMC_EXTREME_PICK(name##_places, take, its, *at);                                    \
    }                                                                                              \
    SYMC_EXTREME int64_t name##_many(const type *x, int64_t n, type *best, name##_places own) {    \
        enum { L = name##_L };                                                                     \
        const int64_t last = n - L;                                                                \
        name##_lanes a = name##_load(x), b = name##_load(x + L);                                   \
        name##_lanes c = name##_load(x + 2 * L), d = name##_load(x + 3 * L);                       \
        name##_lanes sum = a + b, other = c + d;                                                   \
        name##_places at_a = {0}, at_b = {0}, at_c = {0}, at_d = {0}, here = name##_number(1);     \
        int64_t j = 4 * L;                                                                         \
        for (; j + 4 * L <= n; j += 4 * L, here += name##_number(1)) {                             \
            const name##_lanes e = name##_load(x + j), f = name##_load(x + j + L);                 \
            const name##_lanes g = name##_load(x + j + 2 * L), h = name##_load(x + j + 3 * L);     \
            sum += e + f, other += g + h;                                                          \
            name##_step(&a, &at_a, e, here), name##_step(&b, &at_b, f, here);                      \
            name##_step(&c, &at_c, g, here), name##_step(&d, &at_d, h, here);                      \
        }                                                                                          \
        if (j < n) {                                                                               \
            const name##_lanes e = name##_load(x + (j < last ? j : last));                         \
            sum += e;                                                                              \
            name##_step(&a, &at_a, e, here);                                                       \
        }                                                                                          \
        if (j + L < n) {                                                                           \
            const name##_lanes f = name##_load(x + (j + L < last ? j + L : last));                 \
            sum += f;                                                                              \
            name##_step(&b, &at_b, f, here);                                                       \
        }                                                                                          \
        if (j + 2 * L < n) {                                                                       \
            const name##_lanes g = name##_load(x + (j + 2 * L < last ? j + 2 * L : last));         \
            other += g;                                                                            \
            name##_step(&c, &at_c, g, here);                                                       \
        }                                                                                          \
        if (j + 3 * L < n) {                                                                       \
            const name##_lanes h = name##_load(x + last);                                          \
            other += h;                                                                            \
            name##_step(&d, &at_d, h, here);                                                       \
        }                                                                                          \
        const int64_t nan = name##_nan(x, n, sum + other);                                         \
        if (nan < n) return *best = x[nan], nan;                                                   \
        const name##_places four = name##_number(4);                                               \
        at_a *= four, at_b = at_b * four + name##_number(1);                                       \
        at_c = at_c * four + name##_number(2), at_d = at_d * four + name##_number(3);              \
        name##_meet(&a, &at_a, b, at_b), name##_meet(&c, &at_c, d, at_d);                          \
        name##_meet(&a, &at_a, c, at_c);                                                           \
        *best = name##_best_of(a);                                                                 \
        return name##_place((name##_places)(a == name##_all(*best)), at_a, last, own);             \
    }                                                                                              \
    SYMC_EXTREME type name##_most(const type *x, int64_t n) {                                      \
        enum { L = name##_L };                                                                     \
        name##_lanes a = name##_load(x), b = a, c = a, d = a;                                      \
        for (int64_t j = 0; j < n; j += 4 * L) {                                                   \
            const name##_lanes e = name##_load(x + j), f = name##_load(x + j + L);                 \
            const name##_lanes g = name##_load(x + j + 2 * L), h = name##_load(x + j + 3 * L);     \
            a = SYMC_EXTREME_PICK(name##_places, e sign a, e, a);                                  \
            b = SYMC_EXTREME_PICK(name##_places, f sign b, f, b);                                  \
            c = SYMC_EXTREME_PICK(name##_places, g sign c, g, c);                                  \
            d = SYMC_EXTREME_PICK(name##_places, h sign d, h, d);                                  \
        }                                                                                          \
        a = SYMC_EXTREME_PICK(name##_places, b sign a, b, a);                                      \
        c = SYMC_EXTREME_PICK(name##_places, d sign c, d, c);                                      \
        return name##_best_of(SYMC_EXTREME_PICK(name##_places, c sign a, c, a));                   \
    }                                                                                              \
    static __attribute__((noinline)) void name##_blocks(int64_t rows, int64_t n, const type *x,    \
                                                        int64_t *places) {                         \
        const name##_places own = name##_own();                                                    \
        type best;                                                                                 \
        int64_t r = 0;                                                                             \
        if (n <= 32 || n < name##_L) {                                                             \
            for (; r + name##_R <= rows; r += name##_R) name##_beside(x + r * n, n, places + r);   \
            for (; r < rows; r++) places[r] = name##_few(x + r * n, n, &best);                     \
        } else if (n <= 4 * name##_L) {                                                            \
            for (; r < rows; r++) places[r] = name##_some(x + r * n, n, &best, own);               \
        } else {                                                                                   \
            for (; r < rows; r++) places[r] = name##_many(x + r * n, n, &best, own);               \
        }                                                                                          \
    }                                                                                              \
    static __attribute__((noinline)) int64_t name##_row(const type *x, int64_t n) {                \
        enum { B = name##_block };                                                                 \
        int64_t at = 0, start = 0;                                                                 \
        type best = value(x[0]);                                                                   \
        for (; start + B <= n; start += B) {                                                       \
            int64_t place = 0;                                                                     \
            type found;                                                                            \
            if (sizeof(type) > 2) name##_blocks(1, B, x + start, &place);                          \
            found = sizeof(type) > 2 ? x[start + place] : name##_most(x + start, B);               \
            if (!start || found sign best || found != found) best = found, at = start + place;     \
            if (best == (type)(top) || best != best) break;                                        \
        }                                                                                          \
        if (start < n && start + B > n) {                                                          \
            const int64_t size = n - start > 32 || !start ? n - start : 64;                        \
            int64_t place;                                                                         \
            name##_blocks(1, size, x + n - size, &place);                                          \
            place += n - size;                                                                     \
            if (!start || (type)value(x[place]) sign best || x[place] != x[place]) return place;   \
        }                                                                                          \
        if (sizeof(type) > 2 || best == (type)value(x[0])) return sizeof(type) > 2 ? at : 0;       \
        name##_blocks(1, B, x + at, &start);                                                       \
        return at + start;                                                                         \
    }                                                                                              \
    static void name##_rows(int64_t rows, int64_t n, const type *x, int64_t *places) {             \
        if (n <= name##_block) name##_blocks(rows, n, x, places);                                  \
        else for (int64_t r = 0; r < rows; r++) places[r] = name##_row(x + r * n, n);              \
    }                                                                                              \
    static void name(int64_t rows, int64_t n, const given *x, int64_t *places,                     \
                     int64_t threads) {                                                            \
        const type *const data = (const type *)x;                                                  \
        const int64_t most = threads < 64 ? threads : 64;                                          \
        const int64_t parts = threads > 1 && rows * n >= 131072 ? most : 1;                        \
        if (parts == 1) {                                                                          \
            name##_rows(rows, n, data, places);                                                    \
        } else if (rows == 1) {                                                                    \
            int64_t found[64], at;                                                                 \
            _Pragma("omp parallel for num_threads(threads)")                                       \
            for (int64_t k = 0; k < parts; k++) {                                                  \
                const int64_t start = n * k / parts;                                               \
                found[k] = start + name##_row(data + start, n * (k + 1) / parts - start);          \
            }                                                                                      \
            at = found[0];                                                                         \
            for (int64_t k = 1; k < parts; k++) {                                                  \
                const type v = value(data[found[k]]), best = value(data[at]);                      \
                if (v sign best || (v != v && best == best)) at = found[k];                        \
            }                                                                                      \
            places[0] = at;                                                                        \
        } else {                                                                                   \
            _Pragma("omp parallel for num_threads(threads)")                                       \
            for (int64_t k = 0; k < parts; k++) {                                                  \
                const int64_t r = rows * k / parts;                                                \
                name##_rows(rows * (k + 1) / parts - r, n, data + r * n, places + r);              \
            }                                                                                      \
        }                                                                                          \
    }

// SYMBOL symc_argmax_f32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_f32, float, float, int32_t, >, SYMC_AS_IS, NAN)

// SYMBOL symc_argmax_f64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_f64, double, double, int64_t, >, SYMC_AS_IS, NAN)

// SYMBOL symc_argmax_i8
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_i8, int8_t, int8_t, int8_t, >, SYMC_AS_IS, 127)

// SYMBOL symc_argmax_u8
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_u8, uint8_t, uint8_t, int8_t, >, SYMC_AS_IS, 255)

// SYMBOL symc_argmax_i16
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_i16, int16_t, int16_t, int16_t, >, SYMC_AS_IS, 32767)

// SYMBOL symc_argmax_u16
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_u16, uint16_t, uint16_t, int16_t, >, SYMC_AS_IS, 65535)

// SYMBOL symc_argmax_i32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_i32, int32_t, int32_t, int32_t, >, SYMC_AS_IS, 2147483647)

// SYMBOL symc_argmax_u32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_u32, uint32_t, uint32_t, int32_t, >, SYMC_AS_IS, 4294967295u)

// SYMBOL symc_argmax_i64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_i64, int64_t, int64_t, int64_t, >, SYMC_AS_IS, __INT64_MAX__)

// SYMBOL symc_argmax_u64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_u64, uint64_t, uint64_t, int64_t, >, SYMC_AS_IS, -1)

// SYMBOL symc_argmax_bool
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmax_bool, bool, int8_t, int8_t, >, SYMC_TRUTHS, 1)

// SYMBOL symc_argmin_f32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_f32, float, float, int32_t, <, SYMC_AS_IS, NAN)

// SYMBOL symc_argmin_f64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_f64, double, double, int64_t, <, SYMC_AS_IS, NAN)

// SYMBOL symc_argmin_i8
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_i8, int8_t, int8_t, int8_t, <, SYMC_AS_IS, ~127)

// SYMBOL symc_argmin_u8
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_u8, uint8_t, uint8_t, int8_t, <, SYMC_AS_IS, 0)

// SYMBOL symc_argmin_i16
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_i16, int16_t, int16_t, int16_t, <, SYMC_AS_IS, ~32767)

// SYMBOL symc_argmin_u16
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_u16, uint16_t, uint16_t, int16_t, <, SYMC_AS_IS, 0)

// SYMBOL symc_argmin_i32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_i32, int32_t, int32_t, int32_t, <, SYMC_AS_IS, ~2147483647)

// SYMBOL symc_argmin_u32
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_u32, uint32_t, uint32_t, int32_t, <, SYMC_AS_IS, 0)

// SYMBOL symc_argmin_i64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_i64, int64_t, int64_t, int64_t, <, SYMC_AS_IS, ~__INT64_MAX__)

// SYMBOL symc_argmin_u64
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_u64, uint64_t, uint64_t, int64_t, <, SYMC_AS_IS, 0)

// SYMBOL symc_argmin_bool
// NEEDS SYMC_DEFINE_ARGEXTREME
SYMC_DEFINE_ARGEXTREME(symc_argmin_bool, bool, int8_t, int8_t, <, SYMC_TRUTHS, 0)
