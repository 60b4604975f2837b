"""Writes `symc/graph/methods.pyi`, the methods of tensors for type checkers, from the functions.

`python -m tests.method_stubs --write` after a change of one; a test compares.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

from symc.graph.methods import METHOD_NAMES, METHODS, PROPERTIES, PROPERTY_NAMES
from symc.graph.registry import import_all

P = inspect.Parameter
PLACE = Path(__file__).parent.parent / "symc" / "graph" / "methods.pyi"

HEAD = '''"""Made by tests/method_stubs.py from the functions: what the methods of tensors take."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from symc.codegen.dtypes import DType
from symc.graph.node import Array, Tensor, TensorLike
from symc.graph.registry import Registry
from symc.tensor.padding import Mode
from symc.tensor.reduce import Axis
from symc.tensor.selection import OutOfRange
from symc.tensor.sorting.order import Kth

METHODS: Registry[Callable[..., Any]]
PROPERTIES: Registry[Callable[[Any], Any]]
METHOD_NAMES: Final[tuple[str, ...]]
PROPERTY_NAMES: Final[tuple[str, ...]]

class TensorMethods:
    """What tensors have beside their operators."""

'''

PROPERTY_TYPES = {
    "T": "Tensor", "mT": "Tensor", "real": "Tensor", "imag": "Tensor",
    "shape": "tuple[Any, ...]", "size": "Any", "device": "str | None",
}  # fmt: skip
"""Lengths are ints where they are known now, and else tensors: either can be used for the other."""


def stub() -> str:
    """The text of the file."""
    import_all()
    lines = [HEAD.rstrip()]
    for name in METHOD_NAMES:
        lines.append(f"    def {name}{_signature(name)}:")
        lines.append(f'        """{_summary(METHODS[name].__doc__)}"""')
        lines.append("")
    for name in PROPERTY_NAMES:
        lines.append("    @property")
        lines.append(f"    def {name}(self) -> {PROPERTY_TYPES.get(name, 'Any')}:")
        lines.append(f'        """{_summary(PROPERTIES[name].__doc__)}"""')
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _signature(name: str) -> str:
    """The function's parameters, the first one as `self`; defaults as they are."""
    found = inspect.signature(METHODS[name])
    _, *others = found.parameters.values()
    parts = ["self"]
    kinds = [parameter.kind for parameter in found.parameters.values()]
    for number, parameter in enumerate(others, 1):
        if kinds[number - 1] is P.POSITIONAL_ONLY and parameter.kind is not P.POSITIONAL_ONLY:
            parts.append("/")
        if parameter.kind is P.KEYWORD_ONLY and P.VAR_POSITIONAL not in kinds[:number]:
            parts += ["*"] if P.KEYWORD_ONLY not in kinds[:number] else []
        star = "*" if parameter.kind is P.VAR_POSITIONAL else ""
        default = "" if parameter.default is P.empty else f" = {parameter.default!r}"
        parts.append(f"{star}{parameter.name}: {parameter.annotation}{default}")
    return f"({', '.join(parts)}) -> {found.return_annotation}"


def _summary(doc: str | None) -> str:
    """The first paragraph on one line."""
    paragraph = " ".join(inspect.cleandoc(doc or "").split("\n\n")[0].split())
    return paragraph if len(paragraph) <= 88 else paragraph.split(". ")[0].rstrip(".") + "."


def main() -> None:
    """Print the text, or write it into its place."""
    if "--write" in sys.argv:
        PLACE.write_text(stub(), encoding="utf-8")
        subprocess.run([Path(sys.executable).with_name("ruff"), "format", PLACE], check=True)
        return
    sys.stdout.write(stub())


if __name__ == "__main__":
    main()
