"""Why kernels stay apart and why variables are copied: recorded where that is decided.

    Apart    two kernels of a plan, one of which reads an array that the other computes or reads too
    Copied   an array that is copied instead of overwritten

Each has a reason, which is one of a closed set. `symc/show/plan.py` puts them into words.
"""

from __future__ import annotations

from typing import TypeAlias

from symc.codegen.record import record
from symc.graph.conditions import Test
from symc.graph.dims import Dim
from symc.graph.node import Tensor


@record
class OwnKernel:
    """A write or a running fold, which shares loops with nothing."""

    node: Tensor


@record
class NoLoops:
    """A node whose element is complete only when all its loops have ended: a total, say."""

    node: Tensor


@record
class OtherLengths:
    """The outermost loops have different lengths."""

    length: Dim
    other: Dim


@record
class OtherIterations:
    """An iteration of `reader` reads elements that other iterations compute: it folds them, say."""

    reader: Tensor
    read: Tensor


@record
class FewerLoops:
    """Two kernels that read one array would share fewer loops than one of them has."""

    shared: int
    wanted: int


@record
class Between:
    """A unit which needs one of the kernels, and which the other one needs."""

    unit: Tensor | Test | str
    """A node that the unit computes, a condition, or the name of a length that is measured."""


@record
class TooMany:
    """More stages than one kernel may have."""

    stages: int


Reason: TypeAlias = (
    OwnKernel | NoLoops | OtherLengths | OtherIterations | FewerLoops | Between | TooMany
)


@record
class Refusal:
    """The groups of two stages were not merged.

    If they are `siblings`, both read one array; otherwise `second` reads `first`.
    """

    first: Tensor
    second: Tensor
    siblings: bool
    reason: Reason


@record
class Apart:
    """Two kernels that are not one, by their numbers among the units of a plan."""

    first: int
    second: int
    reason: Reason


@record
class MayFail:
    """A step that may fail needs the new value: when it fails, nothing must have changed."""


@record
class OtherKind:
    """The new value has other lengths or another dtype, or is computed nowhere."""


@record
class ReadWhileWritten:
    """The unit that overwrites reads old elements which it might have overwritten by then."""


@record
class ReadAfter:
    """`reader` needs the old value, and the unit that overwrites comes before it."""

    reader: Tensor | Test | str


@record
class MustStay:
    """It is an argument, a constant or a result, which nothing in the program may change."""


CopyReason: TypeAlias = MayFail | OtherKind | ReadWhileWritten | ReadAfter | MustStay


@record
class Copied:
    """A node whose memory is not taken over by its update, which gets memory of its own.

    A shared variable, an argument that was given away, a state of a loop, or an array of which
    parts are written.
    """

    node: Tensor
    reason: CopyReason
