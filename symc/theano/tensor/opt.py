"""`theano.tensor.opt`: what of it has a meaning in programs.

symc rewrites expressions of its own; none of Theano's rewrites exist, so asking for one says so.
"""

from __future__ import annotations

from typing import Any

from symc.theano.raise_op import Assert as Assert
from symc.theano.raise_op import assert_op as assert_op
from symc.theano.tensor.creation import Alloc as Alloc
from symc.theano.tensor.joining import MakeVector as MakeVector
from symc.theano.tensor.joining import make_vector as make_vector
from symc.theano.tensor.shaping import Shape as Shape
from symc.theano.tensor.shaping import Shape_i as Shape_i
from symc.theano.tensor.xlogx import xlogx as xlogx


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"symc.theano has no theano.tensor.opt.{name}: it rewrites symc's expressions, see "
        "symc.rewrite"
    )
