"""Measures symc on a graphics card against a device copy and its peers, and prints one table.

    python benchmarks/gpu.py                           on the first card, all rows
    python benchmarks/gpu.py --only rows1024 matmul    some rows
    python benchmarks/gpu.py --json figures.json       also as a file
    python benchmarks/gpu.py --device cuda:sim --tiny  tries every row on the simulator; no figures
    python benchmarks/gpu.py --device opencl --tiny    the first device of OpenCL, with short arrays

Each group of rows runs in a process of its own: one that fails, hangs or loses the device is named,
and the others go on. Lines are printed, and written to the file, as they come. All of it takes less
than `--seconds`; groups for which no time is left are named.

Bandwidth counts the bytes that must be read and written once; the copy that it is compared with is
cuMemcpyDtoDAsync of arrays of 256 MiB in the same minute. Every result is checked against NumPy
first. PyTorch (compiled) and JAX take part where they are installed: `gpu_peers.py`. How times are
taken is in `gpu_measure.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpu_measure import Line, Setting
from gpu_rows import ROWS

import symc
import symc.cuda
from symc.cuda.makers import OpenclDevice

MARK = "symc-line "  # before lines of a group's process for this one
LIMIT = 150.0  # seconds of one group


def main() -> int:
    """Runs the rows that the command line asks for; 1 if a goal was missed or a row failed."""
    parser = argparse.ArgumentParser(description="symc on a graphics card, against its goals")
    parser.add_argument("--device", default="cuda", help='"cuda" (default), "cuda:1", "cuda:sim"')
    parser.add_argument("--only", nargs="*", choices=list(ROWS), help="these rows only")
    parser.add_argument("--tiny", action="store_true", help="small arrays, which show nothing")
    parser.add_argument("--repeat", type=int, default=20, help="batches of each row (default 20)")
    parser.add_argument("--seconds", type=float, default=540, help="for all rows (default 540)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--group", choices=list(ROWS), help=argparse.SUPPRESS)  # in this process
    options = parser.parse_args()
    if options.group:
        measure(options)
        return 0
    return table(options)


# --- a group's process ----------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> None:
    """Measures one group and tells its lines."""
    device = symc.cuda.device(options.device)
    setting = Setting(device, options.tiny, 2 if options.tiny else options.repeat)
    for line in ROWS[options.group](setting):
        print(MARK + json.dumps(asdict(line)), flush=True)


# --- the table ------------------------------------------------------------------------------------


def table(options: argparse.Namespace) -> int:
    """Starts a process for each group and prints its results."""
    until = time.monotonic() + options.seconds
    reason = symc.cuda.why_missing(options.device)
    if reason is not None:
        print(f"no figures: {reason}")
        return 1
    facts = describe(options)
    print("\n".join(facts), flush=True)
    lines: list[Line] = []
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SYMC_CACHE_DIR": folder}
        for name in options.only or ROWS:
            left = until - time.monotonic()
            problem = (
                group(options, name, min(LIMIT, left), environment, lines)
                if left > 10 else "no time is left"
            )  # fmt: skip
            if problem:
                failed.append(f"{name}: {problem}")
                print(f"FAILED  {failed[-1]}", flush=True)
            if options.json:
                figures = {
                    "facts": facts, "lines": [asdict(line) for line in lines], "failed": failed
                }  # fmt: skip
                options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    missed = [line.name for line in lines if not line.reached]
    print(f"{len(lines)} rows, {len(missed)} goals not reached, {len(failed)} groups failed")
    print("\n".join(f"  not reached: {name}" for name in missed), end="\n" if missed else "")
    print("\n".join(f"  failed: {name}" for name in failed), end="\n" if failed else "")
    return 1 if missed or failed else 0


def describe(options: argparse.Namespace) -> list[str]:
    """The device, and the versions of everything that takes part."""
    from gpu_peers import installed

    device = symc.cuda.device(options.device)
    facts = [f"{device.title}, symc {symc.__version__}, Python {sys.version.split()[0]}"]
    if isinstance(device.maker, OpenclDevice):
        facts.append(", ".join([device.maker.found.platform, *device.maker.found.versions]))
    elif not device.is_simulator:
        from symc.codegen.targets.cuda import nvrtc

        version = device.driver.version()
        facts.append(f"driver of CUDA {version // 1000}.{version % 1000 // 10}, {nvrtc.build()}")
    device.open_blas()
    facts.append(f"cuBLAS: {device.blas.path if device.blas else 'not found, own kernels'}")
    code = (
        "import sys, gpu_peers, symc.cuda; from gpu_measure import Setting;"
        "print(*gpu_peers.installed(Setting(symc.cuda.device(sys.argv[1]), True, 1)), sep='\\n')"
    )
    if device.is_simulator:
        return facts + installed(Setting(device, True, 1))
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, options.device], cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        return facts + (done.stdout or done.stderr).strip().splitlines()[-2:]
    except subprocess.TimeoutExpired:
        return [*facts, "peers: not known after 60 s"]


def group(
    options: argparse.Namespace, name: str, seconds: float, environment: dict[str, str],
    lines: list[Line],
) -> str:  # fmt: skip
    """Runs a group, prints and adds its lines; returns the error, if there was one."""
    command = [sys.executable, "-u", __file__, "--group", name, "--device", options.device]
    command += ["--repeat", str(options.repeat), *(["--tiny"] if options.tiny else [])]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    told: queue.Queue[str | None] = queue.Queue()
    errors: list[str] = []

    def listen(stream: Any, put: Any) -> None:
        for text in stream:
            put(text)
        put(None)

    threads = [
        threading.Thread(target=listen, args=(process.stdout, told.put), daemon=True),
        threading.Thread(
            target=listen, args=(process.stderr, lambda text: errors.append(text or "")),
            daemon=True,
        ),
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    try:
        while (text := told.get(timeout=max(until - time.monotonic(), 0.01))) is not None:
            if text.startswith(MARK):
                lines.append(Line(**json.loads(text.removeprefix(MARK))))
                print(shown(lines[-1]), flush=True)
        process.wait(timeout=30)
    except (queue.Empty, subprocess.TimeoutExpired):
        return f"took longer than {seconds:.0f} s"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # also compilers that it started
        process.wait()
    threads[1].join(timeout=5)
    if process.returncode:
        tail = "".join(errors).strip().splitlines()[-12:]
        return f"status {process.returncode}\n  " + "\n  ".join(tail)
    return ""


def shown(line: Line) -> str:
    """A line of the table."""
    mark = "ok" if line.reached else "NOT REACHED"
    more = "  ".join(f"{name} {value:.4g}" for name, value in line.more.items())
    notes = "".join(f"\n    {note}" for note in line.notes)
    return (
        f"{line.name:<34} {line.seconds * 1e6:>12.1f} us  {line.ratio:>7.3f} x {line.against:<22}"
        f" {line.goal:<38} {mark:<12} {more}{notes}"
    )


if __name__ == "__main__":
    sys.exit(main())
