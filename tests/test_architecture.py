"""docs/architecture.md: its tables are those of the sources, its ways the files that run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rooms

ROOT = Path(__file__).parent.parent
TEXT = rooms.PAGE.read_text(encoding="utf-8")

TRACED = """
import json, sys
import numpy as np
import symc
import symc.tensor as T

entered = {}

def enter(frame, event, argument):
    code = frame.f_code
    if event == "call" and not code.co_name.startswith("<"):
        entered.setdefault(code.co_filename)

def function(scale):
    x, w = T.matrix("x"), T.vector("w")
    loss = (T.exp(x * scale) @ w).sum()
    return symc.function([x, w], [loss, symc.grad(loss, w)])

function(2.0)  # everything is imported
sys.setprofile(enter)
f = function(3.0)
sys.setprofile(None)
assert not f.hit
print(json.dumps(list(entered)))
"""


def section(title: str) -> str:
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_tables_are_made_from_the_sources() -> None:
    assert rooms.with_tables(TEXT) == TEXT, "run: python -m tests.rooms --write"
    assert {name for _, name, _ in rooms.BLOCK.findall(TEXT)} == set(rooms.TABLES)


def test_every_room_has_a_contract_of_one_line() -> None:
    for line in rooms.rooms().splitlines()[2:]:
        _, room, contract, _ = line.split("|")
        assert contract.strip(), f"{room} does not say what it is for"
        assert len(contract) <= 100, f"{room} says it at length"


def test_the_way_of_one_expression_is_what_runs(tmp_path: Path) -> None:
    """Each file of the table is entered after the one above it."""
    done = subprocess.run(
        [sys.executable, "-c", TRACED], capture_output=True, text=True, check=False,
        env={**os.environ, "SYMC_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    entered = [Path(name).resolve() for name in json.loads(done.stdout)]
    files = re.findall(r"^\|[^|]+\| `([^`]+\.py)` \|", section("The way of one expression"), re.M)
    assert len(files) > 15
    missing = [name for name in files if (ROOT / name).resolve() not in entered]
    assert not missing, "nothing of these files runs"
    found = sorted(files, key=lambda name: entered.index((ROOT / name).resolve()))
    assert files == found


@pytest.mark.parametrize("title", ["The way of one expression", "The way of one argument"])
def test_the_ways_name_files(title: str) -> None:
    for name in re.findall(r"`((?:symc|codegen|cache)/[^`]+)`", section(title)):
        assert (ROOT / name).is_file(), name


def test_the_glossary_is_short() -> None:
    words = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", section("Words"), re.M)[1:]
    each = [word for line in words for word in line.split(", ")]
    assert len(words) <= 40
    assert len(each) == len(set(each)), "one word, one thing"
