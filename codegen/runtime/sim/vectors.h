// CUDA's vector types, with its alignments, and make_*. uint3 is in interface.h.

#define SYMC_SIM_VECTOR2(name, type, bytes)                                                     \
    struct __align__(bytes) name {                                                              \
        type x, y;                                                                              \
    };                                                                                          \
    static inline name make_##name(type x, type y) { return {x, y}; }
#define SYMC_SIM_VECTOR3(name, type)                                                            \
    struct name {                                                                               \
        type x, y, z;                                                                           \
    };                                                                                          \
    static inline name make_##name(type x, type y, type z) { return {x, y, z}; }
#define SYMC_SIM_VECTOR4(name, type, bytes)                                                     \
    struct __align__(bytes) name {                                                              \
        type x, y, z, w;                                                                        \
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
