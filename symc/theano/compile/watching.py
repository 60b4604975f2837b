"""Modes that look at every node: functions of theirs are run op by op, in Python."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from symc.theano.configparser import config
from symc.theano.gof.graph import Apply

_log = logging.getLogger("theano.compile.nanguardmode")
BIG = 1e10  # absolute values above are errors of NanGuardMode


class Thunk:
    """What Theano hands to those who watch: `inputs` and `outputs`, lists of one-element lists."""

    def __init__(self, inputs: list[list[Any]], outputs: list[list[Any]]) -> None:
        self.inputs, self.outputs = inputs, outputs


class Watch:
    """Functions that are called before and after each node: of its number, itself, its thunk."""

    def __init__(self, before: Any = None, after: Any = None) -> None:
        self.before: Callable[[int, Apply, Thunk], Any] = before or _nothing
        self.after: Callable[[int, Apply, Thunk], Any] = after or _nothing


def _nothing(position: int, node: Apply, thunk: Thunk) -> None:
    """Nobody watches."""


def guarding(nan: bool | None, inf: bool | None, big: bool | None) -> Watch:
    """Raises AssertionError for NaN, infinities and big values; None: as the configuration says."""
    asked = {
        "NaN": _chosen(nan, "nan"), "Inf": _chosen(inf, "inf"), "Big value": _chosen(big, "big"),
    }  # fmt: skip
    checks = [(name, TESTS[name]) for name, wanted in asked.items() if wanted]

    def check(what: str, node: Apply, cells: list[list[Any]], variables: list[Any]) -> None:
        for (value,), variable in zip(cells, variables, strict=True):
            if getattr(variable.tag, "nan_guard_mode_check", True) and _is_float(value):
                for name, test in checks:
                    if test(np.asarray(value)):
                        _fail(f"{name} detected in {what} {variable} of {node}", node)

    return Watch(
        lambda _, node, thunk: check("input", node, thunk.inputs, node.inputs),
        lambda _, node, thunk: check("output", node, thunk.outputs, node.outputs),
    )


TESTS: dict[str, Callable[[Any], bool]] = {
    "NaN": lambda x: bool(np.isnan(x).any()),
    "Inf": lambda x: bool(np.isinf(x).any()),
    "Big value": lambda x: bool(np.any(np.abs(x[np.isfinite(x)]) > BIG)),
}


def _chosen(given: bool | None, name: str) -> bool:
    return bool(getattr(config.NanGuardMode, f"{name}_is_error")) if given is None else given


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.floating) and np.asarray(value).dtype.kind in "fc"


def _fail(text: str, node: Apply) -> None:
    message = f"{text}\n  made at {node.where}"
    if config.NanGuardMode.action in ("warn", "pdb"):
        _log.warning(message)
    else:
        _log.error(message)
        raise AssertionError(message)
