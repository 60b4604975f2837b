"""Values given for numbers: they work, or the message names it and says what to do."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.errors import BadArgument, BadUpdate, DTypeError
from symc.graph.values import held, is_literal

# --- stand-ins for other libraries, which tests must not need -------------------------------------


class Sparse:
    """As `scipy.sparse.csr_matrix`: it has no ``__array__``, NumPy makes an object of it."""

    def toarray(self) -> Any:
        return np.eye(2)


class NeedsGradient:
    """As a `torch.Tensor` with ``requires_grad``, or on a device."""

    dtype = "torch.float32"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach()")


class Series:
    """As a `pandas.Series`, a `jax.Array` or a `torch.Tensor` on the CPU."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)


class Missing:
    """As `pandas.NA`."""


MASKED: Any = np.ma.array([1.0, 2.0], mask=[False, True])
BFLOAT16 = np.zeros(2, np.dtype("V2"))  # NumPy's answer for a dtype that it does not know

# Each with a part of the message.
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "masked": (lambda: MASKED, r"masked array.*\n.*\.filled\(number\)"),
    "masked, with nothing masked": (lambda: np.ma.array([1.0]), r"\.filled\("),
    "masked constant": (lambda: np.ma.masked, r"\.filled\("),
    "list of masked": (lambda: [MASKED, MASKED], r"holds a masked array.*\n.*\.filled\("),
    "deep list of masked": (lambda: [[[0.0], np.ma.masked]], r"holds a masked array"),
    "sparse": (lambda: Sparse(), r"sparse.*\n.*\.toarray\(\)"),
    "list of sparse": (lambda: [Sparse()], r"sparse.*\n.*\.toarray\(\)"),
    "objects": (lambda: np.array([1, 2.5], dtype=object), r"np\.asarray\(value, dtype=float\)"),
    "Decimal": (lambda: Decimal("1.5"), r"decimal\.Decimal.*\n.*float\("),
    "Decimals": (lambda: [Decimal(1), Decimal(2)], r"decimal\.Decimal.*\n.*dtype=float"),
    "Fraction": (lambda: Fraction(1, 2), r"fractions\.Fraction.*\n.*float\("),
    "missing values": (lambda: Series(np.array([1.0, Missing()])), r"tests\.Missing.*\n.*dtype=fl"),
    "generator": (lambda: (i for i in range(2)), r"generator.*\n.*list\("),
    "map": (lambda: map(float, [1, 2]), r"map.*\n.*list\("),
    "set": (lambda: {1.0, 2.0}, r"set, which has no order.*\n.*list"),
    "dict": (lambda: {1: 2.0}, r"dict, which has no order"),
    "requires_grad": (lambda: NeedsGradient(), r"NeedsGradient.*\n.*Use tensor\.detach\(\)"),
    "list of those": (lambda: [NeedsGradient()], r"Use tensor\.detach\(\)"),
    "None": (lambda: None, "is None"),
    "list of None": (lambda: [1.0, None], r"holds None.*\n.*nan"),
    "text": (lambda: "1.5", r"is text.*\n.*float\("),
    "texts": (lambda: ["a", "b"], r"is text"),
    "dates": (lambda: np.array(["2020-01-01"], "M8[D]"), r"dates.*\n.*timedelta64"),
    "times": (lambda: np.array([3, 4], "m8[s]"), r"times.*\n.*timedelta64"),
    "structured": (lambda: np.zeros(2, [("a", float), ("b", int)]), r"a, b\n.*value\['a'\]"),
    "bfloat16": (lambda: BFLOAT16, r"symc has not\n.*\.astype\('float32'\)"),
    "ragged": (lambda: [[1.0], [1.0, 2.0]], r"differ in length.*\n.*inhomogeneous"),
    "object": (lambda: object(), r"type object"),
    "wide integers": (lambda: [2**63 + 1, 1], r"integers.*\n.*np\.asarray\(value, "),
    "10**30 and 1": (lambda: [10**30, 1], r"integers.*\n.*np\.asarray\(value, "),
}  # fmt: skip

