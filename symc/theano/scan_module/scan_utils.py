"""`theano.scan_module.scan_utils`: the part that programs use."""

from symc.theano.compile.rebuild import clone
from symc.theano.gof.graph import equal_computations
from symc.theano.scan_module.map_variables import map_variables
from symc.theano.scan_module.until import until

__all__ = ["clone", "equal_computations", "map_variables", "until"]
