// Where masks are true.

// SYMBOL symc_flat_nonzero
// The positions of the true ones among n bools, of which there are `count`. No branch depends on one
// bool alone: each position is written where the next true one belongs, and written over unless it
// is one. Eight that are false are passed over at once.
static void symc_flat_nonzero(const bool *mask, int64_t n, int64_t count, int64_t *places) {
    const uint8_t *bytes = (const uint8_t *)mask;
    int64_t found = 0;
    for (int64_t i = 0; i < n && found < count; i += 8) {
        const int64_t end = i + 8 < n ? i + 8 : n;
        if (end - i == 8) {
            uint64_t eight;
            __builtin_memcpy(&eight, bytes + i, 8);
            if (eight == 0) continue;
            if (count - found >= 8) {  // there is room for each of them
                for (int64_t k = i; k < i + 8; k++) {
                    places[found] = k;
                    found += bytes[k] != 0;
                }
                continue;
            }
        }
        for (int64_t k = i; k < end && found < count; k++) {
            places[found] = k;
            found += bytes[k] != 0;
        }
    }
    while (found < count) places[found++] = n;  // bytes that are neither 0 nor 1 were counted
}
