"""Permutations and choices: every one as often as it should be."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.graph.interpreter import evaluate
from symc.graph.node import Tensor
from tests.random.distributions import Array, chi_square

KEYS = T.vector("key", "uint64")


def repeated(build: Tensor, count: int) -> Array:
    """The results of a function of a key for many keys."""
    f = symc.function([KEYS], build, mode="compile")
    keys = T.random.split(T.random.key(8), count).eval()
    return np.array([f(key) for key in keys])


def test_all_permutations_are_equally_likely() -> None:
    found = repeated(T.random.permutation(KEYS, 4), 6000)
    number = {order: k for k, order in enumerate(permutations(range(4)))}
    sample = np.array([number[tuple(order)] for order in found.tolist()])
    assert abs(chi_square(sample, lambda k: np.where(k < 24, -math.log(24), -np.inf))) < 3.29


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_compiled_permutations_are_the_interpreters(n: int) -> None:
    count = T.scalar("count", "int64")
    order = T.random.permutation(T.random.key(n), count)
    (wanted,) = evaluate([order], {count: np.array(n)})
    got = symc.function([count], order, mode="compile")(n)
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.sort(got), np.arange(n))


def test_shuffling_keeps_the_entries() -> None:
    x = T.matrix("x")
    key = T.random.key(1)
    f = symc.function([x], [T.random.shuffle(key, x), T.random.shuffle(key, x, axis=1)])
    given = np.arange(12.0).reshape(4, 3)
    rows, columns = f(given)
    assert sorted(rows.tolist()) == given.tolist()
    assert sorted(columns.T.tolist()) == given.T.tolist()
    np.testing.assert_array_equal(T.random.permutation(key, given).eval(), rows)
    slope = symc.grad((T.random.shuffle(key, x) * given).sum(), x)
    assert sorted(evaluate([slope], {x: given})[0].tolist()) == given.tolist()


def test_choices_with_replacement() -> None:
    key = T.random.key(2)
    p = [0.1, 0.0, 0.9]
    numbers, entries, rows = symc.function([], [
        T.random.choice(key, 5, size=(200, 5)), T.random.choice(key, [7, 8, 9], 1000, p=p),
        T.random.choice(key, np.arange(6).reshape(2, 3), size=4, axis=1),
    ], mode="compile")()  # fmt: skip
    assert abs(chi_square(numbers.ravel(), lambda k: np.where(k < 5, -math.log(5), -np.inf))) < 3.29
    assert set(entries) == {7, 9}
    assert abs((entries == 9).mean() - 0.9) < 0.03
    assert rows.shape == (2, 4)
    assert (rows[1] == rows[0] + 3).all()


def test_choices_without_replacement() -> None:
    found = repeated(T.random.choice(KEYS, 3, size=2, replace=False), 3000)
    assert abs(chi_square(found @ [3, 1], lambda k: np.where(
        np.isin(k, [1, 2, 3, 5, 6, 7]), -math.log(6), -np.inf))) < 3.29  # fmt: skip


def test_weighted_choices_without_replacement() -> None:
    """First i with p[i], then j with p[j] / (1 - p[i])."""
    p = np.array([0.2, 0.3, 0.5])
    found = repeated(T.random.choice(KEYS, 3, size=2, replace=False, p=p), 3000)
    chance = np.full(9, 0.0)
    for i in range(3):
        for j in range(3):
            chance[3 * i + j] = p[i] * p[j] / (1 - p[i]) if i != j else 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(np.append(chance, 0.0))
    wanted = lambda k: logs[np.minimum(k, 9).astype(int)]  # noqa: E731
    assert abs(chi_square(found @ [3, 1], wanted)) < 3.29


def test_what_cannot_be_chosen() -> None:
    key = T.random.key(0)
    with pytest.raises(symc.errors.ShapeMismatch, match="4 of 3 cannot be chosen without"):
        T.random.choice(key, 3, size=4, replace=False)
    with pytest.raises(symc.errors.ShapeMismatch, match="one probability is needed for each of 3"):
        T.random.choice(key, 3, p=[0.5, 0.5])
    with pytest.raises(ValueError, match="choice: p must be at least 0"):
        T.random.choice(key, 2, p=[0.5, -0.5])
    with pytest.raises(symc.errors.RankError, match="shuffle: an axis is needed"):
        T.random.shuffle(key, 3)
    with pytest.raises(symc.errors.ShapeMismatch, match="there are no -1 numbers"):
        T.random.permutation(key, -1)


def test_multinomial_counts() -> None:
    p = np.array([[0.1, 0.2, 0.0, 0.4, 0.3], [0.2, 0.2, 0.2, 0.2, 0.2]])
    n = np.array([1000, 0])
    counts = symc.function(
        [], T.random.multinomial(T.random.key(4), n, p, size=(2000, 2)), mode="compile"
    )()
    assert counts.shape == (2000, 2, 5)
    assert (counts.sum(-1) == n).all()
    assert (counts[:, 0, 2] == 0).all()
    first = counts[:, 0]
    error = np.sqrt(1000 * p[0] * (1 - p[0]) / 2000)
    assert (np.abs(first.mean(0) - 1000 * p[0]) <= 4 * error).all()
    wanted = 1000 * (np.diag(p[0]) - np.outer(p[0], p[0]))
    assert (np.abs(np.cov(first.T) - wanted) < 0.15 * 240).all()


def test_dirichlet_and_multivariate_normal() -> None:
    alpha = np.array([0.5, 2.0, 5.0])
    mean, root = np.array([1.0, -2.0, 0.5]), np.array([[1, 0, 0], [0.5, 2, 0], [-1, 0.3, 0.7]])
    cov = root @ root.T
    shares, vectors, stacked = symc.function([], [
        T.random.dirichlet(T.random.key(5), alpha, size=4000),
        T.random.multivariate_normal(T.random.key(6), mean, cov, size=4000),
        T.random.multivariate_normal(T.random.key(6), mean, np.stack([cov] * 4000)),
    ], mode="compile")()  # fmt: skip
    np.testing.assert_allclose(shares.sum(-1), 1.0)
    share = alpha / alpha.sum()
    assert (np.abs(shares.mean(0) - share) < 4 * shares.std(0) / np.sqrt(4000)).all()
    np.testing.assert_allclose(shares.var(0), share * (1 - share) / 8.5, rtol=0.1)
    np.testing.assert_allclose(stacked, vectors, rtol=1e-10, atol=1e-10)
    white = np.linalg.solve(root, (vectors - mean).T)
    assert (np.abs(white.mean(1)) < 4 / np.sqrt(4000)).all()
    np.testing.assert_allclose(np.cov(white), np.eye(3), atol=0.1)
