"""`theano.scan`: calls the step once on symbols, and makes a loop of its results."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from symc.theano.compile.rebuild import of_target, with_default_updates
from symc.theano.compile.sharedvalue import SharedVariable
from symc.theano.configparser import config
from symc.theano.gof.fg import MissingInputError
from symc.theano.gof.graph import Constant, Variable, inputs
from symc.theano.gof.op import get_test_value
from symc.theano.scalar.dtypes import discrete_dtypes
from symc.theano.scan_module.scan_op import Scan, Step
from symc.theano.scan_module.until import until
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.shaping import shape_padleft, unbroadcast
from symc.theano.updates import OrderedUpdates

_log = logging.getLogger("theano.scan_module.scan")


@dataclass(frozen=True, eq=False)
class Reading:
    """A sequence and the taps of it that a step reads, with their symbols."""

    variable: Any
    taps: tuple[int, ...]
    rows: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Start:
    """The initial value of an output, and the taps of it that a step reads, with their symbols."""

    initial: Any
    taps: tuple[int, ...]
    earlier: tuple[Any, ...]


def scan(
    fn: Any, sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None,
    n_steps: Any = None, truncate_gradient: int = -1, go_backwards: bool = False,
    mode: Any = None, name: str | None = None, profile: Any = False, allow_gc: Any = None,
    strict: bool = False, return_list: bool = False,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """A loop: `fn`, called once on symbols, repeated. Gives (outputs, updates)."""
    del mode, profile, allow_gc
    steps = _checked_steps(n_steps)
    readings = [_reading(each) for each in _listed(sequences)]
    infos = _listed(outputs_info)
    starts = [_start(each) for each in infos]
    constants = [as_tensor_variable(each) if not isinstance(each, Variable) else each
                 for each in _listed(non_sequences)]  # fmt: skip
    if not readings and n_steps is None:
        raise ValueError(
            "Scan: n_steps is not given, and there are no sequences to tell the number of steps"
        )
    if isinstance(steps, Constant) and int(steps.data) == 1 and not go_backwards:
        return _single(fn, readings, starts, constants, return_list)
    rows = [row for each in readings for row in each.rows]
    earlier = [row for each in starts if each is not None for row in each.earlier]
    outcome = as_outcome(fn(*rows, *earlier, *constants))
    outputs = list(outcome.outputs)
    if not infos:
        starts = [None] * len(outputs)
    if len(starts) != len(outputs):
        raise ValueError(
            "Please provide None as outputs_info for any output that does not feed back into scan "
            f"(i.e. it behaves like a map): {len(starts)} given, {len(outputs)} returned"
        )
    outputs = [
        each if begin is None else _fitted(begin, each, position)
        for position, (begin, each) in enumerate(zip(starts, outputs, strict=True))
    ]
    return _loop(outcome, outputs, readings, starts, constants, steps, truncate_gradient,
                 go_backwards, name, strict, return_list)  # fmt: skip


def _single(
    fn: Any, readings: Sequence[Reading], starts: Sequence[Start | None], constants: Sequence[Any],
    return_list: bool,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """One step, which is no loop: `fn` of the values themselves, whatever their types are."""
    rows = [each.variable[tap - min(0, *each.taps)] for each in readings for tap in each.taps]
    earlier = [
        each.initial if each.taps == (-1,) else each.initial[tap - min(each.taps)]
        for each in starts if each is not None for tap in each.taps
    ]  # fmt: skip
    outcome = as_outcome(fn(*rows, *earlier, *constants))
    results = [unbroadcast(shape_padleft(each), 0) for each in outcome.outputs]
    updates = OrderedUpdates(outcome.updates)
    if len(results) == 1 and not return_list:
        return results[0], updates
    return (results or None), updates


def _loop(
    outcome: Outcome, outputs: list[Any], readings: Sequence[Reading],
    starts: Sequence[Start | None], constants: Sequence[Any], steps: Any,
    truncate_gradient: int, go_backwards: bool, name: str | None, strict: bool,
    return_list: bool,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """The loop of an outcome, as outputs and updates."""
    symbols = [row for each in readings for row in each.rows]
    symbols += [row for each in starts if each is not None for row in each.earlier]
    known = [*symbols, *constants]
    extra = [] if outcome.condition is None else [outcome.condition]
    pairs = with_default_updates([*outputs, *extra], list(outcome.updates), False, known)
    pairs = [(target, of_target(target, new)) for target, new in pairs]
    roots = [*outputs, *extra, *(new for _, new in pairs)]
    targets = [target for target, _ in pairs]
    leaves = [
        each for each in inputs(roots, known)
        if each not in symbols and each not in targets and not _is_plain_constant(each, constants)
    ]  # fmt: skip
    asked = [each for each in constants if not isinstance(each, Constant)]
    leaves = list(dict.fromkeys([*asked, *leaves]))
    leaves = [each for each in leaves if each not in targets]
    if strict:
        _check_strict(leaves, constants)
    step = Step(
        tuple(each.rows for each in readings), tuple(each.taps for each in readings),
        (*(None if each is None else each.earlier for each in starts), *((t,) for t in targets)),
        (*(() if each is None else each.taps for each in starts), *((-1,) for _ in targets)),
        (*outputs, *(new for _, new in pairs)), len(targets), outcome.condition, tuple(leaves),
    )  # fmt: skip
    op = Scan(step, steps is not None, go_backwards, truncate_gradient, name)
    given = [] if steps is None else [steps]
    given += [each.variable for each in readings]
    given += [each.initial for each in starts if each is not None]
    found = op(*given, *targets, *leaves, return_list=True)
    results = found[: len(outputs)]
    updates = OrderedUpdates(zip(targets, found[len(outputs) :], strict=True))
    if len(results) == 1 and not return_list:
        return results[0], updates
    return (results if results else None), updates


def _is_plain_constant(each: Any, constants: Sequence[Any]) -> bool:
    return isinstance(each, Constant) and each not in constants


def _check_strict(leaves: Sequence[Any], constants: Sequence[Any]) -> None:
    for each in leaves:
        if each not in constants and isinstance(each, SharedVariable):
            raise MissingInputError(
                f"Under the strict flag, {each} must be passed to scan as a non_sequence",
                variable=each,
            )


# --- arguments ------------------------------------------------------------------------------------


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _checked_steps(n_steps: Any) -> Any:
    if n_steps is None:
        return None
    if isinstance(n_steps, float | np.floating):
        raise ValueError(f"n_steps must be an int. dtype provided is {type(n_steps).__name__}")
    steps = as_tensor_variable(n_steps)
    if steps.dtype not in discrete_dtypes:
        raise ValueError(f" n_steps must be an int. dtype provided is {steps.dtype}")
    return steps


def _reading(given: Any) -> Reading:
    entry = given if isinstance(given, Mapping) else {"input": given}
    x = as_tensor_variable(entry["input"])
    taps = entry.get("taps", [0])
    taps = [0] if taps is None else taps
    taps = tuple(int(tap) for tap in (taps if isinstance(taps, list | tuple) else [taps]))
    if x.ndim == 0:
        raise TypeError(f"a sequence needs an axis to go along, and {x} is a scalar")
    return Reading(x, taps, tuple(_row(x, tap) for tap in taps))


def _row(x: Any, tap: int) -> Any:
    """The symbol of a row of a tensor."""
    from symc.theano.tensor.type import TensorType

    row = TensorType(x.type.dtype, x.type.broadcastable[1:])()
    if x.name:
        row.name = f"{x.name}[t{'' if tap == 0 else f'{tap:+d}'}]"
    if config.compute_test_value != "off":
        with suppress(AttributeError, IndexError):
            row.tag.test_value = get_test_value(x)[0]
    return row


def _start(given: Any) -> Start | None:
    entry = dict(given) if isinstance(given, Mapping) else {"initial": given}
    taps = entry.get("taps", [-1])
    if entry.get("initial") is None:
        if entry.get("taps") is not None and isinstance(given, Mapping):
            raise ValueError("If you are using slices of an output you need to provide an initial "
                             f"state for it: {given}")  # fmt: skip
        return None
    if taps is None:
        _log.warning("Output %s has an initial state, but its taps are None: they are [-1]",
                     getattr(entry["initial"], "name", None))  # fmt: skip
        taps = [-1]
    taps = tuple(int(tap) for tap in (taps if isinstance(taps, list | tuple) else [taps]))
    if any(tap >= 0 for tap in taps):
        raise ValueError("All the tap values must be strictly negative", taps)
    if len(set(taps)) < len(taps):
        raise ValueError("All the taps must be different", taps)
    initial = as_tensor_variable(entry["initial"])
    if taps == (-1,):
        symbol = initial.type()
        symbol.name = f"{initial.name}[t-1]" if initial.name else None
        if config.compute_test_value != "off":
            with suppress(AttributeError):
                symbol.tag.test_value = get_test_value(initial)
        return Start(initial, taps, (symbol,))
    if initial.ndim == 0:
        raise ValueError(f"the initial value for taps {taps} needs rows, and {initial} is a scalar")
    return Start(initial, taps, tuple(_row(initial, tap) for tap in taps))


def _fitted(begin: Start, output: Any, position: int) -> Any:
    """An output of the type of its initial value, where flags do not keep it from that.

    Raises ValueError for another dtype or rank.
    """
    wanted = begin.earlier[0].type
    if output.type == wanted:
        return output
    if output.dtype != wanted.dtype:
        raise ValueError(
            f"When compiling the inner function of scan the following error has been encountered: "
            f"The initial state (`outputs_info` in scan nomenclature) of variable {output} "
            f"(argument number {position}) has dtype {wanted.dtype}, while the result of the inner "
            f"function (`fn`) has dtype {output.dtype}. This can happen if the inner function of "
            "scan results in an upcast or downcast."
        )
    if output.ndim != wanted.ndim:
        raise ValueError(
            f"When compiling the inner function of scan the following error has been encountered: "
            f"The initial state of variable {output} (argument number {position}) has {wanted.ndim}"
            f" dimension(s), while the corresponding variable in the result of the inner function "
            f"of scan has {output.ndim} dimension(s)."
        )
    try:
        return wanted.filter_variable(output)
    except TypeError:
        return output  # functions and gradients of the loop refuse it, not the loop


# --- results of a step ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Outcome:
    """The results of a step: outputs, updates of shared variables, the condition of its end."""

    outputs: tuple[Any, ...]
    updates: tuple[tuple[Any, Any], ...]
    condition: Any


def as_outcome(returned: Any) -> Outcome:
    """Outputs, updates and condition told apart. Raises ValueError for other values."""
    parts = [returned] if not isinstance(returned, list | tuple) else list(returned)
    if _is_updates(returned):
        return Outcome((), _pairs(returned), None)
    condition: Any = None
    if parts and isinstance(parts[-1], until):
        condition = parts.pop().condition
    updates: tuple[tuple[Any, Any], ...] = ()
    if len(parts) > 0 and _is_updates(parts[-1]):
        updates = _pairs(parts.pop())
    elif len(parts) == 2 and _is_updates(parts[0]) and not isinstance(parts[0], Variable):
        updates = _pairs(parts.pop(0))
    if len(parts) == 1 and isinstance(parts[0], list | tuple):
        parts = list(parts[0])
    outputs = [_as_output(each) for each in parts]
    return Outcome(tuple(outputs), updates, condition)


def _is_updates(given: Any) -> bool:
    if isinstance(given, Mapping):
        return True
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(
            isinstance(each, list | tuple) and len(each) == 2
            and isinstance(each[0], SharedVariable)
            for each in given
        )
    )  # fmt: skip


def _pairs(given: Any) -> tuple[tuple[Any, Any], ...]:
    return tuple(given.items() if isinstance(given, Mapping) else map(tuple, given))


def _as_output(given: Any) -> Any:
    if isinstance(given, Variable):
        return given
    if given is None or isinstance(given, list | tuple | Mapping | str):
        raise ValueError(
            "The return value of your scan lambda expression may only be made of lists, tuples, or "
            f"dictionaries containing Theano variables (or `theano.scan_module.until` objects for "
            f"conditions). In particular if you need to use constant values, you can use "
            f"`tensor.constant` to turn them into Theano variables: {given!r}"
        )
    return as_tensor_variable(given)
