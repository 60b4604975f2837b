"""Whether a compiler has the runtime that loops on several threads need.

gcc brings its own. clang often comes without one (on macOS always): its programs then run on one
thread, and only OpenMP's vector pragmas are used.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from symc.codegen.processors import number_in
from symc.codegen.targets.compiler import Compiler, is_gcc, is_zig, remembered

if TYPE_CHECKING:
    from symc.codegen.targets.compiler import Memo

THREADS = "-fopenmp"
VECTORS = "-fopenmp-simd"
_TRIAL = """\
int main(void)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 9; i++) sum += i;
    return sum != 36;
}
"""


@cache
def has_openmp(found: Compiler, memo: Memo | None = None) -> bool:
    """Whether programs of a compiler can have threads. Tried once; kept in `memo`, if given."""
    if is_gcc(found):
        return True
    if is_zig(found.path):
        return False  # it comes without OpenMP's runtime; to try that takes half a minute
    if number_in("OMP_NUM_THREADS", os.environ)[1]:
        return False  # LLVM's runtime aborts, or works without end, where it cannot read this
    return remembered("openmp", found.stamp, memo, lambda: str(_runs(found))) == str(True)


def option(found: Compiler, memo: Memo | None = None) -> str:
    """The options to compile with."""
    return THREADS if has_openmp(found, memo) else VECTORS


def _runs(found: Compiler) -> bool:
    """Whether a loop on threads can be compiled, linked and run."""
    import tempfile  # late: with the answer remembered, nothing here starts a process

    from symc.codegen.targets import processes

    with tempfile.TemporaryDirectory(prefix="symc-openmp-") as folder:
        program = f"{folder}/trial"
        command = [*found.command, THREADS, "-x", "c", "-", "-o", program]
        try:
            return all(
                processes.run([each], given=_TRIAL)[0].status == 0 for each in (command, [program])
            )
        except OSError:
            return False
