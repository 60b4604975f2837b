"""Arguments: None is as if not given, and keywords of other libraries name symc's."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.graph import keywords
from symc.graph import other_libraries as elsewhere
from tests.test_habits import check_names_in

x, m, v, i = T.vector("x"), T.matrix("m"), T.vector("v"), T.lvector("i")
images, filters = T.tensor4("images"), T.tensor4("filters")
w = symc.shared(np.ones(3), name="w")
key = T.random.key(0)
t: Any = T
s: Any = symc
any_w: Any = w

MODULES = (symc, T, T.nnet, T.linalg, T.fft, T.random, symc.optim)
CLASSES = (T.random.RandomStream, symc.SharedVariable, symc.Print, symc.Assert, symc.Function)


def public_functions() -> dict[str, FunctionType]:
    """All functions that users find, by module and name, and the methods of classes."""
    found: dict[str, FunctionType] = {}
    for module in MODULES:
        for name in dir(module):
            value = getattr(module, name)
            if isinstance(value, FunctionType) and not name.startswith("_"):
                found[f"{module.__name__}.{name}"] = value
    for cls in CLASSES:
        for name, value in vars(cls).items():
            if isinstance(value, FunctionType) and not name.startswith("_"):
                found[f"{cls.__name__}.{name}"] = value
    return found


FUNCTIONS = public_functions()


def test_every_public_function_is_published() -> None:
    assert len(FUNCTIONS) > 700
    assert not [name for name, value in FUNCTIONS.items() if not hasattr(value, "__wrapped__")]


@pytest.mark.parametrize("module", [T, T.nnet, T.linalg, T.random, symc], ids=lambda m: m.__name__)
def test_public_functions_can_be_pickled(module: ModuleType) -> None:
    """`pickle.dumps(T.tanh)` of a layer's activation failed."""
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, FunctionType) and not name.startswith("_"):
            assert pickle.loads(pickle.dumps(value)) is value, name


# --- None -----------------------------------------------------------------------------------------

