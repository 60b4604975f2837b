// The declarations that kernels need from the compiler that reads them. The text is C++ as symc
// gives it to NVRTC, where each function is one of the device: here nvcc is told so.
#ifdef SYMC_SIM
#define DYNAMIC_SHARED extern
#else
#define DYNAMIC_SHARED extern __shared__
#define static __device__ static
// long long, for which CUDA's functions are overloaded. The C library's are long.
#define int64_t symc_int64_t
#define uint64_t symc_uint64_t
#undef INFINITY
#undef NAN
#endif
