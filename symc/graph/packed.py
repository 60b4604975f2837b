"""Values that are made of several tensors, which functions take and return as one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symc.graph.node import Tensor
from symc.graph.registry import SERVICES


class Packed:
    """A symbolic value of another library's type, such as a sparse matrix of SciPy's.

    A compiled function takes and returns the arrays of its parts. Two services of its `kind` go
    between these and the values that users see: ``take_KIND(value, name)`` gives the arrays of a
    value, and ``give_KIND(arrays)`` makes one of them.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def kind(self) -> str:
        """The name of the two services."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Tensor, ...]:
        """The tensors, in the order of the arrays."""

    @property
    def returned(self) -> tuple[Tensor, ...]:
        """The parts as functions return them: with the checks that a value of them needs."""
        return self.parts


class Packing:
    """Which neighbouring arrays of a function belong together: for each value, kind and count.

    The kind "" is that of a plain array. `names` has those of arguments, as far as they have one.
    """

    __slots__ = ("kinds", "names")

    def __init__(self, kinds: Iterable[tuple[str, int]], names: Iterable[str | None]) -> None:
        self.kinds = tuple(kinds)
        self.names = tuple(names)

    @classmethod
    def of(cls, values: Sequence[Any]) -> Packing | None:
        """That of some symbolic values; None where all are tensors."""
        if not any(isinstance(value, Packed) for value in values):
            return None
        kinds = [(v.kind, len(v.parts)) if isinstance(v, Packed) else ("", 1) for v in values]
        return cls(kinds, [getattr(value, "name", None) for value in values])

    def spread(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], parts: Sequence[str | None]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arrays of some arguments; those given by name get the names of the `parts`."""
        arrays: list[Any] = []
        for number, ((kind, _), value) in enumerate(zip(self.kinds, args, strict=False)):
            if kind:
                arrays += SERVICES[f"take_{kind}"](value, f"argument {number}")
            else:
                arrays.append(value)
        if not kwargs:
            return tuple(arrays), {}
        rest = dict(kwargs)
        first = 0
        for (kind, count), name in zip(self.kinds, self.names, strict=True):
            if kind and name in rest:
                found = SERVICES[f"take_{kind}"](rest.pop(name), f"argument {name}")
                rest.update(zip(map(str, parts[first : first + count]), found, strict=True))
            first += count
        return tuple(arrays), rest

    def given(self, arrays: Sequence[Any]) -> list[Any]:
        """The values that some arrays are."""
        values: list[Any] = []
        first = 0
        for kind, count in self.kinds:
            part = arrays[first : first + count]
            values.append(SERVICES[f"give_{kind}"](part) if kind else part[0])
            first += count
        return values


def parts_of(value: Any) -> tuple[Any, ...]:
    """The tensors of a value; any other value alone."""
    return value.parts if isinstance(value, Packed) else (value,)


def returned_of(value: Any) -> tuple[Any, ...]:
    """The tensors that a function computes for a value; any other value alone."""
    return value.returned if isinstance(value, Packed) else (value,)
