"""Discrete Fourier transforms: `T.fft`, with NumPy's names and meaning."""

from symc.graph.public import publish as _publish
from symc.tensor.fft.functions import *
from symc.tensor.fft.helpers import *

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_publish(globals(), __name__, __all__)


def __getattr__(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("fft", __name__, name, __dir__)


def __dir__() -> list[str]:
    return [*__all__]
