"""The tables of docs/architecture.md, made from the sources: rooms, their contracts, their imports.

``python -m tests.rooms`` prints them, ``--write`` puts them into the page; a test compares the two.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.test_layers import FLOORS, ROOT, Arrow, arrows, modules, room, tree_of

PAGE = ROOT / "docs" / "architecture.md"
BLOCK = re.compile(
    r"(<!-- (\w+): made by python -m tests\.rooms -->\n).*?(<!-- end -->)", re.DOTALL
)
AT_IMPORT, LATER, NONE = "●", "○", "·"

# The rooms of codegen and cache: the files in no folder are a room of their own.
CODEGEN = ("emit", "verify", "cost", "passes", "targets", "runtime", "meaning")


def floors() -> list[tuple[str, ...]]:
    """The rooms of symc, from the highest floor; the files of one floor are one room."""
    found: list[tuple[str, ...]] = []
    for names in reversed(FLOORS):
        folders = [name for name in names if name and (ROOT / "symc" / name).is_dir()]
        files = [name or "__init__" for name in names if name not in folders]
        found += [(name,) for name in folders]
        found += [tuple(files)] if files else []
    return found


def label(names: Sequence[str]) -> str:
    """A room as the page names it."""
    if (ROOT / "symc" / names[0]).is_dir():
        return f"symc/{names[0]}/"
    return "symc/" + ", ".join(f"{name}.py" for name in names)


def contract(path: Path) -> str:
    """The first sentence of a package or a file: its purpose."""
    text = ast.get_docstring(tree_of(path)) or ""
    first = " ".join(text.partition("\n\n")[0].split())
    return re.sub(r"(?<=[.]) .*", "", first).replace("``", "`")


def rooms() -> str:
    """All rooms with their contracts, the highest floor first."""
    lines = ["| room | contract |", "|---|---|"]
    for names in floors():
        folder = ROOT / "symc" / names[0]
        if folder.is_dir():
            lines.append(f"| `symc/{names[0]}/` | {contract(folder / '__init__.py')} |")
        else:
            files = [folder.parent / f"{name}.py" for name in names]
            lines += [f"| `symc/{file.name}` | {contract(file)} |" for file in files]
    lines.append(f"| `codegen/` | {contract(ROOT / 'codegen' / '__init__.py')} |")
    for name in CODEGEN:
        path = ROOT / "codegen" / name / "__init__.py"
        lines.append(f"| `codegen/{name}/` | {contract(path)} |")
    lines.append(f"| `cache/` | {contract(ROOT / 'cache' / '__init__.py')} |")
    return "\n".join(lines)


def place(module: str) -> str:
    """The room of a module of symc, or codegen or cache."""
    first = room(module)
    if first in ("codegen", "cache"):
        return first
    return next(label(names) for names in floors() if (first or "__init__") in names)


def place_in_codegen(module: str) -> str:
    """The room of a module of codegen."""
    first = module.removeprefix("symc.codegen").strip(".").partition(".")[0]
    return first if first in CODEGEN else "beside them"


def drawing(names: Sequence[str], pairs: dict[tuple[str, str], bool]) -> str:
    """Who imports whom: a row for each importer, a column for each imported room."""
    width = max(map(len, names))
    lines = [" " * (width + 4) + " ".join(f"{number:>2}" for number in range(1, len(names) + 1))]
    for number, name in enumerate(names, 1):
        marks = {True: AT_IMPORT, False: LATER, None: NONE}
        row = [" " if other == name else marks[pairs.get((name, other))] for other in names]
        lines.append(f"{number:>2} {name:<{width}}  " + "  ".join(row))
    return "```text\n" + "\n".join(lines) + "\n```"


def pairs_of(found: Sequence[Arrow], where: dict[str, str]) -> dict[tuple[str, str], bool]:
    """Which rooms import which, and whether they do so when they are imported themselves."""
    pairs: dict[tuple[str, str], bool] = {}
    for arrow in found:
        importer, imported = where.get(arrow.importer), where.get(arrow.imported)
        if importer is not None and imported is not None and importer != imported:
            pair = importer, imported
            pairs[pair] = pairs.get(pair, False) or arrow.at_import
    return pairs


def arrows_of_symc() -> str:
    """The imports between the rooms of symc."""
    names = [*map(label, floors()), "codegen", "cache"]
    return drawing(names, pairs_of(arrows(), {module: place(module) for module in modules()}))


def arrows_of_codegen() -> str:
    """The imports between the rooms of codegen."""
    inside = [module for module in modules() if room(module) == "codegen"]
    where = {module: place_in_codegen(module) for module in inside}
    return drawing([*CODEGEN, "beside them"], pairs_of(arrows(), where))


TABLES = {"rooms": rooms, "symc": arrows_of_symc, "codegen": arrows_of_codegen}


def with_tables(text: str) -> str:
    """A page with its tables made anew."""

    def made(found: re.Match[str]) -> str:
        return f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[3]}"

    return BLOCK.sub(made, text)


def main() -> None:
    """Print the tables, or write them into the page."""
    if "--write" in sys.argv:
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    for table in TABLES.values():
        sys.stdout.write(f"{table()}\n\n")


if __name__ == "__main__":
    main()
