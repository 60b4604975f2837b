// Remainders of floats by a power of two, as x % 1.0: exact like those of float.h, without branches
// and without fused operations. Products and quotients by a power of two are exact where they
// neither overflow nor vanish.

// SYMBOL symc_fmod_power_fNN
// NEEDS fabsNN truncNN copysignNN
// C's fmod by a power of two from 2^-100 to 2^100, of either sign. Below 1 the remainder by 1 comes
// first, as quotients of large numbers would overflow. Where x is a large number, it is a multiple;
// where a quotient vanishes, x is the remainder. NaN of inf and NaN, as inf - inf is.
static inline real symc_fmod_power_fNN(real x, real power) {
    const real step = fabsNN(power), part = step < 1 ? x - truncNN(x) : x;
    return copysignNN(part - truncNN(part / step) * step, x);
}

// SYMBOL symc_mod_power_fNN
// NEEDS symc_fmod_power_fNN fabsNN
// NumPy's remainder by the same: it has the sign of the power, also as zero. The sum is rounded once:
// -1e-20 % 1.0 is 1.0.
static inline real symc_mod_power_fNN(real x, real power) {
    const real step = fabsNN(power), rest = symc_fmod_power_fNN(power < 0 ? -x : x, power);
    const real moved = rest + (rest < 0 ? step : 0);
    return power < 0 ? -moved : moved;
}
