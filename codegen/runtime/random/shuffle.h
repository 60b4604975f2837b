// Random orders.

// SYMBOL symc_permutation
// NEEDS symc_random_below_u64
// The numbers below n in a random order (Fisher and Yates). Each exchange has random bits of its own
// index, which are the costs here: they do not wait for each other.
static void symc_permutation(const uint64_t *key, int64_t n, int64_t *order) {
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t other = (int64_t)symc_random_below_u64(key[0], key[1], i, (uint64_t)i + 1);
        int64_t number = order[i];
        order[i] = order[other];
        order[other] = number;
    }
}
