"""Names that NumPy, Theano, JAX and PyTorch have for things, for errors that name symc's.

Keywords of functions are in `symc/graph/keywords.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

_COMPUTE = "x.eval({input: value}), or symc.function, as it has no values before it is computed"
_SET = "x[i].set(v) and x[i].inc(v), which give a new tensor"
_CHOOSE = "T.where(condition, x, y)"
_BROADCAST = "T.specify_shape(x, (None, 1)): an axis broadcasts if its length is known to be 1"

_STREAM = "T.random.RandomStream(seed)"
_POOL = "T.nnet.max_pool2d(x, window), avg_pool2d and sum_pool2d"
_LOGITS = "T.nnet.categorical_crossentropy(x, target, from_logits=True)"
_BATCH_NORM = "T.nnet.batch_norm and T.nnet.batch_norm_inference"
_NOTHING = "not to be set"
_GLOBAL_POOL = (
    "x.mean(axis=(2, 3)) or x.max(axis=(2, 3)) for one number each, else T.nnet.avg_pool2d"
)
_BINARY = "T.nnet.binary_crossentropy(x, target)"
_CLIP = "symc.optim.clip_by_global_norm(symc.grad(loss, params), limit)"
_SPLIT = "T.array_split(x, sections)"
_ALONG = "T.take_along_axis(x, indices, axis)"

# The module or class that was asked, the name, and symc's counterpart.
_INSTEAD: dict[str, dict[str, str]] = {
    "tensor": {
        "at": _SET, "put": _SET,
        "item": _COMPUTE, "tolist": _COMPUTE, "numpy": _COMPUTE, "block_until_ready": _COMPUTE,
        "value": "w.get_value()", "get_value": _COMPUTE, "set_value": _COMPUTE,
        "container": "w.get_value()",
        "owner": "x.op and x.args", "broadcastable": "x.type.shape", "flat": "x.ravel()",
        "itemsize": "x.dtype.bytes", "view": "x.astype(dtype) or x.reshape(shape)",
        "grad": "symc.grad(cost, x)", "backward": "symc.grad(cost, x)",
        "detach": "symc.disconnected_grad(x)", "unsqueeze": "T.expand_dims(x, axis)",
        "permute": "x.transpose(axes)", "dim": "x.ndim", "numel": "x.size",
        "tag": 'symc.function(..., mode="debug"), or x.eval({input: value})',
        "float": 'x.astype("float32")', "double": 'x.astype("float64")', "cuda": "device=",
        "long": 'x.astype("int64")', "cpu": "what a function returns: NumPy's arrays",
        "clone": "x itself: tensors do not change",
        "requires_grad": "symc.grad(cost, x)", "add_": _SET, "mul_": _SET, "fill_": "T.full_like",
        "clamp": "x.clip(min, max)", "masked_fill": _CHOOSE, "scatter": _SET, "expand":
        "T.broadcast_to(x, shape)", "type_as": "x.astype(y.dtype)", "new_zeros": "T.zeros",
        "t": "x.T", "mm": "T.dot(x, y)", "bmm": "T.batched_dot(x, y)", "matmul": "T.matmul(x, y)",
        "pow": "x ** y", "chunk": _SPLIT, "gather": _ALONG, "scatter_add_": _SET,
        "relu": "T.nnet.relu(x)", "softmax_": "T.nnet.softmax(x)",
        "log_softmax": "T.nnet.log_softmax(x)", "contiguous": "x itself: layout is no concern",
        "to": "x.astype(dtype), and symc.function's device", "topk": "T.topk(x, k)",
        "half": 'x.astype("float16")', "index_add_": _SET,
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
        "largest": "T.maximum", "smallest": "T.minimum", "ceil_intdiv": "-(-x // y)",
        "nonzero_values": "x[x.nonzero()]", "get_vector_length": "len(x)",
        "horizontal_stack": "T.hstack([x, y])", "vertical_stack": "T.vstack([x, y])",
        "rollaxis": "T.moveaxis(x, source, target)", "shape_padaxis": "T.expand_dims(x, axis)",
        "addbroadcast": _BROADCAST, "patternbroadcast": _BROADCAST, "unbroadcast": _BROADCAST,
        "put": _SET, "place": _SET, "putmask": _CHOOSE, "copyto": _CHOOSE, "cond": _CHOOSE,
        "ifelse": "symc.ifelse",
        "tensor6": 'T.tensor("float64", (None,) * 6)',
        "nlinalg": "T.linalg", "slinalg": "T.linalg", "extra_ops": "T", "subtensor": "T",
        "signal": "T.nnet.max_pool2d(x, window) and its kin, T.nnet.conv2d", "basic": "T",
        "raw_random": _STREAM, "shared_randomstreams": _STREAM, "RandomStreams": _STREAM,
        "blas": "T.dot", "type": "x.type", "opt": "mode=", "elemwise": "symc.op",
        "sharedvar": "symc.shared", "utils": "T", "inplace": "T", "fourier": "T.fft",
        "NumericGrad": "symc.verify_grad", "verify_grad": "symc.verify_grad",
        "batched_tensordot": "T.einsum", "Dot": "T.dot",
        "chi2sf": "T.gammaincc",
        "as_tensor_variables": "T.as_tensor", "TensorConstant": "T.constant",
        "random_uniform": _STREAM,
        "fill_diagonal_offset": "x[i, j].set(v)",
        "wrap": "T.as_tensor", "as_index_variable": "T.as_tensor",
        "from_numpy": "T.as_tensor", "cat": "T.concatenate", "bmm": "T.batched_dot", "mm": "T.dot",
        "clamp": "T.clip", "no_grad": "symc.disconnected_grad", "autograd": "symc.grad",
        "nn": "T.nnet", "lax": "symc.scan, symc.while_loop and symc.ifelse", "randn": _STREAM,
        "rand": _STREAM, "save": "symc.save", "load": "symc.load", "jit": "symc.function",
        "float16": '"float16", as text',
        "permute": "T.transpose(x, axes)", "unsqueeze": "T.expand_dims(x, axis)",
        "chunk": _SPLIT, "rsqrt": "1 / T.sqrt(x)", "index_select": "x[:, i], or T.take",
        "masked_fill": _CHOOSE, "scatter": _SET, "scatter_add": _SET, "index_add": _SET,
        "manual_seed": _STREAM, "bernoulli": _STREAM, "addmm": "c + T.dot(a, b)",
        "lerp": "x + w * (y - x)", "cdist": "T.sqrt(((x[:, None] - y) ** 2).sum(axis=-1))",
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
        "sandbox": f"{_STREAM}, for MRG_RandomStreams", "gof": "symc.debug", "scan_module":
        "symc.scan", "scan_utils": "symc.clone", "sparse": "symc.tensor.sparse",
        "tests": "symc.verify_grad", "gpuarray": 'device="cuda"', "d3viz": "f.report(path)",
        "sharedvalue": "symc.shared", "scalar": "symc.tensor",
        "misc": "symc", "configdefaults": "symc.config", "configparser": "symc.config",
        "opt": "mode=", "Mode": 'mode="fast" and the like', "typed_list": "Python's lists",
        "dot": "symc.tensor.dot", "debugprint": "symc.dprint", "pydotprint": "f.report(path)",
        "min_informative_str": "symc.pprint", "ProfileMode": "symc.profile",
        "ProfileStats": "symc.profile", "raise_op": "symc.Assert",
        "subgraph_grad": "symc.grad with known_grads", "rop": "symc.Rop", "lop": "symc.Lop",
        "zero_grad": "symc.disconnected_grad", "consider_constant": "symc.disconnected_grad",
        "shared_constructor": "symc.shared", "predefined_modes": "mode=",
        "sort": "symc.tensor.sort",
        "OrderedUpdates": "a dict",
        "numeric_grad": "symc.verify_grad",
        "float32": '"float32", as text', "float64": '"float64", as text',
        "array": "symc.tensor.as_tensor", "zeros": "symc.tensor.zeros", "pmap": "symc.vmap",
        "checkpoint": "symc.scan(..., checkpoint=n)", "custom_vjp": "symc.function_of(grad=...)",
        "device_put": 'symc.shared(value, device="cuda")', "no_grad": "symc.disconnected_grad",
        "autograd": "symc.grad", "eval_shape": "x.type", "make_jaxpr": "symc.dprint",
        "devices": "symc.cuda", "debug_nans": 'mode="nanguard"', "Module": "symc.shared variables",
        "Param": "symc.In", "OpFromGraph": "symc.function_of", "as_op": "symc.op",
        "Apply": "x.op and x.args", "Op": "symc.op, symc.c_op or symc.c_function",
        "Variable": "symc.Tensor", "detach": "symc.disconnected_grad",
        "compile": "symc.function(inputs, outputs)", "Parameter": "symc.shared",
        "remat": "symc.scan(..., checkpoint=n)", "manual_seed": f"symc.tensor: {_STREAM}",
    },
    "nnet": {
        "one_hot": "T.one_hot", "to_one_hot": "T.to_one_hot",
        "softmax_graph": "T.nnet.softmax", "softmax_op": "T.nnet.softmax",
        "ultra_fast_sigmoid": "T.nnet.sigmoid", "logsoftmax": "T.nnet.log_softmax",
        "sigmoid_binary_crossentropy": "T.nnet.binary_crossentropy(x, t, from_logits=True)",
        "crossentropy_softmax_1hot": _LOGITS, "crossentropy_softmax_argmax_1hot_with_bias": _LOGITS,
        "softmax_with_bias": "T.nnet.softmax(x + b)",
        "crossentropy_categorical_1hot": "T.nnet.categorical_crossentropy",
        "crossentropy": "T.nnet.categorical_crossentropy", "cross_entropy": _LOGITS,
        "nll_loss": "T.nnet.categorical_crossentropy", "mse_loss": "T.nnet.squared_error",
        "bn": _BATCH_NORM, "batch_normalization": _BATCH_NORM,
        "batch_normalization_train": _BATCH_NORM, "batch_normalization_test": _BATCH_NORM,
        "conv2d_grad_wrt_inputs": "T.nnet.conv2d_transpose", "conv3D": "T.nnet.conv3d",
        "conv2d_grad_wrt_weights": "symc.grad", "abstract_conv": "T.nnet.conv2d",
        "bilinear_upsampling": "T.repeat, or T.nnet.conv2d_transpose",
        "neighbours": "T.nnet.conv2d, or x[i] with index arrays", "pool_2d": _POOL,
        "max_pool": _POOL, "max_pool_2d": _POOL, "avg_pool": _POOL, "downsample": _POOL,
        "h_softmax": "T.nnet.softmax", "categorical_crossentropy_1hot":
        "T.nnet.categorical_crossentropy", "Linear": "T.dot(x, w) + b", "functional": "T.nnet",
        "linear": "T.dot(x, w) + b", "dense": "T.dot(x, w) + b", "Conv2d": "T.nnet.conv2d",
        "MaxPool2d": "T.nnet.max_pool2d", "LSTM": "T.nnet.lstm", "GRU": "T.nnet.gru",
        "Dropout": "T.nnet.dropout", "BatchNorm2d": _BATCH_NORM, "ReLU": "T.nnet.relu",
        "BatchNorm1d": _BATCH_NORM, "max_pool1d_": _POOL,
        "bce_loss": _BINARY, "binary_cross_entropy": _BINARY, "binary_cross_entropy_with_logits":
        "T.nnet.binary_crossentropy(x, target, from_logits=True)",
        "l1_loss": "T.abs(x - target), and .mean()",
        "smooth_l1_loss": "T.nnet.huber_loss(x, target, delta=beta) / beta",
        "kl_div": "T.nnet.kl_divergence(target, predicted)", "batchnorm": _BATCH_NORM,
        "cosine_similarity": "(x * y).sum(axis=1) by the norms",
        "conv_transpose1d": "T.nnet.conv1d_transpose",
        "conv_transpose2d": "T.nnet.conv2d_transpose",
        "conv_transpose3d": "T.nnet.conv3d_transpose",
        "ConvTranspose2d": "T.nnet.conv2d_transpose", "Conv1d": "T.nnet.conv1d",
        "Conv3d": "T.nnet.conv3d", "LayerNorm": "T.nnet.layer_norm",
        "GroupNorm": "T.nnet.group_norm", "RMSNorm": "T.nnet.rms_norm",
        "Embedding": "T.nnet.embedding", "CrossEntropyLoss": _LOGITS,
        "Module": "symc.shared variables", "Parameter": "symc.shared", "Sequential":
        "functions of tensors, one after the other",
        "scaled_dot_product_attention": "T.nnet.attention", "multi_head_attention":
        "T.nnet.attention, with an axis for heads",
        "MultiheadAttention": "T.nnet.attention, with an axis for heads",
        "adaptive_avg_pool2d": _GLOBAL_POOL, "adaptive_max_pool2d": _GLOBAL_POOL,
        "dropout1d": "T.nnet.dropout(x, rate, stream, shape=(n, c, 1))",
        "dropout2d": "T.nnet.dropout(x, rate, stream, shape=(n, c, 1, 1))",
        "interpolate": "T.repeat, or T.nnet.conv2d_transpose",
        "upsample": "T.repeat, or T.nnet.conv2d_transpose", "pad": "T.pad",
        "pixel_shuffle": "x.reshape(shape) and x.transpose(axes)",
        "hardtanh": "T.nnet.hard_tanh", "hardswish": "T.nnet.hard_silu",
        "hardsigmoid": "T.nnet.hard_sigmoid", "logsigmoid": "T.nnet.log_sigmoid",
        "softsign": "T.nnet.soft_sign", "softmin": "T.nnet.softmax(-x)",
        "prelu": "T.where(x > 0, x, a * x)", "threshold": _CHOOSE, "rnn": "symc.scan",
        "RNN": "symc.scan",
    },
    "linalg": {
        "matrix_inverse": "T.linalg.inv", "matrix_dot":
        "T.linalg.multi_dot", "alloc_diag": "T.diag", "diag": "T.diag",
        "extract_diag": "T.diagonal",
        "SVD": "T.linalg.svd", "Solve": "T.linalg.solve", "MatrixInverse": "T.linalg.inv",
        "Det": "T.linalg.det",
        "cho_factor": "T.linalg.cholesky",
        "lu_solve": "T.linalg.solve", "solve_lower_triangular":
        "T.linalg.solve_triangular(a, b, lower=True)",
        "solve_upper_triangular": "T.linalg.solve_triangular(a, b)",
        "dot": "T.dot",
    },
    "random": {
        "RandomStreams": _STREAM, "MRG_RandomStreams": _STREAM, "RandomState": _STREAM,
        "default_rng": _STREAM, "Generator": _STREAM, "PRNGKey": "T.random.key(seed)",
        "manual_seed": _STREAM, "rand": "T.random.uniform(key, size=shape)",
        "randn": "T.random.normal(key, size=shape)", "random": "T.random.uniform(key, size=shape)",
        "randint": "T.random.integers(key, low, high, size)", "t": "T.random.student_t",
        "random_integers": "T.random.integers(key, low, high, size)",
        "seed": _STREAM, "rng_mrg": _STREAM,
    },
    "fft": {"curfft": "T.fft.rfft", "cuirfft": "T.fft.irfft", "rfft_op": "T.fft.rfft"},
    "sparse": {
        "matrix": "csr_matrix or csc_matrix", "CSR": "csr_from_parts", "CSC": "csc_from_parts",
        "csr_array": "csr_matrix", "csc_array": "csc_matrix", "dot": "a @ x",
        "structured_dot": "a @ x", "true_dot": "a @ x", "sampling_dot": "sampled_dot",
        "row_scale": "a.scale_rows(v)", "col_scale": "a.scale_columns(v)", "sp_sum": "a.sum(axis)",
        "csm_data": "a.data", "csm_indices": "a.indices", "csm_indptr": "a.indptr",
        "csm_properties": "a.parts", "dense_from_sparse": "a.toarray()", "transpose": "a.T",
        "BCOO": "csr_matrix", "BCSR": "csr_matrix", "csr_fromdense": "csr_from_dense",
        "todense": "a.toarray()", "as_sparse_variable": "as_sparse", "cast": "a.astype(dtype)",
    },
    "optim": {
        "SGD": "symc.optim.sgd(loss, params, rate)", "Adam": "symc.optim.adam(loss, params)",
        "RMSprop": "symc.optim.rmsprop(loss, params)", "Adagrad": "symc.optim.adagrad",
        "Adadelta": "symc.optim.adadelta", "AdamW": "symc.optim.adamw",
        "momentum": "symc.optim.sgd(loss, params, rate, momentum)", "apply_updates":
        "symc.function(updates=...)", "nesterov_momentum":
        "symc.optim.sgd(loss, params, rate, momentum, nesterov=True)",
        "total_norm_constraint": "symc.optim.clip_by_global_norm",
        "clip_grad_norm": _CLIP, "clip_grad_norm_": _CLIP,
        "clip_grad_value_": "symc.optim.clip_by_value", "Lion": "symc.optim.lion",
        "Adamax": "symc.optim.adamax", "nesterov":
        "symc.optim.sgd(loss, params, rate, momentum, nesterov=True)",
        "lr_scheduler": "schedules, which are learning rates: symc.optim.cosine_decay(...)",
        "CosineAnnealingLR": "symc.optim.cosine_decay", "StepLR": "symc.optim.step_decay",
        "ExponentialLR": "symc.optim.exponential_decay", "LinearLR": "symc.optim.linear_decay",
        "MultiStepLR": "symc.optim.piecewise_rate",
        "nadam": "not to be had", "radam": "not to be had", "lamb": "not to be had",
        "adafactor": "not to be had",
    },
    "function": {
        "maker": "f.graph, f.explain() and f.report(path)", "fn": "f itself", "profile":
        "symc.profile(f, ...)", "trust_input": "to be left out: checks cost nothing",
        "input_storage": "f.ins", "output_storage": "what f returns", "get_shared": "f.shared",
        "finder": "f.shared", "value": "f.shared", "container": "f.shared", "free": "del f",
        "lower": "f.program", "compile": "f itself", "inputs": "f.ins", "outputs": "f.graph",
    },
    "config": {
        "optimizer": 'mode: "compile" for FAST_COMPILE, "python" for None', "linker": "mode",
        "exception_verbosity": "to be left out: errors name the line", "cxx": "SYMC_CC", "gcc":
        "SYMC_CC", "compute_test_value": 'mode="debug"', "blas": "SYMC_BLAS",
        "openmp": "threads", "openmp_elemwise_minsize": "threads",
        "profile": "symc.profile(f, ...)",
        "allow_gc": _NOTHING, "compiledir": "SYMC_CACHE_DIR", "base_compiledir": "SYMC_CACHE_DIR",
        "warn_float64": "floatX", "cast_policy": "floatX: dtypes are NumPy's", "int_division":
        "x // y", "warn": _NOTHING, "lib": _NOTHING, "scan": _NOTHING, "dnn": _NOTHING,
        "nvcc": _NOTHING, "force_device": "device", "reoptimize_unpickled_function":
        _NOTHING, "optimizer_including": 'mode="fast"', "optimizer_excluding": "mode",
        "traceback": "to be left out: errors name the line", "jax_enable_x64": 'floatX="float64"',
        "NanGuardMode": 'mode="nanguard"', "DebugMode": 'mode="debug"', "init_gpu_device": "device",
        "update": 'symc.config.floatX = "float32", and the like', "gpuarray": _NOTHING,
    },
}  # fmt: skip


_TABLES = {
    "symc": "symc", "symc.tensor": "T", "symc.tensor.nnet": "nnet", "symc.tensor.linalg": "linalg",
    "symc.tensor.random": "random", "symc.tensor.sparse": "sparse",
    "symc.tensor.fft": "fft", "symc.optim": "optim",
}  # fmt: skip


def instead(of: str, name: str, known: Iterable[str] = ()) -> str:
    """Advice for a name that `of` lacks, as the end of an error; "" where there is none.

    >>> instead("symc", "jit")
    '; here it is symc.function(inputs, outputs)'
    >>> instead("symc", "funktion", ["function", "shared"])
    "; did you mean 'function'?"
    """
    found = _INSTEAD[of].get(name)
    return said(found) if found else meant(name, known)


def said(advice: str) -> str:
    """An advice as the end of a sentence."""
    is_none = advice.startswith(("to be", "not "))
    return f"; it is {advice}" if is_none else f"; here it is {advice}"


def missing(of: str, module: str, name: str, known: Callable[[], Iterable[str]]) -> AttributeError:
    """The error of a module that lacks a name, which names symc's counterpart."""
    advice = instead(of, name, () if name.startswith("_") else known())
    # Without the module, as Python would add a guess of its own.
    return AttributeError(f"module {module!r} has no attribute {name!r}{advice}", obj=None)


def advise_on_module(name: str) -> None:
    """Raises ModuleNotFoundError for a module that is not there, if symc has a counterpart."""
    module, _, last = name.rpartition(".")
    if module not in _TABLES or module not in sys.modules:
        return
    known = dir(sys.modules[module])
    if last in known:
        advice = f"; there is a function: from {module} import {last}"
    else:
        advice = instead(_TABLES[module], last, known)
    if advice:
        # Without the module's name: of one that is named, "from symc import name" says less.
        raise ModuleNotFoundError(f"there is no module {name!r}{advice}")


def meant(name: object, known: Iterable[str]) -> str:
    """Which of the known names was meant, to end an error with; "" where none is near.

    >>> meant("defualt", ["default", "fast"]), meant("other", ["default"])
    ("; did you mean 'default'?", '')
    """
    by_letters = {each.lower(): each for each in known}
    if not by_letters or not isinstance(name, str) or name.startswith("_"):
        return ""  # those are asked for by programs, often, and not mistyped
    from difflib import get_close_matches  # late: only for errors

    found = get_close_matches(name.lower(), by_letters, 1, 0.75)
    return f"; did you mean {by_letters[found[0]]!r}?" if found else ""
