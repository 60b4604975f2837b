"""Programs that run on a device of OpenCL, each checked against NumPy or the processor.

``python -m tests.opencl.programs NAME ...`` runs some in a process of its own: a compiler of
kernels that crashes, as PoCL's did, takes its process with it.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import DTypeError

DEVICE = "opencl"
PROGRAMS: dict[str, Callable[[], None]] = {}


def program(function: Callable[[], None]) -> Callable[[], None]:
    """Enters a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


def both(inputs: list[Any], outputs: Any, *given: Any, rtol: float = 1e-13) -> None:
    """The device's results are the processor's."""
    both_of(symc.function(inputs, outputs, device=DEVICE), inputs, outputs, given, rtol)


def both_of(f: Any, inputs: list[Any], outputs: Any, given: Iterable[Any], rtol: float) -> None:
    """The same of a function that is there already."""
    given = [*given]
    found = f(*given)
    expected = symc.function(inputs, outputs, device="cpu")(*given)
    for left, right in zip(found, expected, strict=True):
        assert (left.shape, left.dtype) == (right.shape, right.dtype)
        np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)


@program
def elements() -> None:
    x, y = T.fvector("x"), T.vector("y")
    f = symc.function([x, y], [x / 3, T.sqrt(abs(x)), y > 0, T.erf(y), T.exp(y)], device=DEVICE)
    a = np.linspace(-20, 20, 1001)
    third, root, above, error, power = f(a.astype(np.float32), a)
    np.testing.assert_array_equal(third, a.astype(np.float32) / np.float32(3))  # rounded once
    np.testing.assert_array_equal(root, np.sqrt(abs(a.astype(np.float32))))
    np.testing.assert_array_equal(above, a > 0)
    np.testing.assert_allclose(error, symc.function([y], T.erf(y))(a), rtol=4e-16)
    np.testing.assert_allclose(power, np.exp(a), rtol=4e-16)
    assert "__kernel void" in f.source
    assert "get_global_id(0)" in f.source


@program
def teams() -> None:
    x = T.matrix("x")
    rng = np.random.default_rng(0)
    outputs = [x.sum(), x.max(axis=0), x.argmin(axis=1), T.cumsum(x, axis=1), T.nnet.softmax(x)]
    both([x], outputs, rng.standard_normal((7, 1300)), rtol=1e-12)


@program
def four_sums_over_a_team() -> None:
    """The derivative of a range: where clang left calls of its sums, PoCL crashed."""
    x = T.matrix("x")
    both([x], [T.grad(T.ptp(x, axis=-1).sum(), x)], np.arange(12.0).reshape(3, 4) % 5)


