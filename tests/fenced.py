"""Copies of arrays between pages that cannot be read: who reads beyond their ends dies of it.

Memory beyond an array mostly can be read, and what is there is often not used. So compiled code
that does is found by nothing but such a fence: the idea of Bruce Perens's Electric Fence (1987).
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, Final

import numpy as np

_NO_ACCESS: Final = 0  # PROT_NONE
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def fenced(array: Any, *, front: bool = False) -> Any:
    """A copy that ends where readable memory ends, or with `front` begins where it begins.

    What is no C-contiguous array of its own comes back as it is.

    >>> fenced(np.arange(3)).tolist()
    [0, 1, 2]
    """
    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous or array.dtype.hasobject:
        return array
    page = mmap.PAGESIZE
    inside = -(-max(array.nbytes, 1) // page) * page
    memory = mmap.mmap(-1, inside + 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for fence in (start, start + page + inside):
        if _LIBC.mprotect(ctypes.c_void_p(fence), ctypes.c_size_t(page), _NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect")
    offset = page if front else page + inside - array.nbytes
    copy = np.frombuffer(memory, array.dtype, array.size, offset).reshape(array.shape)
    copy[...] = array
    copy.flags.writeable = array.flags.writeable
    return copy
