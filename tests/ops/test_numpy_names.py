"""Functions that have NumPy's names give what NumPy gives: values, dtypes, shapes, derivatives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from tests.ops.harness import check, inputs_for, is_wide, same
from tests.ops.numpy_cases import GROUPS, ROUGH, Case, flat

EVERY = [case for cases in GROUPS.values() for case in cases]


def numpys(case: Case) -> list[Any]:
    _, call, arrays = case
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = call(np, *arrays)
    return flat(result)


def is_finite(values: Any) -> bool:
    return bool(np.isfinite(values).all())


def has_derivatives(case: Case, wanted: list[Any]) -> bool:
    name, _, arrays = case
    known = all(is_finite(w) for w in wanted if np.asarray(w).dtype.kind in "fc")
    return known and name not in ROUGH and any(is_wide(np.asarray(a)) for a in arrays)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case[0])
def test_values_and_derivatives(case: Case) -> None:
    _, call, arrays = case
    wanted = numpys(case)
    check(
        lambda *xs: flat(call(T, *xs)), *arrays, oracle=lambda *_: wanted, compiled=False,
        grad=has_derivatives(case, wanted), rtol=1e-11,
    )  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_compiled(group: str) -> None:
    """The first case of each function of a module, for arguments of unknown lengths, in one."""
    inputs: list[Any] = []
    given: list[Any] = []
    outputs: list[Any] = []
    wanted: list[Any] = []
    for case in {case[0].split()[0]: case for case in reversed(GROUPS[group])}.values():
        _, call, arrays = case
        symbols = inputs_for(arrays)
        outputs += [T.as_tensor(each) for each in flat(call(T, *symbols))]
        inputs += symbols
        given += arrays
        wanted += numpys(case)
    f = symc.function(inputs, outputs, mode="compile", on_unused_input="ignore")
    for got, expected in zip(f(*given), wanted, strict=True):
        same(got, np.asarray(expected), 1e-11)
