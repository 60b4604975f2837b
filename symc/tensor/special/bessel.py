"""Bessel functions of any real order (DLMF 10), also without their exponential growth or decay.

By their order there is no derivative in closed form: asking for it raises `GradientError`.
"""

from __future__ import annotations

from symc.graph.node import Tensor, TensorLike
from symc.tensor.elementwise import elementwise
from symc.tensor.math import as_float, sign
from symc.tensor.signatures import FunctionOfTwo
from symc.tensor.special import bessel_meaning as meaning
from symc.tensor.unknown import unknown

__all__ = ["i0e", "i1e", "iv", "ive", "jv", "kv", "kve", "yv"]


def _by_order(name: str, bar: Tensor) -> Tensor:
    return unknown(f"the derivative of {name} by its order", bar)


jv: FunctionOfTwo = elementwise(
    "jv", meaning.jv,
    """
    static inline double symc_jv_f64(double v, double x) {
        double second, a = fabs(x), first;
        if (symc_bessel_ends_f64(v, x)) return symc_bessel_end_f64(v, x);
        first = symc_bessel_j_f64(fabs(v), a, &second);
        if (v < 0.0) {
            double sine = symc_sinpi_f64(-v);
            first = symc_cospi_f64(v) * first - (sine == 0.0 ? 0.0 : sine * second);
        }
        return symc_bessel_parity_f64(v, x) * first;
    }
    """,
    """The Bessel function J of order v (DLMF 10.2); NaN for x < 0 unless v is whole.

    >>> import symc.tensor as T
    >>> T.jv(0.5, 1.0).eval()
    array(0.67139671)
    """,
    lambda g, v, x, y: _by_order("jv", g),
    lambda g, v, x, y: g * (jv(v - 1, x) - jv(v + 1, x)) / 2, cost=200,
)  # fmt: skip
yv: FunctionOfTwo = elementwise(
    "yv", meaning.yv,
    """
    static inline double symc_yv_f64(double v, double x) {
        if (!(fabs(v) < INFINITY && x >= 0.0)) return NAN;
        if (x == 0.0) {
            double turned = v < 0.0 ? symc_cospi_f64(v) : 1.0;
            return turned == 0.0 ? 0.0 : turned * -INFINITY;
        }
        if (symc_bessel_ends_f64(v, x)) return 0.0;
        double second, first = symc_bessel_j_f64(fabs(v), x, &second);
        if (v >= 0.0) return second;
        double cosine = symc_cospi_f64(v);
        return symc_sinpi_f64(-v) * first + (cosine == 0.0 ? 0.0 : cosine * second);
    }
    """,
    """The Bessel function Y of order v, of x > 0 (DLMF 10.2); -inf at 0.

    >>> import symc.tensor as T
    >>> T.yv(0.5, 1.0).eval()
    array(-0.43109887)
    """,
    lambda g, v, x, y: _by_order("yv", g),
    lambda g, v, x, y: g * (yv(v - 1, x) - yv(v + 1, x)) / 2, cost=200,
)  # fmt: skip
ive: FunctionOfTwo = elementwise(
    "ive", meaning.ive,
    """
    static inline double symc_ive_f64(double v, double x) {
        if (symc_bessel_ends_f64(v, x)) return symc_bessel_end_f64(v, x);
        return symc_bessel_i_times_f64(v, x, 0.0);
    }
    """,
    """``exp(-abs(x)) * iv(v, x)``, which does not overflow.

    >>> import symc.tensor as T
    >>> T.ive(1.5, 1000.0).eval()
    array(0.01260305)
    """,
    lambda g, v, x, y: _by_order("ive", g),
    lambda g, v, x, y: g * ((ive(v - 1, x) + ive(v + 1, x)) / 2 - sign(x) * y), cost=200,
)  # fmt: skip
iv: FunctionOfTwo = elementwise(
    "iv", meaning.iv,
    """
    static inline double symc_iv_f64(double v, double x) {
        if (symc_bessel_ends_f64(v, x))
            return fabs(x) < INFINITY ? symc_bessel_end_f64(v, x)
                                      : symc_bessel_parity_f64(v, x) * INFINITY;
        return symc_bessel_i_times_f64(v, x, fabs(x));
    }
    """,
    """The modified Bessel function I of order v (DLMF 10.25); NaN for x < 0 unless v is whole.

    >>> import symc.tensor as T
    >>> T.iv(1.5, 2.0).eval()
    array(1.09947319)
    """,
    lambda g, v, x, y: _by_order("iv", g),
    lambda g, v, x, y: g * (iv(v - 1, x) + iv(v + 1, x)) / 2, cost=220,
)  # fmt: skip
kve: FunctionOfTwo = elementwise(
    "kve", meaning.kve,
    """
    static inline double symc_kve_f64(double v, double x) {
        return symc_bessel_k_times_f64(v, x, 0.0);
    }
    """,
    """``exp(x) * kv(v, x)``, which does not underflow.

    >>> import symc.tensor as T
    >>> T.kve(1.5, 1000.0).eval()
    array(0.03967291)
    """,
    lambda g, v, x, y: _by_order("kve", g),
    lambda g, v, x, y: g * (y - (kve(v - 1, x) + kve(v + 1, x)) / 2), cost=150,
)  # fmt: skip
kv: FunctionOfTwo = elementwise(
    "kv", meaning.kv,
    """
    static inline double symc_kv_f64(double v, double x) {
        return symc_bessel_k_times_f64(v, x, -x);
    }
    """,
    """The modified Bessel function K of order v, of x > 0 (DLMF 10.25); inf at 0.

    >>> import symc.tensor as T
    >>> T.kv(1.5, 2.0).eval()
    array(0.17990666)
    """,
    lambda g, v, x, y: _by_order("kv", g),
    lambda g, v, x, y: g * (kv(v - 1, x) + kv(v + 1, x)) / -2, cost=170,
)  # fmt: skip


def i0e(x: TensorLike) -> Tensor:
    """``exp(-abs(x)) * i0(x)``, which does not overflow: ``ive(0, x)``. Elementwise.

    >>> import symc.tensor as T
    >>> T.i0e([0.0, 1000.0]).eval()
    array([1.        , 0.01261724])
    """
    return ive(0.0, as_float(x))


def i1e(x: TensorLike) -> Tensor:
    """``exp(-abs(x)) * i1(x)``, which does not overflow: ``ive(1, x)``. Elementwise.

    >>> import symc.tensor as T
    >>> T.i1e([0.0, 1000.0]).eval()
    array([0.        , 0.01261093])
    """
    return ive(1.0, as_float(x))
