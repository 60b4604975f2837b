// Atomic operations, for the types that CUDA has them for. One thread runs at a time, so that
// plain code is atomic; the driver checks the address, and takes none of them for a race.

#define SYMC_SIM_CHECK_ATOMIC(address)                                                          \
    symc_sim->access(SYMC_SIM_ATOMIC, address, sizeof *(address), __builtin_return_address(0))

#define SYMC_SIM_ATOMIC_OPERATION(name, T, expression)                                          \
    __attribute__((noinline, no_sanitize_thread)) static inline T name(T *address, T value) {  \
        SYMC_SIM_CHECK_ATOMIC(address);                                                         \
        T old = *address;                                                                       \
        *address = (expression);                                                                \
        return old;                                                                             \
    }
#define SYMC_SIM_ATOMIC_CAS(T)                                                                  \
    __attribute__((noinline, no_sanitize_thread)) static inline T atomicCAS(                   \
        T *address, T expected, T value) {                                                      \
        SYMC_SIM_CHECK_ATOMIC(address);                                                         \
        T old = *address;                                                                       \
        if (old == expected) *address = value;                                                  \
        return old;                                                                             \
    }
#define SYMC_SIM_ATOMICS(T)                                                                     \
    SYMC_SIM_ATOMIC_OPERATION(atomicAdd, T, old + value)                                        \
    SYMC_SIM_ATOMIC_OPERATION(atomicExch, T, value)
#define SYMC_SIM_INTEGER_ATOMICS(T)                                                             \
    SYMC_SIM_ATOMIC_OPERATION(atomicMax, T, value > old ? value : old)                          \
    SYMC_SIM_ATOMIC_OPERATION(atomicMin, T, value < old ? value : old)                          \
    SYMC_SIM_ATOMIC_OPERATION(atomicAnd, T, old & value)                                        \
    SYMC_SIM_ATOMIC_OPERATION(atomicOr, T, old | value)                                         \
    SYMC_SIM_ATOMIC_OPERATION(atomicXor, T, old ^ value)                                        \
    SYMC_SIM_ATOMIC_CAS(T)

SYMC_SIM_ATOMICS(int)
SYMC_SIM_ATOMICS(unsigned)
SYMC_SIM_ATOMICS(unsigned long long)
SYMC_SIM_ATOMICS(float)
SYMC_SIM_ATOMIC_OPERATION(atomicAdd, double, old + value)
SYMC_SIM_INTEGER_ATOMICS(int)
SYMC_SIM_INTEGER_ATOMICS(unsigned)
SYMC_SIM_INTEGER_ATOMICS(unsigned long long)
SYMC_SIM_ATOMIC_OPERATION(atomicMax, long long, value > old ? value : old)
SYMC_SIM_ATOMIC_OPERATION(atomicMin, long long, value < old ? value : old)
SYMC_SIM_ATOMIC_OPERATION(atomicSub, int, old - value)
SYMC_SIM_ATOMIC_OPERATION(atomicSub, unsigned, old - value)
SYMC_SIM_ATOMIC_CAS(unsigned short)
