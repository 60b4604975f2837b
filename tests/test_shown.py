"""symc at a prompt: formulas, help, completion, and the list of the cache."""

from __future__ import annotations

import importlib
import inspect
import pydoc
import rlcompleter
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import symc
import symc.cuda
import symc.sympy
import symc.tensor as T
import symc.testing
from symc.__main__ import main

x, m = T.vector("x"), T.matrix("m", shape=(None, 3))


# --- repr -----------------------------------------------------------------------------------------


def test_the_repr_of_an_expression_is_its_formula() -> None:
    """It was ``<add float64[x.shape[0]]>``."""
    assert repr(x) == "<x float64[x.shape[0]]>"
    assert repr(T.exp(x) + 1) == "<exp(x) + 1.0 float64[x.shape[0]]>"
    assert repr(m.sum(axis=0)) == "<sum(m, axis=0) float64[3]>"
    assert repr(x.astype("int8")) == "<cast(x) int8[x.shape[0]]>"
    assert repr(T.constant([1, 2])) == "<constant int64[2]>"
    assert repr(T.constant(3)) == "<3 int64[]>"
    assert repr(symc.shared(np.ones(2), name="w")) == "<w float64[2]>"
    y = (x**2).sum()
    y.name = "y"
    assert repr(y) == "<y = sum(x**2) float64[]>"
    assert repr(y + 1) == "<y + 1.0 float64[]>"


def test_the_repr_of_a_large_expression_is_short() -> None:
    y: Any = x
    for _ in range(2000):
        y = T.tanh(y) * x + y
    wide = T.concatenate([T.concatenate([y] * 50)] * 50)
    for node in (y, wide, symc.grad(y.sum(), x), symc.scan(lambda a: a + y[0], x)[0]):
        assert len(repr(node)) < 60 + len(str(node.type)) + 4


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "reshape", "mean", "clip", "eval", "dot", "set"])
def test_help_of_a_method_is_the_methods(name: str) -> None:
    """It was that of `functools.partial`."""
    part = x[:2] if name == "set" else x
    method = getattr(part, name)
    assert method.__name__ != "partial"
    assert method.__doc__
    assert "partial" not in pydoc.render_doc(method)
    assert next(iter(inspect.signature(method).parameters), "") != "x"


def test_signatures_are_those_of_the_functions() -> None:
    assert list(inspect.signature(x.sum).parameters) == ["axis", "dtype", "keepdims"]
    assert list(inspect.signature(T.sum).parameters) == ["x", "axis", "dtype", "keepdims"]
    assert list(inspect.signature(T.maximum).parameters) == ["x", "y"]
    assert list(inspect.signature(T.exp).parameters) == ["x"]
    assert list(inspect.signature(symc.function).parameters)[:2] == ["inputs", "outputs"]


@pytest.mark.parametrize(
    "thing", [x, T, symc, symc.function, T.sum, T.nnet, T.random.RandomStream, x + 1],
    ids=lambda thing: getattr(thing, "__name__", repr(thing)),
)  # fmt: skip
def test_help_can_be_had_of_everything(thing: Any) -> None:
    text = pydoc.plain(pydoc.render_doc(thing))
    assert "partial" not in text.split("\n")[0]
    assert len(text) > 200


def test_help_says_where_a_function_is_found() -> None:
    assert "in module symc.tensor" in pydoc.render_doc(T.sum)
    assert "in module symc" in pydoc.render_doc(symc.function)
    assert T.cast.__name__ == "cast"


# --- completion -----------------------------------------------------------------------------------

SHOWN: dict[str, Any] = {
    "symc": symc, "T": T, "nnet": T.nnet, "linalg": T.linalg, "fft": T.fft, "random": T.random,
    "optim": symc.optim, "distributed": symc.distributed, "debug": symc.debug,
    "cuda": symc.cuda, "sympy": symc.sympy, "errors": symc.errors, "testing": symc.testing,
}  # fmt: skip
PUBLIC_MODULES = {
    "cuda", "dask", "debug", "distributed", "errors", "fft", "linalg", "nets", "nnet", "opencl",
    "optim", "random", "sparse", "sympy", "tensor", "testing",
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_completion_shows_what_is_public(name: str) -> None:
    """`symc.debug.<tab>` offered `Mapping`, `walk`, `sys`; `symc.cuda.<tab>` modules."""
    for inner in (
        "symc.lower.lower",
        "symc.calls.call",
        "symc.cuda.graphs",
        "symc.tensor.nnet.geometry",
    ):
        importlib.import_module(inner)  # imported names are not shown
    module = SHOWN[name]
    found = [one for one in dir(module) if not one.startswith("__")]
    assert found
    assert not [one for one in found if one.startswith("_")]
    modules = {one for one in found if isinstance(getattr(module, one), ModuleType)}
    assert modules <= PUBLIC_MODULES
    foreign = {
        one
        for one in set(found) - modules
        if not str(getattr(getattr(module, one), "__module__", "symc")).startswith("symc")
        and isinstance(getattr(module, one), type)
    }
    assert not foreign
    completer = rlcompleter.Completer({"it": module})
    offered = set()
    for state in range(2 * len(found) + 50):
        text = completer.complete("it.", state)
        if text is None:
            break
        offered.add(text.removeprefix("it.").rstrip("()"))
    assert set(found) <= offered
    assert not [one for one in offered - set(found) if not one.startswith("__")]


def test_completion_of_tensors_and_functions() -> None:
    offered = {one for one in dir(x) if not one.startswith("_")}
    assert {"sum", "mean", "sort", "T", "shape", "eval", "dtype"} <= offered
    assert all(hasattr(m, one) for one in offered - {"set", "inc", "name"})
    f = symc.function([x], x, mode="python")
    assert {"source", "graph", "explain", "report"} <= set(dir(f))
    assert not {"request", "runner", "form"} & set(dir(f))


# --- the command line -----------------------------------------------------------------------------


def test_the_cache_lists_functions_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    """It listed keys and files alone."""
    y = T.vector("y")
    symc.function([x, y], T.exp(x) * y - 0.125, name="a_function_to_be_listed")([1.0], [2.0])
    assert main(["cache", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith("  a_function_to_be_listed(x, y)") for line in lines)


def test_commands_that_are_mistyped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctr"]) == main(["cache", "lsit"]) == main(["nothing"]) == 2
    said = capsys.readouterr().err
    assert "symc: no command 'doctr'; did you mean 'doctor'?" in said
    assert "symc cache: no command 'lsit'; did you mean 'list'?" in said
    assert "'nothing'; there are doctor, compile" in said


def test_there_is_a_console_command() -> None:
    root = Path(__file__).parent.parent
    with (root / "pyproject.toml").open("rb") as file:
        module, _, function = tomllib.load(file)["project"]["scripts"]["symc"].partition(":")
    assert getattr(importlib.import_module(module), function) is main
    program = f"import sys; from {module} import {function}; sys.exit({function}(['--version']))"
    printed = subprocess.check_output([sys.executable, "-c", program], text=True, cwd=root)
    assert printed.startswith("symc ")
