"""Lengths in the C of the host functions, none of which wraps: a call that would need it ends.

The value of an `ir.Size` is an exact integer. In C each sum, difference and product in it goes
through a function of `runtime/host/host.h`, which sets a flag where the result does not fit into 64
bits. After sizes that are computed together the flag is tested once.

Hardly anything is taken for granted of a length: an array of no elements, or one that is in no
memory, may be as long as 64 bits can say. So only ``n - 1``, differences of lengths, and bounds of
slices that count from either end, ``v < 0 ? v + n : v``, need no test.

A product of sizes is counted up to `SYMC_HUGE`: the bytes of arrays, for which
there is no memory then, and the iterations of loops that passes have made one. Lengths that an
array of the caller's has are multiplied without a test, as they were to make that array.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from symc.codegen.ir import Binary, Const, Loop, mul
from symc.codegen.passes.kernels.memory import is_known
from symc.codegen.passes.walk import parts, statements, substitute
from symc.codegen.signs import factors
from symc.codegen.status import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from symc.codegen.emit.expressions import Printer
    from symc.codegen.ir import Buffer, Expr, Launch
    from symc.codegen.targets.host.writer import HostWriter

FLAG = "too_large"


def exact(host: HostWriter, value: Expr) -> tuple[str, bool]:
    """The text of the value of a size, in which nothing wraps unseen; whether it sets the flag."""
    printer = host.printer
    printer.flag = FLAG
    flagged = _may_wrap(printer, value)
    host.flagged = host.flagged or flagged
    text = printer.text(value)
    printer.flag = None
    return text, flagged


def _may_wrap(printer: Printer, value: Expr) -> bool:
    """Whether a value has a part that sets the flag."""
    if printer.from_either_end(value) is not None:
        return False
    if isinstance(value, Binary) and printer.may_wrap(value):
        return True
    return any(_may_wrap(printer, part) for part in parts(value))


def declare_flag(host: HostWriter) -> None:
    """The flag, in front of the lines of a function that uses it."""
    if host.flagged:
        host.lines.insert(0, f"    bool {FLAG} = 0;")


def end_if_too_large(host: HostWriter) -> None:
    """The test of the flag."""
    host.fail(FLAG, Status.TOO_LARGE, "a length does not fit into 64 bits")


def end_if_huge(host: HostWriter, count: str, status: Status) -> None:
    """The test of a number that stops at `SYMC_HUGE`."""
    host.fail(f"{count} >= {host.use('SYMC_HUGE')}", status)


def many(host: HostWriter, count: Expr) -> str:
    """The text of a product of lengths, which stops at `SYMC_HUGE`."""
    known, *lengths = _sorted(count)
    first, *lengths = lengths if lengths and known == Const(1) else [known, *lengths]
    text = host.printer.text(first)
    for length in lengths:
        text = f"{host.use('symc_times')}({text}, {host.printer.text(length)})"
    return text


def _sorted(count: Expr) -> list[Expr]:
    """The factors of a product, the constant ones first and as one."""
    found = factors(count)
    constant = _product(part for part in found if isinstance(part, Const))
    return [constant, *(part for part in reversed(found) if not isinstance(part, Const))]


def is_given(host: HostWriter, count: Expr) -> bool:
    """Whether an array of the caller's has all lengths of a product among its own."""
    _, *lengths = _sorted(count)
    if not lengths:
        return True
    wanted = Counter(lengths)
    return any(
        wanted <= Counter(buffer.shape)
        for buffer in host.program.buffers
        if buffer.role in ("input", "shared", "constant")
    )


def volume(buffer: Buffer) -> Expr:
    """The elements of an array."""
    return _product(buffer.shape)


def _product(parts: Iterable[Expr]) -> Expr:
    total: Expr = Const(1)
    for part in parts:
        total = mul(total, part)
    return total


def long_loops(host: HostWriter, launch: Launch) -> Iterator[Expr]:
    """The products of lengths that loops of a launch take as their own, each once.

    Those of as many iterations as an array has elements are as short as it is: that array is there.
    """
    kernel = host.bodies[launch.kernel]
    names = [size.name for size in kernel.sizes]
    bound = dict(zip(names, launch.sizes, strict=True))
    known = frozenset(names)
    seen: set[object] = set()
    for stmt in statements(kernel.body):
        if not isinstance(stmt, Loop) or not is_known(stmt.extent, known):
            continue
        extent = substitute(stmt.extent, bound)
        if len(_sorted(extent)) <= 2:  # one length
            continue
        if not seen:
            seen = {_key(volume(host.buffers[name])) for name in launch.buffers}
        key = _key(extent)
        if key not in seen and not is_given(host, extent):
            seen.add(key)
            yield extent


def _key(count: Expr) -> object:
    known, *lengths = _sorted(count)
    return known, frozenset(Counter(lengths).items())
