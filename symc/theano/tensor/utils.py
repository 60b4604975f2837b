"""`theano.tensor.utils`: names for arrays, and the shapes of a whole graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symc.theano.gof.utils import hash_from_code


def hash_from_ndarray(data: Any) -> str:
    """A name of an array's values, shape, strides and dtype."""
    array = np.ascontiguousarray(data)
    whole: list[str | bytes] = [
        array.tobytes(),
        str(np.shape(data)),
        str(array.strides),
        str(array.dtype),
    ]
    return hash_from_code("".join(hash_from_code(each) for each in whole))


def shape_of_variables(
    fgraph: Any, input_shapes: Mapping[Any, Sequence[int]]
) -> dict[Any, tuple[int, ...]]:
    """The shapes of all variables of a function graph, given those of its inputs.

    Raises ValueError for inputs that are not the graph's: by default it is a copy.
    """
    from symc.theano.compile.function import function
    from symc.theano.tensor.shaping import shape

    if any(each not in fgraph.inputs for each in input_shapes):
        raise ValueError(
            "input_shapes keys aren't in the fgraph.inputs. FunctionGraph() interface changed. Now "
            "by default, it clones the graph it receives. To have the old behavior, give it this "
            "new parameter `clone=False`."
        )
    wanted = [each for each in fgraph.variables if hasattr(each.type, "broadcastable")]
    compute = function(list(fgraph.inputs), [shape(each) for each in wanted],
                       on_unused_input="ignore")  # fmt: skip
    found = compute(*(
        np.zeros(input_shapes[each], each.type.dtype) for each in fgraph.inputs
    ))  # fmt: skip
    return {each: tuple(int(n) for n in ns) for each, ns in zip(wanted, found, strict=True)}
