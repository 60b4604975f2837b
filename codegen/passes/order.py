"""Passes: pure functions from one `Program` to a better one with the same meaning.

`steps/` has those over loops around kernels, `kernels/` those over whole kernels and what they
store, `loops/` over loops in kernels, `vectors/` over loops in vector registers, `expressions/`
over names and arithmetic; each folder imports only those named after it. In order:

    reuse       kernels that are equal up to names become one
    once        what sides of branches compute anew in each step of a loop is kept
    join        small kernels that follow on each other in a loop become one
    guards      indexes are checked by the loop in a step that reads at them
    beside      folds of the same arrays that follow on each other become one kernel
    scatters    writes at computed places, what they read, and sums of it become one loop
    simplify    share, hoist, inline and drop names; fold index arithmetic
    collapse    nested loops over one flat index become one loop
    settle      arrays that are copied into a larger one are made there
    borrowed    parts of arrays that routines alone read are read by them where they lie
    short_rows  rows of few elements are computed side by side
    fuse        neighbouring loops become one, stored values are used instead of loaded again
    sides       loops of one step or none go into branches of the same condition
    sure        checks that hold because of checks before them are left out
    unvarying   what all steps ask of arrays that do not change is asked before them
    hoisted     what loops check of lengths alone is checked before them
    foresee     short loops check before their first step what they can
    independent loops whose steps do not depend on each other become loops of kernels
    columns     steps that go along rows that do not meet are done for a few rows after the other
    exchange    rows that are set from each other are set by one loop
    rejoin      small kernels between which there is no check any more become one
    unbroken    loops that write into shared variables run to their end, or write into copies
    unfilled    arrays that are overwritten before they are read are not filled before
    simplify    once more: fusing leaves names that are unused, used once or equal
    place       local arrays that end as rows of an output live there
    exact       bools of the caller's are made 0 or 1 where arrays of loops begin with them
    laps        a loop that takes the remainder of its variable becomes loops without one
    turn        matrices whose rows are short and folded are read column by column
    planes      few numbers that lie side by side go to rows of their own in long strips
    tile        loops that read along one axis and write along another go in squares
    lines       elements far apart that each row reads again are copied side by side
    end_to_end  short rows that share values are computed several at a time
    unswitch    loops whose selections ask the same in all iterations go into branches
    ahead       what scatters need of arithmetic is computed in a loop before them
    interleave  tables that one loop adds to at the same places are one table of pairs
    behind      sums beside scatters are added up in a loop after them
    points      loops over rows have a version for rows of three numbers
    after_folds  functions of what rows are folded to are computed after all folds
    vectorize   which innermost loops run in vector registers, which are unrolled
    unroll      short loops inside vector loops are written out
    distribute  bodies of thousands of operations become several loops over strips
    lanes       long vector loops read and write numbers of one width
    brief       loops of a few iterations are compiled into those of the program around them
    around      remainders of numbers that are once round at most are selected, not divided
    parallel    which loops run on threads, and in which blocks
    channels    loops over points of a few numbers have versions for how many these are
    wraps       loops that read round the end of an axis go in parts, without selected indexes
    fours       exponentials are added up four at a time, then widened
    side_by_side  folds of what vector registers are slow to take go to several scalars
    registers   folds of rows go to several vector registers
    byte_sums   sums of bytes and truth values are added up in lanes of one or two bytes
    byte_folds  extremes of rows of bytes are folded in whole vectors
    few_terms   rows of a few numbers are folded one after the other
    ends        sums of functions end with a whole vector that overlaps the one before
    abreast     columns are folded several rows at a time
    running     running sums and extremes are computed four at a time
    overlapped  rows of bytes end with a whole vector that overlaps the one before
    carry       a number that a short step of a loop stores for the next one stays in a register
    apart       products that are added to such a number are computed before it is there
    unforeseen  sides of choices that no processor foresees are computed before them
    halves      indexes in the condition of a loop are looked at where its first side holds
    from_both_ends  checks of an index from below and from above become one
    packs       loops that gather and scatter compute four iterations side by side
    declare     a local scalar is declared with its first value

Only `unroll`, `distribute`, `lanes`, `parallel`, `channels`, `wraps`, `fours`, `side_by_side`,
`registers`, `byte_sums`, `byte_folds`, `few_terms`, `ends`, `abreast`, `running`, `overlapped`,
`carry`, `apart`, `unforeseen` and `packs` must come after `vectorize`, `unbroken` after `foresee`,
and `declare` after all; any other order is correct, if less effective. Any may be left out but
`unbroken`: without it an error may leave shared variables half-changed.
`memory` is no pass but a plan that the emitter asks for. The helpers `walk`, `conditions`, `fold`,
`powers`, `share`, `inline`, `asked`, `answered`, `implied`, `read_before`, `in_kernel`, `totals`,
`elements`, `later`, `dependence`, `forward`, `in_program`, `rows`, `row_folds`, `following`,
`varying`, `waiting`, `proven`, `states`, `transposed`, `turning`, `meeting`, `started`, `numbered`,
`facts`, `exact_bools`, `pieces`, `groups`, `lengths`, `turned_sums` and `pack_plan` are parts of
the passes.

Most passes are over loops, of kernels or of the program around them. They are imported for programs
that have such loops: to import all takes longer than they work on a small program. No pass makes
loops where there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import cast

from symc.codegen.blocks import every_step
from symc.codegen.ir import Branch, Loop, Program, Repeat
from symc.codegen.passes.walk import statements

Function = Callable[[Program], Program]


def any_program(program: Program) -> bool:
    """Passes over statements may change every program."""
    del program
    return True


def with_loops(program: Program) -> bool:
    """Passes over loops change programs with a kernel that has some."""
    return any(isinstance(s, Loop) for kernel in program.kernels for s in statements(kernel.body))


def with_repeats(program: Program) -> bool:
    """Passes over loops around steps change programs with some."""
    return any(isinstance(step, Repeat) for step in every_step(program.steps))


def with_branches_in_steps(program: Program) -> bool:
    """Passes over what only some steps of loops compute."""
    repeats = [step for step in every_step(program.steps) if isinstance(step, Repeat)]
    return any(isinstance(step, Branch) for step in every_step(repeats))


def with_any(program: Program) -> bool:
    """Passes over loops of both kinds."""
    return with_repeats(program) or with_loops(program)


def with_variables(program: Program) -> bool:
    """Passes over loops that may write into shared variables, or arguments that are given away."""
    return any(buffer.is_variable for buffer in program.buffers) and with_repeats(program)


class LatePass:
    """A pass by its place: a folder, and the name that its function and its module have.

    `concerns` says whether it may change a program; if not, the pass is not imported.
    """

    __slots__ = ("concerns", "folder", "name")

    def __init__(self, place: str, concerns: Callable[[Program], bool]) -> None:
        self.folder, _, self.name = place.partition(".")
        self.concerns = concerns

    @property
    def function(self) -> Function:
        """The pass itself."""
        return _imported(self.folder, self.name)

    def __call__(self, program: Program) -> Program:
        """The program after the pass."""
        return self.function(program) if self.concerns(program) else program


@cache
def _imported(folder: str, name: str) -> Function:
    return cast("Function", getattr(import_module(f"symc.codegen.passes.{folder}.{name}"), name))


def _passes(concerns: Callable[[Program], bool], places: str) -> list[LatePass]:
    return [LatePass(place, concerns) for place in places.split()]


PASSES: tuple[LatePass, ...] = (
    *_passes(any_program, "kernels.reuse"),
    *_passes(with_branches_in_steps, "steps.once"),
    *_passes(with_repeats, "kernels.join steps.guards"),
    *_passes(with_loops, "kernels.beside kernels.scatters"),
    *_passes(any_program, "expressions.simplify"),
    *_passes(with_loops, "loops.collapse"),
    *_passes(any_program, "kernels.settle"),
    *_passes(with_loops, "kernels.borrowed"),
    *_passes(with_loops, "vectors.short_rows"),
    *_passes(any_program, "loops.fuse"),
    *_passes(with_repeats, "steps.sides steps.sure steps.unvarying steps.hoisted steps.foresee"),
    *_passes(with_repeats, "steps.independent steps.columns steps.exchange steps.rejoin"),
    *_passes(with_variables, "steps.unbroken"),
    *_passes(with_any, "kernels.unfilled"),
    *_passes(any_program, "expressions.simplify kernels.place"),
    *_passes(with_repeats, "steps.exact"),
    *_passes(with_loops, "loops.laps loops.turn vectors.planes loops.tile loops.lines"),
    *_passes(with_loops, "vectors.end_to_end loops.unswitch"),
    *_passes(with_loops, "vectors.ahead vectors.interleave"),
    *_passes(with_loops, "vectors.behind vectors.points vectors.after_folds"),
    *_passes(with_loops, "vectors.vectorize loops.unroll"),
    *_passes(with_loops, "vectors.distribute"),
    *_passes(with_loops, "vectors.lanes"),
    *_passes(with_repeats, "steps.brief steps.around"),
    *_passes(with_loops, "loops.parallel vectors.channels loops.wraps"),
    *_passes(with_loops, "vectors.fours"),
    *_passes(any_program, "vectors.side_by_side"),
    *_passes(with_loops, "vectors.registers vectors.byte_sums vectors.byte_folds"),
    *_passes(with_loops, "vectors.few_terms vectors.ends"),
    *_passes(with_loops, "vectors.abreast vectors.running vectors.overlapped"),
    *_passes(with_repeats, "steps.carry steps.apart steps.unforeseen"),
    *_passes(with_repeats, "steps.halves steps.from_both_ends"),
    *_passes(with_loops, "vectors.packs"),
    *_passes(any_program, "expressions.declare"),
)
"""The passes over every program before it is emitted, in this order."""
