// Integers: the larger and the smaller of two.

// SYMBOL SYMC_DEFINE_EXTREME
// The one of two integers for which `a sign b` holds.
#define SYMC_DEFINE_EXTREME(name, type, sign) \
    static inline type name(type a, type b) { \
        return a sign b ? a : b;              \
    }

// SYMBOL symc_maximum_i8
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_i8, int8_t, >)

// SYMBOL symc_maximum_i16
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_i16, int16_t, >)

// SYMBOL symc_maximum_i32
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_i32, int32_t, >)

// SYMBOL symc_maximum_i64
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_i64, int64_t, >)

// SYMBOL symc_maximum_u8
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_u8, uint8_t, >)

// SYMBOL symc_maximum_u16
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_u16, uint16_t, >)

// SYMBOL symc_maximum_u32
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_u32, uint32_t, >)

// SYMBOL symc_maximum_u64
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_u64, uint64_t, >)

// SYMBOL symc_maximum_b1
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_maximum_b1, bool, >)

// SYMBOL symc_minimum_i8
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_i8, int8_t, <)

// SYMBOL symc_minimum_i16
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_i16, int16_t, <)

// SYMBOL symc_minimum_i32
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_i32, int32_t, <)

// SYMBOL symc_minimum_i64
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_i64, int64_t, <)

// SYMBOL symc_minimum_u8
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_u8, uint8_t, <)

// SYMBOL symc_minimum_u16
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_u16, uint16_t, <)

// SYMBOL symc_minimum_u32
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_u32, uint32_t, <)

// SYMBOL symc_minimum_u64
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_u64, uint64_t, <)

// SYMBOL symc_minimum_b1
// NEEDS SYMC_DEFINE_EXTREME
SYMC_DEFINE_EXTREME(symc_minimum_b1, bool, <)
