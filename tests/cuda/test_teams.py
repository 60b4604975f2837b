"""Results of teams of threads, on the simulator, which also finds races and barriers
that a thread misses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("symc.codegen.targets.sim", reason="no simulator")

from symc.codegen.targets import sim
from symc.codegen.targets.cuda.reading import module_of
from tests.cuda.device import ORDERS, Array, Device
from tests.cuda.teams import KINDS, TEAM_FUNCTIONS, team_kernels

TEAMS = [(32, 1), (32, 3), (64, 1), (96, 1), (1024, 1)]
BLOCKS = 2
UFUNCS: dict[str, Any] = {
    "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
    "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
}  # fmt: skip


@pytest.fixture(scope="module")
def module(simulated: Device) -> Any:
    """All kernels of `team_kernels`, loaded."""
    return simulated.handle("cuModuleLoadData", sim.compile_kernels(module_of(team_kernels())))


def values(op: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Numbers whose reduction does not drown in one of them."""
    rng = np.random.default_rng(len(op))
    match dtype.kind:
        case "f":
            x = rng.standard_normal(shape)
            return (np.exp(x / 50) if op == "mul" else x).astype(dtype)
        case "b":
            return rng.random(shape) < (0.01 if op in ("or", "bor") else 0.99)
        case _:
            info = np.iinfo(dtype)
            whole: Array = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
            return whole | 1 if op == "mul" else whole  # many even factors would leave zeros


def run(
    device: Device, module: Any, name: str, x: Array, team: tuple[int, int]
) -> tuple[Array, Array]:
    """A function's values, and the last lane's of them, for every team."""
    kernel = device.handle("cuModuleGetFunction", module, f"k_{name}".encode())
    places = [device.put(x), device.allocate(x.nbytes), device.allocate(x.nbytes)]
    device.launch(kernel, BLOCKS, (*team, 1), *places)
    y, last = (device.get(place, x.shape, x.dtype.str) for place in places[1:])
    for place in places:
        device.free(place)
    return y, last


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TEAM_FUNCTIONS)
def test_a_team_computes_what_numpy_does(name: str, device: Device, module: Any) -> None:
    *_, op, short = name.split("_")
    dtype = np.dtype(KINDS[short].name)
    for team in TEAMS:
        x = values(op, dtype, (BLOCKS, team[1], team[0]))
        with np.errstate(over="ignore"):
            if "_scan_" in name:
                wanted = UFUNCS[op].accumulate(x, axis=-1, dtype=dtype)
            else:
                whole = UFUNCS[op].reduce(x, axis=-1, dtype=dtype, keepdims=True)
                wanted = np.broadcast_to(whole, x.shape)
        y, last = run(device, module, name, x, team)
        if dtype.kind == "f":
            # two sums of n terms in any order differ by n rounding errors of the sum of sizes
            sizes = np.abs(x).sum(axis=-1, keepdims=True) + np.abs(wanted)
            assert (np.abs(y - wanted) <= team[0] * np.finfo(dtype).eps * sizes).all(), team
        else:
            np.testing.assert_array_equal(y, wanted, err_msg=str(team))
        np.testing.assert_array_equal(last, np.broadcast_to(y[..., -1:], x.shape))


@pytest.mark.parametrize("name", ["symc_team_add_f32", "symc_team_scan_add_f64"])
@pytest.mark.parametrize("team", TEAMS)
def test_bits_do_not_depend_on_the_order_of_threads(
    name: str, team: tuple[int, int], device: Device, module: Any
) -> None:
    dtype = np.dtype(KINDS[name.rsplit("_", 1)[1]].name)
    x = values("add", dtype, (BLOCKS, team[1], team[0]))
    found: set[bytes] = set()
    for order in ORDERS:
        device.sim.set_order(order)
        found.add(run(device, module, name, x, team)[0].tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("team", TEAMS)
def test_extremes_keep_nan_and_give_all_lanes_the_same_zero(
    op: str, team: tuple[int, int], device: Device, module: Any
) -> None:
    zeros = np.zeros((BLOCKS, team[1], team[0]), np.float32)
    zeros[..., 1::2] = -0.0
    y, _ = run(device, module, f"symc_team_{op}_f32", zeros, team)
    assert (y == 0).all()
    signs = np.signbit(y)
    assert (signs == signs[..., :1]).all()
    zeros[0, 0, team[0] - 2] = np.nan
    y, _ = run(device, module, f"symc_team_{op}_f32", zeros, team)
    assert np.isnan(y[0, 0]).all()
    assert (y[1] == 0).all()
