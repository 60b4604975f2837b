"""`Function.export`: a function as C source that needs nothing of symc, with a test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symc.codegen import ir
from symc.codegen.blocks import every_step
from symc.codegen.targets.export import Exported, files
from symc.conditions import requirements
from symc.errors import CannotSave
from symc.graph import Array, Tensor, walk
from symc.modes import stages_of
from symc.notation import described

if TYPE_CHECKING:
    from os import PathLike

    from symc.callable import Function
    from symc.compile import Stages


def export(
    function: Function, folder: str | PathLike[str], example: Sequence[Any] | None = None
) -> Path:
    """Writes a function as a C library with a header, build files, its data, and a test.

    In the folder, ``make`` builds ``libNAME.a`` and ``make test`` runs it on the `example`, a list
    of arguments, and compares with what the function gives now. A C compiler is all that is needed;
    a function that factorises matrices needs LAPACK, too. Shared variables are data files and part
    of a state, which calls update as they do here. Returns the folder, which is made if need be.

    Raises `CannotSave` for functions on a device, and for those that call Python.

    >>> import pathlib, tempfile, symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], T.exp(x).sum(), name="total")
    >>> folder = f.export(tempfile.mkdtemp(), example=[[1.0, 2.0]])
    >>> sorted(p.name for p in folder.iterdir())  # doctest: +NORMALIZE_WHITESPACE
    ['CMakeLists.txt', 'Makefile', 'call.h', 'check.h', 'data', 'test.c', 'total.c', 'total.h',
     'total_program.c']
    """
    request = function.request
    if request.device != "cpu":
        raise CannotSave(f"{function!r} is compiled for {request.device}; only C can be exported")
    stages = stages_of(request, "default" if function.mode == "python" else function.mode)()
    _refuse_python(stages)
    place = Path(folder)
    (place / "data").mkdir(parents=True, exist_ok=True)
    held = [v.get_value() for v in request.shared] + list(stages.constants)
    exported = _exported(function, stages, [array.shape for array in held])
    for buffer, array in zip(exported.buffers("shared", "constant"), held, strict=True):
        _write(place, buffer.name, array)
    shapes = None if example is None else _example(function, exported, place, example)
    for name, text in files(exported, shapes).items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def _refuse_python(stages: Stages) -> None:
    for step in every_step(stages.optimised.steps):
        if isinstance(step, ir.Host):
            raise CannotSave(f"a function that calls Python has no form in C\n  {step.note}")


def _exported(function: Function, stages: Stages, lengths: Sequence[tuple[int, ...]]) -> Exported:
    request = function.request
    fresh = [shared for shared, _ in request.updates if shared not in stages.in_place]
    return Exported(
        program=stages.optimised,
        source=stages.source.text,
        note=_note(function),
        results=len(request.outputs),
        updates=tuple(request.shared.index(shared) for shared in fresh),
        errors=tuple(_errors(function)),
        lengths=tuple(lengths),
    )


def _note(function: Function) -> str:
    """What the function computes, for the head of the header."""
    request = function.request
    lines = [f"input   {x.name or 'input'}: {x.type}" for x in request.inputs]
    lines += [f"shared  {s.name or 'shared'}: {s.type}" for s in request.shared]
    lines += [f"output  {described(node)}" for node in request.outputs]
    lines += [f"update  {s.name or 'shared'} = {described(new)}" for s, new in request.updates]
    return "\n".join(lines)


def _errors(function: Function) -> list[str]:
    """What each condition of the function says when it fails, without the values."""
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
        results = _as_list(function(*example))
        after = [variable.get_value() for variable in request.shared]
    finally:
        for variable, value in zip(request.shared, before, strict=True):
            variable.set_value(value)
    shapes: list[tuple[int, ...]] = []
    names = [f"example_{buffer.name}" for buffer in exported.buffers("input")]
    names += [f"expected_{b.name}" for b in [*exported.outputs, *exported.buffers("shared")]]
    nodes: list[Tensor] = [*request.inputs, *request.outputs, *request.shared]
    for name, node, value in zip(names, nodes, [*arguments, *results, *after], strict=True):
        array = np.asarray(value, dtype=node.dtype.name)
        _write(place, name, array)
        shapes.append(array.shape)
    return shapes


def _as_list(results: Any) -> list[Any]:
    if results is None:
        return []
    if isinstance(results, dict):
        return list(results.values())
    return results if isinstance(results, list) else [results]


def _write(place: Path, name: str, array: Array) -> None:
    (place / "data" / f"{name}.bin").write_bytes(np.asarray(array, order="C").tobytes())
