"""The interface of targets: a language as a table, and a few functions that know a compiler.

`emit/` prints loop IR through a `Lang`; nothing in a `Lang` computes. A `Target` finds the
compiler, runs it, and loads its result; it knows nothing about tensors or caches. Whoever finds
or builds functions knows no more of a target than its protocol, and finds it by name: see `named`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from symc.codegen.ir import Program
from symc.codegen.record import record

if TYPE_CHECKING:
    from pathlib import Path

    from symc.codegen.dtypes import DType

Pass = Callable[[Program], Program]


@record
class DeviceWords:
    """The words of a language for the threads of a device; ``{cast}`` stands for a wide index."""

    first: Mapping[str, str]
    """Where a thread begins in a loop, by the loop's kind: grid, team or lane."""
    step: Mapping[str, str]
    """How far its next iteration is."""
    pointer: str
    """What stands before the type of a pointer to an array."""
    room: str
    """A further argument of functions that a team computes together."""


@record
class Lang:
    """One language of the C family: everything `emit/` needs to know about it."""

    name: str
    types: Mapping[str, str]  # by dtype name
    suffixes: Mapping[str, str]  # of literals, by dtype name
    infinity: Mapping[str, str]
    nan: Mapping[str, str]
    kernel: str  # the words before a kernel's name
    folds: str | None  # a macro between the two, where loops accumulate in vector registers
    narrow: str | None  # one for loops that the longest registers are not for
    choices: str | None  # one for vector loops that choose among results of functions
    folded_choices: str | None  # and one for kernels that `folds` and `choices` are for
    restrict: str
    local: str  # the text after the declaration of a local array
    simd: str
    parallel: str
    unroll: str
    truth: str | None  # a runtime function around bools that logic reads of memory
    choose: str | None  # runtime functions for floats that vectors choose by bytes of memory
    place: str | None  # a runtime function: an index, from the end if negative, outside of vectors
    is_place: str | None  # one that says whether an index of either kind is within a length
    thread: str  # a runtime function: the number of the thread that asks
    reserved: frozenset[str]  # names that a program's own names must not take
    functions: frozenset[str]  # that the compiler knows: names that kernels must not take
    device: DeviceWords | None = None  # for languages of devices

    def optimised(self, folds: bool, chooses: bool) -> str | None:
        """The macro for a kernel that folds in registers, chooses among results, or both.

        There is one at most: of two such attributes gcc heeds the last alone.
        """
        if folds and chooses:
            return self.folded_choices
        return self.choices if chooses else self.folds if folds else None


@record
class Source:
    """A program as text: the files that are compiled, by name, and facts for whoever calls it.

    Facts can be written as JSON.
    """

    files: tuple[tuple[str, str], ...]
    facts: Mapping[str, Any]

    @property
    def text(self) -> str:
        """All files, one after the other."""
        return "\n".join(text for _, text in self.files)

    @property
    def kernels(self) -> Mapping[str, str]:
        """The text of each kernel by its name in the program, where kernels have such texts."""
        return {}

    def file(self, name: str) -> str:
        """One file."""
        return dict(self.files)[name]


class Target(Protocol):
    """A language together with its compiler."""

    @property
    def name(self) -> str:
        """The name that it is found by."""
        ...

    @property
    def on_device(self) -> bool:
        """Whether arrays are in the memory of a device with thousands of threads."""
        ...

    @property
    def lang(self) -> Lang:
        """The table that programs for this target are printed through."""
        ...

    def available(self) -> bool:
        """Whether programs can be compiled here. Starts no process."""
        ...

    def has_routine(self, name: str) -> bool:
        """Whether programs can call this one of `codegen/routines.py`."""
        ...

    def computes(self, dtype: DType) -> bool:
        """Whether kernels have numbers of this dtype."""
        ...

    def passes(self) -> tuple[Pass, ...]:
        """The passes over a program before it is printed, in order."""
        ...

    def emit(self, program: Program) -> Source:
        """The text of a program that has been through the passes."""
        ...

    def describe(self, *, quick: bool = False) -> dict[str, str]:
        """Cache-key parts: everything besides the source that affects the binary, by name."""
        ...

    def compile(
        self, source: Source, folder: Path, *, quick: bool = False, home: str | None = None
    ) -> None:
        """Leave the compiled function and its source in `folder`, or raise `CompileFailed`.

        `home` is where the folder will be moved to. Equal texts give equal files: they are shared.
        """
        ...

    def load(self, folder: str | Path) -> Any:
        """Open the library that `compile` left in `folder`, for callers of this target.

        For a device without a caller of its own, that is a program to be called with NumPy arrays.
        """
        ...
