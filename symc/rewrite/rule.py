"""Rules: a pattern, its replacement, and the promise under which both agree.

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
from typing import Any, NamedTuple, TypeAlias, assert_never

from symc.codegen.dtypes import DType
from symc.codegen.record import record
from symc.graph.inputs import Constant
from symc.graph.node import Tensor
from symc.graph.provenance import Where
from symc.rewrite.match import (
    COMPOSITE,
    DEPTH,
    OVER_AXES,
    VIEWS,
    Found,
    OpKind,
    build,
    kind_of_function,
    match,
    number_of,
    see,
    views_above,
)
from symc.rewrite.pattern import Call, Number, Pattern, PatternLike, Variable, as_pattern
from symc.tensor.elementwise import ELEMENTWISE, Cast, Elementwise, cast_to
from symc.tensor.views import broadcast_to


class Validity(enum.Enum):
    """When both sides of a rule agree."""

    EXACT = "the same bits, also for nan, inf and -0.0"
    ROUNDS = "the same real function, not less accurate; what is zero keeps its sign"
    FINITE = "the same real function where no inf or nan arises; zeros may differ in sign"


EXACT, ROUNDS, FINITE = Validity.EXACT, Validity.ROUNDS, Validity.FINITE

# The look of a node's op, of which arguments are the same, or of an argument: its op's kind with,
# for a constant, its number if a pattern names it; for views, the kind of the array they show; for
# all else, whether it is of floats.
Look: TypeAlias = Any
Transform: TypeAlias = Callable[[Tensor], "Tensor | None"]
Condition: TypeAlias = Callable[[Found], bool]


@record(eq=False)
class Attempt:
    """One way to apply a rule: `apply` gives the replacement of a node, if any.

    It is worth making at the rule's nodes, where `fits` says so of the look. Of arguments' kinds
    `fits` tells only the `inner` ones apart: kinds of ops, or classes of them.
    """

    rule: Rule
    inner: frozenset[OpKind]
    fits: Callable[[Sequence[Look]], bool]
    apply: Transform


@record(eq=False)
class Sides:
    """The two patterns of a rule, and its condition on what is found."""

    left: Call
    right: Pattern
    condition: Condition | None

    def concerns(self, kind: OpKind) -> bool:
        """Whether nodes of a kind may be the left side: imports no ops, so that none are there
        whose module has not been imported."""
        return kind is _kind_of_imported(self.left.function) and all(
            _kind_of_imported(arg.function) is not None
            for arg in self.left.args
            if isinstance(arg, Call)
        )

    def attempts(self, rule: Rule) -> list[Attempt]:
        """One for each order of the arguments of commutative functions."""
        return [_pattern_attempt(rule, self, variant) for variant in _orders(self.left)]


@record(eq=False)
class Structural:
    """A function that replaces nodes of some kinds (all without any), named by a title.

    With `inner` it is asked only where an argument is of one of those kinds.
    """

    title: str
    kinds: frozenset[OpKind]
    inner: frozenset[OpKind]
    transform: Transform

    def concerns(self, kind: OpKind) -> bool:
        """Whether it is for nodes of a kind."""
        return not self.kinds or _is_one_of(kind, self.kinds)

    def attempts(self, rule: Rule) -> list[Attempt]:
        """The only one."""

        def fits(look: Sequence[Look]) -> bool:
            _, _, *args = look
            return not self.inner or any(_is_one_of(arg[0], self.inner) for arg in args)

        def apply(node: Tensor) -> Tensor | None:
            return fitted(self.transform(node), node)

        return [Attempt(rule, self.inner, fits, apply)]


@record(eq=False, frozen=False)
class Rule:
    """A rule: two patterns, or a function. Its attempts are made when a node first asks for them,
    as most programs need few of all rules."""

    what: Sides | Structural
    group: str
    valid: Validity
    where: Where
    of_complex: bool = False
    _attempts: list[Attempt] | None = None

    @property
    def attempts(self) -> list[Attempt]:
        """The ways to apply it."""
        if self._attempts is None:
            self._attempts = self.what.attempts(self)
        return self._attempts

    @property
    def sides(self) -> tuple[Pattern, Pattern] | None:
        """The patterns of a rule that is written with two."""
        return (self.what.left, self.what.right) if isinstance(self.what, Sides) else None

    @property
    def condition(self) -> Condition | None:
        """What must hold of the values that its patterns find."""
        return self.what.condition if isinstance(self.what, Sides) else None

    @property
    def name(self) -> str:
        """The rule as text; made when asked for, as texts of patterns take long to make."""
        match self.what:
            case Sides(left=left, right=right):
                return f"{left!r} -> {right!r}"
            case Structural(title=title):
                return title
            case _:
                assert_never(self.what)

    @property
    def makes_composite(self) -> bool:
        """Whether the right side has ops that stand for simpler ones."""
        return isinstance(self.what, Sides) and any(
            part.function in COMPOSITE for part in _calls(self.what.right)
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
        of_complex: bool = False,
    ) -> None:
        """Replaces `left` by `right`, if the condition on the values found holds.

        A rule is of real numbers, unless it says that it holds `of_complex` ones, too.
        """
        assert isinstance(left, Call)
        sides = Sides(left, as_pattern(right), where)
        self.all.append(Rule(sides, self.group, valid, _caller(), of_complex))

    def structural(
        self, name: str, *kinds: OpKind, valid: Validity, inner: Iterable[OpKind] = ()
    ) -> Callable[[Transform], Transform]:
        """Replaces nodes of these kinds (all without any) by the result of the function.

        With `inner`, only nodes some argument of which is of one of those kinds.
        """
        wanted, beneath = frozenset(kinds), frozenset(inner)

        def register(transform: Transform) -> Transform:
            what = Structural(name, wanted, beneath, transform)
            self.all.append(Rule(what, self.group, valid, _caller()))
            return transform

        return register


def _caller() -> Where:
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage] -- inspect.stack() reads files
    return Where(frame.f_code.co_filename, frame.f_lineno)


# --- rules of two patterns ------------------------------------------------------------------------


def _orders(pattern: Call) -> Iterator[Call]:
    """The pattern with the arguments of its commutative functions in every order."""
    parts = [list(_orders(arg)) if isinstance(arg, Call) else [arg] for arg in pattern.args]
    for args in itertools.product(*parts):
        yield Call(pattern.function, args, pattern.parameters)
        if _commutes(pattern.function) and not _same(*args):
            yield Call(pattern.function, args[::-1], pattern.parameters)


def _kind_of_imported(function: str) -> OpKind | None:
    return OVER_AXES[function].kind if function in OVER_AXES else ELEMENTWISE.get(function)


def _commutes(function: str) -> bool:
    row = ELEMENTWISE.get(function)
    return row is not None and row.commutes


def _same(left: Pattern, right: Pattern) -> bool:
    return repr(left) == repr(right)


def _calls(pattern: Pattern) -> Iterator[Call]:
    if isinstance(pattern, Call):
        yield pattern
        for arg in pattern.args:
            yield from _calls(arg)


def _pattern_attempt(rule: Rule, sides: Sides, left: Call) -> Attempt:
    calls = [sub for sub in left.args if isinstance(sub, Call)]
    beneath = frozenset([kind_of_function(sub.function) for sub in calls])
    same = _same_arguments(left)

    def fits(look: Sequence[Look]) -> bool:
        _, repeated, *args = look
        if same and repeated != same:
            return False
        return all(_may_match(sub, arg) for sub, arg in zip(left.args, args, strict=False))

    def apply(node: Tensor) -> Tensor | None:
        found: Found = {}
        if not match(left, node, found):
            return None
        if not rule.of_complex and any(map(_is_complex, found.values())):
            return None
        if sides.condition is not None and not sides.condition(found):
            return None
        return fitted(build(sides.right, found, node.type.dtype), node)

    inside = left.args[0]
    lifts = len(left.args) == 1 and isinstance(inside, Call) and inside.function in OVER_AXES
    return Attempt(rule, beneath, fits, _lifting(apply) if lifts else apply)


def _is_complex(found: Any) -> bool:
    return isinstance(found, Tensor) and found.type.dtype.is_complex


def _same_arguments(pattern: Call) -> int:
    """Which arguments must be one tensor, as `look_at` puts it."""
    args = pattern.args
    if len(args) == 2:
        return int(isinstance(args[0], Variable) and args[0] is args[1])
    return 2 if len(args) == 3 and isinstance(args[1], Variable) and args[1] is args[2] else 0


def _may_match(pattern: Pattern, look: Look) -> bool:
    """Whether a pattern may match an argument that looks like this."""
    kind, more = look
    shown = more if kind in VIEWS else kind
    match pattern:
        case Call():
            return kind_of_function(pattern.function) is shown
        case Number():
            return shown is Constant and (kind is not Constant or more == pattern.value)
        case Variable(kind="constant" | "power"):
            return shown is Constant
        case Variable(kind="integer" | "mask"):
            return more is not True
        case Variable(kind="float"):
            return more is not False
        case _:
            return True


def _lifting(apply: Transform) -> Transform:
    """Applies a rule of ``f(h(x))`` to ``f(V(h(x)))``: views V then stand outside.

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


