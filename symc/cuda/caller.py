"""The call path of CUDA functions: from Python arguments to the host program in C and back.

`CudaCaller` takes a `CallSpec`, as every caller, and besides

- ``device``, and ``functions``: the kernels' handles (`Module.functions`);
- ``on_device``: for each output that is handed back whether it stays on the device, as a
  `DeviceArray`, or comes back as a NumPy array;
- ``in_place``: for each shared variable whether the function writes into its memory;
- ``steps``: the name of each step of the program in errors;
- ``graphs``: whether calls may be recorded and launched as CUDA graphs: only for programs that
  neither wait for the device nor read host memory while they run;
- ``steady``: whether all lengths follow from those of the arguments, and not from values on the
  device: then a call with the lengths of the one before need not be prepared again;
- ``tf32``: whether float32 products by cuBLAS may round their factors;
- ``host``: as there; the addresses that it is given are the device's.

Arguments may be host arrays, which are uploaded, or arrays on the device, which are used without a
copy. The cell of a shared variable holds a `DeviceArray`; or a NumPy array, which is uploaded for
each call and downloaded after those that write to it.

A call returns when its work is queued on the stream of the thread (`symc.cuda.stream`), and waits
for it only to hand back NumPy arrays. The arrays given may be changed as soon as it returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from symc.calls.call import Array
from symc.calls.python_call import dtype_of, fits, host_callback, is_number
from symc.calls.spec import CallSpec
from symc.codegen.status import Status
from symc.codegen.targets._abi import ffi
from symc.codegen.targets.cuda.driver import OUT_OF_MEMORY
from symc.config import config
from symc.cuda import interop
from symc.cuda.array import DeviceArray, elsewhere, for_device
from symc.cuda.devices import Device
from symc.cuda.frames import Frame
from symc.cuda.graphs import Graphs
from symc.cuda.memory import Memory, rounded
from symc.errors import DeviceError

Cell = list[Any]  # of one DeviceArray or NumPy array


class TooLong(Exception):
    """The arrays of a call need 64-bit indexes, which the program lacks. Nothing was done."""


class CudaCaller:
    """A compiled CUDA function that can be called; the module describes the arguments."""

    def __init__(
        self,
        spec: CallSpec,
        *,
        device: Device,
        functions: Sequence[int],
        on_device: bool | Sequence[bool] = False,
        in_place: Sequence[bool] = (),
        steps: Sequence[str] = (),
        graphs: bool = False,
        tf32: bool = False,
        steady: bool = False,
        host: Callable[[int, int, int], None] | None = None,
        keep: object = None,
    ) -> None:
        """See the module."""
        self._device = device
        self._prepare = ffi.cast("int64_t(*)(symc_device_call *)", spec.prepare)
        self._run = ffi.cast("int64_t(*)(symc_device_call *)", spec.run)
        self._counts = spec.counts
        self._functions = ffi.new("void *[]", [ffi.cast("void *", f) for f in functions] or 1)
        self._inputs = [(dtype_of(number), ndim, lengths) for number, ndim, lengths in spec.inputs]
        writes = [*in_place, *[False] * len(spec.shared)]
        self._shared = [
            (cell, cell[0].dtype, cell[0].ndim, written)
            for cell, written in zip(spec.shared, writes, strict=False)
        ]
        self._constants = [interop.upload(array, device) for array in spec.constants]
        self._outputs = [(dtype_of(number), ndim) for number, ndim, _ in spec.outputs]
        self._convert = spec.convert
        self._failed = spec.failed
        self._rebind = spec.rebind
        self._count, self._form = spec.returns
        stay = [on_device] * self._count if isinstance(on_device, bool) else list(on_device)
        # Outputs to be downloaded: those handed back so, and new values of variables on the host.
        self._downloads = [number for number in range(self._count) if not stay[number]]
        self._downloads += [output for output, cell in spec.rebind if _is_host(cell[0])]
        self._steps = steps
        self._graphs = Graphs(device, self._run) if graphs else None
        self._tf32 = tf32
        self._steady = steady and all(ndim or dtype.kind == "c" for dtype, ndim, _ in self._inputs)
        self._keep = keep
        self._frames: dict[int, list[Frame]] = {}  # those not in use, by stream
        self._allocate = ffi.callback(
            "void *(void *, int64_t)", self._measured, error=ffi.NULL, onerror=_ignore
        )
        self._back = host_callback(host) if host is not None else ffi.NULL
        self._check()

    def _check(self) -> None:
        """The compiled function and the description must agree."""
        given = [ndim for _, ndim, _ in self._inputs] + [ndim for _, _, ndim, _ in self._shared]
        arrays = len(given) + len(self._constants) + len(self._outputs)
        shapes = sum(ndim for _, ndim in self._outputs)
        if self._counts[:3] != (arrays, sum(given), shapes):
            raise ValueError("the compiled function has other arrays")

    @property
    def replayed(self) -> int:
        """How many calls were launches of a graph."""
        return 0 if self._graphs is None else self._graphs.replayed

    def __call__(self, *args: Any) -> Any:
        """Run the compiled function."""
        if len(args) != len(self._inputs):
            raise TypeError(f"expected {len(self._inputs)} positional arguments, got {len(args)}")
        if self._device.lost:
            raise DeviceError(0, f"{self._device.name}: {self._device.lost}")
        stream = self._device.current.handle
        frames = self._frames.get(stream)
        if frames is None:
            frames = self._frames.setdefault(stream, [])
        try:
            frame = frames.pop()  # atomic: threads never share a frame
        except IndexError:
            frame = self._new_frame(stream)
        try:
            return self._call(frame, args)
        finally:
            frame.clear()
            if len(frames) < 2:
                frames.append(frame)

    def _new_frame(self, stream: int) -> Frame:
        frame = Frame(self._counts, len(self._inputs), self._device, self._functions, stream)
        frame.call.allocate = self._allocate
        frame.call.host = self._back
        frame.call.tf32 = self._tf32
        start = len(self._inputs) + len(self._shared)
        for number, array in enumerate(self._constants, start):
            array.memory.read_on(stream)
            frame.data[number] = array.ptr
        return frame

    def _call(self, frame: Frame, args: tuple[Any, ...]) -> Any:
        arrays = self._read(frame, args)
        call = frame.call
        if not frame.is_prepared:
            code = self._prepare(call)
            if code:
                self._raise(frame, code, arrays)
            self._plan_outputs(frame)
        outputs = self._new_outputs(frame)
        if call.workspace_bytes > frame.workspace_bytes:
            frame.grow(call.workspace_bytes)
        graphs = self._graphs
        if graphs is not None and graphs.enabled and config.cuda_graphs:
            code = graphs.run(call, frame.state(), frame.stream)
        else:
            code = self._run(call)
        if code:
            self._raise(frame, code, arrays)
        if None in outputs:
            raise RuntimeError("an output was never measured")
        if self._downloads or frame.written:
            self._download(frame, outputs)
        for output, cell in self._rebind:
            cell[0] = outputs[output]
        if self._form == "one":
            return outputs[0]
        return outputs[: self._count] if self._form == "list" else None

    # --- arguments --------------------------------------------------------------------------------

    def _read(self, frame: Frame, args: tuple[Any, ...]) -> list[Any]:
        """Pointers and lengths of everything that goes in. Returns arguments and shared arrays."""
        arrays = list(args)
        device, stream, data = self._device, frame.stream, frame.data
        lengths: list[int] = []
        for index, (dtype, ndim, fixed) in enumerate(self._inputs):
            array = args[index]
            if ndim == 0 and dtype.kind != "c":  # `ir.Buffer.is_by_value`
                arrays[index] = self._scalar(frame, index, array)
                continue
            if (
                type(array) is not DeviceArray
                or array.dtype is not dtype
                or len(array.shape) != ndim
                or fixed is not None
                or array.device is not device
            ):
                array = arrays[index] = self._on_device(frame, index, array)
            if array.memory.written != stream:
                array.memory.read_on(stream)
            data[index] = array.ptr
            lengths += array.shape
        for number, (cell, dtype, ndim, writes) in enumerate(self._shared, len(args)):
            array = cell[0]
            arrays.append(array)
            if array.dtype != dtype or array.ndim != ndim:
                raise TypeError(f"shared variable {number - len(args)} holds another kind of array")
            if _is_host(array):
                array = self._uploaded(frame, array)
                if writes:
                    frame.written.append((cell[0], array))
            elif array.device is not device:
                raise elsewhere("a shared variable", array.device, device)
            if writes:
                array.memory.write_on(stream)
            elif array.memory.written != stream:
                array.memory.read_on(stream)
            data[number] = array.ptr
            lengths += array.shape
        if lengths != frame.given:
            frame.given = lengths
            frame.lengths[0 : len(lengths)] = lengths
            frame.is_prepared = False
        return arrays

    def _scalar(self, frame: Frame, index: int, value: Any) -> Any:
        """Put the value of an input without axes where the host program reads it."""
        dtype = self._inputs[index][0]
        if type(value) is not np.ndarray or value.dtype != dtype or value.ndim:
            if is_number(value, dtype):
                frame.put(index, value, dtype)
                return value
            value = self._converted(index, value)
        frame.put_array(index, for_device(value) if dtype == np.bool_ else value)
        return value

    def _on_device(self, frame: Frame, index: int, value: Any) -> DeviceArray:
        """An argument as an array on the device that the function can use."""
        dtype, ndim, fixed = self._inputs[index]
        if type(value) is not np.ndarray:
            found = interop.on_device(value, self._device, f"argument {index}")
            if found is not None and found.dtype == dtype and _has_lengths(found, ndim, fixed):
                frame.keep.append(found)
                return found
        if type(value) is not np.ndarray or not fits(value, dtype, ndim, fixed):
            value = self._converted(index, value)
        return self._uploaded(frame, value)

    def _uploaded(self, frame: Frame, array: Array) -> DeviceArray:
        memory = self._device.allocate(array.nbytes, frame.stream)
        made = DeviceArray(memory, array.shape, array.dtype)
        made.assign(array)
        frame.keep.append(made)
        return made

    def _converted(self, index: int, value: Any) -> Array:
        dtype, ndim, fixed = self._inputs[index]
        found = interop.on_device(value, self._device, f"argument {index}")
        array = self._convert(index, value if found is None else found.to_numpy())
        if not isinstance(array, np.ndarray) or not fits(array, dtype, ndim, fixed):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"argument {index} was not converted to the right array")
        return array

    # --- results ----------------------------------------------------------------------------------

    def _plan_outputs(self, frame: Frame) -> None:
        """The types and shapes of a prepared call's outputs."""
        lengths: list[int] = ffi.unpack(frame.shapes, count) if (count := self._counts[2]) else []
        if lengths != frame.planned:
            frame.plan, frame.planned = self._plan(lengths, frame.stream), lengths
        frame.is_prepared = self._steady and -1 not in lengths

    def _new_outputs(self, frame: Frame) -> list[Any]:
        """Arrays for the outputs; None for those that are measured while the function runs."""
        device, stream, data = self._device, frame.stream, frame.data
        take = device.pool.take
        outputs = frame.outputs = []
        position = self._counts[0] - len(self._outputs)
        for shape, dtype, size, blocks in frame.plan:
            if shape is None:
                outputs.append(None)
                data[position] = 0
            else:
                memory = take(size, stream, blocks) if size else Memory(device, 0, 0, stream)
                outputs.append(DeviceArray(memory, shape, dtype))
                data[position] = memory.address
            position += 1
        return outputs

    def _plan(self, lengths: list[int], stream: int) -> list[Any]:
        """For each output its shape, dtype, size in memory, and blocks of that size."""
        plan: list[Any] = []
        place = 0
        for dtype, ndim in self._outputs:
            shape = tuple(lengths[place : place + ndim])
            place += ndim
            if -1 in shape:
                plan.append((None, dtype, 0, None))
            else:
                size = rounded(math.prod(shape) * dtype.itemsize)
                plan.append((shape, dtype, size, self._device.pool.blocks(size, stream)))
        return plan

    def _measured(self, context: Any, output: int) -> Any:
        """`symc_call.allocate`: an output whose lengths were measured while the function ran."""
        frame: Frame = ffi.from_handle(context)
        place = sum(ndim for _, ndim in self._outputs[:output])
        dtype, ndim = self._outputs[output]
        shape = tuple(frame.shapes[place + axis] for axis in range(ndim))
        # An array of no elements has an address too: 0 would say that there is no memory.
        size = max(math.prod(shape) * dtype.itemsize, 1)
        try:
            memory = self._device.allocate(size, frame.stream)
        except (MemoryError, DeviceError) as error:
            frame.error = error
            return ffi.NULL
        frame.outputs[output] = DeviceArray(memory, shape, dtype)
        return ffi.cast("void *", memory.address)

    def _download(self, frame: Frame, outputs: list[Any]) -> None:
        """Make NumPy arrays of the outputs that are handed back so; update arrays on the host."""
        driver, stream = self._device.driver, frame.stream
        with self._device:
            for number in self._downloads:
                found: DeviceArray = outputs[number]
                array: Array = np.empty(found.shape, found.dtype)
                if found.size:
                    driver.download(ffi.from_buffer(array), found.ptr, found.nbytes, stream)
                frame.keep.append(found)
                outputs[number] = array
            for array, found in frame.written:
                if found.size:
                    driver.download(ffi.from_buffer(array), found.ptr, found.nbytes, stream)
            driver.stream_synchronize(stream)

    # --- errors -----------------------------------------------------------------------------------

    def _raise(self, frame: Frame, code: int, arrays: list[Any]) -> NoReturn:
        step, frame.call.step = frame.call.step, -1
        if frame.error is not None:
            raise frame.error
        if code > 0:
            values = [a.to_numpy() if isinstance(a, DeviceArray) else a for a in arrays]
            self._failed(code, tuple(values))
            raise RuntimeError(f"the compiled function failed with status {code}")
        if code == Status.TOO_LONG:
            raise TooLong
        if code == Status.STOPPED or code == Status.DRIVER - OUT_OF_MEMORY:
            self._device.empty_cache()
            raise MemoryError(f"the function needs more memory than {self._device.name} has")
        where = f"\n  step   {self._steps[step]}" if 0 <= step < len(self._steps) else ""
        if code <= Status.BLAS:
            what = f"cuBLAS failed with status {Status.BLAS - code}"
            raise DeviceError(0, f"{self._device.name}: {what}{where}")
        raise self._device.driver.error(Status.DRIVER - code, f"running the function{where}")


def _has_lengths(array: DeviceArray, ndim: int, fixed: tuple[int, ...] | None) -> bool:
    """Whether the compiled function can use an array of this shape."""
    if array.ndim != ndim:
        return False
    return fixed is None or all(
        want in (-1, have) for want, have in zip(fixed, array.shape, strict=True)
    )


def _is_host(array: Any) -> bool:
    return type(array) is np.ndarray


def _ignore(*error: object) -> None:
    """Silences cffi, which prints a callback's exception; `_measured` has kept it."""
