"""The phases of rewriting, in order.

    1  reductions of joined parts
    2  stability rules, then all that is canonical       while softmax and its kin are still ops
    3  composite ops expand into simpler ones
    4  as 2, without rules that make composite ops
    5  reshapes go towards the inputs
    6  functions of joined parts are taken of each part
    7  products of computed matrices and vectors are sums
    8  extremes whose places are found are the elements there

Within 2 and 4, stability rules see every node first, as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import count

from symc.codegen.dtypes import INT64
from symc.graph.dims import Dim, sizes
from symc.graph.node import Op, Tensor
from symc.graph.provenance import located_at
from symc.graph.request import Optimised
from symc.graph.walks import walk
from symc.rewrite.algebra import ALGEBRA
from symc.rewrite.bodies import conditions_in_bodies, improved_bodies, prepared_bodies
from symc.rewrite.engine import Rewrite, normalise
from symc.rewrite.fold import FOLD
from symc.rewrite.found import found_rules
from symc.rewrite.indexing import INDEXING
from symc.rewrite.joined import has_joined, joined_rules
from symc.rewrite.lift import lifting_rules
from symc.rewrite.masks import MASKS
from symc.rewrite.match import OpKind, kind_of
from symc.rewrite.parted import computes_with_joined, parted_rules
from symc.rewrite.picked import has_picked, picked_rules
from symc.rewrite.products import PRODUCTS
from symc.rewrite.rule import EXACT, FINITE, Rule, Rules, RuleSet
from symc.rewrite.scatter import SCATTER
from symc.rewrite.shapes import SHAPES
from symc.rewrite.stabilise import has_linalg, stability_rules
from symc.rewrite.stability import STABILITY
from symc.rewrite.unstored import multiplies_computed, unstored_rules
from symc.rewrite.writes import WRITES
from symc.rewrite.zeros import ZEROS
from symc.tensor.elementwise import Cast, Elementwise, cast_to
from symc.tensor.gather import Gather, Scatter
from symc.tensor.lengths import dim_of
from symc.tensor.reduce import FoundExtreme
from symc.tensor.reshape import Reshape
from symc.tensor.slices import Slice, SliceWrite
from symc.tensor.spans import GIVEN, Span
from symc.tensor.views import DimShuffle

USUAL = (FOLD, ZEROS, ALGEBRA, SHAPES, INDEXING, MASKS, WRITES, PRODUCTS)


def all_rules() -> list[Rule]:
    """Every rule there is, in the order in which they are tried."""
    always, usual = _groups(with_linalg=True)
    return [rule for rules in (*always, *usual) for rule in rules.all]


def _groups(*, with_linalg: bool) -> tuple[Sequence[Rules], Sequence[Rules]]:
    """The rules that every mode has, and those that it chooses from."""
    always = (*stability_rules(with_linalg=with_linalg), SCATTER)
    if not with_linalg:
        return always, USUAL
    from symc.rewrite.linalg import LINALG  # late: imports the ops

    return always, (*USUAL, LINALG)


def rules_for(mode: str, *, with_linalg: bool = True) -> list[Rule]:
    """The rules of a mode: ``fast`` has all, ``compile`` those that cannot change a bit."""
    always, chosen = _groups(with_linalg=with_linalg)
    usual = [rule for rules in chosen for rule in rules.all]
    if mode == "compile":
        usual = [rule for rule in usual if rule.valid is EXACT]
    elif mode != "fast":
        usual = [rule for rule in usual if rule.valid is not FINITE]
    return [*(rule for rules in always for rule in rules.all), *usual]


def rewrite(
    roots: Sequence[Tensor],
    conditions: Sequence[Tensor],
    *,
    mode: str = "default",
    outputs: int | None = None,
    lengths: Iterable[Dim] = (),
    trace: list[Rewrite] | None = None,
) -> Optimised:
    """Rewrites the roots (the first `outputs` of them are outputs) and the conditions.

    `lengths` are further lengths that will be needed, beside those of the nodes.
    """
    everything = prepared_bodies([*roots, *conditions], exact=mode == "compile")
    after = _phases(everything, mode, trace)
    final = walk(after)
    dims = _symbolic(final) | _bounds(final) | set(lengths)
    values = {size for dim in dims for size in sizes(dim) if size.axis is None}
    measured = [size.source for size in sorted(values, key=lambda size: size.serial)]
    scalars: dict[Tensor, Tensor] = {}
    if measured:
        scalars = _lengths([*everything, *after, *measured], measured, set(final), mode, trace)
    split = len(roots) if outputs is None else outputs
    return Optimised(after[:split], after[split : len(roots)], after[len(roots) :], scalars)


def optimize(expr: Tensor, mode: str = "default", trace: list[Rewrite] | None = None) -> Tensor:
    """The graph that is compiled for an expression: for tests, and to look at.

    >>> import symc.tensor as T
    >>> optimize(T.log(1 + T.exp(T.vector("x")))).op.label
    'softplus'
    """
    return _phases([expr], mode, trace)[0]


def _phases(roots: Sequence[Tensor], mode: str, trace: list[Rewrite] | None) -> list[Tensor]:
    """The roots after all phases."""
    before, expand, after = _sets(mode)
    exact = mode == "compile"
    roots = _with_picked(_with_joined(roots, trace, exact=exact), trace)
    done = normalise(roots, before, trace)
    found = [done[root] for root in roots]
    if _has_composites(done.values()):
        done = normalise(found, expand, trace)
        expanded = [done[root] for root in found]
        if expanded != found:
            done = normalise(expanded, after, trace)
            found = _with_picked([done[root] for root in expanded], trace)
    if any(isinstance(node.op, Reshape) for node in done.values()):
        done = normalise(found, RuleSet(lifting_rules(found), ["lift"]), trace)
        found = [done[root] for root in found]
    if computes_with_joined(done.values()):
        done = normalise(found, RuleSet(parted_rules(found, exact=exact), ["parted"]), trace)
        found = _with_joined([done[root] for root in found], trace, exact=exact)
    if not exact and multiplies_computed(list(done.values())):
        done = normalise(found, RuleSet(unstored_rules(found), ["unstored"]), trace)
        found = [done[root] for root in found]
    if not exact and any(isinstance(node.op, FoundExtreme) for node in done.values()):
        done = normalise(found, RuleSet(found_rules(found), ["found"]), trace)
        found = [done[root] for root in found]
    return improved_bodies(found, lambda results: _phases(results, mode, trace), exact=exact)


def _with_joined(
    roots: Sequence[Tensor], trace: list[Rewrite] | None, *, exact: bool
) -> list[Tensor]:
    """The roots after the rules of joined parts: they ask how often each is used now."""
    if not has_joined(walk(roots)):
        return [*roots]
    done = normalise(roots, RuleSet(joined_rules(roots, exact=exact), ["joined"]), trace)
    return [done[root] for root in roots]


_DEEP = 3  # rows that are made of elements of others: what is known of uses ends at a change


def _with_picked(roots: Sequence[Tensor], trace: list[Rewrite] | None) -> list[Tensor]:
    """The roots without rows of which only elements are needed."""
    for _ in range(_DEEP):
        if not has_picked(walk(roots)):
            break
        done = normalise(roots, RuleSet(picked_rules(roots), ["picked"]), trace)
        before, roots = roots, [done[root] for root in roots]
        if roots == before:
            break
    return [*roots]


def _sets(mode: str) -> tuple[RuleSet, RuleSet, RuleSet]:
    return _known_sets(mode, has_linalg())


@cache
def _known_sets(mode: str, with_linalg: bool) -> tuple[RuleSet, RuleSet, RuleSet]:
    rules = rules_for(mode, with_linalg=with_linalg)
    early = [STABILITY.group, SCATTER.group]
    simple = [rule for rule in rules if not rule.makes_composite]
    return RuleSet(rules, early), RuleSet(EXPAND.all), RuleSet(simple, early)


EXPAND = Rules("expand")


@EXPAND.structural("expand", valid=EXACT)
def _expand(node: Tensor) -> Tensor | None:
    return node.op.expand(node) if _expands(kind_of(node)) else None


def _has_composites(nodes: Iterable[Tensor]) -> bool:
    for node in nodes:
        if _expands(kind_of(node)):
            with located_at(node.where):
                if _expand(node) is not None:
                    return True
    return False


@cache
def _expands(kind: OpKind) -> bool:
    return isinstance(kind, type) and issubclass(kind, Op) and kind.expand is not Op.expand


def optimise(roots: Sequence[Tensor], mode: str) -> list[Tensor]:
    """The roots after all phases."""
    return _phases(roots, mode, None) if roots else []


def lengths_of(nodes: Sequence[Tensor]) -> list[Dim]:
    """The symbolic lengths that computing these nodes may need."""
    return sorted(_symbolic(nodes) | _bounds(nodes), key=_age)


def _symbolic(nodes: Iterable[Tensor]) -> set[Dim]:
    """The lengths of nodes that are not known now."""
    return {dim for node in nodes for dim in node.type.shape if type(dim) is not int}


# Ops that read their integer scalars as values, not as lengths.
_READERS = (Elementwise, Cast, DimShuffle, Gather, Scatter, FoundExtreme)


def _bounds(nodes: Iterable[Tensor]) -> set[Dim]:
    """Lengths that arguments give, such as bounds of slices: loops ask for them too."""
    found: set[Dim] = set()
    for node in nodes:
        if node.args and not isinstance(node.op, _READERS):
            read = _read_as_values(node)
            found.update(
                dim_of(arg)
                for number, arg in enumerate(node.args)
                if not arg.ndim and arg.dtype is INT64 and number not in read
            )
    return found


def _read_as_values(node: Tensor) -> set[int]:
    """Which arguments of a slice are indexes."""
    if not isinstance(node.op, Slice | SliceWrite):
        return set()
    numbers = count(1 if isinstance(node.op, Slice) else 2)
    read: set[int] = {0, 1} if isinstance(node.op, SliceWrite) else {0}
    for entry in node.op.entries:
        if entry is GIVEN:
            read.add(next(numbers))
        elif isinstance(entry, Span):
            for bound in entry.bounds:
                if bound is GIVEN:
                    next(numbers)
    return read


def _age(dim: Dim) -> list[int]:
    """Sorts lengths by when their sizes were made: the same way in every process."""
    return [size.serial for size in sizes(dim)]


def _lengths(
    roots: Sequence[Tensor], measured: Sequence[Tensor], rewritten: AbstractSet[Tensor],
    mode: str, trace: list[Rewrite] | None,
) -> dict[Tensor, Tensor]:  # fmt: skip
    """The rewritten scalars whose values are lengths in the graphs, by the original scalar.

    Lengths of the graph as it was are among them: run-time conditions speak of those. What has been
    `rewritten` stays: a loop that it comes from would be another one, and run for it again.
    """
    scalars: dict[Tensor, Tensor] = {}
    pending = list(roots)
    while pending:
        order = walk(pending)
        # A scalar that is rewritten may come from a loop, whose steps are another one then.
        dims = sorted(_symbolic(order) | (_bounds(order) if scalars else set[Dim]()), key=_age)
        found = [size.source for dim in dims for size in sizes(dim) if size.axis is None]
        found += measured
        new = [source for source in dict.fromkeys(found) if source not in scalars]
        scalars.update((source, cast_to(source, INT64)) for source in new)
        old = [source for source in new if source not in rewritten]
        fresh = conditions_in_bodies([scalars[source] for source in old])
        pending = _phases(fresh, mode, trace) if old else []
        scalars.update(zip(old, pending, strict=True))
    return scalars
