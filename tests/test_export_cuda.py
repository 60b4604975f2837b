"""`Function.export` of functions on a device: nvcc compiles it, and the simulator runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import symc
from symc import cuda
from symc import tensor as T
from symc.codegen.targets import sim
from symc.codegen.targets.cuda import cublas, nvrtc
from symc.codegen.targets.cuda.reading import module_of
from symc.errors import CannotSave
from tests.cuda.nvidia import needs_nvrtc

pytestmark = pytest.mark.skipif(not sim.available(), reason="there is no simulator here")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")

MAIN = """\
#include "follow.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int64_t status, shape[1], bad[] = {3}, good[] = {2};
    const double rate = 0.5, values[3] = {1, 2, 3};
    double *out, host[2];
    printf("%d ", follow_new("nowhere", 0, &status) == NULL);
    printf("%s\\n", follow_error(status));
    printf("%d ", follow_new("data", 5, &status) == NULL);
    printf("%s\\n", follow_error(status));
    follow_state *state = follow_new("data", 0, &status);

    status = follow(state, values, bad, &rate, &out, shape);
    printf("%s\\n", follow_error(status));
    status = follow(state, values, good, &rate, &out, shape);
    printf("%lld: %lld, %g %g\\n", (long long)status, (long long)shape[0], out[0], out[1]);
    free(out);

    // Arrays that are on the card already, such as what another call left there.
    double *place = follow_place(state, shape);
    status = follow_on_card(state, NULL, place, shape, &rate, &out, shape);
    status += follow_download(state, host, out, sizeof host);
    printf("%lld: %lld, %g %g\\n", (long long)status, (long long)shape[0], host[0], host[1]);
    status = follow_upload(state, follow_place(state, NULL), values, sizeof host);
    status += follow_download(state, host, follow_place(state, NULL), sizeof host);
    printf("%lld: %g %g\\n", (long long)status, host[0], host[1]);
    follow_free(state, NULL, out);
    follow_delete(state);
    return 0;
}
"""


def follow() -> symc.Function:
    """A function with a number, a shared variable that is written in place, and a condition."""
    x, rate = T.vector("x"), T.scalar("rate")
    place = symc.shared(np.array([1.0, -1.0]), name="place", device="cuda:sim")
    new = place + rate * (x - place)
    return symc.function(
        [x, rate], new * 2, updates=[(place, new)], name="follow", device="cuda:sim", mode="python"
    )


def make(folder: Path, *words: str) -> str:
    done = subprocess.run(["make", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_make
def test_a_library_for_cards_runs_on_the_simulator(tmp_path: Path) -> None:
    function = follow()
    folder = function.export(tmp_path / "follow", example=[[3.0, 4.0], 0.25])
    np.testing.assert_array_equal(function.shared[0].get_value(), [1, -1])
    printed = make(folder, "test", "SIM=1")
    assert "out: as expected" in printed
    assert "place: as expected" in printed

    (folder / "main.c").write_text(MAIN)
    libraries = ["libfollow_sim.a", "-ldl", "-lpthread", "-lm"]
    subprocess.run(["cc", "main.c", *libraries, "-o", "main"], cwd=folder, check=True)
    done = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "1 a file of the folder is missing, or has another length"
    assert lines[1] == "1 invalid device ordinal"
    assert lines[2].startswith("ShapeMismatch in ")
    place = np.array([1.0, -1.0])
    place += 0.5 * (np.array([1.0, 2.0]) - place)
    assert lines[3] == f"0: 2, {2 * place[0]:g} {2 * place[1]:g}"
    assert lines[4] == f"0: 2, {2 * place[0]:g} {2 * place[1]:g}"  # the place itself was followed
    assert lines[5] == "0: 1 2"


PRODUCTS = """\
#include "product.h"
#include <stdio.h>

void symc_sim_counters(int64_t *values);

