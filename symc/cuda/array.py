"""Arrays in the memory of a device, and how host arrays and other libraries' become such."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from symc.codegen.targets._abi import ffi
from symc.cuda.devices import Device, device
from symc.cuda.memory import Memory
from symc.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Sequence

Array: TypeAlias = npt.NDArray[Any]


class DeviceArray:
    """An array on a device: C-contiguous, of one of NumPy's dtypes.

    It computes nothing by itself. `to_numpy`, ``numpy.asarray`` and Python's ``float`` copy it to
    the host and wait for its computation. Other libraries use its memory without a copy:
    ``torch.from_dlpack(a)``, ``cupy.asarray(a)``, ``jax.dlpack.from_dlpack(a)``.

    >>> import symc
    >>> a = symc.cuda.asarray([1.0, 2.0], device="cuda:sim")
    >>> a.shape, a.dtype, a.to_numpy()
    ((2,), dtype('float64'), array([1., 2.]))
    """

    __slots__ = ("__weakref__", "device", "dtype", "memory", "ptr", "shape")

    def __init__(self, memory: Memory, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """An array at the start of some memory; `asarray` and `empty` make arrays."""
        self.memory = memory
        self.ptr = memory.address
        self.device = memory.device
        self.shape = shape
        self.dtype = dtype

    @property
    def size(self) -> int:
        """The number of elements.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.size
        2
        """
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.ndim
        2
        """
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.itemsize
        8
        """
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.nbytes
        16
        """
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.strides
        (16, 8)
        """
        return strides(self.shape, self.dtype.itemsize)

    @property
    def stream(self) -> int:
        """The stream that the values are computed on.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.stream == a.device.stream
        True
        """
        return self.memory.written

    def to_numpy(self) -> Array:
        """A copy on the host, after waiting for the values.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.to_numpy()
        array([[1., 2.]])
        """
        array: Array = np.empty(self.shape, self.dtype)
        if self.size:
            driver, stream = self.device.driver, self.memory.written
            with self.device:
                driver.download(ffi.from_buffer(array), self.ptr, self.nbytes, stream)
                driver.stream_synchronize(stream)
        return array

    def item(self) -> Any:
        """The value of an array with one element, as a Python number.

        >>> import symc
        >>> symc.cuda.asarray([2.5], device="cuda:sim").item()
        2.5
        """
        return self.to_numpy().item()

    def copy(self) -> DeviceArray:
        """Another array with the same values.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> b = a.copy()
        >>> b.ptr == a.ptr, b.to_numpy()
        (False, array([[1., 2.]]))
        """
        made = empty(self.shape, self.dtype, self.device)
        made.assign(self)
        return made

    def assign(self, values: DeviceArray | Array) -> None:
        """Overwrite the values by those of an array of the same shape and dtype, on device or host.

        The array may be changed as soon as this returns.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.assign(a.to_numpy() + 1)
        >>> a.to_numpy()
        array([[2., 3.]])
        """
        if (values.shape, values.dtype) != (self.shape, self.dtype):
            raise ValueError(f"{self!r} cannot hold {values.dtype}{list(values.shape)}")
        if not self.size:
            return
        driver, stream = self.device.driver, self.device.current.handle
        self.memory.write_on(stream)
        with self.device:
            if isinstance(values, DeviceArray):
                if values.device is not self.device:
                    raise elsewhere("the values", values.device, self.device)
                values.memory.read_on(stream)
                driver.copy(self.ptr, values.ptr, self.nbytes, stream)
            else:
                host = ffi.from_buffer(for_device(values))
                driver.upload(self.ptr, host, self.nbytes, stream)
                if driver.is_registered(host):  # the driver reads other memory before it returns
                    driver.stream_synchronize(stream)

    def reshape(self, *shape: int | Sequence[int]) -> DeviceArray:
        """The same memory with other axes; one length may be -1.

        >>> import symc
        >>> a = symc.cuda.asarray([[1.0, 2.0]], device="cuda:sim")
        >>> a.reshape((2, -1)).shape
        (2, 1)
        """
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        lengths = [int(cast("int", length)) for length in shape]
        if lengths.count(-1) == 1:
            rest = -math.prod(lengths)
            lengths[lengths.index(-1)] = self.size // rest if rest else 0
        if math.prod(lengths) != self.size or min(lengths, default=0) < 0:
            raise ValueError(f"cannot reshape {self.size} elements, {self.shape}, to {shape}")
        return DeviceArray(self.memory, tuple(lengths), self.dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self.dtype}{list(self.shape)} on {self.device.name}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an array on a device cannot be used by NumPy without a copy")
        array = self.to_numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.to_numpy())

    def __format__(self, how: str) -> str:
        return format(self.item(), how) if how and self.size == 1 else format(repr(self), how)

    # --- other libraries --------------------------------------------------------------------------

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array as the CUDA Array Interface, version 3, describes it."""
        if self.device.is_simulator or not self.device.is_cuda:
            raise AttributeError(f"{self!r} is not in the memory of a CUDA device")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.ptr, False),
            "strides": None,
            "version": 3,
            "stream": self.memory.written or 1,  # 1 is the default stream there, 0 not allowed
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device as DLPack names it."""
        from symc.cuda.dlpack import device_of

        return device_of(self.device)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the array, whose values are ready for later work on `stream`.

        Raises BufferError for a device that the memory is not on, except for the CPU: it gets a
        copy, unless ``copy=False``.
        """
        from symc.cuda.dlpack import export

        return export(self, stream, max_version, dl_device, copy)


