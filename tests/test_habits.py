"""What people type who come from NumPy, Theano or JAX: it works, or says what to write instead."""

from __future__ import annotations

import itertools
import operator
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.codegen import dtypes
from symc.errors import DTypeError, FunctionError
from symc.graph.types import to_numpy

x, m = T.vector("x"), T.matrix("m")
k, single, flags = T.ivector("k"), T.fvector("single"), T.vector("flags", dtype="bool")
w = symc.shared(np.ones(3), name="w")
compiled = symc.function([x], x + 1, mode="python")


# --- dtypes ---------------------------------------------------------------------------------------


def test_a_dtype_equals_its_name() -> None:
    """`x.dtype == "float32"`, as Theano's users write, was False; NumPy refused `x.dtype`."""
    assert single.dtype == "float32"
    assert single.dtype != "float64"
    assert single.dtype == np.dtype("float32") == single.dtype
    assert single.dtype in ("float16", "float32")
    assert np.zeros(2, single.dtype).dtype == np.float32
    assert type(str(single.dtype)) is str
    assert pickle.loads(pickle.dumps(single.dtype)) is dtypes.FLOAT32
    with pytest.raises(AttributeError, match="cannot be changed"):
        single.dtype.bits = 64


ARITHMETIC: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "+": (operator.add, operator.add),
    "*": (operator.mul, operator.mul),
    "/": (operator.truediv, operator.truediv),
    "**": (np.power, operator.pow),
    "@": (operator.matmul, operator.matmul),
    "maximum": (np.maximum, T.maximum),
    "fmin": (np.fmin, T.fmin),
    "logical_or": (np.logical_or, T.logical_or),
    "where": (lambda a, b: np.where([True], a, b), lambda a, b: T.where([True], a, b)),
    "concatenate": (lambda a, b: np.concatenate([a, b]), lambda a, b: T.concatenate([a, b])),
}
NO_ORDER = ("maximum", "fmin")
SCALARS = (True, 2, 1, 0.5, 2.0, 1j, np.int8(2), np.float32(2), np.float64(2), np.float64(0.5))


NUMPYS = [t for t in dtypes.ALL if t is not dtypes.BFLOAT16]  # that of JAX: tests/bfloat16


@pytest.mark.parametrize("name", ARITHMETIC)
def test_dtypes_are_numpys(name: str) -> None:
    """An integer to the power 2.0 stayed an integer, float32 ** np.float64(2) was float32."""
    on_arrays, on_tensors = ARITHMETIC[name]
    types = [t for t in NUMPYS if not (t.is_complex and name in NO_ORDER)]
    for a, b in itertools.product(types, types):
        wanted = on_arrays(np.ones(2, a), np.ones(2, b)).dtype
        assert on_tensors(T.vector(dtype=a), T.vector(dtype=b)).dtype == wanted, (a, b)
    if name in ("@", "concatenate"):
        return
    for a, value in itertools.product(types, SCALARS):
        if isinstance(value, complex) and name in NO_ORDER:
            continue
        wanted = on_arrays(np.ones(2, a), value).dtype
        assert on_tensors(T.vector(dtype=a), value).dtype == wanted, (a, value)
        wanted = on_arrays(value, np.ones(2, a)).dtype
        assert on_tensors(value, T.vector(dtype=a)).dtype == wanted, (value, a)


