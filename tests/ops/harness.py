"""One check for any function of tensors: values, gradients, forward mode, batching, compiled code.

NumPy is the oracle for values; central differences in float64 for derivatives. The tolerance of a
difference quotient follows from its step: with step h = eps^(1/3) the truncation and rounding
errors are both of order eps^(2/3) ~ 4e-11 times the size of the third derivative and of the values,
for which 1e3 is allowed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

import symc
from symc import tensor as T
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from symc.saved.document import Document, nodes_of
from tests.fenced import fenced
from tests.near import assert_near, size_of

STEP = np.finfo(np.float64).eps ** (1 / 3)
TOLERANCE = 1e3 * np.finfo(np.float64).eps ** (2 / 3)


def inputs_for(arrays: Sequence[Any], static: bool = False) -> list[Tensor]:
    """Symbolic inputs that fit the arrays; lengths of 1 are static so that they broadcast."""
    made = []
    for number, array in enumerate(arrays):
        array = np.asarray(array)
        shape = tuple(n if static or n == 1 else None for n in array.shape)
        made.append(T.tensor(array.dtype.name, shape, name=f"x{number}"))
    return made


def check(
    build: Callable[..., Any],
    *arrays: Any,
    oracle: Callable[..., Any] | None = None,
    grad: bool = True,
    compiled: bool = True,
    rtol: float = 1e-13,
    static: bool = False,
    mode: str = "compile",
    saves: bool = True,
) -> None:
    """Checks ``build(*tensors)`` on these arrays.

    `oracle` (default: none, so that only consistency is checked) gives the expected value(s) from
    the arrays. Gradients are checked with respect to every argument of float64 or complex128 unless
    `grad` is False. Unless `saves` is False, it is also checked that files can hold the graph.
    """
    arrays = tuple(np.asarray(a) for a in arrays)
    symbols = inputs_for(arrays, static)
    outputs = build(*symbols)
    outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    if saves:
        check_document(outputs)
    values = evaluate(outputs, dict(zip(symbols, arrays, strict=True)))
    if oracle is not None:
        with np.errstate(all="ignore"):
            expected = oracle(*arrays)
        expected = list(expected) if isinstance(expected, list | tuple) else [expected]
        assert len(expected) == len(values)
        for value, wanted in zip(values, expected, strict=True):
            same(value, np.asarray(wanted), rtol)
    inputs, given = list(symbols), list(arrays)
    wanted_of = [(value, rtol) for value in values]
    wrt = [i for i, a in enumerate(arrays) if is_wide(a) and a.size]
    if grad and wrt:
        for output, value in list(zip(outputs, values, strict=True)):
            if is_wide(value) and value.size:
                us, u, pulled, bars = check_derivatives(output, symbols, arrays, wrt)
                inputs.append(us)
                given.append(u)
                outputs += pulled
                wanted_of += [(bar, max(rtol, 1e-12)) for bar in bars]
    if compiled:  # values and gradients in one function: compiling takes most of the time here
        function = symc.function(inputs, outputs, mode=mode, on_unused_input="ignore")
        for results in called(function, given):
            for value, (wanted, tolerance) in zip(results, wanted_of, strict=True):
                same(value, wanted, tolerance)


def check_document(outputs: Sequence[Tensor]) -> None:
    """Checks that the graph can be written to a file: reading gives the same, interned, nodes."""
    document = Document()
    numbers = document.add(outputs)
    entries = json.loads(json.dumps(document.nodes, allow_nan=False))
    nodes = nodes_of(entries, document.leaves, document.arrays)
    assert all(nodes[n] is output for n, output in zip(numbers, outputs, strict=True))


def called(function: symc.Function, given: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The results of calls: one on the processor, one in each order of threads on the simulator.

    On the processor nothing beyond the ends of the arguments can be read. Kernels that the
    simulator runs are also compiled by NVRTC, if it is installed.
    """
    if function.device != "cuda:sim":
        yield function(*map(fenced, given))
        return
    from tests.cuda.devices import check_with_nvrtc, orders  # late: few runs need a device

    check_with_nvrtc(function)
    for order in orders(function.device):
        with order:
            yield function(*given)


def once(function: symc.Function, given: Sequence[Any], *, backwards: bool) -> Sequence[Any]:
    """The results of one call that changes shared variables, in one of the orders of threads."""
    if function.device != "cuda:sim":
        results: Sequence[Any] = function(*given)
        return results
    from tests.cuda.devices import check_with_nvrtc, orders  # late, as above

    check_with_nvrtc(function)
    with orders(function.device)[backwards]:
        return list(function(*given))


