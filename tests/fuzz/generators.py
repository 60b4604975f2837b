"""All generators of random programs, by name."""

from __future__ import annotations

import importlib
from functools import cache

from tests.fuzz.protocol import Generator

PLACES = {
    "expressions": "tests.fuzz.expressions",
    "gradients": "tests.fuzz.gradients",
    "updates": "tests.fuzz.run_updates",
    "loops": "tests.fuzz.run_loops",
    "lengths": "tests.fuzz.run_lengths",
    "layouts": "tests.fuzz.layouts",
    "files": "tests.fuzz.run_files",
    "scripts": "tests.fuzz.typed",
    "graphs": "tests.fuzz.graphs",
    "special": "tests.fuzz.special",
    "writes": "tests.fuzz.writes",
    "branches": "tests.fuzz.branches",
    "guarded": "tests.fuzz.guarded",
    "patterns": "tests.fuzz.patterns",
}
"""Where each is: a module with a `GENERATOR`."""


@cache
def generator(name: str) -> Generator:
    """The generator of a name, or of a module."""
    found: Generator = importlib.import_module(PLACES.get(name, name)).GENERATOR
    return found
