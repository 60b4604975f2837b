"""rejoin: small kernels between which a check has been left out become one, as neighbours before.

    repeat until done:                        repeat until done:
        next = (state - 1) // 2                   next = (state - 1) // 2; swap x[state], x[next]
        check next < n    # is sure to hold
        swap x[state], x[next]

What one has stored the other one need not load, and what is computed from it may be simplified.
"""

from __future__ import annotations

from symc.codegen.ir import Program
from symc.codegen.passes.kernels.join import join
from symc.codegen.passes.loops.fuse import fuse


def rejoin(program: Program) -> Program:
    """The program with such kernels joined, which use what is stored before them."""
    found = join(program)
    return program if found is program else fuse(found)
