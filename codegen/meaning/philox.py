"""Random numbers in plain Python: the meaning of `runtime/common/philox.h` and `distributions.h`.

Bits and lanes are the same as there. So are the samplers, step by step, as their results depend
on each step: only the last digits of logarithms and exponentials may differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

_MASK = 0xFFFFFFFF
_MASK64 = 0xFFFFFFFFFFFFFFFF


def philox(key: int, high: int, low: int) -> tuple[int, int]:
    """The block of Philox 4x32-10 for a counter's halves, as two numbers of 64 bits."""
    x0, x1, x2, x3 = low & _MASK, low >> 32, high & _MASK, high >> 32
    k0, k1 = key & _MASK, key >> 32
    for _ in range(10):
        p, q = 0xD2511F53 * x0, 0xCD9E8D57 * x2
        x0, x1, x2, x3 = q >> 32 ^ x1 ^ k0, q & _MASK, p >> 32 ^ x3 ^ k1, p & _MASK
        k0, k1 = k0 + 0x9E3779B9 & _MASK, k1 + 0xBB67AE85 & _MASK
    return x0 | x1 << 32, x2 | x3 << 32


def _attempts(key: int, high: int, i: int, first: int, count: int) -> Iterator[tuple[int, int]]:
    """Block i in one lane after the other."""
    return (philox(key, high, i | lane << 48) for lane in range(first, first + count))


def _unit(bits: int) -> float:
    """The upper 53 bits as a number in [0, 1)."""
    return (bits >> 11) * 2.0**-53


# --- numbers made of bits one for one -------------------------------------------------------------


def random_key(key: int, high: int, i: int) -> int:
    """Number i of those that make new keys."""
    return philox(key, high, (i & _MASK64) >> 1 | 0xFFFF << 48)[i & 1]


def random_bits(key: int, high: int, i: int) -> int:
    """Words 2i and 2i+1 of the sequence."""
    return philox(key, high, i >> 1)[i & 1]


def random_word(key: int, high: int, i: int) -> int:
    """Word i of the sequence."""
    return random_bits(key, high, i >> 1) >> 32 * (i & 1) & _MASK


def random_uniform(key: int, high: int, i: int) -> float:
    """Uniform in [0, 1), with 53 bits."""
    return _unit(random_bits(key, high, i))


def random_uniform32(key: int, high: int, i: int) -> float:
    """Uniform in [0, 1), with 24 bits."""
    return (random_word(key, high, i) >> 8) * 2.0**-24


def _box_muller(radius: int, angle: int, other: int) -> float:
    r = math.sqrt(-2.0 * math.log(1.0 - _unit(radius)))
    return r * math.cos(math.tau * (_unit(angle) - 0.25 * other))


def random_normal(key: int, high: int, i: int) -> float:
    """Standard normal: numbers 2k and 2k+1 are of block k."""
    return _box_muller(*philox(key, high, i >> 1), i & 1)


def random_normal32(key: int, high: int, i: int) -> float:
    """Standard normal: numbers 2k and 2k+1 are of words 2k and 2k+1."""
    pair = random_bits(key, high, i >> 1)
    u = ((pair & _MASK) // 2 + 1) * 2.0**-31
    turns = (pair >> 40) * 2.0**-24 - 0.25 * (i & 1)
    return math.sqrt(-2.0 * math.log(u)) * math.cos(math.tau * turns)


# --- samplers that reject -------------------------------------------------------------------------


def random_below(key: int, high: int, i: int, count: int) -> int:
    """A whole number below `count`; 0 stands for 2**64."""
    count = count or 1 << 64
    product = 0
    for bits, _ in _attempts(key, high, i, 0, 64):
        product = bits * count
        if product & _MASK64 >= (1 << 64) % count:
            break
    return product >> 64


def _gamma_above_one(key: int, high: int, i: int, a: float) -> float:
    d = a - 1.0 / 3.0
    c, v = 1.0 / math.sqrt(9.0 * d), 1.0
    lanes = _attempts(key, high, i, 1, 512)
    for candidate, test in zip(lanes, lanes, strict=False):
        x = _box_muller(*candidate, 0)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        if math.log(1.0 - _unit(test[0])) < 0.5 * x * x + d - d * v + d * math.log(v):
            break
    return d * v


def _log_boost(key: int, high: int, i: int, a: float) -> float:
    return math.log(1.0 - _unit(philox(key, high, i)[0])) / a


def random_loggamma(key: int, high: int, i: int, a: float) -> float:
    """The logarithm of a gamma number of shape a."""
    if not 0.0 < a < math.inf:
        return -math.inf if a == 0.0 else a if a == math.inf else math.nan
    if a >= 1.0:
        return math.log(_gamma_above_one(key, high, i, a))
    return math.log(_gamma_above_one(key, high, i, a + 1.0)) + _log_boost(key, high, i, a)


def random_gamma(key: int, high: int, i: int, a: float) -> float:
    """A gamma number of shape a."""
    if not 0.0 < a < math.inf:
        return a if a == 0.0 or a == math.inf else math.nan
    if a >= 1.0:
        return _gamma_above_one(key, high, i, a)
    return _gamma_above_one(key, high, i, a + 1.0) * math.exp(_log_boost(key, high, i, a))


def _summed_up(u: float, chance: float, ratio: Callable[[int], float], most: int) -> int:
    """The first k where the distribution function exceeds u; ratio(k): of chances k and k - 1."""
    k = 0
    while u >= chance and k < most:
        u -= chance
        k += 1
        chance *= ratio(k)
    return k


def _stirling_rest(x: float) -> float:
    """The remainder of Stirling's formula for the logarithm of x!."""
    square = 1.0 / (x * x)
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0)) / x


