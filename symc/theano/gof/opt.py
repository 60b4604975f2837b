"""`theano.gof.opt`: rewrites of Theano's graphs, which programs write for their own ops.

Theano's own rewrites are not there: symc rewrites its expressions, see `symc.rewrite`.
"""

from __future__ import annotations

import logging as logging
from typing import Any

from symc.theano.configparser import config as config
from symc.theano.gof.early_rewrites import copy_stack_trace as copy_stack_trace
from symc.theano.gof.early_rewrites import pre_constant_merge as pre_constant_merge
from symc.theano.gof.early_rewrites import (
    pre_greedy_local_optimizer as pre_greedy_local_optimizer,
)
from symc.theano.gof.local_rewrites import *
from symc.theano.gof.rewriters import *


def check_stack_trace(
    f_or_fgraph: Any, ops_to_check: Any = "last", bug_print: Any = "raise"
) -> bool:
    """Whether nodes know where they were made: symc's always do."""
    del f_or_fgraph, ops_to_check, bug_print
    return True


def __getattr__(name: str) -> Any:
    if name == "theano":
        import symc.theano

        return symc.theano
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
