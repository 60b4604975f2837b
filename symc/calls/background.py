"""Compiling in the background: the interpreter answers until the compiled program is there.

    function()   in the cache:   Runner                       (as without `background`)
                 elsewhere:      Job(WAITING) -> the crew's queue -> a thread: Made | Failed
    f(...)       Runner:         its call
                 Job, WAITING:   the interpreter; once the job is Made, the program takes over
                      Made:      the program, which the function calls directly from now on
                      Failed:    the error is raised

The stages in Python share Python's lock with the program that calls the functions. So one job at a
time is in them, and a job begins when the first call of its function has ended, which may take a
moment (`PATIENCE`); a call that takes longer waits for the thread that is in the stages. Compilers
are processes of their own, one for each thread of the crew. A call that is too large for the
interpreter, or has a loop of too many steps, waits for the program (`LIMITS`).

A process of its own for the stages in Python would take nothing from the caller. But a fork of a
program with threads may wait for locks for ever, and a new Python takes longer to import symc than
most functions to build, and cannot have the ops that users define in their scripts.
"""

from __future__ import annotations

import atexit
import os
import time
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never
from weakref import ref

from symc.calls.interpreted import Beyond, Interpreter, Limits
from symc.calls.modes import Runner, from_cache, locks_of, runner_for
from symc.calls.numpy_threads import one_thread
from symc.codegen.record import record
from symc.graph.computation import between
from symc.graph.request import Request
from symc.graph.walks import walk_within

if TYPE_CHECKING:
    from symc.calls.callable import Function

COMPILED_MODES = ("default", "fast", "compile")
TO_BE_CALLED = 0.02  # seconds for a first call to begin
PATIENCE, LONGEST = 0.1, 1.0  # and to end: of the processor, which may be busy, and in all
OFTEN = 0.001  # how often a call asks how long it has taken
MOST = 4  # functions that are compiled at a time, on as many processors at least
LIMITS = Limits(bytes=1 << 30, steps=100_000)
"""Of a call by the interpreter. A node in a step of a loop takes 2 us at least."""
NAME = "symc compiles"  # of its threads
_TO_END = 2.0  # seconds that compilations have to clean up when Python ends


@record
class Waiting:
    """It is not compiled yet."""


@record
class Made:
    """It is compiled."""

    runner: Runner


@record
class Failed:
    """It cannot be compiled."""

    error: Exception


State: TypeAlias = Waiting | Made | Failed
WAITING = Waiting()


class Over(BaseException):
    """Ends a compilation, since Python ends."""


class Overtaken(BaseException):
    """Ends a call of the interpreter: the compiled program is there."""


def begin(
    request: Request,
    mode: str,
    form: str,
    downcast: Sequence[bool | None],
    owner: Callable[[], Function | None],
) -> Runner | Job:
    """What answers calls of a function that may be compiled in the background.

    Where nothing is to be compiled, or everything at once (see `symc.function`), it is a `Runner`.
    """
    from symc.pipeline import library

    at_once = mode not in COMPILED_MODES or request.device != "cpu" or _is_users(request)
    if at_once or not library.target().available():
        return runner_for(request, mode, form, downcast)
    found = from_cache(request, mode, form, downcast)
    return Job(request, mode, form, downcast, owner) if found is None else found


def _is_users(request: Request) -> bool:
    """Whether the graph runs code of the user's, which must run once in a call."""
    return any(node.op.is_users for node in walk_within(request.roots()))


