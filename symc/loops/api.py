"""`symc.scan`: loops with Theano's meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from symc.codegen.record import record
from symc.errors import LoopError, MissingInput
from symc.graph.inputs import Input, SharedVariable, as_tensor
from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.loops.build import Carrying, LoopParts, Reading, step_number
from symc.loops.carried import Updates, carried, made_before, with_default_updates
from symc.loops.first_step import FirstStep
from symc.loops.outcome import Outcome
from symc.loops.run import Done, run
from symc.loops.sequences import along, count_steps, known_steps, listed
from symc.loops.states import Start, start
from symc.loops.trace import Traced, trace
from symc.tensor.broadcast import describe
from symc.tensor.lengths import Length, tensor_of
from symc.tensor.views import expand_dims


def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: object = None,
    name: str | None = None,
    profile: object = False,
    allow_gc: object = None,
    strict: bool = False,
    return_list: bool = False,
    *,
    checkpoint: int | None = None,
) -> tuple[Any, Updates]:
    """A loop: the graph of `fn`, called once on symbols, repeated. Gives (outputs, updates).

    `fn` is given, in this order, the current rows of the `sequences`, earlier rows of the outputs
    that have an entry in `outputs_info`, and the `non_sequences`. It returns the outputs of a step,
    then, if there are any, updates of shared variables (a dict or a list of pairs), then, if the
    loop may end early, `until` (condition). Each output becomes a tensor with the values of all
    steps along a new first axis. One output is returned as a tensor, several as a list
    (`return_list`: always as a list). All steps give the same lengths: where only a step knows one,
    as of ``x[i : i + k]``, it is compared with that of the first step; of no steps it is 0.

    - `sequences`: tensors whose first axis the loop goes along, or ``dict(input=x, taps=[-1, 0])``
      to read several rows at a time. The loop has as many steps as the shortest allows, or
      `n_steps`, which may be symbolic and 0.
    - `outputs_info`: for each output None if steps do not read it, else its value before the first
      step, or ``dict(initial=x, taps=[-2, -1])``, where x has a row for each step reached back,
      oldest first. Initial values are converted and broadcast to the results of a step, never
      narrowed; Python's numbers are int64 and `config.floatX`.
    - `non_sequences`: further arguments of `fn`. Whatever else `fn` uses is found without being
      listed, unless `strict`. Values computed or drawn outside `fn` are the same in all steps;
      numbers that `fn` draws from a stream are new in each.
    - `go_backwards`: along the sequences from their ends.
    - `truncate_gradient`: gradients flow through the last steps only, that many. Derivatives of
      such a gradient are those of what it computes, as Theano has them.
    - `checkpoint`: gradients keep the states of each so-manieth step only and compute those between
      anew: less memory, more time.
    - `updates` has the last values of shared variables that the loop changes; pass it on to
      `symc.function`. (Those of variables with default updates, such as random streams, are made
      anyway.)

    The whole loop is compiled into the function that uses it, with everything that does not change
    from step to step computed before it; what of that may fail, only if a step needs it. (Lengths
    that are known before the loop are compared even if there is none.) `mode`, `profile` and
    `allow_gc` are there for programs that were written for Theano, and change nothing.

    >>> import symc, symc.tensor as T
    >>> x, k = T.vector("x"), T.lscalar("k")
    >>> powers, updates = symc.scan(
    ...     lambda before, x: before * x, outputs_info=T.ones_like(x), non_sequences=x, n_steps=k
    ... )
    >>> f = symc.function([x, k], powers[-1], updates=updates)
    >>> f([1.0, 2.0, 3.0], 3)
    array([ 1.,  8., 27.])
    """
    del mode, profile, allow_gc
    loop = looping(
        fn, sequences, outputs_info, non_sequences, n_steps, truncate_gradient, go_backwards,
        strict, checkpoint,
    )  # fmt: skip
    histories, collected = iter(loop.done.histories), iter(loop.done.collected)
    outputs = [next(collected if begin is None else histories) for begin in loop.starts]
    return shown(outputs, name, return_list), loop.updates


def shown(outputs: list[Tensor], name: str | None, return_list: bool = False) -> Any:
    """Outputs as they are returned: one as it is, several as a list, none as None."""
    for output in outputs:
        output.name = output.name or name
    return outputs[0] if len(outputs) == 1 and not return_list else outputs or None


@record
class Looping:
    """A loop made from a user's function: where its outputs start from, its results, updates."""

    starts: tuple[Start | None, ...]
    done: Done
    updates: Updates


