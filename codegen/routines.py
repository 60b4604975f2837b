"""Host functions that a program may call by name (`ir.Routine`), most of them BLAS and LAPACK.

They are defined in `runtime/blas.h` and `runtime/lapack.h`, and those of random numbers in
`normals.h` and `shuffle.h` there. A matrix is row-major. Lengths are int64; ``alpha`` and
``beta`` have the dtype of the arrays. Nothing reads c (or y) where ``beta`` is 0, so it may be
uninitialised memory then.
"""

from __future__ import annotations

from typing import Literal

from symc.codegen.record import record

ArgumentKind = Literal["flag", "length", "number", "read", "write"]


@record
class Signature:
    """A host function: its symbol, its arguments, and whether it is also told the threads.

    Of those with `on_device`, graphics cards have their own.
    """

    symbol: str
    source: str  # the symbol of `codegen/runtime` that defines it
    arguments: tuple[tuple[str, ArgumentKind], ...]
    threads: bool
    on_device: bool = True


def _arguments(text: str) -> tuple[tuple[str, ArgumentKind], ...]:
    kinds: dict[str, ArgumentKind] = {
        "trans_a": "flag", "trans_b": "flag", "trans": "flag", "alpha": "number", "beta": "number",
        "a": "read", "b": "read", "x": "read", "src": "read", "c": "write", "dst": "write",
        "result": "write", "kind": "flag", "right": "flag", "lower": "flag", "unit": "flag",
        "lu": "read", "l": "read", "bar": "read", "pivots": "read",
        "key": "read",
    }  # fmt: skip
    out: list[tuple[str, ArgumentKind]] = []
    for name in text.split():
        plain = name.rstrip("!")
        kind = "write" if name.endswith("!") else kinds.get(plain, "length")
        out.append((plain, "read" if name == "y" else kind))
    return tuple(out)


_TYPED = {  # `!` marks what is written
    "gemm": "trans_a trans_b m n k alpha a lda b ldb beta c! ldc",
    "batched_gemm": "batch trans_a trans_b m n k alpha a lda b ldb beta c! ldc"
    " stride_a stride_b stride_c",
    "gemv": "trans m n alpha a lda x beta y!",
    "ger": "m n alpha x y a! lda",
    "dot": "n x y result!",
}

# Factorisations and what is made of them. `kind` is the element type: `KINDS`.
_LAPACK = {
    "solve_triangular": "kind batch right lower trans unit n m a step_a b x!",
    "cholesky": "kind batch n a l! info!",
    "cholesky_pullback": "kind batch n l bar result!",
    "lu": "kind batch n a lu! pivots! info!",
    "lu_solve": "kind batch trans n m lu pivots step b x!",
    "lu_inverse": "kind batch n lu pivots x! info!",
}

KINDS = ("float32", "float64", "complex64", "complex128")

_SOURCES = {"batched_gemm": "gemm"}  # one macro defines both

ROUTINES: dict[str, Signature] = {
    f"{name}_{kind}": Signature(
        f"symc_{name}_{kind}",
        f"symc_{_SOURCES.get(name, name)}_{kind}",
        _arguments(text),
        threads=True,
    )
    for name, text in _TYPED.items()
    for kind in ("f32", "f64")
} | {
    "copy_bytes": Signature(
        "symc_copy_bytes", "symc_copy_bytes", _arguments("dst! src n"), threads=False
    )
} | {
    "permutation": Signature(
        "symc_permutation", "symc_permutation", _arguments("key n order!"),
        threads=False, on_device=False,
    )
} | {
    name: Signature(f"symc_{name}", f"symc_{name}", _arguments("key n out!"), True, on_device=False)
    for name in ("fill_normal_f32", "fill_normal_f64")
} | {
    name: Signature(f"symc_{name}", f"symc_{name}", _arguments(text), threads=True, on_device=False)
    for name, text in _LAPACK.items()
}
