"""`theano.tests.unittest_tools`: seeds, gradients and comparisons for tests of programs."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from functools import wraps
from typing import Any

import numpy as np

from symc.theano.compile.function import function
from symc.theano.compile.mode import get_default_mode
from symc.theano.configparser import config
from symc.theano.tensor.basic import nearly_equal
from symc.theano.verify import GradientError
from symc.theano.verify import verify_grad as _verify_grad


def attr(tag: str) -> Callable[[Any], Any]:
    """A decorator that keeps a function as it is; runners once chose tests by the tag."""
    del tag
    return lambda function: function


def fetch_seed(pseed: Any = None) -> int | None:
    """The seed of tests: the one given, else that of the settings; None: a random one."""
    seed = pseed or config.unittests.rseed
    return None if seed in ("random", None) else int(seed)


def seed_rng(pseed: Any = None) -> int | None:
    """Starts NumPy's random numbers with the seed of tests."""
    seed = fetch_seed(pseed)
    np.random.seed(seed)
    return seed


def verify_grad(op: Any, pt: Any, n_tests: int = 2, rng: Any = None, *args: Any, **kw: Any) -> None:
    """`theano.gradient.verify_grad`, with the seed of tests."""
    if rng is None:
        seed_rng()
        rng = np.random
    _verify_grad(op, pt, n_tests, rng, *args, **kw)


verify_grad.E_grad = GradientError  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]


class MockRandomState:
    """Random numbers that are all the same."""

    def __init__(self, val: float) -> None:
        self.val = val

    def rand(self, *shape: int) -> Any:
        """An array of the number."""
        return np.zeros(shape, dtype="float64") + self.val

    def randint(self, minval: int, maxval: int | None = None, size: Any = 1) -> Any:
        """The least integers, or where the number is not 0 the greatest."""
        low, high = (0, minval) if maxval is None else (minval, maxval)
        return np.full(size, low if self.val == 0 else high - 1, dtype="int64")


class TestOptimizationMixin:
    """Questions about which ops a compiled function has."""

    __test__ = False

    def assertFunctionContains(
        self, f: Any, op: Any, min: int = 1, max: float = float("inf")
    ) -> None:
        """Between `min` and `max` applications of an op."""
        nodes = f.maker.fgraph.toposort()
        count = sum(node.op == op for node in nodes)
        assert min <= count <= max, (nodes, count, str(op), min, max)

    def assertFunctionContains0(self, f: Any, op: Any) -> None:
        """No application of an op."""
        self.assertFunctionContains(f, op, min=0, max=0)

    def assertFunctionContains1(self, f: Any, op: Any) -> None:
        """One application of an op."""
        self.assertFunctionContains(f, op, min=1, max=1)

    def assertFunctionContainsN(self, f: Any, op: Any, N: int) -> None:
        """N applications of an op."""
        self.assertFunctionContains(f, op, min=N, max=N)

    def assertFunctionContainsClass(
        self, f: Any, op: type, min: int = 1, max: float = float("inf")
    ) -> None:
        """Between `min` and `max` applications of ops of a class."""
        nodes = f.maker.fgraph.toposort()
        count = sum(isinstance(node.op, op) for node in nodes)
        assert min <= count <= max, (nodes, count, str(op), min, max)

    def assertFunctionContainsClassN(self, f: Any, op: type, N: int) -> None:
        """N applications of ops of a class."""
        self.assertFunctionContainsClass(f, op, min=N, max=N)

    def SkipTest(self, msg: str = "Skip this test") -> None:
        """Ends a test without a verdict."""
        raise unittest.SkipTest(msg)


class T_OpContractMixin:
    """Tests that ops in `ops` are equal to their copies, and not to each other."""

    ops: Sequence[Any] = ()
    other_op: Any = None

    def clone(self, op: Any) -> Any:
        """Another op like this."""
        raise NotImplementedError("return new instance like `op`")

    def test_eq(self) -> None:
        """An op is equal to its copies and to no other."""
        for position, op in enumerate(self.ops):
            assert op == copy(op) == deepcopy(op) == self.clone(op)
            assert op != self.other_op
            assert all(op != other for k, other in enumerate(self.ops) if k != position)

    def test_hash(self) -> None:
        """Copies of an op have its hash."""
        for op in self.ops:
            assert hash(op) == hash(copy(op)) == hash(deepcopy(op)) == hash(self.clone(op))

    def test_name(self) -> None:
        """Each op has a text."""
        assert all(str(op) for op in self.ops)


class InferShapeTester(unittest.TestCase):
    """Tests that shapes of results are known without computing those."""

    __test__ = True

    def setUp(self) -> None:
        seed_rng()
        self.mode = getattr(self, "mode", None) or get_default_mode()

    def _compile_and_check(
        self, inputs: Any, outputs: Any, numeric_inputs: Any, cls: Any, excluding: Any = None,
        warn: bool = True, check_topo: bool = True,
    ) -> None:  # fmt: skip
        del excluding, warn
        values = function(inputs, outputs, mode=self.mode)
        shapes = function(inputs, [each.shape for each in outputs], mode=self.mode)
        if check_topo:
            assert not any(isinstance(n.op, cls) for n in shapes.maker.fgraph.toposort())
        assert any(isinstance(n.op, cls) for n in values.maker.fgraph.toposort())
        found = zip(values(*numeric_inputs), shapes(*numeric_inputs), strict=True)
        assert all(np.all(value.shape == shape) for value, shape in found)


class WrongValue(Exception):
    """A value differs from the one that was expected."""

    def __init__(self, expected_val: Any, val: Any, rtol: Any, atol: Any) -> None:
        super().__init__(
            f"expected {expected_val}, got {val}; largest difference "
            f"{np.max(np.abs(np.asarray(expected_val) - np.asarray(val)))} "
            f"(rtol {rtol}, atol {atol})"
        )
        self.val1, self.val2, self.rtol, self.atol = expected_val, val, rtol, atol


def assert_allclose(expected: Any, value: Any, rtol: Any = None, atol: Any = None) -> None:
    """Raises `WrongValue` where two arrays differ by more than their dtypes allow."""
    if not nearly_equal(expected, value, rtol, atol):
        raise WrongValue(expected, value, rtol, atol)


class AttemptManyTimes:
    """A decorator of tests that have to pass some of several times, with different seeds."""

    def __init__(self, n_attempts: int, n_req_successes: int = 1) -> None:
        assert n_attempts >= n_req_successes
        self.n_attempts, self.n_req_successes = n_attempts, n_req_successes

    def __call__(self, fct: Callable[..., Any]) -> Callable[..., None]:
        """The test, tried again."""

        @wraps(fct)
        def attempt(*args: Any, **kwargs: Any) -> None:
            first = config.unittests.rseed
            successes = failures = 0
            try:
                while successes < self.n_req_successes:
                    try:
                        if args and hasattr(args[0], "setUp"):
                            args[0].setUp()
                        fct(*args, **kwargs)
                        successes += 1
                    except Exception:
                        failures += 1
                        if failures + self.n_req_successes > self.n_attempts:
                            raise
                    if config.unittests.rseed not in (None, "random"):
                        config.unittests.rseed = str(int(config.unittests.rseed) + 1)
            finally:
                config.unittests.rseed = first

        return attempt


def assertFailure_fast(f: Callable[..., Any]) -> Callable[..., Any]:
    """The test as it is: symc has one way to look for cycles."""
    return f


def str_diagnostic(expected: Any, value: Any, rtol: Any, atol: Any) -> str:
    """How two arrays differ, as text."""
    return str(WrongValue(expected, value, rtol, atol))
