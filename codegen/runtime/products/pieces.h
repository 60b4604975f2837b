// The pieces that matrix products are computed in, so that BLAS takes least and threads share them.

// SYMBOL symc_gemm_strip
// NEEDS symc_imports
// The width of strips of c, whole columns, that OpenBLAS multiplies without packing, and in `depth`
// how many products it sums at a time; 0 where packing takes less time. Its kernels for small
// products, of up to a million multiplications, read b where it lies. All others pack b, which takes
// two thirds of the time for 8 rows. A strip reads all of a, so it is to be wide: what is too much
// for a kernel is cut along k, too, which also saves digits, as these kernels sum one by one. With
// more rows it is only worth while if b is in the cache or strips are wide, with sums short enough to
// be done at once; rows of b that are pages apart share few places of the cache.
// Of a transposed b there are kernels for vectors of 64 bytes alone, and only for up to 1200 numbers
// of c, each of which is a sum of vectors along k. Elsewhere such strips cost up to a quarter; those
// of a b that is not transposed cost 5 % with a BLAS without such kernels.
static int64_t symc_gemm_strip(int64_t trans_b, int64_t m, int64_t n, int64_t k, int64_t ldb,
                               int64_t size, int64_t *depth) {
    enum { MOST = 1000000, DEEP = 1024, SUMS = 1200, LEAST = 32 };
    const double work = (double)m * n * k;
    *depth = k;
    if (!symc_imports.functions[0] || n < LEAST || k < LEAST) return 0;
#ifdef __AVX512F__
    if (trans_b) {
        if (m * size > 192 || m * n <= SUMS) return 0;
        const int64_t cuts = (k + DEEP - 1) / DEEP;
        *depth = ((k + cuts - 1) / cuts + 15) / 16 * 16;
        const int64_t most = MOST / (m * *depth), width = most < SUMS / m ? most : SUMS / m;
        const int64_t strips = (n + width / 8 * 8 - 1) / (width / 8 * 8);
        return ((n + strips - 1) / strips + 7) / 8 * 8;
    }
#endif
    if (trans_b || work <= MOST) return 0;
    if (m * size > 128) {
        const int64_t width = m <= 64 && k <= 2048 ? MOST / (m * k) / 32 * 32 : 0;
        if (width < 32 || (width < 96 && (double)n * k > 1 << 17)) return 0;
        if (m > 32 && ldb * size % 4096 == 0) return 0;
        const int64_t strips = (n + width - 1) / width;
        return ((n + strips - 1) / strips + 31) / 32 * 32;
    }
    const int64_t most = n >= 2048 ? 512 : 256, strips = (n + most - 1) / most;
    const int64_t width = ((n + strips - 1) / strips + 31) / 32 * 32;
    const int64_t room = MOST / (m * width), rows = room < DEEP ? room : DEEP;
    const int64_t cuts = (k + rows - 1) / rows;
    *depth = (k + cuts - 1) / cuts;
    return width;
}

// SYMBOL symc_gemm_slab
// NEEDS symc_imports
// The rows, and in `width` the columns, of pieces that those kernels compute of a product with few
// summands: a sum of outer products, a gradient of weights. It is bound by writing c, so a piece is
// of whole rows. In double precision packing takes no longer. 0: no such pieces.
static int64_t symc_gemm_slab(int64_t trans_b, int64_t m, int64_t n, int64_t k, int64_t size,
                              int64_t *width) {
#ifdef __AVX512F__
    const double most = 1e6;
    if (!symc_imports.functions[0] || trans_b || size > 4 || k > 16 || n < 64) return 0;
    if ((double)m * n * k <= most) return 0;
    const int64_t across = (n + 2047) / 2048;
    *width = ((n + across - 1) / across + 15) / 16 * 16;
    return (int64_t)(most / (double)(k * *width)) / 16 * 16;
#else
    return 0;
#endif
}

