// The C library's mathematics, declared one by one so that a program declares only those it uses.
//
// Those that glibc's libmvec knows carry a simd attribute: gcc then calls its 4- or 8-wide version
// (at most 4 ulp off) from a vectorised loop. Whoever compiles says -DSYMC_LIBMVEC where libmvec
// exists (x86-64 glibc: 2.22 for sin cos exp log pow, 2.35 for the others). Without it the same
// loops call the scalar functions. The SYMC_SCALAR ones have no such version, but gcc makes fabs,
// sqrt, rint, floor, ceil, trunc, copysign and fma instructions.

// SYMBOL SYMC_VECTOR
#if defined(SYMC_LIBMVEC) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SYMC_VECTOR __attribute__((simd("notinbranch"), const))
#else
#define SYMC_VECTOR __attribute__((const))
#endif

// SYMBOL SYMC_SCALAR
#define SYMC_SCALAR __attribute__((const))

SYMC_VECTOR double acos(double x);  // SYMBOL acos NEEDS SYMC_VECTOR
SYMC_VECTOR float acosf(float x);  // SYMBOL acosf NEEDS SYMC_VECTOR
SYMC_VECTOR double acosh(double x);  // SYMBOL acosh NEEDS SYMC_VECTOR
SYMC_VECTOR float acoshf(float x);  // SYMBOL acoshf NEEDS SYMC_VECTOR
SYMC_VECTOR double asin(double x);  // SYMBOL asin NEEDS SYMC_VECTOR
SYMC_VECTOR float asinf(float x);  // SYMBOL asinf NEEDS SYMC_VECTOR
SYMC_VECTOR double asinh(double x);  // SYMBOL asinh NEEDS SYMC_VECTOR
SYMC_VECTOR float asinhf(float x);  // SYMBOL asinhf NEEDS SYMC_VECTOR
SYMC_VECTOR double atan(double x);  // SYMBOL atan NEEDS SYMC_VECTOR
SYMC_VECTOR float atanf(float x);  // SYMBOL atanf NEEDS SYMC_VECTOR
SYMC_VECTOR double atanh(double x);  // SYMBOL atanh NEEDS SYMC_VECTOR
SYMC_VECTOR float atanhf(float x);  // SYMBOL atanhf NEEDS SYMC_VECTOR
SYMC_VECTOR double cbrt(double x);  // SYMBOL cbrt NEEDS SYMC_VECTOR
SYMC_VECTOR float cbrtf(float x);  // SYMBOL cbrtf NEEDS SYMC_VECTOR
SYMC_VECTOR double cos(double x);  // SYMBOL cos NEEDS SYMC_VECTOR
SYMC_VECTOR float cosf(float x);  // SYMBOL cosf NEEDS SYMC_VECTOR
SYMC_VECTOR double cosh(double x);  // SYMBOL cosh NEEDS SYMC_VECTOR
SYMC_VECTOR float coshf(float x);  // SYMBOL coshf NEEDS SYMC_VECTOR
SYMC_VECTOR double erf(double x);  // SYMBOL erf NEEDS SYMC_VECTOR
SYMC_VECTOR float erff(float x);  // SYMBOL erff NEEDS SYMC_VECTOR
SYMC_VECTOR double erfc(double x);  // SYMBOL erfc NEEDS SYMC_VECTOR
SYMC_VECTOR float erfcf(float x);  // SYMBOL erfcf NEEDS SYMC_VECTOR
SYMC_VECTOR double exp(double x);  // SYMBOL exp NEEDS SYMC_VECTOR
SYMC_VECTOR float expf(float x);  // SYMBOL expf NEEDS SYMC_VECTOR
SYMC_VECTOR double exp10(double x);  // SYMBOL exp10 NEEDS SYMC_VECTOR
SYMC_VECTOR float exp10f(float x);  // SYMBOL exp10f NEEDS SYMC_VECTOR
SYMC_VECTOR double exp2(double x);  // SYMBOL exp2 NEEDS SYMC_VECTOR
SYMC_VECTOR float exp2f(float x);  // SYMBOL exp2f NEEDS SYMC_VECTOR
SYMC_VECTOR double expm1(double x);  // SYMBOL expm1 NEEDS SYMC_VECTOR
SYMC_VECTOR float expm1f(float x);  // SYMBOL expm1f NEEDS SYMC_VECTOR
SYMC_VECTOR double log(double x);  // SYMBOL log NEEDS SYMC_VECTOR
SYMC_VECTOR float logf(float x);  // SYMBOL logf NEEDS SYMC_VECTOR
SYMC_VECTOR double log10(double x);  // SYMBOL log10 NEEDS SYMC_VECTOR
SYMC_VECTOR float log10f(float x);  // SYMBOL log10f NEEDS SYMC_VECTOR
SYMC_VECTOR double log1p(double x);  // SYMBOL log1p NEEDS SYMC_VECTOR
SYMC_VECTOR float log1pf(float x);  // SYMBOL log1pf NEEDS SYMC_VECTOR
SYMC_VECTOR double log2(double x);  // SYMBOL log2 NEEDS SYMC_VECTOR
SYMC_VECTOR float log2f(float x);  // SYMBOL log2f NEEDS SYMC_VECTOR
SYMC_VECTOR double sin(double x);  // SYMBOL sin NEEDS SYMC_VECTOR
SYMC_VECTOR float sinf(float x);  // SYMBOL sinf NEEDS SYMC_VECTOR
SYMC_VECTOR double sinh(double x);  // SYMBOL sinh NEEDS SYMC_VECTOR
SYMC_VECTOR float sinhf(float x);  // SYMBOL sinhf NEEDS SYMC_VECTOR
SYMC_VECTOR double tan(double x);  // SYMBOL tan NEEDS SYMC_VECTOR
SYMC_VECTOR float tanf(float x);  // SYMBOL tanf NEEDS SYMC_VECTOR
SYMC_VECTOR double tanh(double x);  // SYMBOL tanh NEEDS SYMC_VECTOR
SYMC_VECTOR float tanhf(float x);  // SYMBOL tanhf NEEDS SYMC_VECTOR
SYMC_VECTOR double atan2(double x, double y);  // SYMBOL atan2 NEEDS SYMC_VECTOR
SYMC_VECTOR float atan2f(float x, float y);  // SYMBOL atan2f NEEDS SYMC_VECTOR
SYMC_VECTOR double pow(double x, double y);  // SYMBOL pow NEEDS SYMC_VECTOR
SYMC_VECTOR float powf(float x, float y);  // SYMBOL powf NEEDS SYMC_VECTOR

