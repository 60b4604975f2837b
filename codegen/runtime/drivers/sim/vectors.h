// CUDA's vector types, with its alignments, and make_*. uint3 is in interface.h.

// gcc checks both addresses where a structure is copied. clang does so only where a function copies
// it: one of an empty member makes that of the whole such a function.
#ifdef __clang__
struct symc_sim_copied {
    symc_sim_copied() = default;
    symc_sim_copied(const symc_sim_copied &) {}
    symc_sim_copied &operator=(const symc_sim_copied &) { return *this; }
};
#define SYMC_SIM_COPIED [[no_unique_address]] symc_sim_copied symc_sim_by_function;
#else
#define SYMC_SIM_COPIED
#endif

#define SYMC_SIM_VECTOR2(name, type, bytes)                                                     \
    struct __align__(bytes) name {                                                              \
        type x, y;                                                                              \
        SYMC_SIM_COPIED                                                                         \
    };                                                                                          \
    static inline name make_##name(type x, type y) { return {x, y}; }
#define SYMC_SIM_VECTOR3(name, type)                                                            \
    struct name {                                                                               \
        type x, y, z;                                                                           \
        SYMC_SIM_COPIED                                                                         \
    };                                                                                          \
    static inline name make_##name(type x, type y, type z) { return {x, y, z}; }
#define SYMC_SIM_VECTOR4(name, type, bytes)                                                     \
    struct __align__(bytes) name {                                                              \
        type x, y, z, w;                                                                        \
        SYMC_SIM_COPIED                                                                         \
    };                                                                                          \
    static inline name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }

SYMC_SIM_VECTOR2(char2, signed char, 2)
SYMC_SIM_VECTOR2(uchar2, unsigned char, 2)
SYMC_SIM_VECTOR2(short2, short, 4)
SYMC_SIM_VECTOR2(ushort2, unsigned short, 4)
SYMC_SIM_VECTOR2(int2, int, 8)
SYMC_SIM_VECTOR2(uint2, unsigned, 8)
SYMC_SIM_VECTOR2(float2, float, 8)
SYMC_SIM_VECTOR2(longlong2, long long, 16)
SYMC_SIM_VECTOR2(ulonglong2, unsigned long long, 16)
SYMC_SIM_VECTOR2(double2, double, 16)
SYMC_SIM_VECTOR3(int3, int)
SYMC_SIM_VECTOR3(float3, float)
SYMC_SIM_VECTOR3(double3, double)
SYMC_SIM_VECTOR4(char4, signed char, 4)
SYMC_SIM_VECTOR4(uchar4, unsigned char, 4)
SYMC_SIM_VECTOR4(short4, short, 8)
SYMC_SIM_VECTOR4(ushort4, unsigned short, 8)
SYMC_SIM_VECTOR4(int4, int, 16)
SYMC_SIM_VECTOR4(uint4, unsigned, 16)
SYMC_SIM_VECTOR4(float4, float, 16)
SYMC_SIM_VECTOR4(longlong4, long long, 16)
SYMC_SIM_VECTOR4(ulonglong4, unsigned long long, 16)
SYMC_SIM_VECTOR4(double4, double, 16)

static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

#ifdef __clang__
// symc's packs, copied by a function too. What is not one of these the source defines.
template <typename T, int N> struct symc_pack;
#define SYMC_SIM_PACK(lanes)                                                                    \
    template <typename T>                                                                       \
    struct alignas(lanes * sizeof(T) < 16 ? lanes * sizeof(T) : 16) symc_pack<T, lanes> {       \
        T at[lanes];                                                                            \
        SYMC_SIM_COPIED                                                                         \
    };
SYMC_SIM_PACK(2)
SYMC_SIM_PACK(4)
SYMC_SIM_PACK(8)
SYMC_SIM_PACK(16)
#endif
