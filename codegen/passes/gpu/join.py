"""join: launches that one team does, one after the other, become one launch.

Numbers are computed from numbers, and from the partial results of a sum, by kernels that have no
loop over independent iterations. To launch such a kernel takes longer than to run it. So the launch
that follows, if it is of the same kind, is added to it: the team does one after the other.
"""

from __future__ import annotations

from symc.codegen.ir import Program
from symc.codegen.passes.gpu.mapping import outer_loop
from symc.codegen.passes.join import joined


def join(program: Program) -> Program:
    """The program with neighbouring launches of one team joined."""
    return joined(program, lambda kernel: outer_loop(kernel.body) is None)
