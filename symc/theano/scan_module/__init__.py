"""`theano.scan_module`: loops."""

from symc.theano.scan_module import scan_op, scan_utils
from symc.theano.scan_module.checkpoints import scan_checkpoints
from symc.theano.scan_module.scan import scan
from symc.theano.scan_module.until import until
from symc.theano.scan_module.views import foldl, foldr, map, reduce
from symc.theano.updates import OrderedUpdates

__all__ = [
    "OrderedUpdates", "foldl", "foldr", "map", "reduce", "scan", "scan_checkpoints", "scan_op",
    "scan_utils", "until",
]  # fmt: skip
