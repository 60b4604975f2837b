"""A target whose compiler keeps the program as it is: functions are run by the interpreter."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from symc.codegen.dtypes import DType
from symc.codegen.errors import CompileFailed
from symc.codegen.ir import Buffer, Program
from symc.codegen.meaning.interpret import Array as Flat
from symc.codegen.meaning.interpret import interpret
from symc.codegen.passes.order import PASSES
from symc.codegen.record import record
from symc.codegen.status import Status
from symc.codegen.targets.base import Lang, Pass, Source
from symc.codegen.targets.c_language import C
from symc.codegen.targets.named import announce
from symc.codegen.text import text
from symc.graph.node import Array
from symc.graph.types import to_numpy
from tests.fuzz.opinions import ROUTINES

announce("toy", __name__, "ToyTarget")


@record
class ToyTarget:
    """All that `Target` asks for. Its compiler refuses programs of more than `most` lines."""

    memo: object = None
    most: int = 1000
    name: str = "toy"
    on_device: bool = False
    lang: Lang = C

    def available(self) -> bool:
        """Always."""
        return True

    def has_routine(self, name: str) -> bool:
        """Those that tests have in Python; other ops are computed in loops, or call Python."""
        return name in ROUTINES

    def computes(self, dtype: DType) -> bool:
        """All of them."""
        del dtype
        return True

    def passes(self) -> tuple[Pass, ...]:
        """Those of C."""
        return PASSES

    def emit(self, program: Program) -> Source:
        """The program as text for people, and as text for `load`."""
        kept = base64.b64encode(pickle.dumps(program)).decode("ascii")
        return Source((("program.txt", text(program)), ("program.pickle", kept)), {"toy": True})

    def describe(self, *, quick: bool = False) -> dict[str, str]:
        """The parts of a cache key."""
        return {"compiler": "toy", "quick": str(quick)}

    def compile(
        self, source: Source, folder: Path, *, quick: bool = False, home: str | None = None
    ) -> None:
        """Writes the files."""
        del quick, home
        lines = source.file("program.txt").count("\n")
        if lines > self.most:
            raise CompileFailed(source.text, ["toy"], f"{lines} lines are too many")
        for name, content in source.files:
            (folder / name).write_text(content, encoding="utf-8")

    def load(self, folder: str | Path) -> Interpreted:
        """The program again."""
        kept = Path(folder, "program.pickle").read_text(encoding="ascii")
        return Interpreted(pickle.loads(base64.b64decode(kept)))


class Interpreted:
    """A program that can be called with arrays: it `RunsOnArrays`."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __call__(self, arrays: Sequence[Array]) -> tuple[int, list[Array]]:
        """The status, and the outputs; shared variables are written in place."""
        roles = [b for b in self.program.buffers if b.role in ("input", "shared", "constant")]
        given = dict(zip((buffer.name for buffer in roles), arrays, strict=True))
        flat = {name: Flat(array.ravel().tolist(), array.shape) for name, array in given.items()}
        result = interpret(self.program, flat, routines=ROUTINES)
        if result.status != Status.DONE:
            return result.status, []

        def array(buffer: Buffer) -> Array:
            made = result.arrays[buffer.name]
            return np.array(made.values, to_numpy(buffer.dtype)).reshape(made.shape)

        for buffer in roles:
            if buffer.role == "shared":
                given[buffer.name][...] = array(buffer)
        return result.status, [array(b) for b in self.program.buffers if b.role == "output"]
