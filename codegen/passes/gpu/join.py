"""join: launches that one team does, one after the other, become one launch.

Numbers are computed from numbers, and from the partial results of a sum, by kernels that have no
loop over independent iterations. To launch such a kernel takes longer than to run it. So the launch
that follows, if it is of the same kind, is added to it: the team does one after the other.
"""

from __future__ import annotations

from symc.codegen.ir import Kernel, Loop, Program
from symc.codegen.passes.gpu.mapping import outer_loop
from symc.codegen.passes.kernels.join import MOST, joined, length_of
from symc.codegen.passes.walk import statements

SUMS = 8  # of a kernel that is cut at its barriers


def join(program: Program) -> Program:
    """The program with neighbouring launches of one team joined."""
    return joined(program, _is_of_one_team)


def join_few(program: Program) -> Program:
    """The same for compilers that cut kernels at their barriers, of which each sum has some.

    What such a compiler does grows with the square of their number: PoCL took three seconds for 8
    sums in one kernel, ten for 16, and minutes for 36.
    """

    def length(kernel: Kernel) -> int:
        loops = sum(isinstance(stmt, Loop) for stmt in statements(kernel.body))
        return max(length_of(kernel), loops * (MOST // SUMS))

    return joined(program, _is_of_one_team, length=length)


def _is_of_one_team(kernel: Kernel) -> bool:
    return outer_loop(kernel.body) is None
