"""What libraries read when they are imported, for one thread each; this imports none of them."""

ONE_THREAD = {
    "SYMC_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}  # fmt: skip
