"""Elementwise functions that symc lacks: called back, with SciPy's or PyTensor's own on arrays."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from symc import tensor as T
from symc.graph.node import Array, Tensor
from symc.user.python_op import op as python_op


def host_function(op: Any) -> Callable[..., Tensor]:
    """The function of tensors that computes a scalar Op in Python, element by element.

    It keeps the place in loops and batches that an elementwise function has; PyTensor itself calls
    SciPy for the same Ops.
    """
    function = _on_arrays(op)

    def call(*args: Tensor) -> Tensor:
        dtypes = tuple(arg.dtype.name for arg in args)
        whole = T.broadcast_arrays(*args) if len(args) > 1 else list(args)
        result: Tensor = _made(op, function, dtypes)(*whole)
        return result

    return call


@cache
def _made(op: Any, function: Callable[..., Any], dtypes: tuple[str, ...]) -> Any:
    dtype = str(op.output_types([_scalar_type(d) for d in dtypes])[0].dtype)

    def compute(*arrays: Array) -> Array:
        return np.asarray(function(*arrays)).astype(dtype, copy=False)

    name = type(op).__name__.lower()
    compute.__qualname__ = f"{type(op).__module__}.{type(op).__qualname__}.{'.'.join(dtypes)}"

    def like(*args: Tensor) -> Tensor:
        return T.tensor(dtype, ()) if not args[0].ndim else T.cast(args[0], dtype)

    like.__qualname__ = compute.__qualname__ + ".like"
    return python_op(compute, output=like, name=name)


def _scalar_type(dtype: str) -> Any:
    from pytensor.scalar.basic import get_scalar_type

    return get_scalar_type(dtype)


@cache
def _on_arrays(op: Any) -> Callable[..., Any]:
    spec = getattr(op, "nfunc_spec", None)
    if spec is not None:
        module, _, name = spec[0].rpartition(".")
        found: Callable[..., Any] = getattr(importlib.import_module(module or "numpy"), name)
        return found
    one_by_one: Callable[..., Any] = np.frompyfunc(op.impl, op.nin, 1)
    return one_by_one
