"""`theano.tensor.io`: arrays read from files while a program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.op import Op
from symc.theano.gof.type import generic
from symc.theano.tensor.type import TensorType

__all__ = ["LoadFromDisk", "load"]


class LoadFromDisk(Op):
    """The array in a NumPy file, of the type that was promised."""

    __props__ = ("dtype", "broadcastable", "mmap_mode")

    def __init__(self, dtype: Any, broadcastable: Sequence[bool], mmap_mode: Any = None) -> None:
        if mmap_mode not in (None, "c"):
            raise ValueError(
                "The only supported values for mmap_mode are None and 'c', got %s" % mmap_mode
            )
        self.dtype, self.broadcastable = np.dtype(dtype).name, tuple(broadcastable)
        self.mmap_mode: Any = mmap_mode

    def make_node(self, path: Any) -> Apply:
        if isinstance(path, str):
            path = Constant(generic, path)
        return Apply(self, [path], [TensorType(self.dtype, self.broadcastable)()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any, *_: Any) -> None:
        path = inputs[0]
        if path.endswith(".npz"):
            raise ValueError(f"Expected a .npy file, got {path} instead")
        found = np.load(path, mmap_mode=self.mmap_mode)
        if found.dtype != self.dtype:
            raise TypeError(f"Expected dtype {self.dtype}, got {found.dtype} instead")
        output_storage[0][0] = found

    def __str__(self) -> str:
        return f"Load{{dtype: {self.dtype}, broadcastable: {self.broadcastable}}}"


def load(path: Any, dtype: Any, broadcastable: Any, mmap_mode: Any = None) -> Any:
    """A variable whose value is read from a NumPy file in each call; `path` may be a variable."""
    if not isinstance(path, str | Variable):
        path = str(path)
    return LoadFromDisk(dtype, broadcastable, mmap_mode)(path)
