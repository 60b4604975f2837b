"""`symc.function`: from symbolic inputs and outputs to something that can be called."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from symc.callable import Function, In
from symc.codegen.record import record
from symc.config import config
from symc.dims import Dim, sizes
from symc.errors import (
    BadUpdate,
    FunctionError,
    MissingInput,
    ShapeMismatch,
    UnusedInput,
)
from symc.graph import (
    METHODS,
    Array,
    Op,
    Requirement,
    Tensor,
    TensorLike,
    substitute,
    walk,
    walk_within,
)
from symc.inputs import Constant, Input, SharedVariable, advanced, as_tensor, shared, tensor
from symc.request import Request
from symc.tensor.broadcast import describe
from symc.tensor.lengths import length, tensor_of
from symc.types import TensorType, to_numpy

Outputs: TypeAlias = "TensorLike | Out | Sequence[TensorLike | Out] | Mapping[str, Any] | None"
Updates: TypeAlias = (
    "Mapping[SharedVariable, TensorLike] | Iterable[tuple[SharedVariable, TensorLike]]"
)
Givens: TypeAlias = "Mapping[Tensor, TensorLike] | Iterable[tuple[Tensor, TensorLike]]"


@record
class Out:
    """An output of a function. (Outputs never alias anything, so `borrow` changes nothing.)

    With `on_device` a function on a device leaves it there, and returns a `symc.cuda.DeviceArray`.
    """

    variable: Tensor
    borrow: bool = False
    on_device: bool | None = None


def function(
    inputs: Sequence[Tensor | In],
    outputs: Outputs = None,
    *,
    updates: Updates = (),
    givens: Givens = (),
    mode: str | None = None,
    name: str | None = None,
    no_default_updates: bool | Sequence[SharedVariable] = False,
    on_unused_input: str | None = None,
    allow_input_downcast: bool | None = None,
    device: str | None = None,
    on_device: bool = False,
) -> Function:
    """Compiles a function of `inputs` that computes `outputs` and then updates shared variables.

    - `outputs`: a tensor (the call returns an array), a list (a list of arrays), a dict (a dict),
      or None.
    - `updates`: pairs (shared variable, new value), all done at once after the outputs, from the
      values before the call. If a call raises, nothing is changed.
    - `givens`: pairs (tensor, replacement) that are substituted first.
    - `mode`: "default"; "fast" (also rewrites that hold only without inf and NaN); "compile"
      (quicker to compile); "python" (the NumPy interpreter); "nanguard" (the interpreter, raising
      at the first NaN or inf); "debug" (compiled, and every op checked in each call, with bounds
      and the compiler's sanitizers: an error or crash names the op and the line; slow). Theano's
      names FAST_RUN, FAST_COMPILE, NanGuardMode and DebugMode are accepted.
    - `device`: "cpu"; "cuda" or "cuda:1" for a graphics card; "cuda:sim" for a simulated one. By
      default that of the shared variables, or ``config.device``. Arguments may be NumPy arrays or
      arrays on the device; outputs are NumPy arrays, or with ``on_device=True``, which
      `Out` also has for a single output, `symc.cuda.DeviceArray`.
    - `name` is shown in errors and in the generated source.

    Raises `MissingInput`, `UnusedInput` (see `on_unused_input`), `BadUpdate` or `FunctionError`.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], (x ** 2).sum())
    >>> f([1.0, 2.0, 3.0])
    array(14.)
    """
    if isinstance(inputs, Tensor | In) or not isinstance(cast("object", inputs), Iterable):
        raise TypeError("inputs must be a list of tensors, like [x, y]")
    from symc.modes import mode_named  # late: all that compiling needs is imported by the first one

    ins = [_as_in(item, allow_input_downcast) for item in inputs]
    results, form, keys = _as_outputs(outputs)
    pairs = _as_updates(updates)
    given = {target for target, _ in pairs}
    replace = _as_givens(givens, ins)
    _add_default_updates(results, pairs, no_default_updates, replace)
    variables = _cut(ins, replace)
    _warn_of_frozen(results, given | advanced(walk(results)).keys())
    roots = substitute([*results, *(new for _, new in pairs)], replace)
    if any(node.op.is_lazy for node in walk_within(roots)):
        from symc.loops.outline import outline  # late: most functions have no branches

        roots = outline(roots)
    results, news = roots[: len(results)], roots[len(results) :]
    updated = [_checked_update(s, new) for (s, _), new in zip(pairs, news, strict=True)]
    order = walk([*results, *(new for _, new in updated)])
    _check_inputs(order, variables, on_unused_input or config.on_unused_input)
    variables_held = _shared_of(order, updated)
    request = Request(
        _identifier(name), tuple(variables), variables_held, tuple(results), tuple(updated),
        _device(device, variables_held), tuple(_stays(item, on_device) for item in _items(outputs)),
    )  # fmt: skip
    return Function(request, ins, form, keys, mode_named(mode or config.mode))


def copied(
    original: Function,
    swap: Mapping[SharedVariable, SharedVariable],
    name: str | None,
    delete_updates: bool,
) -> Function:
    """`Function.copy`."""
    old = original.request
    for mine, other in swap.items():
        if mine not in old.shared or not isinstance(cast("object", other), SharedVariable):
            raise FunctionError(
                f"swap= replaces shared variables of the function by others, not {mine!r} by "
                f"{other!r}\n  the function has {', '.join(map(repr, old.shared)) or 'none'}"
            )
    replace = _as_givens([*swap.items()], [])
    updates = () if delete_updates else old.updates
    results = substitute(old.outputs, replace)
    news = substitute([_unchecked(new) for _, new in updates], replace)
    targets = [swap.get(target, target) for target, _ in updates]
    updated = [_checked_update(*pair) for pair in zip(targets, news, strict=True)]
    held = _shared_of(walk([*results, *(new for _, new in updated)]), updated)
    request = Request(
        old.name if name is None else _identifier(name), old.inputs, held, tuple(results),
        tuple(updated), _device(old.device, held), old.on_device,
    )  # fmt: skip
    return Function(request, original.ins, original.form, original.keys, original.mode)


def _unchecked(new: Tensor) -> Tensor:
    return new.args[0] if isinstance(new.op, NewValue) else new


# --- checking what was given ----------------------------------------------------------------------


def _as_in(item: Any, allow_downcast: bool | None) -> In:
    given = item if isinstance(item, In) else In(item, allow_downcast=allow_downcast)
    variable = cast("Any", given.variable)
    if isinstance(variable, SharedVariable):
        raise TypeError(
            f"the shared variable {variable!r} cannot be an input; use givens= to replace it"
        )
    if not isinstance(variable, Tensor):
        raise TypeError(f"an input must be a tensor, not {variable!r}")
    if isinstance(variable.op, Constant):
        raise TypeError(f"the constant {variable!r} cannot be an input")
    return given


def _as_outputs(outputs: Outputs) -> tuple[list[Tensor], str, list[str]]:
    if outputs is None:
        return [], "none", []
    if isinstance(outputs, Mapping):
        for key in cast("Mapping[Any, Any]", outputs):
            if not isinstance(key, str):
                raise TypeError(f"the keys of a dict of outputs must be strings, not {key!r}")
        return [_output(v) for v in outputs.values()], "dict", list(outputs)
    if isinstance(outputs, list | tuple):
        return [_output(item) for item in outputs], "list", []
    return [_output(outputs)], "one", []


def _items(outputs: Any) -> list[Any]:
    """The outputs as they were given, in order."""
    if outputs is None:
        return []
    if isinstance(outputs, Mapping):
        return list(cast("Mapping[str, Any]", outputs).values())
    if isinstance(outputs, list | tuple):
        return list(cast("Sequence[Any]", outputs))
    return [outputs]


def _stays(item: Any, on_device: bool) -> bool:
    """Whether an output is to stay on the device."""
    own = item.on_device if isinstance(item, Out) else None
    return on_device if own is None else own


def _device(wanted: str | None, held: Sequence[SharedVariable]) -> str:
    """The device of a function, which is that of its shared variables if they have one."""
    homes = {variable.device: variable for variable in held if variable.device is not None}
    if len(homes) > 1:
        lines = "".join(f"\n  {home}  {describe(node)}" for home, node in homes.items())
        raise FunctionError(f"shared variables on different devices in one function{lines}")
    home = next(iter(homes), None)
    chosen = wanted or home or config.device
    if chosen == "cuda":
        chosen = "cuda:0"
    if home is not None and home != chosen:
        raise FunctionError(
            f"a function on {chosen} cannot use a shared variable on {home}\n"
            f"  shared {describe(homes[home])}"
        )
    return chosen


def _output(value: Any) -> Tensor:
    return as_tensor(value.variable if isinstance(value, Out) else value)


def _pairs(given: Any, error: type[FunctionError], needs: str) -> Iterator[tuple[Any, Any]]:
    items = cast("Mapping[object, object]", given).items() if isinstance(given, Mapping) else given
    for pair in cast("Iterable[Any]", items):
        if not isinstance(cast("object", pair), tuple | list) or len(pair) != 2:
            raise error(f"{needs}, not {pair!r}")
        yield pair[0], pair[1]


def _as_updates(updates: Updates) -> list[tuple[SharedVariable, Tensor]]:
    pairs: list[tuple[SharedVariable, Tensor]] = []
    needs = "updates= needs pairs (shared variable, new value)"
    for target, new in _pairs(updates, BadUpdate, needs):
        if not isinstance(target, SharedVariable):
            raise BadUpdate(f"only shared variables can be updated, not {target!r}")
        if any(target is other for other, _ in pairs):
            raise BadUpdate(f"{target!r} is updated twice")
        pairs.append((target, as_tensor(new, target.dtype)))
    return pairs


def _checked_update(target: SharedVariable, new: Tensor) -> tuple[SharedVariable, Tensor]:
    """The update, converted where that loses nothing, or an error with both lines."""
    from symc.tensor.elementwise import cast_to

    lines = f"\n  shared {describe(target)}\n  new    {describe(new)}"
    if new.ndim != target.ndim:
        raise BadUpdate(f"the new value has {new.ndim} axes, its variable {target.ndim}{lines}")
    if new.dtype is not target.dtype:
        if not np.can_cast(to_numpy(new.dtype), to_numpy(target.dtype), "safe"):
            raise BadUpdate(
                f"the new value is {new.dtype} and would lose precision as {target.dtype}{lines}\n"
                f"  convert it: T.cast(new, {target.dtype.name!r})"
            )
        new = cast_to(new, target.dtype)
    for axis, (declared, dim) in enumerate(zip(target.op.declared, new.type.shape, strict=True)):
        if declared is not None and isinstance(dim, int) and dim != declared:
            raise BadUpdate(
                f"axis {axis} of the new value is {dim}, of its variable {declared}{lines}"
            )
    known = all(isinstance(dim, int) for dim in new.type.shape)
    return target, new if known else NewValue(target)(new)


@record
class NewValue(Op):
    """The new value of a shared variable, checked at run time to have its declared lengths."""

    variable: SharedVariable

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0]

    def expand(self, node: Tensor) -> Tensor | None:
        return node.args[0]

    def require(self, node: Tensor) -> Iterable[Requirement]:
        lengths = zip(self.variable.op.declared, node.type.shape, strict=True)
        for axis, (declared, dim) in enumerate(lengths):
            if declared is not None:
                yield self._requirement(node.args[0], axis, declared, dim)

    def _requirement(self, new: Tensor, axis: int, declared: int, dim: Dim) -> Requirement:
        return Requirement(
            (dim, declared),
            ShapeMismatch,
            lambda value: (
                f"axis {axis} of the new value is {value(dim)}, of its variable "
                f"{declared}\n  shared {describe(self.variable)}\n  new    {describe(new)}"
            ),
        )


def _as_givens(givens: Givens, ins: Sequence[In]) -> dict[Tensor, Tensor]:
    replace: dict[Tensor, Tensor] = {}
    variables = {item.variable for item in ins}
    needs = "givens= needs pairs (tensor, replacement)"
    for old, new in _pairs(givens, FunctionError, needs):
        if not isinstance(old, Tensor):
            raise TypeError(f"givens= replaces tensors, not {old!r}")
        if old in variables:
            raise FunctionError(f"{old!r} is an input; givens= cannot replace it as well")
        if old in replace:
            raise FunctionError(f"givens= replaces {old!r} twice")
        new = as_tensor(new, old.dtype) if not isinstance(new, np.ndarray) else shared(new)
        if new.dtype is not old.dtype or new.ndim != old.ndim:
            raise FunctionError(
                f"givens= cannot replace {old.type} by {new.type}\n"
                f"  tensor {describe(old)}\n  given  {describe(new)}"
            )
        replace[old] = new
    return replace


def _add_default_updates(
    results: Sequence[Tensor],
    pairs: list[tuple[SharedVariable, Tensor]],
    without: bool | Sequence[SharedVariable],
    replace: Mapping[Tensor, Tensor],
) -> None:
    """Adds the default updates of all shared variables reached, those of the updates included."""
    if without is True:
        return
    excluded = set(without or ())
    taken = {target for target, _ in pairs} | excluded
    pending: list[Tensor] = [*results, *(new for _, new in pairs), *replace.values()]
    while pending:
        order = walk(pending)
        found = [node for node in order if isinstance(node, SharedVariable)]
        pending = []
        for variable, new in advanced(order).items():
            if variable not in taken:
                taken.add(variable)
                pairs.append((variable, new))
                pending.append(new)
        for node in found:
            if node not in taken and node.default_update is not None:
                taken.add(node)
                pairs.append((node, node.default_update))
                pending.append(node.default_update)


def _warn_of_frozen(results: Sequence[Tensor], updated: set[SharedVariable]) -> None:
    """Warns when a loop changes a shared variable and its update was not passed on."""
    for node in walk(results):
        for variable, _ in node.op.changes(node):
            if variable not in updated:
                warnings.warn(
                    f"a loop changes {variable!r}, but the function does not update it: pass on "
                    f"the updates that scan returned\n  shared {describe(variable)}\n"
                    f"  loop   {describe(node)}",
                    stacklevel=3,
                )
                return


def _cut(ins: Sequence[In], replace: dict[Tensor, Tensor]) -> list[Tensor]:
    """The inputs; where one is an intermediate result, the graph is cut there."""
    variables: list[Tensor] = []
    cuts: dict[Tensor, Tensor] = {}
    for item in ins:
        variable = item.variable
        if variable in {other.variable for other in ins if other is not item}:
            raise UnusedInput(f"the input {variable!r} is listed twice")
        if not isinstance(variable.op, Input):
            shape = [dim if isinstance(dim, int) else None for dim in variable.type.shape]
            fresh = tensor(variable.dtype, shape, variable.name)
            cuts[variable] = fresh
            variable = fresh
        variables.append(variable)
    if cuts:
        cuts = {**_cut_lengths(cuts, {*variables, *replace}), **cuts}
        replace.update(zip(replace, substitute([*replace.values()], cuts), strict=True))
        replace.update(cuts)
    return variables


def _cut_lengths(cuts: Mapping[Tensor, Tensor], known: set[Tensor]) -> dict[Tensor, Tensor]:
    """Where a cut tensor's length stands for that of an input nobody gives, its own replaces it."""
    return {
        tensor_of(dim): length(fresh, axis)
        for variable, fresh in cuts.items()
        for axis, dim in enumerate(variable.type.shape)
        if not isinstance(dim, int)
        and all(isinstance(s.source.op, Input) and s.source not in known for s in sizes(dim))
    }


