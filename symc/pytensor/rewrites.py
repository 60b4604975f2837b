"""PyTensor's rewrites that are left out for symc, each with its reason."""

from __future__ import annotations

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
