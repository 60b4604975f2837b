"""Units of a program in C: compiled side by side, and linked with the routines that it calls.

    units -------------------------------> objects --+
    routines that are kept: their objects -----------+--> the library
    routines that are not:  compiled with the units -+
                            and kept for the next program

A process that needs a routine which another one compiles just now does not wait for it: who is
there first is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.record import record
from symc.codegen.runtime.routines import RoutineText, sharing, unit_of
from symc.codegen.targets import compiler
from symc.codegen.targets.platforms import PLATFORM
from symc.codegen.targets.processes import run_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Protocol

    from symc.codegen.targets.compiler import Compiler

    class Objects(Protocol):
        """Where compiled units are kept, for their text and what else their objects depend on."""

        def take(self, unit: str, facts: Mapping[str, str], to: Path) -> bool:
            """Whether the object of a unit is kept, and has been put there."""
            ...

        def keep(self, unit: str, facts: Mapping[str, str], made: Path) -> None:
            """Keep an object, if that is possible."""
            ...

        def __hash__(self) -> int: ...


BINARY = PLATFORM.library("function")


@record
class Linking:
    """What units are compiled with, and where: the options of all, and libraries."""

    found: Compiler
    options: tuple[str, ...]
    libraries: tuple[str, ...]
    folder: Path

    def link(
        self,
        units: Sequence[str],
        routines: Sequence[RoutineText],
        objects: Objects | None,
        facts: Mapping[str, str],
    ) -> None:
        """Leave a library of these units and routines in the folder, and nothing else."""
        files = {routine.name: self.folder / f"{routine.name}.o" for routine in routines}
        try:
            missing = [
                routine
                for routine in routines
                if objects is None or not objects.take(routine.unit, facts, files[routine.name])
            ]
            kept = [files[routine.name].name for routine in routines if routine not in missing]
            # On one processor, to begin a unit more takes time, and nothing is done side by side.
            groups = sharing(missing) if compiler.cores() > 1 else [missing] if missing else []
            self.compile(units, {group[0].name: unit_of(group) for group in groups}, kept)
            if objects is not None:
                for group in groups:
                    for routine in group:
                        objects.keep(routine.unit, facts, files[group[0].name])
        finally:
            for file in files.values():
                file.unlink(missing_ok=True)

    def compile(
        self, units: Sequence[str], routines: Mapping[str, str], objects: Sequence[str]
    ) -> None:
        """Compile units and routines side by side, and link them with objects that are there."""
        named = {f"unit{number}": unit for number, unit in enumerate(units)}
        every = {**named, **routines}
        for name, text in every.items():
            (self.folder / f"{name}.c").write_text(text, encoding="utf-8")
        shared = [*self.found.command, *PLATFORM.shared]
        try:
            if len(every) == 1:
                (name,) = every
                command = [*shared, *self.options, f"{name}.c", *objects, "-o", BINARY]
                run_all([[*command, *self.libraries]], list(every.values()), self.folder)
                return
            compiled = [*self.found.command, *self.options, "-c"]
            run_all(
                [[*compiled, f"{name}.c", "-o", f"{name}.o"] for name in every],
                list(every.values()),
                self.folder,
            )
            made = [f"{name}.o" for name in every]
            run_all([[*shared, *made, *objects, "-o", BINARY, *self.libraries]], [""], self.folder)
        finally:
            for name in every:
                (self.folder / f"{name}.c").unlink(missing_ok=True)
            for name in named:
                (self.folder / f"{name}.o").unlink(missing_ok=True)
