"""What help says of a public name: what it is, of what shapes and dtypes, and an example."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import symc
from symc.graph.registry import import_all
from tests.examples import examples_of, public_callables
from tests.test_exports import module_names
from tests.test_shown import PUBLIC_MODULES

OF_TENSORS = ("fft", "linalg", "nnet", "random", "sparse")
MODULES: dict[str, ModuleType] = {"symc": symc}
for _name in sorted(PUBLIC_MODULES):
    _package = "symc.tensor" if _name in OF_TENSORS else "symc"
    MODULES[_name] = importlib.import_module(f"{_package}.{_name}")
import_all()
CALLABLES = public_callables(MODULES)

# Words of the kind that a reader looks for: what goes in, what comes out, what is refused.
WORDS = re.compile(
    r"Elementwise|Raises?\b|dtype|(?:u?int|float|complex)(?:\d+|s\b)|\bbool|integer|\baxe?i?s\b|shape"
    r"|length|scalar|vector|matri|tensor|array|element|\bbytes?\b|`Function`|\bNone\b|\bTrue\b",
)


def plain(doc: str) -> str:
    """A docstring without its examples."""
    return re.split(r"^>>> ", doc, maxsplit=1, flags=re.MULTILINE)[0].strip()


def takes_something(value: Any) -> bool:
    if inspect.isclass(value):
        return False
    try:
        return bool(inspect.signature(value).parameters)
    except ValueError:
        return True


def faults(value: Any) -> list[str]:
    """What the docstring of a callable lacks."""
    doc = inspect.getdoc(value) or ""
    text = plain(doc)
    found: list[str] = []
    if not re.match(r"\S.*?[.:]($|\s)", text, re.DOTALL):
        found.append("no summary sentence")
    if len(text) < 60:
        found.append(f"only {len(text)} characters")
    if takes_something(value) and not WORDS.search(text):
        found.append("no word of shapes, dtypes or errors")
    if ">>> " not in doc:
        found.append("no example")
    return found


@pytest.mark.parametrize("module", MODULES)
def test_help_says_what_it_is_and_shows_it(module: str) -> None:
    """506 of 698 public names had no example, 152 fewer than 60 characters."""
    found = {name: faults(each) for name, each in CALLABLES.items() if is_of(name, module)}
    lacking = [f"{name}: {', '.join(said)}" for name, said in found.items() if said]
    assert not lacking, f"{len(lacking)} of {len(found)}:\n" + "\n".join(lacking)


INNER = {
    "Device": (
        "allocate", "failure", "give_stream_back", "later", "load", "open_blas", "order", "report",
        "sweep", "take_stream", "use_blas",
    ),
    "Function": ("adopt", "arguments", "runner"),
    "SparseMatrix": ("kind", "parts", "returned"),
}  # fmt: skip
"""Methods without an underscore that only other files of symc call."""


def methods_of(name: str, kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines itself."""
    inner = INNER.get(kind.__name__, ())
    for method, value in sorted(vars(kind).items()):
        found = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not method.startswith("_") and method not in inner and inspect.isfunction(found):
            yield f"{name}.{method}", found


def test_methods_have_examples() -> None:
    """90 of 132 had none."""
    classes = [(name, each) for name, each in CALLABLES.items() if inspect.isclass(each)]
    methods = [found for name, each in classes for found in methods_of(name, each)]
    assert len(methods) > 100
    lacking = [name for name, each in methods if ">>> " not in (inspect.getdoc(each) or "")]
    assert not lacking, f"{len(lacking)} of {len(methods)}:\n" + "\n".join(lacking)


def is_of(name: str, module: str) -> bool:
    return name.rpartition(".")[0] == module


def test_examples_that_help_shows_are_run() -> None:
    """Those of functions made from rows were not."""
    run = {
        test.docstring
        for name in module_names()
        for test in examples_of(importlib.import_module(name))
    }
    shown = {
        name: value.__doc__ for name, value in CALLABLES.items() if ">>>" in (value.__doc__ or "")
    }
    assert not [name for name, doc in shown.items() if doc not in run]


def test_faults_are_found() -> None:
    def bare(x: Any) -> Any:
        """Does it."""

    assert faults(bare) == [
        "only 8 characters",
        "no word of shapes, dtypes or errors",
        "no example",
    ]
