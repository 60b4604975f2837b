"""`symc.function`: its arguments, arguments and results of calls, and whose memory these are."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadArgument, DTypeError, FunctionError, MissingInput, UnusedInput
from symc.graph.inputs import Constant, constant

V = np.array([1.0, 2.0, 3.0])
MODES = ("default", "python")


def vectors(*names: str) -> list[Any]:
    return [T.vector(name) for name in names]


# --- outputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_forms_of_outputs(mode: str) -> None:
    (x,) = vectors("x")

    def call(outputs: Any, *inputs: Any) -> Any:
        return symc.function(inputs, outputs, mode=mode)(*([V] * len(inputs)))

    one = call(x * 2, x)
    assert type(one) is np.ndarray
    assert one.tolist() == [2, 4, 6]
    total = call(x.sum(), x)
    assert type(total) is np.ndarray
    assert total.shape == ()
    for outputs in ([x * 2], (x * 2,), [symc.Out(x * 2, borrow=True)]):
        result = call(outputs, x)
        assert type(result) is list
        assert result[0].tolist() == [2, 4, 6]
    named = call({"b": x + 1, "a": x}, x)
    assert list(named) == ["b", "a"]
    assert named["b"].tolist() == [2, 3, 4]
    assert call({}) == {}
    assert call(None) is None
    assert call([]) == []


@pytest.mark.parametrize("mode", MODES)
def test_numbers_constants_and_lists_as_outputs(mode: str) -> None:
    results = symc.function([], [3, 2.5, True, V, T.constant([[1, 2]]), [1, 2]], mode=mode)()
    wanted: list[Any] = [np.array(3), np.array(2.5), np.array(True), V, np.array([[1, 2]]),
                         np.array([1, 2])]  # fmt: skip
    for value, expected in zip(results, wanted, strict=True):
        assert value.dtype == expected.dtype
        assert value.shape == expected.shape
        assert np.array_equal(value, expected)
    assert symc.function([], 3, mode=mode)() == 3


@pytest.mark.parametrize("mode", MODES)
def test_outputs_alias_nothing(mode: str) -> None:
    """Neither inputs, shared variables, constants, each other, nor later calls."""
    x, y = vectors("x", "y")
    s = symc.shared(V, name="s")
    c = T.constant(V)
    row = T.reshape(x, (1, -1))
    outputs = [x, x, s, c, x + y, x + y, row, row[0], s[:], s.reshape((3, 1)), x.T, T.flip(x, 0)]
    f = symc.function([x, y], outputs, mode=mode)
    a = V.copy()
    for _ in range(2):
        results = [*f(a, a), *f(a, a)]
        others = [a, s.get_value(borrow=True)]
        for number, result in enumerate(results):
            assert result.flags.owndata or result.base is not a
            for other in [*others, *results[:number]]:
                assert not np.shares_memory(result, other), number
        for result in results:
            result[...] = -1
    assert a.tolist() == s.get_value().tolist() == V.tolist()
    assert f(a, a)[3].tolist() == V.tolist()


def test_outputs_that_are_not_tensors() -> None:
    (x,) = vectors("x")
    several: list[Any] = ["x", object(), [x, "x"], {"a": None}]
    for wrong in several:
        with pytest.raises(DTypeError):
            symc.function([x], wrong)
    keys: Any = {1: x}
    with pytest.raises(TypeError, match="must be strings"):
        symc.function([x], keys)


# --- inputs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_intermediate_results_as_inputs(mode: str) -> None:
    x, y = vectors("x", "y")
    z = x * 2
    assert symc.function([z], z + 1, mode=mode)(V).tolist() == [2, 3, 4]
    assert symc.function([x, z], x + z, mode=mode)(V, V * 10).tolist() == [11, 22, 33]
    # Its length is its own, not that of x.
    assert symc.function([z], T.zeros_like(z).sum() + z.shape[0], mode=mode)([1.0, 2.0]) == 2
    deep = T.exp(z).sum() * z
    grads = symc.grad(deep.sum(), z)
    got = symc.function([z], grads, mode=mode)(V)
    n = len(V)
    np.testing.assert_allclose(got, np.exp(V) * V.sum() + np.exp(V).sum() * np.ones(n))
    # Replacements are cut too.
    f = symc.function([z], y, givens={y: z + 1}, mode=mode)
    assert f(V).tolist() == [2, 3, 4]


def test_what_cannot_be_an_input() -> None:
    x, y = vectors("x", "y")
    s = symc.shared(V, name="s")
    cases: list[tuple[Any, type[Exception], str]] = [
        (x, TypeError, "inputs must be a list"),
        (3, TypeError, "inputs must be a list"),
        ([x, s], TypeError, "givens="),
        ([x, T.constant(1.0)], TypeError, "constant"),
        ([x, "y"], TypeError, "must be a tensor"),
        ([x, x], UnusedInput, "twice"),
        ([symc.In(x), x], UnusedInput, "twice"),
        ([], MissingInput, r"x .*test_function.py:\d+"),
        ([x, y], UnusedInput, r"input 1.*\n.*y .*test_function.py:\d+"),
    ]
    for inputs, error, message in cases:
        with pytest.raises(error, match=message):
            symc.function(inputs, x + s)


def test_unused_inputs() -> None:
    x, y = vectors("x", "y")
    assert symc.function([x, y], x, on_unused_input="ignore")(V, V).tolist() == V.tolist()
    with pytest.warns(UserWarning, match="not needed") as seen:
        symc.function([x, y], x, on_unused_input="warn")
    assert seen[0].filename == __file__
    with pytest.raises(ValueError, match="on_unused_input"):
        symc.function([x], x, on_unused_input="perhaps")
    with symc.config.set(on_unused_input="ignore"):
        symc.function([x, y], x)
    with pytest.raises(UnusedInput):
        symc.function([x, y], x)
    # Used by an update or by a replacement counts.
    s = symc.shared(V)
    symc.function([x, y], x, updates=[(s, y)])
    z = T.vector("z")
    symc.function([x, y], x + z, givens={z: y})


@pytest.mark.parametrize("mode", MODES)
def test_positions_keywords_and_defaults(mode: str) -> None:
    x, y = vectors("x", "y")
    f = symc.function(
        [x, symc.In(y, name="shift", value=[10.0, 20.0, 30.0])], x + y, name="my f", mode=mode
    )
    wanted = [11, 22, 33]
    for args, kwargs in [((V,), {}), ((), {"x": V}), ((V, [10.0, 20, 30]), {}),
                         ((), {"x": V, "shift": V * 10}), ((V,), {"shift": V * 10})]:  # fmt: skip
        assert f(*args, **kwargs).tolist() == wanted
    assert f(V, V).tolist() == [2, 4, 6]
    assert f(V).tolist() == wanted  # the default is back
    calls: list[tuple[Any, dict[str, Any], str]] = [
        ((V, V, V), {}, "takes 2 arguments, not 3"),
        ((), {}, r"missing input 0\n.*x .*test_function.py:\d+"),
        ((V,), {"x": V}, "'x' was given twice"),
        ((V,), {"y": V}, "no input named 'y'; it has x, shift"),
        ((V, V, V), {"x": V}, "takes 2 arguments"),
    ]
    for args, kwargs, message in calls:
        with pytest.raises(BadArgument, match=message) as caught:
            f(*args, **kwargs)
        assert isinstance(caught.value, TypeError)
        assert str(caught.value).startswith("my_f")
    assert repr(f) == f"<symc function my_f(x, y), mode {mode!r}>"


def test_inputs_without_names_or_with_the_same() -> None:
    x, y, z = T.vector("x"), T.vector("x"), T.vector()
    f = symc.function([x, y, z], x - y + z)
    assert f(V, V, V).tolist() == V.tolist()
    with pytest.raises(BadArgument, match="missing input 1"):
        f(x=V)


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("f", "f"), ("while", "while"), ("2x", "f_2x"), ("a b.ü", "a_b__"), ("", "function"),
     ("symc_run", "symc_run"), ("int", "int"), ("main", "main"), ("x", "x")],
)  # fmt: skip
def test_any_name_compiles(name: str, identifier: str) -> None:
    x = T.vector("x")
    f = symc.function([x], x + 1, name=name)
    assert f.name == identifier
    assert f(V).tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    "name", ["double", "i", "exp", "status", "n", "symc_call", "data", "x-1", "_", "ü", "main",
             "out", "acc", "threads", "lambda", "NULL", "printf", "scratch", "x_0", "partial"],
)  # fmt: skip
def test_any_name_of_a_variable_compiles(name: str) -> None:
    x, s = T.vector(name), symc.shared(V, name=name)
    y = T.exp(x - x.max())
    y.name = name
    f = symc.function([x], (y / y.sum()).sum() + s.sum(), updates=[(s, s + x)])
    assert float(f(V)) == pytest.approx(7.0)
    assert s.get_value().tolist() == (2 * V).tolist()


# --- givens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_givens(mode: str) -> None:
    x, y = vectors("x", "y")
    z = x * 2
    w = symc.shared(V * 0, name="w")

    def result(inputs: Any, outputs: Any, givens: Any, **more: Any) -> Any:
        f = symc.function(inputs, outputs, givens=givens, mode=mode, **more)
        return f(*([V] * len(inputs)))

    assert result([y], z, {x: y + 1}).tolist() == [4, 6, 8]  # a tensor
    assert result([y], z, [(x, y + 1)]).tolist() == [4, 6, 8]
    assert result([], z, {x: V}).tolist() == [2, 4, 6]  # an array
    assert result([], z, {x: symc.shared(V)}).tolist() == [2, 4, 6]
    assert result([x], z + 1, {z: x}).tolist() == [2, 3, 4]  # an intermediate result
    assert result([y], w + y, {w: y}).tolist() == [2, 4, 6]  # a shared variable
    # One inside the other: the outer one wins, and replacements are not searched.
    assert result([y], z, {x: y, z: y * 10}).tolist() == [10, 20, 30]
    assert result([y], z + x, {x: y, z: y * 10}).tolist() == [11, 22, 33]
    with pytest.raises(MissingInput):
        result([y], z, {z: x, x: y})
    # They hold in updates too, but not for the updated variable.
    assert result([y], w, {x: y, w: y}, updates=[(w, w + x)]).tolist() == V.tolist()
    assert w.get_value().tolist() == [2, 4, 6]


def test_givens_are_copied() -> None:
    x, value = T.vector("x"), V.copy()
    f = symc.function([], x + 0, givens={x: value})
    value[:] = 0
    assert f().tolist() == V.tolist()


def test_givens_that_do_not_fit() -> None:
    x, y, m, i = T.vector("x"), T.vector("y"), T.matrix("m"), T.fvector("i")
    cases: list[tuple[Any, type[Exception], str]] = [
        ({x: m}, FunctionError, r"x .*test_function.py:\d+\n.*m .*test_function.py:\d+"),
        ({x: i}, FunctionError, "float32"),
        ({x: np.array([2**53 + 1])}, FunctionError, "int64"),
        ({x: 3.0}, FunctionError, "cannot replace"),
        ({y: x}, FunctionError, "is an input"),
        ([(x, V), (x, V)], FunctionError, "twice"),
        ([(x,)], FunctionError, "pairs"),
        ([("x", V)], TypeError, "replaces tensors"),
    ]
    for givens, error, message in cases:
        with pytest.raises(error, match=message):
            symc.function([y], x.sum() + y, givens=givens)


# --- arguments that a call accepts ---
# -----------------------------------------------------------------------

INT8, F32, F16 = np.int8, np.float32, np.float16
BIG = 2**40
# dtype of the input, value, and whether it is accepted with allow_input_downcast None, False, True
ACCEPTED: list[tuple[str, Any, bool, bool, bool]] = [
    ("float64", V, True, True, True),
    ("float64", V.astype(F32), True, True, True),
    ("float64", np.arange(3, dtype=np.int32), True, True, True),
    ("float64", np.arange(3, dtype=np.int64), True, True, True),  # as NumPy's "safe"
    ("float64", np.array([2**53 + 1] * 3), False, False, True),  # though NumPy's "safe"
    ("float64", np.array([2**63 + 1] * 3, np.uint64), False, False, True),
    ("complex128", np.array([2**53 + 1] * 3), False, False, True),
    ("float64", np.array([True, False, True]), True, True, True),
    ("float64", [1, 2, 3], True, True, True),
    ("float64", (1.5, 2, True), True, True, True),
    ("float32", V, False, False, True),
    ("float32", [0.1, 0.2, 0.3], True, False, True),  # Python floats round
    ("float32", [1, 2, 3], True, False, True),
    ("float32", [2**24 + 1] * 3, False, False, True),  # not exact
    ("float32", np.arange(3), False, False, True),
    ("float32", np.arange(3, dtype=np.int16), True, True, True),
    ("float16", V.astype(F32), False, False, True),
    ("float16", [0.1] * 3, True, False, True),
    ("int64", V, False, False, True),
    ("int64", [1.0, 2.0, 3.0], True, False, True),  # exact, from Python
    ("int64", [1.5, 2.0, 3.0], False, False, True),
    ("int64", [], True, False, True),
    ("int8", [1, 2, 3], True, False, True),
    ("int8", [1, 2, 300], False, False, True),
    ("int8", np.arange(3), False, False, True),
    ("uint8", [-1, 2, 3], False, False, True),
    ("uint64", np.arange(3), False, False, True),
    ("int64", np.arange(3, dtype=np.uint64), False, False, True),
    ("bool", [True, False, True], True, True, True),
    ("bool", [0, 1, 1], True, False, True),
    ("bool", [0, 1, 2], False, False, True),
    ("bool", np.arange(3), False, False, True),
    ("int64", [True, False, True], True, True, True),
]


@pytest.mark.parametrize("mode", MODES)
def test_what_is_converted(mode: str) -> None:
    functions: dict[Any, Any] = {}
    for dtype, value, *accepted in ACCEPTED:
        for downcast, fine in zip((None, False, True), accepted, strict=True):
            key = dtype, downcast
            if key not in functions:
                x = T.tensor(dtype, (None,), name="x")
                functions[key] = symc.function(
                    [x], x, mode=mode, allow_input_downcast=downcast
                )  # fmt: skip
            if fine:
                result = functions[key](value)
                with np.errstate(all="ignore"):
                    expected = np.asarray(value).astype(dtype)
                assert result.dtype == dtype
                assert np.array_equal(result, expected), key
            else:
                with pytest.raises(DTypeError, match="lose precision") as caught:
                    functions[key](value)
                assert isinstance(caught.value, TypeError), key
                assert re.search(r"x .*test_function.py:\d+", str(caught.value))


def test_downcasting_one_input_only() -> None:
    x, y = T.fvector("x"), T.fvector("y")
    f = symc.function([symc.In(x, allow_downcast=True), y], x + y)
    assert f(V, V.astype(F32)).dtype == F32
    with pytest.raises(DTypeError, match="argument 1"):
        f(V, V)


def odd_arrays(folder: Path) -> dict[str, Any]:
    """The matrix [[0, 1, 2], [3, 4, 5]] in many forms."""
    base = np.arange(6.0).reshape(2, 3)
    mapped = np.memmap(folder / "mapped", np.float64, "w+", shape=(2, 3))
    mapped[...] = base
    fixed = base.copy()
    fixed.flags.writeable = False
    large = np.zeros((4, 9))
    large[::2, ::3] = base
    raw = np.frombuffer(b"_" + base.tobytes(), np.uint8)[1:].view("f8").reshape(2, 3)
    return {
        "fortran": np.asfortranarray(base), "strided": large[::2, ::3],
        "backwards": base[::-1, ::-1].copy()[::-1, ::-1], "swapped": base.astype(">f8"),
        "read-only": fixed, "mapped": mapped,
        "mapped, read-only": np.memmap(folder / "mapped", np.float64, "r", shape=(2, 3)),
        "unaligned": raw, "list": base.tolist(), "tuple": tuple(map(tuple, base.tolist())),
        "record": base.view(np.recarray), "rows": list(base), "int": base.astype(int),
    }  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_any_memory_layout(mode: str, tmp_path: Path) -> None:
    x = T.matrix("x")
    f = symc.function([x], [x, x[::-1].cumsum(axis=1) * 2], mode=mode)
    base = np.arange(6.0).reshape(2, 3)
    for name, value in odd_arrays(tmp_path).items():
        same, other = f(value)
        assert np.array_equal(same, base), name
        assert np.array_equal(other, base[::-1].cumsum(axis=1) * 2), name
        assert type(same) is np.ndarray, name


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int8", "uint8", "bool"]
)
def test_numbers(mode: str, dtype: str) -> None:
    x = T.scalar("x", dtype=dtype)
    f = symc.function([x], x, mode=mode)
    for value in (
        1,
        True,
        np.array(1, dtype),
        np.dtype(dtype).type(1),
        np.array([[1]], dtype)[0, 0],
    ):
        if dtype == "bool" or type(value) is not bool:
            result = f(value)
            assert result.dtype == dtype
            assert result.shape == ()
            assert result == 1


# --- conveniences ---------------------------------------------------------------------------------


def test_eval_and_clone() -> None:
    x, y = vectors("x", "y")
    z = x * 2 + y
    assert z.eval({x: V, y: [1.0, 1.0, 1.0]}).tolist() == [3, 5, 7]
    assert T.constant(3).eval() == 3
    with pytest.raises(MissingInput):
        z.eval({x: V})
    replaced = symc.clone(z, {x: y})
    assert replaced.eval({y: V}).tolist() == [3, 6, 9]
    one, two = symc.clone([z, x], [(y, x)])
    assert symc.function([x], [one, two])(V)[0].tolist() == [3, 6, 9]
    fresh = symc.clone(z, share_inputs=False)
    with pytest.raises(MissingInput):
        symc.function([x, y], fresh, on_unused_input="ignore")


def test_facts_and_texts() -> None:
    x = T.vector("x")
    f = symc.function([x], T.exp(x) + 1, name="shown")
    assert "shown" in f.source
    assert "program shown" in f.program
    assert "exp" in f.graph
    assert "kernel" in f.explain()
    assert f.facts["kernels"] == 1
    assert f.folder is not None
    assert Path(f.folder, "function.c").read_text(encoding="utf-8") == f.source
    assert set(f.seconds) >= {"key", "load"}


def test_constants_are_compared_without_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """When Python ended, nodes that were left printed errors about imports."""
    first = constant(np.arange(3.0)).op
    assert isinstance(first, Constant)
    other = Constant(first.value.copy(), first.digest)
    monkeypatch.delitem(sys.modules, "numpy._core._dtype", raising=False)
    monkeypatch.setattr(sys, "meta_path", None)
    same = first == other
    monkeypatch.undo()
    assert same
