"""What a row of `array_functions.py` is, and rows of functions that move, test, sort and divide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Program = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A function of arrays: `given` makes these, the rest is the function in each library.

    `symc` takes symbolic tensors; `numpy` is what results are compared with, to `rtol` of the
    largest number, or nothing where results are random.
    """

    name: str
    given: tuple[Any, ...]
    symc: Program
    numpy: Program
    torch: Program | None = None
    jax: Program | None = None
    loops: Program | None = None
    rtol: float | None = 1e-9


def numbers(*shape: int, dtype: str = "float64", seed: int = 0) -> Any:
    """Normal numbers, complex ones where the dtype is."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("c") else x).astype(dtype)


def moves() -> list[Row]:
    """Elements that go elsewhere: copies, rotations, rows at places."""
    import symc.tensor as T

    made: list[Row] = []
    for dtype in ("float64", "float32"):
        for shape in [(100, 100), (1000, 1000), (100_000, 10)]:
            x, by = numbers(*shape, dtype=dtype), "x".join(map(str, shape))
            at = np.random.default_rng(1).integers(0, shape[0], shape[0])
            made += [
                Row(f"tile {dtype} {by}", (x,), lambda x: T.tile(x, (2, 2)),
                    lambda x: np.tile(x, (2, 2)), lambda torch, x: torch.tile(x, (2, 2)),
                    lambda jax, x: jax.numpy.tile(x, (2, 2))),
                Row(f"rot90 {dtype} {by}", (x,), T.rot90, lambda x: np.rot90(x).copy(),
                    lambda torch, x: torch.rot90(x), lambda jax, x: jax.numpy.rot90(x)),
                Row(f"rows added at places {dtype} {by}", (x, at), lambda x, at: x[at].inc(x),
                    rows_added, lambda torch, x, at: x.index_add(0, at, x),
                    lambda jax, x, at: x.at[at].add(x), rtol=1e-5),
            ]  # fmt: skip
    return made


def rows_added(x: Any, at: Any) -> Any:
    """Row i added to the row at place i."""
    result = x.copy()
    np.add.at(result, at, x)
    return result


def truths() -> list[Row]:
    """Whether all are true, and extremes of short rows."""
    made: list[Row] = []
    for shape, axis in [((1000, 1000), 0), ((1000, 1000), 1), ((10, 100_000), 0)]:
        x, by = numbers(*shape) < 9, "x".join(map(str, shape))
        made.append(
            Row(f"all {axis} {by}", (x,), lambda x, axis=axis: x.all(axis),
                lambda x, axis=axis: x.all(axis), lambda torch, x, axis=axis: x.all(axis),
                lambda jax, x, axis=axis: x.all(axis))
        )  # fmt: skip
    for dtype in ("float64", "float32"):
        x = numbers(100_000, 10, dtype=dtype)
        made += [
            Row(f"greatest size in short rows {dtype}", (x,), lambda x: abs(x).max(1),
                lambda x: abs(x).max(1), lambda torch, x: x.abs().amax(1),
                lambda jax, x: abs(x).max(1)),
            Row(f"product of short rows {dtype}", (x,), lambda x: x.prod(1), lambda x: x.prod(1),
                lambda torch, x: x.prod(1), lambda jax, x: x.prod(1), rtol=1e-5),
        ]  # fmt: skip
    return made


def small_products() -> list[Row]:
    """Many products of small matrices, and long ones of few columns."""
    made: list[Row] = []
    for dtype, rtol in (("float64", 1e-9), ("float32", 1e-4)):
        for many, n in [(10_000, 3), (5000, 6), (1000, 16)]:
            x, y = (numbers(many, n, n, dtype=dtype, seed=seed) for seed in (0, 1))
            made.append(
                Row(f"products {dtype} {many}x{n}x{n}", (x, y), lambda x, y: x @ y,
                    lambda x, y: x @ y, lambda torch, x, y: x @ y, lambda jax, x, y: x @ y,
                    rtol=rtol)
            )  # fmt: skip
        x = numbers(100_000, 10, dtype=dtype)
        made.append(
            Row(f"X.T @ X {dtype} 100000x10", (x,), lambda x: x.T @ x, lambda x: x.T @ x,
                lambda torch, x: x.T @ x, lambda jax, x: x.T @ x, rtol=rtol)
        )  # fmt: skip
    return made


def short_rows() -> list[Row]:
    """Rows of few numbers that share something, or of which each is a sum of few."""
    import symc.tensor as T

    made: list[Row] = []
    for n in (3, 10, 50):
        x, b = numbers(100_000 // n, n), numbers(n, seed=1)
        made += [
            Row(f"tanh of rows of {n} and a bias", (x, b), lambda x, b: T.tanh(x + b),
                lambda x, b: np.tanh(x + b), lambda torch, x, b: torch.tanh(x + b),
                lambda jax, x, b: jax.numpy.tanh(x + b)),
            Row(f"standardised columns, rows of {n}", (x,),
                lambda x: (x - x.mean(0)) / x.std(0), lambda x: (x - x.mean(0)) / x.std(0),
                lambda torch, x: (x - x.mean(0)) / x.std(0, correction=0),
                lambda jax, x: (x - x.mean(0)) / x.std(0)),
        ]  # fmt: skip
    for axes in (2, 4):
        x, c = numbers(20_000, axes), numbers(4, axes, seed=1)
        made.append(
            Row(f"nearness to 4 points of {axes} numbers", (x, c), lambda x, c: nearness(T, x, c),
                lambda x, c: nearness(np, x, c), None,
                lambda jax, x, c: nearness(jax.numpy, x, c))
        )  # fmt: skip
    x, v = numbers(20_000, 3, 3), numbers(20_000, 3, seed=1)
    made.append(
        Row("matrices times vectors 20000x3x3", (x, v), lambda x, v: (x @ v[:, :, None])[:, :, 0],
            lambda x, v: (x @ v[:, :, None])[:, :, 0],
            lambda torch, x, v: (x @ v[:, :, None])[:, :, 0],
            lambda jax, x, v: (x @ v[:, :, None])[:, :, 0])
    )  # fmt: skip
    return made


def nearness(library: Any, x: Any, points: Any) -> Any:
    """The share of each point in each row."""
    far = ((x[:, None, :] - points[None]) ** 2).sum(2)
    parts = library.exp(far.min(1, keepdims=True) - far)
    return parts / parts.sum(1, keepdims=True)


def sorted_rows() -> list[Row]:
    """Numbers in order, in one row and in many."""
    import symc.tensor as T

    return [
        Row(f"sort {dtype} {'x'.join(map(str, shape))}", (numbers(*shape, dtype=dtype),),
            lambda x: T.sort(x, axis=-1), lambda x: np.sort(x, axis=-1),
            lambda torch, x: torch.sort(x, dim=-1)[0], lambda jax, x: jax.numpy.sort(x, axis=-1))
        for dtype in ("float64", "float32")
        for shape in [(1000,), (1_000_000,), (1000, 100), (1000, 1000)]
    ]  # fmt: skip


def number_parts() -> list[Row]:
    """Parts and neighbours of floats, quantiles of the normal distribution, and quotients."""
    import symc.tensor as T

    made: list[Row] = []
    for dtype in ("float64", "float32"):
        x, y = (numbers(10_000, dtype=dtype, seed=seed) for seed in (0, 1))
        made += [
            Row(f"frexp {dtype}", (x,), lambda x: T.frexp(x)[0], lambda x: np.frexp(x)[0],
                lambda torch, x: torch.frexp(x)[0], lambda jax, x: jax.numpy.frexp(x)[0]),
            Row(f"nextafter {dtype}", (x, y), T.nextafter, np.nextafter,
                lambda torch, x, y: torch.nextafter(x, y),
                lambda jax, x, y: jax.numpy.nextafter(x, y)),
            Row(f"ndtri {dtype}", (abs(x) % 1,), T.ndtri, lambda p: T.ndtri(p).eval(),
                lambda torch, p: torch.special.ndtri(p),
                lambda jax, p: jax.scipy.special.ndtri(p), rtol=1e-5),
        ]  # fmt: skip
    a, b = (np.random.default_rng(seed).integers(1, 100, 10_000) for seed in (0, 1))
    made.append(
        Row("whole quotients", (a, b), lambda a, b: a // b, lambda a, b: a // b,
            lambda torch, a, b: a // b, lambda jax, a, b: a // b, lambda a, b: a // b)
    )  # fmt: skip
    return made
