"""`theano.gpuarray.dnn`: whether Theano's library found cuDNN, which symc does not use."""

from __future__ import annotations

MESSAGE = "symc.theano does not use libgpuarray; device=cuda means symc's own"


def dnn_present() -> bool:
    """False: there is no cuDNN of Theano's library."""
    return False


dnn_present.msg = MESSAGE  # type: ignore[attr-defined] # pyright: ignore[reportFunctionMemberAccess]
