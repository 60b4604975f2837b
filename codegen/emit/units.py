"""A program in C as its parts, and the translation units that compilers take side by side.

For whoever reads it, a program is one file. Starting gcc once more takes as long as compiling some
900 characters, so that a large program is compiled sooner in several units: its kernels are shared
out, and the last unit has the host functions and declarations of the kernels.
"""

from __future__ import annotations

from symc.codegen.encodable import encodable
from symc.codegen.record import record
from symc.codegen.runtime import load

KERNELS = "/* ---- kernels ---- */\n"
HOST = "/* ---- host ---- */\n"
ENOUGH = 2000  # characters of code in a unit
INLINED = "static inline __attribute__((always_inline)) void"
SHARED = '__attribute__((noinline, visibility("hidden"))) void'


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

    @property
    def text(self) -> str:
        """The whole program."""
        kernels = [kernel.text for kernel in self.kernels]
        return encodable("\n".join([self.before, KERNELS, *kernels, HOST, self.after]))

    @property
    def after(self) -> str:
        """All that comes after the kernels."""
        return f"{self.helpers}\n{self.host}"

    def units(self, most: int) -> list[str]:
        """Up to `most` units that take about as long to compile; the text if it is small."""
        kernels = [
            function
            for kernel in self.kernels
            if not kernel.inlined
            for function in kernel.functions
        ]
        if most < 2 or len(kernels) < 2:
            return [self.text]
        inlined = [kernel.text for kernel in self.kernels if kernel.inlined]
        weights = [kernel.weight for kernel in kernels]
        extra = (load.code_length(self.helpers) + dense(self.host)) // 3  # few loops
        extra += sum(map(dense, inlined))
        count = min(most, (sum(weights) + extra) // ENOUGH, len(weights))
        if count < 2:
            return [self.text]
        groups = shared_out(weights, [0] * (count - 1) + [extra])
        parts = [[kernels[number].shared for number in group] for group in groups]
        declarations = "".join(kernel.declaration for kernel in kernels)
        parts[-1] = [declarations, *parts[-1], *inlined, HOST, self.after]
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
