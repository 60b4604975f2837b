"""`theano.tensor.opt`: what of it has a meaning in programs.

Programs register rewrites of their own here. symc rewrites expressions of its own; none of Theano's
rewrites exist, so asking for one says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc.theano.gof.optdb import optdb
from symc.theano.gof.rewriters import in2out as in2out
from symc.theano.gof.rewriters import out2in as out2in
from symc.theano.raise_op import Assert as Assert
from symc.theano.raise_op import assert_op as assert_op
from symc.theano.tensor.creation import Alloc as Alloc
from symc.theano.tensor.joining import MakeVector as MakeVector
from symc.theano.tensor.joining import make_vector as make_vector
from symc.theano.tensor.shaping import Shape as Shape
from symc.theano.tensor.shaping import Shape_i as Shape_i
from symc.theano.tensor.xlogx import xlogx as xlogx


def _registering(place: str) -> Callable[..., Any]:
    def register(lopt: Any, *tags: str, **kwargs: Any) -> Any:
        """Enters a rewrite of one node; with a string in its place, a decorator that does so."""
        if isinstance(lopt, str):
            return lambda inner: register(inner, lopt, *tags, **kwargs)
        name = kwargs.pop("name", None) or lopt.__name__
        optdb[place].register(name, lopt, "fast_run", *tags, **kwargs)
        return lopt

    return register


register_canonicalize = _registering("canonicalize")
register_stabilize = _registering("stabilize")
register_specialize = _registering("specialize")
register_uncanonicalize = _registering("uncanonicalize")
register_specialize_device = _registering("specialize_device")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"symc.theano has no theano.tensor.opt.{name}: it rewrites symc's expressions, see "
        "symc.rewrite"
    )
