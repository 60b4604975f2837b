// A module's record, and the records of its kernels. The lines that use these macros are
// generated and follow the CUDA source (codegen/targets/sim.py).

#define SYMC_SIM_EXPORT extern "C" __attribute__((visibility("default"), used))

template <class T, T... I> struct symc_sim_indexes {};
#ifdef __clang__
template <unsigned count>
using symc_sim_count_to = __make_integer_seq<symc_sim_indexes, unsigned, count>;
#else
template <unsigned count>
using symc_sim_count_to = symc_sim_indexes<unsigned, __integer_pack(count)...>;
#endif

template <class... A> struct symc_sim_signature {
    static constexpr unsigned sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
    static constexpr unsigned count = sizeof...(A);
    template <unsigned... I>
    __attribute__((no_sanitize_thread, no_sanitize("alignment"))) static inline void call(
        void (*kernel)(A...), void **arguments, symc_sim_indexes<unsigned, I...>) {
        kernel(*(A *)arguments[I]...);
    }
    typedef symc_sim_count_to<sizeof...(A)> indexes;
};
template <class... A> symc_sim_signature<A...> symc_sim_signature_of(void (*)(A...));

// A kernel that may be launched. `bound` is the number in its __launch_bounds__, or 0.
#define SYMC_SIM_KERNEL(kernel, bound)                                                          \
    typedef decltype(symc_sim_signature_of(kernel)) symc_sim_signature_##kernel;                \
    __attribute__((no_sanitize_thread, no_sanitize("alignment"))) static void                   \
        symc_sim_call_##kernel(void **symc_sim_arguments) {                                     \
        symc_sim_signature_##kernel::call(kernel, symc_sim_arguments,                           \
                                          symc_sim_signature_##kernel::indexes());              \
    }                                                                                           \
    SYMC_SIM_EXPORT const symc_sim_kernel symc_sim_kernel_##kernel = {                          \
        #kernel, symc_sim_call_##kernel, symc_sim_signature_##kernel::sizes,                    \
        symc_sim_signature_##kernel::count, bound};

// The memory of `extern __shared__ TYPE name[]`: all such arrays start at the same place.
#define SYMC_SIM_DYNAMIC(name) __asm__(".set " #name ", symc_sim_dynamic\n.hidden " #name);

// Stands once, at the end.
#define SYMC_SIM_MODULE                                                                         \
    const symc_sim_runtime *symc_sim;                                                           \
    extern "C" {                                                                                \
    SYMC_SIM_SHARED __align__(1) char symc_sim_guard_last[] = SYMC_SIM_GUARD;                   \
    static_assert(sizeof symc_sim_guard_last == SYMC_SIM_GUARD_BYTES, "see interface.h");       \
    __attribute__((used, aligned(128))) char symc_sim_dynamic[SYMC_SIM_DYNAMIC_BYTES];          \
    extern char __ehdr_start[] __attribute__((visibility("hidden")));                           \
    extern char _end[] __attribute__((visibility("hidden")));                                   \
    extern char __start_symc_shared[] __attribute__((visibility("hidden")));                    \
    extern char __stop_symc_shared[] __attribute__((visibility("hidden")));                     \
    }                                                                                           \
    SYMC_SIM_EXPORT const symc_sim_module_record symc_sim_module = {                            \
        sizeof(symc_sim_module_record), &symc_sim, __ehdr_start, _end,                          \
        __start_symc_shared, __stop_symc_shared, symc_sim_dynamic};
