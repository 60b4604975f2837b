"""`theano.compat`: names that once hid the differences of Python 2 and 3."""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict
from io import BytesIO as BytesIO
from io import StringIO as StringIO
from typing import Any

PY3 = True
operator_div = operator.truediv
izip, imap, ifilter = zip, map, filter

__all__ = [
    "PY3",
    "BytesIO",
    "OrderedDict",
    "StringIO",
    "cmp",
    "defaultdict",
    "exc_message",
    "get_unbound_function",
    "ifilter",
    "imap",
    "izip",
    "operator_div",
]  # fmt: skip


def cmp(x: Any, y: Any) -> int:
    """-1, 0 or 1 as `x` is less than, equal to or greater than `y`."""
    return int(x > y) - int(x < y)


def exc_message(e: BaseException) -> Any:
    """The message of an exception."""
    return e.args[0] if len(e.args) == 1 else e


def get_unbound_function(unbound: Any) -> Any:
    """The function of a method."""
    return getattr(unbound, "__func__", unbound)
