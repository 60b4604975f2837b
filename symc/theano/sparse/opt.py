"""`theano.sparse.opt`: names of the ops that Theano's rewrites put in; symc runs none of them."""

from symc.theano.sparse.arithmetic import AddSD as AddSD_ccode
from symc.theano.sparse.parts import CSMGrad as CSMGradC
from symc.theano.sparse.products import StructuredDot as StructuredDotCSC
from symc.theano.sparse.products import StructuredDot as StructuredDotCSR
from symc.theano.sparse.products import Usmm as UsmmCscDense

__all__ = ["AddSD_ccode", "CSMGradC", "StructuredDotCSC", "StructuredDotCSR", "UsmmCscDense"]
