"""``mode="debug"``: every op of a compiled function checked, each time the function is called.

For each function two programs are compiled:

- one that stores the value of every node of the graph. Each is compared with the result of the op's
  `evaluate` makes of the stored values of its arguments: the first that differs is at fault, and
  errors of rounding do not add up;
- the one that other modes run, rewritten and fused. Its results must be those of the first. Where
  arrays are small, its loops are run by the interpreter of the loop IR as well, which checks that
  every access is in range and reads elements that have been written.

On the processor both are compiled with the sanitizers that there are. Each call is first made in a
process of its own, under AddressSanitizer (`guarded.py`): so a crash of a user's C is an error like
others. (Programs that exchange arrays with other processes are not run there.) On a device the
launches are waited for one by one, so that errors name the step; the simulator checks each access
itself.

Debug mode is for finding errors of symc, and of ops that users write; it is slow.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from symc.calls.modes import Runner, compiled, on_device
from symc.calls.spec import converter
from symc.checking.guarded import Guarded, runner
from symc.checking.sanitized import (
    explained,
    has_address_sanitizer,
    reported,
    reports_of,
    sanitizers,
)
from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.errors import IRError
from symc.codegen.meaning.interpret import Array as Flat
from symc.codegen.meaning.interpret import interpret
from symc.codegen.record import replace
from symc.codegen.targets.compiler import DEBUG_SYMBOLS
from symc.codegen.targets.named import target_of_device
from symc.errors import Mismatch
from symc.graph.bfloat16 import is_bfloat16, kind_of
from symc.graph.inputs import Constant, Input, Shared
from symc.graph.interpreter import compute
from symc.graph.node import Array, Op, Tensor
from symc.graph.request import Request
from symc.graph.walks import substitute, walk, walk_within
from symc.loops.scan import Part, Scan
from symc.pipeline.library import NO_CONTRACTION, target
from symc.rewrite.stabilise import stabilise
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import Elementwise
from symc.tensor.watch import Watch

SMALL = 4096  # elements: the interpreter of the loop IR takes some microseconds for each
# How far results may differ by the number of bytes of a real number: of one op, of all together.
ROUNDING = {2: (2e-2, 1e-1), 4: (1e-4, 1e-2), 8: (1e-9, 1e-6)}


def checked_runner(request: Request, form: str, downcast: Sequence[bool | None]) -> Runner:
    """The function that checks all it does."""
    checker = Checker(request, form, downcast)
    plain = checker.plain
    return Runner(checker, plain.compilation, plain.facts, plain.seconds, plain.hit, plain.folder)


class Checker:
    """A function in debug mode: call it with its arguments."""

    def __init__(self, request: Request, form: str, downcast: Sequence[bool | None]) -> None:
        self.request = request
        self.form = form
        self.convert = converter(request, downcast)
        self.roots = stabilise(_unwatched(request.roots()))
        self.nodes = [node for node in walk(self.roots) if _is_computed(node)]
        every = replace(
            request, name=f"{request.name}_every_node", outputs=tuple(self.nodes), updates=(),
            shared=tuple(n for n in request.shared if n in set(walk(self.nodes))),
            on_device=(False,) * len(self.nodes),
        )  # fmt: skip
        kept: list[bool | None] = [False] * len(request.inputs)
        self.every = _made(every, "compile", "list", kept)
        self.plain = _made(request, "default", form, downcast)
        alone = not any(node.op.is_collective for node in walk_within(request.roots()))
        on_host = request.device == "cpu" and not has_address_sanitizer() and alone
        self.runner = runner() if on_host else None
        programs = (every, "compile", self.every), (request, "default", self.plain)
        self.guarded = [
            Guarded(asked, mode, made.compilation, request.name)
            for asked, mode, made in programs
            if self.runner is not None and not made.facts["host_calls"]
        ]

    def __call__(self, *args: Any) -> Any:
        """One call, with everything checked; shared variables change only if all is well."""
        arrays = [self.convert(position, _on_host(value)) for position, value in enumerate(args)]
        before = [np.array(shared.op.evaluate()) for shared in self.request.shared]
        known: dict[Tensor, Array] = dict(zip(self.request.inputs, arrays, strict=True))
        known.update(zip(self.request.shared, before, strict=True))
        if self.runner is not None:
            for program in self.guarded:
                shared = [known[variable] for variable in program.request.shared]
                program.check(self.runner, arrays, shared)
        known.update(zip(self.nodes, self._watched(self.every, arrays), strict=True))
        self._check_ops(known)
        try:
            results = self._watched(self.plain, arrays)
            self._check_results(results, known)
            self._check_loops(arrays, before)
        except BaseException:
            for variable, value in zip(self.request.shared, before, strict=True):
                variable.op.replace(value)
            raise
        return results

    def _watched(self, program: Runner, arrays: Sequence[Array]) -> Any:
        """The results of a program; raises `Mismatch` for reports of sanitizers."""
        if self.request.device != "cpu":
            with _one_by_one(self.request.device):
                return program.call(*arrays)
        folder = str(program.folder)
        reports = reports_of(folder)
        with reported(reports):
            results = program.call(*arrays)
        if reports:
            text = "\n".join(explained(report, folder) for report in reports)
            raise Mismatch(f"the compiled code of {self.request.name} does what C forbids\n{text}")
        return results

    def _check_ops(self, known: dict[Tensor, Array]) -> None:
        """Each node against its op's `evaluate`, on the program's values of its arguments."""
        together: dict[Any, Callable[[Op], Array]] = {}
        for node in self.nodes:
            args = [_value(arg, known) for arg in node.args]
            with np.errstate(all="ignore"):
                right = compute(node, args, together)
            scale = 0.0 if isinstance(node.op, Elementwise) else _scale(args)
            found = known[node]
            if isinstance(node.op, Scan):
                found = _with_rows_not_done(found, right, node, together)
            one, other = (node.op.in_common(args, result) for result in (found, right))
            wrong = difference(one, other, scale, together=False)
            if wrong:
                given = "".join(
                    f"\n  from   {describe(arg)}, shape {value.shape}"
                    for arg, value in zip(node.args, args, strict=True)
                )
                raise Mismatch(
                    f"{node.op.label}, compiled, does not give what NumPy does: {wrong}\n"
                    f"  node   {describe(node)}{given}"
                )

    def _check_results(self, results: Any, known: dict[Tensor, Array]) -> None:
        """The results of the rewritten, fused program against the stored values."""
        found = [results] if self.form == "one" else list(results or ())
        found = [*map(_on_host, found), *(s.op.evaluate() for s, _ in self.request.updates)]
        for value, root, asked in zip(found, self.roots, self.request.roots(), strict=True):
            right = _value(root, known)
            wrong = difference(value, right, _scale([right]), together=True)
            if wrong:
                raise Mismatch(
                    f"rewritten and fused, the function gives something else: {wrong}\n"
                    f"  result {describe(asked)}"
                )

    def _check_loops(self, arrays: Sequence[Array], shared: Sequence[Array]) -> None:
        """The loops in the interpreter, where that is not for ever: it checks each access."""
        compilation = self.plain.compilation()
        program = compilation.optimised
        given = {"input": [*arrays], "shared": [*shared], "constant": [*compilation.constants]}
        elements = sum(array.size for group in given.values() for array in group)
        outside = ir.Routine | ir.PythonCall
        if elements > SMALL or any(isinstance(s, outside) for s in every_step(program.steps)):
            return
        flat = {
            buffer.name: _flat(given[buffer.role].pop(0))
            for buffer in program.buffers
            if buffer.role in given
        }
        try:
            interpret(program, flat)
        except IRError as error:
            raise Mismatch(f"a loop of {self.request.name} goes wrong: {error}") from error


def _made(request: Request, mode: str, form: str, downcast: Sequence[bool | None]) -> Runner:
    """A program, on the processor compiled with sanitizers."""
    if request.device == "cpu":
        options = (DEBUG_SYMBOLS, NO_CONTRACTION, *sanitizers())
        return compiled(request, mode, form, downcast, target(options=options))
    return on_device(request, mode, form, downcast)


@contextmanager
def _one_by_one(name: str) -> Generator[None]:
    """In the block, a device's launches are waited for, so that errors name the step."""
    if target_of_device(name) not in ("cuda", "opencl"):
        yield  # there is nothing to wait for
        return
    from symc.cuda.devices import device

    struct = device(name).struct
    before = struct.synchronous
    struct.synchronous = 1
    try:
        yield
    finally:
        struct.synchronous = before


