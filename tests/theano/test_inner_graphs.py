"""Loops from outside: their parts, their connections, graphs within graphs replaced."""

from __future__ import annotations

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.gof.graph import inputs, io_toposort
from symc.theano.gradient import DisconnectedInputError
from symc.theano.scan_module.scan_op import Scan
from symc.theano.scan_module.scan_utils import map_variables


def test_a_loop_shows_the_graph_of_its_step() -> None:
    x, w, h0 = T.dmatrix("x"), T.dvector("w"), T.dvector("h0")

    def step(x_t, h, w):  # type: ignore[no-untyped-def]
        new = T.tanh(x_t + h * w)
        new.name, new.tag.role = "state", "output"
        return new

    out, _ = theano.scan(step, sequences=x, outputs_info=h0, non_sequences=w)
    op = out.owner.op
    assert isinstance(op, Scan)
    made = [v for node in io_toposort(inputs(op.outputs), op.outputs) for v in node.outputs]
    assert [v.tag.role for v in made if v.name == "state"] == ["output"]
    assert set(inputs(op.outputs)) <= set(op.inputs)
    assert (op.n_seqs, op.n_sit_sot, op.n_nit_sot, op.as_while) == (1, 1, 0, False)
    assert op.outer_seqs(out.owner) == [x]
    assert op.outer_states(out.owner) == [h0]
    assert op.outer_non_seqs(out.owner) == [w]
    assert op.connection_pattern(out.owner) == [[True]] * 3


def test_an_initial_value_that_no_step_reads_is_disconnected() -> None:
    x0, y0, z0 = T.dvectors("x0", "y0", "z0")
    (x, y, z), _ = theano.scan(
        lambda x, y, z: (x**2, y, x + 1), outputs_info=[x0, y0, z0], n_steps=3
    )
    assert T.grad((x + y + z).sum(), y0).type == y0.type
    with pytest.raises(DisconnectedInputError):
        T.grad((x + y + z).sum(), z0)
    with pytest.raises(DisconnectedInputError):
        T.grad(x.sum(), y0)


def test_one_step_is_no_loop() -> None:
    seq = T.ivector()
    out, _ = theano.scan(
        lambda s, total: total + s, sequences={"input": seq, "taps": [2]}, outputs_info=0, n_steps=1
    )
    assert theano.function([seq], out)(np.arange(9, dtype="int32")).tolist() == [2]
    with pytest.raises(ValueError, match="different"):
        theano.scan(lambda s, a, b: a, seq, {"initial": seq, "taps": [-1, -1]})


def test_checkpoints_run_as_many_steps_as_asked_for() -> None:
    """The last chunk had all its steps, whatever the number was."""
    a, k = T.dvector(), T.iscalar()
    kept, _ = theano.scan_checkpoints(
        lambda p, a: p * a, outputs_info=T.ones_like(a), non_sequences=a, n_steps=k, save_every_N=4
    )
    f = theano.function([a, k], [kept[-1], T.grad(kept[-1].sum(), a)])
    for n in (3, 4, 9):
        value, slope = f([0.5, 1.5], n)
        np.testing.assert_allclose(value, np.array([0.5, 1.5]) ** n)
        np.testing.assert_allclose(slope, n * np.array([0.5, 1.5]) ** (n - 1))


def test_variables_are_replaced_within_loops_and_parts() -> None:
    x, y, z = T.dvector("x"), T.dscalar("y"), T.dscalar("z")
    y.tag.replacement = z

    def replacer(variable):  # type: ignore[no-untyped-def]
        return getattr(variable.tag, "replacement", variable)

    s, _ = theano.scan(lambda x: x * y, sequences=x)
    (other,) = map_variables(replacer, [s])
    for found, right in zip(
        theano.function([x, y, z], [s, other])([1, 2], 1, 2), ([1, 2], [2, 4]), strict=True
    ):
        np.testing.assert_array_equal(found, right)
    a, b, outer = T.dscalar("a"), T.dscalar("b"), T.dscalar("outer")
    r = a + b
    r.tag.replacement = outer * (a - b)
    (part,) = map_variables(replacer, [theano.OpFromGraph([a, b], [r])(y, z)])
    counter = theano.shared(0.0)
    counter.update = counter + 1
    assert part.eval({z: 2.0, outer: 3.0}) == 0.0  # y is z now
    r.tag.replacement = counter * a
    with pytest.raises(NotImplementedError, match="update"):
        map_variables(replacer, [theano.OpFromGraph([a, b], [r])(x[0], x[1])])
