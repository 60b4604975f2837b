"""The text of the kernels for a device in pieces: records where the ways out differ.

NVRTC is given looser launch bounds for kernels that spill registers. The simulator has a word of
its own for dynamic shared memory, and must know the kernels; so has an exported library.
`emit/device.py` prints programs as modules; `targets/cuda/reading.py` reads files as such.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TypeAlias, assert_never

from symc.codegen.encodable import encodable
from symc.codegen.record import record

DYNAMIC = "extern __shared__"
"""The words of CUDA for shared memory whose size a launch gives."""


@record
class LaunchBounds:
    """The launch bounds of a kernel: the most threads of a block, 0 if they are not said.

    `blocks` says how many blocks should fit on a processor, if it is said.
    """

    kernel: str
    threads: str
    blocks: str = ""

    def text(self, *, loose: bool) -> str:
        """The bounds in CUDA. Loose ones leave a thread as many registers as it wants."""
        blocks = self.blocks or ("1" if loose else "")
        return f"__launch_bounds__({self.threads}{', ' if blocks else ''}{blocks})"


@record
class Dynamic:
    """The words before the declaration of an array in dynamic shared memory."""

    array: str


Piece: TypeAlias = str | LaunchBounds | Dynamic


@record
class DeviceModule:
    """The pieces of a module, in order. `kernels` has each kernel's bounds once, said or not."""

    pieces: tuple[Piece, ...]
    kernels: tuple[LaunchBounds, ...]

    @property
    def text(self) -> str:
        """The text of the module in CUDA."""
        return self.written()

    @property
    def dynamic(self) -> tuple[str, ...]:
        """The arrays in dynamic shared memory, each once."""
        return tuple(sorted({p.array for p in self.pieces if isinstance(p, Dynamic)}))

    def written(self, *, loose: AbstractSet[str] = frozenset(), dynamic: str = DYNAMIC) -> str:
        """The text with loose bounds for some kernels, and with other words for `DYNAMIC`."""
        return text_of(self.pieces, loose=loose, dynamic=dynamic)


def text_of(
    pieces: Iterable[Piece], *, loose: AbstractSet[str] = frozenset(), dynamic: str = DYNAMIC
) -> str:
    """The text of some pieces; see `DeviceModule.written`."""
    parts: list[str] = []
    for piece in pieces:
        match piece:
            case str():
                parts.append(piece)
            case LaunchBounds(kernel):
                parts.append(piece.text(loose=kernel in loose))
            case Dynamic():
                parts.append(dynamic)
            case _:
                assert_never(piece)
    return "".join(parts)


def encoded(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Pieces whose text can be written to a file."""
    return tuple([encodable(piece) if isinstance(piece, str) else piece for piece in pieces])
