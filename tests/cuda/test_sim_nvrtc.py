"""The kernels that the simulator runs are CUDA: NVRTC compiles the same files, without warnings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cuda.device import KERNELS

ARCHITECTURES = ("sm_80", "sm_90")


def compile_with_nvrtc(nvrtc: Any, source: str, name: str, architecture: str) -> tuple[int, str]:
    """The size of the cubin and the log; the size is 0 where the source was refused."""
    done = nvrtc.nvrtcResult.NVRTC_SUCCESS
    error, program = nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], [])
    assert error == done
    options = [f"-arch={architecture}".encode(), b"-minimal", b"-std=c++17"]
    (compiled,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    _, length = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytearray(length)  # `b" " * 1` is Python's one and only b" ", which nobody may write to
    nvrtc.nvrtcGetProgramLog(program, log)
    _, size = nvrtc.nvrtcGetCUBINSize(program) if compiled == done else (done, 0)
    nvrtc.nvrtcDestroyProgram(program)
    return size, log.strip(b"\0 \n").decode()


@pytest.fixture(scope="module")
def nvrtc() -> Any:
    bindings = pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-python is not installed")
    try:
        bindings.nvrtcVersion()
    except Exception as error:  # it depends on the version of the bindings
        pytest.skip(f"no NVRTC library: {error}")
    return bindings


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", sorted(path.name for path in KERNELS.glob("*.cu")))
def test_nvrtc_takes_the_same_source(nvrtc: Any, name: str, architecture: str) -> None:
    source = (KERNELS / name).read_text(encoding="utf-8")
    size, log = compile_with_nvrtc(nvrtc, source, name, architecture)
    assert size > 0, log
    assert log == ""


def test_nvrtc_says_what_is_wrong(nvrtc: Any) -> None:
    size, log = compile_with_nvrtc(nvrtc, "__global__ void k() { unknown; }", "k.cu", "sm_90")
    assert size == 0
    assert "k.cu(1): error" in log
