"""Derivatives on Theano's graph: `grad` walks it backwards, from op to op.

Each op gives its own step (`Op.L_op`), symc's ops by `symc.theano.pullback`. What a gradient is:
of the dtype of its variable, never of integers; `DisconnectedType` where nothing connects; a
`NullType` where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symc.graph.provenance import warn
from symc.theano.configparser import config
from symc.theano.gof.graph import Constant, Variable, io_toposort, replaced
from symc.theano.gof.null_type import NullType
from symc.theano.gradient_ops import (
    ConsiderConstant as ConsiderConstant,
)
from symc.theano.gradient_ops import (
    DisconnectedGrad as DisconnectedGrad,
)
from symc.theano.gradient_ops import (
    GradClip as GradClip,
)
from symc.theano.gradient_ops import (
    GradScale as GradScale,
)
from symc.theano.gradient_ops import (
    UndefinedGrad as UndefinedGrad,
)
from symc.theano.gradient_ops import (
    ZeroGrad as ZeroGrad,
)
from symc.theano.gradient_ops import (
    consider_constant as consider_constant,
)
from symc.theano.gradient_ops import (
    consider_constant_ as consider_constant_,
)
from symc.theano.gradient_ops import (
    disconnected_grad as disconnected_grad,
)
from symc.theano.gradient_ops import (
    disconnected_grad_ as disconnected_grad_,
)
from symc.theano.gradient_ops import (
    grad_clip as grad_clip,
)
from symc.theano.gradient_ops import (
    grad_scale as grad_scale,
)
from symc.theano.gradient_ops import (
    undefined_grad as undefined_grad,
)
from symc.theano.gradient_ops import (
    zero_grad as zero_grad,
)
from symc.theano.gradient_ops import (
    zero_grad_ as zero_grad_,
)
from symc.theano.gradient_tape import Tape, pattern_of
from symc.theano.gradient_types import (
    DisconnectedInputError as DisconnectedInputError,
)
from symc.theano.gradient_types import (
    DisconnectedType as DisconnectedType,
)
from symc.theano.gradient_types import (
    NullTypeGradError as NullTypeGradError,
)
from symc.theano.gradient_types import (
    grad_not_implemented as grad_not_implemented,
)
from symc.theano.gradient_types import (
    grad_undefined as grad_undefined,
)
from symc.theano.gradient_types import (
    zeros_of as zeros_of,
)
from symc.theano.scalar.dtypes import complex_dtypes, discrete_dtypes
from symc.theano.tensor import creation
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.type import TensorType

# --- grad -----------------------------------------------------------------------------------------

disconnected_type = DisconnectedType()  # Theano's name of the only one


def grad(
    cost: Any, wrt: Any, consider_constant: Any = None, disconnected_inputs: str = "raise",
    add_names: bool = True, known_grads: Any = None, return_disconnected: str = "zero",
    null_gradients: str = "raise",
) -> Any:  # fmt: skip
    """The gradient of a scalar cost by a variable, or by each of several."""
    if cost is None and known_grads is None:
        raise AssertionError("cost and known_grads can't both be None.")
    _check_cost(cost)
    if isinstance(wrt, set | dict):
        raise TypeError(
            "wrt passed as a set or a dict has no deterministic order; pass a list or a tuple"
        )
    targets = list(wrt) if isinstance(wrt, list | tuple) else [wrt]
    for each in targets:
        if not isinstance(each, Variable):
            raise TypeError(f"Expected Variable, got {each} of type {type(each)}")
    if any(isinstance(each, Constant) for each in targets):
        options = (disconnected_inputs, add_names, return_disconnected, null_gradients)
        found = _by_constants(cost, targets, consider_constant, known_grads, options)
        return _like(wrt, found)
    bars = dict(_starting(cost, known_grads))
    outputs = list(bars)
    stop = set(consider_constant or ())
    if disconnected_inputs not in ("raise", "warn", "ignore"):
        raise ValueError(f"Invalid value for keyword 'disconnected_inputs': {disconnected_inputs}")
    tape = Tape(outputs, targets, stop)
    reached = {each for node in tape.nodes for each in node.inputs} | set(outputs)
    for each in targets:
        if each not in reached:
            _disconnected(each, disconnected_inputs)
    tape.walk_back(bars)
    results = [_finished(each, bars, return_disconnected, null_gradients) for each in targets]
    if add_names and cost is not None and cost.name is not None:
        for each, result in zip(targets, results, strict=True):
            if each.name is not None and getattr(result, "name", "x") is None:
                result.name = f"(d{cost.name}/d{each.name})"
    if isinstance(wrt, tuple):
        return tuple(results)
    return results if isinstance(wrt, list) else results[0]


def _by_constants(
    cost: Any, targets: list[Any], blocked: Any, known_grads: Any, options: tuple[Any, ...]
) -> list[Any]:
    """The gradients where some targets are constants: variables stand in for those."""
    stand = {each: each.type(each.name) for each in targets if isinstance(each, Constant)}
    known = dict(known_grads or {})
    ends = [each for each in (cost, *known) if each is not None]
    disconnected, add_names, returned, null = options
    news = replaced([*ends, *(blocked or ())], stand)
    memo = dict(zip(ends, news, strict=False))
    found = grad(
        None if cost is None else memo[cost], [stand.get(each, each) for each in targets],
        news[len(ends) :] or None, disconnected, add_names,
        {memo[key]: bar for key, bar in known.items()} or None, returned, null,
    )  # fmt: skip
    back = {variable: each for each, variable in stand.items()}
    return replaced(found, back)


def _check_cost(cost: Any) -> None:
    if cost is None:
        return
    if isinstance(cost.type, NullType):
        raise ValueError(
            f"Can't differentiate a NaN cost. cost is NaN because {cost.type.why_null}"
        )
    if cost.ndim != 0:
        raise TypeError("cost must be a scalar.")
    if cost.type.dtype in complex_dtypes:
        raise TypeError("cost must be real: take abs, real or imag of it")


def _starting(cost: Any, known_grads: Any) -> list[tuple[Any, Any]]:
    """The gradients that are known to begin with."""
    found: dict[Any, Any] = {}
    for variable, bar in dict(known_grads or {}).items():
        if not hasattr(variable, "type"):
            raise TypeError(f"known_grads must have variables as keys, not {variable!r}")
        bar = as_tensor_variable(bar) if not isinstance(bar, Variable) else bar
        if isinstance(bar.type, TensorType) and bar.ndim != variable.ndim:
            raise ValueError(
                f"The gradient of {variable} has {bar.ndim} axes, the variable {variable.ndim}"
            )
        found[variable] = bar
    if cost is not None and cost not in found:
        dtype = config.floatX if cost.dtype in discrete_dtypes else cost.dtype
        found[cost] = creation.ones_like(cost, dtype)
    return [(v, bar) for v, bar in found.items() if not isinstance(bar.type, DisconnectedType)]


def _disconnected(variable: Any, how: str) -> None:
    text = (
        "grad method was asked to compute the gradient with respect to a variable that is not part "
        "of the computational graph of the cost, or is used only by a non-differentiable operator: "
        f"{variable}"
    )
    if how == "raise":
        raise DisconnectedInputError(text)
    if how == "warn":
        warn(text)


def _finished(variable: Any, bars: dict[Any, Any], disconnected: str, null: str) -> Any:
    found = bars.get(variable)
    if found is not None and isinstance(found.type, NullType):
        if null == "return":
            return found
        raise NullTypeGradError(f"tensor.grad encountered a NaN. {found.type.why_null}")
    if found is None or isinstance(found.type, DisconnectedType):
        kind = disconnected.lower()
        if kind == "zero":
            return zeros_of(variable)
        if kind == "none":
            return None
        return DisconnectedType()()
    return found


def subgraph_grad(
    wrt: Any, end: Any, start: Any = None, cost: Any = None, details: bool = False
) -> Any:
    """The gradients by `wrt` and by `end` of the graph between those and the known `start`.

    Two lists; with `details` also the parts of both together from `start` and from `cost`.
    """
    if cost is None and start is None:
        raise ValueError("`cost` or `start` must be specified.")
    if not isinstance(end, list) or not isinstance(wrt, list):
        raise TypeError("wrt and end are lists")
    params = [*wrt, *end]
    options: dict[str, Any] = {"consider_constant": end, "disconnected_inputs": "ignore"}
    parts: list[Any] = []
    if start is not None:
        parts.append(grad(None, params, known_grads=start, **options))
    if cost is not None:
        parts.append(grad(cost, params, **options))
    totals = parts[0]
    for each in parts[1:]:
        totals = [a + b for a, b in zip(totals, each, strict=True)]
    found = totals[: len(wrt)], totals[len(wrt) :]
    if not details:
        return found
    return (*found, parts[0] if start is not None else None,
            parts[-1] if cost is not None else None)  # fmt: skip


# --- Lop, Rop -------------------------------------------------------------------------------------


def _many(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _like(value: Any, results: list[Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(results)
    return results if isinstance(value, list) else results[0]


def Lop(
    f: Any, wrt: Any, eval_points: Any, consider_constant: Any = None,
    disconnected_inputs: str = "raise",
) -> Any:  # fmt: skip
    """`eval_points` times the Jacobian of `f` by `wrt`."""
    fs, points = _many(f), [as_tensor_variable(each) for each in _many(eval_points)]
    known: dict[Any, Any] = {}
    for each, point in zip(fs, points, strict=True):
        known[each] = known[each] + point if each in known else point
    results = grad(
        cost=None, known_grads=known, consider_constant=consider_constant, wrt=_many(wrt),
        disconnected_inputs=disconnected_inputs,
    )  # fmt: skip
    return _like(wrt, list(results))


def Rop(
    f: Any, wrt: Any, eval_points: Any, disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
) -> Any:  # fmt: skip
    """The Jacobian of `f` by `wrt` times `eval_points`."""
    fs, targets = _many(f), [as_tensor_variable(each) for each in _many(wrt)]
    points = [as_tensor_variable(each) for each in _many(eval_points)]
    if len(targets) != len(points):
        raise ValueError("`wrt` must be the same length as `eval_points`.")
    ways: dict[Any, Any] = {}
    for position, (each, point) in enumerate(zip(targets, points, strict=True)):
        if each.type.ndim != point.type.ndim:
            raise ValueError(
                f"Element {position} of wrt/eval_point have mismatched dimensionality: "
                f"{each.type.ndim} versus {point.type.ndim}"
            )
        ways[each] = point
    _push(fs, ways)
    return _like(f, [_pushed(each, ways, disconnected_outputs, return_disconnected) for each in fs])


def _push(outputs: Sequence[Any], ways: dict[Any, Any]) -> None:
    for node in io_toposort(list(ways), outputs):
        points = [ways.get(each) for each in node.inputs]
        if all(point is None for point in points):
            continue
        pattern = pattern_of(node)
        points = [p if any(pattern[k]) else None for k, p in enumerate(points)]
        if all(point is None for point in points):
            continue
        found = node.op.R_op(node.inputs, points)
        for each, way in zip(node.outputs, found, strict=True):
            if way is not None and each not in ways and not isinstance(way.type, DisconnectedType):
                ways[each] = way


def _pushed(output: Any, ways: dict[Any, Any], disconnected: str, returned: str) -> Any:
    if output in ways:
        return ways[output]
    text = (
        "Rop method was asked to compute the gradient with respect to a variable that is not part "
        "of the computational graph of variables in wrt, or is used only by a non-differentiable "
        f"operator: {output}"
    )
    if disconnected == "warn":
        warn(text)
    elif disconnected == "raise":
        raise DisconnectedInputError(text)
    if returned.lower() == "none":
        return None
    return zeros_of(output) if returned.lower() == "zero" else DisconnectedType()()


# --- Jacobian, Hessian ----------------------------------------------------------------------------


def jacobian(
    expression: Any, wrt: Any, consider_constant: Any = None, disconnected_inputs: str = "raise"
) -> Any:
    """All derivatives of a vector by variables: matrices with a row for each element."""
    from symc.theano.scan_module.scan import scan

    assert isinstance(expression, Variable), "tensor.jacobian expects a Variable as `expression`"
    assert expression.ndim < 2, (
        "tensor.jacobian expects a 1 dimensional variable as `expression`. If not use flatten to "
        "make it a vector"
    )
    targets = _many(wrt)
    options: dict[str, Any] = {
        "consider_constant": consider_constant, "disconnected_inputs": disconnected_inputs,
    }  # fmt: skip
    if expression.ndim == 0:
        return _like(wrt, list(grad(expression, targets, **options)))
    results, _ = scan(
        lambda position, *_: grad(expression[position], targets, **options),
        sequences=creation.arange(expression.shape[0]),
        non_sequences=[expression, *targets], return_list=True,
    )  # fmt: skip
    return _like(wrt, list(results))


def hessian(
    cost: Any, wrt: Any, consider_constant: Any = None, disconnected_inputs: str = "raise"
) -> Any:
    """The second derivatives of a cost by vectors."""
    assert isinstance(cost, Variable), "tensor.hessian expects a Variable as `cost`"
    assert cost.ndim == 0, "tensor.hessian expects a 0 dimensional variable as `cost`"
    found: list[Any] = []
    for each in _many(wrt):
        assert isinstance(each, Variable), "tensor.hessian expects a (list of) Variable as `wrt`"
        assert each.ndim == 1, "tensor.hessian expects a (list of) 1 dimensional variable as `wrt`"
        row = grad(cost, each, consider_constant, disconnected_inputs)
        found.append(jacobian(row, each, disconnected_inputs="ignore"))
    return _like(wrt, found)


def __getattr__(name: str) -> Any:
    # `verify_grad` compiles functions, which are made of more than this module.
    if name in ("GradientError", "numeric_grad", "verify_grad"):
        from symc.theano import verify

        return getattr(verify, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
