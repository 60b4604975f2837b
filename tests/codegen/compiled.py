"""Compile a hand-made program and call it, for the tests of the C target and of the call path."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from symc.calls.call import Caller, Cell, Form
from symc.calls.python_call import PythonCaller
from symc.calls.spec import CallSpec
from symc.codegen.emit.program import emit_text
from symc.codegen.targets.c import CTarget
from symc.codegen.targets.c_language import C

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symc.codegen.dtypes import DType
    from symc.codegen.ir import Program
    from symc.codegen.targets.library import Library

Array = npt.NDArray[Any]
NESTING = 256  # brackets in brackets that clang takes
STRICT = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unknown-pragmas")


class Failed(Exception):
    """A check of a program failed: the code, and the arguments."""

    def __init__(self, code: int, arrays: tuple[object, ...]) -> None:
        super().__init__(code, arrays)
        self.code = code
        self.arrays = arrays


def failed(code: int, arrays: tuple[object, ...]) -> NoReturn:
    raise Failed(code, arrays)


def number(dtype: DType) -> int:
    """NumPy's number of a type."""
    return np.dtype(dtype.name).num


def build(program: Program, *, quick: bool = True) -> Library:
    """The compiled program, in a folder that stays until the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="symc-test-"))
    target = CTarget()
    target.compile_text(emit_text(program, C), folder, quick=quick)
    return target.load(folder)


def caller(
    program: Program,
    library: Library,
    *,
    kind: type[PythonCaller] = Caller,
    shared: Sequence[Cell] = (),
    constants: Sequence[Array] = (),
    rebind: Sequence[tuple[int, Cell]] = (),
    returns: tuple[int, Form] | None = None,
    threads: int = 1,
    tiny: bool = False,
    pure: bool = False,
    fixed: Sequence[tuple[int, ...] | None] | None = None,
    convert: Any = None,
    given: int = -1,
) -> PythonCaller:
    """A compiled program that can be called with its inputs. It converts inputs as NumPy does."""
    inputs = [b for b in program.buffers if b.role == "input"]
    outputs = [b for b in program.buffers if b.role == "output"]

    def asarray(index: int, value: object) -> Array:
        return np.array(value, inputs[index].dtype.name, order="C", ndmin=len(inputs[index].shape))

    spec = CallSpec(
        library.prepare,
        library.run,
        library.counts,
        tuple(
            (number(b.dtype), len(b.shape), fixed[place] if fixed else None)
            for place, b in enumerate(inputs)
        ),
        tuple(shared),
        tuple(constants),
        tuple((number(b.dtype), len(b.shape), given) for b in outputs),
        convert or asarray,
        failed,
        tuple(rebind),
        returns or (len(outputs), "list"),
    )
    return kind(spec, threads=threads, tiny=tiny, pure=pure, keep=library)


def run(program: Program, *args: object, threads: int = 1, quick: bool = True) -> list[Any]:
    """Compile and call a program once."""
    result: list[Any] = caller(program, build(program, quick=quick), threads=threads)(*args)
    return result


def nesting(source: str) -> int:
    """How many brackets are open at once, at most."""
    steps = (1 if c in "([{" else -1 for c in source if c in "()[]{}")
    return max(itertools.accumulate(steps))
