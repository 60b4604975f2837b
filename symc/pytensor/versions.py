"""The versions of PyTensor that the linker is known to work with."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

# From the first to below the second. PyTensor moves Ops between modules in minor versions.
KNOWN = ((3, 3), (3, 4))


def check_version() -> None:
    """Raises ImportError for a PyTensor that is not installed, or not known to work."""
    try:
        found = version("pytensor")
    except PackageNotFoundError:
        raise ImportError(
            "symc.pytensor needs PyTensor, which is not installed: "
            "`pip install '.[pymc]'` in the checkout of symc, with Python 3.12 or later"
        ) from None
    parts = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    first, end = KNOWN
    if not first <= parts < end:
        raise ImportError(
            f"symc.pytensor works with PyTensor {_shown(first)} and later, below {_shown(end)}; "
            f"installed is {found}: pip install 'pytensor>={_shown(first)},<{_shown(end)}'"
        )


def _shown(parts: tuple[int, ...]) -> str:
    return ".".join(map(str, parts))
