"""NVRTC: its options, its log, and that it takes all of `codegen/runtime`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from symc.cache.notes import Notes
from symc.codegen.errors import CompileFailed, CompilerMissing
from symc.codegen.runtime import load
from symc.codegen.targets.cuda import disassemble, nvrtc
from symc.codegen.targets.cuda.lang import CUDA
from symc.codegen.targets.cuda.reading import module_of
from symc.codegen.targets.cuda.routines import KERNELS
from symc.codegen.targets.cuda.target import CudaTarget
from tests.codegen.runtime_library import Signature, signatures
from tests.cuda.nvidia import needs_nvrtc
from tests.cuda.teams import TEAM_FUNCTIONS, team_kernels

pytestmark = needs_nvrtc

PLAIN = 'extern "C" __global__ void plain(float *x) { x[threadIdx.x] += 1.0f; }\n'
GREEDY = """
extern "C" __global__ void __launch_bounds__(1024) greedy(float *x) {
    __shared__ float part[30];
    float many[80], sum = 0.0f;
    for (int i = 0; i < 80; i++) many[i] = x[i];
    for (int i = 0; i < 80; i++) sum += many[(int)x[i]] * many[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    x[0] = part[3];
}
"""
EACH = [pytest.param((8, 0), marks=pytest.mark.slow), (9, 0)]
ROUTINE_KERNELS = sorted({kernel for kernels in KERNELS.values() for kernel in kernels})


def compiled(text: str, arch: tuple[int, int] = (9, 0), *, quick: bool = False) -> nvrtc.Compiled:
    """A text of the tests, compiled."""
    return nvrtc.compile(module_of(text), arch, quick=quick)


# --- questions to NVRTC, and its answers ---
# -----------------------------------------------------------


def test_resources_are_read_for_each_kernel() -> None:
    made = compiled(PLAIN + GREEDY)
    assert made.kind == "cubin"
    assert made.image[:4] == b"\x7fELF"
    assert made.log == ""
    assert made.resources.keys() == {"plain", "greedy"}
    plain, greedy = made.resources["plain"], made.resources["greedy"]
    assert 2 <= plain.registers <= 16
    assert (plain.shared_bytes, plain.stack_bytes, plain.spill_stores) == (0, 0, 0)
    assert greedy.shared_bytes == 30 * 4
    assert greedy.stack_bytes >= 80 * 4
    assert greedy.spill_stores > 0
    assert greedy.spill_loads > 0


def test_an_error_shows_the_numbered_source() -> None:
    with pytest.raises(CompileFailed) as caught:
        compiled(PLAIN + "\nstatic inline int wrong() { return nonsense; }\n")
    assert caught.value.line == 3
    assert ">     3  static inline int wrong() { return nonsense; }" in str(caught.value)
    assert 'identifier "nonsense" is undefined' in str(caught.value)
    assert "-arch=sm_90" in caught.value.command


def test_a_warning_stays_in_the_log() -> None:
    made = compiled(PLAIN + "static inline int idle() { return 1; }\n")
    assert '"idle" was declared but never referenced' in made.log
    assert "ptxas" not in made.log


def test_options_that_this_version_does_not_know_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nvrtc, "QUICK", ("--option-of-another-version=3",))
    assert compiled(PLAIN, quick=True).resources.keys() == {"plain"}
    with pytest.raises(CompileFailed, match="nonsense") as caught:
        compiled("nonsense;", quick=True)
    assert "--option-of-another-version=3" not in caught.value.command


def test_quick_compiles_to_something_else() -> None:
    slow, quick = (compiled(GREEDY, quick=quick) for quick in (False, True))
    assert slow.image != quick.image


def test_a_newer_card_gets_ptx_of_the_newest_architecture_known() -> None:
    made = compiled(PLAIN, (99, 0))
    major, minor = nvrtc.architectures()[-1]
    assert made.kind == "ptx"
    assert f".target sm_{major}{minor}".encode() in made.image
    assert made.resources == {}


def test_a_card_that_nvrtc_no_longer_knows_is_named() -> None:
    with pytest.raises(CompilerMissing, match=r"this device has 3\.0"):
        compiled(PLAIN, (3, 0))


def test_the_key_has_the_build_which_is_asked_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memo = Notes(tmp_path / "cache")
    parts = nvrtc.describe((9, 0), memo=memo)
    assert re.fullmatch(r"NVRTC \d+\.\d+ CL-\d+", parts["nvrtc"])
    assert parts["options"].startswith("-arch=sm_90 ")
    assert nvrtc.describe((8, 0))["options"] != parts["options"]
    assert nvrtc.describe((9, 0), quick=True)["options"] != parts["options"]
    if memo.read("nvrtc"):  # unless this NVRTC comes from no wheel
        monkeypatch.setattr(nvrtc, "build", lambda: "asked again")
        assert nvrtc.describe((9, 0), memo=memo) == parts


def test_without_the_bindings_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    nvrtc.version.cache_clear()
    nvrtc._bindings.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        with pytest.raises(CompilerMissing, match=r"pip install '\.\[cuda\]'` in the checkout"):
            nvrtc.version()
    finally:
        nvrtc.version.cache_clear()
        nvrtc._bindings.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_machine_code_needs_a_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    if disassemble.find() is not None:
        assert "plain" in disassemble.sass(compiled(PLAIN).image)
    monkeypatch.setattr(disassemble, "find", lambda: None)
    with pytest.raises(CompilerMissing, match="nvdisasm"):
        disassemble.sass(b"")


# --- it takes the runtime -------------------------------------------------------------------------


def kernel_of(function: Signature) -> str:
    """A kernel that applies a function of numbers to arrays."""
    names = [f"x{i}" for i in range(len(function.args))]
    params = [f"const {kind} *{name}" for kind, name in zip(function.args, names, strict=True)]
    values = ", ".join(f"{name}[threadIdx.x]" for name in names)
    return (
        f'extern "C" __global__ void k_{function.name}({", ".join(params)},'
        f" {function.result} *out) {{ out[threadIdx.x] = {function.name}({values}); }}\n"
    )


@pytest.mark.parametrize("arch", EACH)
def test_every_function_of_numbers_compiles_without_warnings(arch: tuple[int, int]) -> None:
    known = signatures()
    text = load.base("cuda") + load.source_of(known, "cuda")
    made = compiled(text + "".join(map(kernel_of, known.values())), arch, quick=True)
    assert made.log == ""
    assert made.resources.keys() == {f"k_{name}" for name in known}


def test_every_name_of_the_c_library_is_built_in() -> None:
    """Those with one, two and three arguments, in both precisions."""
    calls: list[str] = []
    for symbol in load.symbols().values():
        if symbol.file == "common/libm.h" and (
            found := re.search(r"(\w+) (\w+)\((.*)\);", symbol.text)
        ):
            extra = "&sign" if "int *" in found[3] else None
            count = found[3].count(",") + (extra is None)
            arguments = ", ".join(["x[0]"] * count + ([extra] if extra else []))
            calls.append(f"    y[{len(calls)}] = {found[2]}({arguments});")
    names = [symbol.name for symbol in load.symbols().values() if symbol.file == "common/libm.h"]
    body = "\n".join(calls)
    assert len(calls) == len(names) - len(["SYMC_VECTOR", "SYMC_SCALAR"])
    made = compiled(
        f"{load.base('cuda')}{load.source_of(names, 'cuda')}"
        f'extern "C" __global__ void all(double *x, double *y) {{\n    int sign;\n{body}\n}}\n',
        quick=True,
    )
    assert made.log == ""


@pytest.mark.parametrize("arch", EACH)
def test_teams_do_not_spill(arch: tuple[int, int]) -> None:
    made = compiled(team_kernels(), arch)
    assert made.log == ""
    assert made.resources.keys() == {f"k_{name}" for name in TEAM_FUNCTIONS}
    for name, needed in made.resources.items():
        assert (needed.stack_bytes, needed.spill_stores, needed.spill_loads) == (0, 0, 0), name
        assert needed.shared_bytes == 256, name
        assert needed.registers <= 32, name


@pytest.mark.parametrize("kernel", ROUTINE_KERNELS)
@pytest.mark.parametrize("arch", EACH)
def test_matrix_products_do_not_spill(kernel: str, arch: tuple[int, int]) -> None:
    made = nvrtc.compile(CudaTarget().module_of_routine(kernel), arch)
    needed = made.resources[kernel]
    assert made.log == ""
    assert (needed.stack_bytes, needed.spill_stores, needed.spill_loads) == (0, 0, 0)
    assert needed.shared_bytes <= 48 * 1024


@pytest.mark.parametrize(
    ("kind", "count", "access"),
    [
        ("float", 4, "v4.f32"), ("double", 2, "v2.f64"), ("int64_t", 2, "v2.u64"),
        ("symc_float16", 8, "v4.u32"), ("int8_t", 16, "v4.u32"), ("bool", 16, "v4.u32"),
    ],
)  # fmt: skip
def test_a_pack_is_one_access_of_16_bytes(kind: str, count: int, access: str) -> None:
    text = f"""{load.base("cuda")}{load.source_of(["symc_pack"], "cuda")}
typedef symc_pack<{kind}, {count}> pack;
extern "C" __global__ void copy(const pack *x, pack *y) {{
    pack a = x[threadIdx.x], b;
#pragma unroll
    for (int i = 0; i < {count}; i++) b.at[i] = ({kind})((float)a.at[i] * 2.0f);
    y[threadIdx.x] = b;
}}
"""
    found = re.findall(r"\b(?:ld|st)\.global\.(\S+)", nvrtc.ptx(text))
    assert found == [access, access]


def test_float16_is_converted_by_one_instruction() -> None:
    text = f"""{load.base("cuda")}
extern "C" __global__ void convert(symc_float16 *x, double *y, long long *z) {{
    y[0] = (double)x[0];
    x[1] = (symc_float16)y[1];
    x[2] = (symc_float16)(float)y[2];
    x[3] = z[0];
    z[1] = x[4] != 0;
}}
"""
    converted = re.findall(r"\bcvt\.\S+", nvrtc.ptx(text))
    assert converted.count("cvt.f32.f16") == 2
    assert converted.count("cvt.rn.f16.f64") == 1
    assert converted.count("cvt.rn.f16.f32") == 2


def test_kernels_may_have_any_name_but_those_of_the_language() -> None:
    """Names outside the table do not clash; `exp` and the like are symbols of the runtime."""
    words = "gamma time index sum scale square step mix length distance any all rand system y z"
    free = [word for word in words.split() if word not in CUDA.functions | CUDA.reserved]
    assert {"sum", "scale", "y"} <= set(free)
    kernel = 'extern "C" __global__ void {}(int n, float *x) {{ x[n] = 1.0f; }}\n'
    assert compiled("".join(map(kernel.format, free))).resources.keys() == set(free)
    for word in ("norm", "rsqrt", "fdimf", "y0"):
        assert word in CUDA.functions
        with pytest.raises(CompileFailed):
            compiled(kernel.format(word))
