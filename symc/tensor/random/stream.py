"""Random numbers with a state: each call of a function that draws from a stream gives new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from itertools import count
from typing import Any, Concatenate, ParamSpec, cast
from weakref import WeakKeyDictionary

import numpy as np

from symc.graph.inputs import SharedVariable, constant, shared
from symc.graph.node import Array, Tensor
from symc.graph.provenance import user_line
from symc.graph.public import public, with_public_methods
from symc.tensor.random import (
    choices,
    continuous,
    derived,
    discrete,
    gammas,
    multivariate,
    orders,
    truncated,
)
from symc.tensor.random.keys import fold_in, seed_words

__all__ = ["RandomStream"]

P = ParamSpec("P")

_times: WeakKeyDictionary[Tensor, int] = WeakKeyDictionary()
_clock = count()


def now() -> int:
    """A time, to compare with those at which streams gave their keys."""
    return next(_clock)


def is_older(key: Tensor, time: int) -> bool:
    """Whether this is a key that a stream gave before then."""
    return _times.get(key, time) < time


def _method(
    sampler: Callable[Concatenate[Tensor, P], Tensor],
) -> Callable[Concatenate[RandomStream, P], Tensor]:
    """The sampler as a method, which gives it a key."""
    published = public(sampler)

    def draw(self: RandomStream, /, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        if args and sampler.__name__ in _SIZE_FIRST:
            _check_no_size(sampler, args, kwargs)
        return published(self.next_key(), *args, **kwargs)

    update_wrapper(draw, sampler)
    return draw


_SIZE_FIRST = ("uniform", "normal", "binomial")  # in Theano


def _check_no_size(
    sampler: Callable[..., Tensor], given: tuple[Any, ...], options: Mapping[str, Any]
) -> None:
    """Raises TypeError for a lone first argument that looks like a size, which it is in Theano."""
    found: Any = given[0]
    if len(given) > 1 or "size" in options or not isinstance(found, tuple):
        return
    items = cast("Sequence[Any]", found)
    if all(x.dtype.is_integer if isinstance(x, Tensor) else isinstance(x, int) for x in items):
        first = sampler.__code__.co_varnames[1]
        raise TypeError(
            f"{sampler.__name__}: the first argument is {first}, as NumPy has it, and {items!r} "
            f"looks like a size\n  at     {user_line()}\n  say size=..., or give {first} as a list"
        )


@with_public_methods
class RandomStream:
    """Random numbers that are new at each call of a function, and follow from a seed.

    The methods are the samplers of `symc.tensor.random` without their key. The result of each is a
    tensor like any other: used twice in a function it is the same numbers.

    The state is a key: the seed, and how many calls there were. Draw number n of a stream uses
    ``fold_in(state, n)``. A function that contains such a draw advances the state by one at each
    call, by a default update; all functions that share a stream share its state.

    >>> import symc, symc.tensor as T
    >>> stream = T.random.RandomStream(0)
    >>> f = symc.function([], stream.integers(100, size=4))
    >>> first, second = f(), f()
    >>> stream.seed(0)
    >>> bool((f() == first).all())
    True
    """

    def __init__(self, seed: int | None = None, *, device: str | None = None) -> None:
        """`seed` is an integer below 2**64, or None for a fresh one from the operating system."""
        self.state: SharedVariable = shared(_state(seed), name="random_state", device=device)
        self.state.default_update = self.state + constant(np.array([0, 1], dtype=np.uint64))
        self._draws = 0

    def next_key(self) -> Tensor:
        """A key that no other draw of this stream has, new at each call of a function.

        >>> import symc, symc.tensor as T
        >>> stream = T.random.RandomStream(0)
        >>> stream.next_key().type
        uint64[2]
        """
        key = fold_in(self.state, self._draws)
        self._draws += 1
        _times[key] = now()
        return key

    def seed(self, seed: int | None = None) -> None:
        """Starts anew from a seed: functions then repeat the numbers they gave after it.

        >>> import symc, symc.tensor as T
        >>> stream = T.random.RandomStream(0)
        >>> f = symc.function([], stream.normal())
        >>> first = f()
        >>> stream.seed(0)
        >>> bool(f() == first)
        True
        """
        self.state.set_value(_state(seed))

    def get_state(self) -> Array:
        """The state: a uint64 vector, the seed and the number of calls since.

        >>> import symc.tensor as T
        >>> T.random.RandomStream(7).get_state()
        array([7, 0], dtype=uint64)
        """
        value: Array = self.state.get_value()
        return value

    def set_state(self, state: Any) -> None:
        """Goes back, or on, to a state that `get_state` gave.

        >>> import symc, symc.tensor as T
        >>> stream = T.random.RandomStream(0)
        >>> f = symc.function([], stream.normal())
        >>> before = stream.get_state()
        >>> first = f()
        >>> stream.set_state(before)
        >>> bool(f() == first)
        True
        """
        array = np.asarray(state)
        if array.shape != (2,) or array.dtype != np.uint64:
            raise ValueError(
                f"a state is a uint64 vector of length 2, not {array.dtype} of shape {array.shape}"
            )
        self.state.set_value(array)

    bernoulli = _method(discrete.bernoulli)
    beta = _method(gammas.beta)
    binomial = _method(discrete.binomial)
    bits = _method(discrete.bits)
    categorical = _method(choices.categorical)
    cauchy = _method(continuous.cauchy)
    chisquare = _method(gammas.chisquare)
    choice = _method(orders.choice)
    dirichlet = _method(gammas.dirichlet)
    exponential = _method(continuous.exponential)
    f = _method(derived.f)
    gamma = _method(gammas.gamma)
    geometric = _method(discrete.geometric)
    gumbel = _method(continuous.gumbel)
    integers = _method(discrete.integers)
    laplace = _method(continuous.laplace)
    logistic = _method(continuous.logistic)
    lognormal = _method(continuous.lognormal)
    maxwell = _method(derived.maxwell)
    multinomial = _method(choices.multinomial)
    multivariate_normal = _method(multivariate.multivariate_normal)
    negative_binomial = _method(derived.negative_binomial)
    noncentral_chisquare = _method(derived.noncentral_chisquare)
    normal = _method(continuous.normal)
    pareto = _method(derived.pareto)
    permutation = _method(orders.permutation)
    poisson = _method(discrete.poisson)
    power = _method(derived.power)
    rademacher = _method(derived.rademacher)
    rayleigh = _method(derived.rayleigh)
    shuffle = _method(orders.shuffle)
    standard_exponential = _method(derived.standard_exponential)
    standard_gamma = _method(derived.standard_gamma)
    standard_normal = _method(derived.standard_normal)
    student_t = _method(gammas.student_t)
    triangular = _method(derived.triangular)
    truncated_normal = _method(truncated.truncated_normal)
    uniform = _method(continuous.uniform)
    wald = _method(derived.wald)
    weibull = _method(derived.weibull)


def _state(seed: int | None) -> Array:
    words = seed_words(seed)
    if words[1]:
        raise ValueError(f"the seed of a stream must be below 2**64, not {seed}")
    return np.array(words, dtype=np.uint64)
