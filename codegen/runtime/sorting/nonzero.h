// Where masks are true.

// SYMBOL symc_flat_nonzero
// The positions of the true ones among n bools, of which there are `count`. No branch depends on one
// bool alone. Eight that are false are passed over at once. Where there is room for eight positions,
// eight are written, the true ones first: a table has, for each pattern of eight, which those are.
// The others, and what is beyond, are written over.
#define SYMC_NONZERO_FEW 4096
static void symc_flat_nonzero(const bool *mask, int64_t n, int64_t count, int64_t *places) {
    const uint8_t *bytes = (const uint8_t *)mask;
    int64_t which[256][8], many[256];
    int64_t found = 0, i = 0;
    if (n >= SYMC_NONZERO_FEW && count >= n / 64) {
        for (int64_t pattern = 0; pattern < 256; pattern++) {
            int64_t next = 0;
            for (int64_t k = 0; k < 8; k++) which[pattern][k] = 0;
            for (int64_t k = 0; k < 8; k++) {
                which[pattern][next & 7] = k;
                next += pattern >> k & 1;
            }
            many[pattern] = next;
        }
        for (; i + 8 <= n && count - found >= 8; i += 8) {
            uint64_t eight;
            __builtin_memcpy(&eight, bytes + i, 8);
            if (eight == 0) continue;
            if (eight & ~0x0101010101010101u) break;  // a bool that is neither 0 nor 1
            // Byte k of the mask becomes bit k.
            const int64_t pattern = eight * 0x0102040810204080u >> 56;
            int64_t *const to = places + found;
#pragma omp simd
            for (int64_t k = 0; k < 8; k++) to[k] = i + which[pattern][k];
            found += many[pattern];
        }
    }
    for (; i < n && found < count; i += 8) {
        const int64_t end = i + 8 < n ? i + 8 : n;
        if (end - i == 8) {
            uint64_t eight;
            __builtin_memcpy(&eight, bytes + i, 8);
            if (eight == 0) continue;
        }
        for (int64_t k = i; k < end && found < count; k++) {
            places[found] = k;
            found += bytes[k] != 0;
        }
    }
    while (found < count) places[found++] = n;  // bytes that are neither 0 nor 1 were counted
}
