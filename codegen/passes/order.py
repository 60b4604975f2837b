"""Passes: pure functions from one `Program` to a better one with the same meaning. In order:

    reuse       kernels that are equal up to names become one
    join        small kernels that follow on each other in a loop become one
    guards      indexes are checked by the loop in a step that reads at them
    beside      folds of the same arrays that follow on each other become one kernel
    scatters    writes at computed places, what they read, and sums of it become one loop
    simplify    share, hoist, inline and drop names; fold index arithmetic
    collapse    nested loops over one flat index become one loop
    settle      arrays that are copied into a larger one are made there
    short_rows  rows of few elements are computed side by side
    fuse        neighbouring loops become one, stored values are used instead of loaded again
    foresee     short loops check before their first step what they can
    independent loops whose steps do not depend on each other become loops of kernels
    simplify    once more: fusing leaves names that are unused, used once or equal
    place       local arrays that end as rows of an output live there
    turn        matrices whose rows are short and folded are read column by column
    tile        loops that read along one axis and write along another go in squares
    ahead       what scatters need of arithmetic is computed in a loop before them
    interleave  tables that one loop adds to at the same places are one table of pairs
    behind      sums beside scatters are added up in a loop after them
    vectorize   which innermost loops run in vector registers, which are unrolled
    unroll      short loops inside vector loops are written out
    distribute  bodies of thousands of operations become several loops over strips
    lanes       long vector loops read and write numbers of one width
    parallel    which loops run on threads, and in which blocks
    side_by_side  sums of what vector registers are slow to take go to several scalars
    carry       a number that a short step of a loop stores for the next one stays in a register
    apart       products that are added to such a number are computed before it is there
    packs       loops that gather and scatter compute four iterations side by side
    declare     a local scalar is declared with its first value

Only `unroll`, `distribute`, `lanes`, `parallel`, `side_by_side`, `carry`, `apart` and `packs`
must come after `vectorize`, and `declare` after all; any other order is correct, if less effective.
`memory` is no pass but a plan that the emitter asks for. The helpers `walk`, `fold`, `share`,
`inline`, `asked`, `answered`, `dependence`, `forward`, `in_program`, `rows`, `row_folds`,
`varying`, `waiting` and `pack_plan` are parts of the passes.
"""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen.ir import Program
from symc.codegen.passes.ahead import ahead
from symc.codegen.passes.apart import apart
from symc.codegen.passes.behind import behind
from symc.codegen.passes.beside import beside
from symc.codegen.passes.carry import carry
from symc.codegen.passes.collapse import collapse
from symc.codegen.passes.declare import declare
from symc.codegen.passes.distribute import distribute
from symc.codegen.passes.foresee import foresee
from symc.codegen.passes.fuse import fuse
from symc.codegen.passes.guards import guards
from symc.codegen.passes.independent import independent
from symc.codegen.passes.interleave import interleave
from symc.codegen.passes.join import join
from symc.codegen.passes.lanes import lanes
from symc.codegen.passes.packs import packs
from symc.codegen.passes.parallel import parallel
from symc.codegen.passes.place import place
from symc.codegen.passes.reuse import reuse
from symc.codegen.passes.scatters import scatters
from symc.codegen.passes.settle import settle
from symc.codegen.passes.short_rows import short_rows
from symc.codegen.passes.side_by_side import side_by_side
from symc.codegen.passes.simplify import simplify
from symc.codegen.passes.tile import tile
from symc.codegen.passes.turn import turn
from symc.codegen.passes.unroll import unroll
from symc.codegen.passes.vectorize import vectorize

PASSES: tuple[Callable[[Program], Program], ...] = (
    reuse, join, guards, beside, scatters, simplify, collapse, settle, short_rows, fuse, foresee,
    independent, simplify, place, turn, tile, ahead, interleave, behind, vectorize, unroll,
    distribute, lanes, parallel, side_by_side, carry, apart, packs, declare,
)  # fmt: skip
"""The passes over every program before it is emitted, in this order."""
