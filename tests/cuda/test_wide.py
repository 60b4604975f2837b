"""Programs with 64-bit indexes: the same results, and built when arrays need them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.status import Status
from symc.codegen.targets._abi import ffi
from symc.cuda import device as device_of
from symc.cuda.caller import TooLong
from symc.cuda.functions import Widening, compile_for, device_caller
from tests.cuda.devices import DEVICES
from tests.test_golden import MODELS, Model


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_the_same_results_with_64_bits(make: Callable[[], Model], device: str) -> None:
    model = make()
    f = symc.function(model.inputs, model.outputs, updates=model.updates, mode="python")
    request = f.request
    found = device_of(device)
    made = compile_for(request, found, mode="default", wide=True)
    call = device_caller(made, request, found, "list", [None] * len(model.inputs))
    arrays = [
        np.asarray(a, dtype=x.dtype.name) for a, x in zip(model.args, model.inputs, strict=True)
    ]
    results = [*call(*arrays), *(variable.get_value() for variable, _ in model.updates)]
    for value, wanted in zip(results, model.wanted, strict=True):
        rtol = 1e-12 if value.dtype == np.float64 else 4e-6
        np.testing.assert_allclose(value, wanted, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("rows", "columns", "fits"),
    [(1 << 15, 1 << 15, True), ((1 << 15) + 1, 1 << 15, False), (1, 1 << 40, False)],
)
def test_long_arrays_are_told_from_short_ones(
    rows: int, columns: int, fits: bool, device: str
) -> None:
    x = T.fmatrix("x")
    f = symc.function([x], x * 2, mode="python")
    request = f.request
    made = compile_for(request, device_of(device), mode="default", wide=False).made
    assert made.facts["narrow"]
    _, lengths, shapes, room = made.library.counts
    call = ffi.new("symc_device_call *")
    given, wanted = ffi.new("int64_t[]", [rows, columns]), ffi.new("int64_t[]", shapes + 1)
    sizes = ffi.new("int64_t[]", room + 1)
    assert lengths == 2
    call.lengths, call.shapes, call.sizes = given, wanted, sizes
    status = ffi.cast("int64_t(*)(symc_device_call *)", made.library.prepare)(call)
    assert status == (0 if fits else Status.TOO_LONG)


def test_a_function_is_built_again_once() -> None:
    built: list[str] = []

    def narrow(length: int) -> str:
        if length > 3:
            raise TooLong
        return "narrow"

    def build() -> Callable[[int], str]:
        built.append("wide")
        return lambda length: f"wide {length}"

    f = Widening(narrow, build)
    assert [f(2), f(4), f(1), f(5)] == ["narrow", "wide 4", "narrow", "wide 5"]
    assert built == ["wide"]


@pytest.mark.parametrize("device", DEVICES)
def test_a_comparison_with_a_row_that_an_argument_names(device: str) -> None:
    """The tests before a call were to read the number of the row, and did not compile."""
    a, x, row = T.matrix("a"), T.vector("x"), T.lscalar("row")
    f = symc.function([a, x, row], T.gt(x, a[row]), device=device)
    assert f(np.eye(3), np.full(3, 0.5), 1).tolist() == [True, False, True]
    assert f(np.eye(3), np.full(3, 0.5), -1).tolist() == [True, True, False]
