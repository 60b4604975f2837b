// Fourier transforms along one axis of an array, seen as [outer, n, inner]. Long sequences that lie
// in one piece are transformed by themselves (`fftrows.h`), others in blocks of neighbours, loaded
// into the lanes of vectors and stored from there (`fft.h`). Numbers are complex, or real for one
// side of the real transforms. Results are scaled by 1, 1/sqrt(n) or 1/n, for a `power` of 0, 1, 2.

// SYMBOL symc_fft_blocks
// Which sequences of an array [outer, n, inner] are transformed together: `width` neighbours along
// `inner`, or rows where that is 1. Element i of sequence v is at `first + i * along + v * across`,
// and its imaginary part `pair` after it, or is 0 where `pair` is 0.
typedef struct symc_fft_place {
    int64_t first, along, across, pair, width;
} symc_fft_place;

// Blocks of complex numbers, and of pairs of neighbours among numbers without imaginary parts.
static symc_fft_place symc_fft_place_of(int64_t number, int64_t lanes, int64_t n, int64_t outer,
                                        int64_t inner) {
    symc_fft_place place = {.along = 2 * inner, .across = inner > 1 ? 2 : 2 * n, .pair = 1};
    const int64_t there = inner > 1 ? inner : outer, blocks = (there + lanes - 1) / lanes;
    const int64_t start = number % blocks * lanes;
    place.width = there - start < lanes ? there - start : lanes;
    place.first = number / blocks * n * inner * 2 + start * place.across;
    return place;
}
static symc_fft_place symc_fft_place_of_pairs(int64_t number, int64_t lanes, int64_t n,
                                              int64_t outer, int64_t inner) {
    symc_fft_place place = symc_fft_place_of(number, lanes, n, outer, inner);
    place.first /= 2, place.across /= 2, place.pair = n % 2 ? 0 : inner;
    if (n % 2) place.along = inner;
    return place;
}

// SYMBOL symc_fft_moves_fNN
// NEEDS symc_fft_blocks symc_shuffles_fNN
// Elements from an array to a block, and back.
static void symc_fft_load_fNN(const real *a, symc_fft_place of, int64_t n,
                              symc_lanes_fNN *x) {
    enum { L = SYMC_LANES_fNN };
    a += of.first;
    if (of.width == L && of.across == 2 && of.pair == 1) {
        for (int64_t i = 0; i < n; i++)
            symc_split_lanes_fNN(a + i * of.along, x + 2 * i, x + 2 * i + 1);
    } else if (of.width == L && of.along == 2 && of.pair == 1 && n >= L) {
        for (int64_t start = 0; start < n; start += L) {
            const int64_t i = start < n - L ? start : n - L;
            symc_lanes_fNN re[L], im[L];
#pragma GCC unroll 16
            for (int v = 0; v < L; v++)
                symc_split_lanes_fNN(a + 2 * i + v * of.across, re + v, im + v);
            symc_transpose_lanes_fNN(re);
            symc_transpose_lanes_fNN(im);
#pragma GCC unroll 16
            for (int v = 0; v < L; v++) x[2 * (i + v)] = re[v], x[2 * (i + v) + 1] = im[v];
        }
    } else if (of.width == L && of.across == 1) {
        for (int64_t i = 0; i < n; i++) {
            x[2 * i] = *(const symc_lanes_fNN *)(a + i * of.along);
            x[2 * i + 1] = of.pair ? *(const symc_lanes_fNN *)(a + i * of.along + of.pair)
                                   : (symc_lanes_fNN){0};
        }
    } else {
        real *to = (real *)x;
        __builtin_memset(x, 0, (size_t)(2 * n) * sizeof(symc_lanes_fNN));
        for (int64_t i = 0; i < n; i++, to += 2 * L)
            for (int64_t v = 0; v < of.width; v++) {
                const real *from = a + i * of.along + v * of.across;
                to[v] = from[0];
                if (of.pair) to[L + v] = from[of.pair];
            }
    }
}
static void symc_fft_store_fNN(real *c, symc_fft_place of, int64_t n, real scale,
                               const symc_lanes_fNN *x) {
    enum { L = SYMC_LANES_fNN };
    c += of.first;
    if (of.width == L && of.across == 2 && of.pair == 1) {
        for (int64_t i = 0; i < n; i++)
            symc_join_lanes_fNN(c + i * of.along, scale * x[2 * i], scale * x[2 * i + 1]);
    } else if (of.width == L && of.along == 2 && of.pair == 1 && n >= L) {
        for (int64_t start = 0; start < n; start += L) {
            const int64_t i = start < n - L ? start : n - L;
            symc_lanes_fNN re[L], im[L];
#pragma GCC unroll 16
            for (int v = 0; v < L; v++)
                re[v] = scale * x[2 * (i + v)], im[v] = scale * x[2 * (i + v) + 1];
            symc_transpose_lanes_fNN(re);
            symc_transpose_lanes_fNN(im);
#pragma GCC unroll 16
            for (int v = 0; v < L; v++)
                symc_join_lanes_fNN(c + 2 * i + v * of.across, re[v], im[v]);
        }
    } else if (of.width == L && of.across == 1) {
        for (int64_t i = 0; i < n; i++) {
            *(symc_lanes_fNN *)(c + i * of.along) = scale * x[2 * i];
            if (of.pair)
                *(symc_lanes_fNN *)(c + i * of.along + of.pair) = scale * x[2 * i + 1];
        }
    } else {
        const real *from = (const real *)x;
        for (int64_t i = 0; i < n; i++, from += 2 * L)
            for (int64_t v = 0; v < of.width; v++) {
                real *to = c + i * of.along + v * of.across;
                to[0] = scale * from[v];
                if (of.pair) to[of.pair] = scale * from[L + v];
            }
    }
}

