"""Functions that the command line names: ``module:attribute`` or ``file.py:attribute``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from symc.calls.callable import Function


class Unanswerable(Exception):
    """The command line names a function that is not there."""


def functions_named(name: str) -> list[Function]:
    """The compiled functions under a name.

    The attribute is a function of symc's, a list, tuple or dict of them, or something to be called
    without arguments that returns one of these. Without an attribute: all functions of the module.
    Importing a module compiles the functions that it makes.

    Raises `Unanswerable` if there is no such thing.
    """
    place, _, attribute = name.partition(":")
    if not attribute:
        module = _imported(place)
        values: list[Any] = list(vars(module).values())
        found: list[Function] = [value for value in values if isinstance(value, Function)]
    else:
        value = attribute_named(name)
        if not isinstance(value, Function) and callable(value):
            with _questioned(name):
                value = value()
        found = list(_flat(value))
    if not found:
        raise Unanswerable(f"{name} is no function of symc's, and returns none")
    return found


def attribute_named(name: str) -> Any:
    """What stands under ``module:attribute``. Raises `Unanswerable` if there is no such thing."""
    place, _, attribute = name.partition(":")
    value: Any = _imported(place)
    for part in attribute.split("."):
        if not hasattr(value, part):
            raise Unanswerable(f"{place} has no {attribute}")
        value = getattr(value, part)
    return value


def _imported(place: str) -> ModuleType:
    """A module by its name, or by its file."""
    sys.path.insert(0, "")
    try:
        if not place.endswith(".py"):
            with _questioned(place):
                return importlib.import_module(place)
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        if spec is None or spec.loader is None or not Path(place).exists():
            raise Unanswerable(f"there is no file {place}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        with _questioned(place):
            spec.loader.exec_module(module)
        return module
    except ModuleNotFoundError as error:
        hint = f"; a function is named {place.replace('.', ':')}" if place.count(".") == 1 else ""
        raise Unanswerable(f"there is no module {error.name}{hint}") from error
    finally:
        sys.path.remove("")


@contextmanager
def _questioned(what: str) -> Generator[None, None, None]:
    """Errors of the user's code, with its own lines alone."""
    try:
        yield
    except ModuleNotFoundError:
        raise
    except Exception as error:
        own = [
            frame for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename != __file__ and "importlib" not in frame.filename
        ]  # fmt: skip
        lines = [*traceback.format_list(own), *traceback.format_exception_only(error)]
        raise Unanswerable(f"{what} cannot be used:\n{''.join(lines).rstrip()}") from error


def _flat(value: Any) -> Iterable[Function]:
    if isinstance(value, Function):
        yield value
        return
    found: Any = value
    if isinstance(value, dict | list | tuple):
        for item in found.values() if isinstance(value, dict) else found:
            yield from _flat(item)
