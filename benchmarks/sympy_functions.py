"""SymPy's expressions as functions: `symc.sympy.lambdify` beside SymPy's own.

    python benchmarks/sympy_functions.py [--only NAME ...] [--rounds 3] [--json FILE]

The others are `sympy.lambdify` with NumPy (and SciPy, where that is installed) and `autowrap`,
which has C code compiled through Cython; over arrays that is `ufuncify`. Compile time is from the
expression to the first result, in a process of its own for each round; run time is that of a call.
Results are compared with those of NumPy's `lambdify`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import module, show
from run import describe_machine, progress

sympy: Any = module("sympy")
LONG = 10**6
ROUND = 0.15  # seconds of calls
CONTESTANTS = ("symc", "symc, cached", "lambdify", "autowrap")


class Absent(Exception):
    """A contestant cannot do this here."""


# --- expressions ----------------------------------------------------------------------------------


def polynomial() -> tuple[list[Any], Any]:
    """91 terms, as they come out of `expand`."""
    x, y = sympy.symbols("x y")
    return [x, y], sympy.expand((x - 2 * y + sympy.Rational(1, 2)) ** 12)


def jacobian() -> tuple[list[Any], Any]:
    """The velocities of a robot arm: its end's position by its five joints, a 3 x 5 matrix."""
    angles = list(sympy.symbols("q0:5"))
    place = sympy.eye(4)
    for number, angle in enumerate(angles):
        turn, twist = sympy.Matrix(sympy.eye(4)), sympy.Matrix(sympy.eye(4))
        turn[:2, :2] = sympy.rot_axis3(-angle)[:2, :2]
        if number % 2:
            twist[1:3, 1:3] = sympy.Matrix([[0, -1], [1, 0]])
        twist[0, 3] = sympy.Rational(number + 2, 4)
        place = place * turn * twist
    return angles, sympy.Matrix(place[:3, 3]).jacobian(angles)


def special() -> tuple[list[Any], Any]:
    """Functions that C's library has and NumPy lacks."""
    x, y = sympy.symbols("x y")
    return [x, y], sympy.erf(x) * sympy.gamma(y + 1) + sympy.loggamma(x + y) * sympy.erfc(y)


def piecewise() -> tuple[list[Any], Any]:
    """A cubic spline with four pieces, and its slope."""
    x, y = sympy.symbols("x y")
    pieces = [(y * (x - k) ** 3 + k * x, x < (k + 1) * sympy.Rational(1, 4)) for k in range(3)]
    spline = sympy.Piecewise(*pieces, (sympy.sin(x) * y, True))
    return [x, y], spline + sympy.diff(spline, x)


EXPRESSIONS: dict[str, Callable[[], tuple[list[Any], Any]]] = {
    made.__name__: made for made in (polynomial, jacobian, special, piecewise)
}


def arguments(count: int, length: int) -> list[Any]:
    """Numbers, or arrays of them, in (0, 1)."""
    drawn = np.random.default_rng(0).uniform(0.05, 0.95, (count, length))
    return [float(row[0]) for row in drawn] if length == 1 else list(drawn)


# --- contestants, each in a process of its own ----------------------------------------------------


def symc(symbols: list[Any], expr: Any, length: int) -> Callable[..., Any]:
    """symc's function. Nothing is compiled before it is called."""
    function: Callable[..., Any] = module("symc.sympy").lambdify(symbols, expr)
    return function


def lambdify(symbols: list[Any], expr: Any, length: int) -> Callable[..., Any]:
    """SymPy's own, with common parts computed once. It has no matrices of arrays, but lists."""
    if length > 1 and isinstance(expr, sympy.MatrixBase):
        expr = expr.tolist()
    function: Callable[..., Any] = sympy.lambdify(symbols, expr, cse=True)
    return function


def autowrap(symbols: list[Any], expr: Any, length: int) -> Callable[..., Any]:
    """Code in C, for numbers or for arrays."""
    try:
        module("Cython")
    except ImportError:
        raise Absent("Cython is not installed") from None
    wrapping = module("sympy.utilities.autowrap")
    folder = tempfile.mkdtemp()
    if length == 1:
        options: dict[str, Any] = {"backend": "cython", "tempdir": folder, "args": symbols}
        function: Callable[..., Any] = wrapping.autowrap(expr, **options)
        return function
    parts = list(expr) if isinstance(expr, sympy.MatrixBase) else [expr]
    each: list[Callable[..., Any]] = [
        wrapping.ufuncify(symbols, part, backend="cython", tempdir=f"{folder}/{number}")
        for number, part in enumerate(parts)
    ]
    if not isinstance(expr, sympy.MatrixBase):
        return each[0]
    shape = (*expr.shape, length)
    return lambda *args: np.reshape([function(*args) for function in each], shape)


