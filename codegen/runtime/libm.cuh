// What CUDA lacks of the functions that libm.h declares.

// SYMBOL lgamma_r
// Nobody here asks for the sign.
#define lgamma_r(x, sign) ((void)(sign), lgamma(x))
