"""Imports point down, C stays where C belongs, and files stay short: read from the sources."""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from symc.pipeline.identity import ONLY_ASK

ROOT = Path(__file__).parent.parent
PACKAGES = {"symc": "symc", "codegen": "symc.codegen", "cache": "symc.cache"}
TOP_FOLDERS = ("symc", "codegen", "cache", "tests", "benchmarks")

# The packages inside symc, from the lowest floor to the highest. A module may import those of its
# own floor and of lower ones. Files in `symc/` itself are named by file; "" is `symc/__init__.py`.
FLOORS = (
    ("errors", "config", "version", "_build"),
    ("graph",),
    ("tensor",),
    ("derivatives",),
    ("loops",),
    ("rewrite",),
    ("schedule",),
    ("lower",),
    ("pipeline",),
    ("calls",),
    ("cuda",),
    ("checking",),
    (
        "dask",
        "debug",
        "distributed",
        "measure",
        "opencl",
        "optim",
        "saved",
        "show",
        "sympy",
        "testing",
    ),
    ("user",),
    ("", "__main__", "commands", "demo", "nets", "pytensor", "theano"),
)

# (importer, imported) that point up, and why. All must be imports inside functions.
EXCEPTIONS = {
    ("symc.tensor", "symc.derivatives.vectorize"): "T has NumPy's vectorize, which batches graphs",
    ("symc.tensor", "symc.derivatives.grad"): "T has Theano's names of derivatives",
    ("symc.tensor.signals", "symc.loops.branch"): "convolve is slow only where it must be",
    ("symc.tensor.polynomials", "symc.loops.repeat"): "polynomials of any degree need a loop",
    ("symc.sympy.own_functions", "symc.user.python_op"): "a function of numbers becomes an op",
    ("symc.config", "symc.graph.other_libraries"): "what Theano's settings are called here",
}

# Only these may use packages that are neither in the standard library nor symc's own.
OUTSIDE = {
    "symc": {"numpy"},
    "symc._build": {"numpy", "setuptools"},
    "symc.graph.bfloat16": {"numpy", "ml_dtypes"},
    "symc.calls": {"numpy", "typing_extensions"},  # that for type checkers, which have it
    "symc.commands": {"numpy", "tqdm"},
    "symc.dask": {"numpy", "dask"},
    "symc.demo": {"numpy", "tqdm"},
    "symc.nets": {"numpy"},
    "symc.pytensor": {"numpy", "pymc", "pytensor"},
    "symc.sympy": {"numpy", "sympy"},
    "symc.codegen": set[str](),
    "symc.codegen.targets": {"cffi", "_cffi_backend", "scipy_openblas32", "cuda", "mpi4py"},
    "symc.cache": {"platformdirs"},
}


@dataclass(frozen=True)
class Arrow:
    """One import: who, whom, and where it stands."""

    importer: str
    imported: str
    line: int
    at_import: bool

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}: imports {self.imported}"


def sources(*folders: str) -> list[Path]:
    """All Python files below these folders; links are not followed."""
    return sorted(p for folder in folders for p in (ROOT / folder).rglob("*.py") if _own(p))


def _own(path: Path) -> bool:
    return not any(parent.is_symlink() for parent in path.relative_to(ROOT).parents)


def module_name(path: Path) -> str:
    first, *rest = path.relative_to(ROOT).with_suffix("").parts
    return ".".join([PACKAGES[first], *rest]).removesuffix(".__init__")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def modules() -> dict[str, Path]:
    found = [p for p in sources(*PACKAGES) if not (ROOT / p.parent).is_symlink()]
    return {module_name(path): path for path in found}


@cache
def arrows() -> list[Arrow]:
    return [arrow for name, path in modules().items() for arrow in arrows_of(name, path)]


def arrows_of(name: str, path: Path) -> Iterator[Arrow]:
    for node, at_import in imports_in(tree_of(path).body, at_import=True):
        match node:
            case ast.Import():
                found = [alias.name for alias in node.names]
            case ast.ImportFrom(level=0, module=str(module)):
                found = [_target(module, alias.name) for alias in node.names]
            case _:
                raise AssertionError(f"{path}:{node.lineno}: imports are absolute")
        for target in found:
            yield Arrow(name, target, node.lineno, at_import)


