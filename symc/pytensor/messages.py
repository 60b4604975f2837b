"""Errors of running functions in PyTensor's classes and words, where it has some for the fault."""

from __future__ import annotations

import re

from symc.errors import AssertionFailed, LinAlgError, ShapeMismatch, SymcError

_SIDES = re.compile(r"axis (\d+) is (\d+) on the left and (\d+) on the right")
_REGION = re.compile(r"values of shape \[(.*?)\] do not fit the region \[(.*?)\]")
_MUST = re.compile(r"axis (\d+) has length (\d+), and must have (\d+)")


def translated(problem: SymcError) -> Exception:
    """The error as PyTensor's own modes raise it; symc's, with the user's line, is its cause."""
    text = str(problem)
    match problem:
        case ShapeMismatch() if found := _SIDES.search(text):
            return ValueError(_broadcasting(*found.groups()) + "\n" + text)
        case ShapeMismatch() if found := _REGION.search(text):
            values, region = (each.split(", ") for each in found.groups())
            pairs = zip(reversed(values), reversed(region), strict=False)
            at, pair = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
            return ValueError(_broadcasting(f"-{at}", *pair) + "\n" + text)
        case ShapeMismatch() if found := _MUST.search(text):
            axis, length, wanted = found.groups()
            return AssertionError(
                f"SpecifyShape: dim {axis} of input has shape {length}, expected {wanted}.\n{text}"
            )
        case AssertionFailed() | LinAlgError():
            return problem
        case _:
            return problem


def _broadcasting(axis: str, left: str, right: str) -> str:
    if "1" in (left, right):
        return (
            "Runtime broadcasting not allowed. One input had a distinct dimension length of 1, "
            f"but was not marked as broadcastable: dimension {axis}, lengths {left} and {right}.\n"
            "If broadcasting was intended, use `specify_broadcastable` on the relevant input."
        )
    return f"Incompatible Elemwise input shapes: dimension {axis} has lengths {left} and {right}"
