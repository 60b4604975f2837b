"""``python -m symc doctor``: tools that symc finds on this machine, and how to get missing ones."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from typing import Literal

from symc.codegen.record import record

State = Literal["good", "missing", "broken"]
MARKS: dict[State, str] = {"good": "+", "missing": "-", "broken": "!"}


@record
class Finding:
    """One thing that was looked for.

    ``missing`` is something that symc does without, ``broken`` something that it cannot work
    without, or should not. `mend` is the remedy.
    """

    what: str
    state: State
    found: str
    mend: str = ""


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def run(options: argparse.Namespace) -> int:
    """Prints the findings; 1 if something is broken."""
    findings = list(examine())
    if options.json:
        names = Finding.__match_args__
        found = [{name: getattr(each, name) for name in names} for each in findings]
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    else:
        for finding in findings:
            sys.stdout.write(f"{MARKS[finding.state]} {finding.what:<16} {finding.found}\n")
            if finding.mend:
                sys.stdout.write(f"{'':<18} to mend it: {finding.mend}\n")
    return 1 if any(finding.state == "broken" for finding in findings) else 0


def examine() -> Iterator[Finding]:
    """Looks for everything. An unforeseen failure is a finding, too."""
    for look in LOOKS:
        try:
            yield from look()
        except Exception as error:  # a doctor that crashes helps nobody
            yield Finding(look.__name__.strip("_"), "broken", f"{type(error).__name__}: {error}")


# --- the checks -----------------------------------------------------------------------------------


def _python() -> Iterator[Finding]:
    import numpy as np

    import symc

    system = f"{platform.system()} {platform.machine()}"
    versions = (
        f"symc {symc.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    )
    yield Finding("versions", "good", f"{versions}, {system}")


def _call_path() -> Iterator[Finding]:
    try:
        from symc.calls import _call
    except ImportError:
        yield Finding(
            "call extension", "missing", "not built: each call takes some microseconds longer",
            "where there is a C compiler, in the checkout of symc: pip install --force-reinstall .",
        )  # fmt: skip
    else:
        yield Finding("call extension", "good", str(_call.__file__))


def _compiler() -> Iterator[Finding]:
    from symc.codegen.targets import compiler
    from symc.codegen.targets.c import flags

    found = compiler.find_compiler()
    if found is None:
        yield Finding("C compiler", "broken", compiler.why_missing(), "install gcc or clang")
        return
    version = compiler.identity(found, None).splitlines()[0].partition(f" ({found.path}")[0]
    yield Finding("C compiler", "good", f"{found.path}: {version}")
    yield Finding("flags", "good", " ".join(flags(found, quick=False)))
    if compiler.has_libmvec(found):
        yield Finding("vector math", "good", "libmvec: exp, log, sin ... in vectors")
    else:
        yield Finding(
            "vector math", "missing", "no libmvec: exp, log, sin ... are computed one by one",
            "use gcc with glibc 2.35 or later on x86-64",
        )  # fmt: skip


def _threads() -> Iterator[Finding]:
    import os

    from symc.codegen import processors
    from symc.codegen.targets import compiler, openmp
    from symc.config import config

    found = compiler.find_compiler()
    _, unread = processors.number_in("OMP_NUM_THREADS", os.environ)
    if found is not None and not openmp.has_openmp(found):
        if unread:
            found_text = f"one: LLVM's OpenMP fails where {unread}"
            yield Finding("threads", "missing", found_text, "unset it")
            return
        yield Finding(
            "threads", "missing", "one: this compiler has no OpenMP runtime",
            "install libomp (Debian: libomp-dev, Homebrew: libomp), or set SYMC_CC=gcc",
        )  # fmt: skip
        return
    told, wrong = processors.number_in("SYMC_THREADS", os.environ)
    automatic = processors.find()
    count, why = automatic.count, automatic.why
    if config.threads:
        count = config.threads
        why = "SYMC_THREADS" if told == config.threads else "symc.config.threads"
    yield Finding("threads", "good", f"{count}: {why} (SYMC_THREADS changes it)")
    for text in (wrong if os.environ.get("SYMC_THREADS") != "0" else "", *automatic.ignored):
        if text:
            yield Finding("threads", "missing", f"ignored: {text}", "set it to a number from 1 on")


def _blas() -> Iterator[Finding]:
    from symc.codegen.targets import blas

    found = blas.find()
    if found is None:
        yield Finding(
            "BLAS, LAPACK", "missing", "none: matrix products use symc's own loops",
            "pip install scipy-openblas32",
        )  # fmt: skip
        return
    width = 64 if found.wide else 32
    yield Finding("BLAS, LAPACK", "good", f"{found.path} ({width}-bit integers)")


def _cache() -> Iterator[Finding]:
    from symc.pipeline.library import the_store

    store = the_store()
    problem = store.problem()
    if problem is not None:
        yield Finding("cache", "broken", problem, "set SYMC_CACHE_DIR to a folder of your own")
        return
    count = sum(1 for _ in store.entries())
    yield Finding("cache", "good", f"{store.root}: {count} entries, {store.size() / 1e6:.1f} MB")


def _compiling() -> Iterator[Finding]:
    """Whether a function can be compiled and gives the right answer."""
    import time

    import symc
    import symc.tensor as T

    x = T.vector("x")
    started = time.perf_counter()
    f = symc.function([x], (T.exp(x) * 2).sum(), name="doctor")
    value = float(f([0.0, 0.0]))
    took = (time.perf_counter() - started) * 1000
    if value != 4.0:
        yield Finding("a function", "broken", f"gave {value}, not 4.0")
    elif f.folder is None:
        yield Finding("a function", "missing", "runs in NumPy: it could not be compiled")
    else:
        how = "found in the cache" if f.hit else "compiled"
        yield Finding("a function", "good", f"{how} and right, {took:.0f} ms")


def _processes() -> Iterator[Finding]:
    """MPI's own word. It comes from another process, as this one may want to start MPI later."""
    import subprocess

    from symc.codegen.errors import MpiMissing
    from symc.codegen.targets import mpi
    from symc.commands.run import find_launcher

    code = (
        "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI;"
        "print(MPI.Get_library_version().splitlines()[0])"
    )
    try:
        mpi.installed()
        launcher = find_launcher()
    except MpiMissing as missing:
        what, _, mend = str(missing).partition("\n")
        yield Finding("processes", "missing", what, mend)
        return
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if told.returncode:
        fault = (told.stderr.strip() or "it says nothing").splitlines()[-1]
        yield Finding("processes", "missing", f"mpi4py finds no MPI: {fault}", mpi.REMEDY)
    else:
        yield Finding("processes", "good", f"{launcher}: {' '.join(told.stdout.split())}")


