"""Names whose modules are imported late, asked for by several threads at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from symc.graph import registry
from symc.graph.public import publish_package
from symc.tensor import catalogue, fft


def test_a_name_is_found_while_another_thread_hears_what_is_announced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was a KeyError then: who hears took what was announced away first."""
    begun, end = threading.Event(), threading.Event()
    calls: list[int] = []

    def provide_all() -> None:
        calls.append(1)
        if len(calls) == 1:
            begun.set()
            end.wait()
        registry.provide("some_module", ["a_name"])

    monkeypatch.setattr(registry, "_PROVIDERS", {})
    monkeypatch.setattr(registry, "_ANNOUNCERS", [])
    registry.announce(provide_all)
    first = threading.Thread(target=registry.provider, args=["a_name"])
    first.start()
    begun.wait()
    try:
        assert registry.provider("a_name") == "some_module"
    finally:
        end.set()
        first.join()
    assert registry.provider("a_name") == "some_module"
    assert len(calls) == 2


def test_the_catalogue_is_whole_while_another_thread_reads_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names of modules that had not been read yet were unknown."""
    wanted = catalogue.functions()
    top: Callable[[str], bytes] = vars(catalogue)["_top"]
    seen: list[str] = []

    def asked_for_meanwhile(path: str) -> bytes:
        if len(seen) < 20:
            seen.append(path)
        if len(seen) == 10:
            seen.append(path)
            other = threading.Thread(target=lambda: found.append(catalogue.functions()))
            other.start()
            other.join()
        return top(path)

    found: list[dict[str, list[str]]] = []
    monkeypatch.setattr(catalogue, "_top", asked_for_meanwhile)
    catalogue.functions.cache_clear()
    assert catalogue.functions() == wanted
    assert found == [wanted]


def test_a_package_is_published_while_another_thread_imports(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was a RuntimeError: the dictionary of modules changed its size."""

    class Name(str):
        __slots__ = ()

        def startswith(self, *args: Any) -> bool:
            monkeypatch.setitem(sys.modules, "symc_imported_meanwhile", ModuleType("other"))
            return super().startswith(*args)

    monkeypatch.setitem(sys.modules, Name("symc_a_module"), ModuleType("one"))
    names: dict[str, Any] = {}
    publish_package(names, fft.__name__)
    assert "rfft" in names["__all__"]
