"""`theano.tensor.nnet.corr`: convolutions of images, whose filters are not flipped."""

from __future__ import annotations

from typing import Any

from symc.theano.gof.graph import Apply
from symc.theano.tensor.convert import as_tensor_variable
from symc.theano.tensor.nnet.abstract_conv import AbstractConv, ConvGradInputs, ConvGradWeights

__all__ = ["CorrMM", "CorrMM_gradInputs", "CorrMM_gradWeights"]


class Correlation:
    """Parameters of correlations: those of convolutions, in another order."""

    axes = 2

    def __init__(
        self, border_mode: Any = "valid", subsample: Any = None, filter_dilation: Any = None,
        num_groups: int = 1, unshared: bool = False,
    ) -> None:  # fmt: skip
        op: Any = super()
        op.__init__(
            self.axes, border_mode, subsample, False, filter_dilation, num_groups,
            unshared=unshared,
        )  # fmt: skip


def spatial_lengths(op: Any, first: Any, second: Any, shape: Any, by: str) -> Any:
    """The lengths that are sought: given, or those that steps of 1 leave no choice for."""
    from symc.theano.tensor.nnet.conv_shapes import (
        get_conv_gradinputs_shape,
        get_conv_gradweights_shape,
    )

    if shape is not None:
        return shape
    given = [as_tensor_variable(each) for each in (first, second)]
    lengths = [[each.shape[k] for k in range(each.ndim)] for each in given]
    tell = get_conv_gradinputs_shape if by == "inputs" else get_conv_gradweights_shape
    borders, steps, dilation = op.border_mode, op.subsample, op.filter_dilation
    found = tell(lengths[0], lengths[1], borders, steps, dilation)[-op.axes :]
    if any(each is None for each in found):
        raise ValueError(f"{op}: shape must be given where subsample is not 1, or borders are half")
    return found


class CorrMM(Correlation, AbstractConv):
    """A correlation."""


class CorrMM_gradInputs(Correlation, ConvGradInputs):
    """The gradient of a correlation by its images. Inputs: filters, gradient, their lengths."""

    def make_node(  # type: ignore[override]
        self, kern: Any, topgrad: Any, shape: Any = None
    ) -> Apply:
        return super().make_node(
            kern, topgrad, spatial_lengths(self, kern, topgrad, shape, "inputs")
        )


class CorrMM_gradWeights(Correlation, ConvGradWeights):
    """The gradient of a correlation by its filters. Inputs: images, gradient, their lengths."""

    def make_node(self, img: Any, topgrad: Any, shape: Any = None) -> Apply:
        return super().make_node(
            img, topgrad, spatial_lengths(self, img, topgrad, shape, "weights")
        )
