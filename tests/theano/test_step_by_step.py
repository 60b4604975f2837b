"""What runs node by node: modes that watch, lists, slices that are given, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc.theano as theano
import symc.theano.tensor as T
from symc.theano import typed_list
from symc.theano.compile import MonitorMode, NanGuardMode


def test_a_monitor_sees_every_node_and_its_values() -> None:
    x = T.dscalar("x")
    seen: list[tuple[int, str, Any]] = []

    def post(number: int, node: Any, thunk: Any) -> None:
        seen.append((number, str(node.op), thunk.outputs[0][0]))

    f = theano.function([x], T.log(x) * x, mode=MonitorMode(post_func=post).excluding("fusion"))
    assert np.isnan(f(0.0))
    assert [entry[:2] for entry in seen] == [
        (0, "Elemwise{log,no_inplace}"), (1, "Elemwise{mul,no_inplace}"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "found"), [(-1.0, "NaN"), (0.0, "Inf"), (1e20, "Big value"), (2.0, None)]
)
def test_nan_guard_names_the_node(value: float, found: str | None) -> None:
    x = T.dscalar("x")
    f = theano.function([x], T.log(x), mode=NanGuardMode(nan_is_error=True))
    if found is None:
        assert f(value) == np.log(value)
    else:
        with pytest.raises(AssertionError, match=f"{found} detected"):
            f(value)


def test_lists_are_values() -> None:
    items = typed_list.TypedListType(T.dvector)("items")
    v = T.dvector("v")
    f = theano.function(
        [items, v],
        [items.append(v), items.remove(v), items[0] * 2, items[1:], typed_list.length(items),
         items.count(v), items.ind(v), items.reverse(), items.insert(0, v), items.extend(items)],
    )  # fmt: skip
    a, b = np.ones(2), np.zeros(2)
    added, rest, twice, tail, n, count, place, back, front, both = f([a, b], b)
    assert [len(each) for each in (added, rest, tail, back, front, both)] == [3, 1, 1, 2, 3, 4]
    assert (int(n), int(count), int(place)) == (2, 1, 1)
    np.testing.assert_array_equal(twice, 2 * a)
    np.testing.assert_array_equal(back[0], b)
    np.testing.assert_array_equal(front[0], b)
    with pytest.raises(TypeError, match="has no items of"):
        items.append(T.dmatrix())
    nested = typed_list.TypedListType(T.dvector, 2)
    assert (nested.get_depth(), nested.is_valid_value([[[a]]])) == (2, True)
    made = theano.function([v], typed_list.make_list([v, v + 1]))
    np.testing.assert_array_equal(made(a)[1], a + 1)


def test_a_slice_is_an_argument() -> None:
    v, s = T.dmatrix(), T.slicetype()
    f = theano.function([v, s], [v[s, 0], T.grad((v[s] ** 2).sum(), v)])
    part, slope = f(np.arange(6.0).reshape(3, 2), slice(None, 0, -1))
    np.testing.assert_array_equal(part, [4.0, 2.0])
    np.testing.assert_array_equal(slope, [[0, 0], [4, 6], [8, 10]])


def test_files_are_read_in_each_call(tmp_path: Path) -> None:
    path = theano.gof.Variable(theano.gof.generic)
    f = theano.function([path], T.load(path, "int64", (False,)) * 2)
    for n in (3, 4):
        np.save(tmp_path / "a.npy", np.arange(n))
        np.testing.assert_array_equal(f(str(tmp_path / "a.npy")), 2 * np.arange(n))
    with pytest.raises(ValueError, match="mmap_mode"):
        T.load(path, "int64", (False,), "r+")
