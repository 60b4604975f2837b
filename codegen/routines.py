"""Host functions that a program may call by name (`ir.Routine`): BLAS, LAPACK, and symc's own.

They are defined in `runtime/`, by the symbols that the signatures name. A routine that one op calls
is declared beside it (`declare`); those of several ops are in the table. A matrix is row-major.
Lengths are int64; ``alpha`` and ``beta`` have the dtype of the arrays. Nothing reads c (or y) where
``beta`` is 0, so it may be uninitialised memory then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from symc.codegen.record import record

if TYPE_CHECKING:
    from symc.codegen.cost.amounts import Amount
    from symc.codegen.cost.operations import RoutineArguments

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
    """Whether programs for graphics cards have it too."""
    operations: Callable[[RoutineArguments], Amount] | None = None
    """The count of its operations, where `cost/operations.py` does not have it."""
    meets: bool = False
    """Whether it waits for other processes that call it too: no call may leave it out."""


def _arguments(text: str) -> tuple[tuple[str, ArgumentKind], ...]:
    kinds: dict[str, ArgumentKind] = {
        "trans_a": "flag", "trans_b": "flag", "trans": "flag", "alpha": "number", "beta": "number",
        "a": "read", "b": "read", "x": "read", "src": "read", "c": "write", "dst": "write",
        "result": "write", "kind": "flag", "right": "flag", "lower": "flag", "unit": "flag",
        "inverse": "flag", "lu": "read", "l": "read", "bar": "read", "pivots": "read", "w": "read",
        "q": "read", "keys": "read", "values": "read", "bias": "read", "output": "read",
        "logs": "read", "key": "read",
    }  # fmt: skip
    marks: dict[str, ArgumentKind] = {"!": "write", "*": "read"}
    out: list[tuple[str, ArgumentKind]] = []
    for name in text.split():
        plain = name.rstrip("!*")
        kind = marks.get(name[-1]) or kinds.get(plain, "length")
        out.append((plain, "read" if name == "y" else kind))
    return tuple(out)


_CONV = "images groups channels features " + " ".join(
    f"l{axis} k{axis} t{axis} s{axis} d{axis}" for axis in range(3)
)
_ATTENTION = "batch n m d e causal biased shared"
_TYPED = {  # `!` marks an array that is written, `*` one that is read
    "gemm": "trans_a trans_b m n k alpha a lda b ldb beta c! ldc",
    "batched_gemm": "batch trans_a trans_b m n k alpha a lda b ldb beta c! ldc"
    " stride_a stride_b stride_c",
    "gemv": "trans m n alpha a lda x beta y!",
    "ger": "m n alpha x y a! lda",
    "dot": "n x y result!",
    "conv_outputs": f"{_CONV} x w y!",
    "conv_inputs": f"{_CONV} y w x!",
    "conv_filters": f"{_CONV} x y w!",
    "attention_outputs": f"{_ATTENTION} q keys values bias output! logs!",
    "attention_queries": f"{_ATTENTION} scores q keys values bias output logs bar result!",
    "attention_keys": f"{_ATTENTION} q keys values bias output logs bar to_k! to_v!",
}

# Factorisations and solvers that use them. `kind` is the element type: `BLAS_KINDS`.
_LAPACK = {
    "matmul": "kind batch trans_a trans_b m n k a b c!",
    "solve_triangular": "kind batch right lower trans unit n m a step_a b x!",
    "cholesky": "kind batch n a l! info!",
    "cholesky_pullback": "kind batch n l bar result!",
    "triangle_inverse": "kind batch n a x!",
    "triangle_square": "kind batch n l x!",
    "lu": "kind batch n a lu! pivots! info!",
    "exchanged": "kind batch n m pivots b x!",
    "lu_solve": "kind batch trans n m lu pivots step b x!",
    "lu_inverse": "kind batch n lu pivots x!",
    "eigh": "kind batch n a w! v! info!",
    "eigvalsh": "kind batch n a w! info!",
    "eig": "kind batch n a w! v! info!",
    "eigvals": "kind batch n a w! info!",
    "schur": "kind batch n a t! z! info!",
    "svd": "kind batch m n left right a u! s! vh! info!",
    "svdvals": "kind batch m n a s! info!",
    "qr": "kind batch m n k a q! r!",
    "qr_r": "kind batch m n k a r!",
    "expm": "kind batch n a x!",
}

_FFT = {
    "fft_complex": "inverse power outer n inner a c!",
    "fft_real": "power outer n inner a c!",
    "fft_to_real": "power outer n inner a c!",
}

# Of rows, and in a sorted one. `kind` is the element type: those of `runtime/sorting/sort.h`.
_SORTING = {
    "sort_f32": "kind descending rows n x out! room!",
    "sort_f64": "kind descending rows n x out! room!",
    "argsort": "kind descending rows n x out! room!",
    "row_order": "kind n m x out! room!",
    "topmost": "kind descending rows n count x out! room!",
} | {f"searchsorted_{kind}": "right n count a x places!" for kind in ("u64", "i64", "f32", "f64")}


_EXTREMES = {
    f"arg{end}_{kind}": "rows n x places!"
    for end in ("max", "min")
    for kind in ("f32", "f64", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
}

# Between processes: see `runtime/host/mpi.h`. `kind` numbers the element types of `targets/mpi.py`.
_COLLECTIVE = {
    "mpi_all_reduce": "group fixed kind reduction n x result! lengths!",
    "mpi_all_gather": "group fixed kind n x result! lengths!",
    "mpi_reduce_scatter": "group fixed kind n x result! lengths!",
    "mpi_broadcast": "group fixed kind root n x result! lengths!",
    "mpi_to_root": "group fixed kind root n x result! lengths!",
    "mpi_shift": "group fixed kind by wrap n x result! lengths!",
    "mpi_begin_sum": "group fixed kind n x pending! lengths!",
    "mpi_end_sum": "kind n pending* result!",
}


def _typed(name: str, kind: str, text: str) -> Signature:
    """A routine that there is for each element type."""
    on_device = not name.startswith(("conv", "attention"))
    return Signature(
        f"symc_{name}_{kind}", f"symc_{name}_{kind}", _arguments(text), True, on_device
    )


def _on_host(name: str, text: str) -> Signature:
    """A routine that takes the element type as an argument, and that devices do not have."""
    return Signature(f"symc_{name}", f"symc_{name}", _arguments(text), True, on_device=False)


def _collective(name: str, text: str) -> Signature:
    symbol = f"symc_{name}"
    return Signature(symbol, symbol, _arguments(text), True, on_device=False, meets=True)


ROUTINES: dict[str, Signature] = {
    **{
        f"{n}_{kind}": _typed(n, kind, text)
        for n, text in _TYPED.items()
        for kind in ("f32", "f64")
    },
    **{name: _on_host(name, text) for name, text in (_LAPACK | _SORTING | _EXTREMES).items()},
    **{
        f"{name}_{kind}": _on_host(f"{name}_{kind}", text)
        for name, text in _FFT.items()
        for kind in ("f32", "f64")
    },
    **{name: _collective(name, text) for name, text in _COLLECTIVE.items()},
    "copy_bytes": Signature("symc_copy_bytes", "symc_copy_bytes", _arguments("dst! src n"), False),
    "permutation": Signature(
        "symc_permutation", "symc_permutation", _arguments("key n order!"), False, on_device=False
    ),
    "flat_nonzero": Signature(
        "symc_flat_nonzero",
        "symc_flat_nonzero",
        _arguments("mask* n count places!"),
        False,
        on_device=False,
    ),
    "sparse_row_numbers": Signature(
        "symc_sparse_row_numbers",
        "symc_sparse_row_numbers",
        _arguments("m k entries indices* starts* numbers! status!"),
        False,
        on_device=False,
    ),
    **{
        name: _on_host(name, "key n out!")
        for kind in ("f32", "f64")
        for name in (f"fill_normal_{kind}", f"fill_uniform_{kind}")
    },
}


def declare(
    name: str, arguments: str, operations: Callable[[RoutineArguments], Amount] | None = None
) -> None:
    """Add a routine of floats: its arguments in C, less the last one, ``int64_t threads``.

    ``x*`` is an array that is read and ``y!`` one that is written. A header of `runtime/` defines
    ``symc_NAME_f32`` and ``symc_NAME_f64``, or both as ``symc_NAME_fNN``. `operations` counts those
    that it does, for reports: see `cost/operations.py`.
    """
    for kind in ("f32", "f64"):
        symbol = f"symc_{name}_{kind}"
        ROUTINES[f"{name}_{kind}"] = Signature(
            symbol, symbol, _arguments(arguments), True, on_device=False, operations=operations
        )
