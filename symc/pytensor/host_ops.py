"""Ops that Python performs between symc's functions: by PyTensor's `perform`, or by loops here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.conditional.op import IfElse
from pytensor.graph.op import Op
from pytensor.scan.op import Scan

from symc.pytensor.host_scan import HostScan

Run = Callable[[Sequence[Any]], Sequence[Any]]


def performer(node: Any, random: str = "numpy") -> Run | None:
    """What computes a node's results from its arguments, in Python; None if nothing can."""
    match node.op:
        case Scan():
            return HostScan(node.op, random)
        case IfElse(n_outs=count):
            return lambda args: args[1 : 1 + count] if args[0] else args[1 + count :]
        case _ if type(node.op).perform is Op.perform or _is_refused(node):
            return None
        case op:
            return _Perform(op, node)


def _is_refused(node: Any) -> bool:
    from symc.pytensor.inventory import refusal

    return refusal(node) is not None


class _Perform:
    """A node's `perform` on fresh storage."""

    def __init__(self, op: Any, node: Any) -> None:
        self.op, self.node = op, node
        self.count = len(node.outputs)
        prepare = getattr(op, "prepare_node", None)
        if prepare is not None:
            prepare(node, None, None, "py")

    def __call__(self, args: Sequence[Any]) -> list[Any]:
        storage: list[list[Any]] = [[None] for _ in range(self.count)]
        with np.errstate(all="ignore"):
            self.op.perform(self.node, list(args), storage)
        return [cell[0] for cell in storage]
