"""`theano.tensor.nnet.corr3d`: convolutions of volumes, whose filters are not flipped."""

from __future__ import annotations

from typing import Any

from symc.theano.gof.graph import Apply
from symc.theano.tensor.nnet.abstract_conv import AbstractConv, ConvGradInputs, ConvGradWeights
from symc.theano.tensor.nnet.corr import Correlation, spatial_lengths

__all__ = ["Corr3dMM", "Corr3dMM_gradInputs", "Corr3dMM_gradWeights"]


class Corr3dMM(Correlation, AbstractConv):
    """A correlation."""

    axes = 3


class Corr3dMM_gradInputs(Correlation, ConvGradInputs):
    """The gradient of a correlation by its volumes. Inputs: filters, gradient, their lengths."""

    axes = 3

    def make_node(  # type: ignore[override]
        self, kern: Any, topgrad: Any, shape: Any = None
    ) -> Apply:
        return super().make_node(
            kern, topgrad, spatial_lengths(self, kern, topgrad, shape, "inputs")
        )


class Corr3dMM_gradWeights(Correlation, ConvGradWeights):
    """The gradient of a correlation by its filters. Inputs: volumes, gradient, their lengths."""

    axes = 3

    def make_node(self, img: Any, topgrad: Any, shape: Any = None) -> Apply:
        return super().make_node(
            img, topgrad, spatial_lengths(self, img, topgrad, shape, "weights")
        )
