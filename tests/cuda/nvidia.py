"""NVIDIA's compiler for tests, which works without a GPU."""

from __future__ import annotations

import pytest

from symc.codegen.targets.cuda import nvrtc

needs_nvrtc = pytest.mark.skipif(
    not nvrtc.available(), reason="no NVRTC: pip install '.[cuda]' brings it"
)
