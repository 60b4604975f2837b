// Tiles of eight rows (conv.h), for the 32 registers of AVX-512: 16 and 32 features leave no row
// empty, and two vectors are loaded, over the ends of lines of the cache mostly, for 16 products.

// SYMBOL symc_conv_height
// NEEDS symc_conv
// The rows of tiles of outputs: those that leave the fewest empty.
enum { SYMC_TALL = 8 };
static inline int64_t symc_conv_height(int64_t features) {
    const int64_t tall = (features + SYMC_TALL - 1) / SYMC_TALL * SYMC_TALL;
    const int64_t low = (features + SYMC_ROWS - 1) / SYMC_ROWS * SYMC_ROWS;
    return SYMC_LANE_BYTES == 64 && tall <= low ? SYMC_TALL : SYMC_ROWS;
}

// SYMBOL symc_conv_outputs_tall_fNN
// NEEDS symc_lanes_fNN SYMC_TILE
// Eight filters times the two vectors that each of their elements meets.
static void symc_conv_outputs_tall_fNN(int64_t depth, const real *const *rows, const real *first,
                                       const real *second, const int64_t *at,
                                       symc_lanes_fNN *tile) {
    const real *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4], *f = rows[5];
    const real *g = rows[6], *h = rows[7];
    SYMC_TILE(symc_lanes_fNN)
    symc_lanes_fNN s60 = {0}, s61 = {0}, s70 = {0}, s71 = {0};
    for (int64_t k = 0; k < depth; k++) {
        const symc_lanes_fNN left = *(const symc_lanes_fNN *)(first + at[k]);
        const symc_lanes_fNN right = *(const symc_lanes_fNN *)(second + at[k]);
        SYMC_TILE_STEP(a[k], b[k], c[k], d[k], e[k], f[k], left, right)
        s60 += g[k] * left, s61 += g[k] * right;
        s70 += h[k] * left, s71 += h[k] * right;
    }
    SYMC_TILE_END(tile, =)
    tile[12] = s60, tile[13] = s61, tile[14] = s70, tile[15] = s71;
}
