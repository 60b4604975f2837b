// What every generated C file starts with. There is no #include anywhere in symc's C: reading the
// system's headers takes longer than compiling a small kernel.

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef _Bool bool;
#define INFINITY (__builtin_inf())
#define NAN (__builtin_nan(""))

// Before functions that loops over vectors call. gcc vectorises no loop with a call in it; and left
// to itself it keeps calls of what is long and called twice, and of all in a large file.
#define SYMC_INLINE static inline __attribute__((always_inline))
