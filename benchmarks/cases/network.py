"""One training step of a network 784-500-10, 128 rows at a time, in float32."""

from __future__ import annotations

from typing import Any

from measure import (
    Case,
    Contestant,
    Line,
    Repeated,
    Results,
    check,
    check_all,
    compared,
    counted,
    module,
)

from cases import layers

WIDTHS, ROWS, RATE = (784, 500, 10), 128, 0.01


def verify(loss: object, values: Any) -> None:
    """Compares a first step with NumPy in float64."""
    start = layers.parameters(WIDTHS)
    wanted, after = layers.reference(start, *layers.batch(ROWS, WIDTHS), RATE)
    check(loss, wanted, rtol=1e-5)
    check_all(list(values), after, rtol=1e-4, atol=1e-6)


def symc() -> Repeated:
    """Shared parameters with updates."""
    import symc as package

    inputs, shared, loss = layers.symc_parts(layers.parameters(WIDTHS))
    bars = package.grad(loss, shared)
    updates = [(value, value - RATE * bar) for value, bar in zip(shared, bars, strict=True)]
    step = package.function(inputs, loss, updates=updates)
    x, y = layers.batch(ROWS, WIDTHS)
    verify(step(x, y), [value.get_value() for value in shared])
    return Repeated(step, (x, y), {"kernels": step.facts["kernels"]})


class Steps:
    """Calls a step with the parameters that the last one gave."""

    def __init__(self, step: Any, values: Any) -> None:
        self.step, self.values = step, values

    def __call__(self, x: Any, y: Any) -> Any:
        """The loss."""
        loss, self.values = self.step(self.values, x, y)
        return loss


def numpy() -> Repeated:
    """Derivatives by hand."""
    steps = Steps(lambda p, x, y: layers.numpy_step(p, x, y, RATE), layers.parameters(WIDTHS))
    batch = layers.batch(ROWS, WIDTHS)
    verify(steps(*batch), steps.values)
    return Repeated(steps, batch)


def jax() -> Repeated:
    """jit with donated parameters, on arrays that JAX made."""
    package = module("jax")
    jnp = package.numpy

    compiled = package.jit(lambda p, x, y: layers.jax_step(p, x, y, RATE), donate_argnums=0)

    def ready(p: Any, x: Any, y: Any) -> Any:
        return package.block_until_ready(compiled(p, x, y))

    steps = Steps(ready, [jnp.array(value) for value in layers.parameters(WIDTHS)])
    batch = tuple(map(jnp.asarray, layers.batch(ROWS, WIDTHS)))
    verify(steps(*batch), steps.values)
    return Repeated(steps, batch)


def torch() -> Repeated:
    """Eager PyTorch, updates in place."""
    package = module("torch")
    cross_entropy = package.nn.functional.cross_entropy

    values = [package.from_numpy(v).requires_grad_() for v in layers.parameters(WIDTHS)]

    def step(x: Any, y: Any) -> Any:
        h = package.tanh(package.addmm(values[1], x, values[0]))
        loss = cross_entropy(package.addmm(values[3], h, values[2]), y)
        bars = package.autograd.grad(loss, values)
        with package.no_grad():
            for value, bar in zip(values, bars, strict=True):
                value.sub_(bar, alpha=RATE)
        return loss.detach()

    batch = tuple(map(package.from_numpy, layers.batch(ROWS, WIDTHS)))
    verify(step(*batch), [value.detach().numpy() for value in values])
    return Repeated(step, batch)


def judge(results: Results) -> list[Line]:
    """At least as fast as JAX."""
    return [
        *compared(results, ("JAX", 1.0), ("PyTorch", None), ("NumPy", None)),
        counted(results, "kernels"),
    ]


CASE = Case(
    "network",
    "MLP training step 784-500-10, batch 128, float32",
    {
        "symc": Contestant(symc),
        "JAX": Contestant(jax, "jax"),
        "PyTorch": Contestant(torch, "torch"),
        "NumPy": Contestant(numpy),
    },
    judge,
)
