"""The routines of `codegen/routines.py` on a device: which kernels they launch.

The functions of `deviceblas.h` have the names of those in `blas.h`. The number of
each kernel in `symc_call.functions` comes right after `call`, in the order below. The text of a
kernel is the same for all programs, and a large one takes NVRTC half a second: it is compiled once
for all of them, as a text of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.routines import ROUTINES

_LAUNCHED = {
    "gemm": ("gemm", "large_gemm", "columns"),
    "batched_gemm": ("gemm", "large_gemm", "columns"),
    "gemv": ("gemv", "columns"),
    "ger": ("ger",),
    "dot": ("dot", "columns"),
}

KERNELS: Mapping[str, tuple[str, ...]] = {
    f"{name}_{kind}": tuple(f"symc_{kernel}_kernel_{kind}" for kernel in kernels)
    for name, kernels in _LAUNCHED.items()
    for kind in ("f32", "f64")
} | {"copy_bytes": ()}
"""By routine, symbols of `gemm.cuh`, which are the names of the kernels. A device lacks the
routines that are not here: for those, the ops' `evaluate` runs on the host."""

assert KERNELS.keys() == {name for name, found in ROUTINES.items() if found.on_device}
