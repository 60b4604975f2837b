"""CUDA text that is given, read as a module: of `codegen/runtime`, or a text that was kept."""

from __future__ import annotations

import re

from symc.codegen.emit.device_module import DeviceModule, Dynamic, LaunchBounds, Piece

_KERNEL = re.compile(
    r"\b__global__\s+(?:void\s+)?"
    r"(?P<bounds>__launch_bounds__\s*\(\s*(?P<threads>\w+)\s*(?:,\s*(?P<blocks>\w+)\s*)?\)\s*)?"
    r"(?:void\s+)?(?P<name>\w+)\s*\("
)
_DYNAMIC = re.compile(
    r"\b(?P<words>extern\s+__shared__)\s+(?:__align__\s*\(\s*\w+\s*\)\s*)?[\w\s]+?"
    r"\b(?P<name>\w+)\s*\[\s*\]\s*;"
)


def module_of(text: str) -> DeviceModule:
    """The module of a text: of a file of `codegen/runtime`, or one that was kept."""
    kernels: dict[str, LaunchBounds] = {}
    places: list[tuple[int, int, Piece]] = []
    for found in _KERNEL.finditer(text):
        bounds = LaunchBounds(found["name"], found["threads"] or "0", found["blocks"] or "")
        kernels.setdefault(bounds.kernel, bounds)
        if found["bounds"] is not None:
            start = found.start("bounds")
            places.append((start, start + len(found["bounds"].rstrip()), bounds))
    places += [(*each.span("words"), Dynamic(each["name"])) for each in _DYNAMIC.finditer(text)]
    pieces: list[Piece] = []
    end = 0
    for first, last, piece in sorted(places, key=lambda place: place[0]):
        pieces += [text[end:first], piece]
        end = last
    return DeviceModule((*pieces, text[end:]), tuple(kernels.values()))
