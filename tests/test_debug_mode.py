"""``mode="debug"``: right functions pass, and each kind of fault is found and named."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.calls.modes import mode_named
from symc.checking.checked import Checker, difference
from symc.checking.guarded import runner
from symc.checking.sanitized import explained, reported, sanitizers
from symc.codegen import ir
from symc.codegen.record import record
from symc.codegen.targets import sim
from symc.errors import Mismatch, ShapeMismatch
from symc.graph.formulas import Index, ReadElement, formula
from symc.graph.lowering import At, Lowering, SizeOf
from symc.graph.node import Array, Op, Tensor
from symc.graph.types import TensorType
from symc.tensor.linalg.eigen import Eig
from symc.tensor.linalg.schur_form import Schur
from symc.tensor.linalg.spectral import Eigh

x = T.vector("x")


@record
class Faulty(Op):
    """Twice the argument in NumPy; compiled, `element` of it."""

    name: str
    element: Callable[[ReadElement, Index], ir.Expr]

    def infer(self, *args: Tensor) -> TensorType:
        return args[0].type

    def evaluate(self, *args: Array) -> Array:
        return args[0] * 2

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        return At(formula(node, self.element))

    def key(self) -> str:
        return f"Faulty({self.name})"

    @property
    def label(self) -> str:
        return self.name


def test_what_is_right_passes_with_all_it_may_have() -> None:
    m, w = T.matrix("m"), symc.shared(np.ones((3, 2)), name="w")
    k = T.lvector("k")
    steps, _ = symc.scan(lambda a: T.tanh(a) + a, sequences=m)
    outputs = [
        T.softmax(m @ w, axis=1), steps, m[m > 0].sum(), T.log(1 + T.exp(m * 900)).sum(),
        m[k].inc(1.0), k // 2, m.argmax(axis=1), symc.grad((m @ w).sum() ** 2, m),
        symc.Assert()(m, m < 9),
    ]  # fmt: skip
    f = symc.function([m, k], outputs, updates=[(w, w * 0.5)], mode="debug", name="right")
    plain = symc.function([m, k], outputs)
    values = np.random.default_rng(0).standard_normal((4, 3)), np.array([0, 2])
    expected = plain(*values)
    for found, right in zip(f(*values), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12)
    assert w.get_value().tolist() == [[0.5, 0.5]] * 3


def test_a_wrong_op_is_named_with_its_line() -> None:
    def thrice(read: ReadElement, index: Index) -> ir.Expr:
        element = read(0, index)
        return ir.binary("mul", element, ir.Const(3.0, element.dtype))

    w = symc.shared(np.ones(2), name="w")
    f = symc.function(
        [x], T.exp(Faulty("thrice", thrice)(x + 1)), updates=[(w, w + 1)], mode="debug"
    )
    with pytest.raises(Mismatch, match=r"thrice, compiled, .*: 9.0 instead of 6.0 at \(1,\)") as e:
        f([-1.0, 2.0])
    assert "test_debug_mode.py" in str(e.value)
    assert "2 of 2" not in str(e.value), "3 * 0 is 2 * 0"
    assert w.get_value().tolist() == [1.0, 1.0]


def test_an_access_out_of_range_is_found() -> None:
    """Element n is beside the array; multiplied by 0 it does not show in the result."""

    def beside(read: ReadElement, index: Index) -> ir.Expr:
        element = read(0, index)
        outside = read(0, (ir.add(index[0], ir.const(1)),))
        safe = ir.Select(ir.binary("lt", outside, outside), outside, element, element.dtype)
        return ir.binary("add", element, safe)

    f = symc.function([x], Faulty("beside", beside)(x) + 1, mode="debug", name="reader")
    with pytest.raises(Mismatch, match="a loop of reader goes wrong"):
        f([1.0, 2.0])


def test_a_wrong_result_of_the_whole_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    f = symc.function([x], x * 2 + 1, mode="debug")
    checker = f.runner.call
    assert isinstance(checker, Checker)
    other = symc.function([x], x * 2 + 1.001)
    monkeypatch.setattr(checker, "plain", other.runner)
    with pytest.raises(Mismatch, match="rewritten and fused, the function gives something else"):
        f([1.0])


def test_conditions_and_arguments_are_as_in_other_modes() -> None:
    y = T.vector("y")
    f = symc.function([x, y], x + y, mode="DebugMode")
    assert f.mode == mode_named("DEBUG_MODE") == "debug"
    with pytest.raises(ShapeMismatch):
        f([1.0, 2.0], [1.0, 2.0, 3.0])


def test_prints_print_once(capsys: pytest.CaptureFixture[str]) -> None:
    f = symc.function([x], symc.Print("x")(x) + 1, mode="debug")
    assert f([1.0]).tolist() == [2.0]
    assert capsys.readouterr().out == "x = [1.]\n"


@pytest.mark.skipif(not sim.available(), reason="no C++ compiler (c++, g++ or clang++)")
def test_on_a_device() -> None:
    def squared(read: ReadElement, index: Index) -> ir.Expr:
        element = read(0, index)
        return ir.binary("mul", element, element)

    w = symc.shared(np.ones(2), name="w")
    found = Faulty("squared", squared)(x) * w
    f = symc.function(
        [x], symc.Out(found, on_device=True), updates=[(w, w + x)], mode="debug", device="cuda:sim"
    )
    assert f([2.0, 0.0]).to_numpy().tolist() == [4.0, 0.0]
    assert w.get_value().tolist() == [3.0, 1.0]
    with pytest.raises(Mismatch, match=r"squared, compiled, .*: 1.0 instead of 2.0 at \(1,\)"):
        f([2.0, 1.0])
    assert w.get_value().tolist() == [3.0, 1.0]


def test_reports_of_sanitizers_are_kept_and_other_text_passes(
    capfd: pytest.CaptureFixture[str],
) -> None:
    reports: list[str] = []
    with reported(reports):
        os.write(2, b"function.c:7:3: runtime error: index 9 out of bounds\nsomething else\n")
    assert reports == ["function.c:7:3: runtime error: index 9 out of bounds"]
    assert capfd.readouterr().err == "something else\n"


def test_threads_do_not_lose_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    """Each kept the other's file as the standard error of before."""
    inside, outside = threading.Event(), threading.Event()

    def other() -> None:
        inside.wait()
        with reported([]):
            outside.set()

    thread = threading.Thread(target=other)
    thread.start()
    with reported([]):
        inside.set()
        outside.wait(0.1)
    thread.join()
    os.write(2, b"still there\n")
    assert capfd.readouterr().err == "still there\n"


