"""Discrete Fourier transforms: `T.fft`, with NumPy's names and meaning."""

from symc.tensor.fft.functions import *
from symc.tensor.fft.helpers import *

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
