"""bfloat16 in the texts of all languages: C that is exported, CUDA in the simulator, OpenCL."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import symc
import symc.tensor as T
from symc.codegen.bfloat16 import from_bfloat16, to_bfloat16
from symc.codegen.targets.c import CTarget

Array = npt.NDArray[Any]
B: Any = ml_dtypes.bfloat16


def test_the_text_in_c(golden: Any) -> None:
    x, w = T.matrix("x", dtype="bfloat16"), T.vector("w", dtype="bfloat16")
    f = symc.function([x, w], [x * w + 1.5, x.sum(axis=1)], name="scaled")
    source = f.source
    golden("bfloat16.c", source[source.index("/* ---- kernels") : source.index("/* ---- host")])
    a = np.random.default_rng(0).standard_normal((5, 16)).astype(B)
    b = np.arange(16).astype(B)
    found, total = f(a, b)
    np.testing.assert_array_equal(found, a * b + np.array(1.5, B))
    np.testing.assert_array_equal(total, a.astype(np.float32).sum(1).astype(B))


def test_conversions_are_vectors_of_the_processor() -> None:
    x = T.vector("x", dtype="bfloat16")
    text = symc.function([x], x * x).assembly()
    assert any(name in text for name in ("ymm", "zmm", "xmm", "v0.", "z0.")), text


def test_bits_in_python() -> None:
    numbers = np.random.default_rng(0).integers(0, 1 << 32, 5000, dtype=np.uint32)
    for number in numbers.view(np.float32):
        if np.isnan(number):
            assert np.isnan(np.array(to_bfloat16(float(number)), np.uint16).view(B))
            continue
        with np.errstate(all="ignore"):
            expected = number.astype(B)
        assert to_bfloat16(float(number)) == expected.view(np.uint16)
    for bits in range(0, 1 << 16, 7):
        with np.errstate(all="ignore"):
            right = float(np.array(bits, np.uint16).view(B))
        np.testing.assert_equal(from_bfloat16(bits), right)


@pytest.mark.parametrize("device", ["cuda:sim"])
def test_devices(device: str) -> None:
    x = T.matrix("x", dtype="bfloat16")
    s = T.scalar("s", dtype="bfloat16")
    a = np.random.default_rng(2).standard_normal((5, 7)).astype(B)
    factor = np.array(1.25, B)
    results = [x * s + 1, x.max(axis=1), T.softmax(x), x @ x.T, x.sum(), T.sort(x)]
    f = symc.function([x, s], results, device=device)
    plain = symc.function([x, s], results)
    for found, right in zip(f(a, factor), plain(a, factor), strict=True):
        host = np.asarray(found)
        assert host.dtype == B
        np.testing.assert_allclose(host.astype(float), right.astype(float), rtol=0.02, atol=0.01)


def test_arrays_on_a_device_know_the_dtype() -> None:
    from symc.cuda import asarray

    a = np.array([1.5, -2], B)
    there = asarray(a, device="cuda:sim")
    assert there.dtype == B
    np.testing.assert_array_equal(there.to_numpy(), a)
    w = symc.shared(a, device="cuda:sim")
    step = symc.function([], [], updates=[(w, w * 2)], device="cuda:sim")
    step()
    np.testing.assert_array_equal(w.get_value(), np.array([3, -4], B))


def test_exported_c_passes_its_test(tmp_path: Path) -> None:
    x = T.matrix("x", dtype="bfloat16")
    w = symc.shared(np.array([[1.5, 2], [0.25, -1]], B), name="w")
    f = symc.function([x], [x @ w, T.exp(x)], updates=[(w, w * 0.5)], name="layer")
    f.export(tmp_path / "out", example=[np.array([[1, 2], [3, 4]], B)])
    header = (tmp_path / "out" / "layer.h").read_text()
    assert "const uint16_t *x" in header
    compiler = CTarget().compiler().command
    made = subprocess.run(
        ["make", "-C", str(tmp_path / "out"), "test", f"CC={' '.join(compiler)}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr


def test_sympy_says_that_numbers_have_no_dtype() -> None:
    x = T.scalar("x", dtype="bfloat16")
    assert str(symc.sympy.to_sympy(x * 2 + 1)) in ("2*x + 1", "2.0*x + 1.0")


@pytest.mark.parametrize("device", ["cpu", "cuda:sim"])
def test_a_bug_constants_did_not_go_to_devices(device: str) -> None:
    """Files of functions hold them without their dtype."""
    x, value = T.vector("x", dtype="bfloat16"), np.array([1.5, -2, 0.25], B)
    results = [T.cast(np.arange(3.0), "bfloat16") * x, T.constant(value) + x]
    f = symc.function([x], results, device=device)
    for found, wanted in zip(f(value), [[0, -2, 0.5], [3, -4, 0.5]], strict=True):
        np.testing.assert_array_equal(found, np.array(wanted, B))
