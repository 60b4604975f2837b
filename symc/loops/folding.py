"""`map`, `reduce`, `foldl` and `foldr`: loops with Theano's signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc.loops.api import looping, scan, shown
from symc.loops.carried import Updates


def map(
    fn: Callable[..., Any],
    sequences: Any,
    non_sequences: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: object = None,
    name: str | None = None,
) -> tuple[Any, Updates]:
    """`fn` of every row of the tensors `sequences`: (outputs, updates), as `scan` without states.

    >>> import symc, symc.tensor as T
    >>> x = T.matrix("x")
    >>> norms, _ = symc.map(lambda row: T.sqrt((row ** 2).sum()), x)
    >>> norms.eval({x: [[3.0, 4.0], [5.0, 12.0]]})
    array([ 5., 13.])
    """
    return scan(
        fn, sequences, None, non_sequences, None, truncate_gradient, go_backwards, mode, name
    )


def reduce(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    go_backwards: bool = False,
    mode: object = None,
    name: str | None = None,
) -> tuple[Any, Updates]:
    """The final tensors of a `scan`: (the outputs of its last step, updates).

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> total, _ = symc.reduce(lambda row, total: total + row, x, 0)
    >>> total.eval({x: [1.0, 2.0, 3.0]})
    array(6.)
    """
    del mode
    loop = looping(fn, sequences, outputs_info, non_sequences, go_backwards=go_backwards)
    finals, collected = iter(loop.done.finals), iter(loop.done.collected)
    outputs = [next(collected)[-1] if begin is None else next(finals)[-1] for begin in loop.starts]
    return shown(outputs, name), loop.updates


def foldl(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: object = None,
    name: str | None = None,
) -> tuple[Any, Updates]:
    """`reduce` from the first row to the last: the function gets a row, then the tensor so far.

    >>> import symc, symc.tensor as T
    >>> digits = T.lvector("digits")
    >>> number, _ = symc.foldl(lambda digit, number: 10 * number + digit, digits, 0)
    >>> number.eval({digits: [1, 2, 3]})
    array(123)
    """
    return reduce(fn, sequences, outputs_info, non_sequences, False, mode, name)


def foldr(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: object = None,
    name: str | None = None,
) -> tuple[Any, Updates]:
    """`reduce` from the last row to the first: the function gets a row, then the tensor so far.

    >>> import symc, symc.tensor as T
    >>> digits = T.lvector("digits")
    >>> number, _ = symc.foldr(lambda digit, number: 10 * number + digit, digits, 0)
    >>> number.eval({digits: [1, 2, 3]})
    array(321)
    """
    return reduce(fn, sequences, outputs_info, non_sequences, True, mode, name)