def _check_inputs(order: Sequence[Tensor], variables: Sequence[Tensor], unused: str) -> None:
    listed = set(variables)
    for node in order:
        if isinstance(node.op, Input) and node not in listed:
            raise MissingInput(
                f"the outputs need {node!r}, which is not among the inputs\n"
                f"  input  {describe(node)}\n  add it to inputs=, or give it a value with givens="
            )
    if unused not in ("raise", "warn", "ignore"):
        raise ValueError(f'on_unused_input is "raise", "warn" or "ignore", not {unused!r}')
    present = set(order)
    for position, variable in enumerate(variables):
        if variable not in present and unused != "ignore":
            text = (
                f"input {position}, {variable!r}, is not needed for the outputs\n"
                f"  input  {describe(variable)}\n"
                '  leave it out, or pass on_unused_input="ignore"'
            )
            if unused == "raise":
                raise UnusedInput(text)
            warnings.warn(text, stacklevel=3)


def _shared_of(
    order: Iterable[Tensor], updates: Iterable[tuple[SharedVariable, Tensor]]
) -> tuple[SharedVariable, ...]:
    found = dict.fromkeys(node for node in order if isinstance(node, SharedVariable))
    found.update(dict.fromkeys(target for target, _ in updates))
    return tuple(found)


def _identifier(name: str | None) -> str:
    text = "".join(c if c.isalnum() and c.isascii() else "_" for c in name or "function")
    return text if text and not text[0].isdigit() else f"f_{text}"


