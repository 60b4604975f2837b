"""The call path in Python, through cffi: what `_call.c` is where there is no extension.

`call.py` describes the arguments.
"""

from __future__ import annotations

import os
from _thread import get_ident
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from symc.codegen.targets._abi import ffi
from symc.config import follow_threads
from symc.graph.bfloat16 import numpy_bfloat16

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symc.calls.call import Array, Locks
    from symc.calls.spec import CallSpec

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_memory: Any = ffi.from_buffer
_forked = False
_threads = [1]
_calling: list[int] = []  # the thread of each call that has locks


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)


class _Frame:
    """The memory of one call: made once, then used by one call at a time."""

    __slots__ = (
        "arrays", "call", "data", "error", "floats", "handle", "integers", "keep", "lengths",
        "places", "shapes", "sizes", "workspace", "workspace_bytes",
    )  # fmt: skip

    def __init__(self, counts: Sequence[int], allocate: Any, host: Any) -> None:
        arrays, lengths, shapes, room = counts
        self.call = ffi.new("symc_call *")
        self.data = ffi.new("void *[]", arrays + 1)
        self.lengths = ffi.new("int64_t[]", lengths + 1)
        self.shapes = ffi.new("int64_t[]", shapes + 1)
        self.sizes = ffi.new("int64_t[]", room + 1)
        self.floats = ffi.new("double[]", arrays + 1)
        self.integers = ffi.cast("int64_t *", self.floats)
        self.places = [ffi.cast("void *", self.floats + number) for number in range(arrays)]
        self.handle = ffi.new_handle(self)
        self.call.data = self.data
        self.call.lengths = self.lengths
        self.call.shapes = self.shapes
        self.call.sizes = self.sizes
        self.call.allocate = allocate
        self.call.host = host
        self.call.context = self.handle
        self.workspace: Any = None
        self.workspace_bytes = 0
        self.arrays: list[Array | None] = []  # outputs of this call
        self.keep: list[Any] = []  # memory that this call's pointers point to
        self.error: BaseException | None = None

    def put(self, index: int, number: Any, dtype: Any) -> Any:
        """The address of a Python number that is the value of a 0-d input."""
        if dtype is _FLOAT64:
            self.floats[index] = number
        else:
            self.integers[index] = number
        return self.places[index]

    def grow(self, size: int) -> None:
        """Make room for a workspace of this many bytes, on a cache line."""
        self.workspace = None  # the old one is free before the new one is taken
        try:
            memory = np.empty(size + 64, np.uint8)
        except (ValueError, MemoryError):
            self.workspace_bytes = 0
            raise MemoryError(f"a workspace of {size} bytes") from None
        address = int(memory.ctypes.data)
        self.workspace = memory
        self.workspace_bytes = size
        self.call.workspace = ffi.cast("char *", (address + 63) // 64 * 64)


class PythonCaller:
    """A compiled function that can be called; the module describes the arguments."""

    def __init__(
        self,
        spec: CallSpec,
        *,
        threads: int = 0,
        tiny: bool = False,
        pure: bool = False,
        team: bool = False,
        locks: Locks = (),
        host: Callable[[int, int, int], None] | None = None,
        keep: object = None,
    ) -> None:
        """See the module."""
        del tiny, team  # cffi always releases the GIL; the threads belong to the extension
        self._prepare = ffi.cast("int64_t(*)(symc_call *)", spec.prepare)
        self._run = ffi.cast("int64_t(*)(symc_call *)", spec.run)
        self._pure = pure
        self._counts = spec.counts
        self._inputs = [(dtype_of(number), ndim, lengths) for number, ndim, lengths in spec.inputs]
        self._shared = spec.shared
        self._shared_types = [(cell[0].dtype, cell[0].ndim) for cell in spec.shared]
        self._constants = spec.constants
        self._outputs = [(dtype_of(number), ndim) for number, ndim, _ in spec.outputs]
        self._given = [argument for _, _, argument in spec.outputs]
        self._convert = spec.convert
        self._failed = spec.failed
        self._rebind = spec.rebind
        self._count, self._form = spec.returns
        self._keep = keep
        self._locks = locks
        self.threads = threads
        self._free: list[_Frame] = []
        self._allocate = ffi.callback(
            "void *(void *, int64_t)", self._measured, error=ffi.NULL, onerror=_ignore
        )
        self._ask = _ASK
        self._back = host_callback(host) if host is not None else ffi.NULL
        self._check()

    def _check(self) -> None:
        """The compiled function and the description must agree."""
        given = [ndim for _, ndim, _ in self._inputs] + [ndim for _, ndim in self._shared_types]
        arrays = len(given) + len(self._constants) + len(self._outputs)
        shapes = sum(ndim for _, ndim in self._outputs)
        if self._counts[:3] != (arrays, sum(given), shapes):
            raise ValueError("the compiled function has other arrays")
        for _, ndim, lengths in self._inputs:
            if lengths is not None and len(lengths) != ndim:
                raise ValueError("fixed lengths: one for each axis")
        kinds = [(dtype, ndim) for dtype, ndim, _ in self._inputs]
        for output, argument in zip(self._outputs, self._given, strict=True):
            if argument >= 0 and output not in kinds[argument : argument + 1]:
                raise ValueError("an output gets the memory of another kind of array")
        if not 0 <= self._count <= len(self._outputs) or (self._form == "one") > self._count:
            raise ValueError("returns: more outputs than there are")
        if self._form not in ("one", "list", "none"):
            raise ValueError("returns: (count, 'one', 'list' or 'none')")

    def __call__(self, *args: Any) -> Any:
        """Run the compiled function."""
        if len(args) != len(self._inputs):
            raise TypeError(f"expected {len(self._inputs)} positional arguments, got {len(args)}")
        if self._locks:
            return python_holding(self._locks, self._framed, args)
        return self._framed(args)

    def _framed(self, args: tuple[Any, ...]) -> Any:
        """The call, with memory of its own."""
        try:
            frame = self._free.pop()  # atomic: threads never share a frame
        except IndexError:
            frame = _Frame(self._counts, self._allocate, self._back)
        try:
            return self._call(frame, args)
        finally:
            frame.keep.clear()
            frame.arrays = []
            frame.error = None
            if len(self._free) < 2:
                self._free.append(frame)

    def _call(self, frame: _Frame, args: tuple[Any, ...]) -> Any:
        call = frame.call
        arrays = self._read(frame, args)
        call.threads = 1 if _forked else self.threads or _threads[0]
        call.ask = self._ask
        call.stopped = 0
        code = self._prepare(call)
        if code:
            self._raise(frame, code, arrays)
        outputs = self._new_outputs(frame, arrays, args)
        size = call.workspace_bytes
        if size > frame.workspace_bytes:
            frame.grow(size)
        nothing = self._pure and all(made is not None and not made.size for made in outputs)
        code = 0 if nothing else self._run(call)
        if code:
            self._raise(frame, code, arrays)
        if any(output is None for output in outputs):
            raise RuntimeError("an output was never measured")
        for output, cell in self._rebind:
            cell[0] = outputs[output]
        if self._form == "one":
            return outputs[0]
        return outputs[: self._count] if self._form == "list" else None

    def _read(self, frame: _Frame, args: tuple[Any, ...]) -> list[Any]:
        """Pointers and lengths of everything that goes in. Returns arguments and shared arrays."""
        arrays = list(args)
        data, keep = frame.data, frame.keep
        lengths: list[int] = []
        for index, (dtype, ndim, fixed) in enumerate(self._inputs):
            array: Any = args[index]
            if type(array) is not np.ndarray or not fits(array, dtype, ndim, fixed):
                if ndim == 0 and is_number(array, dtype):
                    data[index] = frame.put(index, array, dtype)
                    continue
                array = arrays[index] = self._converted(index, array)
            memory = data[index] = _memory(array)
            keep.append(memory)
            if ndim:
                lengths += array.shape
        for number, cell in enumerate(self._shared):
            array = cell[0]
            if not fits(array, *self._shared_types[number], None):
                raise TypeError(f"shared variable {number} holds another kind of array")
            arrays.append(array)
            memory = data[len(args) + number] = _memory(array)
            keep.append(memory)
            lengths += array.shape
        if not self._pure:
            self._take_apart(frame, arrays, len(args))
        for number, array in enumerate(self._constants, len(arrays)):
            memory = data[number] = _memory(array)
            keep.append(memory)
        if lengths:
            frame.lengths[0 : len(lengths)] = lengths
        return arrays

    def _take_apart(self, frame: _Frame, arrays: list[Any], count: int) -> None:
        """Copies arguments that lie in the memory of a shared variable: it may be written before
        they are read."""
        shared = arrays[count:]
        for index in range(count):
            is_array = isinstance(arrays[index], np.ndarray)
            if is_array and any(np.may_share_memory(arrays[index], other) for other in shared):
                arrays[index] = arrays[index].copy()
                memory = frame.data[index] = _memory(arrays[index])
                frame.keep.append(memory)

    def _converted(self, index: int, value: object) -> Array:
        dtype, ndim, fixed = self._inputs[index]
        array = self._convert(index, value)
        if not isinstance(array, np.ndarray) or not fits(array, dtype, ndim, fixed):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"argument {index} was not converted to the right array")
        return array

    def _new_outputs(
        self, frame: _Frame, given: Sequence[Any], args: Sequence[Any]
    ) -> list[Array | None]:
        position = len(given) + len(self._constants)
        outputs = frame.arrays = []
        place, shapes, data = 0, frame.shapes, frame.data
        for (dtype, ndim), argument in zip(self._outputs, self._given, strict=True):
            shape: Sequence[int] = ()
            if ndim:
                shape = ffi.unpack(shapes + place, ndim)
                place += ndim
            if -1 in shape:
                outputs.append(None)
                data[position] = ffi.NULL
            else:
                array: Array = (
                    np.empty(shape, dtype) if argument < 0 else _begun(given, args, argument)
                )
                outputs.append(array)
                memory = data[position] = _memory(array)
                frame.keep.append(memory)
            position += 1
        return outputs

    def _measured(self, context: Any, output: int) -> Any:
        """`symc_call.allocate`: an output whose lengths were measured while the function ran."""
        frame: _Frame = ffi.from_handle(context)
        place = sum(ndim for _, ndim in self._outputs[:output])
        dtype, ndim = self._outputs[output]
        try:
            array: Array = np.empty([frame.shapes[place + axis] for axis in range(ndim)], dtype)
            memory = _memory(array)
        except (ValueError, MemoryError) as error:
            frame.error = error
            return ffi.NULL
        frame.keep.append(memory)
        frame.arrays[output] = array
        return ffi.cast("void *", memory)

    def _raise(self, frame: _Frame, code: int, arrays: list[Any]) -> NoReturn:
        error = frame.error or _raised.pop(get_ident(), None)
        if error is not None:
            raise error
        if code < 0:
            raise MemoryError
        self._failed(code, tuple(arrays))
        raise RuntimeError(f"the compiled function failed with status {code}")


