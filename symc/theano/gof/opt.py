"""`theano.gof.opt`, as far as programs ask for it: symc has no rewrites of Theano's kind."""

from __future__ import annotations

from typing import Any


def check_stack_trace(
    f_or_fgraph: Any, ops_to_check: Any = "last", bug_print: Any = "raise"
) -> bool:
    """Whether nodes know where they were made: symc's always do."""
    del f_or_fgraph, ops_to_check, bug_print
    return True
