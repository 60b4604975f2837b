"""How setup compiles the C of `calls/`: with NumPy's headers and symc's own, or not at all.

Only used while installing. Without the extension functions are called through cffi, which takes
about 3 us a call instead of less than one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from setuptools.command.build_ext import build_ext


class BuildCall(build_ext):
    """Adds the folders of headers: pyproject.toml cannot name NumPy's."""

    def finalize_options(self) -> None:
        """Runs before the compiler is looked for."""
        super().finalize_options()
        self.include_dirs += [np.get_include(), "codegen/runtime/host"]

    def copy_extensions_to_source(self) -> None:
        """In a checkout: others of an extension's name, made before, would be found first."""
        super().copy_extensions_to_source()
        for extension in self.extensions:
            made = Path(*self.get_ext_fullname(extension.name).split("."))
            for path in made.parent.glob(f"{made.name}.cpython-*.so"):
                path.unlink()
