// The functions of libm.h that CUDA lacks.

// SYMBOL lgamma_r
// Nobody here asks for the sign.
#define lgamma_r(x, sign) ((void)(sign), lgamma(x))
