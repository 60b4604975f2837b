"""Calls of the functions that users give to loops, with errors that say what they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from symc.errors import LoopError


def called(
    label: str, fn: Callable[..., Any], arguments: tuple[Any, ...], given: Mapping[str, int]
) -> Any:
    """``fn(*arguments)``; `given` says what they are: how many of which kind.

    Raises `LoopError` if the function does not take that many.
    """
    try:
        return fn(*arguments)
    except TypeError as error:
        _check_signature(label, fn, given, error)
        raise


def _check_signature(
    label: str, fn: Callable[..., Any], given: Mapping[str, int], error: TypeError
) -> None:
    from inspect import signature  # late: only where something is wrong

    if not callable(cast("object", fn)):
        raise LoopError(f"{label} cannot be called: it is {fn!r}") from error
    try:
        taken = signature(fn)
    except ValueError:
        return
    try:
        taken.bind(*range(sum(given.values())))
    except TypeError as misfit:
        listed = ", ".join(f"{count} {kind}" for kind, count in given.items() if count)
        raise LoopError(
            f"{label} takes {taken}, and is given {listed or 'nothing'}: {misfit}"
        ) from error