SYMC_SCALAR double ceil(double x);  // SYMBOL ceil NEEDS SYMC_SCALAR
SYMC_SCALAR float ceilf(float x);  // SYMBOL ceilf NEEDS SYMC_SCALAR
SYMC_SCALAR double fabs(double x);  // SYMBOL fabs NEEDS SYMC_SCALAR
SYMC_SCALAR float fabsf(float x);  // SYMBOL fabsf NEEDS SYMC_SCALAR
SYMC_SCALAR double floor(double x);  // SYMBOL floor NEEDS SYMC_SCALAR
SYMC_SCALAR float floorf(float x);  // SYMBOL floorf NEEDS SYMC_SCALAR
SYMC_SCALAR double rint(double x);  // SYMBOL rint NEEDS SYMC_SCALAR
SYMC_SCALAR float rintf(float x);  // SYMBOL rintf NEEDS SYMC_SCALAR
SYMC_SCALAR double round(double x);  // SYMBOL round NEEDS SYMC_SCALAR
SYMC_SCALAR float roundf(float x);  // SYMBOL roundf NEEDS SYMC_SCALAR
SYMC_SCALAR double sqrt(double x);  // SYMBOL sqrt NEEDS SYMC_SCALAR
SYMC_SCALAR float sqrtf(float x);  // SYMBOL sqrtf NEEDS SYMC_SCALAR
SYMC_SCALAR double tgamma(double x);  // SYMBOL tgamma NEEDS SYMC_SCALAR
SYMC_SCALAR float tgammaf(float x);  // SYMBOL tgammaf NEEDS SYMC_SCALAR
SYMC_SCALAR double trunc(double x);  // SYMBOL trunc NEEDS SYMC_SCALAR
SYMC_SCALAR float truncf(float x);  // SYMBOL truncf NEEDS SYMC_SCALAR
SYMC_SCALAR double copysign(double x, double y);  // SYMBOL copysign NEEDS SYMC_SCALAR
SYMC_SCALAR float copysignf(float x, float y);  // SYMBOL copysignf NEEDS SYMC_SCALAR
SYMC_SCALAR double fma(double x, double y, double z);  // SYMBOL fma NEEDS SYMC_SCALAR
SYMC_SCALAR double fmax(double x, double y);  // SYMBOL fmax NEEDS SYMC_SCALAR
SYMC_SCALAR float fmaxf(float x, float y);  // SYMBOL fmaxf NEEDS SYMC_SCALAR
SYMC_SCALAR double fmin(double x, double y);  // SYMBOL fmin NEEDS SYMC_SCALAR
SYMC_SCALAR float fminf(float x, float y);  // SYMBOL fminf NEEDS SYMC_SCALAR
SYMC_SCALAR double fmod(double x, double y);  // SYMBOL fmod NEEDS SYMC_SCALAR
SYMC_SCALAR float fmodf(float x, float y);  // SYMBOL fmodf NEEDS SYMC_SCALAR
SYMC_SCALAR double remainder(double x, double y);  // SYMBOL remainder NEEDS SYMC_SCALAR
SYMC_SCALAR float remainderf(float x, float y);  // SYMBOL remainderf NEEDS SYMC_SCALAR
SYMC_SCALAR double fma(double x, double y, double z);  // SYMBOL fma NEEDS SYMC_SCALAR
SYMC_SCALAR float fmaf(float x, float y, float z);  // SYMBOL fmaf NEEDS SYMC_SCALAR
SYMC_SCALAR double j0(double x);  // SYMBOL j0 NEEDS SYMC_SCALAR
SYMC_SCALAR double j1(double x);  // SYMBOL j1 NEEDS SYMC_SCALAR
double lgamma_r(double x, int *sign);  // SYMBOL lgamma_r
