"""The marginal likelihood of a Gaussian process and its gradient: linear algebra by LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Case, Contestant, Line, Repeated, Results, check_all, compared, counted, module
from numpy.typing import NDArray

Array = NDArray[Any]
ROWS = 400


def data() -> tuple[Array, Array, Array]:
    """Points in space, values there, and the logarithms of length scale, variance and noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, 3))
    y = np.sin(x.sum(1)) + 0.1 * rng.standard_normal(ROWS)
    return x, y, np.log([0.7, 1.3, 0.1])


def reference(x: Array, y: Array, p: Array) -> tuple[float, Array]:
    """The negative logarithm of the likelihood and its gradient, by the textbook's formulas."""
    scale, variance, noise = np.exp(p)
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    smooth = variance * np.exp(-0.5 * squares / scale**2)
    inverse = np.linalg.inv(smooth + noise * np.eye(ROWS))
    weights = inverse @ y
    value = 0.5 * (y @ weights - np.linalg.slogdet(inverse)[1] + ROWS * np.log(2 * np.pi))
    slope = 0.5 * (inverse - np.outer(weights, weights))
    gradient = [(slope * smooth * squares).sum() / scale**2, (slope * smooth).sum()]
    return float(value), np.array([*gradient, noise * np.trace(slope)])


def symc_likelihood() -> Repeated:
    """One compiled function."""
    import symc
    import symc.tensor as T

    values = data()
    x, y, p = T.matrix("x"), T.vector("y"), T.vector("p")
    scale, variance, noise = T.exp(p[0]), T.exp(p[1]), T.exp(p[2])
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    k = variance * T.exp(-0.5 * squares / scale**2) + noise * T.eye(x.shape[0])
    factor = T.linalg.cholesky(k)
    weights = T.linalg.cho_solve((factor, True), y)
    loss = 0.5 * (y @ weights) + T.log(T.diagonal(factor)).sum() + 0.5 * ROWS * np.log(2 * np.pi)
    function = symc.function([x, y, p], [loss, symc.grad(loss, p)], name="likelihood")
    check_all(function(*values), reference(*values), rtol=1e-9, atol=1e-9)
    calls = function.runner.compilation().optimised.steps
    return Repeated(function, values, {"kernels": function.facts["kernels"], "steps": len(calls)})


def jax_likelihood() -> Repeated:
    """JAX in float64."""
    jax = module("jax")
    jax.config.update("jax_enable_x64", True)
    jnp, linalg = jax.numpy, module("jax.scipy.linalg")

    def loss(p: Any, x: Any, y: Any) -> Any:
        scale, variance, noise = jnp.exp(p)
        squares = ((x[:, None] - x[None]) ** 2).sum(-1)
        k = variance * jnp.exp(-0.5 * squares / scale**2) + noise * jnp.eye(ROWS)
        factor = linalg.cholesky(k, lower=True)
        weights = linalg.cho_solve((factor, True), y)
        half = jnp.log(jnp.diagonal(factor)).sum()
        return 0.5 * (y @ weights) + half + 0.5 * ROWS * jnp.log(2 * jnp.pi)

    x, y, p = map(jnp.asarray, data())
    compiled = jax.jit(jax.value_and_grad(loss))
    check_all(compiled(p, x, y), reference(*data()), rtol=1e-9, atol=1e-9)
    return Repeated(lambda: jax.block_until_ready(compiled(p, x, y)))


def torch_likelihood() -> Repeated:
    """PyTorch, its gradient by autograd."""
    torch = module("torch")
    x, y, p = map(torch.from_numpy, data())
    p.requires_grad_()
    eye = torch.eye(ROWS, dtype=torch.float64)

    def call() -> tuple[Any, Any]:
        scale, variance, noise = torch.exp(p)
        squares = ((x[:, None] - x[None]) ** 2).sum(-1)
        k = variance * torch.exp(-0.5 * squares / scale**2) + noise * eye
        factor = torch.linalg.cholesky(k)
        weights = torch.cholesky_solve(y[:, None], factor)[:, 0]
        half = torch.log(torch.diagonal(factor)).sum()
        loss = 0.5 * (y @ weights) + half + 0.5 * ROWS * np.log(2 * np.pi)
        return loss, torch.autograd.grad(loss, p)[0]

    loss, gradient = call()
    check_all((loss.detach(), gradient), reference(*data()), rtol=1e-9, atol=1e-9)
    return Repeated(call)


def judge(results: Results) -> list[Line]:
    """Against JAX and PyTorch."""
    return [
        *compared(results, ("JAX", 1.0), ("PyTorch", None)),
        counted(results, "kernels"),
        counted(results, "steps"),
    ]


GAUSSIAN_PROCESS = Case(
    "gaussian_process",
    "Gaussian process: marginal likelihood and gradient (n = 400, float64)",
    {
        "symc": Contestant(symc_likelihood),
        "JAX": Contestant(jax_likelihood, "jax"),
        "PyTorch": Contestant(torch_likelihood, "torch"),
    },
    judge,
)
