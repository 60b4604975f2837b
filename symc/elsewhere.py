"""Names that NumPy, Theano, JAX and PyTorch have for things: errors say what to write here."""

from __future__ import annotations

_COMPUTE = "x.eval({input: value}), or symc.function, as it has no values before it is computed"
_SET = "x[i].set(v) and x[i].inc(v), which give a new tensor"
_CHOOSE = "T.where(condition, x, y)"
_BROADCAST = "T.specify_shape(x, (None, 1)): an axis broadcasts if its length is known to be 1"

# What was asked for the name, the name, and what there is instead.
_INSTEAD: dict[str, dict[str, str]] = {
    "tensor": {
        "at": _SET, "put": _SET,
        "item": _COMPUTE, "tolist": _COMPUTE, "numpy": _COMPUTE, "block_until_ready": _COMPUTE,
        "value": "w.get_value()", "container": "w.get_value()",
        "owner": "x.op and x.args", "broadcastable": "x.type.shape", "flat": "x.ravel()",
        "itemsize": "x.dtype.bytes", "view": "x.astype(dtype) or x.reshape(shape)",
        "grad": "symc.grad(cost, x)", "backward": "symc.grad(cost, x)",
        "detach": "symc.disconnected_grad(x)", "unsqueeze": "T.expand_dims(x, axis)",
        "permute": "x.transpose(axes)", "dim": "x.ndim", "numel": "x.size",
        **{name: f"T.{name}(x)" for name in (
            "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "isnan", "sign",
        )},
    },
    "T": {
        "TensorType": "T.tensor(dtype, shape=(None, 1)) for an input, x.type for a type",
        "TensorVariable": "symc.Tensor", "Variable": "symc.Tensor", "Tensor": "symc.Tensor",
        "shared": "symc.shared", "function": "symc.function", "scan": "symc.scan",
        "and_": "T.logical_and, or &", "or_": "T.logical_or, or |", "xor": "T.logical_xor, or ^",
        "abs_": "T.abs", "sgn": "T.sign", "inv": "T.reciprocal", "psi": "T.digamma",
        "int_div": "T.floordiv, or //", "true_div": "T.div, or /",
        "join": "T.concatenate([x, y], axis)",
        "rollaxis": "T.moveaxis(x, source, target)", "shape_padaxis": "T.expand_dims(x, axis)",
        "addbroadcast": _BROADCAST, "patternbroadcast": _BROADCAST, "unbroadcast": _BROADCAST,
        "put": _SET, "place": _SET, "putmask": _CHOOSE, "copyto": _CHOOSE, "cond": _CHOOSE,
        "ifelse": "symc.ifelse", "mgrid": "T.meshgrid", "ogrid": "T.arange",
        "tensor6": 'T.tensor("float64", (None,) * 6)',
        "nlinalg": "T.linalg", "slinalg": "T.linalg", "extra_ops": "T", "signal": "T.nnet",
        "shared_randomstreams": "T.random.RandomStream(seed)",
        **{name: f"np.{name}" for name in ("pi", "e", "inf", "nan", "finfo", "iinfo")},
        **{name: f'"{name}", as text' for name in (
            "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
            "float32", "float64", "complex64", "complex128",
        )},
    },
    "symc": {
        "jit": "symc.function(inputs, outputs)", "numpy": "symc.tensor",
        "lax": "symc.scan, symc.while_loop and symc.ifelse",
        "value_and_grad": "symc.function(inputs, [cost, symc.grad(cost, x)])",
        "vjp": "symc.Lop", "jvp": "symc.Rop", "jacfwd": "symc.jacobian", "jacrev": "symc.jacobian",
        "stop_gradient": "symc.disconnected_grad", "cond": "symc.ifelse",
        "nn": "symc.tensor.nnet", "random": "symc.tensor.random", "linalg": "symc.tensor.linalg",
        "pp": "symc.pprint", "printing": "symc.pprint, symc.dprint and symc.Print",
        "gradient": "symc.grad, symc.jacobian and symc.disconnected_grad",
        "Param": "symc.In", "OpFromGraph": "symc.function_of", "as_op": "symc.op",
        "Op": "symc.op, symc.c_op or symc.c_function", "Variable": "symc.Tensor",
    },
}  # fmt: skip


def instead(of: str, name: str) -> str:
    """What to write for a name that `of` lacks, to end an error with; "" where nothing is known.

    >>> instead("symc", "jit")
    '; here it is symc.function(inputs, outputs)'
    """
    found = _INSTEAD[of].get(name)
    return f"; here it is {found}" if found else ""
