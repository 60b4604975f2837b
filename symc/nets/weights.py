"""The weights of a network: shared variables that layers make, and find again by name."""

from __future__ import annotations

from typing import Any

import numpy as np

import symc.tensor as T
from symc.errors import ShapeMismatch
from symc.graph.inputs import SharedVariable, shared
from symc.graph.node import Tensor
from symc.tensor.broadcast import describe


def known(x: Tensor, axis: int) -> int:
    """The length of an axis, which decides how many weights a layer has.

    Raises `ShapeMismatch` where it is not a known number.
    """
    length = x.type.shape[axis]
    if isinstance(length, int):
        return length
    raise ShapeMismatch(
        f"a layer needs to know the length of axis {axis}: declare it, or use T.specify_shape\n"
        f"  given  {describe(x)}"
    )


class Weights:
    """The weights of a network by name, and the few layers that have any.

    A layer's weights are made, as He et al. (2015) scale them, when its name is first used. All are
    float32. `updates` has the running statistics of `batch_norm`, for `symc.function`.

    >>> import symc, symc.tensor as T
    >>> w, x = symc.nets.Weights(seed=0), T.fmatrix("x")
    >>> y = w.dense("out", T.specify_shape(x, (None, 3)), 2)
    >>> y is w.dense("out", T.specify_shape(x, (None, 3)), 2), sorted(w.values)
    (True, ['out.b', 'out.w'])
    """

    def __init__(self, seed: int = 0) -> None:
        self.values: dict[str, SharedVariable] = {}
        self.learned: list[SharedVariable] = []
        self.updates: list[tuple[SharedVariable, Tensor]] = []
        self._rng = np.random.default_rng(seed)

    def normal(self, name: str, *shape: int, scale: float = 0.02) -> SharedVariable:
        """A weight drawn from a normal distribution of this deviation.

        >>> import symc, symc.tensor as T
        >>> w = symc.nets.Weights(seed=0)
        >>> w.normal("w", 3, 2).type
        float32[3, 2]
        """
        return self._made(name, shape, lambda: scale * self._rng.standard_normal(shape))

    def filled(
        self, name: str, *shape: int, value: float = 0, learned: bool = True
    ) -> SharedVariable:
        """A weight that begins as one number everywhere.

        >>> import symc, symc.tensor as T
        >>> w = symc.nets.Weights(seed=0)
        >>> w.filled("b", 2, value=0.5).get_value()
        array([0.5, 0.5], dtype=float32)
        """
        return self._made(name, shape, lambda: np.full(shape, value), learned=learned)

    def _made(
        self, name: str, shape: tuple[int, ...], value: Any, *, learned: bool = True
    ) -> SharedVariable:
        if name not in self.values:
            made = shared(np.asarray(value(), np.float32), name=name)
            self.values[name] = made
            if learned:
                self.learned.append(made)
        found = self.values[name]
        if found.type.shape != shape:
            raise ShapeMismatch(
                f"a weight of {shape} is named {name!r}, which has another shape\n"
                f"  given  {describe(found)}"
            )
        return found

    # --- layers -----------------------------------------------------------------------------------

    def dense(self, name: str, x: Tensor, units: int) -> Tensor:
        """``x @ w + b`` along the last axis, whose length must be known.

        >>> import symc, symc.tensor as T
        >>> w = symc.nets.Weights(seed=0)
        >>> w.dense("out", T.tensor("float32", (None, 3)), 2).type
        float32[input.shape[0], 2]
        """
        inputs = known(x, -1)
        w = self.normal(f"{name}.w", inputs, units, scale=(2 / inputs) ** 0.5)
        return x @ w + self.filled(f"{name}.b", units)

    def conv(self, name: str, x: Tensor, features: int, size: int, **options: Any) -> Tensor:
        """`T.nnet.conv2d` of images (images, channels, height, width), and a bias; not flipped.

        Options are those of `T.nnet.conv2d`, such as `padding`, `stride` and `groups`.

        >>> import symc, symc.tensor as T
        >>> w = symc.nets.Weights(seed=0)
        >>> w.conv("c", T.tensor("float32", (1, 3, 8, 8)), 4, 3).type
        float32[1, 4, 6, 6]
        """
        channels = known(x, 1) // options.get("groups", 1)  # those that a feature sees
        scale = (2 / (channels * size * size)) ** 0.5
        w = self.normal(f"{name}.w", features, channels, size, size, scale=scale)
        b = self.filled(f"{name}.b", features)
        return T.nnet.conv2d(x, w, flip_filters=False, **options) + b[:, None, None]

    def batch_norm(self, name: str, x: Tensor, *, training: bool) -> Tensor:
        """`T.nnet.batch_norm`: by the batch's statistics in training, else by the running ones.

        >>> import symc, symc.tensor as T
        >>> w = symc.nets.Weights(seed=0)
        >>> y = w.batch_norm("n", T.tensor("float32", (8, 3)), training=True)
        >>> y.type, len(w.updates)
        (float32[8, 3], 2)
        """
        count = known(x, 1)
        scale, shift = self.filled(f"{name}.scale", count, value=1), self.filled(f"{name}.b", count)
        mean = self.filled(f"{name}.mean", count, learned=False)
        var = self.filled(f"{name}.var", count, value=1, learned=False)
        if not training:
            return T.nnet.batch_norm_inference(x, scale, shift, mean, var)
        made = T.nnet.batch_norm(x, scale, shift, mean, var)
        self.updates += [(mean, made.running_mean), (var, made.running_var)]
        return made.output

    def layer_norm(self, name: str, x: Tensor) -> Tensor:
        """`T.nnet.layer_norm` along the last axis.

        >>> import symc, symc.tensor as T
        >>> w = symc.nets.Weights(seed=0)
        >>> w.layer_norm("n", T.tensor("float32", (8, 3))).type
        float32[8, 3]
        """
        width = known(x, -1)
        scale = self.filled(f"{name}.scale", width, value=1)
        return T.nnet.layer_norm(x, scale, self.filled(f"{name}.b", width))

    def embedding(self, name: str, numbers: Tensor, count: int, width: int) -> Tensor:
        """A row of weights for each of these integers from 0 to ``count - 1``.

        >>> import symc, symc.tensor as T
        >>> w = symc.nets.Weights(seed=0)
        >>> w.embedding("words", T.tensor("int64", (5,)), 100, 16).type
        float32[5, 16]
        """
        return T.nnet.embedding(self.normal(name, count, width), numbers)