def test_an_integer_to_a_float_power() -> None:
    f = symc.function([k], [k**2.0, k ** np.float64(0.5), k**2], mode="python")
    big = np.array([3, 100_000], "int32")
    for got, wanted in zip(f(big), (big**2.0, big**0.5, big**2), strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


# --- names ----------------------------------------------------------------------------------------


def test_theanos_and_numpys_names() -> None:
    assert T.grad is symc.grad
    assert T.jacobian is symc.jacobian
    assert T.square(x) is T.sqr(x)
    assert T.newaxis is None
    assert x[:, T.newaxis].ndim == 2
    assert T.shape(m)[1] is m.shape[1]
    assert T.array([1, 2], "float32").dtype == "float32"
    assert T.asarray(x) is x
    symc.In(x, borrow=True, mutable=True)


@pytest.mark.parametrize("decimals", [-3, -1, 0, 1, 4])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_round_to_decimals(decimals: int, dtype: str) -> None:
    values = np.array([0, 5, 15, 25, 149.96, 123.45678]).astype(dtype)
    v = T.vector("v", dtype=dtype)
    got = symc.function([v], v.round(decimals), mode="python")(values)
    assert got.dtype == values.dtype
    np.testing.assert_array_equal(got, values.round(decimals))


def test_clip_takes_numpys_keywords() -> None:
    values = np.array([-2.0, 0.5, 9.0])
    results = [x.clip(0, 1), x.clip(min=0), T.clip(x, max=1)]
    for got, wanted in zip(
        symc.function([x], results, mode="python")(values),
        (values.clip(0, 1), values.clip(min=0), values.clip(max=1)),
        strict=True,
    ):
        np.testing.assert_array_equal(got, wanted)


def test_a_copy_has_other_shared_variables() -> None:
    total, other = symc.shared(np.zeros(2), name="total"), symc.shared(np.ones(2), name="other")
    add = symc.function([x], total.sum(), updates={total: total + x}, mode="python", name="add")
    again = add.copy(swap={total: other}, name="again")
    assert again([1.0, 2.0]) == 2.0
    assert total.get_value().tolist() == [0.0, 0.0]
    assert other.get_value().tolist() == [2.0, 3.0]
    assert again.name == "again"
    assert again.shared == (other,)
    reader = again.copy(delete_updates=True)
    assert reader([1.0, 1.0]) == 5.0
    assert other.get_value().tolist() == [2.0, 3.0]
    with pytest.raises(FunctionError, match="the function has <total"):
        add.copy(swap={w: total})
    with pytest.raises(FunctionError, match="cannot replace"):
        add.copy(swap={total: symc.shared(1.0)})


# --- impossible requests ---
# ----------------------------------------------------------------------------


def assign() -> None:
    y: Any = x
    y[0] = 1.0


def add_in_place() -> None:
    y: Any = x
    y[0] += 1.0


# Without types, as a type checker refuses these lines.
t: Any = T
s: Any = symc
any_x: Any = x

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "x[0] = v": (assign, TypeError, r"x = x\[i\]\.set\(v\)"),
    "x[0] += v": (add_in_place, TypeError, r"x = x\[i\]\.inc\(v\)"),
    "float(x)": (lambda: float(any_x), TypeError, "has no values"),
    "int(x)": (lambda: int(any_x.sum()), TypeError, "has no values"),
    "1 in x": (lambda: 1 in any_x, TypeError, r"T\.any\(T\.eq\(x, value\)\)"),
    "for row in x": (lambda: list(x), TypeError, r"symc\.scan"),
    "max(x, y)": (lambda: max(any_x, any_x + 1), TypeError, r"T\.maximum"),
    "sum of ==": (lambda: t.sum(x == w), DTypeError, r"T\.eq and T\.ne compare"),
    "mean of ==": (lambda: t.mean(any_x == 0), DTypeError, r"T\.eq and T\.ne compare"),
    "any of !=": (lambda: t.any(x != w), DTypeError, r"T\.eq and T\.ne compare"),
    "all of ==": (lambda: t.all(x == w), DTypeError, r"T\.eq and T\.ne compare"),
    "where of ==": (lambda: t.where(any_x == 0, x, 1), DTypeError, r"T\.eq and T\.ne compare"),
    "ifelse of ==": (lambda: s.ifelse(any_x == 0, x, x), DTypeError, r"T\.eq and T\.ne compare"),
    "broadcastable": (
        lambda: t.tensor("float32", (False, True)), TypeError, r"\(None, 1\) is what Theano calls",
    ),
    "a length of 1.5": (lambda: t.tensor(shape=(1.5,)), TypeError, "a length is an integer"),
    "a length of text": (lambda: t.vector("v", shape="3"), TypeError, "shape must be a tuple"),
    "a number for a shape": (lambda: t.vector("v", shape=3), TypeError, "shape must be a tuple"),
    "a number for a name": (lambda: t.tensor(name=3), TypeError, "must be a string"),
    "stack(x, y)": (lambda: t.stack(x, w), TypeError, r"takes a list of tensors, like \[x, y\]"),
    "vstack(x)": (lambda: t.vstack(x), TypeError, "vstack takes a list"),
    "einsum of lists": (lambda: t.einsum(m, [0, 1]), TypeError, "as text, like"),
    "einsum of nothing": (lambda: t.einsum("i"), ValueError, "has no operands"),
    "grad of a function": (lambda: s.grad(lambda y: y, x), TypeError, "call it first"),
    "grad of a number": (lambda: s.grad(3.0, x), TypeError, "symbolic tensors as cost"),
    "grad for a name": (lambda: s.grad(x.sum(), ["x"]), TypeError, "tensors as wrt, not 'x'"),
    "jacobian of a number": (lambda: s.jacobian(3.0, x), TypeError, "needs symbolic tensors"),
    "eval of a list": (lambda: any_x.eval([1.0]), TypeError, "takes a dict"),
    "shared(None)": (lambda: s.shared(None), DTypeError, "the value is None"),
    "set_value(None)": (lambda: w.set_value(None), DTypeError, "the new value of w is None"),
    "adam of an input": (
        lambda: s.optim.adam(x.sum(), [x]), TypeError, "a parameter must be a shared variable",
    ),
    "no gradient of None": (lambda: s.disconnected_grad(None), DTypeError, "a tensor of None"),
    "a clipped gradient of text": (lambda: s.grad_clip("x", 0, 1), DTypeError, "a tensor of 'x'"),
    "dprint of a number": (lambda: s.dprint(3), TypeError, "shows symbolic tensors, not 3"),
    "pprint of a number": (lambda: s.pprint(3), TypeError, "shows symbolic tensors, not 3"),
    "save of a tensor": (lambda: s.save(x, "x.symc"), TypeError, "that symc.function made"),
    "eigh's triangle": (lambda: t.linalg.eigh(m, 1), ValueError, "UPLO is 'L' or 'U', not 1"),
    "split's count": (lambda: t.split(x, k, 1.5), DTypeError, "a length must be an integer"),
    "floatX": (lambda: setattr(symc.config, "floatX", "foo"), ValueError, "one of float16"),
    "threads": (lambda: setattr(symc.config, "threads", -1), ValueError, "number from 0"),
    "no setting": (lambda: setattr(symc.config, "optimizer", "None"), AttributeError, "floatX"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("owner", "name", "text"),
    [
        (symc, "jit", "symc.function"),
        (symc, "value_and_grad", "symc.grad"),
        (T, "TensorType", "T.tensor"),
        (T, "float16", '"float16"'),
        (x, "at", ".set"),
        (x, "item", ".eval"),
        (x, "exp", "T.exp"),
    ],
)
def test_names_of_others_say_what_there_is_instead(owner: Any, name: str, text: str) -> None:
    assert not hasattr(owner, name)
    with pytest.raises(AttributeError) as raised:
        getattr(owner, name)
    assert "here it is" in str(raised.value)
    assert text in str(raised.value)


def test_what_is_there_instead_exists() -> None:
    """The names that errors point to are names, and those that they are for are none."""
    from symc.graph import other_libraries as elsewhere

    owners = {
        "T": T, "symc": symc, "tensor": x, "nnet": T.nnet, "linalg": T.linalg, "random": T.random,
        "fft": T.fft, "sparse": T.sparse, "optim": symc.optim, "function": compiled,
        "config": symc.config,
    }  # fmt: skip
    for owner, names in vars(elsewhere)["_INSTEAD"].items():
        for name, advice in names.items():
            assert not hasattr(owners[owner], name), f"{owner}.{name} is there"
            check_names_in(advice, f"{owner}.{name}")


def check_names_in(advice: str, of: str) -> None:
    where = {"symc": symc, "T": T, "x": m, "w": w, "np": np, "f": compiled}
    for prefix, path in re.findall(r"\b(symc|T|x|w|np|f)((?:\.\w+)+)", advice):
        value = where[prefix]
        for name in path[1:].split("."):
            assert hasattr(value, name), f"{of}: {advice}"
            value = getattr(value, name)


def test_a_number_that_does_not_fit_is_not_cut_off() -> None:
    """`set_value(2**40)` of an int32 variable stored 0, and 1.5 stored 1."""
    count = symc.shared(np.int32(7), name="count")
    for value in (2**40, 1.5, float("nan"), 1j, 2**70, [1.0]):
        with pytest.raises((DTypeError, symc.errors.RankError), match="count"):
            count.set_value(value)
        assert count.get_value() == 7
    count.set_value(3.0)
    assert count.get_value() == 3
    weights = symc.shared(np.zeros(2, "float32"), name="weights")
    weights.set_value([0.1, 1])  # literals round, as arguments do
    assert weights.get_value()[0] == np.float32(0.1)


def test_settings_of_a_block_are_put_back_when_one_is_wrong() -> None:
    with pytest.raises(ValueError, match="floatX"), symc.config.set(threads=3, floatX="int8"):
        pass
    assert symc.config.threads != 3


def test_to_numpy_of_a_dtype() -> None:
    assert [to_numpy(t) for t in NUMPYS] == [np.dtype(t) for t in NUMPYS]
