"""The statuses of calls are the same numbers in Python and in all C that is shipped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from symc.codegen import ir
from symc.codegen.status import Status

RUNTIME = Path(ir.__file__).parent / "runtime"


def text(name: str) -> str:
    return (RUNTIME / name).read_text(encoding="utf-8")


def number(value: str) -> int:
    """The value of a C expression that is a number, or a shifted one."""
    found = re.fullmatch(r"\(*(?:int64_t\))?(-?\d+)(?: << (\d+))?\)*", value.strip())
    assert found is not None, value
    return int(found[1]) << int(found[2] or 0)


@pytest.mark.parametrize(
    ("file", "name"), [("host/host.h", "TOO_LARGE"), ("device/devicelaunch.h", "TOO_LONG")]
)
def test_macros(file: str, name: str) -> None:
    found = re.search(rf"#define SYMC_{name} (.*)", text(file))
    assert found is not None
    assert number(found[1]) == Status[name]


def test_exported_libraries() -> None:
    names = {
        "NO_MEMORY": Status.STOPPED, "NO_FILE": Status.NO_FILE, "TOO_LONG": Status.TOO_LONG,
        "NO_DRIVER": Status.NO_DRIVER, "NO_BLAS": Status.NO_BLAS, "DRIVER_ERROR": Status.DRIVER,
        "BLAS_ERROR": Status.BLAS, "TOO_LARGE": Status.TOO_LARGE,
    }  # fmt: skip
    body = text("export/cuda/card.h").partition("enum {")[2].partition("}")[0]
    pairs = [entry.split("=") for entry in body.split(",")]
    assert {name.strip(): number(value) for name, value in pairs} == names
    cases = text("export/cuda/call.h").partition("status_words(")[2].partition("\n    }")[0]
    assert not re.search(r"case \(?-?\d", cases), "statuses are named"


def test_errors_of_devices_are_counted_down() -> None:
    found = re.findall(r"return (-\d+) - error;", text("device/deviceblas.h"))
    assert set(map(int, found)) == {Status.DRIVER, Status.BLAS}
    described = " ".join(text("device/device.h").split("\n")[:8])
    assert f"{Status.STOPPED} for no memory" in described
    assert f"{Status.DRIVER} - e for the error" in described
    assert f"{Status.BLAS} - e for the error" in described


def test_the_extension_tells_checks_from_the_rest_by_the_sign() -> None:
    """It needs no more: all that is below 0 has set an exception, or is for want of memory."""
    source = (Path(__file__).parents[2] / "symc/calls/_call.c").read_text(encoding="utf-8")
    body = source.partition("raise_failed(Caller *self, int64_t code")[2].partition("\n}")[0]
    assert re.search(r"if \(code < 0\) \{\s+PyErr_NoMemory\(\);", body)
    below = {status for status in Status if status < 0}
    assert min(set(Status) - below) == Status.DONE


def test_codes_of_checks_collide_with_none() -> None:
    assert ir.TOO_LARGE == Status.TOO_LARGE
    assert all(status <= 0 for status in set(Status) - {Status.TOO_LARGE})