int main(void)
{
    int64_t status, shape[2], counted[7];
    const float a[6] = {1, 2, 3, 4, 5, 6}, b[3] = {1, 10, 100};
    float *out;
    product_state *state = product_new("data", 0, &status);
    status += product(state, a, (int64_t[]){2, 3}, b, (int64_t[]){3, 1}, &out, shape);
    symc_sim_counters(counted);
    printf("%lld: %g %g, %lld\\n", (long long)status, out[0], out[1], (long long)counted[6]);
    product_delete(state);
    return 0;
}
"""


@needs_make
def test_an_exported_program_takes_cublas_where_it_is_asked_to(tmp_path: Path) -> None:
    a, b = T.fmatrix("a"), T.fmatrix("b")
    function = symc.function([a, b], a @ b, name="product", device="cuda:sim", mode="python")
    folder = function.export(tmp_path)
    (folder / "main.c").write_text(PRODUCTS)
    libraries = ["libproduct_sim.a", "-ldl", "-lpthread", "-lm"]
    for option, products in (("CUBLAS=1", 1), ("CUBLAS=", 0)):
        make(folder, "SIM=1", option, "CFLAGS=-O0")
        subprocess.run(["cc", "main.c", *libraries, "-o", "main"], cwd=folder, check=True)
        done = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True)
        assert done.stdout == f"0: 321 654, {products}\n"
        for made in (folder / "product_sim.o", folder / "libproduct_sim.a"):
            made.unlink()


def several() -> symc.Function:
    """Products of matrices, float16, teams that share memory, and lengths that are measured."""
    x = T.matrix("x", dtype="float32")
    w = symc.shared(np.ones((3, 2), "float32"), name="w", device="cuda:sim")
    p = T.softmax(T.gamma(x) @ w)
    outputs = [p, T.cast(x, "float16"), x[x > 0], T.cumsum(x, axis=1), T.argmax(x, axis=0)]
    return symc.function([x], outputs, name="several", device="cuda:sim", mode="python")


@needs_nvrtc
def test_kernels_need_no_options_of_nvrtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for nvcc, functions are the host's unless they say something else."""
    options = [option for option in nvrtc.OPTIONS if option != "-default-device"]
    monkeypatch.setattr(nvrtc, "OPTIONS", options)
    folder = several().export(tmp_path)
    for image in ("several_kernels", "several_shared"):
        text = (folder / f"{image}.cu").read_text()
        text = text.replace('#include "kernels.h"', (folder / "kernels.h").read_text())
        nvrtc.compile(module_of(text))


def test_kernels_that_round_are_compiled_without_fused_operations(tmp_path: Path) -> None:
    """A product and a sum in one instruction may be on the other side of a whole number."""
    x = T.vector("x", dtype="float32")
    for number, value in enumerate((x * x + 1, x - T.floor(x * x + 1))):
        f = symc.function([x], value, name="rounds", device="cuda:sim", mode="python")
        folder = f.export(tmp_path / str(number))
        for file, options in (
            ("Makefile", ("-fmad=true", "-fmad=false")),
            ("Makefile", ("-ffp-contract=fast", "-ffp-contract=off")),
            ("CMakeLists.txt", ("-fmad=true", "-fmad=false")),
        ):
            text = (folder / file).read_text()
            assert options[number] in text, (number, file)
            assert options[1 - number] not in text, (number, file)


@needs_make
@pytest.mark.skipif(not cuda.available(), reason="there is no graphics card")
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
@pytest.mark.parametrize("option", ["CUBLAS=", "CUBLAS=1"])
def test_a_library_runs_on_a_card(
    tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if option == "CUBLAS=1":
        with cuda.device("cuda"):
            library = cublas.find()
        if library is None:
            pytest.skip("there is no cuBLAS")
        folders = [str(Path(library).parent), os.environ.get("LD_LIBRARY_PATH", "")]
        monkeypatch.setenv("LD_LIBRARY_PATH", os.pathsep.join(filter(None, folders)))
    example = [np.linspace(0.25, 3, 12).reshape(4, 3).astype("float32")]
    architecture = "sm_{}{}".format(*cuda.device("cuda").architecture)
    folder = several().export(tmp_path, example=example)
    assert "as expected" in make(folder, "test", f"ARCH={architecture}", option)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_nvcc_compiles_the_kernels(tmp_path: Path) -> None:
    make(several().export(tmp_path), "ARCH=sm_90")
    assert (tmp_path / "data" / "several_kernels.fatbin").stat().st_size > 1000
    assert (tmp_path / "libseveral.a").exists()


def test_python_in_a_device_function_is_refused(tmp_path: Path) -> None:
    @symc.op(inputs=["float64[n]"], output="float64[n]")
    def doubled(v: object) -> object:
        return v * 2  # type: ignore[operator]

    x = T.vector("x")
    with pytest.raises(CannotSave, match="calls Python"):
        symc.function([x], doubled(x), device="cuda:sim", mode="python").export(tmp_path)