X, V = T.scalar("x"), T.vector("v")
ENTRIES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "argument": (lambda value: symc.function([V], V * 2)(value), r"argument 0 \(v\)"),
    "argument by name": (lambda value: symc.function([V], V * 2)(v=value), r"argument 0 \(v\)"),
    "argument, interpreted": (
        lambda value: symc.function([V], V * 2, mode="python")(value), r"argument 0 \(v\)",
    ),
    "default": (
        lambda value: symc.function([symc.In(V, value=value)], V)(), r"argument 0 \(v\)",
    ),
    "eval": (lambda value: (V * 2).eval({V: value}), r"argument 0 \(v\)"),
    "shared": (lambda value: symc.shared(value, name="w"), "shared variable: w"),
    "set_value": (lambda value: symc.shared(np.zeros(2), name="w").set_value(value), "w"),
    "as_tensor": (lambda value: T.as_tensor(value), "tensor of"),
    "constant": (lambda value: T.constant(value), "tensor of"),
    "right operand": (lambda value: X + value, "tensor of"),
    "left operand": (lambda value: value * X, "tensor of"),
    "operand of a function": (lambda value: T.maximum(value, X), "tensor of"),
    "index": (lambda value: V[value], "tensor of"),
    "written": (lambda value: V[:2].set(value), "tensor of"),
    "givens": (lambda value: symc.function([], X, givens={X: value}), "what replaces x"),
    "update": (
        lambda value: symc.function([], updates={symc.shared(0.0, name="w"): value}), "value of w",
    ),
    "output": (lambda value: symc.function([], [value]), "tensor of"),
}  # fmt: skip

