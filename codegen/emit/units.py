"""A program in C as its parts, and the translation units that compilers take side by side.

For whoever reads it, a program is one file. Starting gcc once more takes as long as compiling some
900 characters, so that a large program is compiled sooner in several units: its kernels are shared
out, and the last unit has the host functions and declarations of the kernels. Long routines of the
runtime can be units of their own, too (`runtime/routines.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from symc.codegen.encodable import encodable
from symc.codegen.record import record
from symc.codegen.runtime import load
from symc.codegen.runtime.routines import RoutineText, routine_text

KERNELS = "/* ---- kernels ---- */\n"
HOST = "/* ---- host ---- */\n"
ENOUGH = 2000  # characters of code in a unit
INLINED = "static inline __attribute__((always_inline)) void"
SHARED = '__attribute__((noinline, noipa, visibility("hidden"))) void'


@record
class KernelText:
    """A kernel as text."""

    kernel: str
    """Its name in the program."""
    note: str
    """The comment above it."""
    storage: str
    """The words before its name where all is in one file."""
    head: str
    """Its name and parameters."""
    body: str
    """The statements, with their braces and a last line break."""
    weight: int
    """The characters of code in it, which a compiler's time goes by."""
    inlined: bool = False
    """Whether it is compiled into the host function that calls it, and stands in its unit."""
    sections: tuple[KernelText, ...] = ()
    """The functions that parts of it have become."""

    @property
    def functions(self) -> tuple[KernelText, ...]:
        """Its functions, itself the last."""
        return (*self.sections, self)

    @property
    def text(self) -> str:
        """The function in a file that has all others, too, after its sections."""
        storage = INLINED if self.inlined else self.storage
        before = "\n".join([section.text for section in self.sections] + [""])
        return f"{before}{self.note}{storage} {self.head}\n{self.body}"

    @property
    def shared(self) -> str:
        """The function in a unit of its own."""
        return f"{self.note}{SHARED} {self.head}\n{self.body}"

    @property
    def declaration(self) -> str:
        """The declaration for the units that call it."""
        return f"{SHARED} {self.head};\n"


@record
class ProgramText:
    """The text of a program, in the parts from which units are made."""

    before: str
    """The runtime functions and declarations that kernels need."""
    kernels: tuple[KernelText, ...]
    helpers: str
    """The runtime functions that only the host functions need."""
    host: str
    parallel: bool
    """Whether anything in it runs on several threads."""
    names: tuple[str, ...]
    """Those of the helpers, without what these need."""
    present: tuple[str, ...]
    """Those of the runtime functions in `before`."""

    @property
    def text(self) -> str:
        """The whole program."""
        return self._in_one(self.helpers)

    def _in_one(self, helpers: str) -> str:
        kernels = [kernel.text for kernel in self.kernels]
        return encodable("\n".join([self.before, KERNELS, *kernels, HOST, helpers, self.host]))

    def routines(self) -> list[RoutineText]:
        """Those of its helpers that can be units, the same for every program."""
        there = load.needed(self.present)
        found = [routine_text(name) for name in self.names if name not in there]
        return [routine for routine in found if routine is not None]

    def _without(self, apart: Sequence[RoutineText]) -> str:
        """The helpers, and declarations in the place of those that are apart."""
        gone = {routine.name for routine in apart}
        kept = [name for name in self.names if name not in gone]
        declared = [routine.declaration for routine in apart]
        return "".join([load.source_of(kept, present=self.present), *declared])

    def units(self, most: int, apart: Sequence[RoutineText] = ()) -> list[str]:
        """Up to `most` units that take about as long to compile; the text if it is small.

        Routines that are linked with it, as they are units `apart`, are not in it.
        """
        helpers = self._without(apart) if apart else self.helpers
        kernels = [
            function
            for kernel in self.kernels
            if not kernel.inlined
            for function in kernel.functions
        ]
        if most < 2 or len(kernels) < 2:
            return [self._in_one(helpers)]
        inlined = [kernel.text for kernel in self.kernels if kernel.inlined]
        weights = [kernel.weight for kernel in kernels]
        extra = (load.code_length(helpers) + dense(self.host)) // 3  # few loops
        extra += sum(map(dense, inlined))
        count = min(most, (sum(weights) + extra) // ENOUGH, len(weights))
        if count < 2:
            return [self._in_one(helpers)]
        groups = shared_out(weights, [0] * (count - 1) + [extra])
        parts = [[kernels[number].shared for number in group] for group in groups]
        declarations = "".join(kernel.declaration for kernel in kernels)
        parts[-1] = [declarations, *parts[-1], *inlined, HOST, helpers, self.host]
        return [encodable("\n".join([self.before, *part])) for part in parts]


def dense(text: str) -> int:
    """The characters of a text that are no white space."""
    return sum(map(len, text.split()))


def shared_out(weights: list[int], filled: list[int]) -> list[list[int]]:
    """The numbers of these weights in groups that end up about as heavy.

    `filled` has the weight that each group begins with.
    """
    groups: list[list[int]] = [[] for _ in filled]
    totals = list(filled)
    for weight, number in sorted(((w, n) for n, w in enumerate(weights)), reverse=True):
        smallest = totals.index(min(totals))
        groups[smallest].append(number)
        totals[smallest] += weight
    return groups
