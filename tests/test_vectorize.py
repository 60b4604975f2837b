"""Functions of single tensors for many at once: `vmap`, `vectorize` and NumPy's kin of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadIndex, RankError, ShapeMismatch
from symc.graph.node import Tensor

RNG = np.random.default_rng(7)
A, B, V = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=3)


def computed(build: Callable[..., Any], *arrays: Any) -> Any:
    inputs = [T.tensor("float64", (None,) * np.ndim(a)) for a in arrays]
    return symc.function(inputs, build(*inputs), mode="python")(*arrays)


@pytest.mark.parametrize(
    ("function", "in_axes", "arrays", "wanted"),
    [
        (lambda r, s: (r * s).sum(), 0, (A, B), (A * B).sum(1)),
        (lambda r, v: r @ v, (0, None), (A, V), A @ V),
        (lambda c: c.max() - c.min(), 1, (A,), np.ptp(A, axis=0)),
        (lambda r: T.sort(r)[::-1], 0, (A,), np.sort(A, axis=1)[:, ::-1]),
        (lambda r: T.interp(r, [-1.0, 0.0, 1.0], V), 0, (A,), np.interp(A, [-1.0, 0.0, 1.0], V)),
        (lambda r: T.outer(r, r), -2, (A,), A[:, :, None] * A[:, None]),
        (lambda r: T.zeros(2), 0, (A,), np.zeros((4, 2))),
        (lambda s: s * 2, 0, (V,), V * 2),
        (lambda r: symc.grad((r**3).sum(), r), 0, (A,), 3 * A**2),
        (lambda r: r[: r.shape[0] - 1], 0, (A,), A[:, :-1]),
        (symc.vmap(lambda s, t: s + t, in_axes=(0, None)), (0, 0), (A, A[:, 0].copy()),
         A + A[:, :1]),
    ],
)  # fmt: skip
def test_vmap(function: Any, in_axes: Any, arrays: Any, wanted: Any) -> None:
    np.testing.assert_allclose(computed(symc.vmap(function, in_axes), *arrays), wanted)


def test_several_results_and_where_their_axis_is() -> None:
    mapped = symc.vmap(lambda r: (r * 2, [r.sum()][0]), out_axes=-1)
    double, total = computed(lambda a: list(mapped(a)), A)
    np.testing.assert_allclose(double, 2 * A.T)
    np.testing.assert_allclose(total, A.sum(1))
    assert isinstance(mapped(T.matrix("a")), tuple)


def test_gradients_pass_through_vmap() -> None:
    a = T.matrix("a")
    cost = symc.vmap(lambda r: T.exp(r).prod())(a).sum()
    got = symc.grad(cost, a).eval({a: A})
    np.testing.assert_allclose(got, np.broadcast_to(np.exp(A.sum(1))[:, None], A.shape))


@pytest.mark.parametrize(
    ("signature", "function", "arrays"),
    [
        (None, lambda m: lambda x, y: m.where(x > y, x - y, x + y), (A, V)),
        ("(n)->()", lambda m: lambda x: x[0] * 2, (RNG.normal(size=(2, 4, 3)),)),
        ("(n),(n)->()", lambda m: lambda x, y: (x * y).sum(), (A, V)),
        ("(m,n),(n)->(m)", lambda m: lambda x, y: x @ y, (RNG.normal(size=(2, 4, 3)), V)),
        ("(n)->(n),()", lambda m: lambda x: (x * 2, x.sum()), (A,)),
    ],
)
def test_vectorize(signature: str | None, function: Any, arrays: Any) -> None:
    wanted = np.vectorize(function(np), signature=signature)(*arrays)
    mine = T.vectorize(function(T), signature=signature)
    got = computed(lambda *xs: list(r) if isinstance(r := mine(*xs), tuple) else r, *arrays)
    for one, other in zip(*(r if isinstance(r, list | tuple) else [r] for r in (got, wanted)),
                          strict=True):  # fmt: skip
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(), (2,), (2, 5)])
def test_apply_along_axis(axis: int, shape: tuple[int, ...]) -> None:
    c, factor = RNG.normal(size=(2, 4, 3)), RNG.normal(size=shape)
    wanted = np.apply_along_axis(lambda v: factor * v.sum(), axis, c)
    got = computed(lambda x: T.apply_along_axis(lambda v: factor * v.sum(), axis, x), c)
    np.testing.assert_allclose(got, wanted)


INDEXED: list[Callable[..., Any]] = [
    lambda x, i: x[i[0]], lambda x, i: x[:, i[0]], lambda x, i: x[i[0], i[1] - 3],
    lambda x, i: x[1:, i[0]][::-1], lambda x, i: x[-1, i[0]],
    lambda x, i: x[i[0]].set(x[0] * 2), lambda x, i: x[1:, i[0]].set(5.0),
    lambda x, i: x[1:, i[0]].inc(x[0, :2]), lambda x, i: x[0, i[1]].inc(x.sum()),
]  # fmt: skip


@pytest.mark.parametrize("function", INDEXED)
def test_an_index_that_differs_within_the_batch(function: Callable[..., Any]) -> None:
    matrices, rows = RNG.normal(size=(4, 3, 3)), RNG.integers(0, 3, (4, 2))
    x, m, indexes, index = T.tensor3("x"), T.matrix("m"), T.lmatrix("i"), T.lvector("j")
    one = function(m, index)
    single = symc.function([m, index], [one, symc.grad(T.sin(one).sum(), m)], mode="python")
    for args, first in (((x, indexes), 0), ((m, indexes), None)):
        whole = symc.vmap(function, in_axes=(first, 0))(*args)
        slope = symc.grad(T.sin(whole).sum(), args[0])
        batch = symc.function(args, [whole, slope], mode="python")
        many = matrices if first == 0 else np.stack([matrices[0]] * 4)
        value, slopes = batch(matrices if first == 0 else matrices[0], rows)
        wanted = [single(*pair) for pair in zip(many, rows, strict=True)]
        np.testing.assert_array_equal(value, [each for each, _ in wanted])
        found = np.stack([each for _, each in wanted])
        np.testing.assert_allclose(slopes, found if first == 0 else found.sum(axis=0))


def test_gradients_of_recurrences_in_batches() -> None:
    """A factor that is the same for the whole batch had no axis of it: indexing it failed."""
    x, v = T.matrix("x"), T.vector("v")
    values = RNG.normal(size=(2, 3))
    for function in (
        lambda row: T.polyval(row, 2.0),
        lambda row: symc.hessian((row**3).prod(), row),
    ):
        whole = symc.grad(T.sin(symc.vmap(function)(x)).sum(), x).eval({x: values})
        rows = symc.function([v], symc.grad(T.sin(function(v)).sum(), v), mode="python")
        np.testing.assert_allclose(whole, [rows(row) for row in values], rtol=1e-9)


def test_what_is_refused() -> None:
    x, s = T.matrix("x"), T.scalar("s")
    two, three = (T.tensor("float64", (n,)) for n in (2, 3))
    refused: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: symc.vmap(T.add)(two, three), ShapeMismatch, "vmap: axis 0 is 2 and 3"),
        (lambda: symc.vmap(T.add, in_axes=(0,))(x, x), ValueError, "1 in_axes for 2 arguments"),
        (lambda: symc.vmap(T.exp, in_axes=None)(x), ValueError, "needs an axis"),
        (lambda: symc.vmap(T.exp)(s), IndexError, "there is no axis 0"),
        (lambda: T.vectorize(T.exp, signature="n->n"), ValueError, "is no signature"),
        (lambda: T.vectorize(T.sum, signature="(n)->()")(s), RankError, "needs 1 axes here"),
        (lambda: T.vectorize(T.sum, signature="(n)->()")(x, x), TypeError, "has 1 arguments"),
        (
            lambda: symc.vmap(lambda r: r[r > 0])(x),
            symc.errors.NotBatchable,
            "nonzero: its lengths would differ",
        ),
        (
            lambda: symc.vmap(lambda r, k: r[k:].sum())(x, T.lvector("k")),
            symc.errors.NotBatchable,
            "its lengths would differ",
        ),
    ]
    for call, error, text in refused:
        with pytest.raises(error, match=text or None):
            call()
    with pytest.raises(ShapeMismatch, match="axis 0"):
        computed(symc.vmap(T.add), A, A[:2])


def test_a_bug_vmap_of_the_gradient_of_a_loop_that_writes_was_refused() -> None:
    """Lengths of what differs within a batch do not differ themselves, in a loop's body either."""

    def written(row: Tensor) -> Tensor:
        last: Tensor = symc.fori_loop(
            1, 3, lambda i, state: state[i].set(T.sin(state[i - 1]) * state[i]), row
        )
        return last

    x, row = T.matrix("x"), T.vector("row")
    rows = symc.function([row], symc.jacobian(written(row), row), mode="python")
    f = symc.function([x], symc.vmap(lambda r: symc.jacobian(written(r), r))(x))
    np.testing.assert_allclose(f(A), np.stack([rows(a) for a in A]), rtol=1e-12)
    lengths = symc.vmap(lambda r: T.stack([r.sum(), T.as_tensor(r.shape[0]) * 2 + r.size]))
    np.testing.assert_allclose(computed(lengths, A), np.stack([A.sum(1), 0 * A[:, 0] + 9], 1))