def _begun(given: Sequence[Any], args: Sequence[Any], argument: int) -> Array:
    """An output that begins as an argument: its array, or a copy if another argument is there.

    Arguments count as the caller gave them, `args`: views that are not contiguous were copied.
    """
    array: Array = given[argument]
    every: list[Any] = [*args, *given[len(args) :]]
    others = [other for number, other in enumerate(every) if number != argument]
    arrays: list[Array] = [other for other in others if isinstance(other, np.ndarray)]
    shares = any(np.may_share_memory(array, other) for other in arrays)
    return array if array.flags.writeable and not shares else array.copy()


def python_holding(locks: Locks, function: Callable[..., Any], *args: Any) -> Any:
    """What `function` returns for these arguments; meanwhile the thread holds the locks."""
    nested, taken = get_ident() in _calling, 0
    try:
        _calling.append(get_ident())
        for lock, writes in locks:
            lock.take(writes=writes, nested=nested or taken > 0)
            taken += 1
        return function(*args)
    finally:
        for lock, writes in locks[:taken]:
            lock.release(writes=writes)
        _calling.remove(get_ident())


def fits(array: Array, dtype: Any, ndim: int, fixed: tuple[int, ...] | None) -> bool:
    """Whether the compiled function can use this array's memory as it is."""
    flags = array.flags
    return (
        array.dtype == dtype
        and array.ndim == ndim
        and flags.c_contiguous
        and flags.aligned
        and (
            fixed is None
            or all(want in (-1, have) for want, have in zip(fixed, array.shape, strict=True))
        )
    )


