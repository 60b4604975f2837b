"""The source of a program in C, which knows the parts that its text is made of."""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.emit.units import ProgramText
from symc.codegen.encodable import encodable
from symc.codegen.record import record
from symc.codegen.targets.base import Source


@record
class CSource(Source):
    """A program as text, and in parts that can be compiled side by side.

    `origins` has the places of users' files, by their names among the others.
    """

    parts: ProgramText
    origins: Mapping[str, str]

    @property
    def kernels(self) -> Mapping[str, str]:
        """The text of each kernel."""
        return {kernel.kernel: encodable(kernel.text) for kernel in self.parts.kernels}
