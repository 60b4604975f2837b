"""`Function.export`: a function as C or CUDA source that needs nothing of symc, with a test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.calls.modes import compilation_of
from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.encodable import encodable
from symc.codegen.record import replace
from symc.codegen.targets.c import SOURCE
from symc.codegen.targets.export import Exported, Kernels
from symc.codegen.targets.named import target_of_device
from symc.errors import CannotSave
from symc.graph.conditions import requirements
from symc.graph.node import Array, Tensor
from symc.graph.walks import walk, walk_within
from symc.pipeline.apart import is_apart
from symc.tensor.notation import described

LONGEST_NAME = 200  # with its suffixes, a file system's 255 bytes

if TYPE_CHECKING:
    from os import PathLike

    from symc.calls.callable import Function
    from symc.graph.request import Request
    from symc.pipeline.compile import Compilation


def export(
    function: Function, folder: str | PathLike[str], example: Sequence[Any] | None = None
) -> Path:
    """Writes a function as a C library with a header, build files, its data, and a test.

    In the folder, ``make`` builds ``libNAME.a`` and ``make test`` runs it on the `example`, a list
    of arguments, and compares with the results now. A C compiler is all that is needed;
    a function that factorises matrices needs LAPACK, too. Shared variables are data files and part
    of a state, which calls update as they do here. Returns the folder, which is made if need be.

    A function on a device becomes a library for graphics cards: kernels in CUDA, which nvcc
    compiles, and a function in C, with arrays of the host or of the card. ``make test SIM=1`` runs
    it without a card, on the simulator, which goes along. ``make CUBLAS=1`` takes cuBLAS for matrix
    products in place of kernels. A function on a device of OpenCL becomes one for all of them: the
    device's driver compiles the kernels when it is opened.

    Raises `CannotSave` for functions that call Python, or compute on several processes.

    >>> import pathlib, tempfile, symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], T.exp(x).sum(), name="total")
    >>> folder = f.export(tempfile.mkdtemp(), example=[[1.0, 2.0]])
    >>> sorted(p.name for p in folder.iterdir())  # doctest: +NORMALIZE_WHITESPACE
    ['CMakeLists.txt', 'Makefile', 'call.h', 'check.h', 'data', 'test.c', 'total.c', 'total.h',
     'total_program.c']
    """
    request = function.request
    if any(node.op.is_collective for node in walk_within(request.roots())):
        raise CannotSave("a function of several processes cannot be exported: it has MPI's handles")
    if len(request.name) > LONGEST_NAME:
        raise CannotSave(
            f"the files of an export have the function's name, which has {len(request.name)} "
            f"characters; give it one of at most {LONGEST_NAME}: symc.function(..., name=...)"
        )
    compilation = _compilation(function)
    _refuse_python(compilation)
    place = Path(folder)
    (place / "data").mkdir(parents=True, exist_ok=True)
    held = [v.get_value() for v in request.shared] + list(compilation.constants)
    exported = _exported(function, compilation, [array.shape for array in held])
    for buffer, array in zip(exported.buffers("shared", "constant"), held, strict=True):
        _write(place, buffer.name, array)
    shapes = None if example is None else _example(function, exported, place, example)
    for name, text in _files(exported, shapes).items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(encodable(text), encoding="utf-8")
    return place


def _compilation(function: Function) -> Compilation:
    # Its callers pass memory for every output.
    request = replace(function.request, given=())
    mode = "default" if function.mode == "python" else function.mode
    if request.device == "cpu":
        return compilation_of(request, mode)()
    from symc.cuda.devices import device
    from symc.cuda.functions import target_for

    return compilation_of(request, mode, target_for(request, device(request.device)))()


def _files(exported: Exported, example: Sequence[tuple[int, ...]] | None) -> dict[str, str]:
    if exported.kernels is None:
        from symc.codegen.targets.export import files
    elif exported.kernels.options is None:
        from symc.codegen.targets.export_cuda import files
    else:
        from symc.codegen.targets.export_opencl import files
    return files(exported, example)


def _refuse_python(compilation: Compilation) -> None:
    for step in every_step(compilation.optimised.steps):
        if isinstance(step, ir.PythonCall):
            raise CannotSave(f"a function that calls Python cannot be exported\n  {step.note}")


def _exported(
    function: Function, compilation: Compilation, lengths: Sequence[tuple[int, ...]]
) -> Exported:
    request = function.request
    fresh = [shared for shared, _ in request.updates if shared not in compilation.in_place]
    source, facts = compilation.source, compilation.source.facts
    kernels: Kernels | None = None
    if request.device != "cpu":
        from symc.codegen.targets.on_device import KernelSource

        assert isinstance(source, KernelSource)
        kernels = Kernels(
            source.module, tuple(facts["kernels"]), tuple(facts["routines"]), _options(request)
        )
    return Exported(
        program=compilation.optimised,
        source=source.file(SOURCE),
        note=_note(function),
        results=len(request.outputs),
        updates=tuple(request.shared.index(shared) for shared in fresh),
        errors=tuple(_errors(function)),
        lengths=tuple(lengths),
        names=_names(function, compilation),
        kernels=kernels,
        apart=is_apart(request),
    )


def _options(request: Request) -> tuple[str, ...] | None:
    """Those that OpenCL's compiler is given, if the function is for it."""
    if target_of_device(request.device) != "opencl":
        return None
    from symc.codegen.targets.opencl.platforms import device_named

    return device_named(request.device).options


