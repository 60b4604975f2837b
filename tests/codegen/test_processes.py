"""Compilers that hang, that are interrupted, and that leave others running."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import symc
import symc.tensor as T
from symc.codegen.errors import CompileFailed, CompileTimeout
from symc.codegen.targets import processes
from symc.codegen.targets.c import CTarget
from symc.codegen.targets.cuda.reading import module_of
from symc.pipeline.library import store_at

HANGS = """#!/bin/sh
case "$1" in --version) echo hanging 1.0; exit;; esac
echo $$ >> {pids}
touch cc-temporary.s
sleep 1000 &
echo $! >> {pids}
wait
"""


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that hangs, and so does its child; both write down who they are."""
    found, fake = tmp_path / "pids", tmp_path / "gcc"
    fake.write_text(HANGS.format(pids=found))
    fake.chmod(0o755)
    monkeypatch.setenv("SYMC_CC", str(fake))
    monkeypatch.setenv("SYMC_CXX", str(fake))
    return found


def alive(pids: Path) -> list[int]:
    """Those that still run, once the system had time to end them."""
    left = [int(pid) for pid in pids.read_text().split()]
    assert left
    for _ in range(500):
        left = [pid for pid in left if runs(pid)]
        if not left:
            break
        time.sleep(0.01)
    return left


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # dead, and not yet asked for


def a_function(name: str = "f", mode: str = "default") -> symc.Function:
    x = T.vector("x")
    return symc.function([x], T.exp(x) + len(name), name=name, mode=mode)


def many(name: str) -> symc.Function:
    """A function of so many kernels that they are compiled in pieces."""
    x = T.vector("x")
    kernels = [T.cumsum(T.sort(x * k)) for k in range(1, 40)]
    return symc.function([x], kernels, name=name)


@pytest.mark.parametrize("make", [a_function, many])
def test_a_compiler_that_hangs_is_stopped_with_all_that_it_started(
    tmp_path: Path, pids: Path, make: Callable[[str], symc.Function]
) -> None:
    with store_at(tmp_path / "cache"), symc.config.set(compile_timeout=0.3):
        with pytest.raises(CompileTimeout) as caught:
            make("hung")
        assert list((tmp_path / "cache" / "tmp").iterdir()) == []
        assert list((tmp_path / "cache" / "locks").iterdir()) == []
    text = str(caught.value)
    assert "the compiler did not end within 0.3 seconds, and was stopped" in text
    assert f"{tmp_path}/gcc" in text
    assert "SYMC_COMPILE_TIMEOUT" in text
    assert isinstance(caught.value, CompileFailed)
    assert alive(pids) == []


def test_a_compiler_of_the_simulator_that_hangs_is_stopped(tmp_path: Path, pids: Path) -> None:
    from symc.codegen.targets import sim

    with symc.config.set(compile_timeout=0.2):
        with pytest.raises(CompileTimeout):
            sim.compile_kernels(module_of('extern "C" __global__ void k() {}'))
        with pytest.raises(CompileTimeout):
            sim.build(tmp_path)
    assert alive(pids) == []


