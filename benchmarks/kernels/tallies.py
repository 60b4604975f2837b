"""Statistics: sums over what counts, and tables of pairs of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import module

import symc
import symc.tensor as T

from .kernel import Kernel, numbers, places

WINDOW = 25

# --- sums of what counts --------------------------------------------------------------------------


def masked(x: Any) -> Any:
    return T.where(T.gt(x, 0.5), x, 0.0).sum() / T.gt(x, 0.5).sum()


def masked_numpy(x: Any) -> Any:
    return np.where(x > 0.5, x, 0.0).sum() / (x > 0.5).sum()


def masked_loops(x: Any) -> Any:
    total, count = 0.0, 0
    for i in range(len(x)):
        if x[i] > 0.5:
            total += x[i]
            count += 1
    return total / count


def masked_jax(x: Any) -> Any:
    return module("jax.numpy").where(x > 0.5, x, 0.0).sum() / (x > 0.5).sum()


# --- covariances, a column against all that follow ------------------------------------------------


def covariance(x: Any) -> Any:
    n, m = x.shape
    x = x - x.mean(axis=0)

    def column(i: Any, c: Any) -> Any:
        row = x[:, i] @ x[:, i:] / (n - 1.0)
        return c[i, i:].set(row)[i:, i].set(row)

    return symc.fori_loop(0, m, column, T.zeros((m, m)))


def covariance_numpy(x: Any) -> Any:
    n, m = x.shape
    x, c = x - x.mean(axis=0), np.zeros((m, m))
    for i in range(m):
        c[i, i:] = c[i:, i] = x[:, i] @ x[:, i:] / (n - 1.0)
    return c


def covariance_loops(x: Any) -> Any:
    n, m = x.shape
    c = np.zeros((m, m))
    centred = x.copy()
    for j in range(m):
        centred[:, j] -= x[:, j].mean()
    for i in range(m):
        for k in range(n):
            for j in range(i, m):
                c[i, j] += centred[k, i] * centred[k, j]
        for j in range(i, m):
            c[i, j] /= n - 1.0
            c[j, i] = c[i, j]
    return c


def covariance_jax(x: Any) -> Any:
    x = x - x.mean(axis=0)
    return x.T @ x / (len(x) - 1.0)


def correlation(x: Any) -> Any:
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return x.T @ x / x.shape[0]


def correlation_jax(x: Any) -> Any:
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return x.T @ x / x.shape[0]


# --- means that move ------------------------------------------------------------------------------


def moving_mean(x: Any) -> Any:
    sums = T.cumsum(x)
    return (sums[WINDOW:] - sums[:-WINDOW]) / WINDOW


def moving_mean_numpy(x: Any) -> Any:
    sums = np.cumsum(x)
    return (sums[WINDOW:] - sums[:-WINDOW]) / WINDOW


def moving_mean_loops(x: Any) -> Any:
    result = np.empty(len(x) - WINDOW)
    total = 0.0
    for i in range(WINDOW):
        total += x[i]
    for i in range(len(result)):
        total += x[i + WINDOW] - x[i]
        result[i] = total / WINDOW
    return result


def moving_mean_jax(x: Any) -> Any:
    sums = module("jax.numpy").cumsum(x)
    return (sums[WINDOW:] - sums[:-WINDOW]) / WINDOW


# --- sums of exponentials -------------------------------------------------------------------------


def log_sum(x: Any) -> Any:
    return T.logsumexp(x, axis=1)


def log_sum_numpy(x: Any) -> Any:
    most = x.max(axis=1)
    return most + np.log(np.exp(x - most[:, None]).sum(axis=1))


def log_sum_loops(x: Any) -> Any:
    result = np.empty(len(x))
    for i in range(len(x)):
        most, total = x[i].max(), 0.0
        for j in range(x.shape[1]):
            total += np.exp(x[i, j] - most)
        result[i] = most + np.log(total)
    return result


def log_sum_jax(x: Any) -> Any:
    return module("jax").nn.logsumexp(x, axis=1)


# --- a regression with coefficients for each group, and its gradient ------------------------------

GROUPS = 500


def grouped(group: Any, x: Any, y: Any, a: Any, b: Any) -> Any:
    loss = ((y - (a[group] + b[group] * x)) ** 2).sum() / 2
    return T.concatenate([loss[None], *symc.grad(loss, [a, b])])


def grouped_numpy(group: Any, x: Any, y: Any, a: Any, b: Any) -> Any:
    rest = (a[group] + b[group] * x) - y
    slopes = [np.bincount(group, values, len(a)) for values in (rest, rest * x)]
    return np.concatenate([[(rest * rest).sum() / 2], *slopes])


def grouped_loops(group: Any, x: Any, y: Any, a: Any, b: Any) -> Any:
    result, n = np.zeros(1 + 2 * len(a)), len(a)
    for i in range(len(x)):
        k = group[i]
        rest = (a[k] + b[k] * x[i]) - y[i]
        result[0] += rest * rest / 2
        result[1 + k] += rest
        result[1 + n + k] += rest * x[i]
    return result


def grouped_jax(group: Any, x: Any, y: Any, a: Any, b: Any) -> Any:
    jax, jnp = module("jax"), module("jax.numpy")

    def loss(a: Any, b: Any) -> Any:
        return ((y - (a[group] + b[group] * x)) ** 2).sum() / 2

    value, slopes = jax.value_and_grad(loss, (0, 1))(a, b)
    return jnp.concatenate([value[None], *slopes])


def _grouped(n: int) -> tuple[Any, ...]:
    lines = numbers(GROUPS, seed=1), numbers(GROUPS, seed=2)
    return places(GROUPS, n), numbers(n), numbers(n, seed=3), *lines


KERNELS = (
    Kernel("masked", lambda n: (numbers(n),), 200_000, 50,
           masked, masked_numpy, masked_loops, masked_jax),
    Kernel("covariance", lambda n: (numbers(n, 60),), 500, 9,
           covariance, covariance_numpy, covariance_loops, covariance_jax),
    Kernel("correlation", lambda n: (numbers(n, 60),), 500, 9,
           correlation, correlation, None, correlation_jax),
    Kernel("moving_mean", lambda n: (numbers(n),), 100_000, 50,
           moving_mean, moving_mean_numpy, moving_mean_loops, moving_mean_jax),
    Kernel("log_sum", lambda n: (numbers(n, 60),), 1000, 5,
           log_sum, log_sum_numpy, log_sum_loops, log_sum_jax),
    Kernel("grouped", _grouped, 50_000, 50,
           grouped, grouped_numpy, grouped_loops, grouped_jax),
)  # fmt: skip
