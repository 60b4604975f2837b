"""The rewrites of a graph, and which of them made each node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symc.graph.node import Tensor
from symc.graph.walks import walk
from symc.rewrite.engine import Rewrite
from symc.show.report.markup import Html, link, section, tag
from symc.tensor.notation import expression

DEPTH = 3  # how much of an expression a step shows
MOST_STEPS = 1_000  # that are shown


def makers(given: Iterable[Tensor], steps: Sequence[Rewrite]) -> dict[Tensor, int]:
    """For each node that a rule made, the number of the step that it was made in.

    `given` are the nodes before the first step. One merely built again on new arguments was
    made by no rule.
    """
    known = set(given)
    made: dict[Tensor, int] = {}
    for number, step in enumerate(steps):
        known.update(walk([step.before], stop=known.__contains__))
        for node in walk([step.after], stop=known.__contains__):
            if node not in known:
                made[node] = number
                known.add(node)
    return made


def trace_section(steps: Sequence[Rewrite], places: dict[Tensor, list[str]]) -> Html:
    """All rewrites in order; `places` has where a node is drawn."""
    if not steps:
        return section("rewrites", "Rewrites", tag("p", "No rule had anything to improve."))
    rows = [_row(number, step, places) for number, step in enumerate(steps[:MOST_STEPS])]
    folded = len(steps) - len(rows)
    buttons = tag(
        "p",
        tag("button", "previous", id="previous-step", type="button"),
        tag("button", "next", id="next-step", type="button"),
        f" {len(steps):,} steps, in the order in which they happened"
        + (f"; the last {folded:,} are folded away" if folded else ""),
    )
    return section("rewrites", "Rewrites", buttons, tag("ol", *rows, id="steps"))


def step_link(steps: Sequence[Rewrite], number: int) -> Html:
    """The name of a step's rule, which leads to the step if that is shown."""
    name = steps[number].rule.name
    return link(f"step-{number}", name) if number < MOST_STEPS else tag("span", name)


def _row(number: int, step: Rewrite, places: dict[Tensor, list[str]]) -> Html:
    rule = step.rule
    promise = f"{rule.valid.name}: {rule.valid.value}"
    return tag(
        "li",
        tag("b", rule.name),
        f" ({rule.group}, {promise}; {rule.where}) at {step.before.where}",
        tag(
            "div",
            tag("code", expression(step.before, DEPTH), class_="before"),
            *_places(step.before, places, "before"),
        ),
        tag(
            "div",
            tag("code", expression(step.after, DEPTH), class_="after"),
            *_places(step.after, places, "after"),
        ),
        id=f"step-{number}",
        tabindex="0",
    )


def _places(node: Tensor, places: dict[Tensor, list[str]], graph: str) -> list[Html]:
    found = [place for place in places.get(node, []) if place.startswith(graph)]
    return [link(place, f"shown in {graph}", class_="place") for place in found]
