"""``mode="debug"``: every op of a compiled function checked, each time the function is called.

For each function two programs are compiled, with the sanitizers that there are:

- one that stores the value of every node of the graph. Each is compared with what the op's
  `evaluate` makes of the stored values of its arguments: the first that differs is at fault, and
  errors of rounding do not add up;
- the one that other modes run, rewritten and fused. Its results must be those of the first. Where
  arrays are small, its loops are run by the interpreter of the loop IR as well, which checks that
  every access is in range and reads what has been written.

Debug mode is for finding errors of symc, and of ops that users write; it is slow.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.errors import IRError
from symc.codegen.interpret import Array as Flat
from symc.codegen.interpret import interpret
from symc.codegen.targets.c import DEBUG_SYMBOLS
from symc.codegen.targets.compiler import find_compiler, is_gcc
from symc.errors import FunctionError, Mismatch
from symc.evaluate import compute
from symc.graph import Array, Op, Tensor, substitute, walk
from symc.inputs import Constant, Input, Shared
from symc.library import target
from symc.modes import Runner, compiled, converter
from symc.request import Request
from symc.rewrite.pipeline import stabilise
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import Elementwise
from symc.tensor.watch import Watch

SMALL = 4096  # elements: the interpreter of the loop IR takes some microseconds for each
# How far results may differ by the number of bytes of a real number: of one op, of all together.
ROUNDING = {2: (2e-2, 1e-1), 4: (1e-4, 1e-2), 8: (1e-9, 1e-6)}
NO_CONTRACTION = "-ffp-contract=off"


def checked_runner(request: Request, form: str, downcast: Sequence[bool | None]) -> Runner:
    """The function that checks all it does."""
    if request.device != "cpu":
        raise FunctionError(f'mode="debug" checks functions on the processor, not {request.device}')
    checker = Checker(request, form, downcast)
    plain = checker.plain
    return Runner(checker, plain.stages, plain.facts, plain.seconds, plain.hit, plain.folder)


class Checker:
    """A function in debug mode: call it with its arguments."""

    def __init__(self, request: Request, form: str, downcast: Sequence[bool | None]) -> None:
        self.request = request
        self.form = form
        self.convert = converter(request, downcast)
        self.roots = stabilise(_unwatched(request.roots()))
        self.nodes = [node for node in walk(self.roots) if _is_computed(node)]
        options = (DEBUG_SYMBOLS, NO_CONTRACTION, *sanitizers())
        every = replace(
            request, name=f"{request.name}_every_node", outputs=tuple(self.nodes), updates=(),
            shared=tuple(n for n in request.shared if n in set(walk(self.nodes))),
        )  # fmt: skip
        kept: list[bool | None] = [False] * len(request.inputs)
        self.every = compiled(every, "compile", "list", kept, target(options))
        self.plain = compiled(request, "default", form, downcast, target(options))
        self.reports: list[str] = []

    def __call__(self, *args: Any) -> Any:
        """One call, with everything checked; shared variables change only if all is well."""
        arrays = [self.convert(position, value) for position, value in enumerate(args)]
        before = [np.array(shared.op.cell[0]) for shared in self.request.shared]
        known: dict[Tensor, Array] = dict(zip(self.request.inputs, arrays, strict=True))
        known.update(zip(self.request.shared, before, strict=True))
        with reported(self.reports):
            known.update(zip(self.nodes, self.every.call(*arrays), strict=True))
        self._raise_reports()
        self._check_ops(known)
        try:
            with reported(self.reports):
                results = self.plain.call(*arrays)
            self._raise_reports()
            self._check_results(results, known)
            self._check_loops(arrays, before)
        except BaseException:
            for shared, value in zip(self.request.shared, before, strict=True):
                shared.op.replace(value)
            raise
        return results

    def _check_ops(self, known: dict[Tensor, Array]) -> None:
        """Each node against its op's `evaluate`, on what the program has for its arguments."""
        together: dict[Any, Callable[[Op], Array]] = {}
        for node in self.nodes:
            args = [_value(arg, known) for arg in node.args]
            with np.errstate(all="ignore"):
                right = compute(node, args, together)
            scale = 0.0 if isinstance(node.op, Elementwise) else _scale(args)
            wrong = difference(known[node], right, scale, together=False)
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
        """What the rewritten, fused program gives against the stored values."""
        found = [results] if self.form == "one" else list(results or ())
        found += [shared.op.cell[0] for shared, _ in self.request.updates]
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
        stages = self.plain.stages()
        program = stages.optimised
        given = {"input": [*arrays], "shared": [*shared], "constant": [*stages.constants]}
        elements = sum(array.size for group in given.values() for array in group)
        outside = ir.Routine | ir.Host
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

    def _raise_reports(self) -> None:
        """Raises what sanitizers said, in this call or before: they say it once only."""
        if self.reports:
            text = "\n  ".join(self.reports)
            raise Mismatch(
                f"the compiled code of {self.request.name} does what C forbids:\n  {text}"
            )


