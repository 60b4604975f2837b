"""Keywords of Theano, NumPy, JAX and PyTorch, and None for arguments that are not given.

Consulted by `symc/graph/public.py`: a correct call never runs any of this.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from symc.graph.other_libraries import meant, said
from symc.graph.provenance import user_line

_NEW = "what the function returns: tensors do not change"
_WHERE = "T.where(condition, x, 0), or another neutral element, before"
_CAST = ".astype(dtype) of the result"
_LENGTHS = "to be left out: lengths are known from the arrays, or by T.tensor(dtype, shape)"
_SEED = "a stream: T.random.RandomStream(seed)"
_ROWS = 'to be left out for rows first, "C"; columns first'
_NO_NEED = "to be left out: it is done where it pays"
_REDUCTION = 'reduction="mean", "sum" or "none"'
_TARGET_FIRST = "predicted and target"
_BERNOULLI = "a stream, as the third argument: dropout(x, rate, stream)"

_CONVOLUTION = {
    "border_mode": 'padding: "valid", "same", "full", "half", or numbers for the axes',
    "pad": "padding", "subsample": "stride", "strides": "stride", "window_strides": "stride",
    "filter_flip": "flip_filters", "filter_dilation": "dilation", "rhs_dilation": "dilation",
    "num_groups": "groups", "feature_group_count": "groups", "input": "x|y", "weight": "filters",
    "kernel": "filters", "kern": "filters", "rhs": "filters", "lhs": "x|y",
    "input_shape": _LENGTHS, "image_shape": _LENGTHS, "filter_shape": _LENGTHS, "imshp": _LENGTHS,
    "kshp": _LENGTHS, "bsize": _LENGTHS, "nkern": _LENGTHS,
    "bias": "added afterwards: y + b[:, None, None]", "unshared": "not to be had",
    "lhs_dilation": "T.nnet.conv2d_transpose(y, filters, stride=...)",
    "dimension_numbers": "fixed: (batch, channels, rows, columns), and filters (out, in, ...)",
}  # fmt: skip
_POOLING = {
    "ds": "window", "ws": "window", "kernel_size": "window", "pool_size": "window",
    "window_shape": "window", "st": "stride", "strides": "stride", "pad": "padding",
    "ignore_border": "ceil_mode: ignore_border=True is ceil_mode=False", "input": "x",
    "mode": "another function: max_pool2d, avg_pool2d (include_padding=False for Theano's "
    '"average_exc_pad") or sum_pool2d',
    "count_include_pad": "include_padding",
    "return_indices": "not to be had: T.argmax of the windows",
    "dilation": "not to be had",
}  # fmt: skip
_LOSS = {
    "output": "predicted", "input": "predicted", "logits": "from_logits=True", "labels": "target",
    "coding_dist": "predicted", "true_dist": "target", "y_true": "target", "y_pred": "predicted",
    "size_average": _REDUCTION, "reduce": _REDUCTION, "weight": "a factor of the result",
    "targets": "target", "predictions": "predicted", "with_logits": "from_logits",
    "pos_weight": "a factor of the result where the target is 1", "beta": "delta",
}  # fmt: skip
_NORMALIZING = {
    "gamma": "scale", "beta": "shift", "weight": "scale", "bias": "shift", "eps": "epsilon",
    "inputs": "x", "input": "x", "axes": "axis", "mean": "running_mean", "var": "running_var",
    "std": "running_var, the square", "running_average_factor": "momentum", "mode": _NO_NEED,
    "training": "T.nnet.batch_norm to train, batch_norm_inference otherwise",
}  # fmt: skip
_DERIVATIVE = {
    "disconnected_inputs": 'disconnected: "raise", "zero", "warn" or "ignore"',
    "add_names": _NO_NEED, "null_gradients": "not to be had", "argnums": "wrt: the tensors",
    "warn_type": _NO_NEED, "inputs": "wrt", "outputs": "cost|expression|f",
    "expr": "cost|expression|f", "x": "wrt",
    "return_disconnected": 'disconnected="zero"', "allow_unused": 'disconnected="zero"',
    "create_graph": _NO_NEED, "retain_graph": _NO_NEED, "has_aux": "a list of outputs",
}  # fmt: skip
_LOOP = {
    "taps": "dict(input=x, taps=[...]) in sequences, dict(initial=x, taps=[...]) in outputs_info",
    "length": "n_steps", "init": "outputs_info|init", "xs": "sequences", "elems": "sequences",
    "f": "fn", "initializer": "outputs_info", "init_value": "outputs_info",
    "reverse": "go_backwards", "unroll": _NO_NEED, "options": _NO_NEED,
    "info": "outputs_info", "states": "outputs_info", "output_info": "outputs_info",
    "outputs": "outputs_info", "steps": "n_steps", "until": "returned by fn: symc.until(condition)",
    "updates": "returned by fn, after the outputs",
}  # fmt: skip
_SAMPLER = {
    "avg": "loc|mean", "std": "scale|sigma", "mean": "loc", "stddev": "scale|sigma",
    "sigma": "scale", "minval": "low", "maxval": "high", "mu": "loc|mean", "lambda_": "lam",
    "shape": "size", "ndim": "to be left out: size says it",
    "nstreams": _NO_NEED, "rng": _SEED, "seed": _SEED, "random_state": _SEED, "generator": _SEED,
    "prob": "p", "probs": "p", "n": "bernoulli(p, size) for n = 1", "a": "low", "b": "high",
    "loc": "low|mean", "high": "scale", "target": "symc.function's device", "out": _NEW,
}  # fmt: skip
_SORTING = {
    "kind": "to be left out: the order is stable", "order": "to be left out: no records",
    "stable": "to be left out: the order is stable", "sorted": _NO_NEED, "idx": _NO_NEED,
}  # fmt: skip
_FUNCTION = {
    "profile": "symc.profile(f, ...), afterwards", "accept_inplace": _NO_NEED,
    "rebuild_strict": _NO_NEED, "output_keys": "a dict of outputs",
    "allow_downcast": "allow_input_downcast", "unused": "on_unused_input", "optimizer": "mode",
    "update": "updates", "given": "givens", "static_argnums": "a Python function of it",
    "donate_argnums": "symc.In(x, mutable=True) among the inputs", "backend": "device",
    "args": "inputs",
}  # fmt: skip
_SHARED = {
    "strict": _NO_NEED, "allow_downcast": "set_value(value.astype(dtype))",
    "broadcastable": "shape: (None, 1) is what Theano calls broadcastable=(False, True)",
    "target": 'device: "cpu", "cuda"',
}  # fmt: skip
_INPUT = {
    "broadcastable": "shape: (None, 1) is what Theano calls broadcastable=(False, True)",
    "ndim": "T.matrix and its kin, or shape=(None,) * ndim",
    "device": "symc.function's device",
}
_GENERAL = {
    "out": _NEW, "where": _WHERE, "casting": _CAST, "order": "to be left out: there is one order",
    "subok": _NO_NEED, "like": _NO_NEED, "initial": "T.maximum and the like, of the result",
    "dim": "axis", "dims": "axis", "axes": "axis", "keepdim": "keepdims", "input": "x",
    "unbiased": "ddof", "correction": "ddof", "dtype": _CAST, "acc_dtype": "dtype", "other": "y",
    "eps": "epsilon", "n_dim": "ndim", "copy": _NO_NEED, "requires_grad": _NO_NEED,
    "no_zeros_in_input": _NO_NEED, "a_min": "min", "a_max": "max", "overwrite_input": _NO_NEED,
    "interpolation": "method", "lr": "learning_rate", "rho": "decay", "cost": "loss", "x": "a",
    "a": "x", "b": "y", "x1": "x", "x2": "y", "weight_decay": "symc.optim.adamw",
    "newshape": "shape", "repeats": "reps", "tensor_list": "tensors",
    "arrays": "tensors", "nb_class": "num_classes", "p": "rate",
}  # fmt: skip

# By function, the replacements for keywords of other libraries.
_TABLES: dict[str, Mapping[str, str]] = {
    "conv1d conv2d conv3d conv1d_transpose conv2d_transpose conv3d_transpose": _CONVOLUTION,
    "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d sum_pool1d sum_pool2d "
    "sum_pool3d": _POOLING,
    "binary_crossentropy categorical_crossentropy squared_error hinge_loss huber_loss "
    "kl_divergence": _LOSS,
    "batch_norm batch_norm_inference layer_norm group_norm instance_norm": _NORMALIZING,
    "grad jacobian hessian Lop Rop": _DERIVATIVE,
    "scan map reduce foldl foldr while_loop fori_loop": _LOOP,
    "while_loop": {
        "cond_fun": "condition", "body_fun": "body", "init_val": "init", "cond": "condition",
        "loop_vars": "init", "maximum_iterations": "max_steps",
    },
    "fori_loop": {"body_fun": "body", "init_val": "init", "start": "lower", "stop": "upper"},
    "uniform normal bernoulli binomial integers choice multinomial permutation gumbel laplace "
    "poisson exponential gamma beta truncated_normal lognormal categorical shuffle": _SAMPLER,
    "dropout": {
        "p": "rate", "p_drop": "rate", "prob": "rate", "rng": _BERNOULLI, "srng": _BERNOULLI,
        "key": _BERNOULLI, "theano_rng": _BERNOULLI, "seed": _BERNOULLI,
        "training": "a Python if: leave dropout out", "inplace": _NO_NEED,
    },
    "sort argsort partition argpartition topk": _SORTING,
    "function": _FUNCTION,
    "shared": _SHARED,
    "tensor scalar vector matrix row col tensor3 tensor4 tensor5": _INPUT,
    "ifelse": {
        "then_branch": "then", "else_branch": "otherwise", "pred": "condition",
        "true_fun": "then, an expression", "false_fun": "otherwise, an expression",
    },
    "clone": {
        "strict": _NO_NEED, "rebuild_strict": _NO_NEED, "copy_inputs": "share_inputs, the opposite",
        "copy_inputs_over": "share_inputs, the opposite",
    },
    "copy": {"share_memory": "swap", "profile": "symc.profile(f, ...), afterwards"},
    "where switch": {"cond": "condition", "ift": "x", "iff": "y", "input": "x", "other": "y"},
    "attention": {
        "query": "queries", "key": "keys", "value": "values", "attn_mask": "mask", "bias": "mask",
        "is_causal": "causal", "key_padding_mask": "mask", "dropout_p": "not to be had",
    },
    "embedding": {"padding_idx": "padding_index", "weight": "weights", "input": "indexes"},
    "adam adamax adamw lion": {"betas": "beta1 and beta2", "amsgrad": "not to be had"},
    "rmsprop": {"alpha": "decay"},
    "clip_by_norm clip_by_global_norm": {
        "max_norm": "limit", "norm_type": "to be left out: the Euclidean norm", "parameters":
        "gradients",
    },
    "step_decay exponential_decay": {"gamma": "factor", "step_size": "every", "decay_rate":
                                     "factor"},
    "cosine_decay linear_decay": {"T_max": "steps", "eta_min": "final", "total_iters": "steps"},
    "elu celu relu": {"negative_slope": "alpha", "slope": "alpha"},
    "leaky_relu": {"alpha": "negative_slope"},
    "reshape broadcast_to zeros ones full empty": {
        "newshape": "shape", "size": "shape", "dims": "shape",
    },
    "tile": {"ndim": "reps: one number for each axis", "repeats": "reps", "dims": "reps"},
    "repeat": {"reps": "repeats", "dim": "axis", "total_repeat_length": _NO_NEED},
    "flatten": {"outdim": "ndim", "start_dim": "not to be had: x.reshape(shape)"},
    "flatten ravel": {"order": f'{_ROWS}, "F" is x.T.ravel()'},
    "reshape": {"order": f'{_ROWS}, "F" is x.T.reshape(shape[::-1]).T'},
    "nonzero": {"return_matrix": "T.stack(T.nonzero(x))", "as_tuple": _NO_NEED},
    "topk": {"kth": "k"},
    "norm": {"L": "ord", "p": "ord"},
    "std var": {"corrected": "ddof=1"},
    "set_subtensor inc_subtensor": {
        "inplace": _NO_NEED, "tolerate_inplace_aliasing": _NO_NEED, "y": "values",
    },
    "pad": {"value": "constant_values", "pad": "pad_width", "padding": "pad_width"},
    "svd": {"some": "full_matrices, the opposite"},
    "cholesky": {"lower": "upper, the opposite", "on_error": "LinAlgError, which is raised"},
    "solve_triangular": {"upper": "lower, the opposite", "unitriangular":
                         "unit_diagonal"},
    "vmap vectorize": {"in_dims": "in_axes", "out_dims": "out_axes"},
    "verify_grad": {
        "fun": "function", "pt": "points", "abs_tol": "rtol", "rel_tol": "rtol", "rng": "seed",
        "n_tests": "calls in a loop",
    },
    "In": {
        "update": "symc.function's updates, of a shared variable", "strict": _NO_NEED,
        "shared": _NO_NEED, "autoname": _NO_NEED, "implicit": _NO_NEED,
    },
    "Print": {"global_fn": "message"},
}  # fmt: skip
_BY_FUNCTION: dict[str, dict[str, str]] = {}
for _functions, _table in _TABLES.items():
    for _function in _functions.split():
        _BY_FUNCTION[_function] = {**_BY_FUNCTION.get(_function, {}), **_table}


def explained(function: Callable[..., Any], given: Iterable[str], text: str) -> str:
    """The error of a call that does not fit, with the replacement and the user's line."""
    parameters = inspect.signature(function).parameters
    taken = [name for name, each in parameters.items() if each.kind is not each.VAR_KEYWORD]
    unknown = [name for name in given if name not in parameters]
    if not unknown or len(taken) < len(parameters):
        return f"{text}\n  at     {user_line()}"
    owner, _, method = function.__qualname__.rpartition(".")
    label = owner if method == "__init__" else function.__name__
    return unexpected(label, unknown[0], [name for name in taken if name != "self"])


