"""Ops: how they are applied, their meaning in symc's expressions, and their derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from symc.graph.node import Tensor
from symc.theano.configparser import config
from symc.theano.gof import utils as utils
from symc.theano.gof.graph import Apply, Constant, Variable
from symc.theano.gof.utils import MethodNotDefined, Named, NoGradient


class Op(Named):
    """An operation on variables.

    symc's own ops say with `meaning` which symc expressions their outputs are; value, gradient
    and Rop follow from that. Programs' own ops have Theano's `perform`, `grad` and `R_op`.
    """

    default_output: int | None = None
    view_map: ClassVar[dict[int, list[int]]] = {}
    destroy_map: ClassVar[dict[int, list[int]]] = {}
    # Whether `meaning` makes symbols of its own, such as a loop's, and so must be asked only once.
    makes_symbols: ClassVar[bool] = False
    # Whether integers have derivatives where the result is of floats, as in a product.
    differentiates_integers: ClassVar[bool] = False
    # The type of what `get_params` gives, which `perform` then gets as a further argument.
    params_type: ClassVar[Any] = None
    # Whether `L_op`, where there is one, gives the gradient of the meaning.
    step_follows_meaning: ClassVar[bool] = False

    def make_node(self, *inputs: Any) -> Apply:
        """The application of the op to these inputs, converted to variables."""
        itypes, otypes = getattr(self, "itypes", None), getattr(self, "otypes", None)
        if itypes is None or otypes is None:
            raise NotImplementedError(
                "You can either define itypes and otypes, or implement make_node"
            )
        if len(inputs) != len(itypes):
            raise ValueError(f"We expected {len(itypes)} inputs but got {len(inputs)}.")
        from symc.theano.tensor.convert import as_tensor_variable

        found = [
            each if isinstance(each, Variable) else as_tensor_variable(each) for each in inputs
        ]
        for each, wanted in zip(found, itypes, strict=True):
            if each.type != wanted:
                raise TypeError(
                    "We expected inputs of types '%s' but got types '%s' "
                    % ([str(i) for i in itypes], [str(i.type) for i in found])
                )
        return Apply(self, found, [otype() for otype in otypes])

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """The output of the op on these inputs, or a list of them where there are several."""
        return_list = kwargs.pop("return_list", False)
        node = self.make_node(*inputs, **kwargs)
        if config.compute_test_value != "off":
            add_test_values(node)
        if self.default_output is not None:
            result = node.outputs[self.default_output]
            return [result] if return_list else result
        if return_list or len(node.outputs) != 1:
            return list(node.outputs)
        return node.outputs[0]

    # --- value ------------------------------------------------------------------------------------

    def meaning(self, node: Apply, *inputs: Tensor) -> Sequence[Tensor]:
        """The outputs of an application as symc expressions of its inputs."""
        if type(self).perform is Op.perform:
            raise NotImplementedError(
                f"symc.theano cannot run {self}: it has only C code; give the op a perform method"
            )
        from symc.theano.perform import called_back

        return called_back(self, node)(*inputs)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *_: Any) -> None:
        """Computes the outputs with NumPy into one-element lists."""
        if type(self).meaning is Op.meaning:
            raise MethodNotDefined("perform", type(self), type(self).__name__)
        from symc.theano.meaning import interpreted

        for storage, value in zip(output_storage, interpreted(node, inputs), strict=True):
            storage[0] = value

    def get_params(self, node: Apply) -> Any:
        """The op's parameters: with a `ParamsType`, its parts are attributes of the op."""
        from symc.theano.gof.params_type import ParamsType

        if not isinstance(self.params_type, ParamsType):
            raise MethodNotDefined("get_params", type(self), type(self).__name__)
        return self.params_type.get_params(self)

    # --- derivatives ------------------------------------------------------------------------------

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Any:
        """The gradients by the inputs, given those by the outputs."""
        if type(self).L_op is not Op.L_op:
            outputs = self(*inputs, return_list=True)
            return self.L_op(inputs, outputs, output_grads)
        raise NoGradient("grad", type(self), type(self).__name__)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Any) -> Any:
        """As `grad`, for a rule that also wants the outputs."""
        if type(self).grad is not Op.grad or type(self).meaning is Op.meaning:
            return self.grad(inputs, output_grads)
        from symc.theano.pullback import pulled_back

        return pulled_back(self, inputs, outputs, output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Any:
        """The directional derivatives of the outputs for directions of the inputs."""
        if type(self).meaning is Op.meaning:
            raise NotImplementedError(
                f"{self} of class {type(self).__name__} does not implement R_op. If this is a "
                "theano op, write to the theano-dev mailing list for assistance. If it is your "
                "own op, implement the R_op method."
            )
        from symc.theano.pullback import pushed_forward

        return pushed_forward(self, inputs, eval_points)

    @property
    def has_own_step(self) -> bool:
        """Whether the op's gradient may be another one than that of its meaning."""
        own = type(self).L_op is not Op.L_op or type(self).grad is not Op.grad
        return own and not self.step_follows_meaning

    def do_constant_folding(self, node: Apply) -> bool:
        """Whether the op may be computed before the program runs."""
        del node
        return True

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_templates"}

    def __repr__(self) -> str:
        return str(self)


PureOp = CLinkerOp = OpenMPOp = Op


def run_perform(op: Any, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
    """Calls an op's `perform`, with the op's parameters where it has some."""
    kind = getattr(op, "params_type", None)
    given = () if kind is None else (kind.filter(op.get_params(node)),)
    op.perform(node, inputs, output_storage, *given)


class COp(Op):
    """An op in files of C, which symc runs by its `perform` where it has one."""

    def __init__(self, func_files: Any, func_name: str | None = None) -> None:
        files = [func_files] if isinstance(func_files, str) else list(func_files)
        if type(self).perform is Op.perform and type(self).meaning is Op.meaning:
            raise NotImplementedError(
                "symc.theano runs no C of Theano's ops; give the op a perform method, or use "
                "symc.c_op"
            )
        self.func_files, self.func_name = files, func_name


# --- test values ----------------------------------------------------------------------------------


def get_test_value(v: Any) -> Any:
    """The test value of a variable. Raises AttributeError where there is none."""
    from symc.theano.compile.sharedvalue import SharedVariable
    from symc.theano.tensor.convert import as_tensor_variable

    if not isinstance(v, Variable):
        v = as_tensor_variable(v)
    if isinstance(v, Constant):
        return v.data
    if isinstance(v, SharedVariable):
        return v.get_value(borrow=True, return_internal_type=True)
    if hasattr(v.tag, "test_value"):
        value = v.type.filter(v.tag.test_value)
        v.tag.test_value = value
        return value
    raise AttributeError(f"{v} has no test value")


def get_debug_values(*args: Any) -> Any:
    """The test values of variables as one tuple in a list; an empty list where one lacks."""
    if config.compute_test_value == "off":
        return []
    found: list[Any] = []
    for position, each in enumerate(args):
        try:
            found.append(get_test_value(each))
        except AttributeError:
            if config.compute_test_value == "raise":
                raise AttributeError(f"Argument {position} ('{each}') has no test value") from None
            return []
    return [tuple(found)]


def missing_test_message(message: str) -> None:
    """Says, as `compute_test_value` wants it, that a test value is missing."""
    if config.compute_test_value == "raise":
        raise AttributeError(message)
    if config.compute_test_value == "warn":
        warnings.warn(message, stacklevel=2)


def add_test_values(node: Apply) -> None:
    """Computes the test values of the outputs, as `compute_test_value` says."""
    values: list[Any] = []
    for position, each in enumerate(node.inputs):
        try:
            values.append(get_test_value(each))
        except AttributeError:
            text = (
                f"Cannot compute test value: input {position} ({each}) of Op {node} missing "
                f"default value. Created at {node.where}"
            )
            if config.compute_test_value == "warn":
                warnings.warn(text, stacklevel=3)
            elif config.compute_test_value in ("raise", "pdb"):
                raise ValueError(text) from None
            return
    storage: list[list[Any]] = [[None] for _ in node.outputs]
    run_perform(node.op, node, values, storage)
    for output, cell in zip(node.outputs, storage, strict=True):
        output.tag.test_value = cell[0]
