// Threads, where the compiler has a runtime for them; else loops run on one.

// SYMBOL symc_thread
// The number of the present thread, among those of a parallel loop.
#ifdef _OPENMP
int omp_get_thread_num(void);
static inline int64_t symc_thread(void) { return omp_get_thread_num(); }
#else
static inline int64_t symc_thread(void) { return 0; }
#endif
