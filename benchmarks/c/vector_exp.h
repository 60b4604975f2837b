/* expf for use in vectorised loops: 2 ulp, no branches, everything inline. */
#include <stdint.h>
#include <string.h>

static inline __attribute__((always_inline)) float vector_exp(float x)
{
    /* e^x = 2^n e^r with |r| <= log(2)/2; a polynomial of degree 6 for e^r (Cephes, expf.c) */
    x = x < -87.33f ? -87.33f : x;
    x = x > 88.37f ? 88.37f : x;
    const float n = __builtin_rintf(x * 1.44269504088896341f);
    float r = __builtin_fmaf(n, -0.693359375f, x);
    r = __builtin_fmaf(n, 2.12194440e-4f, r);
    float p = 1.9875691500e-4f;
    p = __builtin_fmaf(p, r, 1.3981999507e-3f);
    p = __builtin_fmaf(p, r, 8.3334519073e-3f);
    p = __builtin_fmaf(p, r, 4.1665795894e-2f);
    p = __builtin_fmaf(p, r, 1.6666665459e-1f);
    p = __builtin_fmaf(p, r, 5.0000001201e-1f);
    p = __builtin_fmaf(p, r * r, r + 1.0f);
    const int32_t bits = ((int32_t)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}
