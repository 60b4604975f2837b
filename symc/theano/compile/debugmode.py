"""`theano.compile.debugmode`: the mode, and the errors that Theano's raises there.

symc's own checks are of the whole compiled program; the errors are here for programs that catch
them.
"""

from __future__ import annotations

from symc.theano.compile.mode import DebugMode as DebugMode


class DebugModeError(Exception):
    """A check found something wrong."""


class BadThunkOutput(DebugModeError):
    """Two ways to compute a value disagree."""


class BadOptimization(DebugModeError):
    """A rewrite changed a value."""


class BadDestroyMap(DebugModeError):
    """An op overwrote what it did not say."""


class BadViewMap(DebugModeError):
    """An op returned memory of an input and did not say so."""


class StochasticOrder(DebugModeError):
    """Something was done in another order the second time."""


class InvalidValueError(DebugModeError):
    """An op returned what is none of its type."""
