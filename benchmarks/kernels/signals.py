"""Signals and pictures: filters, transforms, fractals."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers

MOST = 100

# --- filters --------------------------------------------------------------------------------------


def biquad(x: Any) -> Any:
    def step(x: Any, z1: Any, z2: Any) -> Any:
        y = 0.2 * x + z1
        return y, 0.3 * x + 0.5 * y + z2, 0.2 * x - 0.3 * y

    return symc.scan(step, sequences=[x], outputs_info=[None, T.constant(0.0), T.constant(0.0)])[0][
        0
    ]


def biquad_loops(x: Any) -> Any:
    result = np.empty_like(x)
    z1 = z2 = 0.0
    for t in range(len(x)):
        y = 0.2 * x[t] + z1
        z1, z2 = 0.3 * x[t] + 0.5 * y + z2, 0.2 * x[t] - 0.3 * y
        result[t] = y
    return result


def biquad_jax(x: Any) -> Any:
    def step(state: Any, x: Any) -> Any:
        y = 0.2 * x + state[0]
        return (0.3 * x + 0.5 * y + state[1], 0.2 * x - 0.3 * y), y

    return module("jax").lax.scan(step, (0.0, 0.0), x)[1]


def smoothing(x: Any) -> Any:
    return symc.scan(lambda x, h: 0.9 * h + 0.1 * x, sequences=[x], outputs_info=[x[0]])[0]


def smoothing_loops(x: Any) -> Any:
    result = np.empty_like(x)
    h = x[0]
    for t in range(len(x)):
        h = 0.9 * h + 0.1 * x[t]
        result[t] = h
    return result


def smoothing_jax(x: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = 0.9 * h + 0.1 * x
        return h, h

    return module("jax").lax.scan(step, x[0], x)[1]


def fir(x: Any, taps: Any) -> Any:
    return T.convolve(x, taps, mode="valid")


def fir_numpy(x: Any, taps: Any) -> Any:
    return np.convolve(x, taps, mode="valid")


def fir_loops(x: Any, taps: Any) -> Any:
    n, m = len(x), len(taps)
    result = np.zeros(n - m + 1)
    for i in range(n - m + 1):
        for k in range(m):
            result[i] += x[i + m - 1 - k] * taps[k]
    return result


def fir_jax(x: Any, taps: Any) -> Any:
    return module("jax.numpy").convolve(x, taps, mode="valid")


# --- convolutions of pictures ---------------------------------------------------------------------


def blur(x: Any, w: Any) -> Any:
    return T.nnet.conv2d(x[None, None], w[None, None], flip_filters=False)[0, 0]


def blur_numpy(x: Any, w: Any) -> Any:
    n, m, k = x.shape[0] - 4, x.shape[1] - 4, w.shape[0]
    result = np.zeros((n, m))
    for a in range(k):
        for b in range(k):
            result += w[a, b] * x[a : a + n, b : b + m]
    return result


def blur_loops(x: Any, w: Any) -> Any:
    n, m = x.shape[0] - 4, x.shape[1] - 4
    result = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            total = 0.0
            for a in range(5):
                for b in range(5):
                    total += w[a, b] * x[i + a, j + b]
            result[i, j] = total
    return result


def blur_jax(x: Any, w: Any) -> Any:
    return module("jax").lax.conv(x[None, None], w[None, None], (1, 1), "VALID")[0, 0]


def depthwise(x: Any, w: Any) -> Any:
    return T.nnet.conv2d(x, w[:, None], groups=16, flip_filters=False)


def depthwise_numpy(x: Any, w: Any) -> Any:
    n, m = x.shape[2] - 2, x.shape[3] - 2
    result = np.zeros((*x.shape[:2], n, m))
    for a in range(3):
        for b in range(3):
            result += w[:, a, b][:, None, None] * x[:, :, a : a + n, b : b + m]
    return result


def depthwise_loops(x: Any, w: Any) -> Any:
    count, channels, n, m = x.shape[0], x.shape[1], x.shape[2] - 2, x.shape[3] - 2
    result = np.empty((count, channels, n, m))
    for k in range(count):
        for c in range(channels):
            for i in range(n):
                for j in range(m):
                    total = 0.0
                    for a in range(3):
                        for b in range(3):
                            total += w[c, a, b] * x[k, c, i + a, j + b]
                    result[k, c, i, j] = total
    return result


def depthwise_jax(x: Any, w: Any) -> Any:
    return module("jax").lax.conv_general_dilated(
        x, w[:, None], (1, 1), "VALID", feature_group_count=16
    )


# --- transforms -----------------------------------------------------------------------------------


def spectrum(x: Any) -> Any:
    return T.fft.fft(x)


def spectrum_jax(x: Any) -> Any:
    return module("jax.numpy").fft.fft(x)


# --- Mandelbrot's set -----------------------------------------------------------------------------


def mandelbrot(a: Any, b: Any) -> Any:
    def step(_: Any, x: Any, y: Any, count: Any) -> Any:
        inside = x * x + y * y <= 4.0
        new = T.where(inside, x * x - y * y + a, x), T.where(inside, 2 * x * y + b, y)
        return *new, count + T.cast(inside, "int64")

    start = (T.zeros_like(a), T.zeros_like(b), T.zeros_like(a, dtype="int64"))
    return symc.fori_loop(0, MOST, step, start)[2]


def mandelbrot_numpy(a: Any, b: Any) -> Any:
    x, y, count = np.zeros_like(a), np.zeros_like(b), np.zeros(a.shape, np.int64)
    for _ in range(MOST):
        inside = x * x + y * y <= 4.0
        x, y = np.where(inside, x * x - y * y + a, x), np.where(inside, 2 * x * y + b, y)
        count += inside
    return count


def mandelbrot_loops(a: Any, b: Any) -> Any:
    result = np.zeros(a.shape, np.int64)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x = y = 0.0
            for _ in range(MOST):
                if x * x + y * y > 4.0:
                    break
                x, y = x * x - y * y + a[i, j], 2 * x * y + b[i, j]
                result[i, j] += 1
    return result


def mandelbrot_jax(a: Any, b: Any) -> Any:
    jnp = module("jax.numpy")

    def step(_: Any, state: Any) -> Any:
        x, y, count = state
        inside = x * x + y * y <= 4.0
        new = jnp.where(inside, x * x - y * y + a, x), jnp.where(inside, 2 * x * y + b, y)
        return *new, count + inside

    start = (jnp.zeros_like(a), jnp.zeros_like(b), jnp.zeros(a.shape, "int64"))
    return module("jax").lax.fori_loop(0, MOST, step, start)[2]


def _plane(n: int) -> tuple[Any, ...]:
    across, up = np.meshgrid(np.linspace(-2, 0.5, n), np.linspace(-1.2, 1.2, n))
    return across, up


def _waves(n: int) -> tuple[Any, ...]:
    return ((numbers(16, n) + 1j * numbers(16, n, seed=1)).astype(np.complex64),)


KERNELS = (
    Kernel("biquad", lambda n: (numbers(n),), 50_000, 20, biquad, None, biquad_loops, biquad_jax),
    Kernel("smoothing", lambda n: (numbers(n),), 50_000, 20,
           smoothing, None, smoothing_loops, smoothing_jax),
    Kernel("fir", lambda n: (numbers(n), numbers(32, seed=1)), 20_000, 50,
           fir, fir_numpy, fir_loops, fir_jax),
    Kernel("blur", lambda n: (numbers(n, n), numbers(5, 5, seed=1)), 256, 9,
           blur, blur_numpy, blur_loops, blur_jax),
    Kernel("depthwise", lambda n: (numbers(4, 16, n, n), numbers(16, 3, 3, seed=1)), 56, 6,
           depthwise, depthwise_numpy, depthwise_loops, depthwise_jax),
    Kernel("spectrum", _waves, 4096, 8, spectrum, np.fft.fft, None, spectrum_jax, rtol=1e-5),
    Kernel("mandelbrot", _plane, 128, 8,
           mandelbrot, mandelbrot_numpy, mandelbrot_loops, mandelbrot_jax),
)  # fmt: skip
