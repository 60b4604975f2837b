"""Theano's further modules against NumPy: linear algebra, sorting, transforms, printing, ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano.dropped import ANSWERED, ArgSpec
from symc.theano.printing import Print, debugprint, pp
from symc.theano.sandbox.linalg import ops
from symc.theano.tensor import extra_ops, fft, nlinalg, slinalg

RNG = np.random.default_rng(1)
M = RNG.normal(size=(4, 4))
S = M @ M.T + 4 * np.eye(4)
N = np.array([[3, 1, 2], [0, 5, 4]])

CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "inverse": (lambda: nlinalg.matrix_inverse(M), np.linalg.inv(M)),
    "determinant": (lambda: nlinalg.det(M), np.linalg.det(M)),
    "eigenvalues": (lambda: nlinalg.eigh(S)[0], np.linalg.eigvalsh(S)),
    "cholesky": (lambda: slinalg.cholesky(S), np.linalg.cholesky(S)),
    "solve": (lambda: slinalg.solve(S, M), np.linalg.solve(S, M)),
    "kron": (lambda: slinalg.kron(M, S), np.kron(M, S)),
    "a diagonal, from the former place": (lambda: ops.extract_diag(M), np.diag(M)),
    "norm": (lambda: nlinalg.norm(T.as_tensor_variable(M), 1), np.linalg.norm(M, 1)),
    "largest": (lambda: T.topk(N, 2, axis=1, sorted=False).sort(axis=1), [[2, 3], [4, 5]]),
    "index": (lambda: extra_ops.unravel_index(np.array([4]), (2, 3))[0], [1]),
    "diagonal": (lambda: extra_ops.fill_diagonal_offset(N, 9, 1), [[3, 9, 2], [0, 5, 9]]),
    "transform": (lambda: fft.rfft(T.as_tensor_variable(M))[..., 0], np.fft.rfft(M).real),
    "choose": (lambda: T.choose([1, 0], [[10, 11], [20, 21]]), [20, 11]),
    "permuted": (lambda: T.permute_row_elements(N, [2, 0, 1]), [[2, 3, 1], [4, 0, 5]]),
}


def test_values() -> None:
    f = theano.function([], [T.as_tensor_variable(make()) for make, _ in CASES.values()])
    for name, found in zip(CASES, f(), strict=True):
        np.testing.assert_allclose(found, CASES[name][1], atol=1e-12, err_msg=name)


def test_own_scalar_op_is_applied_element_by_element() -> None:
    class Twice(theano.scalar.UnaryScalarOp):
        def impl(self, *args: Any) -> Any:
            return 2 * args[0]

        def grad(self, inputs: Any, output_grads: Any) -> Any:
            return [output_grads[0] * 5]

    twice = T.Elemwise(Twice(theano.scalar.upgrade_to_float, name="twice"))
    x = T.dvector()
    f = theano.function([x], [twice(x), T.grad(twice(x).sum(), x)])
    np.testing.assert_array_equal(f([1, 2]), [[2, 4], [5, 5]])


def test_print_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = T.dscalar("x"), T.dscalar("y")
    assert pp((x + y * 2) ** 2) == "((x + (y * TensorConstant{2})) ** TensorConstant{2})"
    assert debugprint(x + y, file="str") == (
        "Elemwise{add,no_inplace} [id A] ''   \n |x [id B]\n |y [id C]\n"
    )
    assert theano.function([x], Print("x", attrs=("ndim",))(x) + 1)(2) == 3
    assert capsys.readouterr().out == "x ndim = 0\n"


def test_python_function_as_an_op() -> None:
    @theano.as_op(itypes=[T.dvector], otypes=[T.dvector])
    def flipped(x: Any) -> Any:
        return x[::-1].copy()

    x = T.dvector()
    np.testing.assert_array_equal(theano.function([x], flipped(x) + 1)([1, 2]), [3, 2])


def test_what_is_not_there_says_what_to_use() -> None:
    with pytest.raises(AttributeError, match=r"symc\.rewrite"):
        T.opt.local_fill_to_alloc  # noqa: B018
    assert ArgSpec([], None, None, None).args == []
    assert not ANSWERED, "nothing is answered where nobody asked for it"


def test_shared_variables_need_no_scipy_after_sparse_is_imported() -> None:
    """The constructor of sparse ones asked SciPy about every value, where there is none."""
    from symc.theano.sparse.scipy import is_sparse

    assert theano.sparse.sharedvar.sparse_constructor is not None
    np.testing.assert_array_equal(theano.shared(np.ones(3)).get_value(), np.ones(3))
    assert not is_sparse(np.ones(3))
