"""The passes for devices: the same results on random programs, and their output for examples."""

import numpy as np
import pytest

from symc.codegen.ir import Barrier, Combine, Loop
from symc.codegen.meaning.interpret import Result
from symc.codegen.passes.gpu.order import PASSES
from symc.codegen.passes.walk import statements
from symc.codegen.text import text
from symc.codegen.verify.program import verify
from tests.codegen.programs import Random, run

LENGTHS = [(0, 3), (3, 0), (1, 1), (2, 4)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(60))
def test_random_programs_mean_the_same_after_each_pass(seed: int) -> None:
    generator = Random(seed)
    before = generator.program()
    cases = [generator.arrays(before, n, c) for n, c in LENGTHS]
    wanted = [run(before, arrays) for arrays in cases]
    for change in PASSES:
        after = change(before)
        verify(after)
        for arrays, result in zip(cases, wanted, strict=True):
            what = f"seed {seed}, {change.__name__}\n{text(before)}\n{text(after)}"
            assert close(result, run(after, arrays)), what
            assert close(result, run(after, arrays, backwards=True)), what
        before = after


def close(first: Result, second: Result) -> bool:
    """The same but for the order in which the lanes of a team add up."""
    if first.arrays.keys() != second.arrays.keys():
        return False
    return all(
        np.allclose(first.arrays[name].values, second.arrays[name].values, 1e-9, equal_nan=True)
        for name in first.arrays
    )


@pytest.mark.parametrize("seed", range(60))
def test_each_kernel_is_one_grid_or_team_loop(seed: int) -> None:
    made = Random(seed).program()
    for change in PASSES:
        made = change(made)
    for kernel in made.kernels:
        *_, outer = kernel.body
        assert isinstance(outer, Loop)
        assert outer.kind in ("grid", "team"), text(made)
        inside = list(statements((outer,)))[1:]
        kinds = {stmt.kind for stmt in inside if isinstance(stmt, Loop)}
        assert "parallel" not in kinds, text(made)
        if outer.kind == "grid":
            assert "lane" not in kinds
            assert not any(isinstance(stmt, Barrier | Combine) for stmt in inside)
