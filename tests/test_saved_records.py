"""Files of earlier versions: records are found where they have moved to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import symc
from symc.saved import values
from tests.fuzz.files import GOOD

DATA = Path(__file__).parent / "data"
FILES = ("step", "shapes", "loop", "linear")  # in the order of GOOD, written before modules moved


@pytest.mark.parametrize("number", range(len(FILES)), ids=FILES)
def test_files_of_the_first_version_run(number: int) -> None:
    make, arguments = GOOD[number]
    loaded = symc.load(DATA / f"format1-{FILES[number]}.symc", mode="python")
    old, new = loaded(*arguments), make()(*arguments)
    old, new = (list(r.values()) if isinstance(r, dict) else r for r in (old, new))
    for a, b in zip(old, new, strict=True):
        np.testing.assert_array_equal(a, b)


NAMES = (DATA / "record-names.txt").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("name", NAMES)
def test_names_of_records_never_change(name: str) -> None:
    """To rename or remove one of them is to break files that people have."""
    assert values.name_of(values.class_named(name)) == name
