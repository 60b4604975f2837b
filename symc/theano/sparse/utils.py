"""`theano.sparse.utils`: names of sparse matrices, made from their values."""

from __future__ import annotations

from typing import Any

from symc.theano.gof.utils import hash_from_code


def hash_from_sparse(data: Any) -> str:
    """A name made from the elements, places, lengths, dtype and format of a matrix."""
    parts = (data.data, data.indices, data.indptr)
    texts = (str(data.shape), str(data.dtype), data.format)
    names = [hash_from_code(each.tobytes()) for each in parts] + [hash_from_code(t) for t in texts]
    return hash_from_code("".join(names))
