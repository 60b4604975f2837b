"""`MRG_RandomStreams`: random variables from MRG31k3p."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from symc.theano.compile.sharedvalue import shared
from symc.theano.configparser import config
from symc.theano.gof.graph import Constant, Variable
from symc.theano.gradient_ops import undefined_grad
from symc.theano.sandbox.mrg31k3p import (
    M1,
    M2,
    DotModulo,
    ff_2p72,
    ff_2p134,
    jumped,
    matVecModM,
    mrg_uniform,
    multMatVect,
    streams,
)
from symc.theano.sandbox.multinomial import ChoiceFromUniform, MultinomialFromUniform
from symc.theano.scalar.dtypes import upcast
from symc.theano.tensor import math, reductions
from symc.theano.tensor.convert import as_tensor_variable, constant
from symc.theano.tensor.joining import join
from symc.theano.tensor.shaping import is_one, reshape, vector_length
from symc.theano.tensor.type import TensorType

__all__ = [
    "M1", "M2", "DotModulo", "MRG_RandomStreams", "ff_2p72", "ff_2p134", "guess_n_streams",
    "matVecModM", "mrg_uniform", "multMatVect",
]  # fmt: skip


class MRG_RandomStreams:
    """Random variables; each has streams of its own, which every call moves on."""

    def __init__(self, seed: Any = 12345, use_cuda: Any = None) -> None:
        del use_cuda
        self.state_updates: list[Any] = []
        self.default_instance_seed = seed
        self.set_rstate(seed)

    def updates(self) -> list[Any]:
        """The updates of all random variables made so far."""
        return list(self.state_updates)

    def set_rstate(self, seed: Any) -> None:
        """Starts from a seed, a number or six of them."""
        if isinstance(seed, int | np.integer):
            if seed == 0:
                raise ValueError("seed should not be 0", seed)
            if seed >= M2:
                raise ValueError(f"seed should be less than {M2}", seed)
            self.rstate = np.asarray([seed] * 6, dtype="int32")
            return
        if len(seed) != 6:
            raise TypeError("seed should be 1 integer or 6 integers")
        first, second = list(seed[:3]), list(seed[3:])
        if first == [0, 0, 0] or second == [0, 0, 0]:
            raise ValueError("three parts of the seed should not be 0", seed)
        if any(each >= M2 for each in seed):
            raise ValueError(f"parts of the seed should be less than {M2}", seed)
        self.rstate = np.asarray(seed, dtype="int32")

    def seed(self, seed: Any = None) -> None:
        """Starts all random variables made so far anew."""
        self.set_rstate(self.default_instance_seed if seed is None else seed)
        for old, _new, _size, nstreams in self.state_updates:
            old.set_value(self.get_substream_rstates(nstreams, None), borrow=True)

    def inc_rstate(self) -> None:
        """Moves on to where the next random variable starts."""
        self.rstate = jumped(self.rstate, 134)

    def get_substream_rstates(self, n_streams: int, dtype: Any, inc_rstate: bool = True) -> Any:
        """The states of the streams of a random variable."""
        del dtype
        if n_streams < 1:
            raise ValueError("the number of streams must be positive", n_streams)
        found = streams(self.rstate, n_streams)
        if inc_rstate:
            self.inc_rstate()
        return found

    def n_streams(self, size: Any) -> int:
        """The number of streams for a shape."""
        return guess_n_streams(size)

    # --- random variables -------------------------------------------------------------------------

    def uniform(
        self, size: Any, low: Any = 0.0, high: Any = 1.0, ndim: int | None = None,
        dtype: Any = None, nstreams: int | None = None, **_: Any,
    ) -> Any:  # fmt: skip
        """Numbers between two bounds."""
        low, high = undefined_grad(low), undefined_grad(high)
        if isinstance(size, int | np.integer):
            size = (int(size),)
        if dtype is None:
            dtype = upcast(config.floatX, low.dtype, high.dtype)
        dtype = config.floatX if dtype == "floatX" else dtype
        low, high = math.cast(low, dtype), math.cast(high, dtype)
        size = checked_size(size)
        count = self.n_streams(size) if nstreams is None else nstreams
        state = shared(self.get_substream_rstates(count, dtype))
        state.tag.is_rng = True
        vector, flags = size_vector(size, ndim)
        new_state, sample = mrg_uniform(TensorType(dtype, flags))(state, vector)
        sample.rstate, sample.update = state, (state, new_state)
        self.state_updates.append((state, new_state, size, count))
        state.default_update = new_state
        result = sample * (high - low) + low
        if sample.type.broadcastable != result.type.broadcastable:
            raise NotImplementedError(
                "Increase the size to match the broadcasting pattern of low and `high` arguments"
            )
        return result

    def binomial(
        self, size: Any = None, n: Any = 1, p: Any = 0.5, ndim: int | None = None,
        dtype: Any = "int64", nstreams: int | None = None, **_: Any,
    ) -> Any:  # fmt: skip
        """1 with probability `p`, else 0."""
        p = undefined_grad(as_tensor_variable(p))
        if n != 1:
            raise NotImplementedError("MRG_RandomStreams.binomial with n != 1")
        shape = p.shape if size is None else size
        return math.cast(self.uniform(size=shape, ndim=ndim, nstreams=nstreams) < p, dtype)

    def multinomial(
        self, size: Any = None, n: Any = 1, pvals: Any = None, ndim: int | None = None,
        dtype: Any = "int64", nstreams: int | None = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """How often `n` draws from each row of probabilities take each outcome."""
        if pvals is None:
            raise TypeError("You have to specify pvals")
        pvals = undefined_grad(as_tensor_variable(pvals))
        for argument, given in (("a size", size), ("an ndim", ndim)):
            if given is not None:
                raise ValueError(
                    f"Provided {argument} argument to MRG_RandomStreams.multinomial, which does "
                    f"not use the {argument.split()[1]} argument."
                )
        if pvals.ndim != 2:
            raise NotImplementedError(
                "MRG_RandomStreams.multinomial only implemented for pvals.ndim = 2"
            )
        drawn = self.uniform(size=pvals[:, 0].shape * n, ndim=1, nstreams=nstreams, **kwargs)
        kind = config.floatX if dtype == "floatX" else dtype
        return MultinomialFromUniform(kind)(pvals, drawn, as_tensor_variable(n))

    def choice(
        self, size: Any = 1, a: Any = None, replace: bool = True, p: Any = None,
        ndim: int | None = None, dtype: Any = "int64", nstreams: int | None = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """`size` different outcomes for each row of probabilities, in the order of the draws."""
        if replace:
            raise NotImplementedError(
                "MRG_RandomStreams.choice only works without replacement for now."
            )
        if a is not None:
            raise TypeError(
                "For now, a has to be None in MRG_RandomStreams.choice. Sampled values are "
                "between 0 and p.shape[1]-1"
            )
        if p is None:
            raise TypeError("For now, p has to be specified in MRG_RandomStreams.choice.")
        if ndim is not None:
            raise ValueError("ndim argument to MRG_RandomStreams.choice is not used.")
        p = undefined_grad(as_tensor_variable(p))
        if p.ndim != 2:
            raise NotImplementedError("MRG_RandomStreams.choice is only implemented for p.ndim = 2")
        drawn = self.uniform(size=p[:, 0].shape * size, ndim=1, nstreams=nstreams, **kwargs)
        return ChoiceFromUniform(dtype)(p, drawn, as_tensor_variable(size))

    def multinomial_wo_replacement(
        self, size: Any = None, n: Any = 1, pvals: Any = None, ndim: int | None = None,
        dtype: Any = "int64", nstreams: int | None = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """The former name of `choice`."""
        warnings.warn(
            "MRG_RandomStreams.multinomial_wo_replacement() is deprecated and will be removed in "
            "the next release of Theano. Please use MRG_RandomStreams.choice() instead.",
            stacklevel=2,
        )
        assert size is None
        return self.choice(size=n, replace=False, p=pvals, dtype=dtype, nstreams=nstreams,
                           ndim=ndim, **kwargs)  # fmt: skip

    def normal(
        self, size: Any, avg: Any = 0.0, std: Any = 1.0, ndim: int | None = None,
        dtype: Any = None, nstreams: int | None = None, truncate: bool = False, **_: Any,
    ) -> Any:  # fmt: skip
        """Normally distributed numbers, by the method of Box and Muller."""
        size = checked_size(size)
        avg, std = undefined_grad(avg), undefined_grad(std)
        if dtype is None:
            dtype = upcast(config.floatX, avg.dtype, std.dtype)
        dtype = config.floatX if dtype == "floatX" else dtype
        avg, std = math.cast(avg, dtype), math.cast(std, dtype)
        wanted = reductions.prod(as_tensor_variable(size_vector(size, ndim)[0]), dtype="int64")
        even = wanted + wanted % 2
        drawn = self.uniform((even,), ndim=1, dtype=dtype, nstreams=nstreams)
        first, second = drawn[: even // 2], drawn[even // 2 :]
        radius = math.sqrt(-2.0 * math.log(first))
        angle = np.array(2.0 * np.pi, dtype=dtype) * second
        cosine, sine = math.cos(angle), math.sin(angle)
        parts = [radius * cosine, radius * sine]
        if truncate:
            parts = self._truncated(parts, (cosine, sine), dtype, nstreams)
        samples = reshape(join(0, *parts)[:wanted], size_vector(size, ndim)[0],
                          ndim=len(size_vector(size, ndim)[1]))  # fmt: skip
        return samples * std + avg

    def _truncated(self, parts: Any, turns: Any, dtype: str, nstreams: int | None) -> list[Any]:
        """The numbers with those beyond two standard deviations drawn again."""
        from symc.theano.tensor.extra_ops import nonzero

        bad = [(part < -2.0) | (part > 2.0) for part in parts]
        places = [nonzero(each)[0] for each in bad]
        count = places[0].size + places[1].size
        again = self.uniform(
            (count,), low=constant(1.0 / np.e**2, dtype=dtype), high=1.0, ndim=1, dtype=dtype,
            nstreams=nstreams,
        )  # fmt: skip
        radius = math.sqrt(-2.0 * math.log(again))
        first = places[0].size
        fixed = [radius[:first] * turns[0][places[0]], radius[first:] * turns[1][places[1]]]
        good = [part[nonzero(math.invert(each))[0]] for part, each in zip(parts, bad, strict=True)]
        return [good[0], fixed[0], good[1], fixed[1]]

    def truncated_normal(
        self, size: Any, avg: Any = 0.0, std: Any = 1.0, ndim: int | None = None,
        dtype: Any = None, nstreams: int | None = None, **_: Any,
    ) -> Any:  # fmt: skip
        """Normally distributed numbers within two standard deviations."""
        deviation = std / constant(0.87962566103423978)
        return self.normal(size, avg, deviation, ndim, dtype, nstreams, truncate=True)


def guess_n_streams(size: Any, warn: bool = False) -> int:
    """The number of streams for a shape: as many as are useful, at most 60 * 256."""
    del warn
    if isinstance(size, tuple | list) and all(isinstance(each, int) for each in size):
        count = 1
        for each in size:
            count *= each
        return min(count // 6 if count > 6 else count, 60 * 256)
    return 60 * 256


def checked_size(size: Any) -> Any:
    """A shape as a vector or as a tuple. Raises ValueError for other values."""
    if isinstance(size, Variable):
        if size.ndim == 1:
            return size
        if size.ndim == 0:
            return (size,)
        raise ValueError("Theano variable must have 1 dimension to be a valid size.", size)
    if isinstance(size, int | np.integer):
        return (int(size),)
    if not isinstance(size, tuple | list):
        raise ValueError("Size must be a int, tuple, list or Theano variable.", size)
    for each in size:
        if isinstance(each, Variable):
            if each.ndim:
                raise ValueError("Non-scalar Theano variable in size", each)
        elif not isinstance(each, int | np.integer):
            raise ValueError("Only integer values are allowed in size", each)
        elif each <= 0:
            raise ValueError("Non-positive dimensions not allowed in size.", size)
    return tuple(size)


def size_vector(size: Any, ndim: int | None) -> tuple[Any, list[bool]]:
    """A shape as a vector, and which of its lengths are known to be 1."""
    if isinstance(size, Variable):
        count = vector_length(size) if ndim is None else ndim
        if isinstance(size, Constant):
            return size, [bool(each == 1) for each in size.data]
        return math.cast(size, "int64"), [is_one(size[k]) for k in range(count)]
    if not size:
        return constant(np.zeros((0,), dtype="int64")), []
    lengths = [each if isinstance(each, Variable) else int(each) for each in size]
    return math.cast(as_tensor_variable(lengths), "int64"), [is_one(each) for each in lengths]