// SYMBOL symc_fft_over_fNN
// NEEDS symc_fft_new_fNN symc_fft_moves_fNN symc_fft_line_fNN malloc free
// What is done with an array: its tables f are of n numbers or, for real ones of even length, half
// as many. `alone` says that sequences are transformed by themselves, which have so many times as
// much memory `apart` as n real numbers need, on their way to one piece and from there.
typedef struct symc_fft_job_fNN {
    const symc_fft_fNN *f;
    int64_t n, outer, inner, apart;
    int alone, inverse;
    real scale;  // of results that are stored from blocks
    const real *a;
    real *c;
} symc_fft_job_fNN;
typedef void symc_fft_each_fNN(const symc_fft_job_fNN *job, int64_t number, symc_lanes_fNN *work);

// Runs `each` for all blocks of an array, or sequences, on several threads. Where there is no
// memory for the work the result, of `size` numbers, is filled with NaN.
static void symc_fft_over_fNN(symc_fft_each_fNN *each, symc_fft_job_fNN job, int64_t halved,
                              int64_t power, int64_t size, int64_t threads) {
    const int64_t n = job.n, outer = job.outer, inner = job.inner, m = halved ? n / 2 : n;
    const double scale = power == 0 ? 1 : 1 / (power == 1 ? __builtin_sqrt((double)n) : (double)n);
    const int64_t halves = halved ? m / 2 + 1 + SYMC_LANES_fNN : 0;
    const int64_t there = inner > 1 ? inner : outer;
    const int blocks_of_rows = inner == 1 && outer >= SYMC_LANES_fNN;
    const int alone = inner >= SYMC_LANES_fNN / 2 ? 0 : 1 + blocks_of_rows;
    symc_fft_fNN *f = symc_fft_new_fNN(m, job.inverse, alone, halves, scale);
    int failed = !f;
    if (f) {
        job.f = f, job.scale = f->inner ? 1 : f->scale;
        job.alone = symc_fft_alone_fNN(f);
        const int64_t blocks = (there + SYMC_LANES_fNN - 1) / SYMC_LANES_fNN;
        const int64_t count = job.alone ? outer * inner : blocks * (inner > 1 ? outer : 1);
        const double numbers = (double)n * (double)outer * (double)inner;
        const int many = threads > 1 && count > 1 && numbers > 1e4;
        // No more than that: the C library keeps memory for the next call up to some size only.
        const int64_t apart = job.alone ? job.apart * (n / SYMC_LANES_fNN + 2) : 2;
        const int64_t room = symc_fft_room_fNN(f) + 2 + apart;
#pragma omp parallel num_threads(threads) if (many)
        {
            char *memory = malloc((size_t)room * sizeof(symc_lanes_fNN) + 64);
            symc_lanes_fNN *work = (symc_lanes_fNN *)(memory + (-(size_t)memory & 63));
            if (!memory) failed = 1;
#pragma omp for schedule(static) nowait
            for (int64_t number = 0; number < count; number++)
                if (memory) each(&job, number, work);
            free(memory);
        }
    }
    symc_fft_free_fNN(f);
    if (failed)
        for (int64_t i = 0; i < size; i++) job.c[i] = __builtin_nan("");
}

