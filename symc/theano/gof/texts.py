"""Graphs as text, in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symc.theano.gof.graph import Apply


def default_leaf_formatter(leaf: Any) -> str:
    """The text of a variable that nothing computes."""
    return str(leaf)


def default_node_formatter(op: Apply, argstrings: Sequence[str]) -> str:
    """The text of an application of these arguments."""
    return f"{op.op}({', '.join(argstrings)})"


leaf_formatter, node_formatter = default_leaf_formatter, default_node_formatter


def as_string(
    i: Iterable[Any], o: Sequence[Any], leaf_formatter: Any = default_leaf_formatter,
    node_formatter: Any = default_node_formatter,
) -> list[str]:  # fmt: skip
    """The outputs as text. A node that is used again is ``*1 -> ...`` first and ``*1`` later.

    >>> import symc.theano as theano
    >>> x = theano.tensor.dscalar("x")
    >>> y = theano.tensor.exp(x)
    >>> as_string([x], [y * y])
    ['Elemwise{mul,no_inplace}(*1 -> Elemwise{exp,no_inplace}(x), *1)']
    """
    from symc.theano.gof.graph import io_toposort

    given = set(i)
    nodes = io_toposort(given, o)
    uses = [each.owner for each in [*o, *(each for node in nodes for each in node.inputs)]
            if each.owner is not None and each not in given]  # fmt: skip
    again = [node for node in dict.fromkeys(uses) if uses.count(node) > 1]
    written: set[Apply] = set()

    def text(variable: Any) -> str:
        node = variable.owner
        if node is None or variable in given:
            return str(leaf_formatter(variable))
        mark = f"*{again.index(node) + 1}" if node in again else ""
        if node in written:
            return mark + ("" if node.nout == 1 else f"::{variable.index}")
        written.add(node)
        whole = str(node_formatter(node, [text(each) for each in node.inputs]))
        return f"{mark} -> {whole}" if mark else whole

    return [text(each) for each in o]


def op_as_string(
    i: Any, op: Apply, leaf_formatter: Any = default_leaf_formatter,
    node_formatter: Any = default_node_formatter,
) -> str:  # fmt: skip
    """An application as text: the op and its arguments."""
    return str(node_formatter(op, as_string(i, op.inputs, leaf_formatter, node_formatter)))
