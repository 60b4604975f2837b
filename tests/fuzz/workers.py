"""Processes that run programs which may crash, hang, or take all memory, and their supervisor."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.fuzz.protocol import Compared, Program, Refused, Wrong

SECONDS = 180.0  # of processors, for one run of one program
STARVED = 4  # times as long by the clock: programs share the machine with others
MEMORY = 6 << 30  # bytes of data
CACHE = 256 << 20  # bytes of compiled functions, which nobody asks for again


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run: `kind` is ok, refused, wrong, error, crash, hang or memory.

    `head` says it in a line without numbers that change from program to program.
    """

    kind: str
    compared: Compared = field(default_factory=lambda: Compared(0))
    head: str = ""
    message: str = ""
    seconds: float = 0.0  # of processors, those of compilers included
    program: Program | None = None  # the failed program, where the worker has survived it

    @property
    def failed(self) -> bool:
        """Whether it is to be reported."""
        return self.kind not in ("ok", "refused")

    @property
    def signature(self) -> tuple[str, str]:
        """A signature that failures of the same cause most likely share."""
        return self.kind, self.head


@dataclass(frozen=True)
class Task:
    """A program, or the generator and seed that make it, and a mode; without one it is not run."""

    program: Program | tuple[str, int]
    mode: str | None


class Worker:
    """One process, begun anew whenever it was lost; `run` waits for it."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.folder = Path(tempfile.mkdtemp(prefix="symc-fuzz-"))
        self.process: BaseProcess | None = None
        self.connection: Any = None

    def run(self, task: Task) -> Outcome:
        """The outcome of a task."""
        if self.process is None:
            self._start()
        assert self.process is not None
        assert self.connection is not None
        patience = self.seconds * (3 if task.mode in ("debug", "cuda:sim") else 1)
        try:
            self.connection.send(task)
            if not self._answers(patience):
                said = f"not done after {patience:.0f} seconds\n{self._where()}"
                self.stop()
                return Outcome("hang", head="not done in time", message=said)
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(10)
            code = self.process.exitcode
            name = signal.Signals(-code).name if code is not None and code < 0 else f"exit {code}"
            said = self._said()
            self.stop()
            return Outcome("crash", head=name, message=f"{name}\n{said}")
        return outcome

    def _answers(self, patience: float) -> bool:
        """Whether the process answers before it has had so much of the processors' time.

        A busy machine may leave it little of each minute; one that only sleeps ends by the clock.
        """
        begun, end = self._spent(), time.monotonic() + STARVED * patience
        while not self.connection.poll(min(patience, 2.0)):
            if self._spent() - begun > patience or time.monotonic() > end:
                return False
        return True

    def _spent(self) -> float:
        """Seconds of processors that the process and its children that have ended have had."""
        assert self.process is not None
        try:
            text = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return 0.0  # it is gone, which the connection tells
        ticks = text.rpartition(")")[2].split()[11:15]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """Ends the process, and all that it has started."""
        if self.process is not None and self.process.pid is not None:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.join(10)
        if self.connection is not None:
            self.connection.close()
        self.process = self.connection = None

    def close(self) -> None:
        """Ends the process and removes its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, str(self.folder)), daemon=True)
        self.process.start()
        theirs.close()
        self.connection.recv()  # it has begun: until now the time was not the program's

    def _where(self) -> str:
        """Where the process is, as far as Python knows."""
        if self.process is not None and self.process.pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self.process.pid, signal.SIGUSR1)
                time.sleep(1)
        return self._said()

    def _said(self) -> str:
        """The end of the process's stderr: glibc's complaint, Python's stack."""
        with contextlib.suppress(OSError):
            text = (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")
            return "\n".join(text.splitlines()[-60:])
        return ""


def _serve(connection: Connection, folder: str) -> None:
    """Runs tasks until the other side is gone."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor decides
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    errors = os.open(f"{folder}/stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(errors, 2)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    warnings.simplefilter("ignore")
    cache = Path(folder) / "cache"
    os.environ["SYMC_CACHE_DIR"] = str(cache)
    importlib.import_module("tests.fuzz.generators")  # this takes no task's time
    connection.send(None)
    made = 0
    while True:
        try:
            task: Task = connection.recv()
        except (EOFError, OSError):
            return
        os.ftruncate(errors, 0)
        _bound_memory(task.mode)
        outcome = attempt(task)
        connection.send(outcome)
        made += 1
        if made % 50 == 0 and _bytes_below(cache) > CACHE:
            shutil.rmtree(cache, ignore_errors=True)


def _bound_memory(mode: str | None) -> None:
    """Limits the memory of a program; the simulator and sanitizers reserve more than they use."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    soft = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(
        resource.RLIMIT_DATA, (hard if mode in ("debug", "cuda:sim") else soft, hard)
    )


def _bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def attempt(task: Task) -> Outcome:
    """Runs a task in this process."""
    from tests.fuzz.generators import generator  # late: the supervisor needs no NumPy

    before = _processor_seconds()
    program = None
    try:
        if isinstance(task.program, tuple):
            name, seed = task.program
            program = generator(name).generate(seed)
        else:
            program = task.program
        outcome = Outcome("ok", Compared(0) if task.mode is None else program.run(task.mode))
    except Refused as error:
        outcome = Outcome("refused", head=str(error).partition("\n")[0])
    except MemoryError as error:
        outcome = Outcome("memory", head=_place(error), message=_told(error))
    except Wrong as error:
        outcome = Outcome("wrong", head="wrong", message=_told(error))
    except Exception as error:
        head = f"{type(error).__name__} {_place(error)}"
        outcome = Outcome("error", head=head, message=_told(error))
    spent = _processor_seconds() - before
    kept = program if outcome.failed or task.mode is None else None
    return replace(outcome, seconds=spent, program=kept)


def _processor_seconds() -> float:
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    return total


def _told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _place(error: BaseException) -> str:
    """The innermost function of symc's that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/tests/" not in f.filename and "/site-packages/" not in f.filename]
    if not own:
        return "outside symc"
    return f"in {Path(own[-1].filename).name}, {own[-1].name}"
