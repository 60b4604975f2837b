"""Running compilers: side by side, for a limited time, and none left running.

Each runs in a process group of its own, which ends with the block that waits for it: when the time
is over, and when anything is raised meanwhile, such as KeyboardInterrupt. No thread is needed, but
for compilers that are functions of a library.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from _thread import get_ident
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from symc.codegen.errors import CompileFailed, CompileTimeout
from symc.codegen.record import record
from symc.codegen.targets import compiler

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    Process = subprocess.Popen[bytes]

Made = TypeVar("Made")

SAID_AFTER = 10.0  # seconds
MOST_TEXT = 1 << 20  # bytes of a program's output that are kept
_TO_CLEAN_UP = 1.0  # seconds from the signal that compilers heed to the one that they cannot
_USUAL_LIMIT = 600.0


def _limit() -> float:
    return compiler.time_limit[-1]() if compiler.time_limit else _USUAL_LIMIT


@record
class Ended:
    """How a process ended, and its standard output and standard error."""

    status: int
    said: str


def run(
    commands: Sequence[Sequence[str]],
    folder: str | Path | None = None,
    *,
    given: str | None = None,
    most: float = float("inf"),
) -> list[Ended]:
    """Run programs side by side to their ends. `given` is the standard input of the first.

    Raises `CompileTimeout` when they take longer than the setting allows, or than `most` seconds,
    and OSError for a program that cannot be started.
    """
    with started(commands, folder, given=given, most=most) as ends:
        return ends()


def run_all(commands: Sequence[Sequence[str]], sources: Sequence[str], folder: str | Path) -> None:
    """Run compilers side by side; raise `CompileFailed` for the first that fails."""
    raise_first(run(commands, folder), commands, sources)


def raise_first(
    ended: Sequence[Ended], commands: Sequence[Sequence[str]], sources: Sequence[str]
) -> None:
    """Raise `CompileFailed` for the first compiler that failed."""
    for end, command, source in zip(ended, commands, sources, strict=True):
        if end.status != 0:
            raise CompileFailed(source, list(command), end.said or f"status {end.status}")


@contextmanager
def started(
    commands: Sequence[Sequence[str]],
    folder: str | Path | None = None,
    *,
    given: str | None = None,
    most: float = float("inf"),
) -> Generator[Callable[[], list[Ended]]]:
    """The same, to do something else meanwhile: the result waits for the ends."""
    running: list[Process] = []
    key = get_ident(), id(running)
    _running[key] = running
    try:
        with _input(given) as text:
            for command in commands:
                with _uninterrupted():
                    running.append(_start(command, folder, text))
        yield lambda: _ends(running, _Clock(commands, min(_limit(), most)))
    finally:
        _stop(running)
        _running.pop(key, None)


@contextmanager
def _input(given: str | None) -> Generator[int]:
    """What programs read this from: a file without a name."""
    if given is None:
        yield subprocess.DEVNULL
        return
    import tempfile  # late: most programs read nothing, and it imports a good deal

    with tempfile.TemporaryFile() as text:
        text.write(given.encode())
        text.seek(0)
        yield text.fileno()


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Ctrl-C comes after the block: a program that is just starting is in nobody's list yet.

    Its handler is called in the main thread; where it is not Python's, nothing is raised by it.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[FrameType | None] = []

    def later(number: int, frame: FrameType | None) -> None:
        del number
        came.append(frame)

    signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    for frame in came[:1]:
        handler(signal.SIGINT, frame)


_running: dict[tuple[int, int], list[Process]] = {}
"""What each thread waits for; a child of fork waits for nothing."""
os.register_at_fork(after_in_child=_running.clear)


def interrupt(threads: Collection[int]) -> None:
    """Tell the programs that these threads wait for to end, for what they make is not wanted."""
    for (thread, _), programs in list(_running.items()):
        for process in list(programs) if thread in threads else ():
            if process.returncode is None:
                _signal(process, signal.SIGTERM)


def _start(command: Sequence[str], folder: str | Path | None, stdin: int) -> Process:
    return subprocess.Popen(
        command, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        process_group=0,
    )  # fmt: skip


def _ends(running: Sequence[Process], clock: _Clock) -> list[Ended]:
    texts = [bytearray() for _ in running]
    with selectors.DefaultSelector() as selector:
        for process, text in zip(running, texts, strict=True):
            assert process.stdout is not None
            selector.register(process.stdout, selectors.EVENT_READ, text)
        while selector.get_map():
            for ready, _ in selector.select(clock.next()):
                chunk = os.read(ready.fd, 1 << 16)
                if not chunk:
                    selector.unregister(ready.fileobj)
                elif len(ready.data) < MOST_TEXT:
                    ready.data.extend(chunk)
            clock.look()
    for process in running:
        while process.returncode is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(clock.next())
            clock.look()
    return [
        Ended(process.returncode, text.decode(errors="replace"))
        for process, text in zip(running, texts, strict=True)
    ]


class _Clock:
    """Names the processes in a wait that takes long, and ends one that takes too long."""

    def __init__(
        self, commands: Sequence[Sequence[str]], limit: float, *, stops: bool = True
    ) -> None:
        self.commands = commands
        self.limit = limit
        self._stops = stops
        self._begun = time.monotonic()
        self._is_said = False

    def next(self) -> float | None:
        """The seconds until it has to look again; None: never."""
        until = self.limit if self._is_said else min(self.limit, SAID_AFTER)
        return None if until == float("inf") else max(0.0, self._begun + until - time.monotonic())

    def look(self) -> None:
        """Raises `CompileTimeout` when the time is over."""
        taken = time.monotonic() - self._begun
        if taken >= self.limit:
            raise CompileTimeout(self.commands[0], self.limit, stopped=self._stops)
        if taken >= SAID_AFTER and not self._is_said:
            import logging  # late: few wait so long
            import shlex

            self._is_said = True
            others = f" (and {len(self.commands) - 1} more)" if len(self.commands) > 1 else ""
            logging.getLogger("symc").warning(
                "waiting for %.0f seconds for a compiler%s; it has %g: %s",
                taken, others, self.limit, shlex.join(self.commands[0]),
            )  # fmt: skip


def in_thread(work: Callable[[], Made], command: Sequence[str]) -> Made:
    """The result of a compiler that is a function: waited for as for one that is a process.

    It runs in a thread, so that Ctrl-C and the time limit end the wait. The function itself cannot
    be stopped: the thread goes on until it returns, and its result is dropped.
    """
    made: list[Made] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            made.append(work())
        except BaseException as error:
            errors.append(error)

    clock = _Clock([command], _limit(), stops=False)
    thread = threading.Thread(target=run, name=f"symc: {command[0]}", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(clock.next())
        if thread.is_alive():
            clock.look()
    if errors:
        raise errors[0]
    return made[0]


def _stop(running: Sequence[Process]) -> None:
    """End what still runs, with all that it started; compilers then remove half-written files."""
    alive = [process for process in running if process.returncode is None]
    try:
        for process in alive:
            _signal(process, signal.SIGTERM)
        until = time.monotonic() + _TO_CLEAN_UP
        while not all(map(_has_ended, alive)) and time.monotonic() < until:
            time.sleep(0.002)
    finally:
        for process in alive:
            _signal(process, signal.SIGKILL)
            process.wait()
        for process in running:
            if process.stdout is not None:
                process.stdout.close()


def _signal(process: Process, number: signal.Signals) -> None:
    """To the whole group. Its number is nobody else's, for its first process is not waited for."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _has_ended(process: Process) -> bool:
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, process.pid, how) is not None
    except ChildProcessError:  # somebody else has waited for it
        return True
