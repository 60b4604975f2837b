"""Products of a batch of sparse matrices that share their structure: element by element.

They gather what each stored element is multiplied with, and add up: correct, but with an array of
all the terms. Products of one matrix with a batch of dense operands do without (`products.py`).
"""

from __future__ import annotations

from symc.graph.dims import Dim
from symc.graph.node import Tensor
from symc.tensor.assign import inc_subtensor
from symc.tensor.build import zeros
from symc.tensor.reduce import sum as summed
from symc.tensor.views import broadcast_to, expand_dims

__all__: list[str] = []


def scattered(
    data: Tensor,
    sources: Tensor,
    targets: Tensor,
    x: Tensor,
    length: Dim,
    batched: tuple[bool, bool],
) -> Tensor:
    """The sums of ``data * x[sources]`` for each of `targets`, below `length`.

    `batched` says of `data` and of `x` whether they have the leading axis.
    """
    of_data, of_x = batched
    picked = x[:, sources] if of_x else x[sources]
    columns = x.ndim - 1 - int(of_x)
    terms = expand_dims(data, -1) * picked if columns else data * picked
    count = (data if of_data else x).type.shape[0]
    tail = terms.type.shape[-columns:] if columns else ()
    return inc_subtensor(zeros((count, length, *tail), data.dtype)[:, targets], terms)


def sampled(
    u: Tensor, v: Tensor, rows: Tensor, columns: Tensor, batched: tuple[bool, bool]
) -> Tensor:
    """The products of `u` at `rows` and `v` at `columns`, summed over the last axis of two."""
    left = u[:, rows] if batched[0] else u[rows]
    right = v[:, columns] if batched[1] else v[columns]
    terms = left * right
    own = u.ndim - int(batched[0])
    made = summed(terms, axis=-1) if own == 2 else terms
    count = (u if batched[0] else v).type.shape[0]
    return made if made.ndim == 2 else broadcast_to(made, (count, *made.type.shape))
