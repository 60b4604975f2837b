"""Which C compiler there is, and what makes its results differ from another machine's."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shlex
import sys
from pathlib import Path

from symc.codegen.record import record

FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib",
)  # fmt: skip


@record
class Compiler:
    """A compiler's command line, and which file it is."""

    command: tuple[str, ...]
    path: str

    @property
    def stamp(self) -> str:
        """What changes when the compiler is replaced: costs one `stat`, starts no process."""
        status = Path(self.path).stat()
        return f"{self.path} {status.st_size} {status.st_mtime_ns}"


def find_compiler() -> Compiler | None:
    """The compiler that SYMC_CC or CC names, else cc, gcc or clang. None where there is none.

    A name given in SYMC_CC or CC is an order: nothing else is taken in its place.
    """
    order = os.environ.get("SYMC_CC") or os.environ.get("CC")
    return _find((order,) if order else ("cc", "gcc", "clang"), os.environ.get("PATH", ""))


def _which(name: str, path: str) -> str | None:
    """As `shutil.which`, whose module takes longer to import than all the rest of a cache hit."""
    places = [""] if Path(name).name != name else path.split(os.pathsep)
    for place in places:
        found = f"{place.rstrip(os.sep)}{os.sep}{name}" if place else name
        if os.access(found, os.X_OK) and Path(found).is_file():
            return found
    return None


@functools.cache
def _find(names: tuple[str, ...], path: str) -> Compiler | None:
    for name in names:
        words = shlex.split(name)
        found = _which(words[0], path) if words else None
        if found is not None:
            # the last word without a dash is the compiler itself in "ccache gcc -m64"
            inner = [_which(word, path) for word in words if not word.startswith("-")]
            last = next((place for place in reversed(inner) if place is not None), found)
            return Compiler((found, *words[1:]), str(Path(last).resolve()))
    return None


def why_missing() -> str:
    """What to tell a user who has no compiler."""
    order = os.environ.get("SYMC_CC") or os.environ.get("CC")
    if order:
        return f"no C compiler: {order!r}, which SYMC_CC or CC names, is not a program in PATH"
    return "no C compiler: found none of cc, gcc, clang in PATH. Install gcc or set SYMC_CC"


def identity(found: Compiler, memo: Path | None) -> str:
    """The compiler's file and version. The version is asked for once for each file, see `memo`."""
    stamp = found.stamp
    if memo is not None:
        try:
            known, _, version = memo.read_text(encoding="utf-8").partition("\n")
        except (OSError, UnicodeDecodeError):
            pass
        else:
            if known == stamp and version:
                return f"{version} ({stamp})"
    version = _version(found)
    if memo is not None:
        _remember(memo, f"{stamp}\n{version}")
    return f"{version} ({stamp})"


@functools.cache
def _version(found: Compiler) -> str:
    import subprocess  # late: with a version remembered, nothing here starts a process

    try:
        result = subprocess.run(
            [*found.command, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown version"
    lines = result.stdout.splitlines()
    return lines[0].strip() if lines and lines[0].strip() else "unknown version"


def _remember(memo: Path, text: str) -> None:
    """Write a file whole or not at all; a folder that cannot be written to is no error."""
    temporary = memo.with_name(f"{memo.name}.{os.getpid()}")
    try:
        memo.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(memo)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()


@functools.cache
def cpu() -> str:
    """The processor's model and a hash of its features: what ``-march=native`` looks at."""
    model, features = "", ""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition(":")
                match key.strip():
                    case "model name" | "CPU part" if not model:
                        model = value.strip()
                    case "flags" | "Features":
                        features = hashlib.sha256(value.strip().encode()).hexdigest()[:16]
                    case "":
                        break  # the first processor is enough
                    case _:
                        pass
    except OSError:
        pass
    return f"{model or os.uname().machine} {features}"


@functools.cache
def libc() -> str:
    """The C library and its version, such as ``glibc 2.36``."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def platform() -> str:
    """The operating system, the machine's architecture and the C library."""
    return f"{sys.platform} {os.uname().machine} {libc()}".strip()


@functools.cache
def has_libmvec(found: Compiler) -> bool:
    """Whether glibc's vector math can be used: all functions that `libm.h` declares, so 2.35."""
    if os.uname().machine != "x86_64" or "clang" in found.path or not libc():
        return False
    numbers = libc().split()[-1].split(".")
    if tuple(map(int, numbers[:2])) < (2, 35):
        return False
    return any(Path(folder, "libmvec.so.1").exists() for folder in FOLDERS)


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def libraries(found: Compiler) -> list[str]:
    """What to link with. libmvec only where its development file is: libm pulls it in elsewhere.

    With glibc, gcc's own list is left out: reading the C library takes more than half of the
    linker's time, and what is used of it (``malloc``, ``memcpy``) is in every process. Options of
    the user's, such as a sanitizer, may need the whole list.
    """
    mvec = has_libmvec(found) and any(Path(folder, "libmvec.so").exists() for folder in FOLDERS)
    math = ["-lmvec", "-lm"] if mvec else ["-lm"]
    if len(found.command) > 1 or "gcc" not in Path(found.path).name or not libc():
        return ["-fopenmp", *math]
    return ["-nostdlib", "-Wl,--as-needed", "-lgomp", *math, "-lgcc"]