def planted(tmp_path: Path, body: str) -> Any:
    """An op in C of a vector, with a mistake."""
    file = tmp_path / "planted.c"
    file.write_text(
        "#include <stdint.h>\n"
        f"void planted(const double *x, int64_t n, double *y) {{\n    {body}\n}}\n",
        encoding="utf-8",
    )
    return symc.c_op(
        file, "planted(x, n, y)", inputs={"x": "float64[n]"}, output={"y": "float64[n]"}
    )


def test_undefined_behaviour_of_a_users_op_is_raised_again_and_again(tmp_path: Path) -> None:
    """The sanitizer says it once; another function of the same code must not pass either."""
    if "-fsanitize=undefined" not in sanitizers():
        pytest.skip("gcc has no libubsan here")
    op = planted(tmp_path, "for (int64_t i = 0; i < n; i++) y[i] = 1 << (n + 30);")
    for _ in range(2):
        f = symc.function([x], op(x), mode="debug", name="shifted")
        for _ in range(2):
            with pytest.raises(Mismatch, match="does what C forbids") as error:
                f([1.0, 2.0])
            assert "planted.c:3" in str(error.value)
            assert "shift exponent 32 is too large" in str(error.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("y[0] = x[n];", [
            "uses memory that is not its own: heap-buffer-overflow, reads 8 bytes",
            "array  x        float64[x.shape[0]]",
            "right after its end (16 bytes)",
        ]),
        ("y[n + 1] = x[0];", ["heap-buffer-overflow, writes 8 bytes", "8 bytes after its end"]),
        ("y[0] = *(volatile double *)8;", ["SEGV, reads"]),
    ],
    ids=["read", "write", "crash"],
)  # fmt: skip
def test_a_users_op_that_leaves_its_arrays_is_named(
    tmp_path: Path, body: str, said: list[str]
) -> None:
    if runner() is None:
        pytest.skip("gcc has no libasan here, or it cannot run")
    w = symc.shared(np.ones(2), name="w")
    f = symc.function([x], planted(tmp_path, body)(x), updates=[(w, w + 1)], mode="debug")
    with pytest.raises(Mismatch) as error:
        f([1.0, 2.0])
    text = str(error.value)
    for words in [*said, "node   planted(x) ", "test_debug_mode.py:", "planted.c:3"]:
        assert words in text
    assert w.get_value().tolist() == [1.0, 1.0]


def test_reports_name_what_generated_code_computes(tmp_path: Path) -> None:
    source = "void k(void)\n{\n    /* y = exp(x)   train.py:3 */\n    int i = 1;\n}\n"
    (tmp_path / "function.c").write_text(source, encoding="utf-8")
    report = "function.c:4:9: runtime error: index 9 out of bounds"
    assert explained(report, str(tmp_path)) == (
        f"  node   y = exp(x)   train.py:3\n  code   {tmp_path}/{report}"
    )
    assert explained("user.c:4:9: runtime error: no", str(tmp_path)) == (
        "  code   user.c:4:9: runtime error: no"
    )


def test_programs_are_compiled_with_the_sanitizers_there_are() -> None:
    f = symc.function([x], x + 3, mode="debug")
    binary = Path(str(f.folder), "function.so").read_bytes()
    assert (b"__ubsan_handle" in binary) == ("-fsanitize=undefined" in sanitizers())