def _unwatched(roots: Sequence[Tensor]) -> list[Tensor]:
    """The graph without what prints or stops: only the program itself is to do so."""
    watched = [node for node in walk(roots) if isinstance(node.op, Watch)]
    replaced: dict[Tensor, Tensor] = {}
    for node in watched:
        replaced[node] = substitute([node.args[0]], replaced)[0]
    return substitute(roots, replaced)


def _is_computed(node: Tensor) -> bool:
    return not isinstance(node.op, Input | Shared | Constant)


def _value(node: Tensor, known: dict[Tensor, Array]) -> Array:
    return node.op.value if isinstance(node.op, Constant) else known[node]


def _flat(array: Array) -> Flat:
    """An array as the interpreter of the loop IR takes it."""
    values: list[Any] = array.ravel().tolist()
    if array.dtype.kind == "c":
        values = [part for value in values for part in (value.real, value.imag)]
    return Flat(values, array.shape)


# --- comparing ------------------------------------------------------------------------------------


def _scale(args: Sequence[Array]) -> float:
    """What errors of rounding of a sum of products of these are in proportion to."""
    product = 1.0
    for arg in args:
        if arg.dtype.kind in "fc" and arg.size:
            finite = np.abs(arg[np.isfinite(arg)].astype(np.complex128))
            product *= max(1.0, float(finite.max(initial=0.0)))
    return product


def difference(found: Array, right: Array, scale: float, *, together: bool) -> str:
    """What is wrong with an array, or "".

    Numbers that are not integers may differ by rounding, in proportion to their size and to
    `scale`; `together` says that the errors of many ops may have added up.
    """
    if found.shape != right.shape or found.dtype != right.dtype:
        return f"{found.dtype}{found.shape} instead of {right.dtype}{right.shape}"
    if found.dtype.kind not in "fc":
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


# --- sanitizers -----------------------------------------------------------------------------------


@functools.cache
def sanitizers() -> tuple[str, ...]:
    """The options of the sanitizers that can be used in this process.

    That for undefined behaviour, where gcc has its library. That for addresses must be there from
    the beginning: ``LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0``.
    """
    import subprocess

    found = find_compiler()
    if found is None or not is_gcc(found):
        return ()
    command = [*found.command, "-print-file-name=libubsan.so"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    undefined = ("-fsanitize=undefined",) if os.sep in said else ()
    return (*undefined, *(("-fsanitize=address",) if _has_address_sanitizer() else ()))


def _has_address_sanitizer() -> bool:
    import ctypes

    return hasattr(ctypes.CDLL(None), "__asan_init")


@contextmanager
def reported(reports: list[str]) -> Generator[None]:
    """What sanitizers write to standard error in the block is added to the reports."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            for line in file.read().decode(errors="replace").splitlines(keepends=True):
                if "runtime error:" in line:
                    reports.append(line.strip())
                else:
                    os.write(2, line.encode())


__all__ = ["Checker", "checked_runner", "difference", "reported", "sanitizers"]
