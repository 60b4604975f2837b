"""Parts of arrays that routines read where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen.ir import Buffer, Pointer, const
from symc.codegen.passes.kernels.borrowed import borrowed
from symc.codegen.passes.kernels.memory import plan_workspace
from symc.codegen.passes.order import PASSES
from symc.codegen.record import replace
from symc.codegen.verify.program import verify

RNG = np.random.default_rng(23)
A, X, BLOCKS = T.matrix("a"), T.vector("x"), T.tensor3("blocks")
PLACES = T.lvector("places")
MATRIX, VECTOR, MANY = RNG.random((7, 5)), RNG.random(9), RNG.random((6, 5, 4))
CHOSEN = np.array([0, -1, 3, 3, 5, -6])


def compiled(inputs: list[Any], outputs: Any, **options: Any) -> Any:
    f = symc.function(inputs, outputs, **options)
    verify(f.runner.compilation().optimised)
    return f


def copies(f: Any) -> bool:
    return any(k.name.startswith("getitem") for k in f.runner.compilation().optimised.kernels)


def along_places(step: Callable[..., Any], first: Any, count: Any) -> Any:
    return symc.fori_loop(0, count, step, first)


PRODUCTS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "rows and a part": (A[2:] @ X[1:6], lambda a, x, b: a[2:] @ x[1:6]),
    "the first rows": (A[:3] @ X[4:], lambda a, x, b: a[:3] @ x[4:]),
    "a block": (A @ BLOCKS[2], lambda a, x, b: a @ b[2]),
    "the last block": (A @ BLOCKS[-1], lambda a, x, b: a @ b[-1]),
    "a factor": (
        T.linalg.cholesky((BLOCKS[1:, :4] + 9 * T.eye(4))[2] * 0 + A[:4, :4] @ A[:4, :4].T),
        lambda a, x, b: np.linalg.cholesky(a[:4, :4] @ a[:4, :4].T),
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_parts(name: str) -> None:
    made, oracle = PRODUCTS[name]
    f = compiled([A, X, BLOCKS], made, on_unused_input="ignore")
    np.testing.assert_allclose(f(MATRIX, VECTOR, MANY), oracle(MATRIX, VECTOR, MANY), rtol=1e-12)


def test_parts_are_not_copied() -> None:
    for made in (A[2:] @ X[1:6], A @ BLOCKS[2]):
        assert not copies(compiled([A, X, BLOCKS], made, on_unused_input="ignore"))


def test_columns_are_copied() -> None:
    f = compiled([A, X], A[:, 1:4] @ X[:3])
    np.testing.assert_allclose(f(MATRIX, VECTOR), MATRIX[:, 1:4] @ VECTOR[:3], rtol=1e-13)


def test_parts_of_no_elements() -> None:
    f = compiled([A, X], A[3:] @ X[1:])
    np.testing.assert_array_equal(f(MATRIX[:2], VECTOR[:6]), np.zeros(0))
    np.testing.assert_array_equal(f(RNG.random((5, 0)), VECTOR[:1]), np.zeros(2))


def test_blocks_at_places_that_are_read_in_steps() -> None:
    """Each block was copied, and each part of the vector, into memory that was made for it."""

    def step(k: Any, t: Any) -> Any:
        at = PLACES[k]
        return t + BLOCKS[at] @ X[T.abs(at) : T.abs(at) + 4]

    f = compiled([BLOCKS, X, PLACES], along_places(step, T.zeros(5), PLACES.shape[0]))
    assert not copies(f) or "malloc" not in f.source
    wanted = sum(MANY[k] @ np.append(VECTOR, VECTOR)[abs(k) : abs(k) + 4] for k in CHOSEN)
    found = f(MANY, np.append(VECTOR, VECTOR), CHOSEN)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    with pytest.raises(IndexError):
        f(MANY, np.append(VECTOR, VECTOR), np.array([0, 6]))


def test_a_part_of_what_is_changed_before_it_is_read_is_copied() -> None:
    def step(k: Any, b: Any) -> Any:
        old = b[k]
        return b[k].set(old @ old.T @ old * 0.01 + b[k - 1])

    square = RNG.random((6, 4, 4))
    f = compiled([BLOCKS], along_places(step, BLOCKS, BLOCKS.shape[0]))
    wanted = square.copy()
    for k in range(6):
        wanted[k] = wanted[k] @ wanted[k].T @ wanted[k] * 0.01 + wanted[k - 1]
    np.testing.assert_allclose(f(square), wanted, rtol=1e-12)


def test_a_part_that_others_read_too_is_there_for_all() -> None:
    part = BLOCKS[PLACES[1]]
    f = compiled([A, BLOCKS, PLACES], [A @ part, part * 2, part.sum(axis=0)])
    found = f(MATRIX, MANY, CHOSEN)
    wanted = [MATRIX @ MANY[-1], MANY[-1] * 2, MANY[-1].sum(axis=0)]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_shared_variable_that_is_updated_from_its_part() -> None:
    s = symc.shared(MANY, name="s")
    f = compiled([A], A @ s[3], updates=[(s, s[::-1] * 2)])
    np.testing.assert_allclose(f(MATRIX), MATRIX @ MANY[3], rtol=1e-12)
    np.testing.assert_allclose(f(MATRIX), MATRIX @ (2 * MANY[2]), rtol=1e-12)


def test_rows_of_a_borrowed_part_that_nobody_reads_go_with_it() -> None:
    """They were rows of an array that there was no more: a KeyError when memory was planned."""
    f = symc.function([A, BLOCKS], A @ BLOCKS[2])
    program = f.runner.compilation().program
    for step in PASSES:
        if step.name == "borrowed":
            break
        program = step(program)
    (part,) = (b for b in program.buffers if b.name.startswith("getitem"))
    row = Buffer("row", part.dtype, part.shape[1:], "temp", Pointer(part.name, const(0)))
    after = borrowed(replace(program, buffers=(*program.buffers, row)))
    assert not {"row", part.name} & {buffer.name for buffer in after.buffers}
    plan_workspace(after)
