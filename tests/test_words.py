"""One word for one thing: no two classes share a name by accident, and no lines are copied."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.test_layers import PACKAGES, ROOT, modules, report, sources, tree_of

# Names that two classes have. `symc/theano/` is left out: it has Theano's names.
SHARED = {
    "Call": "a function on arguments: of numbers in the IR, of tensors in a pattern",
    "Cast": "a conversion: of numbers in the IR, as an op",
    "Entry": "of the cache, and of the table of `symc bench`",
    "Length": "of an axis: in the IR, as an op",
    "Loop": "in the IR, and in the graph",
    "Outcome": "of a step of a loop, and of a contest of `symc bench`",
    "Parameter": "of a C function, and in a pattern",
    "Region": "a part of an array: of a buffer, and selected by arrays of indexes",
    "Repeat": "steps in the IR; NumPy's name of an op",
    "Result": "of the interpreter, and of the demonstration",
    "Scope": "the names that are visible: to the verifier, and to the lowering",
    "Size": "a length that is known when a function is called: in the IR, in the graph",
    "Store": "of the cache; a statement of the IR",
    "Work": "of a step, as the cost model counts it; of a contest of `symc bench`",
    "_Writer": "of expressions: as LaTeX, and as text",
}
COPIED = 20  # lines


def test_classes_have_names_of_their_own() -> None:
    """`Host` was three classes, and `Frame` and `Plan` as many."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module, path in modules().items():
        if not module.startswith("symc.theano"):
            for node in tree_of(path).body:
                if isinstance(node, ast.ClassDef):
                    homes[node.name].append(module)
    several = {name: found for name, found in homes.items() if len(found) > 1}
    new = [f"{name}: {', '.join(found)}" for name, found in several.items() if name not in SHARED]
    report(new, "names of several classes; rename one, or add what they share to SHARED:")
    report([name for name in SHARED if name not in several], "no longer shared:")


def test_no_lines_are_copied() -> None:
    """The struct of a call stood in four files; imports and docstrings are not counted."""
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in [*sources(*PACKAGES), *_in_c()]:
        lines = _code(path)
        for start in range(len(lines) - COPIED + 1):
            piece = tuple(text for _, text in lines[start : start + COPIED])
            places[piece].append(f"{path.relative_to(ROOT)}:{lines[start][0]}")
    found = [", ".join(places) for places in places.values() if len(places) > 1]
    report(found, f"{COPIED} lines or more are the same, from:")


def _in_c() -> list[Path]:
    patterns = ("*.c", "*.h", "*.cuh", "*.clh", "*.table")
    folders = [ROOT / "codegen", ROOT / "symc" / "calls"]
    return sorted(path for top in folders for kind in patterns for path in top.rglob(kind))


def _code(path: Path) -> list[tuple[int, str]]:
    """The lines that say something, with their numbers: without comments and lone brackets."""
    left_out = _imports_and_docstrings(tree_of(path)) if path.suffix == ".py" else set[int]()
    found: list[tuple[int, str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = re.sub(r"\s*(#|//).*|/\*.*?\*/", "", line).strip()
        if number not in left_out and re.search(r"\w", text):
            found.append((number, text))
    return found


def _imports_and_docstrings(tree: ast.Module) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            case _:
                pass
    return found