def as_numpy(result: Any, length: int) -> Any:
    """A result with the lengths that symc's has; NumPy's leaves constant elements as they are."""
    if length > 1 and isinstance(result, list):
        rows = [[np.broadcast_to(each, length) for each in row] for row in result]
        return np.asarray(rows)
    return np.asarray(result, dtype=float)


def work(name: str, contestant: str, length: int) -> dict[str, Any]:
    """One contestant's times: until the first result, and of a call."""
    symbols, expr = EXPRESSIONS[name]()
    given = arguments(len(symbols), length)
    make = {"lambdify": lambdify, "autowrap": autowrap}.get(contestant, symc)
    if make is symc:
        module("symc.sympy")  # an import is no part of a function's time
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    try:
        function = make(symbols, expr, length)
        result = function(*given)
    except Absent as absent:
        return {"absent": str(absent)}
    except Exception as error:  # a peer may lack anything
        return {"absent": f"{type(error).__name__}: {error}".partition("\n")[0][:60]}
    compiling = time.perf_counter() - started
    wanted = as_numpy(lambdify(symbols, expr, length)(*given), length)
    right = np.allclose(np.reshape(as_numpy(result, length), wanted.shape), wanted, rtol=1e-9)
    return {"compile": compiling, "run": best(function, given), "right": bool(right)}


def best(function: Callable[..., Any], given: list[Any]) -> float:
    """The least time of a call, in batches of some milliseconds."""
    count, least = 1, float("inf")
    end = time.perf_counter() + ROUND
    while (now := time.perf_counter()) < end:
        for _ in range(count):
            function(*given)
        took = time.perf_counter() - now
        least = min(least, took / count)
        if took < 0.005:
            count *= 2
    return least


# --- rounds and their table -----------------------------------------------------------------------


def measure(name: str, length: int, rounds: int, tick: Callable[[str], None]) -> dict[str, Any]:
    """All contestants in turns, each time in a new process."""
    found: dict[str, Any] = {}
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for contestant in CONTESTANTS:
                tick(f"{name}, {length}: {contestant}")
                if contestant == "autowrap" and number:
                    continue  # it compiles for minutes
                said = in_process(name, contestant, length, cache)
                before = found.get(contestant, said)
                if "absent" not in said and "absent" not in before:
                    said = {key: min(said[key], before[key]) for key in ("compile", "run", "right")}
                found[contestant] = said
    return found


def in_process(name: str, contestant: str, length: int, cache: str) -> dict[str, Any]:
    """The answer of a worker; symc's cache is empty for the first one."""
    here = Path(__file__).resolve()
    places = [str(here.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "SYMC_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, str(here), "--work", name, contestant, str(length)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=cache
    )
    if done.returncode:
        return {"absent": (done.stderr.strip().splitlines() or ["it ended"])[-1][:60]}
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def rows(name: str, length: int, found: dict[str, Any]) -> list[str]:
    """The lines of one expression: times, and how often symc's goes into the others."""
    mine = found["symc"]
    lines = [f"{name}, {'a number each' if length == 1 else f'{length} numbers'}"]
    for contestant, said in found.items():
        if "absent" in said:
            lines.append(f"  {contestant:<14}{said['absent']}")
            continue
        ratio = f"{said['run'] / mine['run']:8.2f}" if "run" in mine else ""
        wrong = "" if said["right"] else "   WRONG"
        times = f"{show(said['compile']):>10}{show(said['run']):>12}"
        lines.append(f"  {contestant:<14}{times}{ratio}{wrong}")
    return lines


def main() -> int:
    """Measures the cases asked for; 1 if a result was wrong or symc's did not come."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*EXPRESSIONS], metavar="NAME")
    parser.add_argument("--length", type=int, default=LONG, help="of arrays (10^6)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        name, contestant, length = options.work
        print(json.dumps(work(name, contestant, int(length))))
        return 0
    machine = describe_machine() | {
        "sympy": sympy.__version__, "contestants": "lambdify with cse=True; autowrap by Cython"
    }  # fmt: skip
    names = options.only or [*EXPRESSIONS]
    tick = progress(len(names) * 2 * len(CONTESTANTS) * options.rounds)
    all_found: dict[str, Any] = {}
    lines = [f"{'':16}{'compile':>10}{'run':>12}   run / symc's"]
    for name in names:
        for length in (1, options.length):
            found = all_found[f"{name}, {length}"] = measure(name, length, options.rounds, tick)
            lines += rows(name, length, found)
    tick("")
    print("\n".join([*lines, "", *(f"{key}: {value}" for key, value in machine.items())]))
    if options.json:
        text = json.dumps({"machine": machine, "figures": all_found}, indent=1) + "\n"
        Path(options.json).write_text(text, encoding="utf-8")
    good = all(found["symc"].get("right") for found in all_found.values())
    wrong = any(
        said.get("right") is False for found in all_found.values() for said in found.values()
    )
    return 0 if good and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
