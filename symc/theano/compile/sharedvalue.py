"""Shared variables: variables with a value that lives between calls."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import symc
from symc.graph.inputs import SharedVariable as SymcShared
from symc.theano.configparser import config
from symc.theano.gof.graph import Variable
from symc.theano.gof.type import Generic, generic


class Container:
    """Where a value is kept, and the type that it has to have."""

    def __init__(
        self, type: Any, storage: Any, strict: bool = False, allow_downcast: bool | None = None,
        name: str | None = None, readonly: bool = False,
    ) -> None:  # fmt: skip
        self.type, self.storage, self.name = getattr(type, "type", type), storage, name
        self.strict, self.allow_downcast, self.readonly = strict, allow_downcast, readonly

    @property
    def data(self) -> Any:
        """The value."""
        return self.storage[0]

    @data.setter
    def data(self, value: Any) -> None:
        if self.readonly:
            raise Exception(f"Cannot set readonly storage: {self.name}")
        self.storage[0] = self.filtered(value)

    value = data

    def filtered(self, value: Any) -> Any:
        """The value as one of the type."""
        if value is None:
            return None
        return self.type.filter(value, strict=self.strict, allow_downcast=self.allow_downcast)


class _Cell:
    """A list of one item, the value of a container."""

    def __init__(self, container: Container) -> None:
        self.container = container

    def __getitem__(self, position: int) -> Any:
        return (self.container.data,)[position]

    def __setitem__(self, position: int, value: Any) -> None:
        assert position in (0, -1)
        self.container.data = value

    def __len__(self) -> int:
        return 1


class SharedContainer(Container):
    """The value of a tensor, kept by a shared variable of symc's."""

    def __init__(self, variable: SymcShared, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.variable = variable

    @property
    def storage(self) -> Any:
        """The value as the only item of a list."""
        return _Cell(self)

    @storage.setter
    def storage(self, value: Any) -> None:
        del value  # symc's variable has it

    @property
    def data(self) -> Any:
        """The value."""
        return self.type.decoded(self.variable.get_value(borrow=True))

    @data.setter
    def data(self, value: Any) -> None:
        self.variable.set_value(self.type.encoded(self.filtered(value)), borrow=True)

    value = data

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = kept(self.type, copy.deepcopy(self.data), self.name, self.strict,
                    self.allow_downcast)  # fmt: skip
        memo[id(self)] = made
        return made

    def __reduce__(self) -> Any:
        return kept, (self.type, self.data, self.name, self.strict, self.allow_downcast)


def kept(
    type: Any, value: Any, name: str | None, strict: bool, allow_downcast: bool | None
) -> Container:
    """A container with a value."""
    if isinstance(type, Generic):
        return Container(type, [value], strict, allow_downcast, name)
    array = np.asarray(type.encoded(type.filter(value, strict, allow_downcast)))
    flags = getattr(type, "broadcastable", (False,) * array.ndim)
    lengths = tuple(1 if flag else None for flag in flags)
    variable = symc.shared(array, name, shape=lengths, borrow=True)
    return SharedContainer(variable, type, None, strict, allow_downcast, name)


class SharedVariable(Variable):
    """A variable with a value that lives between calls and that functions can update."""

    default_update: Any  # only those that have one: programs ask ``hasattr``

    def __init__(
        self, name: str | None, type: Any, value: Any, strict: bool,
        allow_downcast: bool | None = None, container: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(type=type, name=name, owner=None, index=None)
        if container is None:
            container = kept(type, value, name, strict, allow_downcast)
        self.container: Any = container

    @property
    def symc_variable(self) -> Any:
        """The variable of symc's that has the value."""
        if not isinstance(self.container, SharedContainer):
            raise TypeError(f"symc.theano cannot compute with {self}: its value is no array")
        return self.container.variable

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """The value: a copy, or with `borrow` the live one."""
        del return_internal_type
        value = self.container.data
        return value if borrow else copy.deepcopy(value)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Replaces the value."""
        self.container.data = new_value if borrow else copy.deepcopy(new_value)

    def zero(self, borrow: bool = False) -> None:
        """Sets all elements to 0."""
        value = self.get_value(borrow=borrow)
        value[...] = 0
        self.set_value(value, borrow=borrow)

    @property
    def value(self) -> Any:
        """Gone from Theano; names the replacement."""
        raise Exception(
            "sharedvar.value does not exist anymore. Use sharedvar.get_value() or "
            "sharedvar.set_value() instead."
        )

    def clone(self) -> Any:
        made = type(self)(
            name=self.name, type=self.type, value=None, strict=False, container=self.container
        )
        made.tag = copy.copy(self.tag)
        return made

    def filter_update(self, update: Any) -> Any:
        """A new value as a variable of the right type."""
        if not isinstance(update, Variable):
            update = shared(update)
        return self.type.filter_variable(update)


Constructor = Callable[..., Any]
_constructors: list[Constructor] = []


def shared_constructor(ctor: Constructor, remove: bool = False) -> Constructor:
    """Enters a function that makes shared variables of some kind of values, or takes it out."""
    if remove:
        _constructors.remove(ctor)
    else:
        _constructors.append(ctor)
    return ctor


def shared(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """A shared variable with a value."""
    if isinstance(value, Variable):
        raise TypeError("Shared variable constructor needs numeric values and not symbolic ones.")
    for ctor in reversed(_constructors):
        try:
            made = ctor(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
        except TypeError:
            continue
        if config.compute_test_value != "off":
            made.tag.test_value = made.get_value(borrow=True)
        return made
    raise TypeError(
        "No suitable SharedVariable constructor could be found. Are you sure all kwargs are "
        f"supported? We do not support the parameter dtype or type. value={value!r}. parameters="
        f"{kwargs}"
    )


@shared_constructor
def generic_constructor(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None
) -> SharedVariable:
    """A shared variable of any object."""
    return SharedVariable(name, generic, value, strict, allow_downcast)
