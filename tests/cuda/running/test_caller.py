"""Calling compiled CUDA functions: arguments, results, threads and errors.

The programs are written by hand (host.c, kernels.cu); those that symc compiles are tested
elsewhere.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import symc.cuda
from symc.codegen.targets import sim
from symc.cuda import DeviceArray, asarray
from symc.cuda.devices import Device
from symc.errors import DeviceError
from tests.cuda.running.programs import Failed, Programs

ROOT = Path(__file__).parents[3]
A, B = np.arange(5.0), np.array([1.0, -1.0, 2.0, 0.0, 3.0])


# --- arguments ------------------------------------------------------------------------------------


def test_host_and_device_arrays(device: Device, programs: Programs) -> None:
    f = programs("axpy")
    on_device = asarray(A, device=device)
    for a in (A, on_device, A.tolist(), A.astype(np.float32), np.repeat(A, 2)[::2]):
        for b in (B, asarray(B, device=device)):
            result = f(a, b, 2.0)
            assert type(result) is np.ndarray
            assert np.array_equal(result, A + B * 2)
    assert np.array_equal(on_device.to_numpy(), A)


def test_numbers(device: Device, programs: Programs) -> None:
    f = programs("axpy")
    numbers = [2.0, 2, np.float64(2), np.float32(2), np.array(2.0), np.array(2), True]
    for number in [*numbers, asarray(2.0, device=device), asarray(2, device=device)]:
        assert np.array_equal(f(A, B, number), A + B * float(np.asarray(number)))


def test_a_device_array_of_another_dtype_is_converted(device: Device, programs: Programs) -> None:
    f = programs("axpy")
    assert np.array_equal(f(asarray(A.astype(np.float32), device=device), B, 1.0), A + B)


def test_arguments_that_do_not_fit(device: Device, programs: Programs) -> None:
    f = programs("axpy")
    with pytest.raises(TypeError, match="expected 3 positional arguments, got 2"):
        f(A, B)
    with pytest.raises(TypeError, match="argument 1 is 'text'"):
        f(A, "text", 1.0)
    with pytest.raises(TypeError, match="argument 0 was not converted"):
        f(asarray(A.reshape(1, 5), device=device), B, 1.0)
    assert np.array_equal(f(A, B, 1.0), A + B)


def test_an_argument_on_another_device(device: Device, programs: Programs, other: Device) -> None:
    f = programs("axpy")
    with pytest.raises(DeviceError, match=f"argument 1 is on cuda:7, and {device.name} was asked"):
        f(A, asarray(B, device=other), 1.0)
    with pytest.raises(DeviceError, match="argument 2 is on cuda:7"):
        f(A, B, asarray(1.0, device=other))


def test_arguments_may_change_as_soon_as_the_call_returns(
    device: Device, programs: Programs
) -> None:
    f = programs("axpy", on_device=True)
    a, b = A.copy(), B.copy()
    result = f(a, b, 2.0)
    a[:] = b[:] = -100
    assert np.array_equal(result.to_numpy(), A + B * 2)


def test_arrays_without_elements(device: Device, programs: Programs) -> None:
    for on_device in (True, False):
        result = programs("axpy", on_device=on_device)(A[:0], B[:0], 2.0)
        assert result.shape == (0,)
    assert programs("positive")(A[:0]).shape == (0,)


# --- results --------------------------------------------------------------------------------------


def test_outputs_on_the_device(device: Device, programs: Programs) -> None:
    f = programs("axpy", on_device=True)
    first = f(A, B, 1.0)
    second = f(first, B, 1.0)
    assert type(first) is type(second) is DeviceArray
    assert np.array_equal(first.to_numpy(), A + B)
    assert np.array_equal(second.to_numpy(), A + B + B)


def test_forms(device: Device, programs: Programs) -> None:
    assert np.array_equal(programs("axpy", form="list")(A, B, 1.0)[0], A + B)
    assert programs("axpy", form="none")(A, B, 1.0) is None


def test_a_measured_output(device: Device, programs: Programs) -> None:
    f = programs("positive")
    assert np.array_equal(f(B), B[B > 0])
    assert f(-np.abs(B)).shape == (0,)
    with pytest.raises(Failed, match="5"):
        f(np.ones(10))
    on_device = programs("positive", on_device=True)(B)
    assert np.array_equal(on_device.to_numpy(), B[B > 0])


def test_a_failed_check_shows_values_on_the_host(device: Device, programs: Programs) -> None:
    f = programs("axpy")
    with pytest.raises(Failed) as caught:
        f(asarray(A, device=device), B[:3], 2.0)
    code, a, b, s = caught.value.args
    assert (code, s) == (3, 2.0)
    assert np.array_equal(a, A)
    assert np.array_equal(b, B[:3])


def test_outputs_are_new_arrays(device: Device, programs: Programs) -> None:
    f = programs("axpy", on_device=True)
    kept = [f(A, B, float(number)) for number in range(4)]
    for number, result in enumerate(kept):
        assert np.array_equal(result.to_numpy(), A + B * number)
    assert len({result.ptr for result in kept}) == 4


# --- shared variables -----------------------------------------------------------------------------

K = np.array([5.0, 10.0])


def descend(programs: Programs, w: list[Any], v: list[Any], **more: Any) -> Any:
    return programs(
        "descend", shared=(w, v), constants=(K,), rebind=((1, v),), in_place=(True, False), **more
    )


@pytest.mark.parametrize("w_on_device", [True, False])
@pytest.mark.parametrize("v_on_device", [True, False])
def test_shared_variables(
    device: Device, programs: Programs, w_on_device: bool, v_on_device: bool
) -> None:
    """In place and rebound, on the device and on the host, in any combination."""
    w: list[Any] = [asarray(A, device=device) if w_on_device else A.copy()]
    v: list[Any] = [asarray(B, device=device) if v_on_device else B.copy()]
    live = w[0]
    f = descend(programs, w, v)
    want_w, want_v = A, B
    for _ in range(3):
        g = np.full(5, 0.5)
        want_w = want_w - g
        want_v = want_v + want_w * K[1]
        assert np.array_equal(f(g), g)
        assert np.array_equal(np.asarray(w[0]), want_w)
        assert np.array_equal(np.asarray(v[0]), want_v)
    assert w[0] is live  # updated in its own memory
    assert isinstance(v[0], DeviceArray if v_on_device else np.ndarray)


def test_a_shared_variable_on_another_device(
    device: Device, programs: Programs, other: Device
) -> None:
    w, v = [asarray(A, device=other)], [asarray(B, device=device)]
    f = descend(programs, w, v)
    with pytest.raises(DeviceError, match="a shared variable is on cuda:7"):
        f(A)


# --- memory ---------------------------------------------------------------------------------------


def test_repeated_calls_take_no_more_memory(device: Device, programs: Programs) -> None:
    f = programs("axpy")
    f(A, B, 1.0)
    gc.collect()
    before = device.memory_info()
    for number in range(20):
        f(A, B, float(number))
    after = device.memory_info()
    assert (after["used"], after["cached"]) == (before["used"], before["cached"])


def test_the_workspace_grows(device: Device, programs: Programs) -> None:
    f = programs("axpy")
    for count in (3, 1000, 10, 100_000, 5):
        x = np.arange(float(count))
        assert np.array_equal(f(x, x, 2.0), x * 3)


def test_a_workspace_that_could_not_be_had(
    device: Device, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one before is given back then, and must not be used any more."""
    f = programs("axpy")
    f(A, B, 1.0)

    def full(size: int, stream: int | None = None) -> NoReturn:
        raise MemoryError(size, stream)

    x, y = (asarray(np.ones(10_000), device=device) for _ in range(2))
    with monkeypatch.context() as patched:
        patched.setattr(device, "allocate", full)
        with pytest.raises(MemoryError):
            f(x, y, 1.0)
    others = [asarray(A, device=device) for _ in range(8)]
    assert np.array_equal(f(A, B, 2.0), A + B * 2)
    assert all(np.array_equal(other.to_numpy(), A) for other in others)