# Calls, whose other arguments are then given as None, one by one and by position.
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "sum": (T.sum, (m,)),
    "std": (T.std, (m,)),
    "round": (T.round, (m,)),
    "diff": (T.diff, (m,)),
    "trace": (T.trace, (m,)),
    "tril": (T.tril, (m,)),
    "eye": (T.eye, (3,)),
    "stack": (T.stack, ([x, v],)),
    "take": (T.take, (m, i)),
    "topk": (T.topk, (m, 2)),
    "pad": (T.pad, (m, 1)),
    "nan_to_num": (T.nan_to_num, (m,)),
    "isclose": (T.isclose, (x, v)),
    "tensordot": (T.tensordot, (m, m)),
    "meshgrid": (T.meshgrid, (x, v)),
    "one_hot": (T.one_hot, (i, 3)),
    "vecdot": (T.vecdot, (m, m)),
    "histogram": (T.histogram, (x,)),
    "quantile": (T.quantile, (x, 0.5)),
    "rfft2": (T.fft.rfft2, (m,)),
    "solve_triangular": (T.linalg.solve_triangular, (m, x)),
    "svd": (T.linalg.svd, (m,)),
    "conv2d": (T.nnet.conv2d, (images, filters)),
    "max_pool2d": (T.nnet.max_pool2d, (images, 2)),
    "avg_pool2d": (T.nnet.avg_pool2d, (images, (2, 2))),
    "layer_norm": (T.nnet.layer_norm, (m,)),
    "leaky_relu": (T.nnet.leaky_relu, (m,)),
    "categorical_crossentropy": (T.nnet.categorical_crossentropy, (m, i)),
    "huber_loss": (T.nnet.huber_loss, (x, v)),
    "normal": (T.random.normal, (key,)),
    "integers": (T.random.integers, (key, 5)),
    "choice": (T.random.choice, (key, 5)),
    "grad": (symc.grad, (x.sum(), x)),
    "jacobian": (symc.jacobian, (x * 2, x)),
    "hessian": (symc.hessian, ((x**2).sum(), x)),
    "Rop": (symc.Rop, (x * 2, x, v)),
    "clone": (symc.clone, (x + 1,)),
    "ifelse": (symc.ifelse, (i[0], x, v)),
    "asarray": (T.asarray, (x,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_none_is_as_if_not_given(name: str) -> None:
    """`updates=None` and `consider_constant=None` failed, `flip_filters=None` was False."""
    call, args = CALLS[name]
    given = flat(call(*args))
    parameters = list(inspect.signature(call).parameters.values())
    optional = [each for each in parameters if each.default is not each.empty]
    assert optional
    for each in optional:
        if each.default is None or not re.search(r"None|^Axis", str(each.annotation)):
            assert flat(call(*args, **{each.name: None})) == given, each.name
    positional = [each for each in optional if each.kind is not each.KEYWORD_ONLY]
    if not any(each.default is not None and "Axis" in str(each.annotation) for each in positional):
        variadic = any(each.kind is each.VAR_POSITIONAL for each in parameters)
        assert variadic or flat(call(*args, *[None] * len(positional))) == given


def flat(value: Any) -> list[Any]:
    return [node for part in value for node in flat(part)] if isinstance(value, tuple) else [value]


def test_none_where_functions_are_made() -> None:
    more = dict.fromkeys(list(inspect.signature(s.function).parameters)[2:])
    assert s.function([x], x + 1, **more)([1.0]) == 2.0
    f = s.function([s.In(x, name=None, value=None, borrow=None)], s.Out(x, borrow=None))
    assert f([1.0]) == 1.0
    assert f.copy(swap=None, name=None, delete_updates=None)([1.0]) == 1.0
    assert s.function([], None, updates=None)() is None
    more = dict.fromkeys(list(inspect.signature(s.scan).parameters)[2:])
    out, _ = s.scan(lambda row: row + 1, x, **more)
    assert out.eval({x: [1.0]}) == 2.0
    more = dict.fromkeys(list(inspect.signature(s.shared).parameters)[1:])
    assert s.shared(1.0, **more).get_value(borrow=None) == 1.0
    assert t.random.RandomStream(seed=None, device=None).normal(None, None).ndim == 0
    s.optim.adam((w * w).sum(), [w], None, None, None)


def test_none_that_says_something_is_kept() -> None:
    assert T.sort(m, axis=None).ndim == T.concatenate([m, m], axis=None).ndim == 1
    assert T.softmax(m, None) is not T.softmax(m)
    assert symc.vmap(lambda a, b: a + b, in_axes=(0, None))(m, x).ndim == 2


# --- keywords -------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "border_mode": (lambda: t.nnet.conv2d(images, filters, border_mode="full"), "here it is pad"),
    "subsample": (lambda: t.nnet.conv2d(images, filters, subsample=(2, 2)), "here it is stride"),
    "image_shape": (lambda: t.nnet.conv2d(images, filters, image_shape=1), "to be left out"),
    "ds": (lambda: t.nnet.max_pool2d(images, ds=(2, 2)), "here it is window"),
    "order of ravel": (lambda: t.ravel(m, order="F"), '"F" is x.T.ravel()'),
    "order of reshape": (lambda: t.reshape(m, (2, 3), order="F"), r"x.T.reshape\(shape"),
    "ignore_border": (lambda: t.nnet.max_pool2d(images, 2, ignore_border=True), "ceil_mode"),
    "avg": (lambda: t.random.RandomStream(1).normal(avg=0.0, std=1.0), "here it is loc"),
    "avg of lognormal": (lambda: t.random.lognormal(key, avg=0.0), "here it is mean"),
    "disconnected_inputs": (lambda: s.grad(x.sum(), x, disconnected_inputs="ignore"), '"ignore"'),
    "length": (lambda: s.scan(lambda a: a, outputs_info=x, length=3), "here it is n_steps"),
    "broadcastable": (lambda: t.tensor("int8", broadcastable=(True,)), "here it is shape"),
    "keepdim": (lambda: cast("Any", m).sum(keepdim=True), "did you mean 'keepdims'?"),
    "dim": (lambda: t.softmax(m, dim=1), "here it is axis"),
    "out": (lambda: t.exp(m, out=m), "tensors do not change"),
    "profile": (lambda: s.function([x], x, profile=True), r"symc\.profile"),
    "update": (lambda: s.In(x, update=x), r"symc\.function's updates"),
    "borow": (lambda: s.Out(x, borow=True), "did you mean 'borrow'?"),
    "a method": (lambda: any_w.get_value(borow=True), "did you mean 'borrow'?"),
    "a class": (lambda: s.Print(global_fn=print), "Print.*here it is message"),
    "anything": (lambda: t.vector("x", colour="red"), "it takes name, dtype, shape"),
    "size first": (lambda: T.random.RandomStream(1).uniform(x.shape), "looks like a size"),
    "numbers first": (lambda: T.random.RandomStream(1).normal((3, 4)), r"say size="),
    "too many": (lambda: t.exp(x, v, x), "takes 1 positional argument but 3 were given"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_keywords_that_are_not_taken(name: str) -> None:
    call, text = REFUSED[name]
    with pytest.raises(TypeError, match=text) as raised:
        call()
    assert "test_keywords.py:" in str(raised.value)
    assert raised.value.__cause__ is None


def test_errors_of_what_a_function_calls_stay_as_they_are() -> None:
    def wrong(a: Any) -> Any:
        return a.nothing(colour=1)

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        symc.map(wrong, m)
    with pytest.raises(TypeError, match=r"^bad$"):
        symc.map(lambda row: (_ for _ in ()).throw(TypeError("bad")), m)


def named(label: str) -> Iterator[inspect.Signature]:
    for path, value in FUNCTIONS.items():
        if path.rpartition(".")[2] == label:
            yield inspect.signature(value)
    if isinstance(getattr(symc, label, None), type):
        yield inspect.signature(getattr(symc, label).__init__)


def test_the_table_of_keywords_speaks_of_what_there_is() -> None:
    """Each is no keyword of any function that it is for, and the one named instead is."""
    for functions, table in vars(keywords)["_TABLES"].items():
        signatures = [one for label in functions.split() for one in named(label)]
        assert signatures, functions
        taken = {name for one in signatures for name in one.parameters}
        if functions == "In":
            taken = set(symc.In.__match_args__)
        for keyword, advice in table.items():
            check_names_in(advice, keyword)
            if re.fullmatch(r"[\w|]+", advice):
                assert set(advice.split("|")) <= taken, f"{functions}: {keyword} -> {advice}"
    everything = {name for one in FUNCTIONS.values() for name in inspect.signature(one).parameters}
    for keyword, advice in vars(keywords)["_GENERAL"].items():
        check_names_in(advice, keyword)
        if re.fullmatch(r"[\w|]+", advice):
            assert set(advice.split("|")) <= everything, keyword


# --- modules and typos ----------------------------------------------------------------------------

IMPORTS = {
    "import symc.printing": "symc.Print",
    "from symc import printing": "symc.Print",
    "from symc.printing import debugprint": "symc.dprint",
    "from symc.ifelse import ifelse": "from symc import ifelse",
    "import symc.gradient": "symc.grad",
    "from symc.sandbox.rng_mrg import MRG_RandomStreams": "T.random.RandomStream",
    "from symc.tensor.shared_randomstreams import RandomStreams": "T.random.RandomStream",
    "from symc.tensor.signal import pool": "T.nnet.max_pool2d",
    "from symc.tensor.signal.pool import pool_2d": "T.nnet.max_pool2d",
    "from symc.tensor.nnet import bn": "T.nnet.batch_norm",
    "from symc.tensor.nnet import one_hot": "T.one_hot",
    "from symc import funktion": "did you mean 'function'?",
    "from symc.tensor import zeroes": "did you mean 'zeros'?",
}


@pytest.mark.parametrize("statement", IMPORTS)
def test_imports_of_theanos_modules(statement: str) -> None:
    with pytest.raises(ModuleNotFoundError) as raised:
        exec(statement, {})
    assert IMPORTS[statement] in str(raised.value)


TYPOS: dict[str, tuple[Callable[[], Any], str]] = {
    "symc": (lambda: s.funtcion, "function"),
    "T": (lambda: t.zeroes, "zeros"),
    "nnet": (lambda: t.nnet.sotfmax, "softmax"),
    "linalg": (lambda: t.linalg.choleksy, "cholesky"),
    "random": (lambda: t.random.nromal, "normal"),
    "fft": (lambda: t.fft.rftt, "rfft"),
    "optim": (lambda: s.optim.adem, "adam"),
    "tensor": (lambda: getattr(x, "mena"), "mean"),  # noqa: B009 -- checkers find it
    "function": (lambda: symc.function([x], x, mode="python").soruce, "source"),
    "config": (lambda: s.config.floatx, "floatX"),
    "config's value": (lambda: setattr(s.config, "floatX", "flaot32"), "float32"),
    "mode": (lambda: symc.function([x], x, mode="defualt"), "default"),
    "device": (lambda: symc.function([x], x, device="cdua"), "cuda"),
    "dtype": (lambda: t.vector("x", "flaot64"), "float64"),
}


@pytest.mark.parametrize("name", TYPOS)
def test_typos_say_what_was_meant(name: str) -> None:
    call, wanted = TYPOS[name]
    with pytest.raises((AttributeError, ValueError, TypeError), match=f"did you mean '{wanted}'"):
        call()


def test_names_that_programs_ask_for_are_not_guessed() -> None:
    assert not elsewhere.meant("__array_interfaces__", ["__array_interface__"])
    assert not hasattr(x, "_ipython_display_")
    assert not hasattr(T, "__nothing__")
