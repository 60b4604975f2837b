"""`theano.scan_module`: loops."""

from symc.theano.scan_module import scan_op
from symc.theano.scan_module.scan import scan
from symc.theano.scan_module.until import until
from symc.theano.scan_module.views import foldl, foldr, map, reduce
from symc.theano.updates import OrderedUpdates

__all__ = ["OrderedUpdates", "foldl", "foldr", "map", "reduce", "scan", "scan_op", "until"]
