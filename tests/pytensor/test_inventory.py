"""Every Op of PyTensor is converted, or stands in a list with a reason."""

from __future__ import annotations

import pytest

from symc.pytensor import inventory


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_every_op_is_converted_or_listed_with_a_reason() -> None:
    found = {f"{op.__module__}.{op.__qualname__}": inventory.standing(op) for op in inventory.ops()}
    assert len(found) > 250
    assert [name for name, (word, _) in found.items() if word == "unknown"] == []
    assert all(why for word, why in found.values() if word != "converted")
