"""What a row of an elementwise function holds: derivatives, an expression or C, and options."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import Final, TypeAlias, TypedDict

from symc.codegen import ir
from symc.codegen.dtypes import DType
from symc.graph.node import Requirement, Tensor
from symc.tensor.domains import Domain, SignBit

# (bar, *args, result) -> the gradient of the argument
Partial1: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor | None]
Partial2: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor | None]
Partial3: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor | None]
Partial4: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], Tensor | None]
Partial: TypeAlias = Callable[..., Tensor | None]
Expression: TypeAlias = "Callable[..., ir.Expr]"
Expression1: TypeAlias = "Callable[[ir.Expr], ir.Expr]"
Expression2: TypeAlias = "Callable[[ir.Expr, ir.Expr], ir.Expr]"


class InHeader(Enum):
    """Stands for the C of a row where that is a function in a header, named after the row."""

    IN_HEADER = auto()


IN_HEADER: Final = InHeader.IN_HEADER


class Options(TypedDict, total=False):
    """The fields of `Elementwise` that a row may leave out."""

    domain: Domain
    predicate: bool
    cost: int
    of_16_bits: Callable[[DType], Expression]
    checks: Callable[[Tensor], Iterable[Requirement]]
    of_complex: bool
    commutes: bool
    sign_bit: SignBit


def documented(doc: str, general: str) -> str:
    """The docstring of a row's function: what the row says, what is said of all, and the examples.

    >>> documented("The sine.\\n\\n    >>> sin(0)\\n    0\\n    ", "Elementwise.").splitlines()
    ['The sine.', '', 'Elementwise.', '', '>>> sin(0)', '0']
    """
    first, *lines = doc.rstrip().split("\n")
    text, start, examples = "\n".join([first, *[line[4:] for line in lines]]).partition("\n\n>>> ")
    return f"{text}\n\n{general}{start}{examples}"
