"""All Ops of PyTensor: which are converted, which Python performs and why, which are refused.

`python -m symc.pytensor.inventory` prints the table.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from typing import Any

from pytensor.graph.basic import Constant
from pytensor.graph.op import Op

from symc.pytensor.conversion import is_numeric, symc_funcify

PACKAGES = (
    "pytensor.tensor", "pytensor.scan", "pytensor.conditional", "pytensor.raise_op",
    "pytensor.compile.ops", "pytensor.compile.builders", "pytensor.scalar", "pytensor.assumptions",
)  # fmt: skip

# Ops, or modules of Ops, without a converter, and why Python performs them between functions.
PERFORMED = {
    "pytensor.tensor.random": 'draws are of NumPy\'s Generator; converted with random="symc"',
    "pytensor.tensor.optimize": "SciPy's optimisers call the function back",
    "pytensor.tensor.linalg.decomposition.schur": "symc sorts no eigenvalues",
    "pytensor.tensor.linalg.solvers.linear_control": "SciPy takes n^3 operations, symc n^6",
    "pytensor.tensor.linalg.solvers.lstsq": "results with lengths that SciPy decides on",
    "pytensor.tensor.linalg.solvers.tridiagonal": "symc has no tridiagonal systems",
    "pytensor.tensor.fourier.Fourier": "deprecated by PyTensor, for pytensor.tensor.fft",
    "pytensor.tensor.signal.conv.Convolve2d": "symc's convolution of images has other borders",
    "pytensor.compile.ops.FromFunctionOp": "it is a Python function",
    "pytensor.compile.ops.ViewOp": "PyTensor's rewrites remove it",
    "pytensor.scalar.loop.ScalarLoop": "a loop over single numbers",
    "pytensor.scalar.math.Grad2F1Loop": "a loop over single numbers",
}

# Ops that only other modes of PyTensor make, or that are no Ops of graphs.
NOT_MET = {
    "pytensor.tensor.rewriting": "made for PyTensor's numba mode",
    "pytensor.tensor.blas.blas_c": "made for PyTensor's C mode",
    "pytensor.tensor.blockwise.BlockwiseWithCoreShape": "made for PyTensor's numba mode",
    "pytensor.tensor.blockwise.OpWithCoreShape": "made for PyTensor's numba mode",
    "pytensor.tensor.random.op.RandomVariableWithCoreShape": "made for PyTensor's numba mode",
    "pytensor.tensor.blas.gemm.GemmRelated": "a base class",
    "pytensor.tensor.linalg.solvers.core.SolveBase": "a base class",
    "pytensor.tensor.random.op.AbstractRNGConstructor": "a base class",
    "pytensor.graph": "a base class",
    "pytensor.link": "a base class",
}

REFUSED = {
    "pytensor.sparse": "symc has no sparse matrices; use dense ones, or another mode",
}

# Products with a sparse constant have a dense result: SciPy computes them between functions.
_OF_CONSTANTS = ("Dot", "StructuredDot")


def _listed(table: dict[str, str], name: str) -> str | None:
    return next(
        (why for key, why in table.items() if name == key or name.startswith(f"{key}.")), None
    )


def refusal(node: Any) -> str | None:
    """Why a node is neither converted nor performed; None for others."""
    op = type(node.op)
    if op.__name__ in _OF_CONSTANTS and all(
        isinstance(v, Constant) or is_numeric(v) for v in node.inputs
    ):
        return None
    return _listed(REFUSED, f"{op.__module__}.{op.__qualname__}")


def ops() -> Iterator[type[Any]]:
    """The classes of Ops that PyTensor has for dense tensors, loops, branches and checks."""
    seen: set[type[Any]] = set()
    for name in PACKAGES:
        for module in _modules(name):
            for found in vars(module).values():
                if inspect.isclass(found) and issubclass(found, Op) and found not in seen:
                    seen.add(found)
                    if found.__module__.startswith("pytensor."):
                        yield found


def _modules(name: str) -> Iterator[Any]:
    module = importlib.import_module(name)
    yield module
    for item in pkgutil.walk_packages(getattr(module, "__path__", []), f"{name}."):
        yield importlib.import_module(item.name)


def standing(op: type[Any]) -> tuple[str, str]:
    """How an Op runs, and why: "converted", "performed", "not met", "refused" or "unknown"."""
    name = f"{op.__module__}.{op.__qualname__}"
    for word, table in (("refused", REFUSED), ("not met", NOT_MET), ("performed", PERFORMED)):
        why = _listed(table, name)
        if why is not None:
            return word, why
    if symc_funcify.dispatch(op) is not symc_funcify.dispatch(object):
        return "converted", ""
    if inspect.isabstract(op):
        return "not met", "a base class"
    return "unknown", "no converter, and no reason why"


def main() -> None:
    """Prints the table."""
    for op in sorted(ops(), key=lambda op: (op.__module__, op.__qualname__)):
        word, why = standing(op)
        sys.stdout.write(f"{word:10} {op.__module__}.{op.__qualname__}  {why}\n")


if __name__ == "__main__":
    main()
