"""What users say of the arguments and results of a function beyond the tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from symc.codegen.record import record
from symc.graph.node import Tensor
from symc.graph.public import check_fields


@record
class In:
    """An input of a function with more to say: a default value, a name for keywords.

    `value` is used when the argument is left out. (A default that changes from call to call is a
    shared variable with an update.) `allow_downcast` is `allow_input_downcast` of `symc.function`,
    for this input.

    With `mutable` the caller gives the array away: a result that is computed from it, of the same
    shape and dtype, is written into its memory where the graph allows that, and is that array.
    After the call the argument has no meaning; after one that raises it is as before, unless a
    signal or a lack of memory ended the call. Arrays that are only to be read, or that share
    memory with another argument, stay as they are, and so do all arguments in modes that interpret
    or check, and on devices. `explain` says which are overwritten. `borrow` is Theano's, and
    changes nothing.

    >>> import symc, symc.tensor as T
    >>> x, y = T.scalars("x", "y")
    >>> f = symc.function([x, symc.In(y, value=10.0)], x + y, mode="python")
    >>> f(1.0), f(1.0, y=2.0)
    (array(11.), array(3.))
    >>> import numpy as np
    >>> table, i = T.matrix("table"), T.lscalar("i")
    >>> add = symc.function([symc.In(table, mutable=True), i], table[i].inc(1.0))
    >>> numbers = np.zeros((1000, 1000))
    >>> add(numbers, 2) is numbers, float(numbers[2, 3])
    (True, 1.0)
    """

    variable: Tensor
    name: str | None = None
    value: Any = None
    allow_downcast: bool | None = None
    borrow: bool = False
    mutable: bool = False

    def __new__(cls, *args: Any, **options: Any) -> Self:
        check_fields(cls, options)
        return object.__new__(cls)


def default_of(item: In) -> Any:
    """The value for a call that gives none: an array of its own, if calls may write there."""
    value: Any = item.value
    return value.copy() if item.mutable and type(value) is np.ndarray else value


def given_away(
    ins: Sequence[In], variables: Sequence[Tensor], device: str, mode: str
) -> tuple[Tensor, ...]:
    """The inputs whose arrays a function of this device and mode may overwrite."""
    if device != "cpu" or mode == "debug":
        return ()
    return tuple(x for item, x in zip(ins, variables, strict=True) if item.mutable and x.ndim)


@record
class Out:
    """An output of a function.

    Outputs alias nothing but arguments that were given away, so `borrow` changes nothing.

    With `on_device` a function on a device leaves it there, and returns a `symc.cuda.DeviceArray`.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.function([x], symc.Out(x * 2, borrow=True), mode="python")([1.0, 2.0])
    array([2., 4.])
    """

    variable: Tensor
    borrow: bool = False
    on_device: bool | None = None

    def __new__(cls, *args: Any, **options: Any) -> Self:
        check_fields(cls, options)
        return object.__new__(cls)
