"""Arguments that lie in the memory of a shared variable are read as they were before the call."""

from __future__ import annotations

import os
import subprocess
import sys
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadUpdate, FunctionError

m = T.vector("m")
CASES: dict[str, tuple[Any, Any]] = {
    "read backwards": (lambda m: m[::-1] + 1, lambda m, w: m * 3),
    "set backwards": (lambda m: m + 1, lambda m, w: m[::-1] * 2),
    "with the variable": (lambda m: m - 1, lambda m, w: w[::-1] + m),
}


@pytest.mark.parametrize("name", CASES)
def test_an_argument_that_is_the_variable(name: str) -> None:
    """A bug: it was overwritten before all of it had been read."""
    form, new = CASES[name]
    w = symc.shared(np.arange(6.0), name="w")
    f = symc.function([m], form(m), updates=[(w, new(m, w))])
    view = w.get_value(borrow=True)
    value = view.copy()
    np.testing.assert_array_equal(f(view), form(value))
    np.testing.assert_array_equal(w.get_value(), new(value, value))


def test_an_argument_that_is_a_part_of_the_variable() -> None:
    w = symc.shared(np.arange(6.0), name="w")
    f = symc.function([m], m[::-1] + 1, updates=[(w, w[::-1] * m[0])])
    np.testing.assert_array_equal(f(w.get_value(borrow=True)[2:]), [6, 5, 4, 3])
    np.testing.assert_array_equal(w.get_value(), np.arange(6.0)[::-1] * 2)


def test_a_variable_that_is_set_to_the_argument_itself() -> None:
    a = np.arange(6.0)
    w = symc.shared(np.zeros(6))
    w.set_value(a, borrow=True)
    f = symc.function([m], m + 1, updates=[(w, m[::-1])])
    np.testing.assert_array_equal(f(a), np.arange(6.0) + 1)
    np.testing.assert_array_equal(w.get_value(), np.arange(6.0)[::-1])


def test_without_the_extension_too() -> None:
    program = """
        import numpy as np, symc, symc.tensor as T
        m, w = T.vector("m"), symc.shared(np.arange(6.0), name="w")
        f = symc.function([m], m[::-1] + 1, updates=[(w, m * 3)])
        print(f(w.get_value(borrow=True)).tolist(), w.get_value().tolist())
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)], capture_output=True, text=True, check=True,
        env={**os.environ, "SYMC_NO_EXTENSION": "1"},
    )  # fmt: skip
    assert done.stdout.split("] [")[0] == "[6.0, 5.0, 4.0, 3.0, 2.0, 1.0"


def test_two_updates_of_one_variable_by_a_swap_are_refused() -> None:
    """A bug: one of the two was left out."""
    p, q, y = symc.shared(1.0, name="p"), symc.shared(10.0, name="q"), T.scalar("y")
    f = symc.function([y], p * 100 + q, updates=[(p, p + y), (q, q * 2)])
    with pytest.raises(BadUpdate, match=r"with swap= .*q.* is updated twice"):
        f.copy(swap={p: q})
    assert f.copy(swap={p: q}, delete_updates=True)(1.0) == 1010


def test_a_swap_of_another_kind_is_named() -> None:
    s = symc.shared(np.ones(3), name="s")
    f = symc.function([m], m + s, updates=[(s, s + 1)])
    for other in (symc.shared(np.zeros(3, "float32")), symc.shared(np.zeros((1, 3)))):
        with pytest.raises((FunctionError, TypeError), match="swap="):
            f.copy(swap={s: other})
