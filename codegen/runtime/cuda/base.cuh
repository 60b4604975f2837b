// The start of every generated CUDA text, as host/base.h does in C: there is no #include, so that
// NVRTC needs no headers. The simulator (SYMC_SIM) compiles the same text with g++.

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;  // CUDA's own functions are overloaded for it
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INFINITY (1.0 / 0.0)  // a constant, also in tables
#define NAN (0.0 / 0.0)

// float16 is only stored: it converts by itself to and from the types that are computed in.
#if defined(SYMC_SIM) && defined(__aarch64__)
typedef __fp16 symc_float16;  // which any compiler knows there, _Float16 only newer ones
#elif defined(SYMC_SIM)
typedef _Float16 symc_float16;
#else
struct symc_float16 {
    unsigned short bits;

    symc_float16() = default;
    __device__ symc_float16(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
    __device__ symc_float16(double x) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x)); }
    // An integer that rounds to another float than itself is far above the largest float16.
    template <typename T> __device__ symc_float16(T x) : symc_float16((float)x) {}
    __device__ operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
};
#endif
