"""Cut a large file into translation units, so that they can be compiled side by side.

What `emit.py` wrote stays one file for whoever reads it. The cut relies on its form: markers before
the kernels and the host functions, and a closing brace at the start of a line only where a kernel
ends.
"""

from __future__ import annotations

import re

from symc.codegen.emit import HOST, KERNELS

LARGE = 2500  # lines from which the cut pays: starting gcc twice more costs about 30 ms
_KERNEL = re.compile(r"^static __attribute__\(\(noinline\)\) (void \w+\([^{]*\))\n\{", re.M)
_HIDDEN = '__attribute__((noinline, visibility("hidden"))) '


def pieces(source: str, count: int) -> list[str]:
    """`source` as about `count` translation units of similar length; one if it has no kernels."""
    before, mark, rest = source.partition(KERNELS)
    body, other, host = rest.partition(HOST)
    kernels = [part + "\n}\n" for part in f"{body}\n".split("\n}\n") if part.strip()]
    if not mark or not other or len(kernels) < count:
        return [source]
    declarations = [_HIDDEN + found + ";\n" for found in _KERNEL.findall(body)]
    groups = shared_out(kernels, count)
    units = [
        before + "".join(_KERNEL.sub(_HIDDEN + r"\1\n{", kernel) for kernel in group)
        for group in groups
    ]
    units[-1] = before + "".join(declarations) + units[-1].removeprefix(before) + HOST + host
    return units


def shared_out(kernels: list[str], count: int) -> list[list[str]]:
    """The kernels in `count` groups of similar length; the order does not matter to C."""
    groups: list[list[str]] = [[] for _ in range(count)]
    lengths = [0] * count
    for kernel in sorted(kernels, key=len, reverse=True):
        smallest = lengths.index(min(lengths))
        groups[smallest].append(kernel)
        lengths[smallest] += len(kernel)
    return groups
