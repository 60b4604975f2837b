"""What symc has made of a PyTensor function, and log densities for samplers of other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from symc.calls.callable import Function
from symc.graph.node import Array
from symc.pytensor.running import Running


def functions(f: Any) -> list[Function]:
    """The functions of symc's that a PyTensor (or PyMC) function with mode "SYMC" calls, in order.

    There is one, unless something in the graph is performed in Python: draws of random variables,
    Ops without a converter. Each has `source`, `explain()`, `report(path)`. Raises TypeError for a
    function of another mode.

        (logp,) = symc.pytensor.functions(model.compile_logp(mode="SYMC"))
        logp.report("logp.html")
    """
    return list(_running(f).functions)


def _running(f: Any) -> Running:
    for name in ("_pytensor_function", "f", "_function"):
        inner = getattr(f, name, None)
        if inner is not None and hasattr(inner, "vm"):
            f = inner
    found = getattr(getattr(f, "vm", None), "jit_fn", None)
    if not isinstance(found, Running):
        raise TypeError(f'{f!r:.80} is no PyTensor function that mode="SYMC" has compiled')
    return found


def performed(f: Any) -> list[tuple[str, str]]:
    """The Ops of a function that Python performs, and why.

    >>> import pytensor, pytensor.tensor as pt, symc.pytensor
    >>> x = pt.dvector("x")
    >>> performed(pytensor.function([x], x * 2, mode="SYMC"))
    []
    """
    from symc.pytensor.plan import Performed

    steps = _running(f).plan.steps
    return [(str(s.node.op), s.reason) for s in steps if isinstance(s, Performed)]


class LogpDlogp:
    """The log density of a model and its gradient at a point: a vector of all free values.

    `function` is symc's, `size` the length of the vector, `names` the model's values in it.
    """

    def __init__(self, made: Any, names: list[str], initial: Array) -> None:
        self._pytensor_function = made
        self.names = names
        self.initial = initial
        self.size = len(initial)
        running = _running(made)
        found = running.functions
        self.function: Function | None = found[0] if len(running.plan.steps) == 1 else None
        self._call: Any = running

    def __call__(self, x: Any) -> tuple[float, Array]:
        """The log density and its gradient."""
        value, gradient = self._call(np.ascontiguousarray(x, dtype=np.float64))
        return float(value), gradient

    def export(self, folder: str | Path) -> Path:
        """Writes both as a C library without Python: `symc.Function.export`.

        Raises TypeError for a model of which something is performed in Python.
        """
        if self.function is None:
            raise TypeError("something in this model is performed in Python: see performed()")
        return self.function.export(folder)


def logp_dlogp(model: Any, mode: Any = "SYMC") -> LogpDlogp:
    """Compiles the log density of a PyMC model and its gradient, for samplers that take a callable.

        f = symc.pytensor.logp_dlogp(model)
        value, gradient = f(f.initial)

    The argument is the vector of all free values, transformed as PyMC does it; `f.initial` is
    PyMC's initial point. `mode` is one of `symc.pytensor.mode`.
    """
    from pymc.blocking import DictToArrayBijection

    made = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    names = [v.name for v in model.continuous_value_vars]
    point = model.initial_point()
    initial = DictToArrayBijection.map({name: point[name] for name in names})
    made.set_extra_values({})
    return LogpDlogp(made, names, np.asarray(initial.data, dtype=np.float64))
