"""The definition of a function, once givens and default updates are in, and its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from symc.graph.node import Tensor
from symc.graph.provenance import warn
from symc.theano.compile.io import In, SymbolicInput, SymbolicOutput
from symc.theano.compile.rebuild import (
    checked_updates,
    pairs_of,
    substituted,
    with_default_updates,
)
from symc.theano.compile.sharedvalue import SharedVariable
from symc.theano.configparser import config
from symc.theano.gof.fg import MissingInputError
from symc.theano.gof.graph import Constant, Variable, ancestors
from symc.theano.tensor.convert import as_tensor_variable


class UnusedInputError(Exception):
    """An input is not needed for any output."""


@dataclass(frozen=True, eq=False)
class Definition:
    """A function before it is compiled.

    `form` says how outputs are returned ("none", "one", "list" or "dict" with `keys`); `updates`
    are those of shared variables, `states` those of inputs, by position. `borrowed` are the
    positions of outputs that later calls may overwrite, `overwrites` what calls leave in their
    arguments, by position.
    """

    ins: tuple[Any, ...]
    outputs: tuple[Any, ...]
    form: str
    keys: tuple[str, ...]
    updates: tuple[tuple[Any, Any], ...]
    states: tuple[tuple[int, Any], ...]
    mode: Any
    name: str | None
    borrowed: tuple[int, ...] = ()
    overwrites: tuple[tuple[int, Any], ...] = ()

    @property
    def roots(self) -> list[Any]:
        """Everything that is computed."""
        news = [new for _, new in (*self.updates, *self.states, *self.overwrites)]
        return [*self.outputs, *news]

    def with_roots(self, roots: Sequence[Any]) -> Definition:
        """The definition with other variables in the places of its roots."""
        rest = iter(roots)
        return replace(
            self, outputs=tuple(next(rest) for _ in self.outputs),
            updates=tuple((target, next(rest)) for target, _ in self.updates),
            states=tuple((position, next(rest)) for position, _ in self.states),
            overwrites=tuple((position, next(rest)) for position, _ in self.overwrites),
        )  # fmt: skip


def defined(
    inputs: Any, outputs: Any, mode: Any, updates: Any, givens: Any, no_default_updates: Any,
    name: str | None, rebuild_strict: bool, on_unused_input: str | None, downcast: bool | None,
) -> Definition:  # fmt: skip
    """The definition of a function from the arguments of `theano.function`."""
    ins = checked_inputs(inputs, downcast)
    plain, form, keys = checked_outputs(outputs)
    borrowed = _borrowed(outputs)
    variables = [each.variable for each in ins]
    pairs = checked_updates(updates or [])
    given_pairs = pairs_of(givens)
    for old, _ in given_pairs:
        if old in variables:
            raise RuntimeError(
                "You are trying to replace variable '%s' through the `givens` parameter, but this "
                "variable is an input to your function. Replacing inputs is currently forbidden "
                "because it has no effect. One way to modify an input `x` to a function evaluating"
                " f(x) is to define a new input `y` and use `theano.function([y], f(x), "
                "givens={x: g(y)})`." % old
            )
    own = [(position, each.update) for position, each in enumerate(ins) if each.update is not None]
    given = [new for _, new in given_pairs if isinstance(new, Variable)]
    roots = [*plain, *(new for _, new in own), *given]
    pairs = with_default_updates(roots, pairs, no_default_updates, variables)
    wanted = [*plain, *(new for _, new in pairs), *(new for _, new in own)]
    found, _ = substituted(wanted, given_pairs, rebuild_strict, fixed=variables)
    first, second = len(plain), len(plain) + len(pairs)
    news = zip((target for target, _ in pairs), found[first:second], strict=True)
    states = zip((position for position, _ in own), found[second:], strict=True)
    made = Definition(
        tuple(ins), tuple(found[:first]), form, keys, tuple(news), tuple(states), mode, name,
        borrowed,
    )  # fmt: skip
    check_needs(made, on_unused_input or config.on_unused_input)
    return made


def checked_inputs(inputs: Any, downcast: bool | None) -> list[Any]:
    """The inputs as `In`s. Raises as Theano does for other values."""
    if not isinstance(inputs, list | tuple):
        raise Exception(
            "Inputs variable of a Theano function should be contained in a list, even when there "
            "is a single input."
        )
    found = [_as_in(each, downcast) for each in inputs]
    seen: set[Any] = set()
    for each in found:
        if each.variable in seen:
            raise UnusedInputError(
                f"Variable {each.variable} is used twice in inputs to theano.function at index "
                f"{found.index(each)}.  This would result in values provided for it being ignored."
                " Please do not duplicate variables in the inputs list."
            )
        seen.add(each.variable)
    return found


def _as_in(given: Any, downcast: bool | None) -> Any:
    if isinstance(given, list | tuple):
        given = _from_pair(given)
    made = given if isinstance(given, SymbolicInput) else None
    variable = given if made is None else made.variable
    if isinstance(variable, Constant):
        raise TypeError("Constants not allowed in param list", variable)
    if isinstance(variable, SharedVariable):
        raise TypeError(
            f"Cannot use a shared variable ({variable}) as explicit input. Consider substituting a "
            "non-shared variable via the `givens` parameter"
        )
    if not isinstance(variable, Variable):
        raise TypeError("Unknown parameter type", type(given), given)
    return In(variable, allow_downcast=downcast) if made is None else made


def _from_pair(given: Any) -> Any:
    """Theano's short forms: (variable, value), (name, variable), ((variable, update), value)."""
    parts = list(given)
    name = parts.pop(0) if isinstance(parts[0], str) else None
    variable = parts.pop(0)
    update = None
    if isinstance(variable, list | tuple):
        variable, update = variable
    if isinstance(variable, SymbolicInput):
        raise TypeError("Expected a Variable, not an In", variable)
    value = parts.pop(0) if parts else None
    if parts:
        raise TypeError("Invalid input syntax", given)
    return In(variable, name=name, value=value, update=update)