def looping(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    strict: bool = False,
    checkpoint: int | None = None,
    step: Tensor | None = None,
    unbounded: bool = False,
) -> Looping:
    """The loop of `scan`; `step`, if given, stands for the number of the step in `fn`."""
    alongs = [along(given) for given in listed(sequences)]
    constants = [as_tensor(given) for given in listed(non_sequences)]
    steps = count_steps(n_steps, alongs)
    infos = [start(given) for given in listed(outputs_info)] or None
    is_constant = made_before(constants)
    number = step_number() if step is None else step
    traced = trace(fn, alongs, infos, constants, number)
    updated = with_default_updates(traced.step, is_constant)
    if not (traced.step.outputs or updated or traced.step.condition is not None):
        raise LoopError("scan: the function returned nothing to compute; is its return missing?")
    outcome, slots = carried(traced.step, updated, is_constant)
    reads = (
        Reading(each.tensor, each.rows(go_backwards), rows)
        for each, rows in zip(alongs, traced.rows, strict=True)
    )
    shared = (
        Carrying(expand_dims(variable, 0), (-1,), (slots[variable],), new, shared=True)
        for variable, new in outcome.updates.items()
    )
    first = FirstStep(number, steps, alongs, traced, slots, go_backwards)
    pairs = zip(traced.starts, outcome.outputs, strict=True)
    plan = LoopParts(
        tensor_of(steps), number, tuple(reads), (*_states(traced, outcome), *shared),
        tuple(first.alike(result) for begin, result in pairs if begin is None),
        outcome.condition, _steps_of_gradient(truncate_gradient), unbounded=unbounded,
    )  # fmt: skip
    if strict:
        _check_strict(plan, [*constants, *slots.values()])
    done = run(plan, checkpoint)
    finals = done.finals[len(outcome.outputs) - len(done.collected) :]
    updates = zip(outcome.updates, (final[0] for final in finals), strict=True)
    return Looping(traced.starts, done, Updates(updates))


def _states(traced: Traced, step: Outcome) -> Iterator[Carrying]:
    """The outputs that later steps read."""
    for begin, earlier, result in zip(traced.starts, traced.earlier, step.outputs, strict=True):
        if begin is not None:
            yield Carrying(begin.rows, begin.taps, earlier, result)


def _steps_of_gradient(truncate_gradient: int) -> int | None:
    is_number = isinstance(cast("object", truncate_gradient), int | np.integer)
    if is_number and truncate_gradient == -1:
        return None
    return known_steps("truncate_gradient", truncate_gradient)


def _check_strict(plan: LoopParts, known: Sequence[Tensor]) -> None:
    """Raises `MissingInput` when steps use inputs that were not given to them."""
    slots = [part.slots for part in plan.reads] + [part.slots for part in plan.carries]
    given = {*known, *(slot for own in slots for slot in own)}
    results = [*(carry.result for carry in plan.carries), *plan.collected]
    if plan.condition is not None:
        results.append(plan.condition)
    for node in walk(results, stop=lambda node: node in given or isinstance(node.op, Length)):
        if node not in given and (isinstance(node, SharedVariable) or isinstance(node.op, Input)):
            raise MissingInput(
                f"scan: with strict=True, {node!r} must be among non_sequences\n"
                f"  used   {describe(node)}"
            )
