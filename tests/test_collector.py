"""The garbage collector around what is imported."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from symc.graph.collector import without_collection


@pytest.fixture(autouse=True)
def _nothing_is_frozen() -> Iterator[None]:
    """As in a program; `conftest.py` freezes what is there when the tests begin."""
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()


def test_what_stays_is_old_at_once() -> None:
    """After the import of symc, the collector looked through all that was made in it."""
    assert gc.isenabled()
    with without_collection(stays=True):
        made: list[Any] = [[] for _ in range(9)]
    assert gc.isenabled()
    assert not any(each is made for each in gc.get_objects(generation=0))
    assert any(each is made for each in gc.get_objects(generation=2))


def test_what_a_program_froze_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with without_collection(stays=True):
            pass
        assert gc.get_freeze_count() == frozen > 0
    finally:
        gc.unfreeze()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with without_collection(stays=True):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
