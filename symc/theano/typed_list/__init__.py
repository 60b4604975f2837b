"""`theano.typed_list`: variables whose values are lists, run op by op in Python."""

import sys as _sys

from symc.theano.common_names import answer as _answer
from symc.theano.typed_list import basic, type
from symc.theano.typed_list.basic import (
    Append,
    Count,
    Extend,
    GetItem,
    Index,
    Insert,
    Length,
    MakeList,
    Remove,
    Reverse,
    TypedListConstant,
    TypedListVariable,
    append,
    count,
    extend,
    getitem,
    index_,
    insert,
    length,
    make_list,
    remove,
    reverse,
)
from symc.theano.typed_list.type import TypedListType

__all__ = [
    "Append", "Count", "Extend", "GetItem", "Index", "Insert", "Length", "MakeList", "Remove",
    "Reverse", "TypedListConstant", "TypedListType", "TypedListVariable", "append", "basic",
    "count", "extend", "getitem", "index_", "insert", "length", "make_list", "remove", "reverse",
    "type",
]  # fmt: skip

_answer(_sys.modules[__name__], basic, type)