def test_no_memory_for_an_output(device: Device, programs: Programs) -> None:
    with pytest.raises(MemoryError, match="are free"):
        programs("huge")()


def test_a_function_gives_its_memory_back(device: Device, programs: Programs) -> None:
    gc.collect()
    before = device.memory_info()["used"]
    f = programs("axpy", graphs=True, on_device=True)
    arguments = asarray(A, device=device), asarray(B, device=device), 1.0
    for _ in range(5):
        f(*arguments)
    assert device.memory_info()["used"] > before
    del f, arguments
    gc.collect()
    assert device.memory_info()["used"] == before


# --- streams and threads --------------------------------------------------------------------------


def test_a_call_uses_the_stream_of_its_thread(device: Device, programs: Programs) -> None:
    f = programs("axpy", on_device=True)
    stream = symc.cuda.Stream(device)
    a = asarray(A, device=device)
    with symc.cuda.stream(stream):
        result = f(a, B, 2.0)
    assert result.stream == stream.handle
    assert np.array_equal(f(result, B, 1.0).to_numpy(), A + B * 2 + B)


def test_streams_in_any_order(device: Device, programs: Programs, simulator: sim.Simulator) -> None:
    """Work that is done as late as can be: nothing is used before it is there."""
    f = programs("axpy", on_device=True)
    a, b = asarray(A, device=device), asarray(B, device=device)
    first, second = symc.cuda.Stream(device), symc.cuda.Stream(device)
    simulator.set_deferred(True)
    result = a
    for number in range(6):
        with symc.cuda.stream((first, second, None)[number % 3], device):
            result = f(result, b, 1.0)
    assert np.array_equal(result.to_numpy(), A + B * 6)