def is_number(value: object, dtype: Any) -> bool:
    """Whether a Python number can be given to a 0-d input as it is."""
    if dtype is _FLOAT64:
        return isinstance(value, float) or (type(value) is int and abs(value) < 1 << 53)
    return dtype is _INT64 and type(value) is int and -(1 << 63) <= value < 1 << 63


def dtype_of(number: int) -> np.dtype[Any]:
    """The dtype of a NumPy type number. Numbers of types of other packages follow NumPy's own."""
    found = _TYPES.get(number)
    return numpy_bfloat16() if found is None else found


_TYPES: dict[int, np.dtype[Any]] = {
    np.dtype(name).num: np.dtype(name) for name in "?bBhHiIlLqQefdFD"
}


def host_callback(host: Callable[[int, int, int], None]) -> Any:
    """`symc_call.host`: an exception of `host` is kept as the `error` of the call's frame."""

    def back(context: Any, number: int, arrays: Any, lengths: Any) -> int:
        try:
            host(number, int(ffi.cast("intptr_t", arrays)), int(ffi.cast("intptr_t", lengths)))
        except BaseException as error:
            ffi.from_handle(context).error = error
            return -1
        return 0

    return ffi.callback(
        "int64_t(void *, int64_t, const void *const *, const int64_t *)", back,
        error=-1, onerror=_ignore,
    )  # fmt: skip


def _ignore(*error: object) -> None:
    """cffi prints exceptions of callbacks; these keep them instead."""


_raised: dict[int, BaseException] = {}  # by handlers of signals, on a thread


def _no_signal(context: Any) -> int:
    """`symc_call.ask`. Python runs the handlers of signals that wait where a function begins."""
    del context
    return 0


def _keep(kind: object, error: BaseException, traceback: object) -> None:
    """An exception of a signal handler waits for the end of the call."""
    del kind, traceback
    _raised[get_ident()] = error


_ASK: Any = ffi.callback("int64_t(void *)", _no_signal, error=1, onerror=_keep)


def _use(threads: int) -> None:
    _threads[0] = threads


follow_threads(_use)
