"""What PyTensor's modes promise around a graph: shared variables, errors, copies, users' Ops."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.raise_op import CheckAndRaise

import symc.pytensor
import symc.tensor as T
from symc.graph.inputs import constant
from symc.pytensor.compiled import performed
from symc.pytensor.conversion import Conversion, fitted
from symc.pytensor.versions import check_version
from tests.pytensor.compare import QUICK, compare


def test_shared_variables_are_updated_and_borrowed() -> None:
    total = pytensor.shared(np.zeros(3), name="total", borrow=True)
    x = pt.dvector("x")
    f = pytensor.function([x], total.sum(), updates={total: total + x}, mode="SYMC")
    assert [float(f(np.ones(3))), float(f(np.ones(3)))] == [0.0, 3.0]
    np.testing.assert_array_equal(total.get_value(), [2.0, 2.0, 2.0])


def test_draws_are_those_of_numpy_and_go_on() -> None:
    rng = pytensor.shared(np.random.default_rng(3))
    following, draw = pt.random.gamma(2.0, scale=1.0, size=(2,), rng=rng, return_next_rng=True)
    f = pytensor.function([], 2 * draw, updates={rng: following}, mode="SYMC")
    numbers = np.random.default_rng(3)
    for _ in range(2):
        np.testing.assert_array_equal(f(), 2 * numbers.gamma(2.0, size=2))


def test_broadcasting_at_run_time_is_refused_in_pytensors_words() -> None:
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    f = pytensor.function([x, y], x + y, mode="SYMC")
    with pytest.raises(ValueError, match="Runtime broadcasting not allowed"):
        f(np.ones((1, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="Incompatible Elemwise input shapes"):
        f(np.ones((4, 3)), np.ones((2, 3)))
    g = pytensor.function([x], pt.specify_shape(x, (2, 3)), mode="SYMC")
    with pytest.raises(AssertionError, match=r"SpecifyShape: dim 0 of input has shape 5, expec"):
        g(np.ones((5, 3)))


def test_checks_raise_their_own_class_of_error() -> None:
    x = pt.dvector("x")
    y = CheckAndRaise(KeyError, "x > 0")(x, pt.all(x > 0))
    f = pytensor.function([x], pt.log(y), mode="SYMC")
    with pytest.raises(KeyError, match="x > 0"):
        f(np.array([1.0, -1.0]))


def test_copies_and_pickles() -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], (x**2).sum(), mode="SYMC")
    for other in (f.copy(), copy.copy(f), pickle.loads(pickle.dumps(f))):
        assert other(np.array([3.0, 4.0])) == 25.0
    assert symc.pytensor.functions(pickle.loads(pickle.dumps(f)))[0].hit


def test_scalars_and_constants() -> None:
    x = pt.dscalar("x")
    table = pt.as_tensor(np.arange(10_000.0))
    f = compare([x], [x * 2, pt.as_tensor(3), table[5:8] * x, table.sum() * x], [2.0])
    assert len(symc.pytensor.functions(f)[0].source) < 60_000  # the table is not printed into it


def test_a_constant_that_is_a_result_is_not_changed_by_who_gets_it() -> None:
    """It was the graph's own array: what was written into it came out of the next call."""
    x = pt.dvector("x")
    f = pytensor.function([x], [pt.constant([4]), x * 2], mode="SYMC")
    first = f(np.ones(1))[0]
    first[0] = 3
    assert f(np.ones(1))[0] == 4


def test_a_function_without_results() -> None:
    """It failed in PyTensor, which wants None then."""
    x = pt.dvector("x")
    assert pytensor.function([], [], mode="SYMC")() == []
    assert pytensor.function([x], [], mode="SYMC", on_unused_input="ignore")(np.ones(1)) == []


def test_results_of_one_function_are_not_put_in_order_by_python() -> None:
    x = pt.dvector("x")
    first = pt.exp(x)
    f = pytensor.function([x], [first.sum(), first * 2, first], mode=QUICK)
    (made,) = symc.pytensor.functions(f)
    assert f.vm.jit_fn.call is made.runner.call
    np.testing.assert_allclose(f(np.arange(2.0))[1], 2 * np.exp([0, 1]))