def _names(function: Function, compilation: Compilation) -> dict[str, str]:
    """The user's names of inputs and shared variables, by the program's names."""
    variables: list[Tensor] = [*function.request.inputs, *function.request.shared]
    buffers = [
        b for role in ("input", "shared") for b in compilation.optimised.buffers if b.role == role
    ]
    return {
        buffer.name: variable.name
        for buffer, variable in zip(buffers, variables, strict=True)
        if variable.name is not None and variable.name.isidentifier() and variable.name.isascii()
    }


def _note(function: Function) -> str:
    """The expression of the function, for the head of the header."""
    request = function.request
    lines = [f"input   {x.name or 'input'}: {x.type}" for x in request.inputs]
    lines += [f"shared  {s.name or 'shared'}: {s.type}" for s in request.shared]
    lines += [f"output  {described(node)}" for node in request.outputs]
    lines += [f"update  {s.name or 'shared'} = {described(new)}" for s, new in request.updates]
    return "\n".join(lines)


def _errors(function: Function) -> list[str]:
    """The message of each condition of the function, without the values."""
    order = walk(function.request.roots())
    texts = [f"{r.error.__name__} in {described(node)}" for node, r in requirements(order)]
    loops = dict.fromkeys(described(node) for node in order if node.op.graphs())
    return [*texts, f"a condition in a step of {'; '.join(loops)}"] if loops else texts


def _example(
    function: Function, exported: Exported, place: Path, example: Sequence[Any]
) -> list[tuple[int, ...]]:
    """Writes arguments and results of a call that changes nothing here. Returns their shapes."""
    request = function.request
    before = [variable.get_value() for variable in request.shared]
    try:
        arguments = function.arguments(example)
        # Some may be given away, and so hold results afterwards.
        own = [each.copy() if isinstance(each, np.ndarray) else each for each in example]
        results = _as_list(function(*own))
        if function.gives is not None:
            results = list(function.gives.spread(results, {}, ())[0])
        after = [variable.get_value() for variable in request.shared]
    finally:
        for variable, value in zip(request.shared, before, strict=True):
            variable.set_value(value)
    shapes: list[tuple[int, ...]] = []
    names = [f"example_{buffer.name}" for buffer in exported.buffers("input")]
    names += [f"expected_{b.name}" for b in [*exported.outputs, *exported.buffers("shared")]]
    nodes: list[Tensor] = [*request.inputs, *request.outputs, *request.shared]
    for name, node, value in zip(names, nodes, [*arguments, *results, *after], strict=True):
        array = np.asarray(_on_host(value), dtype=node.dtype.name)
        _write(place, name, array)
        shapes.append(array.shape)
    return shapes


def _on_host(value: Any) -> Any:
    """An array that may be on a device."""
    return value.to_numpy() if hasattr(value, "to_numpy") else value


def _as_list(results: Any) -> list[Any]:
    if results is None:
        return []
    if isinstance(results, dict):
        return list(results.values())
    return results if isinstance(results, list) else [results]


def _write(place: Path, name: str, array: Array) -> None:
    (place / "data" / f"{name}.bin").write_bytes(np.asarray(array, order="C").tobytes())
