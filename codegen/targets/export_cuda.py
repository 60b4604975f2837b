"""An exported program for graphics cards: the files beside, or instead of, those of a program in C.

    NAME.h             as in C; also a function that takes arrays in the memory of the card
    NAME_program.c     the host functions, as they are
    NAME_kernels.cu    the kernels, as they are; NAME_shared.cu those that programs share
    kernels.h          declarations that nvcc needs to compile them
    call.h, card.h     how a program is called, and a card opened through the driver
    sim/               the simulator, which runs the same program without a card

The texts are in `runtime/export/cuda/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from symc.codegen.runtime import load
from symc.codegen.targets import sim
from symc.codegen.targets.cuda.reading import module_of
from symc.codegen.targets.export import (
    Exported,
    Shape,
    glue_places,
    header_places,
    listed,
    prototype,
    row,
    template,
    test_places,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from symc.codegen.emit.device_module import DeviceModule
    from symc.codegen.runtime.load import Dialect

Image: TypeAlias = "tuple[DeviceModule, tuple[str, ...]]"  # and the names of its kernels
PARAMETERS = "_on_card", "void *stream"
SAID = {
    "context": "Its context\n// is the primary one, which CUDA's runtime and other libraries use.",
    "streams": ", a CUstream or cudaStream_t (NULL: the default one)",
}


def files(exported: Exported, example: Sequence[Shape] | None) -> dict[str, str]:
    """The texts to be written, by file name; as `export.files`."""
    name = exported.name
    images = dict(images_of(exported, "cuda"))
    build = {
        "name": name,
        "images": " ".join(images),
        "fmad": "-fmad=false" if exported.apart else "-fmad=true",
        "sim_flags": " ".join(
            [
                "-march=native",
                *sim.MODULE_FLAGS,
                sim.contraction(apart=exported.apart),
                *sim.GCC_FLAGS,
            ]
        ),
    }
    made = host_files(exported, images, example, SAID)
    made |= {
        "Makefile": template("cuda/Makefile.in", **build),
        "CMakeLists.txt": template("cuda/CMakeLists.txt.in", **build),
        "kernels.h": template("cuda/kernels.h"),
    }
    for image, (module, kernels) in images.items():
        made[f"{image}.cu"] = _kernels(module)
        made[f"sim/{image}.cpp"] = _simulated(image, module, kernels)
    return made | _simulator()


def host_files(
    exported: Exported, images: Mapping[str, Image], example: Sequence[Shape] | None,
    said: Mapping[str, str],
) -> dict[str, str]:  # fmt: skip
    """The files in C, which devices of all makers share; `said` has words of their header."""
    name = exported.name
    card_prototype = prototype(exported, *PARAMETERS)
    places = glue_places(exported)
    places["tables"] += "\n" + _tables(exported, images)
    places["counts"] += f"\n#define IMAGES {len(images)}"
    places["counts"] += f"\n#define KERNELS {sum(len(names) for _, names in images.values())}"
    made = {
        f"{name}.h": template(
            "cuda/name.h.in", **header_places(exported), card_prototype=card_prototype,
            numbers=_numbers_noted(exported), **said,
        ),
        f"{name}.c": template("cuda/name.c.in", **places, card_prototype=card_prototype),
        f"{name}_program.c": exported.source,
        "call.h": template("cuda/call.h"),
        "card.h": template("cuda/card.h"),
    }  # fmt: skip
    if example is not None:
        made["test.c"] = template("cuda/test.c.in", **test_places(exported, example))
        made["check.h"] = template("check.h")
    return made


def images_of(exported: Exported, dialect: Dialect) -> Iterator[tuple[str, Image]]:
    """The modules that are compiled, by the names of their images, and their kernels."""
    assert exported.kernels is not None
    kernels = exported.kernels
    if kernels.names:
        yield f"{exported.name}_kernels", (kernels.module, kernels.names)
    if kernels.shared:
        text = load.base(dialect) + load.source_of(kernels.shared, dialect)
        yield f"{exported.name}_shared", (module_of(text), kernels.shared)


def _kernels(module: DeviceModule) -> str:
    """The kernels for nvcc and the simulator, for which `kernels.h` has words."""
    return '#include "kernels.h"\n\n' + module.written(dynamic="DYNAMIC_SHARED")


# --- the simulator --------------------------------------------------------------------------------


def _simulated(image: str, module: DeviceModule, kernels: Sequence[str]) -> str:
    """The kernels with the facts that the simulator needs of each."""
    ends = sim.records(module)
    return "\n".join([f"// For make SIM=1. Kernels: {', '.join(kernels)}", "",
                      f'#include "../{image}.cu"', "", *ends, ""])  # fmt: skip


def _simulator() -> dict[str, str]:
    sources = sorted(path.name for path in sim.FOLDER.glob("*.c"))
    paths = [*sim.FOLDER.glob("*.h"), *sim.FOLDER.glob("*.c")]
    made = {f"sim/{path.name}": path.read_text(encoding="utf-8") for path in paths}
    made["sim/all.c"] = "".join(f'#include "{name}"\n' for name in sources)
    return made


# --- texts for the templates ----------------------------------------------------------------------


def _numbers_noted(exported: Exported) -> str:
    """Which arguments are not on the card."""
    names = [buffer.name for buffer in exported.buffers("input") if buffer.is_by_value]
    return f",\n// but for these, which are the host's: {', '.join(names)}" if names else ""


def _tables(exported: Exported, images: Mapping[str, Image]) -> str:
    """The tables that a program in C has not."""
    inputs = exported.buffers("input")
    rows = [f'{{IMAGE("{image}"), {len(names)}}}' for image, (_, names) in images.items()]
    kernels = [f'"{name}"' for _, names in images.values() for name in names]
    numbers = [str(int(buffer.is_by_value)) for buffer in inputs]
    return "\n".join(
        [
            listed("static const array input_arrays", [*map(row, inputs), "{0}"]),
            listed("static const int numbers", [*numbers, "0"]),
            listed("static const image images", [*rows, "{0}"]),
            listed("static const char *const kernels", [*kernels, "NULL"]),
        ]
    )
