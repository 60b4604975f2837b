"""An exported program for devices of OpenCL: as `export_cuda.py` has it, with another driver.

opencl/            the driver over OpenCL, which is compiled with the program
data/NAME.opencl   the kernels, as text: the device's own compiler takes it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symc.codegen.targets.export import Exported, Shape, template
from symc.codegen.targets.export_cuda import host_files, images_of
from symc.codegen.targets.opencl.platforms import FOLDER
from symc.codegen.targets.opencl.target import image_of

if TYPE_CHECKING:
    from collections.abc import Sequence

SAID = {"context": "", "streams": " (NULL: the default one, and the only)"}


def files(exported: Exported, example: Sequence[Shape] | None) -> dict[str, str]:
    """The texts to be written, by file name; as `export.files`."""
    assert exported.kernels is not None
    images = dict(images_of(exported, "opencl"))
    made = host_files(exported, images, example, SAID)
    for file in ("Makefile", "CMakeLists.txt"):
        made[file] = template(f"opencl/{file}.in", name=exported.name)
    options = " ".join(exported.kernels.options or ())
    for image, (module, _) in images.items():
        made[f"data/{image}.opencl"] = image_of(module.text, options, b"").decode()
    sources = {path.name: path for path in sorted(FOLDER.iterdir()) if path.suffix in (".c", ".h")}
    made |= {f"opencl/{name}": path.read_text(encoding="utf-8") for name, path in sources.items()}
    made["opencl/look_up.c"] = template("opencl/look_up.c")
    parts = [*(name for name in sources if name.endswith(".c")), "look_up.c"]
    made["opencl/all.c"] = "".join(f'#include "{name}"\n' for name in parts)
    return made
