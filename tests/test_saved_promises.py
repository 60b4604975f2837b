"""Files whose ops have arguments that symc would not have given them are refused, or checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadFile, SymcError
from tests.test_saved import changed

MODES = ("python", "default")


def _numbers(document: Any, name: str) -> list[int]:
    """The numbers of the nodes whose op has a name."""
    return [n for n, node in enumerate(document["nodes"]) if name in str(node.get("op"))]


def _leaf(document: Any, number: int) -> int:
    return int(document["nodes"].index({"leaf": number}))


def _given(name: str, place: int, leaf: int) -> Callable[[Any], None]:
    """A change: an argument of the ops of a name is an input."""

    def change(document: Any) -> None:
        for number in _numbers(document, name):
            document["nodes"][number]["args"][place] = _leaf(document, leaf)
        assert _numbers(document, name)

    return change


def _both(tmp_path: Path, change: Callable[[Any], None], *args: Any) -> list[Any]:
    """What the changed function does in each mode: its results, or the type of its error."""
    found: list[Any] = []
    for mode in MODES:
        try:
            found.append(symc.load(changed(tmp_path, change), mode=mode)(*args))
        except (SymcError, ValueError) as error:
            found.append(type(error))
    return found


def _save(tmp_path: Path, inputs: Any, outputs: Any) -> None:
    f = symc.function(inputs, outputs, mode="python", on_unused_input="ignore")
    symc.save(f, tmp_path / "good")


def test_indices_of_sparse_matrices_are_of_the_dtype_that_routines_read(tmp_path: Path) -> None:
    """Seed 24 of damaged files: columns of 64 bits were read as ones of 32."""
    d, i, p, v = T.vector("d"), T.lvector("i"), T.lvector("p"), T.vector("v")
    matrix = T.sparse.csr_from_parts(d, i, p, 4)
    _save(tmp_path, [d, i, p, v], symc.grad((matrix @ v).sum(), v))
    assert _both(tmp_path, _given("Sparse", 1, 1), [1.0], [0], [0, 1, 1], np.ones(4)) == [
        BadFile, BadFile
    ]  # fmt: skip


def test_positions_are_those_of_their_own_mask(tmp_path: Path) -> None:
    """Seed 24 of damaged files: there were as many positions as another number said."""
    x, many = T.vector("x"), T.lscalar("many")
    _save(tmp_path, [x, many], x[x > 0])
    for found in _both(tmp_path, _given("FlatNonzero", 2, 1), [1.0, -1.0, 2.0], 100):
        assert found.tolist() == [1.0, 2.0]


def test_a_real_transform_reads_as_many_frequencies_as_there_are(tmp_path: Path) -> None:
    """Seed 24 of damaged files: it read beyond them."""
    x, n = T.zvector("x"), T.lscalar("n")
    _save(tmp_path, [x, n], T.fft.hfft(x))
    change = _given("ToReal", 1, 1)
    errors = _both(tmp_path, change, np.ones(3, complex), 10)
    assert errors == [symc.errors.ShapeMismatch] * 2
    for found in _both(tmp_path, change, np.ones(3, complex), 4):
        np.testing.assert_allclose(found, [4.0, 0.0, 0.0, 0.0], atol=1e-12)


def test_what_all_steps_of_a_loop_compute_is_checked_outside(tmp_path: Path) -> None:
    """Seed 25 of damaged files: each step read row 2 of two, and nobody looked whether it is there.

    Rows that do not change from step to step leave a loop when symc makes it.
    """
    x = T.matrix("x")
    rows, _ = symc.scan(lambda i, x: x[i], sequences=[T.arange(2)], non_sequences=[x])
    _save(tmp_path, [x], rows)

    def change(document: Any) -> None:
        """The row of the step becomes that of the number of steps, which is 2."""
        nodes = document["nodes"]
        (loop,) = _numbers(document, "Scan")
        body = nodes[loop]["op"]["fields"][0]["fields"]
        nodes[body[1][0]["node"]]["args"][1] = nodes[loop]["args"][0]

    assert _both(tmp_path, change, np.ones((2, 3))) == [symc.errors.BadIndex] * 2
    for found in _both(tmp_path, change, np.arange(6.0).reshape(3, 2)):
        assert found.tolist() == [[4.0, 5.0]] * 2


def _is_step(node: dict[str, Any]) -> bool:
    return "slot" in node and node["slot"][0] == 0 and node["type"] == ["int64", 0]


def test_lengths_of_slots_follow_from_slots_of_their_body(tmp_path: Path) -> None:
    """Seed 148 of damaged files: a length was a slot of another loop."""
    x = T.matrix("x")
    states, _ = symc.scan(
        lambda row, state, other: state * row + other[0],
        sequences=[x], outputs_info=[x[0]], non_sequences=[x[1]],
    )  # fmt: skip
    _save(tmp_path, [x], symc.grad((states**2).sum(), x))

    def change(document: Any) -> None:
        """Lengths in a branch become the number of a loop's step."""
        nodes = document["nodes"]
        step = next(n for n, node in enumerate(nodes) if _is_step(node))
        for number in _numbers(document, "Choice"):
            for slot in nodes[number]["op"]["fields"][0]["fields"][0]:
                lengths = nodes[slot["node"]]["slot"][2]
                lengths[:] = [{"node": step} if length else length for length in lengths]

    with pytest.raises(BadFile, match="a slot of another one"):
        symc.load(changed(tmp_path, change), mode="python")


