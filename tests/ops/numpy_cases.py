"""Calls of NumPy's functions, by the module that has their names here: ``m`` is NumPy or `T`.

A case is a name, a call and its arguments. Those in `ROUGH` have no derivative where they are
tried, or one that differences do not find; NaN in arguments has the derivative 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(20261122)
NAN, INF = np.nan, np.inf

V = np.array([3.0, -1.5, 2.25, 0.5, 1.75])
M = RNG.normal(size=(3, 4))
C = RNG.normal(size=(2, 3, 4))
Z = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
K = np.array([2, 0, 1, 1, 5])
I8 = np.array([[-128, 127, 3], [4, -5, 6]], "i1")
B = np.array([True, False, True, True, False])
F4 = M.astype("f4")
HOLES = np.array([[1.0, NAN, -2.0, 0.5], [NAN, NAN, 3.0, 2.5], [4.0, 1.5, -0.25, NAN]])
ALL_NAN = np.array([[NAN, NAN], [1.0, NAN]])
BOTH = np.array([-0.0, INF, -INF, NAN, 2.5, -3.5])
EMPTY = np.zeros((0, 3))

Case = tuple[str, Callable[..., Any], tuple[Any, ...]]


def along(name: str, axis: Any, *arrays: Any) -> Case:
    """The case of a function that takes an axis."""
    return (f"{name} {axis}", lambda m, x: getattr(m, name)(x, axis=axis), arrays)


def nans() -> list[Case]:
    cases: list[Case] = []
    for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"):
        cases += [along(name, axis, HOLES) for axis in (None, 0, -1, (0, 1))]
        cases += [
            (f"{name} keepdims", lambda m, x, n=name: getattr(m, n)(x, 1, keepdims=True), (HOLES,)),
            (f"{name} int", lambda m, x, n=name: getattr(m, n)(x, axis=0), (I8,)),
            (f"{name} float32", lambda m, x, n=name: getattr(m, n)(x), (HOLES.astype("f4"),)),
            (f"{name} nothing left", lambda m, x, n=name: getattr(m, n)(x, axis=1), (ALL_NAN,)),
        ]
        if name not in ("nanmax", "nanmin"):
            cases.append((f"{name} empty", lambda m, x, n=name: getattr(m, n)(x, axis=0), (EMPTY,)))
    for name in ("nanargmax", "nanargmin", "nancumsum", "nancumprod"):
        cases += [along(name, axis, HOLES) for axis in (None, -1)]
        cases.append((f"{name} int", lambda m, x, n=name: getattr(m, n)(x, axis=1), (I8,)))
    return [
        *cases,
        ("nansum dtype", lambda m, x: m.nansum(x, 0, dtype="float32"), (HOLES,)),
        ("nansum complex", lambda m, z: m.nansum(z, axis=1), (Z + HOLES,)),
        ("nanmean complex", lambda m, z: m.nanmean(z, axis=1), (Z + HOLES,)),
        ("nanvar complex", lambda m, z: m.nanvar(z, axis=1), (Z + HOLES,)),
        ("nanvar ddof", lambda m, x: m.nanvar(x, axis=1, ddof=1), (HOLES,)),
        ("nanstd too few", lambda m, x: m.nanstd(x, axis=1, ddof=1), (ALL_NAN,)),
        ("nanmax ends", lambda m, x: m.nanmax(x, axis=1), (np.array([[NAN, -INF], [INF, 1.0]]),)),
        ("nan_to_num", lambda m, x: m.nan_to_num(x), (BOTH,)),
        ("nan_to_num float32", lambda m, x: m.nan_to_num(x), (BOTH.astype("f4"),)),
        ("nan_to_num values", lambda m, x: m.nan_to_num(x, nan=1.5, posinf=9, neginf=-9), (BOTH,)),
        ("nan_to_num complex", lambda m, x: m.nan_to_num(
            x + 1j * x[::-1], posinf=9, neginf=-9), (BOTH[1:5],)),
        ("nan_to_num int", lambda m, x: m.nan_to_num(x), (K,)),
    ]  # fmt: skip


def joining() -> list[Case]:
    return [
        ("append", lambda m, x, y: m.append(x, y), (M, V)),
        ("append axis", lambda m, x, y: m.append(x, y, axis=-1), (M, M)),
        ("append dtype", lambda m, x, y: m.append(x, y), (I8, K)),
        ("atleast_3d 0", lambda m, x: m.atleast_3d(x), (np.float64(2.0),)),
        ("atleast_3d 1", lambda m, x: m.atleast_3d(x), (V,)),
        ("atleast_3d 2", lambda m, x: m.atleast_3d(x), (M,)),
        ("atleast_3d 3", lambda m, x: m.atleast_3d(x), (C,)),
        ("block", lambda m, x, y: m.block([[x, x], [y, y]]), (M, M[:2])),
        ("block vectors", lambda m, x, y: m.block([x, y]), (V, V[:2])),
        ("block mixed", lambda m, x: m.block([[x, m.ones((2, 1))], [x[:1], 3.0]]), (M[:2],)),
        ("block one", lambda m, x: m.block(x), (M,)),
        ("broadcast_arrays", lambda m, x, y: m.broadcast_arrays(x, y)[0], (M[:1], M)),
        ("column_stack", lambda m, x, y: m.column_stack([x, y]), (V, V)),
        ("column_stack mixed", lambda m, x, y: m.column_stack([x, y, x]), (M[:, 0], M)),
        ("delete", lambda m, x: m.delete(x, 1, axis=0), (M,)),
        ("delete negative", lambda m, x: m.delete(x, -1, axis=1), (M,)),
        ("delete flat", lambda m, x: m.delete(x, [0, 2, -1]), (M,)),
        ("delete slice", lambda m, x: m.delete(x, slice(None, None, 2), 1), (M,)),
        ("delete mask", lambda m, x, b: m.delete(x, b), (V, B)),
        ("diagflat", lambda m, x: m.diagflat(x, 1), (M[:2, :2],)),
        ("hsplit", lambda m, x: m.hsplit(x, 2)[1], (M,)),
        ("hsplit places", lambda m, x: m.hsplit(x, [1, 3])[1], (M,)),
        ("hsplit beyond", lambda m, x: m.hsplit(x, [3, 9])[2], (M,)),
        ("hsplit vector", lambda m, x: m.hsplit(x, [2])[1], (V,)),
        ("vsplit", lambda m, x: m.vsplit(x, [1])[1], (M,)),
        ("dsplit", lambda m, x: m.dsplit(x, 2)[0], (C,)),
        ("insert", lambda m, x: m.insert(x, 1, 9.0), (V,)),
        ("insert row", lambda m, x, v: m.insert(x, 2, v, axis=0), (M, M[0])),
        ("insert negative", lambda m, x: m.insert(x, -1, 7, axis=1), (M,)),
        ("insert end", lambda m, x: m.insert(x, 5, 7), (V,)),
        ("insert dtype", lambda m, x: m.insert(x, 0, 7.9), (K,)),
        ("matrix_transpose", lambda m, x: m.matrix_transpose(x), (C,)),
        ("permute_dims", lambda m, x: m.permute_dims(x, (2, 0, 1)), (C,)),
        ("resize", lambda m, x: m.resize(x, (2, 4)), (V,)),
        ("resize nothing", lambda m, x: m.resize(x, (2, 3)), (EMPTY,)),
        ("resize smaller", lambda m, x: m.resize(x, 3), (M,)),
        ("unstack", lambda m, x: m.unstack(m.stack([x, x]))[1], (M,)),
        *((f"rot90 {k}", lambda m, x, k=k: m.rot90(x, k), (M,)) for k in range(-1, 4)),
        ("rot90 axes", lambda m, x: m.rot90(x, 1, axes=(2, 0)), (C,)),
    ]  # fmt: skip


def places() -> list[Case]:
    return [
        ("tril_indices", lambda m: m.tril_indices(3, 1, 4)[1], ()),
        ("triu_indices", lambda m: m.triu_indices(4, -1)[0], ()),
        ("tril_indices_from", lambda m, x: x[m.tril_indices_from(x)], (M,)),
        ("triu_indices_from", lambda m, x: x[m.triu_indices_from(x, 1)], (M,)),
        ("diag_indices", lambda m, x: x[m.diag_indices(3)], (M,)),
        ("diag_indices_from", lambda m, x: x[m.diag_indices_from(x)], (M[:, :3],)),
        ("indices", lambda m: m.indices((2, 3)), ()),
        ("indices sparse", lambda m: m.indices((2, 3), dtype="int32", sparse=True)[1], ()),
        ("fromfunction", lambda m: m.fromfunction(lambda i, j: i - 2 * j, (2, 3)), ()),
        ("ix_", lambda m, x: x[m.ix_([2, 0], [True, False, True, False])], (M,)),
        ("unravel_index", lambda m, k: m.unravel_index(k, (2, 3))[1], (K,)),
        ("unravel_index F", lambda m, k: m.unravel_index(k, (2, 3), order="F")[0], (K,)),
        ("ravel_multi_index", lambda m, k: m.ravel_multi_index((k, k), (6, 7)), (K,)),
        ("ravel_multi_index F", lambda m, k: m.ravel_multi_index((k, k), (6, 7), order="F"), (K,)),
        ("ravel_multi_index modes",
         lambda m, k: m.ravel_multi_index((k, k - 3), (2, 3), mode=("clip", "wrap")), (K,)),
    ]  # fmt: skip


def differences() -> list[Case]:
    xp, fp = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([2.0, -1.0, 0.5, 4.0])
    at = np.array([[-3.0, -0.25, 0.3], [1.7, 1.9, 7.25]])
    return [
        ("ediff1d", lambda m, x: m.ediff1d(x), (M,)),
        ("ediff1d ends", lambda m, x: m.ediff1d(x, to_end=[1, 2], to_begin=0.5), (V,)),
        ("gradient", lambda m, x: m.gradient(x), (V,)),
        ("gradient axes", lambda m, x: m.gradient(x)[1], (M,)),
        ("gradient edges", lambda m, x: m.gradient(x, 0.5, axis=-1, edge_order=2), (M,)),
        ("gradient positions", lambda m, x, p: m.gradient(x, p), (V, np.cumsum(abs(V)))),
        ("gradient positions 2", lambda m, x, p: m.gradient(x, p, axis=1, edge_order=2),
         (M, np.array([0.0, 1.0, 3.0, 3.5]))),
        ("gradient two", lambda m, x: m.gradient(x, 0.5, 2.0)[0], (M,)),
        ("gradient float32", lambda m, x: m.gradient(x, axis=0), (F4,)),
        ("gradient int", lambda m, x: m.gradient(x), (K,)),
        ("trapezoid", lambda m, y: m.trapezoid(y), (M,)),
        ("trapezoid dx", lambda m, y: m.trapezoid(y, dx=0.5, axis=0), (M,)),
        ("trapezoid x", lambda m, y, x: m.trapezoid(y, x, axis=0), (M, M[:, 0])),
        ("trapezoid all x", lambda m, y, x: m.trapezoid(y, x), (M, M)),
        ("trapezoid float32", lambda m, y: m.trapezoid(y), (F4,)),
        ("trapezoid int", lambda m, y: m.trapezoid(y), (K,)),
        ("cumulative_sum", lambda m, x: m.cumulative_sum(x), (V,)),
        ("cumulative_sum initial", lambda m, x: m.cumulative_sum(x, axis=1, include_initial=True),
         (M,)),
        ("cumulative_prod initial", lambda m, x: m.cumulative_prod(x, axis=-1,
                                                                   include_initial=True), (I8,)),
        ("unwrap", lambda m, x: m.unwrap(x), (np.array([0.1, 3.0, -3.0, -0.2, 2.8, 9.9]),)),
        ("unwrap axis", lambda m, x: m.unwrap(4 * x, axis=0), (M,)),
        ("unwrap discont", lambda m, x: m.unwrap(x, discont=5.5, axis=0), (4 * M,)),
        ("unwrap int", lambda m, x: m.unwrap(x, period=3), (K,)),
        ("unwrap even", lambda m, x: m.unwrap(x, period=4), (2 * K,)),
        ("unwrap float32", lambda m, x: m.unwrap(3 * x), (F4,)),
        ("interp", lambda m, x, p, f: m.interp(x, p, f), (at, xp, fp)),
        ("interp ends", lambda m, x, p, f: m.interp(x, p, f, left=-7, right=7.5), (at, xp, fp)),
        ("interp nan", lambda m, x, p, f: m.interp(x, p, f), (BOTH, xp, fp)),
        ("interp points", lambda m, x, p, f: m.interp(x, p, f), (xp, xp, fp)),
        ("interp period", lambda m, x, p, f: m.interp(x, p, f, period=4.0), (at, xp, fp)),
        ("interp one", lambda m, x, p, f: m.interp(x, p, f), (at, xp[:1], fp[:1])),
        # A bug: beside values that are not finite, points and the other end of a piece were lost.
        ("interp not finite", lambda m, x, p, f: m.interp(x, p, f),
         (np.arange(-1, 9.25, 0.25), np.arange(8.0),
          np.array([np.inf, 1.0, np.nan, 2.0, -np.inf, -np.inf, np.inf, 0.5]))),
        ("interp float32", lambda m, x, p, f: m.interp(x, p, f), (at.astype("f4"), xp, fp)),
        ("interp complex", lambda m, x, p, f: m.interp(x, p, f), (at, xp, fp + 1j * fp[::-1])),
        ("interp int", lambda m, x, p, f: m.interp(x, p, f), (K, np.arange(4), np.arange(4) ** 2)),
    ]  # fmt: skip


def polynomials() -> list[Case]:
    return [
        ("polyval", lambda m, p, x: m.polyval(p, x), (V, M)),
        ("polyval int", lambda m, p, x: m.polyval(p, x), (K, I8)),
        ("polyval complex", lambda m, p, z: m.polyval(p, z), (V, Z)),
        ("polyadd", lambda m, p, q: m.polyadd(p, q), (V, V[:2])),
        ("polysub", lambda m, p, q: m.polysub(p, q), (V[:2], V)),
        ("polymul", lambda m, p, q: m.polymul(p, q), (V, V[:2])),
        ("polyder", lambda m, p: m.polyder(p, 2), (V,)),
        ("polyder scalar", lambda m, p: m.polyder(p), (V[:1],)),
        ("polyint", lambda m, p: m.polyint(p, 2, k=[1.0, 2.0]), (V,)),
        ("polyint int", lambda m, p: m.polyint(p), (K,)),
        ("vander", lambda m, x: m.vander(x), (V,)),
        ("vander N", lambda m, x: m.vander(x, 3, increasing=True), (V,)),
        ("vander int", lambda m, x: m.vander(x, 3), (I8[0],)),
        ("polyfit", lambda m, x, y: m.polyfit(x, y, 2), (V, M.ravel()[:5])),
        ("polyfit columns", lambda m, x, y: m.polyfit(x, y, 1), (V[:3], M)),
        ("polyfit weights", lambda m, x, y, w: m.polyfit(x, y, 1, w=w), (V, V**2, np.abs(V))),
    ]  # fmt: skip


def signals() -> list[Case]:
    cases: list[Case] = []
    for mode in ("full", "same", "valid"):
        for n, k in ((5, 2), (2, 5), (4, 4), (5, 3)):
            for name in ("convolve", "correlate"):
                a, v = M.ravel()[:n], V[:k]
                call = lambda m, a, v, f=name, w=mode: getattr(m, f)(a, v, mode=w)  # noqa: E731
                cases.append((f"{name} {mode} {n} {k}", call, (a, v)))
    return [
        *cases,
        ("convolve int", lambda m, a, v: m.convolve(a, v), (K, I8[0])),
        ("convolve bool", lambda m, a, v: m.convolve(a, v), (B, B[:2])),
        ("convolve float32", lambda m, a, v: m.convolve(a, v), (F4[0], F4[1, :2])),
        ("correlate complex", lambda m, a, v: m.correlate(a, v, "full"), (Z[0], Z[1, :3])),
        *((f"{name} {n}", lambda m, f=name, n=n: getattr(m, f)(n), ())
          for name in ("bartlett", "blackman", "hamming", "hanning") for n in (0, 1, 2, 5, 6)),
        *((f"kaiser {n}", lambda m, n=n: m.kaiser(n, 5.0), ()) for n in (0, 1, 5)),
        ("sinc", lambda m, x: m.sinc(x), (np.array([0.0, 1e-9, -0.1, 0.3183, 0.3184, 2.0, -3.7]),)),
        ("sinc float32", lambda m, x: m.sinc(x), (F4,)),
    ]  # fmt: skip


def parts() -> list[Case]:
    return [
        *((name, lambda m, x, n=name: getattr(m, n)(x), (BOTH,)) for name in (
            "signbit", "spacing", "isposinf", "isneginf", "isreal", "iscomplex", "fabs", "rint",
            "fix", "around", "positive", "copy", "frexp", "modf")),
        *((f"{name} int", lambda m, x, n=name: getattr(m, n)(x), (I8,)) for name in (
            "signbit", "isposinf", "isreal", "fabs", "rint", "bitwise_not", "bitwise_invert",
            "bitwise_count", "modf", "frexp", "around")),
        ("isreal complex", lambda m, z: m.isreal(z), (np.array([1 + 0j, 2j]),)),
        ("iscomplex complex", lambda m, z: m.iscomplex(z), (np.array([1 + 0j, 2j]),)),
        ("spacing float32", lambda m, x: m.spacing(x), (np.array([1, -2, 3e38, 0], "f4"),)),
        ("heaviside", lambda m, x, y: m.heaviside(x, y), (BOTH, BOTH[::-1].copy())),
        ("heaviside float32", lambda m, x: m.heaviside(x, 0.5), (F4,)),
        ("float_power", lambda m, x: m.float_power(x, -2), (K + 1,)),
        ("float_power float32", lambda m, x: m.float_power(abs(x), 0.5), (F4,)),
        ("gcd", lambda m, x, y: m.gcd(x, y), (K * 6, K + 3)),
        ("lcm", lambda m, x, y: m.lcm(x, y), (I8, I8[:, ::-1].copy())),
        ("ldexp", lambda m, x, k: m.ldexp(x, k), (V, K)),
        ("logaddexp2", lambda m, x, y: m.logaddexp2(x, y), (M, M[:, ::-1].copy())),
        ("bitwise shifts", lambda m, k: m.bitwise_right_shift(m.bitwise_left_shift(k, 3), 1), (K,)),
        ("array_equal", lambda m, x, y: m.array_equal(x, y), (M, M)),
        ("array_equal nan", lambda m, x, y: m.array_equal(x, y, equal_nan=True), (HOLES, HOLES)),
        ("array_equal shape", lambda m, x: m.array_equal(x, [1.0, 2.0]), (M,)),
        ("array_equiv", lambda m, x, y: m.array_equiv(x, y), (M[:1], M)),
        ("piecewise", lambda m, x: m.piecewise(x, [x < 0, x > 1], [lambda v: -v * v, 3.0]), (V,)),
        ("piecewise else", lambda m, x: m.piecewise(x, [x < 0], [0.5, lambda v: v**3]), (M,)),
        ("piecewise one", lambda m, x: m.piecewise(x, x > 2, [10, -10]), (K,)),
        ("piecewise last wins", lambda m, x: m.piecewise(x, [x > 0, x > 2], [1, 2]), (V,)),
        ("piecewise arguments",
         lambda m, x: m.piecewise(x, [x > 0], [lambda v, a, b: a * v + b], 2.0, b=1.0), (V,)),
    ]  # fmt: skip


def covariances() -> list[Case]:
    a = np.array([1.0, 2.0, 0.5, 1.5])
    edges = np.array([-3.0, -0.5, 0.5, 3.0])
    return [
        ("cov", lambda m, x: m.cov(x), (M,)),
        ("cov y", lambda m, x, y: m.cov(x, y), (M[0], M[1])),
        ("cov columns", lambda m, x: m.cov(x, rowvar=False, bias=True), (M,)),
        ("cov one", lambda m, x: m.cov(x), (V,)),
        ("cov weights", lambda m, x, f, a: m.cov(x, fweights=f, aweights=a), (M, K[:4] + 1, a)),
        ("cov ddof", lambda m, x, a: m.cov(x, ddof=2, aweights=a), (M, a)),
        ("cov complex", lambda m, z: m.cov(z), (Z,)),
        ("cov int", lambda m, x: m.cov(x), (I8,)),
        ("cov float32", lambda m, x: m.cov(x, dtype="float32"), (F4,)),
        ("corrcoef", lambda m, x: m.corrcoef(x), (M,)),
        ("corrcoef y", lambda m, x, y: m.corrcoef(x, y, rowvar=False), (M, M**2)),
        ("corrcoef one", lambda m, x: m.corrcoef(x), (V,)),
        ("corrcoef complex", lambda m, z: m.corrcoef(z), (Z,)),
        ("histogram_bin_edges", lambda m, x: m.histogram_bin_edges(x, 4), (V,)),
        ("histogram2d", lambda m, x, y: m.histogram2d(x, y, bins=3)[0], (M[0], M[1])),
        ("histogram2d edges", lambda m, x, y: m.histogram2d(x, y, bins=edges)[0], (M[0], M[1])),
        ("histogram2d pair", lambda m, x, y: m.histogram2d(
            x, y, bins=[2, edges], range=[[-1, 1], None], density=True), (M[0], C[0, 0])),
        ("histogramdd", lambda m, x: m.histogramdd(m.stack([x, x**2], 1), bins=2)[0], (V,)),
        ("histogramdd weights", lambda m, x, w: m.histogramdd(
            [x, x], bins=(2, 3), weights=w)[0], (V, np.abs(V))),
    ]  # fmt: skip


def sets() -> list[Case]:
    many = RNG.integers(0, 60, size=80)
    return [
        ("isin", lambda m, x, y: m.isin(x, y), (I8, K)),
        ("isin few", lambda m, x: m.isin(x, [1, 5]), (K,)),
        ("isin invert", lambda m, x, y: m.isin(x, y, invert=True), (np.arange(70), many)),
        ("isin nan", lambda m, x, y: m.isin(x, y), (HOLES, HOLES)),
        ("isin nothing", lambda m, x, y: m.isin(x, y), (K, np.zeros(0, int))),
        ("isin dtypes", lambda m, x, y: m.isin(x, y), (V, K)),
        ("union1d", lambda m, x, y: m.union1d(x, y), (I8, K)),
        ("intersect1d", lambda m, x, y: m.intersect1d(x, y), (np.array([5, 1, 1, 8]), K)),
        ("setdiff1d", lambda m, x, y: m.setdiff1d(x, y), (np.array([5, 1, 1, 8, 7]), K)),
        ("setxor1d", lambda m, x, y: m.setxor1d(x, y), (np.array([5, 1, 1, 8]), K)),
        ("setxor1d nothing", lambda m, x, y: m.setxor1d(x, y), (K[:0], K[:0])),
        ("unique_all", lambda m, x: m.unique_all(x), (K,)),
        ("unique_counts", lambda m, x: m.unique_counts(x), (K,)),
        ("unique_inverse", lambda m, x: m.unique_inverse(x), (np.vstack([K, K]),)),
        ("unique_values", lambda m, x: m.unique_values(x), (HOLES,)),
        ("lexsort", lambda m, x, y: m.lexsort((x, y)), (V, K)),
        ("lexsort matrix", lambda m, x: m.lexsort(x), (np.array([[3, 1, 2, 2], [1, 1, 0, 0]]),)),
        ("lexsort one", lambda m, x: m.lexsort((x,)), (V,)),
    ]  # fmt: skip


def quantiles() -> list[Case]:
    return [
        *((f"{name} {axis}", lambda m, x, n=name, a=axis: getattr(m, n)(x, axis=a), (HOLES,))
          for name in ("nanmedian",) for axis in (None, 0, 1)),
        ("nanmedian nothing left", lambda m, x: m.nanmedian(x, axis=1, keepdims=True), (ALL_NAN,)),
        ("nanmedian int", lambda m, x: m.nanmedian(x, axis=1), (I8,)),
        ("nanmedian float32", lambda m, x: m.nanmedian(x), (HOLES.astype("f4"),)),
        *((f"nanquantile {how}", lambda m, x, how=how: m.nanquantile(x, [0.2, 0.75], axis=1,
                                                                    method=how), (HOLES,))
          for how in ("linear", "lower", "nearest", "hazen", "midpoint")),
        ("nanquantile scalar", lambda m, x: m.nanquantile(x, 0.3, keepdims=True), (HOLES,)),
        ("nanquantile matrix", lambda m, x: m.nanquantile(x, [[0.2, 0.75]], axis=0), (HOLES,)),
        ("nanpercentile", lambda m, x: m.nanpercentile(x, 60, axis=(0, 1)), (HOLES,)),
        ("nanpercentile int", lambda m, x: m.nanpercentile(x, 60), (K,)),
        ("nanpercentile nothing left", lambda m, x: m.nanpercentile(x, 60, axis=1), (ALL_NAN,)),
    ]  # fmt: skip


def linear() -> list[Case]:
    s = M[:, :3] @ M[:, :3].T + np.eye(3)
    t = RNG.normal(size=(2, 3, 6))
    return [
        ("cross", lambda m, x, y: m.cross(x, y), (M[:, :3], V[:3])),
        ("cross axes", lambda m, x, y: m.cross(x, y, axisa=0, axisb=1, axisc=0), (M, C[0].T)),
        ("cross axis", lambda m, x, y: m.cross(x, y, axis=0), (M, M[::-1].copy())),
        ("cross int", lambda m, x, y: m.cross(x, y), (I8, I8[::-1].copy())),
        ("linalg.cross", lambda m, x, y: m.linalg.cross(x, y), (V[:3], V[1:4])),
        *((f"cond {p}", lambda m, x, p=p: m.linalg.cond(x, p), (s,))
          for p in (None, 2, -2, 1, np.inf, "fro")),
        ("cond wide", lambda m, x: m.linalg.cond(x), (M,)),
        ("cond batch", lambda m, x: m.linalg.cond(x), (C,)),
        ("linalg.diagonal", lambda m, x: m.linalg.diagonal(x, offset=1), (C,)),
        ("linalg.matmul", lambda m, x: m.linalg.matmul(x, x), (s,)),
        ("linalg.matrix_transpose", lambda m, x: m.linalg.matrix_transpose(x), (C,)),
        ("linalg.outer", lambda m, x: m.linalg.outer(x, x), (V,)),
        ("linalg.tensordot", lambda m, x, y: m.linalg.tensordot(x, y, axes=1), (C, M.T.copy())),
        ("linalg.vecdot", lambda m, x, y: m.linalg.vecdot(x, y), (Z, Z[::-1].copy())),
        ("linalg.vector_norm", lambda m, x: m.linalg.vector_norm(x, axis=0, ord=3), (M,)),
        ("tensorinv", lambda m, x: m.linalg.tensorinv(x), (t,)),
        ("tensorinv 1", lambda m, x: m.linalg.tensorinv(x, ind=1), (t.transpose(2, 0, 1).copy(),)),
        ("tensorsolve", lambda m, a, b: m.linalg.tensorsolve(a, b), (t, M[:2, :3])),
        ("tensorsolve axes", lambda m, a, b: m.linalg.tensorsolve(a, b, axes=(0,)),
         (t.transpose(2, 0, 1).copy(), M[:2, :3])),
    ]  # fmt: skip


GROUPS: dict[str, list[Case]] = {
    "nans": nans(), "joining": joining(), "places": places(), "differences": differences(),
    "polynomials": polynomials(), "signal": signals(), "parts": parts(),
    "covariance": covariances(), "sets": sets(), "nanquantiles": quantiles(), "linalg": linear(),
}  # fmt: skip

ROUGH = {
    "around", "copy", "corrcoef one", "fabs", "fix", "frexp", "heaviside", "histogram2d",
    "histogram2d edges", "histogram2d pair", "histogramdd", "interp ends", "interp nan",
    "interp points", "modf", "nan_to_num", "nan_to_num complex", "nan_to_num values",
    "nanmax ends", "nanprod 0", "positive", "rint", "signbit", "spacing", "unwrap axis",
    "unwrap discont",
}  # fmt: skip


def flat(result: Any) -> list[Any]:
    """The results of a call in one list, whatever tuples they are in."""
    if not isinstance(result, list | tuple):
        return [result]
    return [each for part in result for each in flat(part)]
