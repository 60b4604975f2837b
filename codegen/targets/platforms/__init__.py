"""What differs from one operating system to the next, a file for each: names, options, C libraries.

`PLATFORM` is the one that this process runs on; only its file is imported. What each still lacks
stands in `docs/platforms.md`.
"""

from __future__ import annotations

import sys
from typing import Final

from symc.codegen.targets.platforms.base import Platform

if sys.platform == "darwin":
    from symc.codegen.targets.platforms.macos import MACOS as _FOUND
elif sys.platform == "win32":
    from symc.codegen.targets.platforms.windows import WINDOWS as _FOUND
else:
    from symc.codegen.targets.platforms.linux import LINUX as _FOUND

PLATFORM: Final[Platform] = _FOUND
