"""What type checkers know about functions that are made from rows: their arguments by name."""

from __future__ import annotations

from typing import Any, Protocol

from symc.graph.node import Tensor, TensorLike


class FunctionOfOne(Protocol):
    """An elementwise function of one argument."""

    __name__: str
    __qualname__: str

    def __call__(self, x: TensorLike) -> Tensor: ...


class FunctionOfTwo(Protocol):
    """An elementwise function of two arguments, which broadcast."""

    __name__: str
    __qualname__: str

    def __call__(self, x: TensorLike, y: TensorLike) -> Tensor: ...


class FunctionOfThree(Protocol):
    """An elementwise function of two parameters and an argument, which broadcast."""

    __name__: str
    __qualname__: str

    def __call__(self, a: TensorLike, b: TensorLike, x: TensorLike) -> Tensor: ...


class FunctionOfFour(Protocol):
    """An elementwise function of three parameters and an argument, which broadcast."""

    __name__: str
    __qualname__: str

    def __call__(self, a: TensorLike, b: TensorLike, c: TensorLike, z: TensorLike) -> Tensor: ...


class InputOfDtype(Protocol):
    """Makes an input of a rank and dtype, such as `T.ivector`."""

    __name__: str
    __qualname__: str

    def __call__(self, name: str | None = None, shape: Any = None) -> Tensor: ...


class SeveralInputs(Protocol):
    """Makes several inputs: one for each name, or as many as asked for."""

    __name__: str
    __qualname__: str

    def __call__(self, *names: str | int, dtype: Any = None, shape: Any = None) -> list[Tensor]: ...