def _dask() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        yield Finding("Dask", "good", version("dask"))
    except PackageNotFoundError:
        yield Finding(
            "Dask", "missing", "symc.dask needs it", "in a checkout: pip install '.[dask]'"
        )


def _nvrtc() -> Iterator[Finding]:
    from symc.codegen.targets.cuda import nvrtc

    if nvrtc.available():
        yield Finding("CUDA compiler", "good", "NVRTC {}.{}".format(*nvrtc.version()))
    else:
        yield Finding(
            "CUDA compiler", "missing", "no NVRTC, which compiles for graphics cards",
            nvrtc.INSTALL,
        )  # fmt: skip


def _cards() -> Iterator[Finding]:
    import symc.cuda

    why = symc.cuda.why_missing("cuda")
    if why is None:
        yield Finding("graphics card", "good", repr(symc.cuda.device("cuda")))
    else:
        yield Finding("graphics card", "missing", why.splitlines()[0])


def _opencl() -> Iterator[Finding]:
    from symc import opencl
    from symc.codegen.targets.opencl.platforms import INSTALL, libraries

    found = opencl.devices()
    for device in found:
        state: State = "missing" if device.why_refused else "good"
        title = f'device="{device.name}": {device.title}, {device.platform}'
        yield Finding("OpenCL", state, f"{title}: {device.why_refused}".removesuffix(": "))
    if not found:
        yield Finding("OpenCL", "missing", "no platform", INSTALL)
    else:
        yield Finding("OpenCL", "good", f"found by {', '.join(libraries())}")


def _simulator() -> Iterator[Finding]:
    from symc.codegen.targets import compiler

    found = compiler.find_cxx_compiler()
    if found is None:
        yield Finding(
            "CUDA simulator", "missing", compiler.why_cxx_missing(), "install g++ or clang++"
        )
    else:
        yield Finding("CUDA simulator", "good", f'device="cuda:sim", by {found.path}')


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _python, _call_path, _compiler, _threads, _blas, _cache, _compiling, _processes, _dask,
    _nvrtc, _cards, _opencl, _simulator,
)  # fmt: skip
