"""`symc.function`: from symbolic inputs and outputs to something that can be called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, cast, overload

import numpy as np

from symc.calls.callable import Function
from symc.calls.in_out import In, Out, given_away
from symc.calls.updates import (
    NewValue,
    Updates,
    add_default_updates,
    as_updates,
    checked_update,
    pairs_of,
    warn_of_frozen,
)
from symc.config import config
from symc.errors import (
    BadUpdate,
    FunctionError,
    MissingInput,
    UnusedInput,
)
from symc.graph.dims import sizes
from symc.graph.inputs import (
    Constant,
    Input,
    SharedVariable,
    advanced,
    as_tensor,
    numbers,
    shared,
    tensor,
    tensor_like,
)
from symc.graph.node import (
    METHODS,
    Array,
    Tensor,
    TensorLike,
)
from symc.graph.packed import Packed, Packing, parts_of, returned_of
from symc.graph.provenance import warn
from symc.graph.request import Request, may_contract
from symc.graph.types import to_numpy
from symc.graph.values import held
from symc.graph.walks import (
    substitute,
    walk,
    walk_within,
)
from symc.tensor.broadcast import describe
from symc.tensor.lengths import length, tensor_of

Inputs: TypeAlias = "Sequence[Tensor | In | Packed]"
One: TypeAlias = "Tensor | Array | np.generic | complex"
"""An output whose result is an array of NumPy's."""
Output: TypeAlias = "TensorLike | Out | Packed"
Outputs: TypeAlias = "Output | Sequence[Output] | Mapping[str, Any] | None"
Givens: TypeAlias = "Mapping[Tensor, TensorLike] | Iterable[tuple[Tensor, TensorLike]]"


if TYPE_CHECKING:

    class Options(TypedDict, total=False):
        """The other arguments of `function`, for which the same results come."""

        updates: Updates | None
        givens: Givens | None
        mode: str | None
        name: str | None
        no_default_updates: bool | Sequence[SharedVariable]
        on_unused_input: str | None
        allow_input_downcast: bool | None
        device: str | None
        background: bool | None


