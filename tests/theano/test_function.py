"""`theano.function`: inputs, outputs, givens, updates, and refused arguments."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T


def test_outputs_come_back_as_they_were_given() -> None:
    x = T.scalar("x")
    one = theano.function([x], x + 1)(1.0)
    assert isinstance(one, np.ndarray)
    assert one.shape == ()
    assert theano.function([x], [x + 1])(1.0) == [2.0]
    assert theano.function([x], {"b": x, "a": x + 1})(1.0) == {"a": 2.0, "b": 1.0}
    assert theano.function([], [])() == []


def test_updates_are_made_at_once_from_the_values_before() -> None:
    a, b = theano.shared(1.0, "a"), theano.shared(2.0, "b")
    swap = theano.function([], a + b, updates=[(a, b), (b, a)])
    assert swap() == 3.0
    assert (a.get_value(), b.get_value()) == (2.0, 1.0)


def test_updates_of_another_type_are_refused() -> None:
    a = theano.shared(np.float32(1))
    with pytest.raises(TypeError, match="same type as the original shared variable"):
        theano.function([], [], updates=[(a, T.constant(np.float64(2)))])
    with pytest.raises(TypeError, match="update target must be a SharedVariable"):
        theano.function([], [], updates=[(T.scalar(), 1)])
    with pytest.raises(ValueError, match="already has an update"):
        theano.function([], [], updates=[(a, a), (a, a)])


def test_givens_replace_in_outputs_and_updates() -> None:
    x, y, total = T.scalar("x"), T.scalar("y"), theano.shared(0.0)
    f = theano.function([y], x * 2, updates=[(total, total + x)], givens={x: y + 1})
    assert f(1.0) == 4.0
    assert total.get_value() == 2.0
    with pytest.raises(RuntimeError, match="is an input to your function"):
        theano.function([x], x, givens={x: y})


def test_an_intermediate_variable_may_be_an_input() -> None:
    x = T.vector("x")
    y = T.exp(x)
    np.testing.assert_array_equal(theano.function([y], y + 1)([1.0]), [2.0])


def test_unused_and_missing_inputs() -> None:
    x, y = T.scalar("x"), T.scalar("y")
    with pytest.raises(theano.compile.UnusedInputError, match="at index 1 is not part"):
        theano.function([x, y], x)
    with pytest.raises(theano.gof.MissingInputError, match="used to compute"):
        theano.function([x], x + y)
    theano.function([x, y], x, on_unused_input="ignore")


def test_inputs_by_name_with_defaults_and_states() -> None:
    x, s = T.scalar("x"), T.scalar("s")
    f = theano.function([x, theano.In(s, value=10.0, update=s + x)], s + x)
    assert f(1.0) == 11.0
    assert f(x=2.0) == 13.0
    assert f[s] == 13.0
    f["s"] = 0.0
    assert f(1.0) == 1.0
    with pytest.raises(TypeError, match="Missing required input"):
        f()
    with pytest.raises(TypeError, match="Too many parameter"):
        f(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="Unknown input or state: z"):
        f(z=1.0)


def test_copies_have_other_shared_variables() -> None:
    x, w, v = T.scalar("x"), theano.shared(1.0), theano.shared(5.0)
    f = theano.function([x], x * w, updates=[(w, w + 1)], name="f")
    g = f.copy(swap={w: v})
    assert (f(1.0), g(1.0)) == (1.0, [5.0])  # Theano's copies give lists
    assert (g.name, f.copy(name="h").name) == ("f copy", "h")
    assert (w.get_value(), v.get_value()) == (2.0, 6.0)
    assert f.copy(delete_updates=True)(1.0) == [2.0]
    assert w.get_value() == 2.0


def test_functions_run_on_what_their_containers_hold() -> None:
    x, w = T.dvector("x"), theano.shared(0)
    count = theano.function([], w * 2, updates=[(w, w + 1)])
    count.fn()
    assert count.fn(n_calls=3) == [6]
    assert w.get_value() == 4
    f = theano.function([x], [x.sum(), x + 1])
    f.input_storage[0].storage[0] = np.array([1.0, 2.0])
    f.fn()
    assert f.output_storage[0].value == 3.0
    np.testing.assert_array_equal(f.output_storage[1].storage[0], [2.0, 3.0])
    assert "sum" in f.fn.source
    assert f.fn.storage_map[x] is f.input_storage[0].storage
    assert count.fn.storage_map[w][0] == 4


def test_copies_and_pickles_of_functions_keep_their_name_and_trust() -> None:
    x = T.dscalar("x")
    f = theano.function([x], x + 1)
    f.trust_input = True
    for other in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert (other.name, other.trust_input, other(np.array(1.0))) == (f.name, True, 2.0)


REFUSED: list[tuple[Any, Any, str]] = [
    (T.scalar(), Exception, "contained in a list"),
    ([theano.shared(1.0)], TypeError, "as explicit input"),
    ([T.constant(1.0)], TypeError, "Constants not allowed"),
]


@pytest.mark.parametrize(("inputs", "error", "match"), REFUSED)
def test_inputs_that_are_refused(inputs: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        theano.function(inputs, T.constant(1.0))


def test_calls_are_counted_where_a_profile_is_wanted() -> None:
    x = T.dscalar("x")
    assert theano.function([x], x).profile is None
    stats = theano.compile.ProfileStats()
    f = theano.function([x], x * 2, profile=stats, name="twice")
    g = theano.function([x], x * 3, profile=stats)
    assert [f(1.0), f(2.0), g(1.0)] == [2, 4, 3]
    assert f.profile is stats
    assert stats.fct_callcount == 3
    assert 0 < stats.fct_call_time <= stats.vm_call_time
    text = io.StringIO()
    stats.summary(text)
    assert "Message: twice" in text.getvalue()
    assert "3 calls" in text.getvalue()
    with theano.change_flags(profile=True):
        assert theano.function([x], x).profile.fct_callcount == 0


def test_borrowed_outputs_are_overwritten_where_no_memory_is_freed() -> None:
    x = T.dvector()
    out = theano.Out(x * 4, borrow=True)
    for linker, wanted in (("c|py_nogc", [8.0]), ("cvm", [4.0])):
        f = theano.function([x], [out, x + 1], mode=theano.Mode(linker, "fast_run"))
        first, other = f([1.0])
        f([2.0])
        assert (first.tolist(), other.tolist()) == (wanted, [2.0])
        assert f([1.0, 1.0])[0].shape == (2,)


def test_warnings_name_the_line_of_the_program() -> None:
    """Of an input that is not used it was the caller's."""
    x, s = T.dvector("x"), T.dscalar("s")

    def build() -> None:
        theano.function([x, s], x.sum(), on_unused_input="warn")
        theano.grad(x.sum(), s, disconnected_inputs="warn")
        theano.grad(x.sum(), [s], disconnected_inputs="warn")

    with pytest.warns(UserWarning, match="computational graph") as found:
        build()
    first = build.__code__.co_firstlineno
    assert [each.lineno - first for each in found] == [1, 2, 3]
    assert {each.filename for each in found} == {__file__}