def unexpected(label: str, name: str, taken: Sequence[str]) -> str:
    """The error of a call with a keyword that is not among those which are taken."""
    start = f"{label}() got an unexpected keyword argument {name!r}"
    return f"{start}{_advice(label, name, taken)}\n  at     {user_line()}"


def _advice(label: str, name: str, taken: Sequence[str]) -> str:
    """Advice for a keyword: its name in symc, a similar one, or a list of all."""
    own = _fitting(_BY_FUNCTION.get(label, {}).get(name), taken)
    if own:
        return said(own)
    near = meant(name, taken)
    if near:
        return near
    general = _fitting(_GENERAL.get(name), taken)
    return said(general) if general else f"; it takes {', '.join(taken) or 'none'}"


def _fitting(advice: str | None, taken: Sequence[str]) -> str | None:
    """The advice; of keywords, which "|" separates, the one that the function takes."""
    if advice is None or re.fullmatch(r"[\w|]+", advice) is None:
        return advice
    return next((name for name in advice.split("|") if name in taken), None)


# --- None -----------------------------------------------------------------------------------------


def without_none(
    function: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with defaults in place of each None that says nothing to the function."""
    parameters = inspect.signature(function).parameters
    ordered = [
        each
        for each in parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    kept = [_default(function, each, value) for each, value in zip(ordered, args, strict=False)]
    named = {
        name: _default(function, parameters[name], value) if name in parameters else value
        for name, value in given.items()
    }
    return (*kept, *args[len(kept) :]), named


def _default(function: Callable[..., Any], parameter: inspect.Parameter, value: Any) -> Any:
    if value is not None or parameter.default is parameter.empty:
        return value
    return value if _admits_none(function, str(parameter.annotation)) else parameter.default


def _admits_none(function: Callable[..., Any], annotation: str) -> bool:
    """Whether None is among the types of an annotation, or of the aliases that it names."""
    text, inner = annotation, ""
    while text != inner:
        text, inner = re.sub(r"\[[^\[\]]*\]", "", text), text
    parts = [part.strip() for part in text.split("|")]
    names: dict[str, Any] = getattr(function, "__globals__", {})
    aliases = [names[part] for part in parts if part in names]
    return "None" in parts or any(
        _admits_none(function, alias if isinstance(alias, str) else str(alias))
        for alias in aliases
        if not isinstance(alias, type) and str(alias) not in parts
    )
