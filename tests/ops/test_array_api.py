"""`T` has every name of the Python array API standard, 2024.12 with its two extensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symc.tensor as T
from symc import config

NAMES = {
    "T": """
        __array_api_version__ __array_namespace_info__ e inf nan newaxis pi
        arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones
        ones_like tril triu zeros zeros_like
        astype can_cast finfo iinfo isdtype result_type
        bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
        abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift
        bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh
        divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf
        isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or
        logical_xor maximum minimum multiply negative nextafter not_equal positive pow real
        reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc
        take take_along_axis matmul matrix_transpose tensordot vecdot
        broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape
        roll squeeze stack tile unstack
        argmax argmin count_nonzero nonzero searchsorted where
        unique_all unique_counts unique_inverse unique_values argsort sort
        cumulative_prod cumulative_sum max mean min prod std sum var all any diff linalg fft
    """,
    "T.linalg": """
        cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
        matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
    """,
    "T.fft": """
        fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift
    """,
    "a tensor": """
        __abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__
        __dlpack_device__ __eq__ __float__ __floordiv__ __ge__ __getitem__ __gt__ __int__
        __invert__ __le__ __lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__
        __pos__ __pow__ __rshift__ __setitem__ __sub__ __truediv__ __xor__
        to_device dtype device mT ndim shape size T
    """,
}
"""All but a tensor's ``__index__``: whatever has one would be taken for a number known now."""


@pytest.mark.parametrize("where", NAMES)
def test_every_name_is_there(where: str) -> None:
    places = {"T": T, "T.linalg": T.linalg, "T.fft": T.fft, "a tensor": T.matrix("x")}
    assert [name for name in NAMES[where].split() if not hasattr(places[where], name)] == []


def standardised(x: Any) -> Any:
    """A function written for any library of the standard."""
    xp = x.__array_namespace__()
    centred = x - xp.mean(x, axis=0, keepdims=True)
    scaled = xp.astype(centred, xp.float32) / xp.sqrt(xp.asarray(2.0, dtype=xp.float32))
    return xp.matmul(xp.permute_dims(scaled, (1, 0)), scaled)


def test_a_function_for_any_library() -> None:
    values = np.arange(6.0).reshape(3, 2) ** 2
    x = T.matrix("x")
    got = standardised(x).eval({x: values})
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, standardised(values), rtol=1e-6)


def test_dtypes_are_those_of_tensors() -> None:
    x = T.zeros(3, dtype=T.int8)
    assert x.dtype == T.int8
    assert T.isdtype(x.dtype, "signed integer")
    info = T.__array_namespace_info__()
    assert info.dtypes(kind=("bool", "complex floating")) == {
        "bool": T.bool, "complex64": T.complex64, "complex128": T.complex128
    }  # fmt: skip
    assert len(info.dtypes()) == 13
    with config.set(floatX="float32"):
        assert info.default_dtypes()["complex floating"] == T.complex64
    with pytest.raises(ValueError, match="kind is one of bool, signed integer"):
        info.dtypes(kind="float")


def test_arrays_of_other_libraries_and_devices() -> None:
    x = T.from_dlpack(np.arange(3.0), device="cpu")
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="device is 'cpu'"):
        x.to_device("cuda")
    with pytest.raises(ValueError, match="device is 'cpu'"):
        T.from_dlpack(np.ones(2), device="tpu")
    with pytest.raises(ValueError, match="the version of the array API"):
        x.__array_namespace__(api_version="1999.01")


@pytest.mark.parametrize("convert", [int, float, complex, bool, np.from_dlpack])
def test_a_tensor_has_no_values_to_convert(convert: Any) -> None:
    with pytest.raises(TypeError, match=r"symbolic|no truth value"):
        convert(T.scalar("x", dtype="int64"))
