/* expf for x <= 0 in vectorised loops: 2.2 ulp, 0 where that is below 2^-125.5, no branches. */
#include <stdint.h>
#include <string.h>

static inline __attribute__((always_inline)) float vector_exp(float x)
{
    /* e^x = 2^n e^r with |r| <= log(2)/2, a polynomial of degree 5 for e^r. Adding 1.5 * 2^23 rounds
       to a whole number, in the last bits; they are added to the exponent of e^r. */
    const float shifted = __builtin_fmaf(x, 1.44269504088896341f, 12582912.0f);
    const float n = shifted - 12582912.0f;
    float r = __builtin_fmaf(n, -0.693359375f, x);
    r = __builtin_fmaf(n, 2.12194440e-4f, r);
    float p = 8.3127236e-3f;
    p = __builtin_fmaf(p, r, 4.18901928e-2f);
    p = __builtin_fmaf(p, r, 1.66671127e-1f);
    p = __builtin_fmaf(p, r, 4.99992311e-1f);
    p = __builtin_fmaf(p, r, 1.0f);
    p = __builtin_fmaf(p, r, 1.0f);
    int32_t bits, exponent;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&exponent, &shifted, sizeof exponent);
    bits += exponent << 23;
    memcpy(&p, &bits, sizeof p);
    return x < -87.0f ? 0.0f : p;
}
