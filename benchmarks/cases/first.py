"""The other cases' functions compiled in the background: when their first results are there.

A contestant of another case is run up to its first call, and what it compiles and calls is then
taken over: `symc.function` and `jax.jit` give something that ends the contestant when it is called.
So nothing has been compiled before the clock is started. It is the clock on the wall, also with one
thread each: what compilers do meanwhile in processes of their own is not waited for.

symc imports most of itself when it first compiles, which is in these times; JAX imports all at
once, which is in none. So what imports take, from one program's start, is measured as well, and the
first result with it: that a second setting up takes less than the first is their time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import numpy as np
from measure import (
    Case,
    Contestant,
    Line,
    Once,
    Results,
    check,
    compared,
    detail,
    module,
    show,
)

from cases import (
    adam,
    black_scholes,
    choices,
    deep_network,
    fourier,
    gaussian_process,
    layer_norm,
    lenet,
    logistic,
    loop,
    lstm,
    network,
    pairwise,
    scalar,
    softmax,
    sorting,
)

WITH_IMPORTS = "from the program's start"
CALLS, LONGEST = 100, 5.0  # seconds that calls after the first may take altogether


class FirstCall(BaseException):
    """Ends a contestant at its first call."""

    def __init__(self, made: Uncompiled, args: tuple[Any, ...]) -> None:
        self.made, self.call = made, args


class Uncompiled:
    """What stands for a compiled function: what it is made from, until it is called."""

    hit = False

    def __init__(self, *given: Any, **options: Any) -> None:
        self.given, self.options = given, options
        self.facts: dict[str, int] = defaultdict(int)

    def __call__(self, *args: Any) -> NoReturn:
        raise FirstCall(self, args)

    def lower(self, *args: Any) -> NoReturn:
        """JAX's way to compile without a call."""
        raise FirstCall(self, args)


@contextmanager
def uncompiled(package: Any, name: str) -> Generator[None]:
    """In the block, the package's compiler makes `Uncompiled`."""
    compiler = getattr(package, name)
    setattr(package, name, Uncompiled)
    try:
        yield
    finally:
        setattr(package, name, compiler)


def first_call(package: Any, name: str, contestant: Contestant) -> FirstCall:
    """How a contestant calls its function first."""
    with uncompiled(package, name):
        try:
            contestant.make()
        except FirstCall as call:
            return call
    raise AssertionError("the contestant has called nothing")


def prepared(package: str, name: str, contestant: Contestant) -> tuple[Any, FirstCall, float]:
    """A package, the first call of a contestant, and what the imports for it took, but NumPy's."""
    start = time.monotonic()
    imported = module(package)
    first_call(imported, name, contestant)
    once = time.monotonic()
    call = first_call(imported, name, contestant)
    return imported, call, max(0.0, (once - start) - (time.monotonic() - once))


def timed(compiled: Callable[[], Callable[[], Any]]) -> tuple[Any, Once]:
    """The first result, and the times from the start to it and to the hundredth."""
    start = time.monotonic()
    call = compiled()
    made = time.monotonic()
    result = call()
    first = time.monotonic()
    facts = {"function": made - start, "call": first - made}
    count = 1
    while count < CALLS and time.monotonic() < first + LONGEST:
        call()
        count += 1
    facts["hundredth" if count == CALLS else f"number {count}"] = time.monotonic() - start
    return result, Once(first - start, facts)


def symc_first(contestant: Contestant, *, background: bool) -> Once:
    """symc's function; what the background's first call gave is what a compiled call gives."""
    package, call, imports = prepared("symc", "function", contestant)
    functions: list[Any] = []

    def compiled() -> Callable[[], Any]:
        options = {**call.made.options, "background": background}
        functions.append(package.function(*call.made.given, **options))
        return partial(functions[0], *call.call)

    values = [node.get_value() for node in _shared(call)]
    result, once = timed(compiled)
    functions[0].wait()
    for node, value in zip(_shared(call), values, strict=True):
        node.set_value(value)
    _same(result, functions[0](*call.call))
    return with_imports(once, imports)


def _shared(call: FirstCall) -> list[Any]:
    """The shared variables that a function updates."""
    updates: Any = call.made.options.get("updates") or ()
    return list(dict(updates))


def _same(first: Any, later: Any) -> None:
    if first is None:
        return
    if not isinstance(first, list):
        first, later = [first], [later]
    for one, other in zip(first, later, strict=True):
        size = float(np.abs(other).max(initial=0.0))
        check(one, other, rtol=1e-4, atol=1e-5 * size)


def jax_first(contestant: Contestant) -> Once:
    """JAX's function, compiled in the first call as ever; arguments are not given away."""
    package, call, imports = prepared("jax", "jit", contestant)

    def compiled() -> Callable[[], Any]:
        function = package.jit(*call.made.given)
        return lambda: package.block_until_ready(function(*call.call))

    return with_imports(timed(compiled)[1], imports)


def with_imports(once: Once, imports: float) -> Once:
    """The same, with what the imports took, and both together."""
    facts = {**once.facts, "imports": imports, WITH_IMPORTS: imports + once.seconds}
    return Once(once.seconds, facts)


def judge(results: Results) -> list[Line]:
    """Half of JAX's time."""
    lines = compared(results, ("JAX", 0.5), ("symc, at once", None))
    lines += from_the_start(results)
    for name in ("symc", "symc, at once", "JAX"):
        for line in detail(results, name, "imports", "function", "call", "hundredth"):
            lines.append(Line(f"of {name}", line.figure))
    return lines


def from_the_start(results: Results) -> list[Line]:
    """The first results with what the imports took; of the rounds with the least."""
    mine, theirs = results.times.get("symc"), results.times.get("JAX")
    if mine is None or theirs is None:
        return []
    ours, others = mine.facts[WITH_IMPORTS], theirs.facts[WITH_IMPORTS]
    ratio = ours / others
    against = f"JAX {show(others)}"
    return [Line(WITH_IMPORTS, show(ours), against, f"{ratio:.2f}", "<= 0.5", ratio <= 0.5)]


def case(other: Case) -> Case:
    """The same function as in another case."""
    mine = other.contestants["symc"]
    peer = other.contestants.get("JAX") or other.contestants["jax"]
    contestants = {
        "symc": Contestant(
            partial(symc_first, mine, background=True), fresh=True, cache="empty", most=4
        ),
        "symc, at once": Contestant(
            partial(symc_first, mine, background=False), fresh=True, cache="empty", most=4
        ),
        "JAX": Contestant(partial(jax_first, peer), "jax", fresh=True, most=4),
    }
    title = f"the first result, compiled in the background: {other.title}"
    return Case(f"first_{other.name}", title, contestants, judge)


CASES = tuple(
    case(other)
    for other in (
        scalar.CASE, logistic.COLD, black_scholes.CASE, softmax.CASE, layer_norm.CASE, adam.CASE,
        pairwise.CASE, network.CASE, lenet.CASE, loop.CASE, lstm.CASE, deep_network.CASE,
        choices.CASE, gaussian_process.GAUSSIAN_PROCESS, fourier.CASE, sorting.CASE,
    )
)  # fmt: skip