// SYMBOL symc_fft_strided_fNN
// NEEDS symc_lanes_fNN
// Copies numbers of `width` parts that are so many numbers apart.
static void symc_fft_strided_fNN(const real *from, int64_t count, int64_t width, int64_t apart_from,
                                 int64_t apart_to, real *to) {
    for (int64_t k = 0; k < count; k++)
        for (int64_t part = 0; part < width; part++)
            to[k * apart_to * width + part] = from[k * apart_from * width + part];
}

// SYMBOL symc_fft_complex_fNN
// NEEDS symc_fft_over_fNN symc_fft_strided_fNN
// c[outer, n, inner] = the transforms of a along the middle axis.
static void symc_fft_each_complex_fNN(const symc_fft_job_fNN *job, int64_t number,
                                      symc_lanes_fNN *work) {
    const symc_fft_fNN *f = job->f;
    const int64_t n = job->n, inner = job->inner;
    if (job->alone) {
        const int64_t first = 2 * (number / inner * n * inner + number % inner);
        const real *a = job->a + first;
        real *c = job->c + first, *x = (real *)work, *y = x + 2 * n;
        if (inner == 1) {
            symc_fft_line_fNN(f, a, c, work);
            return;
        }
        symc_fft_strided_fNN(a, n, 2, inner, 1, x);
        symc_fft_line_fNN(f, x, y, work + 4 * (n / SYMC_LANES_fNN + 1));
        symc_fft_strided_fNN(y, n, 2, 1, inner, c);
        return;
    }
    const symc_fft_place place = symc_fft_place_of(number, SYMC_LANES_fNN, n, job->outer, inner);
    symc_lanes_fNN *y = work + symc_fft_room_fNN(f) / 2;
    if (!f->inner && place.width == SYMC_LANES_fNN && inner > 1) {
        const int64_t end = f->passes.count - (f->passes.count > 1), along = place.along;
        const real *a = job->a + place.first;
        const symc_lanes_fNN *z = symc_fft_run_from_fNN(&f->passes, end, a, along, work, y);
        symc_fft_run_to_fNN(&f->passes, end, z, work, y, f->scale, job->c + place.first, along);
        return;
    }
    symc_fft_load_fNN(job->a, place, n, work);
    symc_fft_store_fNN(job->c, place, n, job->scale, symc_fft_block_fNN(f, work, y));
}
static void symc_fft_complex_fNN(int64_t inverse, int64_t power, int64_t outer, int64_t n,
                                 int64_t inner, const real *a, real *c, int64_t threads) {
    if (outer <= 0 || n <= 0 || inner <= 0) return;
    const symc_fft_job_fNN job = {.n = n, .outer = outer, .inner = inner,
                                  .apart = inner > 1 ? 4 : 0, .inverse = (int)inverse,
                                  .a = a, .c = c};
    symc_fft_over_fNN(symc_fft_each_complex_fNN, job, 0, power, 2 * outer * n * inner, threads);
}