# --- conveniences ---------------------------------------------------------------------------------

_compiled: dict[tuple[Tensor, ...], Function] = {}


def evaluate_tensor(expression: Tensor, values: Mapping[Tensor, Any] | None = None) -> Array:
    """The value of an expression, given those of its inputs: ``x.eval({x: [1.0, 2.0]})``.

    Compiles a function for it, which is kept for the next time.
    """
    if not isinstance(cast("object", values), Mapping | None):
        raise TypeError(f"eval takes a dict of inputs and values, {{x: 1.0}}, not {values!r}")
    given = dict(values or {})
    key = (expression, *given)
    compiled = _compiled.get(key)
    if compiled is None:
        compiled = function(list(given), expression, on_unused_input="ignore")
        if len(_compiled) >= 256:
            _compiled.clear()
        _compiled[key] = compiled
    result: Array = compiled(*given.values())
    return result


METHODS["eval"] = evaluate_tensor


def clone(
    output: Tensor | Sequence[Tensor], replace: Givens = (), *, share_inputs: bool = True
) -> Any:
    """The expression(s) with tensors replaced: ``symc.clone(y, {x: x + 1})``.

    With ``share_inputs=False`` inputs that are not replaced become new ones.
    """
    outputs = [output] if isinstance(output, Tensor) else list(output)
    mapping = _as_givens(replace, [])
    if not share_inputs:
        for node in walk(outputs):
            if isinstance(node.op, Input) and node not in mapping:
                mapping[node] = tensor(node.dtype, node.op.declared, node.name)
    results = substitute(outputs, mapping)
    return results[0] if isinstance(output, Tensor) else results
