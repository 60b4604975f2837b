"""Functions compiled for a device: found in the cache or built, and ready to be called.

As `pipeline.library` and `calls.modes` do for the processor. A function is first built with 32-bit
indexes; the first call whose arrays are too long for them builds it again with 64.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from symc.calls.modes import Runner, compilation_of
from symc.calls.spec import call_spec
from symc.codegen.dtypes import FLOAT64
from symc.codegen.errors import DoublesMissing
from symc.codegen.record import record
from symc.codegen.targets.base import Target
from symc.codegen.targets.on_device import IMAGE, DeviceTarget
from symc.config import config
from symc.cuda.caller import CudaCaller, TooLong
from symc.cuda.devices import Device, Module, device
from symc.cuda.host_calls import DeviceCallbacks
from symc.cuda.makers import OpenclDevice
from symc.errors import DTypeError
from symc.graph.inputs import Constant
from symc.graph.request import Request
from symc.graph.walks import walk_within
from symc.pipeline.apart import is_apart
from symc.pipeline.library import CompiledFunction, Read, compile_request, kept_files
from symc.tensor.broadcast import describe

WORTH_A_GRAPH = 3  # launches: replaying a graph costs as much as launching two or so kernels


@record
class DeviceFunction:
    """A compiled function whose kernels are loaded on a device."""

    made: CompiledFunction
    modules: list[Module]


def target_for(
    request: Request, found: Device, *, wide: bool = False, timed: bool = False
) -> Target:
    """The target that compiles for a device."""
    return found.maker.target(found, {"wide": wide, "timed": timed, "apart": is_apart(request)})


def compile_for(
    request: Request, found: Device, *, mode: str, wide: bool, timed: bool = False
) -> DeviceFunction:
    """Finds the function in the cache, or builds it and puts it there, and loads it."""
    target = target_for(request, found, wide=wide, timed=timed)
    shared = found.maker.target(found, {"wide": wide})  # the same for all programs

    def use(made: CompiledFunction, read: Read) -> DeviceFunction:
        kernels, routines = made.facts["kernels"], made.facts["routines"]
        if any("gemm" in name for name in routines):
            found.open_blas()
        modules = [found.load(read(IMAGE), kernels)] if kernels else []
        return DeviceFunction(made, [*modules, *(_routine(found, shared, n) for n in routines)])

    return compile_request(request, mode=mode, target=target, use=use)


def _routine(found: Device, target: Target, name: str) -> Module:
    """The module of a kernel that programs share: compiled once on a machine, loaded once."""
    assert isinstance(target, DeviceTarget)
    if name not in found.routines:
        parts = {"source": target.module_of_routine(name).text, **target.describe_kernels()}
        make = partial(target.compile_routine, name)
        made = kept_files(parts, make, lambda read: found.load(read(IMAGE), [name]))
        return found.routines.setdefault(name, made)
    return found.routines[name]


# --- running --------------------------------------------------------------------------------------


def cuda_runner(
    request: Request, mode: str, form: str, downcast: Sequence[bool | None], *, timed: bool = False
) -> Runner:
    """Compiles the request for its device. With `timed`, it is one program, for `symc.profile`."""
    found = device(request.device)
    loaded = compile_for(request, found, mode=mode, wide=False, timed=timed)
    made = loaded.made
    call: Callable[..., Any] = device_caller(loaded, request, found, form, downcast)
    if made.facts["narrow"] and not timed:
        call = Widening(call, lambda: _wide(request, found, mode, form, downcast))
    facts = {**made.facts, "kernels": len(made.facts["kernels"] + made.facts["routines"])}
    compilation = compilation_of(request, mode, target_for(request, found, timed=timed))
    return Runner(call, compilation, facts, made.seconds, made.hit, made.folder)


def opencl_runner(
    request: Request, mode: str, form: str, downcast: Sequence[bool | None], *, timed: bool = False
) -> Runner:
    """As `cuda_runner`, for a device of OpenCL. Raises DTypeError for what it cannot compute.

    Scalars of float64 are computed on the host, such as the number of a step that Adam has.
    """
    maker = device(request.device).maker
    if isinstance(maker, OpenclDevice) and not maker.found.doubles:
        for node in walk_within(request.roots()):
            if node.ndim and node.dtype.component is FLOAT64 and not isinstance(node.op, Constant):
                raise DTypeError(
                    f"{request.device} does not compute in double precision: use float32, of which "
                    f'sums are exact to 48 bits, or device="cpu"\n  {describe(node)}'
                )
    try:
        return cuda_runner(request, mode, form, downcast, timed=timed)
    except DoublesMissing as error:
        raise DTypeError(f"{request.device}: {error}") from None


def _wide(
    request: Request, found: Device, mode: str, form: str, downcast: Sequence[bool | None]
) -> CudaCaller:
    made = compile_for(request, found, mode=mode, wide=True)
    return device_caller(made, request, found, form, downcast)


class Widening:
    """A function that is built again when arrays come that need 64-bit indexes."""

    def __init__(self, narrow: Callable[..., Any], build: Callable[[], Callable[..., Any]]) -> None:
        self._narrow = narrow
        self._build = build
        self._wide: Callable[..., Any] | None = None
        self._lock = threading.Lock()

    @property
    def replayed(self) -> int:
        """How many calls with 32-bit indexes were launches of a graph."""
        return int(getattr(self._narrow, "replayed", 0))

    def __call__(self, *args: Any) -> Any:
        """Run the function."""
        try:
            return self._narrow(*args)
        except TooLong:
            with self._lock:
                if self._wide is None:
                    self._wide = self._build()
            return self._wide(*args)


def device_caller(
    loaded: DeviceFunction, request: Request, found: Device, form: str,
    downcast: Sequence[bool | None],
) -> CudaCaller:  # fmt: skip
    """The function as a caller, with the facts on its arguments and results."""
    made, modules = loaded.made, loaded.modules
    in_place = dict(zip((shared for shared, _ in request.updates), made.in_place, strict=True))
    steps, steady = made.facts["steps"], not made.facts["synchronises"]
    return CudaCaller(
        call_spec(request, made, form, downcast),
        device=found,
        functions=[function for module in modules for function in module.functions],
        on_device=request.on_device,
        in_place=tuple(in_place.get(shared, False) for shared in request.shared),
        steps=steps,
        host=DeviceCallbacks(made.host, found) if made.host else None,
        tf32=config.tf32,
        steady=steady,
        graphs=steady and found.maker.graphs and len(steps) >= WORTH_A_GRAPH,
        keep=(made.library, modules),
    )
