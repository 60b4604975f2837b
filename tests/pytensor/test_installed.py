"""One line where PyTensor is missing, in place of all other tests here."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.util import find_spec

import pytest


def test_importing_symc_does_not_import_pytensor() -> None:
    code = "import symc, sys; print([n for n in sys.modules if 'pytensor' in n])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.skipif(find_spec("pytensor") is None, reason="PyTensor is not installed")
def test_the_mode_is_registered() -> None:
    from pytensor.compile.mode import get_mode

    import symc.pytensor

    assert get_mode("SYMC") is symc.pytensor.SYMC


@pytest.mark.skipif(find_spec("pytensor") is not None, reason="PyTensor is installed")
def test_without_pytensor_the_error_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install '\.\[pymc\]'"):
        importlib.import_module("symc.pytensor")