@pytest.mark.parametrize(
    ("found", "right", "wrong"),
    [
        ([1.0, np.nan, np.inf], [1.0, np.nan, np.inf], ""),
        ([1.0 + 1e-12], [1.0], ""),
        ([1.0 + 1e-6], [1.0], "instead of"),
        ([np.inf], [1.0], "instead of"),
        ([1.0], [np.inf], "instead of"),
        ([np.nan], [1.0], "instead of"),
        ([1 + 1j, np.inf], [1 + 1j, np.inf], ""),
        ([1], [2], "1 instead of 2 at (0,); 1 of 1 elements differ"),
        ([1.0], [1], "float64(1,) instead of int64(1,)"),
        ([1.0, 2.0], [1.0], "float64(2,) instead of float64(1,)"),
        ([], [], ""),
    ],
)
def test_what_counts_as_different(found: list[Any], right: list[Any], wrong: str) -> None:
    said = difference(np.array(found), np.array(right), 0.0, together=False)
    assert wrong in said
    assert bool(said) == bool(wrong)


def test_rows_of_steps_that_a_loop_did_not_do_are_not_compared() -> None:
    """They hold the values of memory before: NaN, here."""

    def double(state: Tensor) -> Any:
        return state * 2, symc.until(T.sum(state) > 10)

    states, _ = symc.scan(double, outputs_info=x, n_steps=12)
    f = symc.function([x], states, mode="debug")
    for _ in range(3):
        waste = [np.full(size, np.nan) for size in range(1, 100) for _ in range(8)]
        del waste
        np.testing.assert_array_equal(f(np.ones(3)), [[2.0] * 3, [4.0] * 3, [8.0] * 3])


def test_columns_that_are_determined_up_to_signs_are_compared_by_what_they_have_in_common() -> None:
    """The form of `schur`, and its basis, by NumPy's steps and by LAPACK's."""
    a = T.matrix("a")
    f = symc.function([a], list(T.linalg.schur(a)), mode="debug")
    for value in (
        [[1.0, 2.0], [2.0, 4.0]],
        [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 1.0]],
        np.random.default_rng(1).normal(size=(6, 6)),
        np.zeros((3, 3)),
        np.zeros((0, 0)),
    ):
        t, z = f(np.array(value))
        np.testing.assert_allclose(z @ t @ z.T, value, atol=1e-12)


@pytest.mark.parametrize("part", [0, 1])
def test_a_form_or_a_basis_that_is_wrong_is_seen(part: int) -> None:
    """Whatever the signs."""
    value = np.random.default_rng(2).normal(size=(5, 5))
    op = Schur(part)
    right = op.evaluate(value)
    wrong = right.copy()
    wrong[1, 2] += 1e-3
    pairs = (right * -1 if part else right, ""), (wrong, "instead of")
    for found, said in pairs:
        one, other = (op.in_common([value], each) for each in (found, right))
        assert said in difference(one, other, 1.0, together=False)
        assert bool(said) == bool(difference(one, other, 1.0, together=False))


def test_no_bytes_are_copied_from_nowhere_without_a_report() -> None:
    """Triangular factors of a matrix without elements, beside an update."""
    m, s = T.matrix("m"), symc.shared(np.ones(3))
    y = T.tanh(m)
    r = T.linalg.qr(y @ y.T + 2 * T.eye(y.shape[0]))[1]
    f = symc.function([m], T.abs(r), updates=[(s, T.arctan(s))], mode="debug")
    assert f(np.zeros((0, 2))).shape == (0, 0)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_eigenvectors_and_pivots_are_those_of_lapack_up_to_signs(dtype: str) -> None:
    """NumPy computes those of float32 in float64, where others may come out."""
    a = T.tensor(dtype, (None, None), "a")
    both = T.linalg.eigh(a)[1], T.linalg.eig(a)[1], T.linalg.lu_factor(a)[0]
    f = symc.function([a], list(both), mode="debug")
    rng = np.random.default_rng(4)
    for _ in range(6):
        value = rng.normal(size=(5, 5)) + (
            1j * rng.normal(size=(5, 5)) if dtype != "float32" else 0
        )
        vectors = f(value.astype(dtype))[0]
        np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(5), atol=1e-5)


def test_eigenvectors_that_are_wrong_are_seen() -> None:
    value = np.array([[2.0, 1.0], [1.0, 3.0]])
    for of, found in (Eig(1), np.linalg.eig(value)), (Eigh(1), np.linalg.eigh(value)):
        right = found.eigenvectors
        for wrong in (right + np.array([[0, 0], [1e-3, 0]]), right * 2):
            one, other = (of.in_common([value], each) for each in (wrong, right))
            assert difference(one, other, 1.0, together=False)


def test_numbers_of_exponentials_lie_where_they_may() -> None:
    """An odd number of float32 came before wider ones."""
    a = T.fmatrix("a")
    f = symc.function([a], T.linalg.expm(a), mode="debug")
    np.testing.assert_allclose(f(np.eye(3, dtype="float32")), np.eye(3) * np.e, rtol=1e-6)
