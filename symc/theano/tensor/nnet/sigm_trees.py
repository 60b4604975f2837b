"""Products as trees of factors and signs, with which Theano's rewrites of sigmoids work.

A tree is ``[negated, variable]`` or ``[negated, [tree, tree, ...]]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symc.theano.tensor import math
from symc.theano.tensor.convert import NotScalarConstantError
from symc.theano.tensor.elemwise import DimShuffle, Elemwise
from symc.theano.tensor.folding import get_scalar_constant_value


def _is(variable: Any, name: str) -> bool:
    owner = variable.owner
    return owner is not None and isinstance(owner.op, Elemwise) and owner.op.scalar_op.name == name


def is_neg(var: Any) -> Any:
    """`x` where a variable is ``-x`` or ``-1 * x``, else None."""
    if _is(var, "neg"):
        return var.owner.inputs[0]
    if _is(var, "mul") and len(var.owner.inputs) >= 2:
        for position, each in enumerate(var.owner.inputs):
            if _constant(each) == -1:
                rest = var.owner.inputs[:position] + var.owner.inputs[position + 1 :]
                return rest[0] if len(rest) == 1 else math.mul(*rest)
    return None


def _constant(variable: Any, only_constants: bool = True) -> Any:
    while variable.owner is not None and isinstance(variable.owner.op, DimShuffle):
        variable = variable.owner.inputs[0]
    try:
        return get_scalar_constant_value(variable, only_process_constants=only_constants)
    except NotScalarConstantError:
        return None


def is_exp(var: Any) -> Any:
    """A pair, whether a variable is minus an exponential and of what, else None."""
    negated = is_neg(var)
    inner = var if negated is None else negated
    return (negated is not None, inner.owner.inputs[0]) if _is(inner, "exp") else None


def is_mul(var: Any) -> Any:
    """The factors of a product, None for what is none."""
    return var.owner.inputs if _is(var, "mul") else None


def is_1pexp(t: Any, only_process_constants: bool = True) -> Any:
    """A pair, False and ``x``, where a variable is ``1 + exp(x)``; else None."""
    if not _is(t, "add"):
        return None
    numbers: list[Any] = []
    rest: list[Any] = []
    for each in t.owner.inputs:
        value = _constant(each, only_process_constants)
        (rest if value is None else numbers).append(each if value is None else value)
    if len(rest) != 1 or not np.allclose(np.sum(numbers), 1):
        return None
    found = is_exp(rest[0])
    return found if found is not None and not found[0] else None


def parse_mul_tree(root: Any) -> list[Any]:
    """The tree of a product."""
    factors = is_mul(root)
    if factors is not None and is_neg(root) is None:
        return [False, [parse_mul_tree(each) for each in factors]]
    inner = is_neg(root)
    if inner is None:
        return [False, root]
    negated, rest = parse_mul_tree(inner)
    return [not negated, rest]


def simplify_mul(tree: list[Any]) -> list[Any]:
    """The tree without factors that are left out (None) and without levels of one factor."""
    negated, inner = tree
    if not isinstance(inner, list):
        return tree
    kept = [simplify_mul(each) for each in inner]
    kept = [each for each in kept if each[1] is not None]
    if not kept:
        return [negated, None]
    if len(kept) == 1:
        return [negated != kept[0][0], kept[0][1]]
    return [negated, kept]


def compute_mul(tree: list[Any]) -> Any:
    """The product of a tree."""
    negated, inner = tree
    if inner is None:
        raise AssertionError("Function `compute_mul` found a missing leaf, did you forget to call "
                             "`simplify_mul` on the tree first?")  # fmt: skip
    result = math.mul(*map(compute_mul, inner)) if isinstance(inner, list) else inner
    return -result if negated else result


def perform_sigm_times_exp(tree: list[Any]) -> None:
    """In a tree, turns each ``exp(x) * sigmoid(-x)`` into ``sigmoid(x)``."""
    exponentials: list[tuple[list[Any], Any]] = []
    sigmoids: list[tuple[list[Any], Any]] = []

    def visit(part: list[Any]) -> None:
        if isinstance(part[1], list):
            for each in part[1]:
                visit(each)
        elif _is(part[1], "exp"):
            exponentials.append((part, part[1].owner.inputs[0]))
        elif _is(part[1], "sigmoid"):
            sigmoids.append((part, part[1].owner.inputs[0]))

    visit(tree)
    used: set[int] = set()
    for leaf, argument in exponentials:
        for other, inner in sigmoids:
            if id(other) not in used and _opposite(argument, inner):
                used.add(id(other))
                other[1] = math.sigmoid(argument)
                leaf[1] = None
                break


def _opposite(a: Any, b: Any) -> bool:
    from symc.theano.gof.graph import is_same_graph

    for left, right in ((a, b), (b, a)):
        inner = is_neg(left)
        if inner is not None and is_same_graph(inner, right):
            return True
    return False
