"""Write `_abi.py`, the types and functions of `library.py`, so that nothing is parsed at run time.

Run this file after a change of `DECLARATIONS`; a test compares. Parsing them when symc is imported
would cost 20 ms, the module needs 1 ms. `symc_device_call` is the `symc_call` of `device.h`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

DECLARATIONS = """
typedef struct symc_call {
    void **data;
    const int64_t *lengths;
    int64_t *shapes;
    int64_t *sizes;
    char *workspace;
    int64_t workspace_bytes;
    int64_t threads;
    void *(*allocate)(void *context, int64_t output);
    void *context;
    int64_t (*host)(void *context, int64_t number, const void *const *arrays,
                    const int64_t *lengths);
    int64_t (*ask)(void *context);
    int64_t stopped;
} symc_call;

int64_t symc_prepare(symc_call *call);
int64_t symc_run(symc_call *call);
extern const int64_t symc_counts[4];

typedef struct symc_blas {
    void *functions[8];
    int64_t wide;
    int64_t *guard;
} symc_blas;
extern symc_blas symc_imports;
extern void *symc_lapack[40];
extern const void *symc_team;

typedef struct symc_device {
    int (*cuCtxPushCurrent)(void *context);
    int (*cuCtxPopCurrent)(void **context);
    int (*cuLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void *stream, void **params, void **extra);
    int (*cuMemcpyDtoHAsync)(void *to, uint64_t from, size_t bytes, void *stream);
    int (*cuMemcpyHtoDAsync)(uint64_t to, const void *from, size_t bytes, void *stream);
    int (*cuMemcpyDtoDAsync)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*cuMemsetD8Async)(uint64_t to, unsigned char value, size_t bytes, void *stream);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuMemAllocAsync)(uint64_t *address, size_t bytes, void *stream);
    int (*cuMemFreeAsync)(uint64_t address, void *stream);
    int (*cuEventCreate)(void **event, unsigned flags);
    int (*cuEventDestroy)(void *event);
    int (*cuEventRecord)(void *event, void *stream);
    int (*cuEventSynchronize)(void *event);
    int (*cuEventElapsedTime)(float *milliseconds, void *start, void *end);
    int (*cublasSetStream)(void *blas, void *stream);
    int (*cublasGemmStridedBatchedEx)(
        void *blas, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
        const void *a, int type_a, int lda, long long stride_a, const void *b, int type_b, int ldb,
        long long stride_b, const void *beta, void *c, int type_c, int ldc, long long stride_c,
        int batch, int compute, int algorithm);
    void *context;
    void *blas;
    int64_t processors;
    int64_t shared_bytes;
    int64_t synchronous;
} symc_device;

typedef struct symc_device_call {
    void **data;
    const int64_t *lengths;
    int64_t *shapes;
    int64_t *sizes;
    char *workspace;
    int64_t workspace_bytes;
    int64_t threads;
    void *(*allocate)(void *context, int64_t output);
    void *context;
    int64_t (*host)(void *context, int64_t number, const void *const *arrays,
                    const int64_t *lengths);
    const symc_device *device;
    void *const *functions;
    void *stream;
    int64_t step;
    int64_t tf32;
} symc_device_call;

void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
"""

HEAD = "# ruff: noqa\n# fmt: off\n# Made by abi.py; _abi.pyi has the types.\n"
PLACE = Path(__file__).with_name("_abi.py")


def write(place: Path) -> None:
    """Write the module to `place`."""
    import cffi  # type: ignore[import-untyped]  # it has no stubs

    builder: Any = cffi.FFI()
    builder.cdef(DECLARATIONS)
    builder.set_source("_abi", None)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "_abi.py")
        builder.emit_python_code(str(made))
        place.write_text(HEAD + made.read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    write(PLACE)
