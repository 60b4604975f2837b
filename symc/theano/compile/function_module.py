"""`theano.compile.function_module`: the classes around a compiled function."""

from symc.theano.compile.definition import UnusedInputError as UnusedInputError
from symc.theano.compile.function import Function as Function
from symc.theano.compile.function import function as orig_function
from symc.theano.compile.io import In as In
from symc.theano.compile.io import SymbolicInput as SymbolicInput
from symc.theano.compile.io import SymbolicOutput as SymbolicOutput
from symc.theano.compile.ops import DeepCopyOp as DeepCopyOp
from symc.theano.compile.ops import ViewOp as ViewOp
from symc.theano.compile.ops import deep_copy_op as deep_copy_op
from symc.theano.compile.ops import view_op as view_op

__all__ = [
    "AliasedMemoryError", "DeepCopyOp", "Function", "In", "SymbolicInput", "SymbolicOutput",
    "UnusedInputError", "ViewOp", "deep_copy_op", "orig_function", "view_op",
]  # fmt: skip


class AliasedMemoryError(Exception):
    """Two values lie in the same memory where they must not."""

    def __init__(self, a: object, b: object) -> None:
        super().__init__(a, b)
        self.a, self.b = a, b
