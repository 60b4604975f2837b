"""`methods.pyi`, which type checkers read, says what the methods of tensors take."""

from __future__ import annotations

import ast
import inspect

import symc.tensor as T
from symc.graph.methods import METHOD_NAMES, METHODS, PROPERTIES, PROPERTY_NAMES
from symc.graph.node import Tensor
from symc.graph.registry import import_all
from tests.method_stubs import PLACE, stub


def test_the_stub_is_made_from_the_functions() -> None:
    written = ast.dump(ast.parse(PLACE.read_text(encoding="utf-8")))
    assert written == ast.dump(ast.parse(stub())), "run python -m tests.method_stubs --write"


def test_the_names_are_those_of_the_tables() -> None:
    import_all()
    assert set(METHOD_NAMES) == set(METHODS)
    assert set(PROPERTY_NAMES) == set(PROPERTIES)


def test_methods_are_attributes_of_the_class() -> None:
    x = T.matrix("x")
    assert inspect.signature(Tensor.sum) == inspect.signature(T.sum)
    assert list(inspect.signature(x.sum).parameters) == ["axis", "dtype", "keepdims"]
    assert str(Tensor.sum.__doc__).startswith("The sum along axes")
    assert str(vars(Tensor.__mro__[1])["mT"].__doc__) == (
        "The transposes of the matrices on the last two axes."
    )
    assert Tensor.sum(x) is x.sum() is T.sum(x)