class Attempts(NamedTuple):
    """The attempts worth making at a node: those of early rules, the others, and all."""

    early: tuple[Attempt, ...]
    rest: tuple[Attempt, ...]
    all: tuple[Attempt, ...]


class RuleSet:
    """Rules, found by the look of a node and its first arguments. Counts its attempts.

    Rules of the `early` groups are also tried before anything in a node has been rewritten.
    """

    def __init__(self, rules: Iterable[Rule], early: Iterable[str] = ()) -> None:
        self.rules = list(rules)
        self.tried = 0
        self._early = frozenset(early)
        self._at_kind: dict[OpKind, tuple[list[Attempt], frozenset[OpKind]]] = {}
        self._known: dict[tuple[Look, ...], Attempts] = {}
        self._functions = len(ELEMENTWISE)

    def at(self, node: Tensor) -> Attempts:
        """The attempts worth making at a node."""
        look = look_at(node)
        known = self._known.get(look)
        if known is None:
            known = self._known[look] = self._choose(look)
        return known

    def _choose(self, look: tuple[Look, ...]) -> Attempts:
        """The attempts that fit a look. Most looks differ only where no attempt asks."""
        if self._functions != len(ELEMENTWISE):  # some were imported: now rules concern them
            self._functions = len(ELEMENTWISE)
            self._at_kind, self._known = {}, {}
        kind, same, *args = look
        attempts, inner = self._of_kind(kind)
        plain = (kind, same, *[_as_seen(arg, inner) for arg in args])
        known = self._known.get(plain)
        if known is None:
            every = tuple([attempt for attempt in attempts if attempt.fits(plain)])
            early = tuple([a for a in every if a.rule.group in self._early])
            rest = tuple([a for a in every if a.rule.group not in self._early])
            known = self._known[plain] = Attempts(early, rest, every)
        return known

    def _of_kind(self, kind: OpKind) -> tuple[list[Attempt], frozenset[OpKind]]:
        """The attempts at nodes of a kind, and the kinds of arguments that they tell apart."""
        found = self._at_kind.get(kind)
        if found is None:
            concerned = [rule for rule in self.rules if rule.what.concerns(kind)]
            attempts = [attempt for rule in concerned for attempt in rule.attempts]
            inner = frozenset[OpKind]().union(*[attempt.inner for attempt in attempts])
            found = self._at_kind[kind] = attempts, inner
        return found


