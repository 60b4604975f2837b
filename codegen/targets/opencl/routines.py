"""The routines of `codegen/routines.py` that programs for OpenCL call on the device."""

from __future__ import annotations

from collections.abc import Mapping

from symc.codegen.targets.cuda.routines import KERNELS as OF_CUDA

KERNELS: Mapping[str, tuple[str, ...]] = {
    name: tuple(kernel.replace("_large_gemm_", "_gemm_") for kernel in kernels)
    for name, kernels in OF_CUDA.items()
}
"""By routine, the kernels that it launches, of `gemm.clh`: as on CUDA, but that one kernel
multiplies matrices of all sizes."""
