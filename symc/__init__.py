"""symc: symbolic tensor expressions, compiled to C."""

from symc import tensor
from symc.config import config
from symc.function import Function, In, Out, clone, function
from symc.grad import Lop, Rop, disconnected_grad, grad, grad_clip, grad_scale, hessian, jacobian
from symc.inputs import SharedVariable, shared
