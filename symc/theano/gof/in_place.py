"""Ops that say of themselves that they overwrite an input."""

from __future__ import annotations

import copy
from typing import Self

from symc.theano.gof.op import Op


class OverwritesFirst(Op):
    """An op whose result, where `inplace` is true, takes the place of its first input."""

    inplace: bool = False

    @property
    def destroy_map(self) -> dict[int, list[int]]:  # type: ignore[override]
        """For each output in the memory of inputs, which these are."""
        return {0: [0]} if self.inplace else {}

    def in_place(self) -> Self:
        """The op that overwrites its first input."""
        made = copy.copy(self)
        made.inplace = True
        return made