@pytest.mark.parametrize("dilation", [0, -1, 3])
def test_windows_of_a_file_end_where_their_axis_does(tmp_path: Path, dilation: int) -> None:
    """Seed 136 of damaged files: windows with gaps were added beyond the end of an axis."""
    x = T.tensor4("x")
    _save(tmp_path, [x], symc.grad((T.nnet.avg_pool2d(x, 2) ** 2).sum(), x))

    def change(document: Any) -> None:
        for number in _numbers(document, "OverlapAdd"):
            document["nodes"][number]["op"]["fields"][2] = [dilation, dilation]

    for error in _both(tmp_path, change, np.ones((1, 1, 4, 6))):
        assert error in (BadFile, symc.errors.ShapeMismatch)


PLACES: dict[str, tuple[Callable[[Any, Any], Any], str, list[int]]] = {
    "places of a mask": (lambda x, k: x[x > 0], "Coordinate", [0, 99]),
    "numbers that are counted": (lambda x, k: T.bincount(abs(k)), "Below", [0, -99]),
    "segments": (lambda x, k: T.segment_sum(x[:, 0], k, x.shape[1]), "Below", [0, 99]),
}


@pytest.mark.parametrize("name", PLACES)
def test_places_of_a_file_are_checked(tmp_path: Path, name: str) -> None:
    """Rules on indexes take the word of some ops for their elements being in range."""
    x, k = T.matrix("x"), T.lvector("k")
    make, op, wrong = PLACES[name]
    _save(tmp_path, [x, k], make(x, k))
    errors = _both(tmp_path, _given(op, 0, 1), np.ones((2, 2)), wrong)
    assert errors == [symc.errors.BadIndex] * 2


def test_numbers_of_a_file_are_natural_if_they_are(tmp_path: Path) -> None:
    x, k, truth = T.matrix("x"), T.lvector("k"), T.vector("truth", dtype="bool")
    _save(tmp_path, [x, k, truth], T.nnet.categorical_crossentropy(T.softmax(x), k))
    errors = _both(tmp_path, _given("Checked", 1, 2), np.ones((2, 2)), [0, -2], [True, True])
    assert errors == [symc.errors.BadIndex] * 2


def test_an_order_of_a_file_is_one(tmp_path: Path) -> None:
    """The place of each number in an order was written to wherever the order said."""
    x, k = T.vector("x"), T.lvector("k")
    _save(tmp_path, [x, k], T.unique(x, return_inverse=True)[1])
    for found in _both(tmp_path, _given("order:Inverse", 0, 1), [1.0, 2.0], [2**40, -99]):
        assert found.tolist() == [1, 0]


def test_as_many_are_repeated_as_counts_say(tmp_path: Path) -> None:
    x, k, n = T.vector("x"), T.lvector("k"), T.lscalar("n")
    _save(tmp_path, [x, k, n], T.repeat(x, k))
    for found in _both(tmp_path, _given("RepeatedPositions", 1, 2), [1.0, 2.0], [1, 2], 2**20):
        assert found.tolist() == [1.0, 2.0, 2.0]


def test_the_first_few_of_a_file_are_there(tmp_path: Path) -> None:
    x = T.vector("x")
    _save(tmp_path, [x], T.topk(x, 2)[1])

    def change(document: Any) -> None:
        (number,) = _numbers(document, "Topmost")
        document["nodes"][number]["op"]["fields"][0] = 200

    assert _both(tmp_path, change, [1.0, 2.0]) == [symc.errors.BadIndex] * 2


def test_gradients_of_attention_have_the_lengths_of_its_output(tmp_path: Path) -> None:
    q, bar = T.tensor3("q"), T.tensor3("bar")
    loss = (T.nnet.attention(q, q, q) * 2).sum()
    _save(tmp_path, [q, bar], symc.grad(loss, q))
    for place in (3, 5):
        errors = _both(
            tmp_path, _given("AttentionBar", place, 1), np.ones((2, 3, 4)), np.ones((1, 1, 1))
        )
        assert errors == [symc.errors.ShapeMismatch] * 2


def test_keys_of_random_numbers_are_two_numbers(tmp_path: Path) -> None:
    key, short = T.vector("key", dtype="uint64"), T.vector("short", dtype="uint64")
    drawn = T.random.normal(T.specify_shape(key, (2,)), size=(100,))
    _save(tmp_path, [key, short], drawn)
    errors = _both(tmp_path, _given("Draw", 0, 1), *np.split(np.ones(2, np.uint64), [2]))
    assert errors == [symc.errors.ShapeMismatch] * 2
