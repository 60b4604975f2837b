// The interface between a simulated kernel module (C++, one for each CUDA source) and the driver
// (C, one for each process). The driver fills in `symc_sim` of a module when it
// loads it, and finds everything else in the module's `symc_sim_module` and its
// `symc_sim_kernel_NAME`.
#ifndef SYMC_SIM_INTERFACE_H
#define SYMC_SIM_INTERFACE_H

typedef struct uint3 {
    unsigned x, y, z;
} uint3;

// The values of threadIdx, blockIdx, blockDim and gridDim; the driver changes it between threads.
typedef struct symc_sim_position {
    uint3 thread, block, threads, blocks;
} symc_sim_position;

// A line of the source, as `#line` counts them.
typedef struct symc_sim_place {
    const char *file;
    int line;
} symc_sim_place;

typedef enum symc_sim_vote {
    SYMC_SIM_BARRIER,
    SYMC_SIM_BARRIER_COUNT,
    SYMC_SIM_BARRIER_AND,
    SYMC_SIM_BARRIER_OR,
} symc_sim_vote;

typedef enum symc_sim_exchange {
    SYMC_SIM_SYNCWARP,
    SYMC_SIM_SHUFFLE,
    SYMC_SIM_SHUFFLE_UP,
    SYMC_SIM_SHUFFLE_DOWN,
    SYMC_SIM_SHUFFLE_XOR,
    SYMC_SIM_BALLOT,
    SYMC_SIM_ANY,
    SYMC_SIM_ALL,
} symc_sim_exchange;

typedef enum symc_sim_access {
    SYMC_SIM_READ,
    SYMC_SIM_WRITE,
    SYMC_SIM_ATOMIC,
} symc_sim_access;

typedef enum symc_sim_fault {
    SYMC_SIM_MISALIGNED,
    SYMC_SIM_ASSERT,
    SYMC_SIM_TRAP,
} symc_sim_fault;

enum { SYMC_SIM_WARP = 32, SYMC_SIM_DYNAMIC_BYTES = 232448, SYMC_SIM_GUARD_BYTES = 32 };

// The gap between two __shared__ arrays, so that the driver finds where each of them ends.
#define SYMC_SIM_GUARD "\xa5symc: between shared arrays\xa5\x5a\xa5"

// The functions for kernels. None of these returns when it finds an error: the launch ends there.
typedef struct symc_sim_runtime {
    const symc_sim_position *position;
    // __syncthreads and its voting variants.
    int (*barrier)(symc_sim_vote kind, int predicate, symc_sim_place place);
    // Warp operations: `source` is the lane that a shuffle reads from.
    unsigned long long (*exchange)(symc_sim_exchange kind, unsigned mask, unsigned long long value,
                                   int source, symc_sim_place place);
    // Before each access to memory; `from` is the address of the code that makes it.
    void (*access)(symc_sim_access kind, const void *address, unsigned long bytes,
                   const void *from);
    void (*fail)(symc_sim_fault fault, symc_sim_place place, const char *text);
    int (*print)(const char *format, ...);
    // Mathematical functions that CUDA has and libm has not.
    double (*erfcx)(double x);
    double (*erfinv)(double x);
    double (*erfcinv)(double x);
    double (*normcdf)(double x);
    double (*normcdfinv)(double x);
    double (*cyl_bessel_i0)(double x);
    double (*cyl_bessel_i1)(double x);
} symc_sim_runtime;

// A module's memory: all of it, its __shared__ arrays, and room for `extern __shared__` ones.
typedef struct symc_sim_module_record {
    unsigned long size;  // of this struct: another size is another version
    const symc_sim_runtime **runtime;
    char *start, *end;
    char *shared, *shared_end;
    char *dynamic;
} symc_sim_module_record;

// A kernel: `call` runs it for one thread, with pointers to the arguments as cuLaunchKernel has.
typedef struct symc_sim_kernel {
    const char *name;
    void (*call)(void **arguments);
    const unsigned *sizes;  // of the arguments, in bytes
    unsigned count;
    unsigned bound;  // threads of a block at most, as in __launch_bounds__; 0: none given
} symc_sim_kernel;

#endif
