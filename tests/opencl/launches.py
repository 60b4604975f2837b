"""The launches of a program as Oclgrind takes them: kernels with arguments that fit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from symc.codegen.blocks import every_step
from symc.codegen.ir import Buffer, Const, Expr, Launch, Program

KINDS = {"float32": "float", "float64": "double", 1: "char", 2: "short", 4: "int", 8: "long"}
MEMORY = 8192  # bytes of a team


def launches(program: Program, text: str) -> Iterator[tuple[str, str, list[str]]]:
    """The kernels that a program of fixed lengths launches, how many threads, and the arguments.

    Arrays are as long as the program's, and of ones, by which any kernel may divide and index.
    """
    buffers = {buffer.name: buffer for buffer in program.buffers}
    kernels = {kernel.name: kernel for kernel in program.kernels}
    for step in every_step(program.steps):
        if isinstance(step, Launch):
            kernel = kernels[step.kernel]
            arrays = dict(zip((p.name for p in kernel.params), step.buffers, strict=True))
            sizes = dict(zip((s.name for s in kernel.sizes), step.sizes, strict=True))
            heading, body = text.split(f"__kernel void {step.kernel}(")[1].split("\n{", 1)
            arguments: list[str] = []
            for declared in heading.rstrip(") \n").split(","):
                name = re.split(r"[\s*]", declared)[-1]
                if "__local" in declared:
                    arguments.append(f"<size={MEMORY}>")
                elif name in arrays:
                    arguments.append(array(buffers[arrays[name]]))
                elif name in sizes:
                    arguments.append(number(value(sizes[name]), wide="64" in declared))
                else:  # the bytes of a team, and where in them each of its arrays begins
                    place = MEMORY if name == "team_bytes" else MEMORY // 8 * len(arguments)
                    arguments.append(number(place, wide=True))
            alone = re.search("get_group_id|get_global_id", body.split("__kernel ")[0]) is None
            yield step.kernel, "64 1 1" if alone else "128 1 1", arguments


def array(buffer: Buffer) -> str:
    """An array of ones, as long as a buffer."""
    count = math.prod(value(length) for length in buffer.shape)
    kind = KINDS.get(buffer.dtype.name) or KINDS[buffer.dtype.bytes]
    return f"<size={count * buffer.dtype.bytes} fill=1 {kind}>"


def number(of: int, *, wide: bool) -> str:
    """A whole number of 64 or of 32 bits."""
    return f"<size={8 if wide else 4} fill={of} {'long' if wide else 'int'}>"


def value(length: Expr) -> int:
    """A length that is a number."""
    assert isinstance(length, Const)
    return int(length.value)
