"""Words of host functions that drive a graphics card through the table of `device.h`."""

from __future__ import annotations

from symc.codegen.targets.host.dialect import Phrase, Words

WORDS = Words(
    allocate=Phrase("symc_allocate", "symc_allocate(call, {} + 64)"),
    release=Phrase("symc_release", "symc_release(call, {});"),
    begin=Phrase("symc_begin", "symc_begin(call, call->device, &{});"),
    timed=("call", "call->device"),
    enter=(
        "void *before;",
        "int error = call->device->cuCtxPushCurrent(call->device->context);",
        "if (error) return -1000 - (int64_t)error;",
    ),
    leave=("call->device->cuCtxPopCurrent(&before);",),
)
