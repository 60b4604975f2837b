"""`while_loop` and `fori_loop`: loops of which only the last state is wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from symc import tensor as T
from symc.codegen.dtypes import INT64
from symc.errors import LoopError
from symc.graph.inputs import as_tensor, is_number
from symc.graph.node import Tensor, TensorLike
from symc.loops.api import Looping, looping
from symc.loops.build import step_number
from symc.loops.handed import called
from symc.loops.outcome import until
from symc.loops.states import initial_value
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to

MANY = 2**63 - 1  # steps
_ONE_BY_ONE = "states, each an argument of its own"


def while_loop(
    condition: Callable[..., TensorLike],
    body: Callable[..., Any],
    init: Any,
    max_steps: int | Tensor | None = None,
) -> Any:
    """Repeats ``state = body(state)`` as long as ``condition(state)`` is true, from `init` on.

    `init` is a tensor, or a list of tensors that both functions take as their arguments; the last
    state is returned in the same form. (Python's numbers are int64 and `config.floatX`.) There are
    at most `max_steps` steps. Gradients go through the steps that were done; without `max_steps`
    the loop is run once more for them. `vmap` batches the loop but not its gradients, which need
    the states of as many steps as each element did: `symc.map` takes these one after another. (A
    random stream that `body` draws from is advanced by the functions that contain the loop.)
    Initial values are broadcast to the shapes that `body` returns, and lengths that are known
    before the loop are compared, even if it does no step, as in `scan`.

    >>> import symc, symc.tensor as T
    >>> n = T.lscalar("n")
    >>> steps, last = symc.while_loop(
    ...     lambda steps, k: T.gt(k, 1),
    ...     lambda steps, k: (steps + 1, T.where(T.eq(k % 2, 0), k // 2, 3 * k + 1)),
    ...     [0, n],
    ... )
    >>> steps.eval({n: 27})
    array(111)
    """

    def goes_on(states: Sequence[Any]) -> Tensor:
        given = {_ONE_BY_ONE: len(states)}
        return _condition(called("while_loop: the condition", condition, tuple(states), given))

    first = goes_on([*map(initial_value, _listed(init))])
    steps = T.where(first, MANY if max_steps is None else max_steps, 0)

    def step(*state: Tensor) -> Any:
        made = called("while_loop: the body", body, state, {_ONE_BY_ONE: len(state)})
        after = _typed(_listed(made), state)
        return after, until(T.logical_not(goes_on(after)))

    unbounded = max_steps is None
    return _last(looping(step, None, _listed(init), None, steps, unbounded=unbounded), init)


def fori_loop(lower: int | Tensor, upper: int | Tensor, body: Callable[..., Any], init: Any) -> Any:
    """Repeats ``state = body(i, state)`` for i from `lower` to below `upper`, from `init` on.

    `init` is a tensor, or a list of tensors that `body` takes after i and returns; the last state
    is returned in the same form. (Python's numbers are int64 and `config.floatX`.) Initial values
    are broadcast to the shapes that `body` returns, and lengths that are known before the loop are
    compared, even if it does no step, as in `scan`.

    >>> import symc, symc.tensor as T
    >>> n = T.lscalar("n")
    >>> symc.fori_loop(1, n + 1, lambda i, product: product * i, 1).eval({n: 5})
    array(120)
    """
    number = step_number()
    for bound in map(as_tensor, (lower, upper)):
        if bound.ndim or not bound.dtype.is_integer:
            raise LoopError(
                f"fori_loop: i goes from one integer to another\n  given  {describe(bound)}"
            )
    # Differences of unsigned and of short integers would wrap.
    start, stop = (cast_to(bound, INT64) for bound in (lower, upper))
    steps = T.maximum(stop - start, 0)

    def step(*state: Tensor) -> Any:
        given = {"counter": 1, _ONE_BY_ONE: len(state)}
        return _listed(called("fori_loop: the body", body, (number + start, *state), given))

    return _last(looping(step, None, _listed(init), None, steps, step=number), init)


def _listed(state: Any) -> list[Any]:
    return list(cast("Sequence[Any]", state)) if isinstance(state, list | tuple) else [state]


def _typed(after: list[Any], state: Sequence[Tensor]) -> list[Any]:
    """The results of a step, with Python numbers as tensors like the state; `scan` counts them."""
    if len(after) != len(state):
        return after
    if any(value is None for value in after):
        raise LoopError("while_loop: the body returned None for a state; is its return missing?")
    return [
        as_tensor(value, old.dtype) if is_number(value) else value
        for value, old in zip(after, state, strict=True)
    ]


def _condition(value: TensorLike) -> Tensor:
    node = as_tensor(value)
    if node.ndim:
        raise LoopError(f"while_loop needs a scalar condition\n  given  {describe(node)}")
    return node


def _last(loop: Looping, init: Any) -> Any:
    found = [final[0] for final in loop.done.finals[: len(loop.starts)]]
    return found if isinstance(init, list | tuple) else found[0]