class Job:
    """A function that is being compiled, and its calls meanwhile."""

    locks = True

    def __init__(
        self,
        request: Request,
        mode: str,
        form: str,
        downcast: Sequence[bool | None],
        owner: Callable[[], Function | None],
    ) -> None:
        self.state: State = WAITING
        self._owner = owner
        self._build = partial(runner_for, request, mode, form, downcast, _turn)
        self._interpreter = Interpreter(request, form, downcast, locks_of(request))
        self._begin()

    def _begin(self) -> None:
        self._crew = _crews[-1]
        self._asked = time.monotonic()
        self._called = Event()
        self._answered = Event()  # or it is waited for: nobody is disturbed any more
        self._ended = Event()
        self._spent = 0.0  # seconds of the processor, by the call of the interpreter
        self._crew.add(self)

    def call(self, *args: Any) -> Any:
        """A call of the function."""
        state = self.state
        match state:
            case Waiting():
                return self._interpreted(args)
            case Made(runner):
                if (function := self._owner()) is not None:
                    function.adopt(runner)
                return runner.call(*args)
            case Failed():
                return self.result().call(*args)
            case _:
                assert_never(state)

    def _interpreted(self, args: tuple[Any, ...]) -> Any:
        if self._crew is not _crews[-1]:  # the parent of this process has the threads
            self._begin()
        self._called.set()
        begun, asked = time.thread_time(), time.monotonic()

        def look() -> None:
            nonlocal asked
            if type(self.state) is Made:
                raise Overtaken
            now = time.monotonic()
            if now - asked < OFTEN:  # the clock of a thread asks the system
                return
            asked, self._spent = now, time.thread_time() - begun
            if self._spent > PATIENCE:  # so the program may well be there first
                _turn.let()

        token = between.set(look)
        try:
            with one_thread():
                return self._interpreter.limited(args, LIMITS)
        except (Overtaken, Beyond, MemoryError):
            pass
        finally:
            between.reset(token)
            self._answered.set()
        # Out of the above: the compiled function asks the interpreter where its errors come from.
        return self.result().call(*args)

    @property
    def is_compiled(self) -> bool:
        """Whether there is a compiled program."""
        return type(self.state) is Made and self.state.runner.is_compiled

    def has_ended(self, timeout: float | None = None) -> bool:
        """Whether compiling has ended, well or not, after so many seconds at the latest."""
        if type(self.state) is Waiting:
            if self._crew is not _crews[-1]:
                self._begin()
            self._answered.set()
            self._called.set()
            self._ended.wait(timeout)
        return type(self.state) is not Waiting

    def result(self) -> Runner:
        """The compiled function, which is waited for, or the error of compiling it."""
        self.has_ended()
        state = self.state
        match state:
            case Made(runner):
                return runner
            case Failed(error):
                raise error
            case Waiting():
                raise RuntimeError("Python ends: nothing is compiled any more")
            case _:
                assert_never(state)

    def _await_answer(self) -> None:
        """Wait for the first call's end, as long as its patience lasts."""
        latest = time.monotonic() + LONGEST
        while self._spent <= PATIENCE and time.monotonic() <= latest:
            if self._answered.wait(max(PATIENCE - self._spent, PATIENCE / 10)):
                break

    def run(self) -> None:
        """Compile it: for a thread of the crew."""
        if self._called.wait(max(0.0, self._asked + TO_BE_CALLED - time.monotonic())):
            self._await_answer()
        try:
            with _turn:  # the imports of the stages are a good part of the first one's time
                import_module("symc.cache.making")
                import_module("symc.pipeline.compile")
            self.state = Made(self._build())
        except Exception as error:
            self.state = Failed(error)
        except Over:
            pass
        finally:
            self._ended.set()


class Crew:
    """The threads that compile: as many as there are jobs, and no more than processors."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._queue: deque[ref[Job]] = deque()  # whose function is gone need not be compiled
        self._threads: set[Thread] = set()

    def add(self, job: Job) -> None:
        """Have a job done, after those that came before it."""
        from symc.codegen.targets.compiler import cores

        with self._lock:
            self._queue.append(ref(job))
            if len(self._threads) < min(MOST, cores()):
                thread = Thread(target=self._work, name=NAME, daemon=True)
                self._threads.add(thread)
                thread.start()

    def _work(self) -> None:
        while (job := self._next(current_thread())) is not None:
            job.run()
            del job  # or it would live until the next one is there

    def _next(self, thread: Thread) -> Job | None:
        with self._lock:
            while self._queue:
                if (job := self._queue.popleft()()) is not None:
                    return job
            self._threads.discard(thread)
            return None

    def stop(self) -> None:
        """End what is being compiled and clean up after it: Python is about to end."""
        with self._lock:
            self._queue.clear()
            threads = list(self._threads)
        if not threads:
            return
        from symc.codegen.targets.processes import interrupt

        _turn.is_over = True
        until = time.monotonic() + _TO_END
        while threads and time.monotonic() < until:
            interrupt({thread.ident or 0 for thread in threads})
            threads[0].join(0.01)
            threads = [thread for thread in threads if thread.is_alive()]


class Turn:
    """Held by the one thread that is in the stages in Python."""

    def __init__(self) -> None:
        self.is_over = False
        self._lock = allocate_lock()
        # A fork waits for the end of a stage: a child would not have the locks that Python took in
        # it, such as those of modules that were being imported.
        os.register_at_fork(
            before=self._lock.acquire, after_in_parent=self._lock.release,
            after_in_child=self._lock.release,
        )  # fmt: skip

    def let(self) -> None:
        """Wait for a thread that is in the stages, without Python's lock."""
        if self._lock.locked():
            with self._lock:
                pass

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()
        if self.is_over:
            raise Over


_turn = Turn()
_crews = [Crew()]
"""The last is that of this process."""


def _after_fork() -> None:
    _crews[-1] = Crew()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(lambda: _crews[-1].stop())