# The messages of other rules for these at these places.
ELSEWHERE = {
    ("left operand", "masked"), ("left operand", "masked, with nothing masked"),
    ("left operand", "masked constant"),  # NumPy's own operator, which asks the tensor for values
    ("index", "None"),  # a new axis
    ("default", "None"),  # no default
    ("argument by name", "None"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_no_array_of_numbers_is_refused_with_advice(entry: str, case: str) -> None:
    make, advice = REFUSED[case]
    use, name = ENTRIES[entry]
    if (entry, case) in ELSEWHERE and case == "None":
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((TypeError, OverflowError)) as caught:
            use(make())
    if (entry, case) not in ELSEWHERE:
        text = str(caught.value)
        assert isinstance(caught.value, BadArgument | DTypeError), caught.value
        assert re.search(f"(?s:{name}.*){advice}", text), text
        assert len(text.splitlines()[0]) < 200


def test_bug_masked_arrays_lost_their_mask() -> None:
    """`np.asarray` gives the numbers below the mask."""
    f = symc.function([V], V.sum())
    with pytest.raises(BadArgument, match=r"\.filled\("):
        f(MASKED)
    assert f(MASKED.filled(0.0)) == 1
    assert f(MASKED.compressed()) == 1


# --- accepted values ---
# --------------------------------------------------------------------------------

WORKS: dict[str, tuple[Any, list[float]]] = {
    "list": ([1.0, 2.0], [1, 2]), "tuple": ((1, 2.5), [1, 2.5]), "range": (range(2), [0, 1]),
    "nested": ([np.float32(1.5), 2], [1.5, 2]), "bools": ([True, False], [1, 0]),
    "scalars": ([np.float64(0.5), np.int8(3)], [0.5, 3]),
    "float16": (np.array([1.5, 2], np.float16), [1.5, 2]),
    "swapped bytes": (np.array([1.5, 2], ">f8"), [1.5, 2]),
    "Series": (Series([1.5, 2]), [1.5, 2]),
    "memoryview": (memoryview(cast("Any", np.array([1.5, 2]))), [1.5, 2]),
    "integers": (np.array([2**53, -(2**53)]), [2**53, -(2**53)]),
    "even integers": (np.array([2**62, -(2**63)]), [2**62, -(2**63)]),
    "unsigned": (np.array([2**63, 3], np.uint64), [2**63, 3]),
    "beyond 64 bits": ([2**64, 2**70], [2**64, 2**70]),
    "of both signs": ([2**63, -1], [2**63, -1]),
}  # fmt: skip


@pytest.mark.parametrize("case", WORKS)
def test_what_is_converted(case: str) -> None:
    value, wanted = WORKS[case]
    w = symc.shared(np.zeros(2))
    w.set_value(value)
    for got in (
        symc.function([V], V + 0.0)(value), symc.function([V], V, mode="python")(value),
        w.get_value(), symc.function([], V, givens={V: value})(),
    ):  # fmt: skip
        assert got.dtype == np.float64
        assert [int(e) if e == int(e) else e for e in got] == wanted


def test_matrices_and_arrays_without_axes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's advice against its matrix
        matrix = np.matrix([[1.0, 2.0]])
    m = T.matrix("m")
    assert (m * m).eval({m: matrix}).tolist() == [[1, 4]]
    assert X.eval({X: np.array(2.5)}) == 2.5
    assert X.eval({X: np.float16(2.5)}) == 2.5
    for extended in (np.longdouble(1), np.clongdouble(1)):
        with pytest.raises(DTypeError, match=r"argument 0 \(x\)"):
            X.eval({X: extended})
        with pytest.raises(DTypeError, match=r"symc has not\n.*\.astype"):
            symc.shared(extended)
    f = symc.function([X], X, allow_input_downcast=True)
    assert f(np.longdouble(1.5)) == 1.5


# --- one rule for values that would change ---
# ------------------------------------------------------------

NUMBERS = [
    0, 1, -1, 127, 128, 255, 256, 2**11 + 1, 65504, 65520, 2**24, 2**24 + 1, 2**31, 2**32,
    2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**62 + 1, 2**63 - 1, 2**63, -(2**63),
    2**63 + 1, 2**63 + 2048, 2**64 - 1, 2**64, -(2**63) - 1, 10**30, 2**200, 10**400,
]  # fmt: skip
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]


def exact(number: int, dtype: str) -> bool:
    """Whether a dtype has this integer."""
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return bool(limits.min <= number <= limits.max)
    finite = np.finfo(dtype)
    if not -int(finite.max) <= number <= int(finite.max):
        return False
    digits = abs(number) // ((number & -number) or 1)
    return bool(digits < 2 ** (int(finite.nmant) + 1))


@cache
def identity(dtype: str, rank: int) -> symc.Function:
    """A function that gives its argument back."""
    x = T.tensor(dtype, (None,) * rank, "x")
    return symc.function([x], x)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
@pytest.mark.parametrize("number", NUMBERS)
def test_integers_are_held_exactly_or_refused(number: int, dtype: str) -> None:
    """The same in arguments of C and of the interpreter, and of shared variables; also in lists."""
    w = symc.shared(np.zeros((), dtype))
    w2 = symc.shared(np.zeros(2, dtype))
    f, g = identity(dtype, 0), identity(dtype, 1)
    forms: list[tuple[Any, Any, Any]] = [(f, w, number), (g, w2, [number, number])]
    forms += [(f, w, symc.shared(number).get_value())] if -(2**63) <= number < 2**64 else []
    for call, variable, value in forms:
        typed = isinstance(value, np.ndarray)
        fits = exact(number, dtype) and (not typed or np.can_cast(value.dtype, dtype, "safe"))
        if fits:
            variable.set_value(value)
            for got in (call(value), variable.get_value()):
                assert got.dtype == dtype
                assert all(int(each.real) == number for each in np.atleast_1d(got))
            continue
        before = variable.get_value().tobytes()
        with pytest.raises(DTypeError):
            call(value)
        with pytest.raises(DTypeError):
            variable.set_value(value)
        assert variable.get_value().tobytes() == before


def test_bug_int64_beyond_2_53_was_rounded_silently() -> None:
    big = np.array([2**53 + 1])
    f = symc.function([V], V)
    for call in (f, symc.function([V], V, mode="python")):
        with pytest.raises(DTypeError, match=r"argument 0 \(v\).*no float64 is equal to"):
            call(big)
    with pytest.raises(DTypeError, match="no float64"):
        symc.shared(np.zeros(1)).set_value(big)
    with pytest.raises(DTypeError, match="no float64"):
        X.eval({X: 2**53 + 1})
    with pytest.raises(BadUpdate):
        symc.function([], updates=[(symc.shared(np.zeros(1)), big)])
    allowed = symc.function([V], V, allow_input_downcast=True)
    assert allowed(big) == [2.0**53]


@pytest.mark.parametrize("value", [0.1, 1e-300, -0.0, np.inf, 1e300, 65520.0, 3.5, 2.0])
@pytest.mark.parametrize("dtype", ["int32", "bool", "float16", "float32", "float64", "complex64"])
def test_floats_round_but_not_to_infinity(value: float, dtype: str) -> None:
    """Literal floats become the nearest float, whole ones integers; arrays keep their values."""
    f = identity(dtype, 0)
    with np.errstate(all="ignore"):
        near = np.array(value).astype("int64" if dtype == "bool" else dtype)
    if dtype in ("int32", "bool"):
        fits = bool(near == value) and dtype == "int32" and np.isfinite(value)
        fits = fits or (dtype == "bool" and value == 0)
    else:
        fits = bool(np.isfinite(near) == np.isfinite(value))
    if fits:
        got = f(value)
        assert got == near
        assert np.signbit(got.real if dtype != "bool" else 0.0) == np.signbit(
            value if dtype not in ("int32", "bool") else 0.0
        )
    else:
        with pytest.raises(DTypeError, match=r"argument 0 \(x\)"):
            f(value)
    if not np.can_cast(np.float64, dtype, "safe"):
        with pytest.raises(DTypeError):
            f(np.array(value))
        with pytest.raises(DTypeError):
            f(Series(value))


def test_arrays_in_lists_keep_their_values() -> None:
    """A list of arrays is no list of Python's numbers."""
    m = T.fmatrix("m")
    f = symc.function([m], m)
    assert f([[0.1], [0.2]]).dtype == np.float32
    for value in ([np.array([0.1]), np.array([0.2])], [[np.array(0.1)], [np.array(0.2)]]):
        assert not is_literal(value)
        with pytest.raises(DTypeError, match="precision"):
            f(value)


def test_what_is_held_is_the_array_itself_where_that_is_possible() -> None:
    """Nothing is looked at in arrays that have the dtype already."""
    array = np.arange(3.0)
    assert held(array, array, np.dtype("f8")) is array or np.shares_memory(
        held(array, array, np.dtype("f8")), array
    )


def test_results_of_python_ops_follow_the_rule() -> None:
    """A result of 2.7 declared as int64 is an error, not 2."""
    for value, fits in [(2, True), (2.0, True), (2.7, False), (MASKED, False), (2**70, False)]:

        @symc.op(inputs=["float64"], output="int64")
        def asked(x: Any, value: Any = value) -> Any:
            return value

        call = symc.function([X], asked(X))
        if fits:
            assert call(1.0) == 2
        else:
            with pytest.raises(DTypeError, match="asked"):
                call(1.0)


def test_literals_beside_tensors_are_promoted_as_numpy_promotes_them() -> None:
    """In expressions nothing is refused that NumPy takes: Python's numbers are weak there."""
    x = np.array([1.5, 2.0])
    for number in (2**53 + 1, 10**30, 0.1, 2**64):
        assert np.array_equal((V * number).eval({V: x}), x * number)
    assert T.as_tensor(2**63).eval() == np.asarray(2**63)
    with pytest.raises(OverflowError, match="make it a float"):
        T.as_tensor(10**30)
    k = T.tensor("int8", (None,), "k")
    with pytest.raises(OverflowError, match="300 does not fit int8"):
        T.add(k, 300)


def test_every_dtype_into_every_other_changes_nothing() -> None:
    """Random integers: whatever is accepted is equal afterwards, as Python's integers tell."""
    rng = np.random.default_rng(7)
    for source, dtype in itertools.product(INTEGERS, INTEGERS + FLOATS):
        limits = np.iinfo(source)
        for bits in (8, 16, 24, 53, 54, 63, 64):
            top = min(int(limits.max), 2**bits)
            low = max(int(limits.min), -(2**bits))
            array = rng.integers(low, top, 4, dtype=source, endpoint=True)
            converted = held(array, array, np.dtype(dtype))
            fits = all(exact(int(each), dtype) for each in array)
            if converted is None:
                assert not fits or not np.can_cast(source, dtype, "safe")
            else:
                assert fits
                assert [int(each.real) for each in converted] == [int(each) for each in array]
