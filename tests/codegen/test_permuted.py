"""Groups of doubles that loops put into another order keep it, whatever registers there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc
import symc.tensor as T

ORDERS = [
    (0, 2, 2), (0, 2, 1), (2, 1, 0), (1, 1, 2),
    (0, 1, 2, 2), (0, 3, 2, 3),
    (0, 1, 3, 3, 4), (0, 1, 2, 4, 4), (0, 4, 2, 3, 4), (0, 3, 3, 3, 4),
    (0, 1, 2, 4, 4, 5), (0, 1, 5, 3, 4, 5), (0, 1, 2, 5, 4, 5),
    (0, 1, 2, 3, 6, 5, 6), (0, 1, 2, 6, 4, 5, 6),
    (0, 1, 2, 4, 4, 5, 6, 7), (0, 1, 7, 3, 4, 5, 6, 7), (0, 1, 4, 4, 4, 5, 6, 7),
]  # fmt: skip


def columns(x: Any, order: tuple[int, ...]) -> Any:
    """The columns of a matrix in an order."""
    stack = np.stack if isinstance(x, np.ndarray) else T.stack
    return stack([x[:, column] for column in order], 1)


@pytest.mark.parametrize("order", ORDERS)
def test_a_bug_every_eighth_row_had_a_column_of_another(order: tuple[int, ...]) -> None:
    """``stack([x[:, 0], x[:, 2], x[:, 2]], 1)`` was wrong in vectors of eight doubles."""
    x = T.tensor("float64", (None, len(order)), "x")
    f = symc.function([x], [columns(x, order), columns(x, order) * 3.0, columns(x, order) - x])
    for rows in (1, 7, 8, 17, 133):
        given = np.arange(rows * len(order), dtype=float).reshape(rows, -1)
        wanted = columns(given, order)
        for found, other in zip(f(given), (wanted, wanted * 3.0, wanted - given), strict=True):
            np.testing.assert_array_equal(found, other)


def test_a_bug_products_and_differences_of_columns_were_of_two_rows() -> None:
    """gcc chooses the order in which it reads the columns of products."""
    x = T.tensor("float64", (None, 3), "x")

    def pairs(x: Any, of: Any) -> list[Any]:
        a, b, c = x[:, 0], x[:, 1], x[:, 2]
        rows = [[a * b, b * a, c * b], [a * b, a * b, c * a], [a - b, a - b, b - c]]
        return [of(row, 1) for row in rows]

    f = symc.function([x], pairs(x, T.stack))
    given = np.arange(133 * 3, dtype=float).reshape(-1, 3)
    for found, wanted in zip(f(given), pairs(given, np.stack), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_columns_in_their_order_go_in_the_longest_registers() -> None:
    x, v = T.tensor("float64", (None, 3), "x"), T.tensor("float64", (3,), "v")
    narrow = T.tensor("float32", (None, 3), "narrow")
    for plain in (columns(x, (0, 1, 2)) * v, x + v, x[:, 0] + x[:, 2], columns(narrow, (0, 2, 2))):
        source = symc.function([x, v, narrow], plain, on_unused_input="ignore").source
        assert "SYMC_NARROW" not in source
    assert "SYMC_NARROW" in symc.function([x], columns(x, (0, 2, 2))).source
