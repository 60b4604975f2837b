// Which bin each value is in, for bins between m edges that do not decrease: the last bin whose
// lower edge is not above the value, or the first bin if none is; NaN is in the first.

// SYMBOL symc_uniform_bins_fNN
// Edges that are equally far apart but for rounding: their distance says where to look. Of a block
// in which no value comes near an edge that is all; `near`, in widths of a bin, is more than the
// edges and this arithmetic are off. In other blocks values are compared with edges.
static void symc_uniform_bins_fNN(int64_t m, int64_t count, const real *edges, const real *x,
                                  int64_t *places, int64_t threads) {
    const int64_t last = m - 2;
    const double low = (double)edges[0], most = last < 0x7fffffff ? (double)last : 0x7ffffffe;
    const double scale = (double)(m - 1) / ((double)edges[m - 1] - low);
    double off = 0;
    int64_t irregular = 0;
#pragma omp simd reduction(max : off) reduction(| : irregular)
    for (int64_t k = 0; k < m; k++) {
        const double d = __builtin_fabs(((double)edges[k] - low) * scale - (double)k);
        irregular |= -(int64_t)!(d < 0x1p-10);
        off = d > off ? d : off;
    }
    const double near = irregular ? 1 : 4 * off + 0x1p-18;
#pragma omp parallel for num_threads(threads) if (threads > 1 && count >= 16384)
    for (int64_t start = 0; start < count; start += 128) {
        const int64_t end = count - start < 128 ? count : start + 128;
        int64_t unsure = 0;
#pragma omp simd reduction(| : unsure)
        for (int64_t i = start; i < end; i++) {
            double at = ((double)x[i] - low) * scale;
            at = at > near ? at : 0.5;
            at = at < most + 0.5 ? at : most + 0.5;
            const int32_t bin = (int32_t)at;
            unsure |= -(int64_t)(__builtin_fabs(at - bin - 0.5) > 0.5 - near);
            places[i] = bin;
        }
        for (int64_t i = start; unsure && i < end; i++) {
            const real v = x[i];
            int64_t bin = places[i];
            while (bin > 0 && v < edges[bin]) bin--;
            while (bin < last && v >= edges[bin + 1]) bin++;
            places[i] = bin;
        }
    }
}

// SYMBOL symc_bins_fNN
// Any edges. A cell of a grid, which the same arithmetic finds for values and for edges, has all
// edges of lower cells below it; from there on a value is compared with one edge after the other.
// Where a cell has many, or there is no grid, since edges are not finite, the part of them that is
// left is halved.
static void symc_bins_fNN(int64_t m, int64_t count, const real *edges, const real *x,
                          int64_t *places, int64_t threads) {
    enum { CELLS = 1024, BLOCK = 256, MANY = 6 };
    const int64_t inner = m - 2;  // edges between bins
    const real *e = edges + 1;
    const double low = inner > 0 ? (double)e[0] : 0;
    const double scale = inner > 0 ? CELLS / ((double)e[inner - 1] - low) : 0;
    int64_t first[CELLS] = {0}, most = 0;
    int grid = scale > 0 && scale < 1e300;
#define SYMC_CELL(v, at)                                    \
    const double at##_place = ((double)(v) - low) * scale;  \
    const double at##_up = at##_place > 0 ? at##_place : 0; \
    const int32_t at = (int32_t)(at##_up < CELLS - 1 ? at##_up : CELLS - 1);
    for (int64_t k = 0; grid && k < inner; k++) {
        SYMC_CELL(e[k], cell)
        grid = e[k] == e[k];
        first[cell]++;
    }
    for (int64_t c = 0, before = 0; c < CELLS; c++) {
        const int64_t here = first[c];
        most = here > most ? here : most;
        first[c] = before;
        before += here;
    }
    grid = grid && most <= MANY;
#pragma omp parallel for num_threads(threads) if (threads > 1 && count >= 16384)
    for (int64_t start = 0; start < count; start += BLOCK) {
        const int64_t wide = count - start < BLOCK ? count - start : BLOCK;
        const real *v = x + start;
        int64_t *at = places + start;
#pragma omp simd
        for (int64_t i = 0; i < wide; i++) {
            SYMC_CELL(v[i], cell)
            at[i] = grid ? first[cell] : 0;
        }
        for (int64_t step = 0; grid && step < most; step++)
#pragma omp simd
            for (int64_t i = 0; i < wide; i++)
                at[i] += (int64_t)(e[at[i]] <= v[i]) & (int64_t)(at[i] < inner);
        for (int64_t rest = grid ? 0 : inner; rest > 0;) {
            const int64_t half = (rest + 1) / 2;
#pragma omp simd
            for (int64_t i = 0; i < wide; i++)
                at[i] += half & -(int64_t)(e[at[i] + half - 1] <= v[i]);
            rest -= half;
        }
    }
#undef SYMC_CELL
}
