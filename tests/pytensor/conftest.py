"""Tests of symc.pytensor run where PyTensor is installed, which needs Python 3.12."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pytensor") else ["test_[!i]*.py", "test_inventory.py"]
