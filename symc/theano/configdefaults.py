"""`theano.configdefaults`: what settings are before anybody changes them."""

from __future__ import annotations

from symc.theano.configparser import DEFAULTS as DEFAULTS
from symc.theano.configparser import config as config

python_all = all


def local_bitwidth() -> int:
    """The number of bits of a pointer."""
    import struct

    return struct.calcsize("P") * 8


def python_int_bitwidth() -> int:
    """The number of bits of C's long."""
    import struct

    return struct.calcsize("l") * 8
