"""Functions that compile in the background: calls meanwhile, the change of hands, and all that ends
it early."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.calls import background, modes
from symc.calls.call import Caller
from symc.codegen.errors import CompileFailed
from symc.codegen.targets import compiler
from symc.errors import BadArgument, BadIndex, RankError, ShapeMismatch
from symc.pipeline import library

ROWS = np.random.default_rng(0).standard_normal((5, 4))


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path) -> Iterator[None]:
    with library.store_at(tmp_path / "cache"):
        yield
        while any(thread.name == background.NAME for thread in threading.enumerate()):
            time.sleep(0.001)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Nothing is compiled until this is set."""
    gate = threading.Event()
    build = modes.runner_for

    def waiting(*args: Any, **options: Any) -> Any:
        gate.wait()
        return build(*args, **options)

    monkeypatch.setattr(background, "runner_for", waiting)
    yield gate
    gate.set()


def softmax_step(**options: Any) -> tuple[Any, Any]:
    x, w = T.matrix("x"), symc.shared(np.arange(4.0), name="w")
    y = T.softmax(x * w)
    return symc.function([x], y, updates=[(w, w + y.sum(axis=0))], **options), w


def test_the_interpreter_answers_until_it_is_compiled(held: threading.Event) -> None:
    f, w = softmax_step(background=True)
    wanted, v = softmax_step()
    for _ in range(3):
        np.testing.assert_allclose(f(ROWS), wanted(ROWS), rtol=1e-12)
    assert not f.compiled
    held.set()
    assert f.wait()
    assert f.compiled
    for _ in range(3):
        np.testing.assert_allclose(f(ROWS), wanted(ROWS), rtol=1e-12)
    np.testing.assert_allclose(w.get_value(), v.get_value(), rtol=1e-12)


def test_the_call_after_the_change_is_as_direct_as_any() -> None:
    f, _ = softmax_step(background=True)
    f.wait()
    assert type(vars(f)["_call"]) is Caller


@pytest.mark.parametrize("form", ["one", "list", "dict", "none"])
def test_all_forms_of_results(held: threading.Event, form: str) -> None:
    x, w = T.vector("x"), symc.shared(1.0, name="w")
    outputs: Any = {"one": x + w, "list": [x + w, x], "dict": {"a": x + w}, "none": None}[form]
    makes = [
        symc.function([x], outputs, updates=[(w, w + x.sum())], background=later)
        for later in (True, False)
    ]
    given = np.arange(3.0)
    found = []
    for f in makes:
        w.set_value(1.0)
        found.append((f(given), w.get_value()))
    held.set()
    makes[0].wait()
    w.set_value(1.0)
    found.append((makes[0](given), w.get_value()))
    assert repr(found[0]) == repr(found[1]) == repr(found[2])


def test_random_streams_go_on_with_the_same_numbers(held: threading.Event) -> None:
    def drawn(**options: Any) -> Any:
        stream = T.random.RandomStream(7)
        return symc.function([], stream.normal(size=(6,)), **options)

    f, wanted = drawn(background=True), drawn()
    numbers = [f(), f()]
    held.set()
    assert f.wait()
    numbers += [f(), f()]
    np.testing.assert_allclose(numbers, [wanted() for _ in range(4)], rtol=1e-13)


def test_a_long_call_of_the_interpreter_is_taken_over() -> None:
    steps = T.lscalar("steps")
    w = symc.shared(0.0, name="w")
    last = symc.fori_loop(0, steps, lambda i, h: T.tanh(h + 1.0), T.constant(0.5))
    f = symc.function([steps], last, updates=[(w, w + 1)], background=True)
    start = time.monotonic()
    f(10_000_000)  # the interpreter takes minutes
    assert f.compiled
    assert time.monotonic() - start < 100
    assert w.get_value() == 1


def test_loops_in_loops_of_as_many_steps_as_there_are_elements(held: threading.Event) -> None:
    """Their steps were counted in lengths of the outer loop's body, which have no values."""
    a, b = T.vector("a"), T.vector("b")
    n, m = a.shape[0], b.shape[0]

    def outer(i: Any, table: Any) -> Any:
        def inner(j: Any, table: Any) -> Any:
            return table[i + 1, j + 1].set(table[i, j] + a[i] * b[j])

        return symc.fori_loop(0, m, inner, table)

    table = symc.fori_loop(0, n, outer, T.zeros((n + 1, m + 1)))
    f = symc.function([a, b], table, background=True)
    assert not f.compiled
    assert f(np.ones(3), np.ones(4))[-1].tolist() == [0.0, 1.0, 2.0, 3.0, 3.0]