@overload
def function(
    inputs: Inputs, outputs: None = None, *, on_device: bool = False, **options: Unpack[Options]
) -> Function[None]: ...
@overload
def function(
    inputs: Inputs, outputs: One, *, on_device: Literal[False] = False, **options: Unpack[Options]
) -> Function[Array]: ...
@overload
def function(
    inputs: Inputs,
    outputs: Sequence[One],
    *,
    on_device: Literal[False] = False,
    **options: Unpack[Options],
) -> Function[list[Array]]: ...
@overload
def function(
    inputs: Inputs,
    outputs: Mapping[str, One],
    *,
    on_device: Literal[False] = False,
    **options: Unpack[Options],
) -> Function[dict[str, Array]]: ...
@overload
def function(
    inputs: Inputs, outputs: Outputs, *, on_device: bool = False, **options: Unpack[Options]
) -> Function[Any]: ...
def function(
    inputs: Inputs,
    outputs: Outputs = None,
    *,
    updates: Updates | None = None,
    givens: Givens | None = None,
    mode: str | None = None,
    name: str | None = None,
    no_default_updates: bool | Sequence[SharedVariable] = False,
    on_unused_input: str | None = None,
    allow_input_downcast: bool | None = None,
    device: str | None = None,
    on_device: bool = False,
    background: bool | None = None,
) -> Function[Any]:
    """Compiles a function of `inputs` that computes `outputs` and then updates shared variables.

    - `inputs`, `outputs`: tensors, which stand for arrays, and sparse matrices (`T.sparse`), which
      stand for those of SciPy. `outputs` is one of them (which the call returns), a list (it
      returns a list), a dict (a dict), or None.
    - `updates`: pairs (shared variable, new value), all done at once after the outputs, from the
      values before the call. If a call raises, nothing is changed.
    - `givens`: pairs (tensor, replacement) that are substituted first.
    - `mode`: "default"; "fast" (also rewrites that hold only without inf and NaN); "compile"
      (quicker to compile); "python" (the NumPy interpreter); "nanguard" (the interpreter, raising
      at the first NaN or inf); "debug" (compiled, and every op checked in each call, with bounds
      and the compiler's sanitizers: an error or crash names the op and the line; slow). Theano's
      names FAST_RUN, FAST_COMPILE, NanGuardMode and DebugMode are accepted.
    - `device`: "cpu"; "cuda" or "cuda:1" for a graphics card; "cuda:sim" for a simulated one;
      "opencl" or "opencl:PLATFORM:DEVICE" for one of `symc.opencl.devices()`. By
      default that of the shared variables, or ``config.device``. Arguments may be NumPy arrays or
      arrays on the device; outputs are NumPy arrays, or with ``on_device=True``, which
      `Out` also has for a single output, `symc.cuda.DeviceArray`.
    - `allow_input_downcast`: True converts arguments though they lose precision. By default those
      with a dtype keep their values and Python's floats are rounded; False refuses that, too.
    - `background`: True returns at once. NumPy computes the graph, as in mode "python", until the
      function is compiled; its results then differ by rounding. `Function.wait` waits for that,
      `Function.compiled` asks. Calls raise what compiling raised. It has no effect for what is in
      the cache, on devices, in modes that interpret or check, or for graphs with code of the
      user's (`symc.user`, `symc.Print`). By default ``config.background``.
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
    from symc.calls.modes import (
        mode_named,  # late: all that compiling needs is imported by the first one
    )

    ins = [_as_in(part, allow_input_downcast) for item in inputs for part in parts_of(item)]
    results, form, keys = _as_outputs(outputs)
    pairs = as_updates(updates or ())
    given = {target for target, _ in pairs}
    replace = _as_givens(givens or (), ins)
    add_default_updates(results, pairs, no_default_updates, replace)
    variables = _cut(ins, replace)
    warn_of_frozen(results, given | advanced(walk(results)).keys())
    roots = substitute([*results, *(new for _, new in pairs)], replace)
    if any(node.op.is_lazy for node in walk_within(roots)):
        from symc.loops.outline import outline  # late: most functions have no branches or loops

        roots = outline(roots)
    results, news = roots[: len(results)], roots[len(results) :]
    updated = [checked_update(s, new) for (s, _), new in zip(pairs, news, strict=True)]
    order = walk([*results, *(new for _, new in updated)])
    _check_inputs(order, variables, on_unused_input or config.on_unused_input, inputs)
    variables_held = _shared_of(order, updated)
    where, chosen = _device(device, variables_held), mode_named(mode or config.mode)
    stays = (_stays(part, on_device) for item in _items(outputs) for part in parts_of(item))
    request = Request(
        _identifier(name), tuple(variables), variables_held, tuple(results), tuple(updated),
        where, tuple(stays),
        given=given_away(ins, variables, where, chosen),
        contracts=may_contract(),
    )  # fmt: skip
    later = config.background if background is None else background
    return Function(
        request, ins, form, keys, chosen, background=later,
        takes=Packing.of(inputs), gives=Packing.of(_items(outputs)),
    )  # fmt: skip


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
    replace = _as_givens([*swap.items()], [], "swap=")
    updates = () if delete_updates else old.updates
    results = substitute(old.outputs, replace)
    news = substitute([_unchecked(new) for _, new in updates], replace)
    targets = [swap.get(target, target) for target, _ in updates]
    for target in targets:
        if targets.count(target) > 1:
            raise BadUpdate(f"with swap= {target!r} is updated twice")
    updated = [checked_update(*pair) for pair in zip(targets, news, strict=True)]
    held = _shared_of(walk([*results, *(new for _, new in updated)]), updated)
    request = Request(
        old.name if name is None else _identifier(name), old.inputs, held, tuple(results),
        tuple(updated), _device(old.device, held), old.on_device,
        given=old.given, contracts=old.contracts,
    )  # fmt: skip
    return Function(
        request, original.ins, original.form, original.keys, original.mode,
        background=original.background, takes=original.takes, gives=original.gives,
    )  # fmt: skip


def _unchecked(new: Tensor) -> Tensor:
    return new.args[0] if isinstance(new.op, NewValue) else new


# --- checks of the arguments ----------------------------------------------------------------------
# -------------------------------------------------------------------


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
        return _outputs(outputs.values()), "dict", list(outputs)
    if isinstance(outputs, list | tuple):
        return _outputs(outputs), "list", []
    return _outputs([outputs]), "one", []


def _outputs(items: Iterable[Any]) -> list[Tensor]:
    return [_output(part) for item in items for part in returned_of(item)]


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
    if chosen != "cpu":
        from symc.codegen.targets.named import full_name  # late: most programs use no device

        chosen = full_name(chosen)
    if home is not None and home != chosen:
        raise FunctionError(
            f"a function on {chosen} cannot use a shared variable on {home}\n"
            f"  shared {describe(homes[home])}"
        )
    return chosen


def _output(value: Any) -> Tensor:
    return as_tensor(value.variable if isinstance(value, Out) else value)


def _as_givens(givens: Givens, ins: Sequence[In], word: str = "givens=") -> dict[Tensor, Tensor]:
    replace: dict[Tensor, Tensor] = {}
    variables = {item.variable for item in ins}
    needs = f"{word} needs pairs (tensor, replacement)"
    for old, new in pairs_of(givens, FunctionError, needs):
        if not isinstance(old, Tensor):
            raise TypeError(f"{word} replaces tensors, not {old!r}")
        if old in variables:
            raise FunctionError(f"{old!r} is an input; {word} cannot replace it as well")
        if old in replace:
            raise FunctionError(f"{word} replaces {old!r} twice")
        what = f"{word}: what replaces {old.name or repr(old)}"
        if type(new) is np.ndarray:
            array = numbers(new, what)
            converted = held(new, array, to_numpy(old.dtype))
            new = shared(array if converted is None else converted)
        else:
            new = tensor_like(new, old.dtype, what)
        if new.dtype is not old.dtype or new.ndim != old.ndim:
            raise FunctionError(
                f"{word} cannot replace {old.type} by {new.type}\n"
                f"  tensor {describe(old)}\n  given  {describe(new)}"
            )
        replace[old] = new
    return replace


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


def _check_inputs(
    order: Sequence[Tensor], variables: Sequence[Tensor], unused: str, inputs: Sequence[Any]
) -> None:
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
    for item in inputs:  # that parts of a value are needed is enough
        if isinstance(item, Packed) and not present.isdisjoint(item.parts):
            present.update(item.parts)
    for position, variable in enumerate(variables):
        if variable not in present and unused != "ignore":
            text = (
                f"input {position}, {variable!r}, is not needed for the outputs\n"
                f"  input  {describe(variable)}\n"
                '  leave it out, or pass on_unused_input="ignore"'
            )
            if unused == "raise":
                raise UnusedInput(text)
            warn(text)


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
    output: Tensor | Sequence[Tensor], replace: Givens | None = None, *, share_inputs: bool = True
) -> Any:
    """The expression(s) with tensors replaced: ``symc.clone(y, {x: x + 1})``.

    With ``share_inputs=False`` inputs that are not replaced become new ones.

    >>> import symc, symc.tensor as T
    >>> x, y = T.vectors("x", "y")
    >>> symc.clone(T.exp(x) + 1, {x: y * y})
    <exp(y * y) + 1.0 float64[y.shape[0]]>
    """
    outputs = [output] if isinstance(output, Tensor) else list(output)
    mapping = _as_givens(replace or (), [])
    if not share_inputs:
        for node in walk(outputs):
            if isinstance(node.op, Input) and node not in mapping:
                mapping[node] = tensor(node.dtype, node.op.declared, node.name)
    results = substitute(outputs, mapping)
    return results[0] if isinstance(output, Tensor) else results