def _on_host(value: Any) -> Any:
    """An array on a device as one of NumPy; everything else as it is."""
    return value.to_numpy() if hasattr(value, "to_numpy") else value


def _unwatched(roots: Sequence[Tensor]) -> list[Tensor]:
    """The graph without ops that print or stop: only the program itself is to do so."""
    watched = [node for node in walk(roots) if isinstance(node.op, Watch)]
    replaced: dict[Tensor, Tensor] = {}
    for node in watched:
        replaced[node] = substitute([node.args[0]], replaced)[0]
    return substitute(roots, replaced)


def _is_computed(node: Tensor) -> bool:
    return not isinstance(node.op, Input | Shared | Constant)


def _value(node: Tensor, known: dict[Tensor, Array]) -> Array:
    return node.op.value if isinstance(node.op, Constant) else known[node]


def _with_rows_not_done(
    found: Array, right: Array, node: Tensor, together: dict[Any, Callable[[Op], Array]]
) -> Array:
    """A loop's rows as a program has them; those of steps that it did not do, which are not
    specified, as they should be.
    """
    op = node.op
    assert isinstance(op, Scan)
    done = op.rows_done(int(together[(op.common(), *node.args)](replace(op, part=Part("count")))))
    if done is None or found.shape != right.shape:
        return found
    return np.concatenate([found[:done], right[done:]])