def same(value: Any, wanted: Any, rtol: float) -> None:
    """Equal dtype, shape and elements: exactly for integers, within `rtol` for float64.

    Complex numbers are compared as such, not by their parts.
    """
    value, wanted = np.asarray(value), np.asarray(wanted)
    assert value.dtype == wanted.dtype, (value.dtype, wanted.dtype)
    assert value.shape == wanted.shape, (value.shape, wanted.shape)
    if wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(value, wanted)
        return
    loose = {"f2": 2e-3, "f4": 2e-6, "c8": 2e-6}.get(wanted.dtype.str[1:], rtol)
    assert_near(value, wanted, loose, loose * size_of(wanted) * 1e-2)


def is_wide(array: Any) -> bool:
    """Whether differences of an array's elements are exact enough for checking derivatives."""
    return bool(array.dtype == np.float64 or array.dtype == np.complex128)


def random_like(rng: np.random.Generator, array: Any) -> Any:
    """Normal random numbers of an array's shape, complex if it is."""
    values = rng.standard_normal(array.shape)
    return values + 1j * rng.standard_normal(array.shape) if array.dtype.kind == "c" else values


def product(left: Tensor, right: Any) -> Tensor:
    """The inner product of the space of gradients: pairs of reals for complex numbers."""
    return T.sum(T.real(T.conj(left) * right))


def check_derivatives(
    output: Tensor,
    symbols: Sequence[Tensor],
    arrays: Sequence[Any],
    wrt: Sequence[int],
) -> tuple[Tensor, Any, list[Tensor], list[Any]]:
    """Reverse, forward, second order and Jacobian against central differences.

    Returns a tensor for the pulled-back gradient and its value, and the gradients and theirs.
    """
    rng = np.random.default_rng(zlib.crc32(repr([a.shape for a in arrays]).encode()))
    values = dict(zip(symbols, arrays, strict=True))
    value = evaluate([output], values)[0]
    shape = value.shape
    u = random_like(rng, value)
    along = {i: random_like(rng, arrays[i]) for i in wrt}

    def moved(step: float) -> dict[Tensor, Any]:
        return {s: a + step * along[i] if i in along else a
                for i, (s, a) in enumerate(zip(symbols, arrays, strict=True))}  # fmt: skip

    # First order: <u, J v> three ways.
    high, low = (evaluate([output], moved(s))[0] for s in (STEP, -STEP))
    wanted = float(np.real((high - low) * np.conj(u)).sum() / (2 * STEP))
    targets = [symbols[i] for i in wrt]
    us = T.tensor(value.dtype, (None,) * len(shape), name="u")
    pulled = symc.Lop(output, targets, us, disconnected="zero")
    inner = reduce(add, (product(g, along[i]) for g, i in zip(pulled, wrt, strict=True)))
    pushed = symc.Rop(output, targets, [T.constant(along[i]) for i in wrt], disconnected="zero")
    got = evaluate([inner, product(us, pushed), *pulled], {**values, us: u})
    size = float(np.abs(u).sum() * max(1.0, np.abs(high).max())) + abs(wanted)
    assert np.isfinite(size), "derivatives cannot be checked where there are infinities"
    assert abs(got[0] - wanted) <= TOLERANCE * size, ("reverse", got[0], wanted)
    assert abs(got[1] - wanted) <= TOLERANCE * size, ("forward", got[1], wanted)
    for g, i in zip(got[2:], wrt, strict=True):
        assert g.shape == arrays[i].shape, ("gradient's shape", g.shape, arrays[i].shape)

    # Second order: the directional derivative of the first.
    second = symc.grad(inner, targets, disconnected="zero")
    probe = reduce(add, (product(h, along[i]) for h, i in zip(second, wrt, strict=True)))
    high2, low2 = (evaluate([inner], {**moved(s), us: u})[0] for s in (STEP, -STEP))
    wanted2 = float((high2 - low2) / (2 * STEP))
    got2 = float(evaluate([probe], {**values, us: u})[0])
    size2 = float(size + abs(high2) + abs(wanted2))
    assert np.isfinite(size2), "nor second ones"
    assert abs(got2 - wanted2) <= 10 * TOLERANCE * size2, ("second order", got2, wanted2)

    # The whole Jacobian in one batched pass against one pass for each row.
    if u.size <= 64 and u.dtype.kind != "c":
        whole = evaluate(symc.jacobian(output, targets, disconnected="zero"), values)
        for k, (matrix, i) in enumerate(zip(whole, wrt, strict=True)):
            assert matrix.shape == shape + arrays[i].shape
            rows = []
            for flat in range(u.size):
                unit = np.zeros(u.size)
                unit[flat] = 1.0
                rows.append(evaluate([pulled[k]], {**values, us: unit.reshape(shape)})[0])
            np.testing.assert_allclose(
                matrix.reshape(u.size, -1), np.reshape(rows, (u.size, -1)), rtol=1e-12, atol=1e-12
            )
    return us, u, list(pulled), list(got[2:])
