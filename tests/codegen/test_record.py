"""`record`: the behaviour of a dataclass, whether few objects of a class are made or many."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from symc.codegen.record import FEW, field, record


@record
class Point:
    x: int
    y: int = 0
    note: str = field(default="", compare=False)


@record
class Named(Point):
    name: str = "?"


@record
class Bag:
    items: list[int] = field(default_factory=list)


@record
class Checked:
    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError(self.value)


def define() -> type[Any]:
    @record
    class Pair:
        left: int
        right: int = 5

    return Pair


MADE: list[tuple[Callable[[type[Any]], Any], tuple[int, int]]] = [
    (lambda cls: cls(1), (1, 5)),
    (lambda cls: cls(1, 2), (1, 2)),
    (lambda cls: cls(right=2, left=1), (1, 2)),
    (lambda cls: cls(1, right=2), (1, 2)),
]
REFUSED: list[Callable[[type[Any]], Any]] = [
    lambda cls: cls(),
    lambda cls: cls(1, 2, 3),
    lambda cls: cls(1, left=1),
    lambda cls: cls(1, middle=2),
    lambda cls: cls(middle=1, right=2),
]


@pytest.mark.parametrize("before", [0, FEW - 1, FEW, 2 * FEW])
@pytest.mark.parametrize(("make", "wanted"), MADE)
def test_arguments(before: int, make: Callable[[type[Any]], Any], wanted: tuple[int, int]) -> None:
    cls = define()
    for number in range(before):
        cls(number)
    made = [make(cls) for _ in range(3)]
    assert [(pair.left, pair.right) for pair in made] == [wanted] * 3


@pytest.mark.parametrize("before", [0, 1, 2 * FEW])
@pytest.mark.parametrize("make", REFUSED)
def test_wrong_arguments_are_refused_as_by_any_function(
    before: int, make: Callable[[type[Any]], Any]
) -> None:
    cls = define()
    for number in range(before):
        cls(number)
    with pytest.raises(TypeError, match=r"__init__\(\) (missing|takes|got)"):
        make(cls)
    assert cls(1).left == 1


def test_each_object_has_a_list_of_its_own() -> None:
    one, two = Bag(), Bag()
    one.items.append(1)
    assert two.items == []
    assert Bag([3]).items == [3]


@pytest.mark.parametrize("times", [1, 2 * FEW])
def test_what_is_checked_after_making(times: int) -> None:
    for value in range(times):
        assert Checked(value).value == value
    with pytest.raises(ValueError, match="-1"):
        Checked(-1)


def test_equality_leaves_out_what_is_not_compared() -> None:
    assert Point(1, note="a") == Point(1, note="b")
    assert hash(Point(1, note="a")) == hash(Point(1, note="b"))
    assert Point(1) != Named(1)
    assert Named(1, name="a") != Named(1, name="b")


def test_it_is_frozen() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"Point\.x"):
        point.x = 2  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue] # tested
    with pytest.raises(AttributeError):
        del point.x  # pyright: ignore[reportAttributeAccessIssue]


def test_dataclasses_knows_its_fields() -> None:
    assert [(f.name, f.type, f.compare) for f in dataclasses.fields(Named)] == [
        ("x", "int", True), ("y", "int", True), ("note", "str", False), ("name", "str", True),
    ]  # fmt: skip
    assert dataclasses.replace(Named(1, name="a"), y=3) == Named(1, 3, name="a")
    assert dataclasses.is_dataclass(Point)


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Named(1, 2, name="a"))) == Named(1, 2, name="a")


def test_a_field_of_dataclasses_is_refused() -> None:
    """It would be taken for the default itself."""
    with pytest.raises(TypeError, match=r"Wrong\.items: a record's fields are made with record's"):

        @record
        class Wrong:
            items: list[int] = dataclasses.field(default_factory=list)


def test_records_that_are_not_frozen_are_set_again_and_are_only_equal_to_themselves() -> None:
    @record(frozen=False)
    class Counter:
        kind: ClassVar[str] = "counter"
        name: str
        seen: list[int] = field(default_factory=list[int])
        count: int = 0

    found = [Counter(f"c{number}") for number in range(FEW + 5)]  # with and without a compiled init
    for number, one in enumerate(found):
        one.count += number
        one.seen.append(number)
        assert (one.name, one.seen, one.count) == (f"c{number}", [number], number)
    assert Counter("a") != Counter("a")
    assert Counter.kind == "counter"
    with pytest.raises(TypeError, match="seen2"):
        Counter("a", seen2=[])  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        found[0].other = 1  # type: ignore[attr-defined]
