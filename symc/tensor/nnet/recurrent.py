"""Recurrent cells, one step of a network in time, and layers that go along a sequence."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import NamedTuple, cast

from symc.errors import RankError, ShapeMismatch
from symc.graph.inputs import as_tensor
from symc.graph.node import Tensor, TensorLike
from symc.graph.registry import SERVICES
from symc.tensor.activations import sigmoid
from symc.tensor.broadcast import describe
from symc.tensor.elementwise import cast_to
from symc.tensor.products import matmul
from symc.tensor.reshape import reshape
from symc.tensor.trigonometry import tanh

__all__ = ["States", "gru", "gru_cell", "lstm", "lstm_cell"]


class States(NamedTuple):
    """Results of `lstm`: the output and the memory after every step.

    >>> import symc.tensor as T
    >>> x, h, w, u = T.ones((3, 1, 2)), T.zeros((1, 2)), T.zeros((2, 8)), T.zeros((2, 8))
    >>> T.nnet.lstm(x, h, h, w, u)._fields
    ('output', 'memory')
    """

    output: Tensor
    memory: Tensor


def lstm_cell(
    x: TensorLike, h: TensorLike, c: TensorLike, w: TensorLike, u: TensorLike, b: TensorLike = 0.0
) -> tuple[Tensor, Tensor]:
    """One step of long short-term memory (Hochreiter and Schmidhuber, 1997; Gers et al., 2000).

    `x` is (batch, features); `h` and `c`, the output and the memory before, are (batch, hidden).
    `w` (features, 4 * hidden), `u` (hidden, 4 * hidden) and `b` (4 * hidden) have the gates side by
    side in the order input, forget, candidate, output. Gives the new output and memory::

        i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of x @ w + h @ u + b
        c = f * c + i * g
        h = o * tanh(c)

    The lengths must fit, at run time if need be.

    >>> import symc.tensor as T
    >>> h, c = T.nnet.lstm_cell([[1.0]], [[0.0]], [[2.0]], T.zeros((1, 4)), T.zeros((1, 4)))
    >>> c.eval(), h.eval()
    (array([[1.]]), array([[0.38079708]]))
    """
    return _lstm_step(matmul(x, w) + b, as_tensor(h), as_tensor(c), as_tensor(u))


def _lstm_step(x: Tensor, h: Tensor, c: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = _gates("lstm_cell", 4, x, matmul(h, u))
    memory = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(memory), memory


def gru_cell(
    x: TensorLike, h: TensorLike, w: TensorLike, u: TensorLike, b: TensorLike = 0.0
) -> Tensor:
    """One step of a gated recurrent unit (Cho et al., 2014).

    `x` is (batch, features), `h`, the output before, (batch, hidden). `w` (features, 3 * hidden),
    `u` (hidden, 3 * hidden) and `b` (3 * hidden) have, side by side, the parts for reset, update
    and candidate. The reset gate acts after the product with `u`. Gives the new output::

        r, z = sigmoid of the first two parts of x @ w + b + h @ u
        n = tanh(x @ w + b + r * (h @ u)), the third parts
        h = (1 - z) * n + z * h

    The lengths must fit, at run time if need be.

    >>> import symc.tensor as T
    >>> T.nnet.gru_cell([[1.0]], [[0.0]], [[0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]).eval()
    array([[0.38079708]])
    """
    return _gru_step(matmul(x, w) + b, as_tensor(h), as_tensor(u))


def _gru_step(x: Tensor, h: Tensor, u: Tensor) -> Tensor:
    (r, z, n), (to_r, to_z, to_n) = (_gates("gru_cell", 3, y) for y in (x, matmul(h, u)))
    update = sigmoid(z + to_z)
    return (1 - update) * tanh(n + sigmoid(r + to_r) * to_n) + update * h


def _gates(label: str, count: int, *terms: Tensor) -> list[Tensor]:
    """Parts of the last axis, all as long, of a sum."""
    whole = terms[0].type.shape[-1]
    if isinstance(whole, int) and whole % count:
        raise ShapeMismatch(
            f"{label}: the last axis of the weights is {whole}, which {count} gates cannot share\n"
            f"  given  {describe(terms[0])}"
        )
    if isinstance(whole, int):
        total, width = reduce(add, terms), whole // count
        return [total[..., number * width : (number + 1) * width] for number in range(count)]
    # Derivatives of slices of unknown length would have zeros around each, and be added up. Each
    # term has an axis of gates, as a view: the sum itself is not stored.
    apart = reduce(add, [_apart(count, term) for term in terms])
    return [apart[..., number, :] for number in range(count)]


def _apart(count: int, x: Tensor) -> Tensor:
    lengths = [x.shape[axis] for axis in range(x.ndim - 1)]
    return reshape(x, (*lengths, count, x.shape[-1] // count))


def lstm(
    x: TensorLike,
    h: TensorLike,
    c: TensorLike,
    w: TensorLike,
    u: TensorLike,
    b: TensorLike = 0.0,
    *,
    go_backwards: bool = False,
) -> States:
    """`lstm_cell` along a sequence: `x` is (steps, batch, features), `h` and `c` as before it.

    Gives outputs and memories of all steps, each (steps, batch, hidden), in the order in which they
    are computed: with `go_backwards` that of the last step of `x` first. The products with `w` are
    one for all steps.

    Shapes are as for `lstm_cell`.

    Both are tensors of the dtype of `x`.

    >>> import symc.tensor as T
    >>> x, h, c = T.ones((3, 1, 1)), [[0.0]], [[8.0]]
    >>> T.nnet.lstm(x, h, c, T.zeros((1, 4)), T.zeros((1, 4))).memory.eval().ravel()
    array([4., 2., 1.])
    """
    x, u = as_tensor(x), as_tensor(u)
    _check_sequence("lstm", x)
    whole = matmul(x, w) + b
    first = [cast_to(as_tensor(state), whole.dtype) for state in (h, c)]
    (outputs, memories), _ = SERVICES["scan"](
        _lstm_step, whole, first, u, go_backwards=go_backwards, strict=True, return_list=True
    )
    return States(outputs, memories)


def gru(
    x: TensorLike,
    h: TensorLike,
    w: TensorLike,
    u: TensorLike,
    b: TensorLike = 0.0,
    *,
    go_backwards: bool = False,
) -> Tensor:
    """`gru_cell` along a sequence: `x` is (steps, batch, features), `h` the output before it.

    Gives the outputs of all steps, (steps, batch, hidden), in the order of `lstm`.

    Shapes are as for `gru_cell`.

    A tensor of the dtype of `x`.

    >>> import symc.tensor as T
    >>> T.nnet.gru(T.ones((3, 1, 1)), [[0.0]], [[0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]).eval().ravel()
    array([0.38079708, 0.57119562, 0.66639489])
    """
    x, u = as_tensor(x), as_tensor(u)
    _check_sequence("gru", x)
    whole = matmul(x, w) + b
    outputs, _ = SERVICES["scan"](
        _gru_step, whole, cast_to(as_tensor(h), whole.dtype), u, go_backwards=go_backwards,
        strict=True,
    )  # fmt: skip
    return cast("Tensor", outputs)


def _check_sequence(label: str, x: Tensor) -> None:
    if x.ndim != 3:
        raise RankError(
            f"{label}: a sequence has axes (steps, batch, features)\n  given  {describe(x)}"
        )
