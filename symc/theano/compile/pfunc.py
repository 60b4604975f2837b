"""`theano.compile.pfunc`: functions of shared variables."""

from symc.theano.compile.function import pfunc as pfunc
from symc.theano.compile.io import Param as Param
from symc.theano.compile.rebuild import rebuild_collect_shared as rebuild_collect_shared

__all__ = ["Param", "pfunc", "rebuild_collect_shared"]
