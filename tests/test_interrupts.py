"""Signals that come while a function runs: it stops, and leaves everything as it was.

Each program runs in a process of its own, whose alarm comes while it computes something that would
take hours.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from symc.calls.call import Caller
from symc.calls.python_call import PythonCaller
from symc.codegen.targets import compiler, team

HEAD = """
import os, signal
import numpy as np
import symc
import symc.tensor as T

class Enough(Exception):
    pass

def ring(*_):
    raise Enough

signal.signal(signal.SIGALRM, ring)
count, state = symc.shared(3, name="count"), symc.shared(np.arange(4.0), name="state")
stream = T.random.RandomStream(7)
drawn = stream.normal(size=(4,))
k, x, y, m = T.lscalar("k"), T.vector("x"), T.vector("y"), T.fmatrix("m")

def stopped(f, *args):
    before = [v.get_value().tobytes() for v in f.shared]
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        f(*args)
    except Enough:
        assert [v.get_value().tobytes() for v in f.shared] == before, "a shared variable changed"
        return True
    return False
"""

SCAN = """
last, _ = symc.scan(lambda v: v * 0.99 + 1, outputs_info=[state], n_steps=k)
f = symc.function([k], last[-1] + drawn, updates=[(state, last[-1]), (count, count + 1)])
assert stopped(f, 10**15)
assert f(2).shape == (4,) and count.get_value() == 4
"""

SUM = """
last = symc.fori_loop(0, k, lambda i, s: s + T.cast(i, "float64") * 0.5, 0.0)
f = symc.function([k], last + drawn)
assert stopped(f, 10**15)
"""

WHILE = """
steps, _ = symc.while_loop(lambda i, v: i < k, lambda i, v: (i + 1, v + 1.0), [k * 0, state.sum()])
f = symc.function([k], steps)
assert stopped(f, 10**15)
assert f(5) == 5
"""

INNER = """
def step(v):
    last, _ = symc.scan(lambda w: w * 0.5, outputs_info=[v], n_steps=100)
    return last[-1] + 1

last, _ = symc.scan(step, outputs_info=[state], n_steps=k)
f = symc.function([k], last[-1])
assert stopped(f, 10**15)
"""

REDUCTION = """
f = symc.function(
    [x, y], T.exp(-(x[:, None] - y[None]) ** 2).sum(), updates=[(state, state + x.sum())]
)
many = np.ones(2_000_000)
assert stopped(f, many, many)
assert f(many[:3], many[:5]) == 15 and state.get_value()[0] == 3
"""

ROWS = """
f = symc.function([x, y], T.exp(-(x[:, None] - y[None]) ** 2).sum(axis=1))
many = np.ones(2_000_000)
assert stopped(f, many, many)
assert f(many[:3], many[:5]).tolist() == [5, 5, 5]
"""

PRODUCT = """
f = symc.function([m], m @ m, updates=[(count, count + 1)])
large = np.ones((6000, 6000), np.float32)
assert stopped(f, large)
assert f(large[:2, :2]).tolist() == [[2, 2], [2, 2]] and count.get_value() == 4
"""

IN_PLACE = """
w = symc.shared(np.zeros(3_000_000), name="w")
f = symc.function([], updates=[(w, T.tanh(w + 1) * 0 + w.sum() + w + 1)])
values = {0.0}
for number in range(12):
    signal.setitimer(signal.ITIMER_REAL, 0.004 * number + 0.001)
    try:
        for _ in range(1000):
            f()
    except Enough:
        pass
    value = w.get_value()
    assert (value == value[0]).all() or np.isnan(value).all(), "a half-changed state"
    w.set_value(np.zeros(3_000_000))
"""

TO_ITS_END = """
f = symc.function([x, y], T.tanh(x[:, None] - y[None]).sum(), updates=[(state, state + x.sum())])
many = np.ones(8000)
f(many[:3], many[:3])
signal.setitimer(signal.ITIMER_REAL, 0.02)
try:
    f(many, many)
except Enough:
    pass
else:
    raise AssertionError("nobody heard the signal")
assert state.get_value()[0] == 8003, "the updates of a kernel that ran to its end"
"""

IN_PLACE_LOOP = """
w = symc.shared(np.zeros(200_000), name="w")
last, _ = symc.scan(lambda v: v + 1, outputs_info=[w], n_steps=k)
f = symc.function([k], [], updates=[(w, last[-1]), (count, count + 1)])
f(3)
memory = w.get_value(borrow=True)
signal.setitimer(signal.ITIMER_REAL, 0.002)
try:
    f(1000)
except Enough:
    pass
else:
    raise AssertionError("nobody heard the signal")
value = w.get_value(borrow=True)
assert value is memory, "moments: in place"
assert (value == 1003).all() or ((value == 3).all() and count.get_value() == 4)
w.set_value(np.full(200_000, 3.0))
assert stopped(f, 10**12) and (w.get_value() == 3).all()
"""

INTERRUPT = """
import threading
last, _ = symc.scan(lambda v: v * 0.99 + 1, outputs_info=[state], n_steps=k)
f = symc.function([k], last[-1])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    f(10**15)
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("it ran to its end")
"""

HANDLED = """
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
last, _ = symc.scan(lambda v: v * 0.5 + 1, outputs_info=[state], n_steps=k)
f = symc.function([k], last[-1])
wanted = f(2_000_000)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
assert (f(2_000_000) == wanted).all() and (f(2_000_000) == wanted).all()
signal.setitimer(signal.ITIMER_REAL, 0)
assert seen
"""

OTHER_THREAD = """
import threading
last, _ = symc.scan(lambda v: v * 0.99 + 1, outputs_info=[state], n_steps=k)
f = symc.function([k], last[-1])
found = []
thread = threading.Thread(target=lambda: found.append(f(3_000_000)))
thread.start()
assert stopped(f, 10**15)
thread.join()
assert len(found) == 1
"""

LOOPS = {"scan": SCAN, "sum": SUM, "while": WHILE, "inner": INNER,
         "interrupt": INTERRUPT, "handled": HANDLED, "in place": IN_PLACE_LOOP,
         "other thread": OTHER_THREAD}  # fmt: skip
KERNELS = {"reduction": REDUCTION, "rows": ROWS, "product": PRODUCT, "in place": IN_PLACE}
WITHOUT_TEAM = {"to its end": TO_ITS_END, "in place": IN_PLACE}


def has_team() -> bool:
    """Whether kernels run on symc's own threads, which ask now and then whether to stop."""
    found = compiler.find_compiler()
    return found is not None and team.applies(found, ())


def run(program: str, **environment: str) -> None:
    import os

    done = subprocess.run(
        [sys.executable, "-c", HEAD + program], cwd=Path(__file__).parents[1], text=True,
        capture_output=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("extension", [True, False])
@pytest.mark.parametrize("name", LOOPS)
def test_a_signal_stops_a_loop(name: str, extension: bool) -> None:
    run(LOOPS[name], SYMC_NO_EXTENSION="" if extension else "1")


@pytest.mark.skipif(Caller is PythonCaller, reason="symc/calls/_call.c is not built")
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("name", KERNELS if has_team() else WITHOUT_TEAM)
def test_a_signal_stops_a_kernel(name: str, threads: str) -> None:
    """Compiled by gcc; by clang, kernels run to their end, and the signal is heard after it."""
    run({**KERNELS, **WITHOUT_TEAM}[name], SYMC_THREADS=threads)
