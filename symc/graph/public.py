"""Public functions: they take None for "not given", and explain unknown keywords.

A function is published once, where its name becomes public; inside symc it is called as it is.
Published it costs a tenth of a microsecond more. The explanations stand in
`symc/graph/keywords.py`, which is imported when a call has failed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class")

_published: dict[Any, Any] = {}


def public(function: _Function, module: str | None = None) -> _Function:
    """The function as users call it: one object, however often it is published.

    Anything else, such as a class, is returned as it is. `module` is where its users find it: its
    name in help and in pickles.

    >>> def power(x, exponent=2):
    ...     return x ** exponent
    >>> public(power)(3, exponent=None)
    9
    >>> public(power)(3, exponant=2)
    Traceback (most recent call last):
    ...
    TypeError: power() got an unexpected keyword argument 'exponant'; did you mean 'exponent'?
      at     ...
    """
    if type(function) is not FunctionType:
        return function
    made = _published.get(function)
    if made is None:
        made = _published[function] = _wrapped(cast("FunctionType", function))
        _published[made] = made
    if module is not None:
        made.__module__ = module
    return cast("_Function", made)


def publish(names: dict[str, Any], module: str, chosen: Iterable[str]) -> None:
    """Publish the chosen ones of a module's names, as far as they are symc's functions."""
    for name in chosen:
        value = names.get(name)
        if type(value) is FunctionType and value.__module__.startswith("symc."):
            names[name] = public(value, module)


def publish_package(names: dict[str, Any], package: str) -> None:
    """Publish what the modules of a package list as public: together they are its ``__all__``."""
    known = list(sys.modules.items())  # other threads import meanwhile
    modules = [module for name, module in known if name.startswith(f"{package}.")]
    listed = {name for module in modules for name in getattr(module, "__all__", ())}
    publish(names, package, listed)
    names["__all__"] = sorted(listed)


def with_public_methods(cls: type[_Class]) -> type[_Class]:
    """A decorator: publishes the methods of a class and its ``__init__``."""
    for name, value in list(vars(cls).items()):
        is_public = name == "__init__" or not name.startswith("_")
        if is_public and type(value) is FunctionType and not hasattr(value, "__wrapped__"):
            setattr(cls, name, _wrapped(value))
    return cls


def check_fields(cls: type[Any], options: Iterable[str]) -> None:
    """Raises TypeError for options that are no fields of a record, and lists the fields."""
    fields: tuple[str, ...] = cls.__match_args__
    for name in options:
        if name not in fields:
            from symc.graph.keywords import unexpected

            raise TypeError(unexpected(cls.__name__, name, fields))


def _wrapped(function: FunctionType) -> Callable[..., Any]:
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    if all(default is None for default in defaults):

        def call(*args: Any, **options: Any) -> Any:
            try:
                return function(*args, **options)
            except TypeError as error:
                _explain(function, options, error)
                raise
    else:

        def call(*args: Any, **options: Any) -> Any:
            for value in args:
                if value is None:
                    args, options = _without_none(function, args, options)
                    break
            for name, value in options.items():
                if value is None and name in _with_default(function):
                    args, options = _without_none(function, args, options)
                    break
            try:
                return function(*args, **options)
            except TypeError as error:
                _explain(function, options, error)
                raise

    call.__name__, call.__qualname__ = function.__name__, function.__qualname__
    call.__module__, call.__doc__ = function.__module__, function.__doc__
    call.__dict__.update(function.__dict__, __wrapped__=function)
    return call


def _with_default(function: FunctionType) -> set[str]:
    """The parameters that have another default than None: for others None says the same."""
    code, defaults = function.__code__, function.__defaults__ or ()
    last = code.co_varnames[: code.co_argcount][code.co_argcount - len(defaults) :]
    pairs = [*zip(last, defaults, strict=True), *(function.__kwdefaults__ or {}).items()]
    return {name for name, default in pairs if default is not None}


def _without_none(function: Any, args: Any, options: Any) -> Any:
    from symc.graph.keywords import without_none

    return without_none(function, args, options)


def _explain(function: Any, options: Any, error: TypeError) -> None:
    """Raises a better error where the function was not even entered, for its arguments misfit."""
    found = error.__traceback__
    if found is None or found.tb_next is not None:
        return
    from symc.graph.keywords import explained

    raise TypeError(explained(function, options, str(error))) from None