// SYMBOL symc_gemm_rows
// NEEDS symc_imports
// The rows of pieces that those kernels compute of a tall a times a small b, which takes half to nine
// tenths of the time with packing; 0 where packing takes less. They read all of b for each few rows,
// so it has to stay in near caches. In single precision, in which packing is cheaper, b is to be
// smaller, and sums are to be short, shorter of a transposed a. Of a transposed b, of which they sum
// along k, only narrow products gain. k is at most what strips sum at once.
static int64_t symc_gemm_rows(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                              int64_t size) {
#ifdef __AVX512F__
    enum { MOST = 1000000, DEEP = 1024 };
    if (!symc_imports.functions[0] || m <= 64 || n < 4 || k < 24 || k > DEEP) return 0;
    if (n * k > (size > 4 ? 16000 : 12000)) return 0;
    if (trans_b && (size <= 4 || n > 12 || k < 64)) return 0;
    if (size <= 4 && n >= 16 && k > (trans_a ? 96 : 256)) return 0;
    const int64_t most = MOST / (n * k) / 8 * 8, count = (m + most - 1) / most;
    return ((m + count - 1) / count + 7) / 8 * 8;
#else
    return 0;
#endif
}

// SYMBOL symc_gemm_pieces
// NEEDS symc_gemm_slab symc_gemm_strip symc_gemm_rows
// The rows and columns of the pieces that a product is computed in, and how many summands are added
// at a time (all but in strips): where there is enough to do, two or four or more pieces, which
// threads share evenly. Each packs all of b that it needs, so they are whole rows: 512 x 2000 of a
// product take 4 % more than the product at once, 384 x 384 take 45 %. Only where rows are few, or so
// long that they leave the cache, are columns divided. Multiples of 16 suit the kernels of BLAS.
static void symc_gemm_pieces(int64_t batch, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,
                             int64_t k, int64_t ldb, int64_t size, int64_t *height,
                             int64_t *width, int64_t *depth) {
    *height = m;
    *width = symc_gemm_strip(trans_b, m, n, k, ldb, size, depth);
    if (*width) return;
    *height = symc_gemm_slab(trans_b, m, n, k, size, width);
    if (*height) return;
    const double work = (double)batch * m * n * k;
    int64_t wanted = work > 3e10 ? 16 : work > 2e9 ? 8 : work > 4e6 ? 4 : work > 1e6 ? 2 : 1;
    if (wanted == 4 && k / 32 >= (m > n ? m : n)) wanted = 2;  // to pack takes most of the time
    wanted = (wanted + batch - 1) / batch;
    const int64_t least = m < n ? 64 : 32, most = m > least ? m / least : 1;
    int64_t down = (m + 511) / 512, across = (n + 4095) / 4096;
    if (down * across < wanted) {
        down = wanted < most ? wanted : most;
        const int64_t needed = (wanted + down - 1) / down, room = n > 32 ? n / 32 : 1;
        if (across < needed) across = needed < room ? needed : room;
    }
    *height = ((m + down - 1) / down + 15) / 16 * 16;
    *width = ((n + across - 1) / across + 15) / 16 * 16;
    if ((double)*height * (*width < n ? *width : n) * k <= 1e6) return;
    const int64_t rows = symc_gemm_rows(trans_a, trans_b, m, n, k, size);
    if (rows) *height = rows, *width = n;
}

// SYMBOL symc_twin_pieces
// The same for a matrix times its own transpose, in squares: one where there is little to do, else
// two in a row, then four: those on the diagonal, of which half is computed, suit BLAS if large.
static int64_t symc_twin_pieces(int64_t batch, int64_t m, int64_t k) {
    const double work = (double)batch * m * m * k;
    if (m < 128 || work <= 1e6 || (m < 512 && batch > 1)) return m;
    return m < 512 ? (m + 31) / 32 * 16 : m < 1536 ? (m + 63) / 64 * 16 : 384;
}
