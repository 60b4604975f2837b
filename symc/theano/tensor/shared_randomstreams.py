"""`RandomStreams`: random variables whose states are shared variables."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from symc.theano.compile.sharedvalue import SharedVariable, shared, shared_constructor
from symc.theano.tensor import raw_random
from symc.theano.tensor.raw_random import random_state_type


class RandomStateSharedVariable(SharedVariable):
    """A shared RandomState."""


@shared_constructor
def randomstate_constructor(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
    borrow: bool = False,
) -> RandomStateSharedVariable:  # fmt: skip
    """A shared variable of a RandomState."""
    if not isinstance(value, np.random.RandomState):
        raise TypeError("not a RandomState")
    held = value if borrow else copy.deepcopy(value)
    return RandomStateSharedVariable(name, random_state_type, held, strict, allow_downcast)


class RandomStreams:
    """Random variables; each has a state of its own, which every call moves on."""

    def __init__(self, seed: Any = None) -> None:
        self.state_updates: list[Any] = []
        self.default_instance_seed = seed
        self.gen_seedgen = np.random.RandomState(seed)

    def updates(self) -> list[Any]:
        """The updates of all random variables made so far."""
        return list(self.state_updates)

    def seed(self, seed: Any = None) -> None:
        """Starts all random variables made so far anew."""
        if seed is None:
            seed = self.default_instance_seed
        seeds = np.random.RandomState(seed)
        for old, _ in self.state_updates:
            old.set_value(np.random.RandomState(int(seeds.randint(2**30))), borrow=True)

    def __getitem__(self, item: Any) -> Any:
        for old, new in self.state_updates:
            if item is old or item is new:
                return old.container.data
        raise KeyError(item)

    def __setitem__(self, item: Any, value: Any) -> None:
        if not isinstance(value, np.random.RandomState):
            raise TypeError("a RandomState is needed", value)
        for old, new in self.state_updates:
            if item is old or item is new:
                old.set_value(value, borrow=True)
                return
        raise KeyError(item)

    def gen(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """The draws of `op` from a new state."""
        seed = int(self.gen_seedgen.randint(2**30))
        state = shared(np.random.RandomState(seed))
        state.tag.is_rng = True
        new_state, out = op(state, *args, **kwargs)
        out.rng, out.update = state, (state, new_state)
        self.state_updates.append(out.update)
        state.default_update = new_state
        return out

    def binomial(self, *args: Any, **kwargs: Any) -> Any:
        """How many of `n` trials succeed."""
        return self.gen(raw_random.binomial, *args, **kwargs)

    def uniform(self, *args: Any, **kwargs: Any) -> Any:
        """Numbers between two bounds."""
        return self.gen(raw_random.uniform, *args, **kwargs)

    def normal(self, *args: Any, **kwargs: Any) -> Any:
        """Normally distributed numbers."""
        return self.gen(raw_random.normal, *args, **kwargs)

    def random_integers(self, *args: Any, **kwargs: Any) -> Any:
        """Integers between two bounds, both included."""
        return self.gen(raw_random.random_integers, *args, **kwargs)

    def choice(self, *args: Any, **kwargs: Any) -> Any:
        """Elements drawn from a vector."""
        return self.gen(raw_random.choice, *args, **kwargs)

    def poisson(self, *args: Any, **kwargs: Any) -> Any:
        """Counts of events."""
        return self.gen(raw_random.poisson, *args, **kwargs)

    def permutation(self, *args: Any, **kwargs: Any) -> Any:
        """Integers in random order."""
        return self.gen(raw_random.permutation, *args, **kwargs)

    def multinomial(self, *args: Any, **kwargs: Any) -> Any:
        """How often each class occurs."""
        return self.gen(raw_random.multinomial, *args, **kwargs)

    def shuffle_row_elements(self, input: Any) -> Any:
        """The rows of a matrix, each in a random order."""
        order = self.permutation(size=input.shape[:-1], n=input.shape[-1], ndim=input.ndim - 1)
        if input.ndim == 1:
            return input[order]
        from symc.theano.tensor.creation import arange

        return input[arange(input.shape[0]).dimshuffle(0, "x"), order]
