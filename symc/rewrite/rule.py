"""Rules: what may be replaced by what, and under which promise.

    rule(log(1 + x), log1p(x), valid=ROUNDS)  # keeps digits near 0

A rule is one line. Where the right side's parameters must be computed, a function that is given a
node and returns its replacement stands instead of the two sides (`Rules.structural`).

An *attempt* is a rule in one order of the arguments of its commutative functions: graphs are never
reordered. `RuleSet` finds the attempts worth making at a node from the kinds of its op and of its
arguments' ops, which is one look-up.
"""

from __future__ import annotations

import enum
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from symc.codegen.dtypes import DType
from symc.graph import Tensor, Where
from symc.inputs import Constant
from symc.rewrite.match import (
    COMPOSITE,
    OVER_AXES,
    VIEWS,
    Found,
    OpKind,
    build,
    kind_of,
    kind_of_function,
    match,
    see,
    views_above,
)
from symc.rewrite.pattern import Call, Number, Pattern, PatternLike, Variable, as_pattern
from symc.tensor.elementwise import Cast, cast_to
from symc.tensor.views import broadcast_to


class Validity(enum.Enum):
    """When both sides of a rule agree."""

    EXACT = "the same bits, also for nan, inf and -0.0"
    ROUNDS = "the same real function, not less accurate; zeros may differ in sign"
    FINITE = "the same real function where no inf or nan arises"


EXACT, ROUNDS, FINITE = Validity.EXACT, Validity.ROUNDS, Validity.FINITE

# An argument's kind: beneath views, the outermost view's and what all of them show.
ArgKind: TypeAlias = "OpKind | tuple[OpKind, OpKind]"
Transform: TypeAlias = Callable[[Tensor], "Tensor | None"]
Condition: TypeAlias = Callable[[Found], bool]
COMMUTATIVE = frozenset({
    "add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or", "logaddexp",
    "bitwise_and", "bitwise_or", "bitwise_xor", "fmax", "fmin",
})  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class Attempt:
    """One way to apply a rule. `fits` looks only at kinds; `apply` gives the replacement, if any."""

    rule: Rule
    fits: Callable[[OpKind, Sequence[ArgKind]], bool]
    apply: Transform


@dataclass(frozen=True, eq=False, slots=True)
class Rule:
    """A named rule. `sides` are its patterns, if it is written with two."""

    name: str
    group: str
    valid: Validity
    where: Where
    sides: tuple[Pattern, Pattern] | None = None
    condition: Condition | None = None
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def makes_composite(self) -> bool:
        """Whether the right side has ops that stand for simpler ones."""
        return self.sides is not None and any(
            part.function in COMPOSITE for part in _calls(self.sides[1])
        )


class Rules:
    """The rules of one file."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.all: list[Rule] = []

    def rule(
        self,
        left: Pattern,
        right: PatternLike,
        *,
        valid: Validity,
        where: Condition | None = None,
    ) -> None:
        """Replaces `left` by `right`, if the condition on what was found holds."""
        sides = left, as_pattern(right)
        made = Rule(f"{left!r} -> {right!r}", self.group, valid, _caller(), sides, where)
        for variant in _orders(left):
            assert isinstance(variant, Call)
            made.attempts.append(_pattern_attempt(made, variant, sides[1]))
        self.all.append(made)

    def structural(
        self, name: str, *kinds: OpKind, valid: Validity, inner: Iterable[OpKind] = ()
    ) -> Callable[[Transform], Transform]:
        """Replaces nodes of these kinds (all without any) by what the function returns.

        With `inner`, only nodes some argument of which is of one of those kinds.
        """
        wanted, beneath = frozenset(kinds), frozenset(inner)

        def fits(kind: OpKind, args: Sequence[ArgKind]) -> bool:
            if wanted and kind not in wanted and type(kind) not in wanted:
                return False
            return not beneath or any(
                (arg[0] if isinstance(arg, tuple) else arg) in beneath for arg in args
            )

        def register(transform: Transform) -> Transform:
            made = Rule(name, self.group, valid, _caller())
            made.attempts.append(
                Attempt(made, fits, lambda node: fitted(transform(node), node))
            )
            self.all.append(made)
            return transform

        return register


def _caller() -> Where:
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage] -- inspect.stack() reads files
    return Where(frame.f_code.co_filename, frame.f_lineno)


# --- rules of two patterns ------------------------------------------------------------------------


def _orders(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern with the arguments of its commutative functions in every order."""
    if not isinstance(pattern, Call):
        yield pattern
        return
    for args in itertools.product(*(list(_orders(arg)) for arg in pattern.args)):
        yield Call(pattern.function, args, pattern.parameters)
        if pattern.function in COMMUTATIVE and not _same(*args):
            yield Call(pattern.function, args[::-1], pattern.parameters)