def checked_outputs(outputs: Any) -> tuple[list[Any], str, tuple[str, ...]]:
    """The outputs, how they are returned, and the keys if as a dict."""
    if outputs is None:
        return [], "none", ()
    if isinstance(outputs, dict):
        for key in outputs:
            assert isinstance(key, str), "output dictionary keys must be strings"
        keys = tuple(sorted(outputs))
        return [_as_out(outputs[key]) for key in keys], "dict", keys
    if isinstance(outputs, list | tuple):
        return [_as_out(each) for each in outputs], "list", ()
    return [_as_out(outputs)], "one", ()


def _borrowed(outputs: Any) -> tuple[int, ...]:
    """The positions of outputs with ``borrow=True``."""
    if isinstance(outputs, dict):
        outputs = [outputs[key] for key in sorted(outputs)]
    given = outputs if isinstance(outputs, list | tuple) else [outputs]
    return tuple(
        position
        for position, each in enumerate(given)
        if isinstance(each, SymbolicOutput) and each.borrow
    )


def _as_out(given: Any) -> Any:
    variable = given.variable if isinstance(given, SymbolicOutput) else given
    if isinstance(variable, Variable):
        return variable
    try:
        return as_tensor_variable(variable)
    except TypeError:
        raise TypeError(
            "Outputs must be theano Variable or Out instances. Received %s of type %s"
            % (given, type(given))
        ) from None


