"""All Ops of PyTensor: which are converted, which Python performs and why, which are refused.

`python -m symc.pytensor.inventory` prints the table.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Constant

from symc.pytensor.conversion import is_numeric

REFUSED = {
    "pytensor.sparse": "symc has no sparse matrices; use dense ones, or another mode",
}

# Products with a sparse constant have a dense result: SciPy computes them between functions.
_OF_CONSTANTS = ("Dot", "StructuredDot")


def refusal(node: Any) -> str | None:
    """Why a node is neither converted nor performed; None for others."""
    op = node.op
    if type(op).__name__ in _OF_CONSTANTS and all(
        isinstance(v, Constant) or is_numeric(v) for v in node.inputs
    ):
        return None
    module = type(op).__module__
    for prefix, reason in REFUSED.items():
        if module == prefix or module.startswith(prefix + "."):
            return reason
    return None
