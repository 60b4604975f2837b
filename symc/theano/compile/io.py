"""The inputs and outputs of functions, with their defaults, names and updates."""

from __future__ import annotations

import warnings
from typing import Any

from symc.theano.gof.graph import Variable


class SymbolicInput:
    """A variable as an input, and its update after a call, if there is one."""

    def __init__(
        self, variable: Any, name: str | None = None, update: Any = None,
        mutable: bool | None = None, strict: bool = False, allow_downcast: bool | None = None,
        autoname: bool = True, implicit: bool | None = False,
    ) -> None:  # fmt: skip
        if implicit is None:
            raise TypeError("An implicit input must be given a default value")
        self.variable: Any = variable
        own = variable.name if autoname else None
        self.name = name if name is not None else own
        hash(self.name)  # it becomes a key
        self.update = update
        self.mutable = update is not None if mutable is None else mutable
        self.strict, self.allow_downcast, self.implicit = strict, allow_downcast, implicit
        if update is not None and variable.type != update.type:
            raise TypeError(
                f"Variable '{variable}' has type {variable.type} but an update of type "
                f"{update.type}. The type of the variable should be the same as the type of the "
                "update"
            )

    def __str__(self) -> str:
        return (
            f"In({self.variable})"
            if self.update is None
            else (f"In({self.variable} -> {self.update})")
        )

    def __repr__(self) -> str:
        return str(self)


class In(SymbolicInput):
    """An input with a default value, or with an update."""

    def __init__(
        self, variable: Any, name: str | None = None, value: Any = None, update: Any = None,
        mutable: bool | None = None, strict: bool = False, allow_downcast: bool | None = None,
        autoname: bool = True, implicit: bool | None = None, borrow: bool | None = None,
        shared: bool = False,
    ) -> None:  # fmt: skip
        from symc.theano.compile.sharedvalue import Container, SharedVariable

        if shared:
            raise NotImplementedError("In(shared=True): use a shared variable")
        if borrow is None:
            borrow = bool(mutable)
        if mutable and not borrow:
            raise AssertionError(
                f"Symbolic input for variable {variable} (name={name}) has flags mutable=True, "
                "borrow=False. This combination is incompatible since mutable=True implies that "
                "the input variable may be both aliased (borrow=True) and overwritten."
            )
        self.borrow = borrow
        self.value = value
        if implicit is None:
            implicit = isinstance(value, Container | SharedVariable)
        super().__init__(
            variable, name, update, mutable, strict, allow_downcast, autoname, implicit
        )


class Param(In):
    """The former name of `In`."""

    def __init__(
        self, variable: Any, default: Any = None, name: str | None = None, **kwargs: Any
    ) -> None:
        warnings.warn(
            "The Param class is deprecated. Replace Param(default=N) by theano.In(value=N)",
            stacklevel=2,
        )
        super().__init__(variable, name=name, value=default, **kwargs)


class SymbolicOutput:
    """A variable as an output. With `borrow`, later calls may overwrite its array."""

    def __init__(self, variable: Any, borrow: bool = False) -> None:
        self.variable: Variable = variable
        self.borrow = borrow

    def __str__(self) -> str:
        return f"Out({self.variable},{self.borrow})"

    def __repr__(self) -> str:
        return str(self)


Out = SymbolicOutput
