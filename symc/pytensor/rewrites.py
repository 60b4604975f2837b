"""PyTensor's rewrites for symc: which are left out and why, and the few that a quicker build keeps.

PyTensor brings a graph into canonical form, and looks for what is special in it, by some 360
rewrites that are tried at each node until none applies: half of the time that a model takes to
build. symc does most of that to its own graphs, in a tenth of the time. ``rewrites="few"`` keeps
those that symc has none for (`symc/pytensor/few.py`).
"""

from __future__ import annotations

from typing import Any

from pytensor.compile.mode import optdb

LEFT_OUT = {
    "cxx_only": "they choose Ops with C of PyTensor's own",
    "BlasOpt": "symc recognises products, and calls BLAS itself",
    "fusion": "symc fuses; graphs of single Ops convert with their names and lines",
    "local_careduce_fusion": "symc fuses reductions with what they reduce",
    "inplace": "symc plans memory; no call writes into its arguments",
    "scan_reduce_trace_prealloc": "symc's loops make their rows themselves",
    "reuse_decomposition_multiple_solves": "symc factorises one matrix once",
    "scan_split_non_sequence_decomposition_and_solve": "symc hoists what loops do not change",
}

# Groups of the few. What has the tag "fast_run" alone brings the graph to forms of other backends,
# merges what symc's nodes are from the start, or asks for lengths, which symc knows as expressions.
GROUPS = (
    "canonicalize",  # what is kept of it
    "stabilize",  # digits come before time
    "specialize",  # what is kept of it
    "slogdet_specialization",
    "reassociate_matmul_chain",
    "scan",  # loops that keep less of their steps
)

# Those that make one Op of a graph: not inside of the graph of such an Op, which would never end.
RECOGNITION = "symbolic_op_recognition"

# Of canonical and special forms those that are kept, and why.
KEPT = {
    "local_sum_prod_of_mul_or_div": "a factor leaves a sum, which then shares its loop with others",
    "local_sum_of_neg_to_neg_of_sum": "the same for a sign",
    "local_mul_canonizer": "factors that cancel: an exponential that underflows leaves no 0 / 0",
    "merge": "what cancels is one node then",
    "local_mul_switch_sink": "0 times what a condition leaves aside may be nan: in gradients",
    "local_div_switch_sink": "the same for quotients",
    "local_pow_specialize": "powers that are products; without it a model took a third longer",
    "local_subtensor_shape_constant": "lengths that are numbers",
    "batched_vector_b_solve_to_matrix_b_solve": "one system of many right sides, not many",
}

# They look at Ops of linear algebra alone, and save factorisations; but for two that ask of every
# transposed array and every product what is known of a matrix, a fourteenth of all rewriting then.
_KEPT_MODULES = ("pytensor.tensor.rewriting.linalg",)
NOT_KEPT = ("useless_symmetric_transpose", "selection_dot_to_indexing")


def forms(*, kept: bool) -> list[str]:
    """The names of canonical and special forms that are kept, or of those that are not.

    What is there for those who ask for it by name, such as PyMC, is not among them.

    >>> "local_add_canonizer" in forms(kept=True), "local_mul_canonizer" in forms(kept=True)
    (False, True)
    """
    found: set[str] = set()
    for group in ("canonicalize", "specialize"):
        (database,) = optdb.__db__[group]
        of_groups = {each for tag in GROUPS for each in database.__db__[tag]}
        found.update(each.name for each in of_groups if _is_kept(each.name, each) == kept)
    return sorted(found)


def _is_kept(name: str, rewrite: Any) -> bool:
    if name in KEPT:
        return True
    function = getattr(rewrite, "fn", rewrite)
    return name not in NOT_KEPT and str(getattr(function, "__module__", "")).startswith(
        _KEPT_MODULES
    )
