"""A function's loop IR run by its interpreter: the third opinion beside NumPy and compiled C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symc.calls.callable import Function
from symc.codegen.blocks import every_step
from symc.codegen.ir import Pointer, Program, PythonCall, Routine
from symc.codegen.meaning.interpret import Array as Flat
from symc.codegen.meaning.interpret import View, interpret
from symc.graph.node import Array
from symc.graph.request import Request
from symc.graph.types import to_numpy
from symc.pipeline.compile import Compilation


def gemm(
    trans_a: int, trans_b: int, m: int, n: int, k: int, alpha: float, a: View, lda: int, b: View,
    ldb: int, beta: float, c: View, ldc: int,
) -> None:  # fmt: skip
    """``c = alpha * a @ b + beta * c`` on flat lists, as `codegen/routines.py` says."""
    for i in range(m):
        for j in range(n):
            total = 0.0
            for p in range(k):
                left = a.values[a.offset + (p * lda + i if trans_a else i * lda + p)]
                right = b.values[b.offset + (j * ldb + p if trans_b else p * ldb + j)]
                total += left * right
            place = c.offset + i * ldc + j
            c.values[place] = alpha * total + (beta * c.values[place] if beta else 0.0)


def batched_gemm(batch: int, *args: Any) -> None:
    """Many of the above, `stride` elements apart."""
    *rest, stride_a, stride_b, stride_c = args
    for number in range(batch):
        moved = list(rest)
        for position, stride in ((6, stride_a), (8, stride_b), (11, stride_c)):
            view = moved[position]
            moved[position] = View(view.values, view.offset + number * stride)
        gemm(*moved)


def gemv(
    trans: int, m: int, n: int, alpha: float, a: View, lda: int, x: View, beta: float, y: View
) -> None:
    """``y = alpha * a @ x + beta * y`` where a has m rows and n columns."""
    rows, columns = (n, m) if trans else (m, n)
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            place = j * lda + i if trans else i * lda + j
            total += a.values[a.offset + place] * x.values[x.offset + j]
        old = y.values[y.offset + i]
        y.values[y.offset + i] = alpha * total + (beta * old if beta else 0.0)


def ger(m: int, n: int, alpha: float, x: View, y: View, a: View, lda: int) -> None:
    """``a += alpha * outer(x, y)``."""
    for i in range(m):
        for j in range(n):
            a.values[a.offset + i * lda + j] += (
                alpha * x.values[x.offset + i] * y.values[y.offset + j]
            )


def dot(n: int, x: View, y: View, result: View) -> None:
    """``result = x @ y``."""
    pairs = zip(x.values[x.offset : x.offset + n], y.values[y.offset : y.offset + n], strict=True)
    result.values[result.offset] = sum((p * q for p, q in pairs), 0.0)


def copy_bytes(target: View, source: View, count: int) -> None:
    """Copies elements, which have 8 bytes each in all tests that come here."""
    for i in range(count // 8):
        target.values[target.offset + i] = source.values[source.offset + i]


def flat_nonzero(mask: View, n: int, count: int, places: View) -> None:
    """The positions of the true ones."""
    true = [i for i in range(n) if mask.values[mask.offset + i]]
    assert len(true) == count
    places.values[places.offset : places.offset + count] = true


ROUTINES: dict[str, Callable[..., None]] = {
    f"{function.__name__}_{kind}": function
    for function in (gemm, batched_gemm, gemv, ger, dot)
    for kind in ("f32", "f64")
} | {"copy_bytes": copy_bytes, "flat_nonzero": flat_nonzero}


def run_program(
    program: Program, compilation: Compilation, arguments: Sequence[Array], shared: Sequence[Array],
    *, backwards: bool = False,
) -> tuple[list[Array], dict[str, Array]]:  # fmt: skip
    """The output buffers in order, and the shared ones by name, after one call."""
    given = {
        "input": list(arguments), "shared": list(shared), "constant": list(compilation.constants),
    }  # fmt: skip
    arrays: dict[str, Flat] = {}
    for buffer in program.buffers:
        if buffer.role in given:
            array = np.asarray(given[buffer.role].pop(0))
            arrays[buffer.name] = Flat(array.ravel().tolist(), array.shape)
    assert not any(given.values()), "the program has fewer buffers than there are arrays"
    result = interpret(program, arrays, routines=ROUTINES, backwards=backwards)
    assert result.status == 0, f"check {result.status} failed"

    def array_of(buffer: Any) -> Array:
        found = result.arrays[buffer.name]
        assert None not in found.values, f"{buffer.name} was not written everywhere"
        with np.errstate(all="ignore"):
            return np.array(found.values, to_numpy(buffer.dtype)).reshape(found.shape)

    outputs = [array_of(buffer) for buffer in program.buffers if buffer.role == "output"]
    changed = {b.name: array_of(b) for b in program.buffers if b.role == "shared"}
    return outputs, changed


def interpreted(
    function: Function, arguments: Sequence[Array], *, optimised: bool, backwards: bool = False
) -> list[Array]:
    """The results of a compiled function, then the new values of its shared variables."""
    made = function.runner.compilation()
    return results_of(made, function.request, arguments, optimised=optimised, backwards=backwards)


def results_of(
    made: Compilation, request: Request, arguments: Sequence[Array], *, optimised: bool,
    backwards: bool = False,
) -> list[Array]:  # fmt: skip
    """The same of a compilation."""
    program = made.optimised if optimised else made.program
    values = [variable.get_value() for variable in request.shared]
    outputs, changed = run_program(program, made, arguments, values, backwards=backwards)
    names = [buffer.name for buffer in program.buffers if buffer.role == "shared"]
    fresh = iter(outputs[len(request.outputs) :])
    news = [
        changed[names[request.shared.index(variable)]] if variable in made.in_place else next(fresh)
        for variable, _ in request.updates
    ]
    return [*outputs[: len(request.outputs)], *news]


def is_known(program: Program) -> bool:
    """Whether a program calls only routines that there are here, and nothing in Python."""
    bytes_of = {buffer.name: buffer.dtype.bytes for buffer in program.buffers}
    for step in every_step(program.steps):
        match step:
            case Routine("copy_bytes", (Pointer(target), *_)) if bytes_of[target] != 8:
                return False
            case Routine(name) if name not in ROUTINES:
                return False
            case PythonCall():
                return False
            case _:
                pass
    return True