def test_a_call_too_large_for_the_interpreter_waits() -> None:
    x, y = T.vector("x"), T.vector("y")
    f = symc.function([x, y], T.minimum(x[:, None], y[None]).sum(), background=True)
    many = np.ones(20_000)
    assert f(many, many) == 4e8  # of 3 GB
    assert f.compiled


def test_what_the_user_wrote_runs_once_in_a_call() -> None:
    counted: list[int] = []

    @symc.op(inputs=["float64[n]"], output="float64[n]")
    def count(x: Any) -> Any:
        counted.append(1)
        return x

    x = T.vector("x")
    f = symc.function([x], count(x) + 1, background=True)
    assert f.compiled
    f(np.ones(3))
    assert counted == [1]


def test_found_in_the_cache_it_is_compiled_at_once() -> None:
    softmax_step()
    f, _ = softmax_step(background=True)
    assert f.compiled
    assert f.hit


@pytest.mark.parametrize("mode", ["python", "nanguard", "debug"])
def test_modes_that_interpret_or_check_do_it_at_once(mode: str) -> None:
    f, _ = softmax_step(background=True, mode=mode)
    assert f.wait(0) == (mode == "debug")


def test_a_device_compiles_at_once() -> None:
    x = T.vector("x")
    assert symc.function([x], x + 1, background=True, device="cuda:sim").wait(0)


def test_the_setting_and_the_variable() -> None:
    with symc.config.set(background=True):
        assert softmax_step()[0].background
        assert not softmax_step(background=False)[0].background
    asked = "import symc; print(symc.config.background)"
    environment = {**os.environ, "SYMC_BACKGROUND": "1"}
    assert said(asked, environment) == "True\n"


# --- errors ---------------------------------------------------------------------------------------


def broken(monkeypatch: pytest.MonkeyPatch) -> Any:
    def refuse(*args: Any, **options: Any) -> None:
        raise CompileFailed("int f;", ["gcc"], "no such luck")

    monkeypatch.setattr("symc.codegen.targets.c.CTarget.compile", refuse)
    return softmax_step(background=True)[0]


def test_errors_of_the_compiler_are_raised_by_wait_and_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = broken(monkeypatch)
    for ask in (f.wait, lambda: f(ROWS), lambda: f.source, f.wait):
        with pytest.raises(CompileFailed, match="no such luck"):
            ask()
    assert not f.compiled


def test_errors_of_calls_are_those_of_compiled_functions(held: threading.Event) -> None:
    x, y = T.vector("x"), T.vector("y")
    w = symc.shared(0.0, name="w")
    f = symc.function([x, y], x + y, updates=[(w, w + 1)], background=True)
    texts = []
    for _ in range(2):
        with pytest.raises(ShapeMismatch) as mismatch:
            f(np.ones(2), np.ones(3))
        with pytest.raises(BadArgument) as missing:
            f(np.ones(2))
        with pytest.raises(RankError) as rank:
            f(np.ones(2), np.ones((2, 2)))
        texts.append([str(error.value) for error in (mismatch, missing, rank)])
        held.set()
        f.wait()
    assert texts[0] == texts[1]
    assert w.get_value() == 0


def test_without_a_compiler_the_interpreter_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "find_compiler", lambda: None)
    with pytest.warns(RuntimeWarning, match="NumPy interpreter"):
        f, w = softmax_step(background=True)
    assert not f.wait()
    f(ROWS)
    np.testing.assert_allclose(w.get_value().sum(), 6 + 5)


# --- what asks for the compiled function ----------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f.source, lambda f: f.program, lambda f: f.graph, lambda f: f.explain(),
        lambda f: f.seconds["compile"], lambda f: f.folder, lambda f: f.assembly(),
    ],
    ids=["source", "program", "graph", "explain", "seconds", "folder", "assembly"],
)  # fmt: skip
def test_what_shows_the_compiled_function_waits_for_it(ask: Callable[[Any], Any]) -> None:
    f, _ = softmax_step(background=True)
    assert ask(f)
    assert f.compiled