@pytest.mark.parametrize("number", [0.0, 3.0, np.inf, 5e-324, 1.7e308])
def test_division_by_one_number_multiplies(number: float) -> None:
    x, n = pt.dvector("x"), pt.dscalar("n")
    f = pytensor.function([x, n], x / n, mode=QUICK)
    values = np.array([0.0, 49.0, -49.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(f(values, number), values / number, rtol=4e-16)


def test_profile_and_trust_input() -> None:
    x = pt.dvector("x")
    f = pytensor.function([x], pt.exp(x), mode="SYMC", profile=True)
    f.trust_input = True
    np.testing.assert_allclose(f(np.zeros(2)), 1.0)
    assert f.profile.fct_callcount == 1


def test_names_and_lines_of_a_graph() -> None:
    x = pt.dvector("height")
    y = pt.exp(x) * 2
    y.name = "grown"
    f = pytensor.function([x], y, mode="SYMC")
    (made,) = symc.pytensor.functions(f)
    assert "height" in made.source
    assert "test_semantics.py" in made.source


def test_names_of_a_graph_do_not_stay_with_numbers_that_all_graphs_share() -> None:
    # They showed in the C of what was compiled later, which the cache then did not know.
    number = constant(1.2345)
    assert fitted(number, pt.dscalar("of_one_graph")).name is None
    assert fitted(T.exp(number), pt.dscalar("of_one_graph")).name is None
    x = T.vector("x")
    assert fitted(T.exp(x) * number, pt.dvector("of_one_graph")).name == "of_one_graph"


def test_functions_of_other_modes_are_refused() -> None:
    x = pt.dvector("x")
    with pytest.raises(TypeError, match='mode="SYMC"'):
        symc.pytensor.functions(pytensor.function([x], x, mode="FAST_COMPILE"))


def test_use_makes_it_the_default() -> None:
    x = pt.dvector("x")
    before = pytensor.config.mode
    try:
        symc.pytensor.use()
        assert symc.pytensor.functions(pytensor.function([x], x * 3))
    finally:
        pytensor.config.mode = before


class Doubled(Op):
    __props__ = ()

    def make_node(self, x: Any) -> Any:
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = inputs[0] * 2


class Tripled(Doubled):
    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = inputs[0] * 3


def test_an_op_of_a_users_is_performed_or_converted() -> None:
    x = pt.dvector("x")
    f = compare([x], pt.exp(Doubled()(x + 1)) + x, [np.arange(3.0)], host=1)
    assert performed(f)[0][1] == "it has no converter"
    symc.pytensor.symc_funcify.register(Tripled, lambda op, node, **_: lambda x: x * 3)
    compare([x], pt.exp(Tripled()(x + 1)), [np.arange(3.0)])


@pytest.mark.parametrize(
    ("least", "most", "passed"),
    [(0, 300, "uint16"), (0, 255, "uint8"), (-1, 300, "int64"), (0, 2**40, "int64")],
)
def test_long_constants_without_numbers_below_0_are_passed_in_short(
    least: int, most: int, passed: str
) -> None:
    data = np.random.default_rng(0).integers(0, 200, 5000)
    data[:2] = least, most
    index, x = pt.constant(data), pt.dvector("x")
    outputs = [index - pt.cast(x[0], "int64"), *([x[index]] if most <= 300 else [])]
    f = compare([x], outputs, [np.arange(7.0, 308.0)])
    (function,) = symc.pytensor.functions(f)
    assert [v.dtype.name for v in function.request.inputs] == ["float64", passed]


def test_no_garbage_is_collected_while_a_graph_is_converted() -> None:
    class Seen(Doubled):
        pass

    collecting: list[bool] = []

    def converter(op: Any, **_: Any) -> Any:
        collecting.append(gc.isenabled())
        return lambda x: x * 2

    symc.pytensor.symc_funcify.register(Seen, converter)
    x = pt.dvector("x")
    compare([x], Seen()(x), [np.arange(3.0)])
    assert gc.isenabled()
    assert not any(collecting)
    assert collecting


def test_sparse_matrices_are_refused_by_name() -> None:
    sparse = pytest.importorskip("pytensor.sparse")
    a, x = sparse.csr_matrix("a", dtype="float64"), pt.dmatrix("x")
    with pytest.raises(symc.pytensor.NoConversion, match=r"pytensor\.sparse.*no sparse matrices"):
        pytensor.function([a, x], sparse.structured_dot(a, x), mode="SYMC")


@pytest.mark.parametrize("version", ["2.26.1", "3.4.0", "4.0"])
def test_other_versions_are_a_clear_error(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symc.pytensor.versions.version", lambda _: version)
    with pytest.raises(ImportError, match=f"installed is {version}"):
        check_version()


def test_a_matrix_and_its_transpose_are_passed_once() -> None:
    """The gradient of a product has the transpose as a constant of its own: a second copy."""
    data = np.random.default_rng(2).normal(size=(40, 300))
    data[0, :2] = 0.0, -0.0
    x, y = pt.dvector("x"), pt.dvector("y")
    flipped, other = pt.constant(data.T.copy()), pt.constant(-data)
    out = [pt.constant(data) @ x, pt.constant(data.T) @ y, flipped @ y, other @ x]
    f = pytensor.function([x, y], out, mode="SYMC")
    given = np.random.default_rng(3).normal(size=300), np.random.default_rng(4).normal(size=40)
    wanted = [data @ given[0], data.T @ given[1], data.T @ given[1], -data @ given[0]]
    for got, want in zip(f(*given), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    (function,) = symc.pytensor.functions(f)
    assert [each.variable.ndim for each in function.ins].count(2) == 2


def test_zeros_of_other_signs_are_other_constants() -> None:
    conversion, zeros = Conversion(), np.zeros((20, 300))
    for data in (zeros, -zeros, zeros.T, zeros.copy()):
        conversion.constant(data)
    assert [bool(np.signbit(values[0, 0])) for _, values in conversion.large] == [False, True]
