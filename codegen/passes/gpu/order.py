"""Passes for devices with thousands of threads: from loops to grids of threads and teams. In order:

    values       inputs without axes are passed by value instead of by address
    interchange  independent iterations go outside of serial loops
    split        loops one after the other become kernels of their own: a grid has one loop
    owners       writes that must be in order are shared out by the elements they go to
    join         several launches of one team become one
    long_rows    reductions of a few long rows are done in pieces
    tiles        arrays that are read across the grain are copied in tiles
    mapping      each kernel becomes one loop over threads or over teams of threads
    packs        neighbouring elements are read and written 16 bytes at a time
    narrow       indexes have 32 bits
    wrap         other integers are computed with as unsigned ones, which wrap
    declare      a local scalar is declared with its first value

They run after `reuse simplify collapse fuse exchange simplify` of the processor's passes, of which
`exchange` leaves out what kernels would have to ask before, and take the place
of `vectorize` and `parallel`. `flatten` and `teams` are parts of `mapping`.
"""

from __future__ import annotations

from collections.abc import Callable

from symc.codegen.ir import Program
from symc.codegen.passes.expressions.declare import declare
from symc.codegen.passes.expressions.simplify import simplify
from symc.codegen.passes.gpu.interchange import interchange
from symc.codegen.passes.gpu.join import join
from symc.codegen.passes.gpu.long_rows import long_rows
from symc.codegen.passes.gpu.mapping import mapping
from symc.codegen.passes.gpu.narrow import narrow
from symc.codegen.passes.gpu.owners import owners
from symc.codegen.passes.gpu.packs import packs
from symc.codegen.passes.gpu.split import split
from symc.codegen.passes.gpu.tiles import tiles
from symc.codegen.passes.gpu.values import values
from symc.codegen.passes.gpu.wrap import wrap
from symc.codegen.passes.kernels.reuse import reuse
from symc.codegen.passes.loops.collapse import collapse
from symc.codegen.passes.loops.fuse import fuse
from symc.codegen.passes.steps.exchange import exchange


def _exchange(program: Program) -> Program:
    return exchange(program, asks=False)


_SHARED: tuple[Callable[[Program], Program], ...] = (
    reuse, simplify, collapse, fuse, _exchange, simplify, values, interchange, split, owners, join,
    long_rows, tiles, mapping, packs,
)  # fmt: skip

WIDE_PASSES: tuple[Callable[[Program], Program], ...] = (*_SHARED, wrap, declare)
"""The passes for a device whose arrays may have more than 2^30 elements."""

PASSES: tuple[Callable[[Program], Program], ...] = (*_SHARED, narrow, wrap, declare)
"""The passes for every other program of a device."""
