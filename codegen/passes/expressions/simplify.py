"""simplify: fewer names, less work, shorter text, the same meaning to the bit.

- int64 and bool expressions are folded, and so are loops and branches whose outcome is known;
- equal values share one name, and values move out of the loops they do not depend on (`share`);
- unused values, loops without effect and unused local buffers go, and values that are used once
  are written where they are used (`inline`).

It takes time linear in the program.
"""

from __future__ import annotations

from symc.codegen.ir import Kernel, Program
from symc.codegen.passes.expressions.inline import inline
from symc.codegen.passes.expressions.share import counts_of, share, sources_of
from symc.codegen.passes.walk import Block, map_kernels


def simplify(program: Program) -> Program:
    """The program with values shared, hoisted, dropped and inlined."""
    sources, counts = sources_of(program), counts_of(program)

    def simple(kernel: Kernel) -> Block:
        return inline(share(kernel, sources[kernel.name], counts[kernel.name]))

    return map_kernels(program, simple)
