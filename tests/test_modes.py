"""Modes: which there are, that they agree, and nanguard's messages."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.calls.modes import MODES
from symc.errors import NotFinite

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((5, 4)), RNG.standard_normal(4)
K = np.array([3, 0, 2, 3])

# Each from a matrix x, a vector y as long as its rows, and indexes k of rows.
GRAPHS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "elementwise": lambda x, y, k: T.tanh(x) * y + T.exp(-x * x),
    "softmax": lambda x, y, k: T.softmax(x, axis=1),
    "log softmax": lambda x, y, k: T.log(T.softmax(x, axis=1)),
    "log sum exp": lambda x, y, k: T.log(T.exp(x * 300).sum(axis=1)),
    "log sigmoid": lambda x, y, k: T.log(T.sigmoid(x * 900)),
    "log 1 + exp": lambda x, y, k: T.log(1 + T.exp(x * 900)),
    "log1p": lambda x, y, k: T.log(1 + x * 1e-18),
    "expm1": lambda x, y, k: T.exp(x * 1e-18) - 1,
    "product": lambda x, y, k: x @ x.T + x @ y[:, None],
    "folds": lambda x, y, k: [x.sum(), x.max(axis=0), x.var(axis=1), x.argmax(axis=1)],
    "views": lambda x, y, k: x.T[::-1, 1:].reshape((-1,)),
    "gather": lambda x, y, k: x[k] * y,
    "scatter": lambda x, y, k: x[k].inc(y) + x[1:3].set(0.0),
    "mask": lambda x, y, k: x[x > 0],
    "sweep": lambda x, y, k: T.cumsum(x, axis=1)[::-1],
    "integers": lambda x, y, k: [k // 2, k % 2, k**2, (k > 1).sum()],
    "gradient": lambda x, y, k: symc.grad((T.softmax(x @ y) ** 2).sum(), [x, y]),
    "hessian": lambda x, y, k: symc.hessian((T.tanh(y) * y).sum(), y),
    "cases": lambda x, y, k: T.where(x > 0, T.sqrt(x), 0.0),
}


NOT_FINITE_ON_THE_WAY = ("cases", "log sum exp", "log sigmoid", "log 1 + exp")


@pytest.mark.parametrize("case", GRAPHS)
def test_modes_agree(case: str) -> None:
    x, y, k = T.matrix("x"), T.vector("y"), T.lvector("k")
    results = GRAPHS[case](x, y, k)
    outputs = list(results) if isinstance(results, list) else [results]
    values = {
        mode: symc.function([x, y, k], outputs, mode=mode, on_unused_input="ignore")(X, Y, K)
        for mode in MODES
        if mode != "nanguard" or case not in NOT_FINITE_ON_THE_WAY
    }  # fmt: skip
    for mode, got in values.items():
        for value, wanted in zip(got, values["default"], strict=True):
            assert value.dtype == wanted.dtype, mode
            assert value.shape == wanted.shape, mode
            assert np.isfinite(value).all(), mode
            np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-15, err_msg=mode)


@pytest.mark.parametrize(
    ("name", "mode"),
    [("FAST_RUN", "default"), ("Mode", "default"), ("FAST_COMPILE", "compile"), ("py", "python"),
     ("NanGuardMode", "nanguard"), *((mode, mode) for mode in MODES)],
)  # fmt: skip
def test_names_of_modes(name: str, mode: str) -> None:
    x = T.vector("x")
    f = symc.function([x], x * 2, mode=name)
    assert f.mode == mode
    assert f([1.0]).tolist() == [2.0]
    with symc.config.set(mode=name):
        assert symc.function([x], x).mode == mode
        assert symc.function([x], x, mode="default").mode == "default"
    assert symc.function([x], x).mode == "default"
    with pytest.raises(ValueError, match="'nanguard'"):
        symc.function([x], x, mode=name + "?")


def test_only_fast_may_drop_nan() -> None:
    x = T.vector("x")
    odd = np.array([np.nan, np.inf, 1.0])
    for mode in ("default", "compile", "python"):
        assert np.isnan(symc.function([x], x * 0 + (x - x), mode=mode)(odd)[:2]).all()


NANS: dict[str, tuple[Callable[[Any], Any], list[float], str]] = {
    "log": (lambda x: T.log(x).sum(), [1.0, -1.0], r"log gave NaN\n.*log .*{line}\n.*x .*{line}"),
    "division": (lambda x: (1 / (x - 1)).sum(), [1.0, 2.0], r"gave an infinity\n.*{line}"),
    "overflow": (lambda x: T.exp(x * 1000) * 0, [1.0], r"exp gave an infinity\n.*exp .*{line}"),
    "input": (lambda x: x + 1, [np.nan], r"the input x has NaN\n.*x .*{line}"),
    "0 * inf": (lambda x: T.where(x > 0, x, 0) * T.exp(x * 800), [9.0], r"exp gave an infinity"),
    "both": (lambda x: T.log(x - 1), [1.0, 0.0], r"gave NaN"),
}


@pytest.mark.parametrize("case", NANS)
def test_nanguard_names_the_op_and_the_line(case: str) -> None:
    build, value, message = NANS[case]
    x, w = T.vector("x"), symc.shared(1.0, name="w")
    f = symc.function([x], build(x), updates=[(w, w + x.sum())], mode="nanguard")
    pattern = message.replace("{line}", r"test_modes\.py:\d+")
    with np.errstate(all="ignore"), pytest.raises(NotFinite) as caught:
        f(value)
    assert isinstance(caught.value, FloatingPointError)
    assert re.search(pattern, str(caught.value)), str(caught.value)
    assert w.get_value() == 1.0
    f(np.full(len(value), 0.25) * (8 if case in ("both", "log") else 1) + (case == "both"))


def test_nanguard_lets_pass_what_was_written_so() -> None:
    """NaN in a median's definition, and infinities that fill or mask, were taken for mistakes."""
    x = T.matrix("x")
    scores = T.where(T.eye(4, dtype="bool"), x[:4] @ x[:4].T, -np.inf)
    outputs = [
        T.median(x), T.quantile(x, 0.3, axis=1), T.softmax(scores), T.maximum(x, -np.inf),
        T.nnet.max_pool1d(x[None], 3, padding=1), T.linalg.norm(x, np.inf),
        T.nnet.attention(x, x, x, mask=T.eye(5, dtype="bool")),
    ]  # fmt: skip
    f = symc.function([x], outputs, mode="nanguard")
    assert all(np.isfinite(value).all() for value in f(X))
    for build in (
        lambda x: T.where(x > 0, x, np.nan),
        lambda x: x[:, 0] - T.constant(np.inf) + np.inf,
    ):
        with np.errstate(all="ignore"), pytest.raises(NotFinite, match="gave NaN"):
            symc.function([x], build(x), mode="nanguard")(X)


