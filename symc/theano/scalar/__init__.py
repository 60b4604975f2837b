"""`theano.scalar`: dtypes and operations on numbers."""

from symc.theano.scalar import basic, sharedvar
from symc.theano.scalar.basic import *
from symc.theano.scalar.basic import SCALAR_OPS, Cast, cast, cast_op, div_proxy, mod_check
from symc.theano.scalar.dtypes import convert

globals().update({name: value for name, value in vars(basic).items() if not name.startswith("_")})
