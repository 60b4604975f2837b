"""The call path: the extension and its Python twin behave alike."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from symc.calls.python_call import PythonCaller
from symc.codegen.dtypes import BOOL, FLOAT64, INT64
from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Buffer,
    Check,
    Const,
    If,
    Kernel,
    Launch,
    Length,
    Load,
    Measure,
    Param,
    Program,
    Size,
    Store,
    Var,
    add,
    binary,
    const,
)
from tests.codegen.compiled import Failed, build, caller
from tests.codegen.programs import ZERO, C, N, buffer, load, loop, op, program, row

if TYPE_CHECKING:
    from symc.codegen.targets.library import Library


def extension() -> Any:
    """The class in C, None where it is not built."""
    try:
        return importlib.import_module("symc.calls._call").Caller
    except ImportError:
        return None


INDEX, M = Var("i"), Var("m")
ONE = Const(1.0, FLOAT64)

KINDS = [
    pytest.param("python", id="python"),
    pytest.param(
        "extension",
        id="extension",
        marks=pytest.mark.skipif(extension() is None, reason="symc/calls/_call.c is not built"),
    ),
]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    """Both classes."""
    return PythonCaller if request.param == "python" else extension()


def square() -> Program:
    """``y = x*x + 1`` of a number."""
    x = load("x", ZERO)
    return program(
        [buffer("x", "input"), buffer("y", "output")],
        Store("y", ZERO, op("add", op("mul", x, x), ONE)),
        sizes=[],
    )


def total() -> Program:
    """``y = a + b`` of vectors; lengths must agree; through a temporary."""
    twice = (
        loop("serial", "i", N, Store("t", INDEX, op("add", load("a", INDEX), load("b", INDEX)))),
    )
    copy = (loop("serial", "i", N, Store("y", INDEX, load("t", INDEX))),)
    return Program(
        "total",
        (Size(N, Length("a", 0)),),
        (
            buffer("a", "input", N), buffer("b", "input", N), buffer("t", "temp", N),
            buffer("y", "output", N),
        ),
        (
            Kernel("add", (Param("a", FLOAT64, False), Param("b", FLOAT64, False),
                           Param("t", FLOAT64, True)), (N,), twice),
            Kernel("copy", (Param("t", FLOAT64, False), Param("y", FLOAT64, True)), (N,), copy),
        ),
        (
            Check(binary("eq", Length("b", 0), N), 3),
            Launch("add", ("a", "b", "t"), (N,)),
            Launch("copy", ("t", "y"), (N,)),
        ),
    )  # fmt: skip


def positive() -> Program:
    """``y = x[x > 0]``, whose length is measured, then a Check that y is not longer than 9."""
    counter = Buffer("at", INT64, (), "local")
    at = Load("at", ZERO, INT64)
    is_positive = binary("gt", load("x", INDEX), Const(0.0, FLOAT64))
    count = (
        Store("c", ZERO, const(0)),
        loop("serial", "i", N, If(is_positive, (Accumulate("c", ZERO, "add", const(1)),))),
    )
    pick = (
        Alloc(counter),
        Store("at", ZERO, const(0)),
        loop(
            "serial", "i", N,
            If(is_positive, (
                Store("t", at, load("x", INDEX)), Store("at", ZERO, add(at, const(1)))
            )),
        ),
        loop("serial", "j", M, Store("y", Var("j"), load("t", Var("j")))),
    )  # fmt: skip
    return Program(
        "positive",
        (Size(N, Length("x", 0)), Size(M, None)),
        (
            buffer("x", "input", N), buffer("c", "temp", dtype=INT64), buffer("t", "temp", M),
            buffer("y", "output", M),
        ),
        (
            Kernel("count", (Param("x", FLOAT64, False), Param("c", INT64, True)), (N,), count),
            Kernel("pick", (Param("x", FLOAT64, False), Param("t", FLOAT64, True),
                            Param("y", FLOAT64, True)), (N, M), pick),
        ),
        (
            Launch("count", ("x", "c"), (N,)),
            Measure("m", "c"),
            Launch("pick", ("x", "t", "y"), (N, M)),
            Check(binary("le", M, const(9)), 5),
        ),
    )  # fmt: skip


def step() -> Program:
    """``w -= g`` in place and ``v + w`` fresh: one shared variable of each kind."""
    w, v, g = load("w", INDEX), load("v", INDEX), load("g", INDEX)
    return program(
        [
            buffer("g", "input", N), buffer("w", "shared", N), buffer("v", "shared", N),
            buffer("k", "constant", const(2)), buffer("y", "output", N), buffer("new", "output", N),
        ],
        loop(
            "serial", "i", N,
            Store("y", INDEX, op("add", w, load("k", const(1)))),
            Store("new", INDEX, op("add", v, w)),
            Store("w", INDEX, op("sub", w, g)),
        ),
        sizes=[N],
    )  # fmt: skip


@pytest.fixture(scope="module")
def libraries() -> dict[str, tuple[Program, Library]]:
    made = {f.__name__: f() for f in (square, total, positive, step)}
    return {name: (program, build(program)) for name, program in made.items()}


Libraries = dict[str, "tuple[Program, Library]"]


def test_numbers(kind: Any, libraries: Libraries) -> None:
    f = caller(*libraries["square"], kind=kind, returns=(1, "one"))
    for value in (3.0, 3, np.float64(3), np.array(3.0), np.array([[3.0]])[0, 0], True, "3"):
        y = f(value)
        assert type(y) is np.ndarray
        assert y.shape == ()
        assert y.dtype == np.float64
        assert y == float(value) ** 2 + 1
    assert np.isnan(f(float("nan")))
    assert f(-1) == 2
    assert f(-1.0) == 2
    assert f(2**60) == 2.0**120 + 1
    with pytest.raises(OverflowError):
        f(10**400)
    first, second = f(1.0), f(2.0)
    assert (first, second) == (2.0, 5.0)


def test_what_is_converted(kind: Any, libraries: Libraries) -> None:
    seen: list[tuple[int, object]] = []

    def convert(index: int, value: object) -> Any:
        seen.append((index, value))
        return np.array(value, np.float64, order="C")

    f = caller(*libraries["total"], kind=kind, convert=convert, returns=(1, "one"))
    x = np.arange(6.0)

    unaligned = np.frombuffer(b"_" + x.tobytes(), np.uint8)[1:].view("f8")
    odds: tuple[Any, ...] = (
        [0, 1, 2, 3, 4, 5], np.arange(0, 6, 0.5)[::2], np.arange(6), x.astype(">f8"),
        x.astype(np.float32), x.view(np.recarray), unaligned,
    )  # fmt: skip
    for number, odd in enumerate(odds):
        assert np.array_equal(f(x, odd), 2 * x)
        assert len(seen) == number + 1
        assert seen[-1][0] == 1
        assert seen[-1][1] is odd
    assert np.array_equal(f(x, x), 2 * x)
    assert len(seen) == 7
    readonly = x.copy()
    readonly.flags.writeable = False
    assert np.array_equal(f(readonly, x), 2 * x)
    assert len(seen) == 7


def test_a_conversion_that_does_not_convert(kind: Any, libraries: Libraries) -> None:
    for wrong in (3, np.zeros(3, np.float32), np.zeros((2, 2)), np.zeros(8)[::2]):
        f = caller(*libraries["total"], kind=kind, convert=lambda _, __, wrong=wrong: wrong)
        with pytest.raises(TypeError, match="argument 0 was not converted"):
            f([1.0], np.ones(1))

    def refuse(index: int, value: object) -> Any:
        raise LookupError(index)

    f = caller(*libraries["total"], kind=kind, convert=refuse)
    with pytest.raises(LookupError):
        f(np.ones(1), "no")


def test_fixed_lengths(kind: Any, libraries: Libraries) -> None:
    f = caller(*libraries["total"], kind=kind, fixed=[(3,), (-1,)], returns=(1, "one"))
    assert np.array_equal(f(np.ones(3), np.ones(3)), [2, 2, 2])
    with pytest.raises(TypeError, match="argument 0 was not converted"):
        f(np.ones(4), np.ones(4))


def test_wrong_numbers_of_arguments(kind: Any, libraries: Libraries) -> None:
    f: Any = caller(*libraries["total"], kind=kind)
    keywords = {"b": np.ones(1)}
    for args in ((), (np.ones(1),), (np.ones(1),) * 3):
        with pytest.raises(TypeError, match=f"expected 2 positional arguments, got {len(args)}"):
            f(*args)
    with pytest.raises(TypeError):
        f(np.ones(1), **keywords)


def test_descriptions_that_do_not_fit(kind: Any, libraries: Libraries) -> None:
    made, library = libraries["total"]
    fewer = Program(made.name, made.sizes, made.buffers[1:], made.kernels, made.steps)
    with pytest.raises(ValueError, match="other arrays"):
        caller(fewer, library, kind=kind)
    with pytest.raises(ValueError, match="more outputs"):
        caller(made, library, kind=kind, returns=(2, "list"))
    with pytest.raises(ValueError, match="one for each axis"):
        caller(made, library, kind=kind, fixed=[(1, 2), None])
    with pytest.raises(ValueError, match="memory of another kind of array"):
        caller(made, library, kind=kind, given=2)


def test_failed_checks(kind: Any, libraries: Libraries) -> None:
    f = caller(*libraries["total"], kind=kind)
    a, b = np.ones(2), np.ones(3)
    with pytest.raises(Failed) as caught:
        f(a, b)
    assert caught.value.code == 3
    assert caught.value.arrays[0] is a
    assert caught.value.arrays[1] is b
    assert np.array_equal(f(a, a)[0], [2, 2])


def test_lengths_from_none_to_many(kind: Any, libraries: Libraries) -> None:
    f = caller(*libraries["total"], kind=kind)
    for length in (5, 0, 100_000, 1, 30_000, 0):
        x = np.arange(float(length))
        assert np.array_equal(f(x, x)[0], 2 * x)


def test_what_fills_results_of_no_elements_is_not_run(kind: Any) -> None:
    """2**58 iterations of a loop around a loop of none."""
    rows = loop("serial", "i", N, loop("serial", "j", C, Store("y", row("i", "j"), ONE)))
    program_of = program([buffer("x", "input", N, C), buffer("y", "output", N, C)], rows)
    f = caller(program_of, build(program_of), kind=kind, pure=True)
    assert f(np.empty((2**58, 0)))[0].shape == (2**58, 0)
    assert np.array_equal(f(np.empty((2, 3)))[0], np.ones((2, 3)))


@pytest.mark.parametrize("tiny", [False, True])
def test_measured_outputs(kind: Any, libraries: Libraries, tiny: bool) -> None:
    f = caller(*libraries["positive"], kind=kind, tiny=tiny)
    for x in ([1.0, -2.0, 3.0], [-1.0], [], [2.0] * 9):
        value = np.array(x)
        assert np.array_equal(f(value)[0], value[value > 0])
    with pytest.raises(Failed) as caught:
        f(np.ones(10))
    assert caught.value.code == 5
    assert np.array_equal(f(np.ones(1))[0], [1])


def test_shared_variables(kind: Any, libraries: Libraries) -> None:
    w, v = [np.array([1.0, 2.0])], [np.array([10.0, 20.0])]
    before = v[0]
    f = caller(
        *libraries["step"], kind=kind, shared=(w, v), constants=(np.array([0.0, 100.0]),),
        rebind=((1, v),), returns=(1, "list"),
    )  # fmt: skip
    (y,) = f(np.array([0.5, 0.5]))
    assert np.array_equal(y, [101, 102])
    assert np.array_equal(w[0], [0.5, 1.5])
    assert np.array_equal(v[0], [11, 22])
    assert np.array_equal(before, [10, 20])
    w[0] = np.zeros(2)
    assert np.array_equal(f(np.ones(2))[0], [100, 100])
    w[0] = np.zeros(2, np.float32)
    with pytest.raises(TypeError, match="shared variable 0"):
        f(np.ones(2))
    assert np.array_equal(v[0], [11, 22])


@pytest.mark.parametrize(("returns", "expected"), [((0, "none"), None), ((0, "list"), [])])
def test_no_outputs(kind: Any, libraries: Libraries, returns: Any, expected: object) -> None:
    f = caller(*libraries["square"], kind=kind, returns=returns)
    assert f(1.0) == expected


def test_no_references_leak(kind: Any, libraries: Libraries) -> None:
    """Neither on success, nor through a conversion, nor on any failure."""
    x = np.arange(4.0)
    w, v = [np.ones(4)], [np.ones(4)]
    calls = [
        (caller(*libraries["total"], kind=kind), (x, x), None),
        (caller(*libraries["total"], kind=kind), (x, [1, 2, 3, 4]), None),
        (caller(*libraries["total"], kind=kind), (x, x[:2]), Failed),
        (caller(*libraries["total"], kind=kind), (x, "no"), ValueError),
        (caller(*libraries["total"], kind=kind), (x,), TypeError),
        (caller(*libraries["square"], kind=kind), (3.0,), None),
        (caller(*libraries["positive"], kind=kind), (x,), None),
        (caller(*libraries["positive"], kind=kind), (np.ones(20),), Failed),
        (
            caller(*libraries["step"], kind=kind, shared=(w, v), constants=(np.zeros(2),),
                   rebind=((1, v),)),
            (x,), None,
        ),
    ]  # fmt: skip

    def once(f: Any, args: tuple[Any, ...], error: type[Exception] | None) -> None:
        if error is None:
            f(*args)
            return
        with pytest.raises(error):
            f(*args)

    for f, args, error in calls:
        for _ in range(20):
            once(f, args, error)
        gc.collect()
        counts = [sys.getrefcount(value) for value in (x, w, v, w[0], *args)]
        tracemalloc.start()
        start, _ = tracemalloc.get_traced_memory()
        for _ in range(200):
            once(f, args, error)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - start
        tracemalloc.stop()
        assert [sys.getrefcount(value) for value in (x, w, v, w[0], *args)] == counts
        assert grown < 20_000, (f, args, grown)


def test_callers_are_freed(kind: Any, libraries: Libraries) -> None:
    class Owner:
        f: Any

    def cycle() -> None:
        owner = Owner()

        def convert(index: int, value: object) -> Any:
            return owner

        owner.f = caller(*libraries["total"], kind=kind, convert=convert)
        owner.f(np.ones(3), np.ones(3))

    gc.collect()
    before = sum(isinstance(item, Owner) for item in gc.get_objects())
    for _ in range(10):
        cycle()
    gc.collect()
    assert sum(isinstance(item, Owner) for item in gc.get_objects()) == before


def test_threads_call_at_the_same_time(kind: Any, libraries: Libraries) -> None:
    f = caller(*libraries["total"], kind=kind)
    wrong: list[object] = []

    def work(number: int) -> None:
        for length in range(1, 400):
            x = np.full(length * 7, float(number))
            if not np.array_equal(f(x, x)[0], 2 * x):
                wrong.append((number, length))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_too_large_a_workspace_is_a_memory_error(kind: Any) -> None:
    """A temporary of n*n*n elements, with n too large for any machine."""
    cube = binary("mul", binary("mul", N, N), N)
    body = (Store("y", ZERO, ONE),)
    made = Program(
        "large",
        (Size(N, Length("x", 0)),),
        (buffer("x", "input", N), buffer("t", "temp", cube), buffer("y", "output")),
        (Kernel("k", (Param("t", FLOAT64, True), Param("y", FLOAT64, True)), (), body),),
        (Launch("k", ("t", "y"), ()),),
    )
    f = caller(made, build(made), kind=kind)
    assert f(np.zeros(5))[0] == 1
    for length in (200_000, 3_000_000):  # the second's n*n*n*8 does not fit 64 bits
        with pytest.raises(MemoryError):
            f(np.zeros(length))
    assert f(np.zeros(6))[0] == 1


def test_bools_and_flags(kind: Any) -> None:
    made = program(
        [buffer("x", "input", N, dtype=BOOL), buffer("y", "output", N, dtype=BOOL)],
        loop("serial", "i", N, Store("y", INDEX, Load("x", INDEX, BOOL))),
        sizes=[N],
    )
    f = caller(made, build(made), kind=kind)
    x = np.array([True, False])
    assert np.array_equal(f(x)[0], x)
    f.threads = 7
    assert f.threads == 7
