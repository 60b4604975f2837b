"""`theano.sandbox.cuda`: Theano's first library for cards, which programs ask whether it is there.

It never is: ``device=cuda`` means symc's.
"""

from __future__ import annotations

from typing import Any

cuda_available = False
cuda_enabled = False


def use(*_: Any, **__: Any) -> None:
    """Raises: symc's device is chosen by THEANO_FLAGS=device=cuda."""
    raise NotImplementedError(
        "theano.sandbox.cuda is gone since Theano 0.10; THEANO_FLAGS=device=cuda chooses symc's"
    )


__all__ = ["cuda_available", "cuda_enabled", "use"]
