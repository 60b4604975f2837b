"""``on_failure="nan"``: matrices without a result give NaN, alone, also in a stack; no errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import LinAlgError

GOOD = np.array([[4.0, 2.0], [2.0, 5.0]])
ZERO_PIVOT = np.array([[0.0, 0.0], [0.0, 1.0]])
RIGHT = np.array([[1.0], [2.0]])

CASES: list[tuple[str, Callable[..., Any]]] = [
    ("cholesky", lambda a, **o: T.linalg.cholesky(a, **o)),
    ("upper", lambda a, **o: T.linalg.cholesky(a, upper=True, **o)),
    ("triangular", lambda a, **o: T.linalg.solve_triangular(a, RIGHT, **o)),
    ("lower", lambda a, **o: T.linalg.solve_triangular(a, RIGHT, lower=True, trans=1, **o)),
    ("cho_solve", lambda a, **o: T.linalg.cho_solve((a, True), RIGHT, **o)),
    ("cho_solve_upper", lambda a, **o: T.linalg.cho_solve((a, False), RIGHT, **o)),
    ("solve", lambda a, **o: T.linalg.solve(a, RIGHT, **o)),
    ("solve_pos", lambda a, **o: T.linalg.solve(a, RIGHT, assume_a="pos", **o)),
]


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize("call", [c for _, c in CASES], ids=[n for n, _ in CASES])
def test_one_matrix_of_a_stack_fails(call: Callable[..., Any], mode: str) -> None:
    a = T.tensor3("a")
    f = symc.function([a], call(a, on_failure="nan"), mode=mode)
    raising = symc.function([a], call(a), mode=mode)
    found = f(np.stack([GOOD, ZERO_PIVOT, GOOD]))
    wanted = raising(np.stack([GOOD, GOOD]))
    np.testing.assert_allclose(found[[0, 2]], wanted, rtol=1e-13)
    assert np.isnan(found[1]).all()
    with pytest.raises(LinAlgError):
        raising(np.stack([GOOD, ZERO_PIVOT]))


@pytest.mark.parametrize("call", [c for _, c in CASES], ids=[n for n, _ in CASES])
def test_gradients_are_those_of_the_op_that_raises(call: Callable[..., Any]) -> None:
    a = T.matrix("a")
    nan = symc.grad((call(a, on_failure="nan") ** 2).sum(), a)
    raising = symc.grad((call(a) ** 2).sum(), a)
    f = symc.function([a], [nan, raising])
    found, wanted = f(GOOD)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_gradient_of_a_failure_is_nan() -> None:
    a = T.matrix("a")
    factor = T.linalg.cholesky(a, on_failure="nan")
    assert np.isnan(symc.function([a], symc.grad(factor.sum(), a))(-GOOD)[0, 0])


def test_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="on_failure is 'raise' or 'nan', not 'zero'"):
        T.linalg.cholesky(GOOD, on_failure="zero")  # type: ignore[arg-type]
