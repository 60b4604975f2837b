"""Files whose ops have parameters that symc would not have given them are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T
from symc.errors import BadFile, ShapeMismatch
from tests.test_saved import changed


def _loop_part(*path: int, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change in the op of the first loop; an empty path is its arguments."""

    def change(document: Any) -> None:
        loop = next(node for node in document["nodes"] if "Scan" in str(node.get("op")))
        if not path:
            loop["args"] = value
            return
        place = loop["op"]["fields"]
        for number in path[:-1]:
            place = place[number]
            place = place if isinstance(place, list) else place["fields"]
        place[path[-1]] = value

    return change


_STEPS, _ROWS, _START, _STEP = 4, 0, 6, 11
"""Nodes of the file below: the number of steps, the rows, the first state's row, and a step's."""
LOOPS = {
    "an argument without its axis": (_loop_part(value=[_STEPS, _ROWS, 5]), "1 axes is wanted"),
    "steps that are rows": (_loop_part(value=[_ROWS, _ROWS, _START]), "int64 of 0 axes is wanted"),
    "too few arguments": (_loop_part(value=[_STEPS, _ROWS]), "cannot be made"),
    "rows that come later": (_loop_part(1, 1, 0, 0, value=[1]), "not there yet"),
    "rows that came before": (_loop_part(1, 0, 0, 0, value=[-3]), "not there yet"),
    "no such result": (_loop_part(2, 1, value=-1), "no such results"),
    "a condition of nothing": (_loop_part(3, value=[[0]]), "inside the compiler"),
    "results that nobody takes": (
        _loop_part(0, 1, value=[{"node": _STEP}] * 2), "too many results",
    ),
    "a step that gives its number": (_loop_part(0, 1, value=[{"node": 7}]), "float64 of 0 axes"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_do_not_fit_their_arguments_are_refused(tmp_path: Path, name: str) -> None:
    """Seed 214 of damaged files: the first row of a loop's state was a number without an axis."""
    x, n = T.vector("x"), T.lscalar("n")
    states, _ = symc.scan(
        lambda row, state: state * row + 1.0, sequences=[x], outputs_info=[T.constant(1.0)]
    )
    chosen = symc.ifelse(n > 1, states, states * 2)
    symc.save(symc.function([x, n], chosen, mode="python"), tmp_path / "good")
    change, said = LOOPS[name]
    with pytest.raises(BadFile, match=said):
        symc.load(changed(tmp_path, change), mode="python")


@pytest.mark.parametrize(
    ("place", "axes"), [(2**70, [0]), (-1, [0]), (2, [0]), (0, [-1]), (0, [2])]
)
def test_elements_from_axes_that_are_not_there_are_refused(
    tmp_path: Path, place: int, axes: list[int]
) -> None:
    """Seeds 11888 and 12776 of damaged files: results were to stand behind 10^19 axes."""
    x, rows = T.matrix("x"), T.lvector("rows")
    symc.save(symc.function([x, rows], x[rows], mode="python"), tmp_path / "good")

    def change(document: Any) -> None:
        node = next(node for node in document["nodes"] if "Gather" in str(node.get("op")))
        node["op"]["fields"] = [axes, place]

    with pytest.raises(BadFile, match="cannot be made"):
        symc.load(changed(tmp_path, change), mode="python")


def test_an_axis_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Seed 24181 of damaged files: arrays were to be joined along axis 2^64."""
    x = T.matrix("x")
    symc.save(symc.function([x], T.concatenate([x, x * 2]), mode="python"), tmp_path / "good")

    def change(document: Any) -> None:
        node = next(node for node in document["nodes"] if "Concatenate" in str(node.get("op")))
        node["op"]["fields"] = [2**64]

    with pytest.raises(BadFile, match="cannot be made"):
        symc.load(changed(tmp_path, change), mode="python")


_MATRICES: dict[str, Callable[[Any], Any]] = {
    "cholesky": T.linalg.cholesky,
    "inv": T.linalg.inv,
    "det": T.linalg.det,
    "eigh": lambda a: T.linalg.eigh(a).eigenvectors,
    "eigvals": T.linalg.eigvals,
    "expm": T.linalg.expm,
    "schur": lambda a: T.linalg.schur(a).t,
    "lu_factor": lambda a: T.linalg.lu_factor(a).lu,
    "gradient": lambda a: symc.grad(T.linalg.cholesky(a).sum(), a),
}


@pytest.mark.parametrize("mode", ["default", "python"])
@pytest.mark.parametrize("name", _MATRICES)
def test_matrices_of_a_file_are_as_long_as_routines_take_them(
    tmp_path: Path, name: str, mode: str
) -> None:
    """Seed 912500055 of damaged files: cholesky of 2 x 3 numbers wrote 3 x 3 into its result."""
    a, odd = T.matrix("a"), T.matrix("odd")
    good = symc.function([a, odd], [_MATRICES[name](a), odd * 2], mode="python")
    symc.save(good, tmp_path / "good")

    def change(document: Any) -> None:
        """The op gets the other matrix, without the check that `a` is square."""
        nodes = document["nodes"]
        checks = [n for n, node in enumerate(nodes) if "Square" in str(node.get("op"))]
        other = next(n for n, node in enumerate(nodes) if node == {"leaf": 1})
        for node in nodes:
            if set(checks) & set(node.get("args", [])) and node["type"] != ["int64", 0]:
                node["args"] = [other if n in checks else n for n in node["args"]]

    bad = symc.load(changed(tmp_path, change), mode=mode)
    with pytest.raises(ShapeMismatch):
        bad(2 * np.eye(3), np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    f = symc.load(tmp_path / "good", mode=mode)
    np.testing.assert_allclose(
        f(4 * np.eye(2), np.ones((1, 2)))[0], good(4 * np.eye(2), np.ones((1, 2)))[0], rtol=1e-12
    )


def test_the_other_side_of_equations_of_a_file_fits(tmp_path: Path) -> None:
    a, b, long = T.matrix("a"), T.vector("b"), T.vector("long")
    triangular = T.linalg.solve_triangular(a, b, lower=True)
    f = symc.function([a, b, long], [T.linalg.solve(a, b), triangular, long], mode="python")
    symc.save(f, tmp_path / "good")

    def change(document: Any) -> None:
        """The long vector in the place of the other, without the check of its length."""
        nodes = document["nodes"]
        other = next(n for n, node in enumerate(nodes) if node == {"leaf": 2})
        for node in nodes:
            checked = [n for n in node.get("args", []) if "Agree" in str(nodes[n].get("op"))]
            if checked:
                node["args"] = [other]

    f = symc.load(changed(tmp_path, change), mode="default")
    with pytest.raises(ShapeMismatch):
        f(np.eye(2), np.ones(2), np.ones(5))
