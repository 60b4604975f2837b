"""`theano.printing`: graphs as text and as pictures, and `Print`."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from io import StringIO
from typing import Any

import symc
import symc.tensor as T
from symc.graph.node import Tensor
from symc.theano.debugprint import debugprint as debugprint
from symc.theano.gof.graph import Apply, Variable
from symc.theano.gof.op import Op
from symc.theano.pp import (
    FunctionPrinter as FunctionPrinter,
)
from symc.theano.pp import (
    IgnorePrinter as IgnorePrinter,
)
from symc.theano.pp import (
    LeafPrinter as LeafPrinter,
)
from symc.theano.pp import (
    MemberPrinter as MemberPrinter,
)
from symc.theano.pp import (
    OperatorPrinter as OperatorPrinter,
)
from symc.theano.pp import (
    PatternPrinter as PatternPrinter,
)
from symc.theano.pp import (
    PPrinter as PPrinter,
)
from symc.theano.pp import (
    pp as pp,
)
from symc.theano.pp import (
    pprint as pprint,
)
from symc.theano.pydotprint import default_colorCodes as default_colorCodes
from symc.theano.pydotprint import pydot_imported as pydot_imported
from symc.theano.pydotprint import pydotprint as pydotprint
from symc.theano.pydotprint import pydotprint_variables as pydotprint_variables
from symc.theano.tensor.convert import as_tensor_variable


def _print_fn(op: Any, xin: Any) -> None:
    for attr in op.attrs:
        found = getattr(xin, attr)
        sys.stdout.write(f"{op.message} {attr} = {found() if callable(found) else found}\n")


class Print(Op):
    """The value as it is; prints some of its attributes whenever it is computed."""

    view_map = {0: [0]}  # noqa: RUF012 -- Theano's
    __props__ = ("message", "attrs", "global_fn")

    def __init__(
        self, message: str = "", attrs: Sequence[str] = ("__str__",), global_fn: Any = _print_fn
    ) -> None:
        self.message, self.attrs = message, tuple(attrs)
        self.global_fn = global_fn

    def make_node(self, xin: Any) -> Apply:
        xin = xin if isinstance(xin, Variable) else as_tensor_variable(xin)
        return Apply(self, [xin], [xin.type()])

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        def shown(value: Any) -> Any:
            self.global_fn(self, value)
            return value.copy()

        made = symc.op(shown, output=lambda x: T.zeros_like(x), name="Print")
        found: Any = made(inputs[0])
        return [found]

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        self.global_fn(self, inputs[0])
        output_storage[0][0] = inputs[0]

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        del inputs, outputs
        return list(output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        return list(eval_points)

    def do_constant_folding(self, node: Apply) -> bool:
        return False

    def __str__(self) -> str:
        return f"Print{{message='{self.message}', attrs={self.attrs}}}"


def _letters(position: int) -> str:
    """The name of a position: A, B, ..., Z, AA, AB, ..."""
    found = ""
    position += 1
    while position:
        position, digit = divmod(position - 1, 26)
        found = chr(ord("A") + digit) + found
    return found


def min_informative_str(
    obj: Any, indent_level: int = 0, _prev_obs: dict[Any, str] | None = None,
    _tag_generator: Any = None,
) -> str:  # fmt: skip
    """A graph as text, a line for each variable and a letter for each that comes again."""
    seen = {} if _prev_obs is None else _prev_obs
    indent = " " * indent_level
    if id(obj) in seen:
        return f"{indent}<{seen[id(obj)]}>"
    tag = seen[id(obj)] = _letters(len(seen))
    if getattr(obj, "name", None):
        text = obj.name
    elif getattr(obj, "owner", None) is not None:
        text = str(obj.owner.op)
        for each in obj.owner.inputs:
            text += "\n" + min_informative_str(each, indent_level + 1, seen)
    else:
        text = str(obj)
    return f"{indent}{tag}. {text}"


def var_descriptor(obj: Any, _prev_obs: Any = None, _tag_generator: Any = None) -> str:
    """A graph as one line of text that tells different graphs apart."""
    seen: dict[int, str] = {} if _prev_obs is None else _prev_obs
    if id(obj) in seen:
        return f"<{seen[id(obj)]}>"
    tag = seen[id(obj)] = _letters(len(seen))
    if getattr(obj, "owner", None) is not None:
        inside = ",".join(var_descriptor(each, seen) for each in obj.owner.inputs)
        text = f"{obj.owner.op}({inside})"
    elif getattr(obj, "name", None):
        text = obj.name
    else:
        text = str(obj)
    return f"{tag}={text}"


def hex_digest(x: Any) -> str:
    """The SHA-256 of an array's elements, with its lengths and its dtype."""
    found = hashlib.sha256(x.tobytes()).hexdigest()
    return (
        f"{found}|strides=[{','.join(map(str, x.strides))}]|shape=[{','.join(map(str, x.shape))}]"
    )


def get_node_by_id(target_var_id: str, graphs: Any) -> Any:
    """The variable that `debugprint` shows with an id."""
    from symc.theano.debugprint import identified

    return identified(graphs).get(target_var_id)


__all__ = [
    "FunctionPrinter", "IgnorePrinter", "LeafPrinter", "MemberPrinter", "OperatorPrinter",
    "PPrinter", "PatternPrinter", "Print", "StringIO", "debugprint", "default_colorCodes",
    "get_node_by_id", "hex_digest", "min_informative_str", "pp", "pprint", "pydot_imported",
    "pydotprint", "pydotprint_variables", "var_descriptor",
]  # fmt: skip
