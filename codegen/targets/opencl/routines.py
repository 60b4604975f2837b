"""The routines of `codegen/routines.py` that programs for OpenCL call on the device."""

from __future__ import annotations

from collections.abc import Mapping

KERNELS: Mapping[str, tuple[str, ...]] = {"copy_bytes": ()}
"""By routine, the kernels that it launches. For all others the ops' `evaluate` runs on the host."""