def test_a_copy_compiles_in_the_background_too(held: threading.Event) -> None:
    f, w = softmax_step(background=True)
    other = symc.shared(np.ones(4))
    g = f.copy(swap={w: other})
    assert not g.compiled
    g(ROWS)
    np.testing.assert_array_equal(w.get_value(), np.arange(4.0))
    assert other.get_value().sum() == pytest.approx(4 + 5)


def test_saved_and_pickled_while_it_compiles(held: threading.Event, tmp_path: Path) -> None:
    f, w = softmax_step(background=True)
    symc.save(f, tmp_path / "f.symc")
    text = pickle.dumps(f)
    wanted = f(ROWS)
    for g in (symc.load(tmp_path / "f.symc"), pickle.loads(text)):
        assert g.compiled
        np.testing.assert_allclose(g(ROWS), wanted, rtol=1e-12)
    np.testing.assert_allclose(w.get_value().sum(), 11)


# --- threads, processes, ends ---------------------------------------------------------------------


def test_calls_of_many_threads_during_the_change_lose_no_update() -> None:
    x, w = T.vector("x"), symc.shared(0, name="w")
    f = symc.function([x], x.sum(), updates=[(w, w + 1)], background=True)
    calls = 300

    def work() -> None:
        for _ in range(calls):
            assert f([1.0, 2.0]) == 3

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    f.wait()
    for thread in threads:
        thread.join()
    assert w.get_value() == 4 * calls


def test_many_functions_are_compiled_by_few_threads() -> None:
    x = T.vector("x")
    before = threading.active_count()
    functions = [symc.function([x], x * k + k, background=True) for k in range(12)]
    assert threading.active_count() <= before + background.MOST
    for k, f in enumerate(functions):
        np.testing.assert_array_equal(f([1.0]), [2.0 * k])
    assert all(f.wait() for f in functions)
    while any(thread.name == background.NAME for thread in threading.enumerate()):
        time.sleep(0.01)  # none of them is left


def test_a_function_that_is_gone_is_not_compiled(held: threading.Event) -> None:
    x = T.vector("x")
    functions = [symc.function([x], x * k, background=True) for k in range(20)]
    functions = functions[-1:]
    held.set()
    functions[0].wait()
    assert len(list(library.the_store().entries())) < 2 * (background.MOST + 2)


def test_a_child_of_fork_compiles_for_itself(held: threading.Event) -> None:
    f, _ = softmax_step(background=True)
    wanted = f(ROWS)
    child = os.fork()
    if child == 0:
        held.set()
        f.wait()
        good = f.compiled and f(ROWS).shape == wanted.shape
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0


SCRIPT = """
import numpy as np, symc, symc.tensor as T
x = T.matrix("x")
f = symc.function([x], [T.softmax(x * k).sum() for k in range(5)], background=True)
f(np.ones((3, 4)))
print("ends")
"""


def said(script: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert not done.stderr
    return done.stdout


def test_python_ends_while_it_compiles_and_leaves_nothing(tmp_path: Path) -> None:
    assert said(SCRIPT, {**os.environ, "SYMC_CACHE_DIR": str(tmp_path)}) == "ends\n"
    assert not list(tmp_path.glob("tmp/*"))


def test_ctrl_c_in_wait_leaves_the_compilation_alone(held: threading.Event) -> None:
    f, _ = softmax_step(background=True)
    main = threading.main_thread().ident
    assert main is not None
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    try:
        threading.Timer(0.05, signal.pthread_kill, [main, signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            f.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    held.set()
    assert f.wait()


def test_errors_in_steps_of_loops_too_long_for_the_interpreter() -> None:
    """The compiled function asks the interpreter for the error; that was ended as overtaken."""
    n = T.lscalar("n")
    w = symc.shared(np.zeros(3), name="w")
    new = symc.fori_loop(0, n, lambda i, w: w[T.where(i < n - 1, 0, 3)].inc(1.0), w)
    f = symc.function([n], updates=[(w, new)], background=True)
    with pytest.raises(BadIndex) as found:
        f(20_000)
    assert found.value.__context__ is None
    assert f.compiled
    assert not w.get_value().any()
