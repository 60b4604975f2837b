"""Set-up that all tests share: a cache of their own, golden files, options."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

import pytest

GOLDEN = Path(__file__).parent / "golden"

Golden: TypeAlias = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("symc")
    group.addoption("--update-golden", action="store_true", help="write tests/golden/ anew")
    group.addoption("--seed", type=int, default=0, help="where random tests start (default 0)")
    group.addoption("--device", default="", help="where functions run that name no device")
    group.addoption("--slow", action="store_true", help="run what is marked slow as well")


def pytest_configure(config: pytest.Config) -> None:
    """Points symc to a new cache before anything can use the user's."""
    folder = tempfile.mkdtemp(prefix="symc-tests-")
    os.environ["SYMC_CACHE_DIR"] = folder
    if config.getoption("--device"):
        os.environ["SYMC_DEVICE"] = str(config.getoption("--device"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="slow; run with --slow")
    left_out = pytest.mark.skip(reason="of many like it, some run; all with --slow")
    sampled = set[str]()  # tests of which one has been chosen
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(skip)
        every = item.get_closest_marker("sampled")
        if every is None:
            continue
        name, _, _ = item.nodeid.partition("[")
        if name in sampled and crc32(item.nodeid.encode()) % every.args[0]:
            item.add_marker(left_out)
        sampled.add(name)


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """Where random tests start; they name it when they fail."""
    value = request.config.getoption("--seed")
    assert isinstance(value, int)
    return value


@pytest.fixture(autouse=True, scope="module")
def _earlier_modules_are_not_collected_again() -> None:
    """What is alive is left out of later collections: after thousands of tests each takes seconds,
    and some tests collect often."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _the_card_still_works(request: pytest.FixtureRequest) -> Iterator[None]:
    """Damage that a test did to a card is found in this test; a lost card ends the process.

    pytest-xdist then goes on in a new process, and counts the test as failed.
    """
    yield
    name = str(request.config.getoption("--device"))
    if not name.startswith("cuda") or name == "cuda:sim":
        return
    import symc.cuda
    from symc.codegen.targets.cuda.driver import STICKY

    try:
        symc.cuda.device(name).synchronize()
    except symc.errors.DeviceError as error:
        if error.code not in STICKY:
            raise
        print(f"{request.node.nodeid}: {error}", file=sys.__stderr__, flush=True)
        if os.environ.get("PYTEST_XDIST_WORKER"):
            os._exit(70)
        pytest.exit(f"the device is lost: {error}", returncode=70)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """``golden(name, text)``: the text must equal tests/golden/<name>."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        again = f"scripts/test {request.node.nodeid!r} --update-golden"
        if not path.exists():
            pytest.fail(f"tests/golden/{name} is missing; make it with\n  {again}", pytrace=False)
        expected = path.read_text(encoding="utf-8")
        if text != expected:
            diff = unified_diff(
                expected.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm=""
            )
            pytest.fail(
                "\n".join([*diff, f"if the change is wanted, keep it with\n  {again}"]),
                pytrace=False,
            )

    return compare
