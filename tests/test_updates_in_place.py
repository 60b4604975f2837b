"""Updates in place: where new values of shared variables are written over the old ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
from symc import optim
from symc import tensor as T
from symc.codegen.verify.program import verify
from symc.pipeline.compile import Clock, build
from tests.test_schedule import stages


def five(name: str) -> Any:
    return symc.shared(np.arange(5.0), name=name)


IN_PLACE: dict[str, tuple[Any, str]] = {
    "add": (lambda w, u, x: ([], [(w, w + x)]), "w"),
    "add, old value wanted": (lambda w, u, x: ([w], [(w, w + x)]), "w"),
    "add, old value folded": (lambda w, u, x: ([w.sum()], [(w, w + x)]), "w"),
    "add, new value wanted": (lambda w, u, x: ([w + x], [(w, w + x)]), "w"),
    "replaced": (lambda w, u, x: ([], [(w, x)]), "w"),
    "other": (lambda w, u, x: ([], [(w, u * 2)]), "w"),
    "normalised": (lambda w, u, x: ([], [(w, w / w.sum())]), "w"),
    "both read both": (lambda w, u, x: ([], [(w, w + u), (u, u - w)]), "uw"),
    "chain": (lambda w, u, x: ([], [(w, w + x), (u, u + w)]), "uw"),
    "chain, turned": (lambda w, u, x: ([], [(u, u + w), (w, w + x)]), "uw"),
    "part set": (lambda w, u, x: ([], [(w, w[1:3].set(x[:2]))]), "w"),
    "part set, old value wanted": (lambda w, u, x: ([w], [(w, w[1:3].set(x[:2]))]), "w"),
    "part inc": (lambda w, u, x: ([], [(w, w[np.array([1, 1, 4])].inc(x[:3]))]), "w"),
    "reshaped and back": (
        lambda w, u, x: ([], [(w, T.tanh(w.reshape((5, 1)) * 2).reshape((5,)))]),
        "w",
    ),
    "read as a column": (lambda w, u, x: ([], [(w, w.reshape((1, 5))[0] - x)]), "w"),
    "read as a matrix elsewhere": (
        lambda w, u, x: ([T.cumsum(w.reshape((1, 5)), axis=1)], [(w, w + x)]),
        "w",
    ),
    "part set of a reshape": (
        lambda w, u, x: ([], [(w, w.reshape((5, 1))[1:3].set(0).reshape((5,)))]),
        "w",
    ),
    "inc of what is computed": (lambda w, u, x: ([], [(w, (w * 2)[1:3].inc(x[:2]))]), "w"),
    # The written value is read first:
    "part inc by itself": (
        lambda w, u, x: ([], [(w, w[np.array([1, 1, 4])].inc(w[np.array([1, 1, 4])]))]),
        "w",
    ),
    "neighbours": (lambda w, u, x: ([], [(w, w[1:].set(w[:-1]))]), "w"),
    # Reading elements that are already overwritten:
    "reversed as a column": (
        lambda w, u, x: ([], [(w, w.reshape((5, 1))[::-1].reshape((5,)))]),
        "",
    ),
    "reversed": (lambda w, u, x: ([], [(w, w[::-1])]), ""),
    "rolled": (lambda w, u, x: ([], [(w, T.roll(w, 1))]), ""),
    "gathered": (lambda w, u, x: ([], [(w, w[np.array([4, 3, 2, 1, 0])])]), ""),
    "two reversed": (lambda w, u, x: ([], [(w, u[::-1]), (u, w[::-1])]), "one"),
    "reversed by the other": (lambda w, u, x: ([], [(w, w + x), (u, w[::-1])]), "u"),
    "softmax": (lambda w, u, x: ([], [(w, T.softmax(w))]), "?"),
    "cumulated": (lambda w, u, x: ([], [(w, T.cumsum(w))]), "?"),
    "swap": (lambda w, u, x: ([], [(w, u), (u, w)]), "?"),
}


@pytest.mark.parametrize("case", IN_PLACE)
def test_in_place_where_it_is_safe(case: str) -> None:
    build, wanted = IN_PLACE[case]
    w, u, x = five("w"), five("u"), T.tensor("float64", (5,), name="x")
    u.set_value(np.arange(5.0) ** 2)
    outputs, updates = build(w, u, x)
    f = symc.function([x], outputs, updates=updates, on_unused_input="ignore")
    made = f.runner.compilation()
    verify(made.optimised)
    chosen = "".join(sorted(s.name or "" for s in made.in_place))
    if wanted == "one":
        assert len(chosen) <= 1
    elif wanted != "?":
        assert chosen == wanted
    # Whatever was chosen, the interpreter agrees.
    state = w.get_value(), u.get_value()
    value = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    results: list[list[Any]] = []
    for mode in ("default", "python"):
        w.set_value(state[0])
        u.set_value(state[1])
        f = symc.function([x], outputs, updates=updates, on_unused_input="ignore", mode=mode)
        values = [*f(value), *f(value), w.get_value(), u.get_value()]
        results.append(values)
    for compiled, interpreted in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, interpreted, rtol=1e-14)


def test_in_place_writes_into_the_same_memory() -> None:
    w, x = five("w"), T.tensor("float64", (5,), name="x")
    f = symc.function([x], w, updates=[(w, w + x)])
    memory = w.get_value(borrow=True)
    old = f(np.ones(5))
    assert w.get_value(borrow=True) is memory
    assert memory.tolist() == [1, 2, 3, 4, 5]
    assert old.tolist() == [0, 1, 2, 3, 4]


def test_a_condition_that_needs_the_new_value_forbids_in_place() -> None:
    w, k = symc.shared(np.array([4, 2, 0]), name="w"), T.lvector("k")
    new = w - k
    f = symc.function([k], T.constant([1.0, 2.0])[new].sum(), updates=[(w, new)])
    assert f([3, 2, 0]) == 4
    assert w.get_value().tolist() == [1, 0, 0]
    with pytest.raises(IndexError):
        f([5, 0, 0])
    assert w.get_value().tolist() == [1, 0, 0]


def test_an_embedding_is_updated_in_place() -> None:
    table, k, g = symc.shared(np.zeros((1000, 8)), name="table"), T.lvector("k"), T.matrix("g")
    made = stages([k, g], (table[k] * g).sum(), [(table, table[k].inc(-0.1 * g))])
    assert made.in_place == {table}
    sizes = [b.shape for b in made.optimised.buffers if b.role != "shared"]
    assert not any("1000" in str(shape) for shape in sizes)


OPTIMISERS: list[tuple[str, dict[str, Any]]] = [
    ("sgd", {}), ("sgd", {"momentum": 0.9}), ("sgd", {"momentum": 0.9, "nesterov": True}),
    ("adagrad", {}), ("adadelta", {}), ("rmsprop", {}), ("adam", {}), ("adamw", {}), ("adamax", {}),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["default", "fast", "compile"])
@pytest.mark.parametrize(("optimiser", "options"), OPTIMISERS)
def test_optimisers_update_everything_in_place(
    optimiser: str, options: dict[str, Any], mode: str
) -> None:
    """Also parameters that the model looks at under other shapes, which is no reason to copy."""
    w, u, x = symc.shared(np.ones((20, 30)), name="w"), five("u"), T.matrix("x")
    hidden = T.tanh(x @ w).reshape((-1, 5)) * u.reshape((1, 5))
    cost = T.sqr(hidden).mean() + T.sqr(u.reshape((5, 1))).sum()
    cost = cost + T.sqr(w.ravel()).sum()
    updates = getattr(optim, optimiser)(cost, [w, u], learning_rate=0.1, **options)
    request = symc.function([x], cost, updates=updates, mode="python").request
    made = build(request, mode=mode, clock=Clock())
    verify(made.optimised)
    assert made.in_place == {variable for variable, _ in request.updates}
    assert sum(buffer.role == "output" for buffer in made.optimised.buffers) == 1


def test_padding_is_not_written_where_its_argument_is() -> None:
    """By the condition that there is an element nothing is added, and their lengths are equal."""
    x = T.tensor("float64", (1, None), "x")
    along = T.constant(np.array([[0.25, 0.5]]))
    slope = symc.Rop(T.sum(T.median(x, axis=1)), [x], [along])
    np.testing.assert_allclose(symc.function([x], slope)([[0.0, 1.0]]), 0.375)


WITHOUT_MEMORY: dict[str, Callable[[Any], Any]] = {
    "parts of a sum": lambda n: T.zeros((n, n)).sum(),
    "a sorted vector": lambda n: T.sort(T.zeros((n,)))[0],
    "running sums": lambda n: T.cumsum(T.ones((n,)))[0],
    "chosen elements": lambda n: T.nonzero(T.ones((n,)))[0][0],
}


@pytest.mark.parametrize("name", WITHOUT_MEMORY)
def test_nothing_is_changed_where_there_is_no_memory(name: str) -> None:
    """Memory whose size a call measures is asked for before variables are overwritten."""
    first, last, n = symc.shared(np.ones(3)), symc.shared(np.ones(3)), T.lscalar("n")
    updates = [(first, first * 2), (last, last + WITHOUT_MEMORY[name](n))]
    f = symc.function([n], updates=updates)
    with pytest.raises(MemoryError):
        f(2**46)
    assert first.get_value().tolist() == last.get_value().tolist() == [1, 1, 1]
    f(2)
    assert first.get_value().tolist() == [2, 2, 2]


def test_measured_parts_are_written_where_the_whole_lies() -> None:
    """That takes no memory, so that nothing need wait for it."""
    table, n, m = five("table"), T.lscalar("n"), T.lscalar("m")
    changed = table[:n].inc(1.0)[m:].set(3.0)
    total = T.ones((n + m,)).sum()
    request = symc.function([n, m], total, updates=[(table, changed)], mode="python").request
    assert build(request, mode="default", clock=Clock()).in_place == {table}
