"""All Ops of PyTensor: which are converted, which Python performs and why, which are refused.

`python -m symc.pytensor.inventory` prints the table.
"""

from __future__ import annotations

REFUSED = {
    "pytensor.sparse": "symc has no sparse matrices; use dense ones, or another mode",
}


def refusal(op: object) -> str | None:
    """Why an Op is neither converted nor performed; None for others."""
    module = type(op).__module__
    for prefix, reason in REFUSED.items():
        if module == prefix or module.startswith(prefix + "."):
            return reason
    return None
