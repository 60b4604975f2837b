// The calls that the compiler puts into kernels: before each access to memory, as for a detector
// of data races (-fsanitize=thread), and for each pointer that is less aligned than its type
// (-fsanitize=alignment). And the functions by which kernels stop or print.

#define SYMC_SIM_HOOK                                                                           \
    extern "C" __attribute__((visibility("hidden"), used, noinline, no_sanitize_thread)) void
#define SYMC_SIM_ACCESS(bytes) SYMC_SIM_HOOKS(read##bytes, write##bytes, bytes)
#define SYMC_SIM_UNALIGNED(bytes)                                                               \
    SYMC_SIM_HOOKS(unaligned_read##bytes, unaligned_write##bytes, bytes)
#define SYMC_SIM_HOOKS(read, write, bytes)                                                      \
    SYMC_SIM_HOOK __tsan_##read(void *address) {                                                \
        symc_sim->access(SYMC_SIM_READ, address, bytes, __builtin_return_address(0));           \
    }                                                                                           \
    SYMC_SIM_HOOK __tsan_##write(void *address) {                                               \
        symc_sim->access(SYMC_SIM_WRITE, address, bytes, __builtin_return_address(0));          \
    }
SYMC_SIM_ACCESS(1)
SYMC_SIM_ACCESS(2)
SYMC_SIM_ACCESS(4)
SYMC_SIM_ACCESS(8)
SYMC_SIM_ACCESS(16)
#ifdef __clang__  // which has other names where it does not know the alignment
SYMC_SIM_UNALIGNED(2)
SYMC_SIM_UNALIGNED(4)
SYMC_SIM_UNALIGNED(8)
SYMC_SIM_UNALIGNED(16)
#endif
SYMC_SIM_HOOK __tsan_read_range(void *address, unsigned long bytes) {
    symc_sim->access(SYMC_SIM_READ, address, bytes, __builtin_return_address(0));
}
SYMC_SIM_HOOK __tsan_write_range(void *address, unsigned long bytes) {
    symc_sim->access(SYMC_SIM_WRITE, address, bytes, __builtin_return_address(0));
}
#ifdef __clang__  // which calls these for copies and fills of structures and local arrays
#define SYMC_SIM_BLOCK                                                                          \
    extern "C" __attribute__((visibility("hidden"), used, noinline, no_sanitize_thread)) void *
SYMC_SIM_BLOCK __tsan_memcpy(void *to, const void *from, unsigned long bytes) {
    symc_sim->access(SYMC_SIM_READ, (void *)from, bytes, __builtin_return_address(0));
    symc_sim->access(SYMC_SIM_WRITE, to, bytes, __builtin_return_address(0));
    return __builtin_memcpy(to, from, bytes);
}
SYMC_SIM_BLOCK __tsan_memmove(void *to, const void *from, unsigned long bytes) {
    symc_sim->access(SYMC_SIM_READ, (void *)from, bytes, __builtin_return_address(0));
    symc_sim->access(SYMC_SIM_WRITE, to, bytes, __builtin_return_address(0));
    return __builtin_memmove(to, from, bytes);
}
SYMC_SIM_BLOCK __tsan_memset(void *to, int value, unsigned long bytes) {
    symc_sim->access(SYMC_SIM_WRITE, to, bytes, __builtin_return_address(0));
    return __builtin_memset(to, value, bytes);
}
#endif
SYMC_SIM_HOOK __tsan_init() {}
SYMC_SIM_HOOK __tsan_func_entry(void *) {}
SYMC_SIM_HOOK __tsan_func_exit(void *) {}

// The head of the record by which the compiler's check reports a pointer.
struct symc_sim_mismatch {
    const char *file;
    unsigned line, column;
};
SYMC_SIM_HOOK __ubsan_handle_type_mismatch_v1(symc_sim_mismatch *found, unsigned long address) {
    symc_sim->fail(SYMC_SIM_MISALIGNED, {found->file, (int)found->line}, (const char *)address);
}

SYMC_SIM_UNCHECKED void symc_sim_fail(symc_sim_fault fault, symc_sim_place place,
                                      const char *text) {
    symc_sim->fail(fault, place, text);
}
static inline void __trap(SYMC_SIM_HERE) {
    symc_sim_fail(SYMC_SIM_TRAP, SYMC_SIM_PLACE, "__trap()");
}
static inline void symc_sim_assert(bool holds, const char *text, SYMC_SIM_HERE) {
    if (!holds) symc_sim_fail(SYMC_SIM_ASSERT, SYMC_SIM_PLACE, text);
}
SYMC_SIM_UNCHECKED decltype(symc_sim_runtime::print) symc_sim_print() { return symc_sim->print; }
#define assert(condition) symc_sim_assert((condition) ? true : false, #condition)
#define printf(...) symc_sim_print()(__VA_ARGS__)
