// The alignment of memory that kernels read in packs, and such reads.

// SYMBOL symc_aligned
// NEEDS symc_pack
// Whether N neighbouring elements can be read as one pack.
template <int N, typename T>
static inline bool symc_aligned(const T *first) {
    return (size_t)first % alignof(symc_pack<T, N>) == 0;
}