def _log_growth(a: float, more: float) -> float:
    """The logarithm of (a + more)! / a!."""
    b = a + more
    if a < 10.0 or b < 10.0:
        return math.lgamma(b + 1.0) - math.lgamma(a + 1.0)
    rest = _stirling_rest(b) - _stirling_rest(a)
    return more * math.log(a) + (b + 0.5) * math.log1p(more / a) - more + rest


def random_poisson(key: int, high: int, i: int, lam: float) -> int:
    """A Poisson number of mean lam."""
    if not lam > 0.0:
        return 0
    if lam < 10.0:
        u = _unit(philox(key, high, i)[0])
        return _summed_up(u, math.exp(-lam), lambda k: lam / k, 200)
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    k = math.floor(lam)
    for first, second in _attempts(key, high, i, 0, 512):
        u, v = _unit(first) - 0.5, 1.0 - _unit(second)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            break
        if k < 0 or (us < 0.013 and v > us):
            continue
        scale = (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b)
        above = k - lam
        if k < 10:
            chance = k * math.log(lam) - lam - math.lgamma(k + 1.0)
        else:
            chance = above - k * math.log1p(above / lam) - 0.5 * math.log(math.tau * k)
            chance -= _stirling_rest(float(k))
        if math.log(v * scale) <= chance:
            break
    return k


def random_binomial(key: int, high: int, i: int, n: int, p: float) -> int:
    """How many of n trials succeed, each with probability p."""
    if not p > 0.0 or n <= 0:
        return 0
    if p >= 1.0:
        return n
    rarer = 1.0 - p if p > 0.5 else p
    sampler = _binomial_small if n * rarer < 10.0 else _binomial_large
    k = sampler(key, high, i, n, rarer)
    return n - k if p > 0.5 else k


def _binomial_small(key: int, high: int, i: int, n: int, p: float) -> int:
    u, odds = _unit(philox(key, high, i)[0]), p / (1.0 - p)

    def ratio(k: int) -> float:  # of two chances
        return odds * ((n - k + 1) / k)

    return _summed_up(u, math.exp(n * math.log1p(-p)), ratio, min(n, 400))


def _binomial_large(key: int, high: int, i: int, n: int, p: float) -> int:
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    mode = k = math.floor((n + 1.0) * p)
    for first, second in _attempts(key, high, i, 0, 512):
        u, v = _unit(first) - 0.5, 1.0 - _unit(second)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + n * p + 0.5)
        if not 0 <= k <= n:
            continue
        if us >= 0.07 and v <= 0.92 - 4.2 / b:
            break
        scale = (2.83 + 5.1 / b) * spread / (a / (us * us) + b)
        ways = -_log_growth(mode, k - mode) - _log_growth(n - mode, mode - k)
        if math.log(v * scale) <= ways + (k - mode) * math.log(p / (1.0 - p)):
            break
    return k


def random_truncated_normal(key: int, high: int, i: int, low: float, top: float) -> float:
    """A standard normal number in [low, top]."""
    if not low < top:
        return low if low == top else math.nan
    if low >= 0.0:
        return _normal_above(key, high, i, low, top)
    if top <= 0.0:
        return -_normal_above(key, high, i, -top, -low)
    x = 0.0
    for first, second in _attempts(key, high, i, 0, 4096):
        if top - low > 2.5:
            x = _box_muller(first, second, 0)
            if low <= x <= top:
                break
        else:
            x = low + _unit(first) * (top - low)
            if _unit(second) < math.exp(-0.5 * x * x):
                break
    return x


def _normal_above(key: int, high: int, i: int, low: float, top: float) -> float:
    rate, x = 0.5 * (low + math.sqrt(low * low + 4.0)), low
    for first, second in _attempts(key, high, i, 0, 4096):
        u, v = _unit(first), _unit(second)
        if (top - low) * rate < 2.0:
            x = low + u * (top - low)
            if v < math.exp(0.5 * (low - x) * (low + x)):
                break
        else:
            x = low - math.log(1.0 - u) / rate
            if x <= top and v < math.exp(-0.5 * (x - rate) * (x - rate)):
                break
    return min(x, top)
