"""Public names: exactly those listed, explained, with examples that run; and a light import."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import symc
import symc.tensor
from symc import errors
from symc.cache import errors as cache_errors
from symc.codegen import errors as codegen_errors
from symc.tensor import catalogue
from tests.examples import examples_of

ROOT = Path(__file__).parent.parent
SKIPPED = {"symc._build", "symc.calls._call"}  # needs setuptools; is C

# Imported by `import symc`, these would make it slow, or do something before they are asked to.
HEAVY = {
    "argparse", "asyncio", "cffi", "_cffi_backend", "ctypes", "cuda", "dataclasses", "hashlib",
    "inspect", "json", "logging", "multiprocessing", "numpy.typing", "pathlib", "platformdirs",
    "scipy_openblas32", "shutil", "subprocess", "sympy", "tempfile", "tqdm",
    "symc.calls._call", "symc.calls.call", "symc.pipeline.compile", "symc.cuda", "symc.debug",
    "symc.demo", "symc.lower", "symc.schedule", "symc.rewrite", "symc.cache",
    "symc.codegen.emit.program", "symc.codegen.statements", "symc.codegen.values",
    "symc.codegen.passes", "symc.codegen.runtime", "symc.codegen.targets", "symc.codegen.text",
    "symc.codegen.verify.program", "symc.codegen.meaning.interpret",
}  # fmt: skip


def module_names() -> list[str]:
    found = pkgutil.walk_packages(symc.__path__, "symc.")
    names = [info.name for info in found if not info.name.endswith("__main__")]
    if find_spec("pytensor") is None:
        names = [name for name in names if not name.startswith("symc.pytensor")]
    return ["symc", *sorted(set(names) - SKIPPED)]


def public_names(module: ModuleType) -> set[str]:
    """Names without an underscore, submodules left out unless they are listed."""
    listed: set[str] = set(vars(module).get("__all__", ()))
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (name in listed or not (isinstance(value, ModuleType) and _is_part(module, value)))
        and name != "annotations"
    }


def _is_part(module: ModuleType, value: ModuleType) -> bool:
    return value.__name__.startswith(f"{module.__name__}.")


def test_all_is_exactly_the_public_names() -> None:
    listed: list[str] = list(symc.__all__)
    assert len(listed) == len(set(listed)), "listed twice"
    late = set(vars(symc)["_LATE"])  # stand in the module once they have been asked for
    assert set(listed) - late == public_names(symc) - late


def test_what_the_first_lines_advertise_is_there() -> None:
    """`symc.testing` was named there, and raised AttributeError unless it had been imported."""
    advertised = set(re.findall(r"`symc\.(\w+)`", symc.__doc__ or ""))
    assert {"testing", "debug"} <= advertised
    assert advertised <= {*symc.__all__, *vars(symc)["_MODULES"], *vars(symc)["_LATE"]}


@pytest.mark.parametrize("module", sorted(set(catalogue.functions()) - {"symc.derivatives.grad"}))
def test_the_catalogue_reads_what_modules_list(module: str) -> None:
    assert catalogue.functions()[module] == importlib.import_module(module).__all__


def test_the_catalogue_knows_what_imported_modules_enter_into_tables() -> None:
    """An operator or method is found in a process that has not yet imported its module."""
    code = (
        "import sys, symc.tensor as T; from symc.graph.registry import import_all, provider;"
        "from symc.graph.node import METHODS, OPERATORS; early = {*METHODS, *OPERATORS};"
        "import_all(); names = {*METHODS, *OPERATORS} - early;"
        "print(*(name for name in names if provider(name) is None))"
    )
    missed = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert not missed


def test_type_checkers_import_every_module_of_the_catalogue() -> None:
    text = (ROOT / "symc" / "tensor" / "__init__.py").read_text(encoding="utf-8")
    imported = set(re.findall(r"^ *from (symc\.\S+) import \*$", text, re.MULTILINE))
    assert imported == set(catalogue.functions()) - {"symc.derivatives.grad"}


def test_no_module_takes_the_place_of_a_function() -> None:
    """`T.shape` is the function, though there is a module `symc.tensor.shape`."""
    for module in module_names():
        importlib.import_module(module)
    modules = {n for n in dir(symc.tensor) if isinstance(getattr(symc.tensor, n), ModuleType)}
    assert modules == set(vars(symc.tensor)["_MODULES"])


@pytest.mark.parametrize("module", [symc, symc.tensor], ids=["symc", "symc.tensor"])
def test_every_public_name_has_a_docstring(module: ModuleType) -> None:
    without = [
        name
        for name in dir(module)
        if not name.startswith("_")
        and not _is_data(getattr(module, name))
        and not (inspect.getdoc(getattr(module, name)) or "")
    ]
    assert not without, f"without a docstring: {', '.join(without)}"


def test_methods_of_late_modules_are_listed() -> None:
    code = "import symc.tensor as T; x = T.vector(); print({'sort', 'mean', 'set'} <= set(dir(x)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\n"


def _is_data(value: object) -> bool:
    return isinstance(value, float | int | str | tuple | None)


@pytest.mark.parametrize("name", [n for n in dir(symc) if inspect.isclass(getattr(symc, n))])
def test_public_methods_have_docstrings(name: str) -> None:
    cls = getattr(symc, name)
    without = [
        attribute
        for attribute, value in vars(cls).items()
        if not attribute.startswith("_")
        and (callable(value) or isinstance(value, property))
        and not inspect.getdoc(getattr(cls, attribute))
    ]
    assert not without, f"{name}: without a docstring: {', '.join(without)}"


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [errors, codegen_errors, cache_errors])
def test_the_docstring_draws_the_tree_of_errors(module: ModuleType) -> None:
    """Each class of the file is drawn, with the built-in error that it also is."""
    defined = {
        name: cls
        for name, cls in vars(module).items()
        if inspect.isclass(cls) and cls.__module__ == module.__name__
    }
    text = module.__doc__ or ""
    for name, cls in defined.items():
        line = next((line for line in text.splitlines() if re.search(rf"\b{name}\b", line)), None)
        assert line is not None, f"{name} is missing in the docstring of {module.__name__}"
        builtin = [base for base in cls.__bases__ if base.__module__ == "builtins"]
        if len(cls.__bases__) > 1:
            assert builtin[0].__name__ in line, f"{name} is a {builtin[0].__name__}: {line}"
    drawn = set(re.findall(r"[├└]── (\w+)", text))
    assert drawn <= set(defined), f"drawn but not defined: {drawn - set(defined)}"


@pytest.mark.parametrize("cls", [c for c in vars(errors).values() if inspect.isclass(c)])
def test_errors_are_built_in_errors_too(cls: type[Exception]) -> None:
    if cls is errors.SymcError:
        return
    assert issubclass(cls, errors.SymcError)
    assert [b for b in cls.__mro__ if b.__module__ == "builtins" and b not in Exception.__mro__]


# --- examples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", module_names())
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(name)
    monkeypatch.setattr(symc.config, "floatX", "float64")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with np.printoptions(legacy=False):
        for test in examples_of(module):
            runner.run(test)
    assert runner.summarize().failed == 0, "see the captured output"


# --- a light import -------------------------------------------------------------------------------


def test_import_symc_imports_little() -> None:
    program = (
        "import sys, json, numpy; before = set(sys.modules); import symc; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    # json and NumPy's own imports are there before; so look at a process without them, too.
    alone = "import sys, symc; print('\\n'.join(sys.modules))"
    numpy_alone = "import sys, numpy; print('\\n'.join(sys.modules))"
    new = set(json.loads(_run(program)))
    new |= set(_run(alone).split()) - set(_run(numpy_alone).split())
    heavy = {name for name in new if _is_heavy(name)}
    assert not heavy, f"import symc imports {', '.join(sorted(heavy))}"


def test_the_lists_of_functions_are_read_once() -> None:
    """They were read again for whoever asked `T` for a function before any operator."""
    program = (
        "import symc.tensor as T, symc.tensor.catalogue as c; "
        "T.softmax; T.vector('x') @ T.vector('y'); print(c.functions.cache_info().misses)"
    )
    assert _run(program) == "1\n"


def _is_heavy(name: str) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:count]) in HEAVY for count in range(1, len(parts) + 1))


def _run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["fft", "linalg", "nnet"])
def test_a_function_of_a_package_is_listed_in_its_own_module_alone(name: str) -> None:
    package = importlib.import_module(f"symc.tensor.{name}")
    parts = pkgutil.iter_modules(package.__path__, f"symc.tensor.{name}.")
    listed = [set(getattr(importlib.import_module(part.name), "__all__", ())) for part in parts]
    assert package.__all__ == dir(package) == sorted(set[str]().union(*listed))
    assert all(hasattr(package, each) for each in package.__all__)
    text = Path(str(package.__file__)).read_text(encoding="utf-8")
    assert not any(re.search(rf'"{each}"', text) for each in {*package.__all__} - {name})