def imports_in(
    body: Iterable[ast.AST], *, at_import: bool
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports among statements, and whether each runs when the module is imported."""
    for stmt in body:
        here = at_import
        match stmt:
            case ast.Import() | ast.ImportFrom():
                yield stmt, at_import
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                here = False
            case ast.If(ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                here = False
            case _:
                pass
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from imports_in(getattr(stmt, part, ()), at_import=here)


def _target(module: str, name: str) -> str:
    whole = f"{module}.{name}"
    return whole if whole in modules() or whole == "symc.calls._call" else module


def room(module: str) -> str:
    """The package of symc's, or the file beside those, that a module belongs to."""
    return module.removeprefix("symc").removeprefix(".").partition(".")[0]


def floor(module: str) -> int:
    for number, names in enumerate(FLOORS):
        if room(module) in names:
            return number
    raise AssertionError(f"{module} stands on no floor: put its package into FLOORS of {__file__}")


def package(module: str) -> str:
    """The part of symc that a module belongs to: symc.codegen, symc.cache or symc."""
    for part in ("symc.codegen", "symc.cache"):
        if module == part or module.startswith(f"{part}."):
            return part
    return "symc"


def is_ours(module: str) -> bool:
    return module.split(".")[0] == "symc"


def report(problems: list[str], rule: str) -> None:
    assert not problems, rule + "\n  " + "\n  ".join(problems)


def test_codegen_and_cache_know_only_themselves() -> None:
    wrong = [
        str(arrow)
        for arrow in arrows()
        if is_ours(arrow.imported)
        and package(arrow.importer) != "symc"
        and package(arrow.imported) != package(arrow.importer)
    ]
    report(wrong, "symc.codegen and symc.cache import neither symc nor each other:")


def test_only_allowed_packages_are_used() -> None:
    wrong: list[str] = []
    for arrow in arrows():
        first = arrow.imported.split(".")[0]
        if is_ours(arrow.imported) or first in sys.stdlib_module_names:
            continue
        parts = arrow.importer.split(".")
        names = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
        allowed = next(OUTSIDE[name] for name in names if name in OUTSIDE)
        if first not in allowed:
            wrong.append(str(arrow))
    report(wrong, "packages are imported where OUTSIDE does not allow them:")


def test_imports_inside_symc_point_down() -> None:
    wrong: list[str] = []
    used: set[tuple[str, str]] = set()
    for arrow in arrows():
        if package(arrow.importer) != "symc" or package(arrow.imported) != "symc":
            continue
        if not is_ours(arrow.imported) or floor(arrow.imported) <= floor(arrow.importer):
            continue
        pair = (arrow.importer, arrow.imported)
        used.add(pair)
        if pair not in EXCEPTIONS or arrow.at_import:
            wrong.append(str(arrow))
    report(wrong, "imports that point up:")
    report([str(p) for p in EXCEPTIONS if p not in used], "EXCEPTIONS that nothing needs:")


def test_what_keys_leave_out_decides_nothing_that_is_compiled() -> None:
    """The keys of compiled functions know no files of these packages."""
    wrong = [
        str(arrow)
        for arrow in arrows()
        if room(arrow.imported) in ONLY_ASK
        and package(arrow.imported) == package(arrow.importer) == "symc"
        and room(arrow.importer) not in {*ONLY_ASK, "", "__main__", "debug"}
    ]
    report(wrong, "packages that keys of compiled functions leave out are imported:")


def test_folders_of_passes_import_only_those_below() -> None:
    below = ("expressions", "loops", "vectors", "kernels", "steps")
    for arrow in arrows():
        ours, theirs = (
            name.removeprefix("symc.codegen.passes.").partition(".")[0]
            for name in (arrow.importer, arrow.imported)
        )
        if ours in below and theirs in below:
            assert below.index(theirs) <= below.index(ours), arrow


def test_only_libraries_know_both_codegen_and_cache() -> None:
    users = {a.importer for a in arrows() if package(a.imported) == "symc.cache"}
    users = {name for name in users if package(name) == "symc"}
    libraries = {"symc.pipeline.library", "symc.pipeline.objects", "symc.cuda.functions"}
    assert users <= {*libraries, "symc.__main__"}


def test_every_module_has_a_floor() -> None:
    for name in modules():
        if package(name) == "symc":
            floor(name)


def test_no_module_needs_itself() -> None:
    """Follows the imports that run when a module is imported; a cycle would break one order."""
    graph: dict[str, list[str]] = {name: [] for name in modules()}
    for arrow in arrows():
        if arrow.at_import and arrow.imported in graph and arrow.imported != arrow.importer:
            graph[arrow.importer].append(arrow.imported)
    done: set[str] = set()
    for start in graph:
        path: list[str] = []
        pending = [(start, iter(graph[start]))]
        while pending:
            name, rest = pending[-1]
            path = [entry for entry, _ in pending]
            following = next((n for n in rest if n not in done), None)
            assert following not in path, f"a cycle of imports: {path} -> {following}"
            if following is None:
                done.add(name)
                pending.pop()
            else:
                pending.append((following, iter(graph[following])))


# --- C belongs in emitter, targets and runtime ----------------------------------------------------

C_ALLOWED = re.compile(r"codegen/(emit|targets|runtime)/.*")
C_TEXT = re.compile(
    r"^\s*#\s*(include|define|pragma|ifdef|endif)\b|[\w)\]]\s*;\n|[)=]\s*\{\s*$|\b(for|while) \(.*;"
    r"|\bstatic (inline|const)\b|\b(int|int64_t|float|double|void)\b \*?\w+( =|\()",
    re.MULTILINE,
)


def strings_of(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a file that are neither docstrings nor the C of an elementwise row."""
    tree = tree_of(path)
    doc = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    doc |= {
        id(node.args[2])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "elementwise"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in doc:
            yield node.lineno, node.value


def test_no_c_in_python_strings() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.strip()[:60]!r}"
        for path in sources(*PACKAGES)
        if not C_ALLOWED.fullmatch(path.relative_to(ROOT).as_posix())
        for line, text in strings_of(path)
        if C_TEXT.search(text)
    ]
    report(found, "C in strings, outside of the emitter, targets, runtime and elementwise rows:")


# --- text is written once and not read back -------------------------------------------------------

WRITERS = re.compile(
    r"codegen/(emit|targets/host)/.*|codegen/targets/(cuda/host|c_source|export)\.py"
)
TEXTS = {"text", "body", "source", "lines", "made"}


def _reads_text(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name == "re" for alias in names)
        case ast.ImportFrom(module="re"):
            return True
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(name)]):
            return name in TEXTS
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute(attr=name)]):
            return name in TEXTS
        case _:
            return False


def test_no_emitter_reads_its_own_text() -> None:
    """All that an emitter must know is settled on nodes before it prints."""
    found = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)}"
        for path in sources("codegen")
        if WRITERS.fullmatch(path.relative_to(ROOT).as_posix())
        for node in ast.walk(tree_of(path))
        if _reads_text(node)
    ]
    report(found, "emitters that look for something in text:")


# --- size, and forbidden words --------------------------------------------------------------------


CODE = ("*.py", "*.pyi", "*.c", "*.h", "*.cu", "*.cuh", "*.clh", "*.css", "*.js")


def test_files_are_at_most_500_lines_and_half_of_them_180() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for folder in TOP_FOLDERS
        for pattern in CODE
        for path in (ROOT / folder).rglob(pattern)
        if _own(path) and "golden" not in path.parts  # made, not written
    }
    report([f"{n}: {k} lines" for n, k in lengths.items() if k > 500], "files over 500 lines:")
    assert statistics.median(lengths.values()) <= 180


def test_functions_are_at_most_60_lines() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has {length} lines"
        for path in sources(*TOP_FOLDERS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1 - _docstring(node)) > 60
    ]
    report(found, "functions over 60 lines, docstrings not counted:")


def _docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    match node.body[0]:
        case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=int(last)):
            return last - first + 1
        case _:
            return 0


NAMED_FILE = re.compile(r"`((?:\w+/)*\w+\.(?:py|h|c|cuh|clh|table))`")
NOT_OURS = {"c/NAME.c", "function.c"}  # a pattern, and the file in the cache


def test_files_that_comments_name_are_there() -> None:
    """`verify.py` was named by five files when there was none of that name any more."""
    kinds = ("*.py", "*.h", "*.c", "*.cuh", "*.clh", "*.table")
    ours = [path for top in TOP_FOLDERS for kind in kinds for path in (ROOT / top).rglob(kind)]
    known = [f"/{path.relative_to(ROOT).as_posix()}" for path in ours]
    texts = [*ours, *(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {name}"
        for path in texts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for name in NAMED_FILE.findall(line)
        if name not in NOT_OURS and not any(one.endswith(f"/{name}") for one in known)
    ]
    report(found, "files are named that are not there:")


MACHINE_PATH = re.compile(r"(?<![\w./<~])/(?:work|root|home|Users|tmp)/\w")
TEXT_FILES = (
    "*.py",
    "*.pyi",
    "*.h",
    "*.cuh",
    "*.clh",
    "*.c",
    "*.md",
    "*.toml",
    "*.ipynb",
    "*.txt",
    "*.sh",
)


@pytest.mark.parametrize("folder", [*TOP_FOLDERS, "notebooks", "docs", "scripts", ".ci", "."])
def test_no_paths_of_one_machine(folder: str) -> None:
    top = ROOT / folder
    if folder == ".":
        files = [p for p in top.iterdir() if p.is_file() and p.name != ".git"]  # a worktree has one
    elif folder in ("scripts", ".ci"):
        files = [p for p in top.rglob("*") if p.is_file()]
    else:
        files = [p for pattern in TEXT_FILES for p in top.rglob(pattern) if _own(p)]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    report(found, "paths of one machine:")