def _same(left: Pattern, right: Pattern) -> bool:
    return repr(left) == repr(right)


def _calls(pattern: Pattern) -> Iterator[Call]:
    if isinstance(pattern, Call):
        yield pattern
        for arg in pattern.args:
            yield from _calls(arg)


def _pattern_attempt(rule: Rule, left: Call, right: Pattern) -> Attempt:
    root = kind_of_function(left.function)
    needs = [_needed_kind(arg) for arg in left.args]

    def fits(kind: OpKind, args: Sequence[ArgKind]) -> bool:
        return kind is root and all(
            need is None or need is (arg[1] if isinstance(arg, tuple) else arg)
            for need, arg in zip(needs, args, strict=False)
        )

    def apply(node: Tensor) -> Tensor | None:
        found: Found = {}
        if not match(left, node, found):
            return None
        if rule.condition is not None and not rule.condition(found):
            return None
        return fitted(build(right, found, node.type.dtype), node)

    inside = left.args[0]
    lifts = len(left.args) == 1 and isinstance(inside, Call) and inside.function in OVER_AXES
    return Attempt(rule, fits, _lifting(apply) if lifts else apply)


def _needed_kind(pattern: Pattern) -> OpKind | None:
    match pattern:
        case Call():
            return kind_of_function(pattern.function)
        case Number():
            return Constant
        case Variable(kind="constant" | "power"):
            return Constant
        case _:
            return None


def _lifting(apply: Transform) -> Transform:
    """Applies to ``f(V(h(x)))`` what is known of ``f(h(x))``: views V then stand outside.

    A cast to a wider float goes inside instead, so that no digits are lost that `f` was given.
    """

    def lifted(node: Tensor) -> Tensor | None:
        views, base = views_above(node.args[0])
        if not views:
            return apply(node)
        dtype = node.args[0].type.dtype
        if dtype.bits > base.type.dtype.bits:
            base = base.op(*(_widened(arg, dtype) for arg in base.args))
        after = apply(node.op(base))
        if after is None:
            return None
        after = cast_to(after, node.type.dtype)
        for view in reversed(views):
            if not isinstance(view.op, Cast):
                after = see(view, after)
        return fitted(after, node)

    return lifted


def _widened(x: Tensor, dtype: DType) -> Tensor:
    return cast_to(x, dtype) if x.type.dtype.is_float else x


def fitted(after: Tensor | None, node: Tensor) -> Tensor | None:
    """The replacement of a node, stretched to its shape where it lost an operand that did that."""
    if after is None or after.type is node.type:
        return after
    if after.type.dtype is not node.type.dtype:
        return None
    own, wanted = after.type.shape, node.type.shape
    if len(own) == len(wanted) and all(
        (have == 1) == (want == 1) for have, want in zip(own, wanted, strict=True)
    ):
        return after
    extra = len(wanted) - len(own)
    if extra < 0 or any(
        have != 1 and want == 1 for have, want in zip(own, wanted[extra:], strict=True)
    ):
        return None
    return broadcast_to(after, wanted)


# --- finding rules --------------------------------------------------------------------------------

_MOST_ARGS = 3


class RuleSet:
    """Rules, found by the kinds of a node and of its first arguments. Counts its attempts."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = list(rules)
        self.tried = 0
        self._attempts = [attempt for rule in self.rules for attempt in rule.attempts]
        self._known: dict[object, tuple[Attempt, ...]] = {}

    def at(self, node: Tensor) -> tuple[Attempt, ...]:
        """The attempts worth making at a node."""
        kind = kind_of(node)
        args = tuple([_arg_kind(arg) for arg in node.args[:_MOST_ARGS]])
        known = self._known.get((kind, args))
        if known is None:
            known = tuple(attempt for attempt in self._attempts if attempt.fits(kind, args))
            self._known[kind, args] = known
        return known


def _arg_kind(node: Tensor) -> ArgKind:
    kind = kind_of(node)
    if kind not in VIEWS:
        return kind
    inner = kind
    for _ in range(8):
        node = node.args[0]
        inner = kind_of(node)
        if inner not in VIEWS:
            break
    return kind, inner