def elsewhere(what: str, where: Device | str, wanted: Device) -> DeviceError:
    """The error for an array that is on another device than is needed."""
    name = where if isinstance(where, str) else where.name
    return DeviceError(
        0,
        f"{what} is on {name}, and {wanted.name} was asked for\n"
        "  copy it there, or through the host (symc: .to_numpy())",
    )


def for_device(values: Array) -> Array:
    """The values as one piece of memory to be copied to a device, bools as bytes of 0 and 1.

    NumPy takes any byte but 0 for true. Kernels on devices compare bytes, and add them up.
    """
    piece = np.ascontiguousarray(values)
    return piece.view(np.uint8) != 0 if piece.dtype == np.bool_ else piece


def strides(shape: Sequence[int], step: int) -> tuple[int, ...]:
    """The strides of a contiguous array, in units of which an element has `step`."""
    found: list[int] = []
    for length in reversed(shape):
        found.append(step)
        step *= max(length, 1)
    return tuple(reversed(found))


def empty(shape: Sequence[int], dtype: Any, where: str | Device = "cuda") -> DeviceArray:
    """An array of this shape and dtype on a device, whose values are whatever is in its memory.

    >>> import symc
    >>> symc.cuda.empty((2, 3), "float32", "cuda:sim")
    <float32[2, 3] on cuda:sim>
    """
    kind = np.dtype(dtype)
    lengths = tuple(int(length) for length in shape)
    memory = device(where).allocate(math.prod(lengths) * kind.itemsize)
    return DeviceArray(memory, lengths, kind)


def asarray(
    value: Any, dtype: Any = None, *, device: str | Device | None = None, copy: bool | None = None
) -> DeviceArray:
    """The value as an array on a device.

    A `DeviceArray`, and an array of CuPy, PyTorch, JAX or another library with
    ``__cuda_array_interface__`` or ``__dlpack__``, is used without a copy where it is on that
    device, contiguous and of the dtype asked for (``copy=True`` makes one, ``copy=False`` raises
    ValueError if one would be needed). All else goes through NumPy and is uploaded.
    `device` is that of the array, or ``"cuda"``.

    Raises `DeviceError` for an array that is on another device or not contiguous.

    >>> import symc
    >>> symc.cuda.asarray([[1, 2], [3, 4]], "float32", device="cuda:sim")
    <float32[2, 2] on cuda:sim>
    """
    from symc.cuda import interop

    return interop.asarray(value, dtype, device, copy)
