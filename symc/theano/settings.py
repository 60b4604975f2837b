"""Settings that programs add to `theano.config`: `AddConfigVar` and the kinds of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ConfigParam:
    """A setting: its default (or a function that gives it), and a filter for values."""

    fullname = ""
    doc: str | None = None

    def __init__(
        self, default: Any, filter: Callable[[Any], Any] | None = None, allow_override: bool = True
    ) -> None:
        self.default, self.filter, self.allow_override = default, filter, allow_override
        self.is_default = True

    def fitted(self, value: Any) -> Any:
        """The value as the filter gives it."""
        return value if self.filter is None else self.filter(value)


class EnumStr(ConfigParam):
    """One of some texts. Raises ValueError for others."""

    def __init__(self, default: Any, *options: str, **kwargs: Any) -> None:
        self.all = (default, *options)
        convert = kwargs.get("convert")
        for each in self.all:
            if not isinstance(each, str):
                raise ValueError(
                    "Valid values for an EnumStr parameter should be strings", each, type(each)
                )

        def chosen(value: Any) -> Any:
            found = convert(value) if convert else value
            if found in self.all:
                return found
            raise ValueError(
                f'Invalid value ("{found}") for configuration variable "{self.fullname}". Valid '
                f"options are {self.all}"
            )

        super().__init__(default, chosen, kwargs.get("allow_override", True))


class TypedParam(ConfigParam):
    """A value of a type, which may have to be valid. Raises ValueError where it is not."""

    def __init__(
        self, default: Any, mytype: Callable[[Any], Any],
        is_valid: Callable[[Any], bool] | None = None, allow_override: bool = True,
    ) -> None:  # fmt: skip
        self.mytype = mytype

        def typed(value: Any) -> Any:
            found = mytype(value)
            if is_valid is not None and not is_valid(found):
                raise ValueError(
                    f'Invalid value ({value}) for configuration variable "{self.fullname}".', value
                )
            return found

        super().__init__(default, typed, allow_override)


def StrParam(default: Any, is_valid: Any = None, allow_override: bool = True) -> TypedParam:
    """A text."""
    return TypedParam(default, str, is_valid, allow_override)


def IntParam(default: Any, is_valid: Any = None, allow_override: bool = True) -> TypedParam:
    """A whole number."""
    return TypedParam(default, int, is_valid, allow_override)


def FloatParam(default: Any, is_valid: Any = None, allow_override: bool = True) -> TypedParam:
    """A number."""
    return TypedParam(default, float, is_valid, allow_override)


def BoolParam(default: Any, is_valid: Any = None, allow_override: bool = True) -> TypedParam:
    """True or False, also as text."""

    def truth(value: Any) -> bool:
        if value in ("False", "false", "0", False):
            return False
        if value in ("True", "true", "1", True):
            return True
        raise ValueError(f"{value!r} is neither true nor false")

    return TypedParam(default, truth, is_valid, allow_override)


def AddConfigVar(
    name: str, doc: str, configparam: ConfigParam, root: Any = None, in_c_key: bool = True
) -> None:
    """Adds a setting to `theano.config`; THEANO_FLAGS and `.theanorc` may have given its value.

    Raises AttributeError where the name is taken, ValueError where the value does not fit.

    >>> import symc.theano as theano
    >>> from symc.theano.configparser import AddConfigVar, IntParam
    >>> AddConfigVar("mine.count", "How many there are.", IntParam(3))
    >>> theano.config.mine.count
    3
    """
    from symc.theano import configparser

    del root, in_c_key
    configparam.fullname, configparam.doc = name, doc
    configparser.enter(name, configparam)