def test_a_compiler_that_hangs_hangs_no_thread(tmp_path: Path, pids: Path) -> None:
    """Of several that ask for one function, each gets the error, and no thread is left running."""
    errors: list[Exception] = []

    def ask(name: str) -> None:
        try:
            a_function(name)
        except CompileTimeout as error:
            errors.append(error)

    before = set(threading.enumerate())
    with store_at(tmp_path / "cache"), symc.config.set(compile_timeout=0.2):
        threads = [threading.Thread(target=ask, args=(name,)) for name in ("a", "a", "bb")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(errors) == 3
    assert before.issuperset(threading.enumerate())
    assert alive(pids) == []


def test_what_is_waited_for_is_said_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(processes, "SAID_AFTER", 0.05)
    with caplog.at_level(logging.WARNING, "symc"):
        (ended,) = processes.run([["sh", "-c", "sleep 0.2; cat; exit 3"]], tmp_path, given="text")
    assert (ended.status, ended.said) == (3, "text")
    (line,) = [record.getMessage() for record in caplog.records]
    assert re.fullmatch(r"waiting for 0 seconds for a compiler; it has 600: sh -c .*", line)


def test_a_compiler_in_this_process_is_waited_for_no_longer_than_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """NVRTC is a function of a library: there was a line after a while, but no limit."""
    monkeypatch.setattr(processes, "SAID_AFTER", 0.05)
    assert processes.in_thread(lambda: 5, ["nvrtc"]) == 5
    with pytest.raises(ZeroDivisionError):
        processes.in_thread(lambda: 1 // 0, ["nvrtc"])
    ends = threading.Event()
    with (
        caplog.at_level(logging.WARNING, "symc"),
        symc.config.set(compile_timeout=0.2),
        pytest.raises(CompileTimeout, match="goes on in a thread") as caught,
    ):
        processes.in_thread(ends.wait, ["nvrtc", "function.cu"])
    ends.set()
    assert not caught.value.stopped
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == "waiting for 0 seconds for a compiler; it has 0.2: nvrtc function.cu"


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals are not for us"
)
def test_ctrl_c_ends_the_wait_for_a_compiler_in_this_process() -> None:
    ends = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.get_ident()
    timer = threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            processes.in_thread(ends.wait, ["nvrtc"])
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
        ends.set()


def test_who_waits_for_another_process_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from symc.cache import lock

    monkeypatch.setattr(lock, "_SAID_AFTER", 0.05)
    folder = os.open(tmp_path, os.O_RDONLY)
    held = lock.Lock.wait(tmp_path / "key", folder)
    before = set(threading.enumerate())  # those of other tests may end meanwhile
    said = threading.Event()

    def hear(record: logging.LogRecord) -> bool:
        said.set()
        return bool(record)

    logging.getLogger("symc").addFilter(hear)
    waiting = threading.Thread(target=lambda: lock.Lock.wait(tmp_path / "key", folder).release())
    waiting.start()
    assert said.wait(60)
    held.release()
    waiting.join()
    logging.getLogger("symc").removeFilter(hear)
    assert before.issuperset(threading.enumerate())
    os.close(folder)
    (line,) = [record.getMessage() for record in caplog.records]
    assert str(tmp_path / "key") in line
    assert "another process or thread" in line


def test_much_that_is_said_is_no_trouble(tmp_path: Path) -> None:
    command = ["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x"]
    ended = processes.run([command, command], tmp_path)
    assert [end.status for end in ended] == [0, 0]
    assert all(processes.MOST_TEXT <= len(end.said) < 2 * processes.MOST_TEXT for end in ended)


def test_a_program_that_closes_its_output_and_goes_on_is_waited_for(tmp_path: Path) -> None:
    command = ["sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 5"]
    assert processes.run([command], tmp_path)[0].status == 5
    with pytest.raises(CompileTimeout):
        processes.run([["sh", "-c", "exec >&- 2>&-; sleep 100"]], tmp_path, most=0.1)


INTERRUPTED = """
import signal, sys, threading
import symc, symc.tensor as T
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
x = T.vector("x")
print("compiling", flush=True)
try:
    symc.function([x], T.exp(x), device=sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", threading.active_count(), flush=True)
"""


@pytest.mark.parametrize("device", ["cpu", "cuda:sim"])
def test_an_interrupt_while_the_compiler_runs_ends_it_and_leaves_nothing(
    tmp_path: Path, pids: Path, device: str
) -> None:
    temporary, cache = tmp_path / "temporary", tmp_path / "cache"
    temporary.mkdir()
    settings = {"SYMC_CACHE_DIR": str(cache), "TMPDIR": str(temporary)}
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, device], stdout=subprocess.PIPE, text=True,
        env={**os.environ, **settings, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "compiling\n"
    while not pids.exists() or len(pids.read_text().split()) < 2:
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted 1\n"
    child.stdout.close()
    assert child.wait() == 0
    assert alive(pids) == []
    assert list(temporary.iterdir()) == []
    assert [
        path for path in cache.rglob("*") if path.is_file() and path.parent.name != "notes"
    ] == []


def test_a_version_that_never_comes_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "gcc"
    fake.write_text("#!/bin/sh\nsleep 1000\n")
    fake.chmod(0o755)
    monkeypatch.setenv("SYMC_CC", str(fake))
    with symc.config.set(compile_timeout=0.1):
        assert CTarget().describe()["compiler"].startswith("unknown version (")


def test_the_limit_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    from symc.config import Config

    assert Config().compile_timeout == 600
    monkeypatch.setenv("SYMC_COMPILE_TIMEOUT", "2.5")
    assert Config().compile_timeout == 2.5
    monkeypatch.setenv("SYMC_COMPILE_TIMEOUT", "soon")
    with pytest.raises(ValueError, match="SYMC_COMPILE_TIMEOUT is a number of seconds, not 'soon'"):
        Config()
    for wrong in (0, -1, "1", None, float("nan")):
        with pytest.raises(ValueError, match="compile_timeout is a number of seconds"):
            symc.config.compile_timeout = wrong  # type: ignore[assignment]


def test_an_interrupt_while_a_compiler_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was raised in `Popen`, whose process was nobody's then, and ran on."""
    begun: list[Any] = []
    popen = subprocess.Popen

    def slowly(*args: Any, **options: Any) -> Any:
        begun.append(popen(*args, **options))
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)  # here Python calls the handler
        return begun[-1]

    monkeypatch.setattr(subprocess, "Popen", slowly)
    # A shell starts what runs in the background with interrupts ignored, and Python keeps to that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            processes.run([["sleep", "100"], ["sleep", "100"]], tmp_path)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert [process.returncode for process in begun] == [-signal.SIGTERM]
