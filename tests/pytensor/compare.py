"""A graph in mode "SYMC" against PyTensor's own Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.mode import Mode

import symc.pytensor
from symc.pytensor.compiled import performed

QUICK = symc.pytensor.mode("compile")  # quicker to compile
PYTHON = Mode(linker="py", optimizer="merge")


def compare(
    inputs: Sequence[Any],
    outputs: Any,
    values: Sequence[Any],
    *,
    rtol: float = 1e-10,
    host: int = 0,
) -> Any:
    """The function compiled by symc; asserts equal values, dtypes and shapes.

    `host` is how many Ops Python may perform.
    """
    listed = outputs if isinstance(outputs, list) else [outputs]
    f = pytensor.function(inputs, listed, mode=QUICK, on_unused_input="ignore")
    wanted = pytensor.function(inputs, listed, mode=PYTHON, on_unused_input="ignore")(*values)
    assert len(performed(f)) == host, performed(f)
    for out, got, want in zip(listed, f(*values), wanted, strict=True):
        label = f"{out.owner.op if out.owner else out}"
        assert np.shape(got) == np.shape(want), label
        assert np.asarray(got).dtype == np.asarray(want).dtype, label
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-12, err_msg=label)
    return f
