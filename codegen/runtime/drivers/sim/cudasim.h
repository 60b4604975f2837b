// CUDA C for a CPU: g++ (or clang++) with `-include cudasim.h` compiles the source that NVRTC
// compiles, unchanged, to a module that the simulated driver beside this file can run.
//
// There: the language's words, the built-in variables, barriers, shuffles, votes, atomics, vector
// types, mathematical functions in float and double. Not there: inline PTX, textures, cooperative
// groups, tensor cores, __activemask and __match (write `#ifndef SYMC_SIM` around those); any
// header, as with NVRTC.
//
// The compiler's instrumentation for data races (-fsanitize=thread, without its library) calls
// check.h before each access to memory. driver.h lists the errors found that way.
#ifndef SYMC_SIM
#define SYMC_SIM 1

#include "interface.h"

typedef decltype(sizeof(0)) size_t;

extern "C" {
extern const symc_sim_runtime *symc_sim __attribute__((visibility("hidden")));
}

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __grid_constant__
// A static variable stands for the block's copy: blocks run one after the other.
#define __shared__                                                                              \
    SYMC_SIM_SHARED __align__(1) char SYMC_SIM_NAME(symc_sim_guard_, __COUNTER__)[] =           \
        SYMC_SIM_GUARD;                                                                         \
    SYMC_SIM_SHARED
#define SYMC_SIM_SHARED static __attribute__((section("symc_shared"), used))
#define SYMC_SIM_NAME(start, end) SYMC_SIM_JOIN(start, end)
#define SYMC_SIM_JOIN(start, end) start##end

// Functions that call the driver: check.h does not look at their reads.
#define SYMC_SIM_UNCHECKED __attribute__((noinline, no_sanitize_thread)) static inline

// The driver changes these between threads, but a call of a kernel is by one thread: `const`.
#define SYMC_SIM_BUILT_IN(name, member)                                                         \
    __attribute__((const)) SYMC_SIM_UNCHECKED uint3 name() { return symc_sim->position->member; }
SYMC_SIM_BUILT_IN(symc_sim_thread_index, thread)
SYMC_SIM_BUILT_IN(symc_sim_block_index, block)
SYMC_SIM_BUILT_IN(symc_sim_block_size, threads)
SYMC_SIM_BUILT_IN(symc_sim_grid_size, blocks)
#define threadIdx symc_sim_thread_index()
#define blockIdx symc_sim_block_index()
#define blockDim symc_sim_block_size()
#define gridDim symc_sim_grid_size()
#define warpSize 32

// Where an operation was called: the defaults of these are evaluated at the call.
#define SYMC_SIM_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SYMC_SIM_PLACE (symc_sim_place{file, line})

#include "vectors.h"
#include "warp.h"
#include "intrinsics.h"
#include "atomics.h"
#include "functions.h"
#include "check.h"
#include "kernel.h"

#endif