@program
def memory_of_teams_in_global_memory() -> None:
    """Rows of 160,000 bytes have no place in local memory: the other kernel runs."""
    x = T.matrix("x")
    rows = np.random.default_rng(0).standard_normal((3, 20000))
    f = symc.function([x], T.nnet.softmax(x), device=DEVICE)
    assert "_in_global(" in f.source
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    np.testing.assert_allclose(f(rows), powers / powers.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(f(rows[:, :9]).sum(axis=1), 1)


@program
def elements_that_many_threads_add_to() -> None:
    at, n = T.ivector("at"), 1000
    counts = T.zeros((10,), "int64")[at].inc(1)
    f = symc.function([at], counts, device=DEVICE)
    places = np.random.default_rng(0).integers(0, 10, n).astype(np.int32)
    np.testing.assert_array_equal(f(places), np.bincount(places, minlength=10))
    assert "symc_atomic_add_i64" in f.source


@program
def shared_variables_stay_on_the_device() -> None:
    w = symc.shared(np.ones(5), name="w", device=DEVICE)
    step = symc.function([], w.sum(), updates=[(w, w * 2)], on_device=True)
    assert step.device == w.device == "opencl:0:0"
    totals = [step() for _ in range(3)]
    assert [float(total) for total in totals] == [5, 10, 20]
    assert isinstance(totals[0], symc.cuda.DeviceArray)
    np.testing.assert_array_equal(w.get_value(), np.full(5, 8.0))
    given = symc.cuda.asarray(np.arange(3.0), device=DEVICE)
    x = T.vector("x")
    np.testing.assert_array_equal(symc.function([x], x + 1, device=DEVICE)(given), [1, 2, 3])
    with pytest.raises(BufferError, match="to_numpy"):
        given.__dlpack__()


@program
def products_of_matrices() -> None:
    """By kernels of the runtime: tiles with edges, transposes, long products in pieces, batches."""
    rng = np.random.default_rng(0)
    for dtype, rtol in (("float32", 1e-5), ("float64", 1e-13)):
        a, b = (T.tensor(dtype, (None, None), name=name) for name in "ab")
        stack, v = T.tensor(dtype, (2, None, None), name="stack"), T.tensor(dtype, (None,))
        outputs = [a @ b, a.T @ b.T, 2 * (b @ a) - b @ a, v @ v, a @ v, v @ b, stack @ b]
        outputs.append(T.outer(v, v) + 1)
        f = symc.function([a, b, stack, v], outputs, device=DEVICE)
        assert "symc_gemm_kernel" in f.source
        assert "called in Python" not in f.explain()
        for n in (1, 70, 300):
            square, vector = rng.standard_normal((n, n)), rng.standard_normal(n)
            given = [square, square[::-1] + 1, rng.standard_normal((2, n, n)), vector]
            both_of(f, [a, b, stack, v], outputs, [x.astype(dtype) for x in given], rtol * n)
    long = symc.function([a, b], a @ b, device=DEVICE)
    wide, thin = rng.standard_normal((3, 5000)), rng.standard_normal((5000, 2))
    np.testing.assert_allclose(long(wide, thin), wide @ thin, rtol=1e-9)
    np.testing.assert_array_equal(long(wide[:, :0], thin[:0]), np.zeros((3, 2)))


@program
def steps_on_the_host() -> None:
    """Factors of matrices, for which there are no kernels, and loops around them."""
    x = T.matrix("x")
    rng = np.random.default_rng(0)
    last, _ = symc.scan(lambda h: T.tanh(h @ x), outputs_info=x, n_steps=3)
    both([x], [T.linalg.det(x), last[-1]], rng.standard_normal((6, 6)), rtol=1e-12)


@program
def functions_of_numbers_are_compiled() -> None:
    """All of `codegen/runtime` that kernels may use, a text for each header."""
    from symc.codegen.runtime import load
    from symc.codegen.targets.opencl import platforms

    known = load.symbols("opencl")
    headers: dict[str, list[str]] = {}
    for name, symbol in known.items():
        if symbol.text and symbol.file != "sorting/sort.h":  # which kernels do not use
            headers.setdefault(symbol.file, []).append(name)
    found = platforms.load()
    for names in headers.values():
        text = load.base("opencl") + load.source_of(names, "opencl")
        found.compile(found.devices[0], text + "\n__kernel void none(void)\n{\n}\n")


@program
def compilers_may_lack_sub_groups() -> None:
    """A device had them in later versions of the language alone: its kernels were not compiled."""
    from symc.codegen.runtime import load
    from symc.codegen.targets.opencl import platforms

    found = platforms.load()
    text = load.base("opencl") + load.source_of(["SYMC_TEAM"], "opencl")
    team = "SYMC_TEAM(most, double, max(a, b))\n__kernel void none(void)\n{\n}\n"
    found.compile(found.devices[0], f"#define SYMC_SUB_GROUPS\n{text}\n{team}")


@program
def bessel_functions_that_the_language_lacks() -> None:
    x = T.vector("x")
    values = np.concatenate([np.linspace(-60, 60, 999), [0.0, np.inf, -np.inf, np.nan, 1e-300]])
    both([x], [T.j0(x), T.j1(x)], values, rtol=1e-15)


@program
def random_numbers_are_the_processors() -> None:
    def draws(device: str) -> Any:
        stream = T.random.RandomStream(3)
        drawn = [stream.uniform(size=(9,)), stream.integers(0, 99, size=(9,))]
        return symc.function([], drawn, device=device)()

    for ours, theirs in zip(draws(DEVICE), draws("cpu"), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@program
def calls_of_several_threads() -> None:
    """Arguments of a kernel are set one by one: calls at a time must not mix them."""
    x, factor = T.vector("x"), T.scalar("factor")
    f = symc.function([x, factor], x * factor + factor, device=DEVICE)
    wrong: list[int] = []

    def call(number: int) -> None:
        found = [f(np.ones(100 + number), number) for _ in range(50)]
        wrong.extend(number for result in found if not (result == 2 * number).all())

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@program
def files_and_profiles() -> None:
    x = T.vector("x")
    f = symc.function([x], T.exp(x).sum(), device=DEVICE, name="total")
    with TemporaryDirectory() as folder:
        symc.save(f, Path(folder, "f.symc"))
        assert float(symc.load(Path(folder, "f.symc"))(np.zeros(4))) == 4
        with pytest.raises(TypeError, match="compiled for no CUDA device"):
            f.ptx()
        with pytest.raises(TypeError, match=r"for opencl:0:0; f\.source has its"):
            f.assembly()
        page = Path(folder, "page.html")
        f.report(page, example=[np.zeros(4)])
        assert "opencl:0:0" in page.read_text()
        assert "__kernel " in page.read_text()
    assert symc.profile(f, np.zeros(4)).steps


@program
def exported_programs() -> None:
    """The driver goes along, and the device's compiler takes the kernels when it is opened."""
    from symc.codegen.targets.opencl import platforms

    x = T.fmatrix("x")
    w = symc.shared(np.ones((3, 2), np.float32), name="w", device=DEVICE)
    outputs = [T.nnet.softmax(T.gamma(x) @ w), x[x > 1], T.cumsum(x, axis=1), x.argmax(axis=0)]
    f = symc.function([x], outputs, updates=[(w, w * 2)], name="several", device=DEVICE)
    example = np.linspace(0.25, 3, 12, dtype=np.float32).reshape(4, 3)
    with TemporaryDirectory() as folder:
        f.export(folder, example=[example])
        place = {**os.environ, "SYMC_OPENCL": platforms.libraries()[-1]}
        command = ["make", "test", "OPENCL=1"]
        done = subprocess.run(command, cwd=folder, env=place, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        for name in ("out", "out_2", "out_3", "out_4", "w"):
            assert f"{name}: as expected" in done.stdout.decode()
        place["SYMC_OPENCL"] = "/nowhere.so"
        command = ["./several_test", "data"]
        done = subprocess.run(command, cwd=folder, env=place, capture_output=True, check=False)
        assert "there is no device of OpenCL" in done.stdout.decode()


@program
def special_values_and_lengths() -> None:
    """NaN and inf in reductions over teams, no elements and one, views with steps."""
    x = T.matrix("x")
    rng = np.random.default_rng(0)
    outputs = [
        T.max(x, axis=1), T.argmax(x, axis=1), T.logsumexp(x, axis=1), T.var(x, axis=1),
        T.prod(x, axis=1), T.sort(x, axis=1), x[::-1, ::2] + 1, T.any(x > 2, axis=1),
    ]  # fmt: skip
    values = rng.standard_normal((4, 700))
    values[1, 3], values[2, 5] = np.nan, np.inf
    f = symc.function([x], outputs, device=DEVICE)
    for given in (values, values[::2, 1::-1], np.zeros((0, 3)), np.ones((1, 1))):
        both_of(f, [x], outputs, [given], 1e-11)


@program
def indexes_and_whole_numbers() -> None:
    x, at = T.matrix("x"), T.lvector("at")
    outputs = [x[at], x[x > 0], x[at].set(0), x[at].inc(1), at // 3, at % 3, T.nonzero(x > 0)[1]]
    f = symc.function([x, at], outputs, device=DEVICE)
    values = np.random.default_rng(0).standard_normal((6, 6))
    both_of(f, [x, at], outputs, [values, np.array([0, -1, 2, 2])], 0)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        f(values, np.array([9]))
    with pytest.raises(ZeroDivisionError):
        symc.function([at], at // (at - 1), device=DEVICE)(np.array([1]))


@program
def a_child_has_no_device_of_its_parent() -> None:
    x = T.vector("x")
    f = symc.function([x], x + 1, device=DEVICE)
    f(np.ones(3))
    child = os.fork()
    if not child:
        try:
            f(np.ones(3))
        except symc.errors.DeviceError:
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 2.0))


@program
def float16_is_stored_and_computed_in_float32() -> None:
    x, s = T.matrix("x", dtype="float16"), T.scalar("s", dtype="float16")
    wide = T.matrix("wide")
    w = symc.shared(np.array([1.5, -2], np.float16), device=DEVICE)
    a = np.random.default_rng(0).standard_normal((5, 7)).astype(np.float16)
    a[0] = [np.inf, -np.inf, np.nan, 65504, 6e-8, -0.0, 0]
    halfway = np.array([[1 + 2.0**-11 + 2.0**-40, 65520, 1e6, 2.0**-25, -(2.0**-25) * 1.1]])
    outputs = [
        x * s + 1, x.max(axis=1), T.softmax(x[1:]), x[1:] @ x[1:].T, x[1:].sum(), T.sort(x[1:]),
        T.cumsum(x[1:], axis=0), x.astype("int32")[1:], x.astype("float64"),
        wide.astype("float16"), T.set_subtensor(x[1:3], 2),
    ]  # fmt: skip
    f = symc.function([x, s, wide], outputs, updates=[(w, w * 2)], device=DEVICE)
    both_of(f, [x, s, wide], outputs, [a, np.float16(1.25), halfway], 2e-3)
    found = f(a, np.float16(1), halfway)[9]
    np.testing.assert_array_equal(found, np.array([[1.001, np.inf, np.inf, 0, -6e-8]], np.float16))
    np.testing.assert_array_equal(w.get_value(), np.array([6, -8], np.float16))
    assert "symc_f16_to_f32(x[" in f.source


@program
def every_float16() -> None:
    """All of them in float32 and back; numbers at and beside the middles between them."""
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x, y, z = T.vector("x", dtype="float16"), T.fvector("y"), T.vector("z")
    f = symc.function([x, y, z], [x.astype("float32"), *(v.astype("float16") for v in (y, z))],
                      device=DEVICE)  # fmt: skip
    finite = np.sort(every[np.isfinite(every)].astype(float))
    middles = (finite[1:] + finite[:-1]) / 2
    wide = np.concatenate([middles, middles * (1 + 1e-15), middles * (1 - 1e-15), [1e300, 65520]])
    single = np.concatenate([middles, [*every.astype(float), 65519.99, -1e30, 1e-40]])
    with np.errstate(invalid="ignore"):  # quiet NaNs of those that are not
        single = single.astype(np.float32)
    single = np.concatenate([single, np.nextafter(single, 1), np.nextafter(single, -1)])
    up, down, rounded = f(every, single, wide)
    np.testing.assert_array_equal(up, every.astype(np.float32))
    np.testing.assert_array_equal(np.signbit(up), np.signbit(every))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(down, single.astype(np.float16))
        np.testing.assert_array_equal(rounded, wide.astype(np.float16))


@program
def sums_without_doubles() -> None:
    """Run with SYMC_OPENCL_WITHOUT=cl_khr_fp64: results are those of sums in doubles, rounded."""
    x = T.fmatrix("x")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((20, 3000)) * 10 ** rng.uniform(-4, 4, (20, 3000)) + 1e3
    a[:, 1::2] *= -1  # most digits cancel out
    a = a.astype(np.float32)
    outputs = [
        x.sum(), x.mean(axis=1), x.sum(axis=0), x.var(axis=1), T.nnet.softmax(x / 1e4),
        T.cumsum(x, axis=1), x.std(), T.prod(1 + x * 1e-7, axis=1), x.dot(x[0]) > 0,
    ]  # fmt: skip
    f = symc.function([x], outputs, device=DEVICE)
    assert "double " not in f.source[f.source.index("/* ---- kernels") :]
    plain = symc.function([x], outputs, device="cpu")(a)
    for found, right in zip(f(a), plain, strict=True):
        np.testing.assert_allclose(found, right, rtol=3e-7)
    total, means = (np.asarray(value, float) for value in f(a)[:2])
    np.testing.assert_array_equal(total, np.float32(math.fsum(a.ravel().astype(float))))
    np.testing.assert_allclose(means, a.mean(axis=1, dtype=float), rtol=1.2e-7)
    special = np.array([[np.inf, 1], [np.inf, -np.inf], [np.nan, 1], [-0.0, -0.0]], np.float32)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(f(np.tile(special, 5))[1], special.mean(axis=1))
    products = symc.function([x], T.prod(x, axis=1), device=DEVICE)
    large = np.array([[1e30, 1e30], [1e30, -1e30], [np.inf, 0], [-0.0, 2]], np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(products(large), large.prod(axis=1))
    y = T.fmatrix("y")
    rest = symc.function([x, y], [x % y, x // y], device=DEVICE)
    b = rng.uniform(-3, 3, a.shape).astype(np.float32)
    for found, right in zip(rest(a, b), (a % b, a // b), strict=True):
        np.testing.assert_array_equal(found, right)


@program
def doubles_where_there_are_none() -> None:
    """Run with SYMC_OPENCL_WITHOUT=cl_khr_fp64: what is computed in doubles is refused by name."""
    x, y = T.vector("x"), T.fvector("y")
    with pytest.raises(DTypeError, match=r"opencl:0:0 does not compute in double precision: use "
                       r"float32.* device=\"cpu\"\n  x +float64"):  # fmt: skip
        symc.function([x], x.sum(), device=DEVICE)
    with pytest.raises(
        DTypeError, match=r"gammaln is computed in double precision.*\n  gammaln\(y\)"
    ):
        symc.function([y], T.gammaln(y), device=DEVICE)
    h = T.vector("h", dtype="float16")
    f = symc.function([y, h], [T.exp(y) * 0.1, h + 1, T.max(y)], device=DEVICE)
    found = f(np.ones(3, np.float32), np.ones(3, np.float16))
    np.testing.assert_allclose(found[0], np.full(3, np.exp(1) / 10), rtol=3e-7)
    np.testing.assert_array_equal(found[1], np.full(3, 2))


@program
def training_without_doubles() -> None:
    """Run with SYMC_OPENCL_WITHOUT=cl_khr_fp64. The number of a step of Adam's is a scalar of
    float64: such are computed on the host, also in loops. Arrays in loops are refused as others."""
    x, y, rate = T.fmatrix("x"), T.fvector("y"), T.scalar("rate")
    rng = np.random.default_rng(0)
    points, labels = (rng.standard_normal(shape, np.float32) for shape in ((33, 4), 33))
    found: list[Any] = []
    for name in (DEVICE, "cpu"):
        w = symc.shared(np.zeros(4, np.float32), "w", device=name)
        loss = ((x @ w - y) ** 2).mean()
        updates = symc.optim.adam(loss, [w], symc.optim.cosine_decay(0.1, steps=20))
        step = symc.function([x, y], loss, updates=updates, device=name)
        found.append([*(step(points, labels) for _ in range(5)), *w.get_value()])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    powers, _ = symc.scan(
        lambda k, h: h * T.cast(rate**k, "float32"), sequences=T.arange(4), outputs_info=y
    )
    both([y, rate], [powers, rate > 0.25, rate * 2], labels, 0.5, rtol=1e-6)
    rows, _ = symc.scan(lambda r: T.cast(T.cast(r, "float64") * 0.1, "float32"), sequences=x)
    with pytest.raises(DTypeError, match="does not compute in double precision"):
        symc.function([x], rows, device=DEVICE)


@program
def a_device_without_addresses() -> None:
    """Run with SYMC_OPENCL_WITHOUT=svm: it is refused by name."""
    lacks = r"it has neither shared virtual memory .* nor cl_ext_buffer_device_address"
    assert all(re.match(lacks, each.why_refused) for each in symc.opencl.devices())
    with pytest.raises(symc.errors.DeviceError, match=f" cannot be used: {lacks}"):
        symc.function([], T.zeros(2), device=DEVICE)


@program
def a_bug_edges_of_bins_were_rounded_otherwise() -> None:
    """Their products and sums were one instruction, so that a value on an edge left its bin."""
    x, low, high = T.vector("x"), T.scalar("low"), T.scalar("high")
    f = symc.function([x, low, high], T.histogram(x, 50, (low, high)), device=DEVICE)
    values = np.linspace(-2.087946201624021, 1.312053798375979, 51)
    counts, edges = f(values, values[0], values[-1])
    np.testing.assert_array_equal(edges, values)
    np.testing.assert_array_equal(counts, np.histogram(values, 50, (values[0], values[-1]))[0])


@program
def what_is_refused() -> None:
    with pytest.raises(symc.errors.DeviceError, match=r"there is no opencl:9:0; there are opencl"):
        symc.function([], T.zeros(2), device="opencl:9")


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        PROGRAMS[wanted]()
        sys.stdout.write(f"{wanted}\n")
        sys.stdout.flush()
