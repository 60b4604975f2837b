"""The workspace of a call: which arrays share a piece of it, one after another."""

from __future__ import annotations

from symc.codegen.cost.amounts import Amount
from symc.codegen.ir import Buffer
from symc.codegen.passes.kernels.memory import bytes_of, live_ranges, numbered, plan_workspace
from symc.show.report.contents import Contents, Task
from symc.show.report.markup import Child, Html, facts, link, section, tag

STEP = 46.0  # the width of a step
ROW = 26.0
LEFT = 90.0


def memory_section(contents: Contents) -> Html:
    """A row for each piece of memory, a column for each step."""
    program = contents.compilation.optimised
    layout = plan_workspace(program)
    lives = live_ranges(program)
    rows = [(f"piece {number}", slot.tenants) for number, slot in enumerate(layout.slots, 1)]
    rows += [("allocated late", (late.buffer,)) for late in layout.late]
    if not rows:
        return section("memory", "Memory", tag("p", "There are no intermediate arrays."))
    steps = {id(step): life[-1][0] for life, step in numbered(program.steps)}
    columns = {steps[id(task.step)]: task for task in contents.tasks if id(task.step) in steps}
    count = 1 + max(last for _, last in lives.values())
    shown: list[Html] = [_column(number, task, len(rows)) for number, task in columns.items()]
    for number, (title, tenants) in enumerate(rows):
        shown.append(tag("text", title, x=0, y=(number + 1.65) * ROW))
        shown += [
            _tenant(contents, buffer, number, lives[buffer.name])
            for buffer in tenants
            if buffer.name in lives
        ]
    drawing = tag(
        "svg",
        *shown,
        width=LEFT + count * STEP,
        height=(len(rows) + 1.2) * ROW,
        class_="timeline",
        role="group",
        aria_label="memory: a row for each piece, a column for each step",
    )
    sizes: list[tuple[str, Child]] = [
        (title, " | ".join(f"{b.name}: {Amount.of(bytes_of(b))} bytes" for b in tenants))
        for title, tenants in rows
    ]
    words = "Arrays in one row share memory. Columns are the steps; numbers lead to the kernels."
    return section(
        "memory", "Memory", tag("p", words), tag("div", drawing, class_="wide"), facts(sizes)
    )


def _column(number: int, task: Task, rows: int) -> Html:
    x = LEFT + (number + 0.5) * STEP
    line = tag("path", d=f"M{x} {ROW}V{(rows + 1) * ROW}", class_="edge")
    label = tag("text", str(task.number + 1), tag("title", task.title), x=x - 4, y=ROW * 0.6)
    return tag("g", line, link(task.place, label))


def _tenant(contents: Contents, buffer: Buffer, row: int, life: tuple[int, int]) -> Html:
    first, last = life
    box = tag(
        "rect",
        x=LEFT + first * STEP + 3,
        y=(row + 1) * ROW + 3,
        width=(last - first + 1) * STEP - 6,
        height=ROW - 6,
        rx=4,
    )
    name = tag("text", buffer.name, x=LEFT + first * STEP + 8, y=(row + 1.65) * ROW)
    lengths = tag("title", f"{buffer.name}: {Amount.of(bytes_of(buffer))} bytes")
    nodes = contents.compilation.holds.get(buffer.name, [])
    places = [place for node in nodes for place in contents.places.get(node, [])]
    group = tag("g", lengths, box, name, class_="tenant")
    return link(places[-1], group) if places else group