def collatz(n: Tensor) -> Any:
    """The number of steps to 1, and the largest number on the way."""
    return symc.while_loop(
        lambda steps, k, most: T.gt(k, 1),
        lambda steps, k, most: (
            steps + 1,
            T.where(T.eq(k % 2, 0), k // 2, 3 * k + 1),
            T.maximum(most, k),
        ),
        [0, n, 1],
    )


@pytest.mark.parametrize("mode", ["default", "python"])
def test_loops_that_end_apart_are_done_one_by_one(mode: str) -> None:
    """Each as often as it wants, none and one by one in a batch of batches, too."""
    n, many = T.lvector("n"), T.lmatrix("many")
    f = symc.function([n], symc.vmap(collatz)(n), mode=mode)
    steps, last, most = f([1, 27, 6, 0])
    assert steps.tolist() == [0, 111, 8, 0]
    assert last.tolist() == [1, 1, 1, 0]
    assert most.tolist() == [1, 9232, 16, 1]
    assert [x.shape for x in f(np.zeros(0, int))] == [(0,)] * 3
    nested = symc.function([many], symc.vmap(symc.vmap(lambda k: collatz(k)[0]))(many), mode=mode)
    assert nested([[1, 2, 3], [7, 27, 1]]).tolist() == [[0, 1, 7], [16, 111, 0]]


@pytest.mark.parametrize("mode", ["default", "python"])
def test_what_ended_loops_would_read_is_not_asked_for(mode: str) -> None:
    """An index that is out of range for those that have ended, or never began."""
    x, k = T.matrix("x"), T.lvector("k")

    def until_negative(row: Tensor) -> Any:
        return symc.while_loop(
            lambda i, total: symc.ifelse(T.lt(i, row.shape[0]), T.ge(row[i], 0), False),
            lambda i, total: (i + 1, total + row[i]),
            [0, 0.0],
        )

    found = symc.function([x], symc.vmap(until_negative)(x), mode=mode)
    counts, sums = found([[1.0, 2.0, -3.0], [1.0, 2.0, 3.0], [-1.0, 2.0, 3.0]])
    assert counts.tolist() == [2, 3, 0]
    assert sums.tolist() == [3.0, 6.0, 0.0]
    heads = symc.vmap(lambda row, n: symc.fori_loop(0, n, lambda i, s: s + row[i] ** 2, 0.0))(x, k)
    f = symc.function([x, k], [heads, symc.grad(heads.sum(), x)], mode=mode)
    sums, slopes = f(A, [0, 1, 3, 2])
    kept = np.arange(3) < np.array([0, 1, 3, 2])[:, None]
    np.testing.assert_allclose(sums, (A**2 * kept).sum(1), rtol=1e-14)
    np.testing.assert_allclose(slopes, 2 * A * kept, rtol=1e-14)
    with pytest.raises(symc.errors.BadIndex, match="index 3 is out of bounds"):
        f(A, [0, 1, 4, 2])


def test_rows_of_loops_that_end_apart_are_refused() -> None:
    def powers(n: Tensor) -> Any:
        return symc.scan(lambda x: x * 2, outputs_info=1, n_steps=n)[0]

    with pytest.raises(symc.errors.NotBatchable, match="have no rows, and can be batched"):
        symc.vmap(powers)(T.lvector("n"))


@pytest.mark.parametrize("mode", ["default", "python"])
def test_the_side_that_an_element_does_not_take_cannot_fail(mode: str) -> None:
    x, k = T.matrix("x"), T.lvector("k")
    chosen = symc.vmap(lambda row, i: symc.ifelse(T.lt(i, 3), row[i], -row.sum()))(x, k)
    divided = symc.vmap(lambda i: symc.ifelse(T.neq(i, 0), 12 // i, -1))(k)
    f = symc.function([x, k], [chosen, divided, symc.grad(chosen.sum(), x)], mode=mode)
    values, quotients, slopes = f(A, [0, 2, 3, 5])
    np.testing.assert_allclose(values, [A[0, 0], A[1, 2], -A[2].sum(), -A[3].sum()], rtol=1e-14)
    assert quotients.tolist() == [-1, 6, 4, 2]
    assert slopes.tolist() == [[1, 0, 0], [0, 0, 1], [-1, -1, -1], [-1, -1, -1]]
    with pytest.raises(symc.errors.BadIndex, match="index -4 is out of bounds"):
        f(A, [0, 2, -4, 5])


@pytest.mark.parametrize("mode", ["default", "python"])
def test_draws_from_keys_of_a_batch_are_those_of_each_key(mode: str) -> None:
    n, r = T.lscalar("n"), T.random
    keys = r.split(r.key(5), n)
    drawers: list[Callable[[Tensor], Tensor]] = [
        lambda key: r.normal(key, size=3),
        lambda key: r.gamma(key, 2.5, size=2),
        lambda key: r.permutation(key, 4),
        lambda key: r.choice(r.split(key)[1], 6, size=2, replace=False),
    ]
    f = symc.function([n], [symc.vmap(draw)(keys) for draw in drawers], mode=mode)
    one = symc.function([n], [draw(keys[n - 1]) for draw in drawers], mode=mode)
    for found, *alone in zip(f(3), one(1), one(2), one(3), strict=True):
        np.testing.assert_array_equal(found[-1], alone[-1])
        assert found.shape == (3, *alone[0].shape)
        assert not np.array_equal(found[0], found[1])


def test_ops_without_a_rule_for_these_arguments_are_applied_in_turn() -> None:
    x, k = T.matrix("x"), T.lvector("k")
    f = symc.function(
        [x, k],
        [symc.vmap(T.roll)(x, k), symc.vmap(lambda r: T.searchsorted(T.sort(r), 0.1))(x)],
    )
    shifts = [0, 1, -2, 7]
    rolled, places = f(A, shifts)
    np.testing.assert_array_equal(rolled, list(map(np.roll, A, shifts)))
    np.testing.assert_array_equal(places, [np.searchsorted(np.sort(a), 0.1) for a in A])


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_loops_without_a_bound_are_applied_in_turn(mode: str) -> None:
    """The interpreter wanted the rows of all steps that there might be."""
    x, k = T.matrix("x"), T.lvector("k")

    def last(row: Tensor, k: Tensor) -> Any:
        start = [0, row]
        _, found = symc.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + s[:k].sum()), start)
        return found

    f = symc.function([x, k], symc.vmap(last)(x, k), mode=mode)
    found = f([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    np.testing.assert_array_equal(found, [[1.0, 2.0], [12.0, 13.0]])


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_loops_of_no_steps_in_a_batch_do_not_read_what_steps_need(mode: str) -> None:
    """It does not change in the loop, and was read for all elements before any loop."""
    x, k, z = T.vector("x"), T.lvector("k"), T.vector("z")

    def last(s: Tensor, place: Tensor) -> Any:
        step = T.exp(z[place]) * T.cast(s.shape[0] if s.ndim else 1, "float64")
        return symc.while_loop(lambda s: s < 2, lambda s: s + step, s)

    f = symc.function([x, k, z], symc.vmap(last)(x, k), mode=mode)
    np.testing.assert_allclose(f([5.0, 1.0], [7, 0], np.zeros(3)), [5, 2])
    np.testing.assert_array_equal(f([5.0, 3.0], [7, -9], np.zeros(3)), [5, 3])
    with pytest.raises(BadIndex):
        f([5.0, 1.0], [0, 7], np.zeros(3))


@pytest.mark.parametrize("mode", ["python", "compile"])
def test_lengths_of_what_each_element_of_a_batch_computes(mode: str) -> None:
    """They are the same for all, and known outside of the loop over the batch."""
    x, k = T.matrix("x"), T.lvector("k")

    def last(row: Tensor, k: Tensor) -> Any:
        value = abs(row[k + row.shape[0] - 2]) * T.cast(row[:2].shape[0], "float64")
        return symc.while_loop(lambda s: s < k, lambda s: s + value, row[0])

    f = symc.function([x, k], symc.vmap(last)(x, k), mode=mode)
    np.testing.assert_array_equal(f([[1.0, 2], [3, 4]], [-7, 0]), [1, 3])
    np.testing.assert_array_equal(f([[1.0, 2], [-3, 4]], [-7, 0]), [1, 3])