def test_nanguard_looks_at_new_values_too() -> None:
    w = symc.shared(np.array([1e308]), name="w")
    f = symc.function([], [], updates=[(w, w * 2)], mode="nanguard")
    with np.errstate(all="ignore"), pytest.raises(NotFinite, match="mul"):
        f()
    assert w.get_value() == 1e308


@pytest.mark.filterwarnings("error")
def test_the_interpreter_does_not_warn() -> None:
    """Wherever compiled code is silent, the interpreter is."""
    x, k = T.vector("x"), T.lvector("k")
    outputs = [
        T.log(x), 1 / x, T.exp(x * 1e5), T.sqrt(x), x[:0].mean(), k * (1 << 62), x // 0.0, x % 0.0,
        T.cast(x, "int32"), T.arcsin(x * 3), x**0.5, T.cast(x * 1e300, "float32"),
    ]  # fmt: skip
    values = np.array([-1.0, 0.0, 2.0, np.inf, np.nan]), np.array([5, -7])
    for mode in ("default", "python"):
        symc.function([x, k], outputs, mode=mode)(*values)


INTERPRETED = """
import sys
import numpy, symc, symc.tensor as T
x = T.vector("x")
y = symc.function([x], T.log(1 + T.exp(x)), mode="python")(numpy.array([800.0]))
assert y.tolist() == [800.0], y
late = {"symc.codegen.values", "symc.codegen.statements", "symc.loops.scan", "symc.loops.branch"}
assert not late & {*sys.modules}, late & {*sys.modules}
"""


def test_interpreted_calls_import_no_loops() -> None:
    """Conditions named a type of the loop IR, and the rules that keep digits looked into loops."""
    subprocess.run([sys.executable, "-c", INTERPRETED], check=True)