def _flat(array: Array) -> Flat:
    """An array as the interpreter of the loop IR takes it."""
    is_stored_as_bits = is_bfloat16(array.dtype)
    values: list[Any] = (array.view(np.uint16) if is_stored_as_bits else array).ravel().tolist()
    if array.dtype.kind == "c":
        values = [part for value in values for part in (value.real, value.imag)]
    return Flat(values, array.shape)


# --- comparing ------------------------------------------------------------------------------------


def _scale(args: Sequence[Array]) -> float:
    """The scale of rounding errors in a sum of products of these."""
    product = 1.0
    for arg in args:
        if kind_of(arg.dtype) in "fc" and arg.size:
            finite = np.abs(arg[np.isfinite(arg)].astype(np.complex128))
            product *= max(1.0, float(finite.max(initial=0.0)))
    return product


def difference(found: Array, right: Array, scale: float, *, together: bool) -> str:
    """The fault of an array, or "".

    Numbers that are not integers may differ by rounding, in proportion to their size and to
    `scale`; `together` says that the errors of many ops may have added up.
    """
    if found.shape != right.shape or found.dtype != right.dtype:
        return f"{found.dtype}{found.shape} instead of {right.dtype}{right.shape}"
    if kind_of(found.dtype) not in "fc":
        wrong = found != right
    else:
        parts = 2 if found.dtype.kind == "c" else 1
        one, all_ = ROUNDING[found.dtype.itemsize // parts]
        wide = np.complex128 if parts == 2 else np.float64
        a, b = found.astype(wide), right.astype(wide)
        with np.errstate(all="ignore"):
            size = np.abs(b)
            largest = float(size[np.isfinite(size)].max(initial=0.0))
            allowed = (all_ if together else one) * (size + scale + 1e-3 * largest)
            close = (np.abs(a - b) <= allowed) & np.isfinite(b)
        wrong = ~(close | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not np.any(wrong):
        return ""
    first = tuple(int(index) for index in np.argwhere(wrong)[0])
    count = f"{int(np.sum(wrong))} of {found.size} elements differ"
    where = f" at {first}" if first else ""
    return f"{found[first]} instead of {right[first]}{where}; {count}"


__all__ = ["Checker", "checked_runner", "difference"]