def _is_one_of(kind: OpKind | None, kinds: frozenset[OpKind]) -> bool:
    """Whether a kind, or the class of an op that is a kind of its own, is among some."""
    return kind in kinds or type(kind) in kinds


def _as_seen(look: Look, inner: frozenset[OpKind]) -> Look:
    """An argument's look to attempts that tell only these kinds, views and constants apart."""
    kind, more = look
    if kind in VIEWS:
        return kind, more if more is Constant or _is_one_of(more, inner) else None
    return kind if kind is Constant or _is_one_of(kind, inner) else None, more


def look_at(node: Tensor) -> tuple[Look, ...]:
    """The look of a node: its op's kind, which arguments are one, and the arguments' looks."""
    op, args = node.op, node.args
    kind: OpKind = op if type(op) is Elementwise else type(op)
    if len(args) == 1:
        return kind, 0, _look_at_arg(args[0])
    if len(args) == 2:
        left, right = args
        return kind, left is right, _look_at_arg(left), _look_at_arg(right)
    same = (len(args) > 2 and args[1] is args[2]) * 2
    return (kind, same, *[_look_at_arg(arg) for arg in args[:_MOST_ARGS]])


# The numbers that patterns name; all other constants look alike.
_NAMED = frozenset(range(-4, 9))


def _look_at_arg(node: Tensor) -> Look:
    op = node.op
    kind: OpKind = op if type(op) is Elementwise else type(op)
    if kind not in VIEWS:
        if kind is Constant:
            value = number_of(node)
            return Constant, value if value in _NAMED else None
        return kind, node.type.dtype.is_float
    for _ in range(DEPTH):
        node = node.args[0]
        op = node.op
        inner: OpKind = op if type(op) is Elementwise else type(op)
        if inner not in VIEWS:
            return kind, inner
    return kind, kind
