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
