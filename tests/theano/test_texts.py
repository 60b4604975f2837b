"""What programs read of graphs and functions: texts of ops, names, attributes, keywords."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano import gradient
from symc.theano.compat import cmp
from symc.theano.gof.utils import remove, unique
from symc.theano.printing import debugprint, min_informative_str
from symc.theano.tensor import nlinalg


def test_sums_say_what_they_accumulate_in() -> None:
    x = T.fmatrix("x")
    assert str(x.sum().owner.op) == "Sum{acc_dtype=float64}"
    assert str(x.sum(axis=1).owner.op) == "Sum{axis=[1], acc_dtype=float64}"
    assert T.imatrix().sum().owner.op.dtype == "int64"


def test_debugprint_without_ids_ends_leaves_with_a_blank() -> None:
    text = debugprint(T.scalar("a") + T.scalar("b"), ids="", file="str")
    assert text.splitlines()[1:] == [" |a ", " |b "]
    out = io.StringIO()
    debugprint(T.scalar("a"), file=out)
    assert out.getvalue() == "a [id A]\n"


def test_min_informative_str_goes_in_by_one() -> None:
    a, b = T.scalar("a"), T.scalar("b")
    assert min_informative_str(a + b).splitlines()[1:] == [" B. a", " C. b"]


def test_functions_are_named_after_their_line() -> None:
    x = T.dscalar("x")
    f = theano.function([x], x + 1)
    assert f.name.startswith("test_texts.py:")
    assert theano.function([x], x, name="mine").name == "mine"
    assert [each.variable.owner.op for each in f.outputs] == [(x + 1).owner.op]
    assert theano.compile.pfunc(params=[x], outputs=2 * x)(3) == 6


@pytest.mark.parametrize("given", [{"borrow": True}, {"mutable": True}, {}])
def test_arguments_that_may_be_overwritten_are_checked(given: dict[str, Any]) -> None:
    x = T.dvector()
    f = theano.function([theano.In(x, **given)], x + 1)
    assert f._check_for_aliased_inputs is bool(given)  # pyright: ignore[reportPrivateUsage]


def test_a_replacement_may_depend_on_what_it_is_put_into() -> None:
    x = theano.shared(np.asarray(0.0))
    y = (x + 1) ** 2
    changed = theano.clone(y, replace={x: x + 0.1 + 0 * y})
    np.testing.assert_allclose(changed.eval(), 1.21)


def test_numbers_wrap_where_a_loss_is_allowed() -> None:
    x = T.bscalar()
    assert theano.function([x], x, allow_input_downcast=True)(312) == 56
    with pytest.raises(TypeError, match="cannot store accurately"):
        theano.function([x], x)(312)


def test_names_that_programs_import() -> None:
    zeros, kept = nlinalg._zero_disconnected(  # pyright: ignore[reportPrivateUsage]
        [T.dvector(), T.dvector()], [gradient.disconnected_type(), T.dvector("bar")]
    )
    assert kept.name == "bar"
    assert zeros.owner is not None
    assert T.elemwise.Sum is T.Sum
    assert T.basic._convert_to_int8(T.fvector()).dtype == "int8"
    assert T.np is np
    assert getattr(T, "theano") is theano  # noqa: B009 -- it is put there
    assert isinstance(theano.generic, theano.Generic)
    assert [cmp(1, 2), cmp(2, 2), cmp(3, 2)] == [-1, 0, 1]
    assert remove(bool, [0, 1, 2]) == [0]
    assert unique([1, 2])
    assert not unique([1, 1])


def test_numbers_in_indexes_are_inputs() -> None:
    from symc.theano.tensor.subtensor import get_idx_list

    m, i = T.dmatrix("m"), T.iscalar("i")
    node = m[1, i:].owner
    assert str(node.op) == "Subtensor{int64, int32::}"
    assert [str(each) for each in node.inputs] == ["m", "Constant{1}", "ScalarFromTensor.0"]
    row, rest = get_idx_list(node.inputs, node.op.idx_list)
    assert (row.data, rest.start, rest.stop) == (1, node.inputs[2], None)
    assert str(T.set_subtensor(m[1:3], 0.0).owner.op) == "IncSubtensor{Set;int64:int64:}"
    assert m[0].owner.op == m[1].owner.op


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda x, m: T.dot(m, x) + x, "((m \\dot x) + x)"),
        (lambda x, m: m.T, "m.T"),
        (lambda x, m: -abs(x), "(-|x|)"),
        (lambda x, m: T.switch(x > 0, x, x), "switch(gt(x, TensorConstant{0}), x, x)"),
        (lambda x, m: x[1], "x[Constant{1}]"),
        (lambda x, m: x[1:], "x[int64:]"),
        (lambda x, m: T.join(0, x, x), "join(TensorConstant{0}, x, x)"),
        (lambda x, m: T.cast(x % 2, "int32"), "int32(mod(x, TensorConstant{2}))"),
        (lambda x, m: T.fill(x, 2.0), "fill(x, TensorConstant{2.0})"),
        (lambda x, m: T.dvector("alpha") * x, "(\\alpha * x)"),
        (lambda x, m: T.inplace.add_inplace(x, x), "(x += x)"),
        (lambda x, m: T.inplace.exp_inplace(x), "exp=(x)"),
    ],
)  # fmt: skip
def test_formulas_are_written_as_theano_does(build: Any, text: str) -> None:
    assert theano.pp(build(T.dvector("x"), T.dmatrix("m"))) == text


def test_the_equations_of_several_results() -> None:
    x = T.dvector("x")
    y = T.exp(x)
    y.name = "y"
    assert theano.pp([x], [y * y, y], {}) == "out[0] = (y * y)\ny = exp(x)"


def test_places_of_use_and_values_in_memory() -> None:
    a, b = T.dvectors("a", "b")
    f = theano.function([a, b], [a + b, a + b - b], mode="FAST_COMPILE")
    graph = theano.gof.FunctionGraph([a, b], [(s := a + b), s - b], clone=False)
    assert debugprint(graph, file="str", print_clients=True).splitlines()[0] == (
        "Elemwise{add,no_inplace} [id A] ''   0 clients:[('output', ''), ('[id C]', 0)]"
    )
    assert " |a  [None]" in debugprint(f, file="str", ids="", print_storage=True)