def check_needs(made: Definition, unused: str) -> None:
    """Raises `UnusedInputError`, or warns."""
    variables = [each.variable for each in made.ins]
    needed = set(ancestors(made.roots, variables))
    needed.update(leaf for target, _ in made.updates for leaf in (target,))
    if unused not in ("raise", "warn", "ignore"):
        raise ValueError(
            f"Invalid value for keyword on_unused_input of theano.function: '{unused}'.\nValid "
            "values are 'raise', 'warn', and 'ignore'."
        )
    for position, each in enumerate(made.ins):
        if each.variable in needed or each.update is not None or unused == "ignore":
            continue
        text = (
            "theano.function was asked to create a function computing outputs given certain "
            f"inputs, but the provided input variable at index {position} is not part of the "
            f"computational graph needed to compute the outputs: {each.variable}.\n"
        )
        if unused == "warn":
            warn(
                f"{text}To make this warning into an error, you can pass the parameter "
                "on_unused_input='raise' to theano.function. To disable it completely, use "
                "on_unused_input='ignore'."
            )
        else:
            raise UnusedInputError(
                f"{text}To make this error into a warning, you can pass the parameter "
                "on_unused_input='warn' to theano.function. To disable it completely, use "
                "on_unused_input='ignore'."
            )


def _first_use(leaf: Any, roots: Sequence[Any]) -> str:
    for variable in ancestors(roots):
        if variable.owner is not None and leaf in variable.owner.inputs:
            position = variable.owner.inputs.index(leaf)
            return (
                f"{position} of the graph (indices start from 0), used to compute {variable.owner},"
            )
    return f"({leaf}), which is an output,"


def translated(made: Definition) -> tuple[list[Tensor], Any, list[Tensor]]:
    """The symbols of the inputs, the translation of all variables, and what is computed."""
    from symc.theano.meaning import Translation

    symbols: list[Tensor] = [each.variable.type.symbol(each.variable.name) for each in made.ins]
    translation = Translation(
        {each.variable: symbol for each, symbol in zip(made.ins, symbols, strict=True)}
    )
    return symbols, translation, translation.expressions(made.roots)


def compiled(made: Definition) -> Any:
    """The definition as a function of symc's: of all inputs, giving outputs, states, overwrites."""
    import symc
    from symc.graph.request import each_op_rounds
    from symc.graph.walks import walk
    from symc.loops.scan import Scan
    from symc.theano.compile.mode import get_mode
    from symc.theano.compile.vm import PythonProgram, needs_python

    mode = get_mode(made.mode)
    if mode.watch is not None or needs_python(made):
        return PythonProgram(made, mode.watch)
    symbols, translation, found = translated(made)
    _check_given(made, translation.known, found)
    first, second = len(made.outputs), len(made.outputs) + len(made.updates)
    updates = [
        (target.symc_variable, new)
        for (target, _), new in zip(made.updates, found[first:second], strict=True)
    ]
    # A loop may amplify how its steps round. Its results are nearer to Theano's, and to those of
    # other processors, where each of its ops rounds by itself.
    loops = any(isinstance(node.op, Scan) for node in walk(found))
    with each_op_rounds() if loops else nullcontext():
        return symc.function(
            symbols, [*found[:first], *found[second:]], updates=updates, name=_text(made.name),
            mode=mode.symc_mode, on_unused_input="ignore", no_default_updates=True,
        )  # fmt: skip


def _check_given(made: Definition, known: Mapping[Any, Tensor], found: Sequence[Tensor]) -> None:
    """Raises `MissingInputError` for a variable that the outputs need and nobody gives.

    symc's expressions tell: the gradient of a product needs only one of its factors.
    """
    from symc.graph.inputs import Input
    from symc.graph.walks import walk

    given = {known[each.variable] for each in made.ins}
    missing = {node for node in walk(found) if isinstance(node.op, Input)} - given
    for leaf, symbol in known.items():
        if symbol in missing and leaf.owner is None:
            raise MissingInputError(
                f"Input {_first_use(leaf, made.roots)} was not provided and not given a value. Use "
                "the Theano flag exception_verbosity='high', for more information on this error.",
                variable=leaf,
            )


def _text(name: Any) -> str | None:
    return name if isinstance(name, str) else None