def test_updates_on_different_streams(
    device: Device, programs: Programs, simulator: sim.Simulator
) -> None:
    w, v = [asarray(A, device=device)], [asarray(B, device=device)]
    f = descend(programs, w, v, on_device=True)
    g = asarray(np.ones(5), device=device)
    stream = symc.cuda.Stream(device)
    simulator.set_deferred(True)
    kept: list[Any] = []  # else the default stream waits for the other to get their memory back
    for _ in range(3):
        f(g)
        kept.append(v[0])
        with symc.cuda.stream(stream):
            f(g)
        kept.append(v[0])
    assert np.array_equal(w[0].to_numpy(), A - 6)


@pytest.mark.parametrize("graphs", [False, True])
def test_many_threads(device: Device, programs: Programs, graphs: bool) -> None:
    f = programs("axpy", graphs=graphs, on_device=True)
    wrong: list[str] = []

    def work(number: int) -> None:
        x = asarray(A + number, device=device)
        for turn in range(30):
            s = float(turn // 6)
            result = f(x, B, s).to_numpy()
            if not np.array_equal(result, A + number + B * s):
                wrong.append(f"{number}, {turn}: {result}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- errors ---------------------------------------------------------------------------------------


def test_a_failing_kernel_is_named(
    device: Device, programs: Programs, simulator: sim.Simulator
) -> None:
    f = programs("wild", steps=("wild  train.py:12",))
    with pytest.raises(DeviceError) as caught:
        f(A)
    text = str(caught.value)
    assert caught.value.code == 700
    assert "CUDA_ERROR_ILLEGAL_ADDRESS (700)" in text
    assert "wild  train.py:12" in text
    assert "start a new one" in text
    assert "SYMC_CUDA_SYNC=1" in text
    assert "kernels.cu" in text  # the simulator's report
    simulator.recover()
    assert np.array_equal(programs("axpy")(A, B, 1.0), A + B)


SYNC = """
import numpy as np
import symc.cuda
from pathlib import Path
from symc.codegen.targets import sim
from symc.errors import DeviceError
from tests.cuda.running.programs import Programs, build_host

device = symc.cuda.device("cuda:sim")
sim.load().set_deferred(True)
programs = Programs(device, build_host(Path({folder!r})))
f = programs("wild", steps=("wild  train.py:12",), on_device=True, graphs=True)
x = symc.cuda.asarray(np.ones(3), device=device)
try:
    f(x)
except DeviceError as error:
    print("wild  train.py:12" in str(error), error.code)
else:
    print("not yet")
    try:
        device.synchronize()
    except DeviceError as error:
        print("train.py" in str(error), error.code)
"""


@pytest.mark.parametrize("synchronous", [True, False])
def test_an_error_is_found_where_it_happens_if_asked(
    tmp_path: Path, synchronous: bool, simulator: sim.Simulator
) -> None:
    """Else a later call has it, and cannot say which step it was."""
    environment = {**os.environ, "SYMC_CUDA_SYNC": str(int(synchronous))}
    result = subprocess.run(
        [sys.executable, "-c", SYNC.format(folder=str(tmp_path))], cwd=ROOT, env=environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout == ("True 700\n" if synchronous else "not yet\nFalse 700\n")


def test_a_description_that_does_not_fit(device: Device, programs: Programs) -> None:
    with pytest.raises(ValueError, match="has other arrays"):
        programs("axpy", constants=(A,))
