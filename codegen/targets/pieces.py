"""Cut a file into translation units, so that they can be compiled side by side.

What `emit.py` wrote stays one file for whoever reads it. The cut relies on its form: markers before
the kernels and the host functions, and a closing brace at the start of a line only where a kernel
ends.
"""

from __future__ import annotations

import re

from symc.codegen.emit.program import HOST, KERNELS

ENOUGH = 2000  # characters of code; starting gcc once more takes as long as compiling some 900
_KERNEL = re.compile(
    r"^static __attribute__\(\(noinline\)\) (void (?:SYMC_FOLDS )?\w+\([^{]*\))\n\{", re.M
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\s", re.S)
_HIDDEN = '__attribute__((noinline, visibility("hidden"))) '


def pieces(source: str, most: int) -> list[str]:
    """`source` as up to `most` translation units that take gcc about as long; one if it is small.

    The last has the host functions.
    """
    before, mark, rest = source.partition(KERNELS)
    body, other, host = rest.partition(HOST)
    kernels = [part + "\n}\n" for part in f"{body}\n".split("\n}\n") if part.strip()]
    lengths = [code_length(kernel) for kernel in kernels]
    extra = code_length(host) // 6  # hardly any loops
    count = min(most, (sum(lengths) + extra) // ENOUGH, len(kernels))
    if not mark or not other or count < 2:
        return [source]
    declarations = [_HIDDEN + found + ";\n" for found in _KERNEL.findall(body)]
    groups = shared_out(kernels, lengths, [0] * (count - 1) + [extra])
    units = [
        before + "".join(_KERNEL.sub(_HIDDEN + r"\1\n{", kernel) for kernel in group)
        for group in groups
    ]
    units[-1] = before + "".join(declarations) + units[-1].removeprefix(before) + HOST + host
    return units


def code_length(text: str) -> int:
    """The characters of C that are neither comment nor white space: about what gcc's time goes by.

    >>> code_length("int x; /* wide */  // or not")
    5
    """
    return len(_COMMENT.sub("", text))


def shared_out(kernels: list[str], lengths: list[int], filled: list[int]) -> list[list[str]]:
    """The kernels in groups that end up about as long; the order does not matter to C.

    `filled` has the length that each group begins with.
    """
    groups: list[list[str]] = [[] for _ in filled]
    totals = list(filled)
    for length, kernel in sorted(zip(lengths, kernels, strict=True), reverse=True):
        smallest = totals.index(min(totals))
        groups[smallest].append(kernel)
        totals[smallest] += length
    return groups
