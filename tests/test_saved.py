"""`symc.save`, `symc.load` and pickles: values come back the same, and bad files are errors."""

from __future__ import annotations

import copy
import io
import json
import pickle
import random
import struct
import subprocess
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symc
from symc import tensor as T
from symc.codegen.errors import CompileTimeout
from symc.errors import BadFile, CannotSave, DeviceError
from symc.graph.walks import substitute
from symc.saved import archive, document

X = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]])


def training_step(mode: str = "python") -> symc.Function:
    """A function with shared variables, updates, a default argument and a dict of outputs."""
    x, y = T.matrix("x"), T.vector("y", dtype="int64")
    w = symc.shared(np.linspace(-1, 1, 12).reshape(3, 4), name="w")
    p = T.softmax(x @ w)
    loss = -T.log(p)[T.arange(y.shape[0]), y].mean()
    return symc.function(
        [x, symc.In(y, value=np.array([0, 1]))], {"loss": loss, "p": p},
        updates=[(w, w - 0.1 * symc.grad(loss, w))], name="step", mode=mode,
    )  # fmt: skip


def test_a_function_comes_back_with_its_state(tmp_path: Path) -> None:
    step = training_step("default")
    step(X)
    symc.save(step, tmp_path / "step.symc")
    again = symc.load(tmp_path / "step.symc")
    assert again.name == "step"
    (w,) = again.shared
    np.testing.assert_array_equal(w.get_value(), step.shared[0].get_value())
    for _ in range(3):
        ours, theirs = again(X), step(X)
        np.testing.assert_array_equal(ours["p"], theirs["p"])
        assert ours["loss"] == theirs["loss"]
    np.testing.assert_array_equal(again(x=X, y=[1, 1])["loss"], step(X, [1, 1])["loss"])


def test_a_loaded_function_has_variables_of_its_own(tmp_path: Path) -> None:
    step = training_step()
    symc.save(step, tmp_path / "f")
    one, other = symc.load(tmp_path / "f"), symc.load(tmp_path / "f")
    one(X)
    np.testing.assert_array_equal(other.shared[0].get_value(), step.shared[0].get_value())
    assert not np.array_equal(one.shared[0].get_value(), other.shared[0].get_value())


def test_mode_and_device_can_be_chosen(tmp_path: Path) -> None:
    symc.save(training_step("default"), tmp_path / "f")
    assert symc.load(tmp_path / "f", mode="python").mode == "python"
    with pytest.raises(BadFile, match="cannot be made"):
        symc.load(tmp_path / "f", mode="quickly")


VALUES = [0.1, -0.0, float("inf"), float("nan"), 5e-324, True, 2**62, 1.5 - 2j]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_numbers_come_back_exactly(tmp_path: Path, value: Any) -> None:
    f = symc.function([], T.constant(value), mode="python")
    symc.save(f, tmp_path / "f")
    ours, theirs = symc.load(tmp_path / "f")(), f()
    assert ours.dtype == theirs.dtype
    assert ours.tobytes() == theirs.tobytes()


def test_default_updates_come_back(tmp_path: Path) -> None:
    n = symc.shared(np.int64(0), name="n")
    n.default_update = n + 1
    count = symc.function([], n * 2, mode="python")
    count()
    symc.save(count, tmp_path / "f")
    for again in (symc.load(tmp_path / "f"), pickle.loads(pickle.dumps(count))):
        assert [int(again()) for _ in range(3)] == [2, 4, 6]
        m = again.shared[0]
        other = symc.function([], m, mode="python")
        assert [int(other()), int(other())] == [4, 5] or int(other()) > 4


def test_loops_come_back(tmp_path: Path) -> None:
    x = T.vector("x")
    outputs, _ = symc.scan(lambda a, c: a * c + 1, sequences=[x], outputs_info=[T.constant(1.0)])
    f = symc.function([x], outputs, mode="python")
    symc.save(f, tmp_path / "f")
    np.testing.assert_array_equal(symc.load(tmp_path / "f")([1.0, 2.0, 3.0]), [2, 5, 16])


def test_loops_that_write_beside_what_they_read_come_back(tmp_path: Path) -> None:
    """The lengths of rows are not known, and still row 0 is none of those that are written."""
    a = T.matrix("a")
    filled = symc.fori_loop(0, a.shape[0] - 1, lambda i, s: s[i + 1].set(i - s[0, 1]), a)
    symc.save(symc.function([a], filled), tmp_path / "f")
    np.testing.assert_array_equal(
        symc.load(tmp_path / "f")(np.ones((3, 2))), [[1, 1], [-1, -1], [0, 0]]
    )


def test_errors_still_name_the_line(tmp_path: Path) -> None:
    x = T.vector("x")
    f = symc.function([x], x[5], mode="python")
    symc.save(f, tmp_path / "f")
    with pytest.raises(IndexError, match=r"test_saved\.py"):
        symc.load(tmp_path / "f")([1.0])


# --- pickles --------------------------------------------------------------------------------------


def test_functions_in_one_pickle_share_their_variables() -> None:
    step = training_step()
    (w,) = step.shared
    total = symc.function([], w.sum(), mode="python")
    step2, total2 = pickle.loads(pickle.dumps((step, total)))
    assert step2.shared[0] is total2.shared[0]
    before = float(total2())
    step2(X)
    assert float(total2()) != before
    assert float(total()) == before


def test_expressions_pickle_with_their_inputs() -> None:
    x = T.matrix("x")
    x2, y2 = pickle.loads(pickle.dumps((x, T.exp(x) + x.shape[0])))
    (expected,) = substitute([T.exp(x) + x.shape[0]], {x: x2})
    assert y2 is expected


def test_copies_are_independent() -> None:
    w = symc.shared(np.zeros(2), name="w")
    other = copy.deepcopy(w)
    other.set_value([1.0, 1.0])
    np.testing.assert_array_equal(w.get_value(), [0, 0])
    assert other.name == "w"


# --- bad files ------------------------------------------------------------------------------------


def test_python_functions_cannot_be_saved(tmp_path: Path) -> None:
    @symc.op(inputs=["float64[n]"], output="float64[n]")
    def doubled(v: Any) -> Any:
        return v * 2

    x = T.vector("x")
    f = symc.function([x], doubled(x), mode="python")
    (tmp_path / "f").write_text("before")
    with pytest.raises(CannotSave, match=r"test_saved\.py"):
        symc.save(f, tmp_path / "f")
    assert (tmp_path / "f").read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def saved_bytes(tmp_path: Path) -> bytes:
    symc.save(training_step(), tmp_path / "good")
    return (tmp_path / "good").read_bytes()


def test_damage_is_an_error_everywhere(tmp_path: Path) -> None:
    good = saved_bytes(tmp_path)
    chance = random.Random(1)
    bad = tmp_path / "bad"
    for _ in range(200):
        data = bytearray(good)
        place = chance.randrange(len(data))
        data[place] ^= 1 << chance.randrange(8)
        bad.write_bytes(data)
        try:
            again = symc.load(bad)
        except BadFile:
            continue
        # A bit of the archive that says nothing about its contents, such as a date.
        np.testing.assert_array_equal(again(X)["p"], training_step()(X)["p"])


@pytest.mark.parametrize("length", [0, 1, 100, 1000])
def test_what_was_cut_off_is_an_error(tmp_path: Path, length: int) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(saved_bytes(tmp_path)[:length])
    with pytest.raises(BadFile, match="bad"):
        symc.load(bad)


def test_a_missing_file_is_not_a_bad_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        symc.load(tmp_path / "nothing")


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A file whose JSON somebody has changed, with checksums that are right."""
    document, arrays = archive.read(tmp_path / "good")
    change(document)
    archive.write(tmp_path / "bad", document, arrays)
    return tmp_path / "bad"


def _set(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


def _elementwise(name: str, *args: int) -> Callable[[dict[str, Any]], None]:
    """The function of leaves in place of node 3, of a type that is right."""

    def change(document: Any) -> None:
        ndim = len(document["leaves"][args[-1]]["shape"])
        dtype = document["leaves"][args[-1]]["dtype"]
        document["nodes"][3] |= {
            "op": {"elementwise": name}, "args": list(args), "type": [dtype, ndim]
        }  # fmt: skip

    return change


HOSTILE = {
    "no nodes": _set("nodes", value=None),
    "a node that is no dict": _set("nodes", 0, value=7),
    "a leaf that is not there": _set("nodes", 0, value={"leaf": 99}),
    "a leaf below zero": _set("nodes", 0, value={"leaf": -1}),
    "an argument to come": _set("nodes", 3, "args", value=[50, 50]),
    "a class of another package": _set("nodes", 3, "op", value={
        "record": "subprocess:Popen", "fields": ["touch x"]}),
    "a function instead of a class": _set("nodes", 3, "op", value={
        "record": "symc.tensor.products:matmul", "fields": []}),
    "a module that does not exist": _set("nodes", 3, "op", value={
        "record": "symc.tensor.nothing:X", "fields": []}),
    "too many fields": _set("nodes", 3, "op", "fields", value=[1, 2, 3, 4]),
    "fields of another kind": _set("nodes", 3, "op", "fields", value=["a", None]),
    "an unknown function": _set("nodes", 3, "op", value={"elementwise": "system"}),
    "another type": _set("nodes", 3, "type", value=["int8", 2]),
    "a line that is no number": _set("nodes", 3, "where", value=["a", "b"]),
    "a name with a line break": _set("name", value="f(){}\n"),
    "an unknown output form": _set("form", value="pickle"),
    "an update of an input": _set("updates", value=[[0, 1]]),
    "an update without a value": _set("updates", value=[[2]]),
    "an input that is computed": _set("inputs", value=[0, 5]),
    "a function of too few arguments": _elementwise("exp", 0, 0),
    "a division of integers": _elementwise("div", 1, 1),
    "numbers of several dtypes": _elementwise("add", 0, 1),
    "a factor of a vector": _set("nodes", 3, value={
        "op": {"record": "symc.tensor.linalg.definite:Cholesky", "fields": [0]}, "args": [1],
        "name": None, "type": ["int64", 1], "where": ["x.py", 1]}),
    "too few arguments": _set("arguments", value=[]),
    "a default that is not there": _set("arguments", 1, "default", value=1000),
    "lengths below zero": _set("leaves", 0, "shape", value=[-1, 3]),
    "an unknown dtype": _set("leaves", 0, "dtype", value="object"),
    "a value that is not there": _set("leaves", 2, "value", value=500),
    "a later format": _set("format", value=99),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_errors(tmp_path: Path, name: str) -> None:
    saved_bytes(tmp_path)
    with pytest.raises(BadFile, match="bad"):
        symc.load(changed(tmp_path, HOSTILE[name]))


def test_slots_that_are_not_a_bodys_own_are_refused(tmp_path: Path) -> None:
    """Seed 5501850 of damaged files: a loop had one slot twice, and no value for the other one."""
    x = T.vector("x")
    states, _ = symc.scan(lambda row, state: row + state, sequences=x, outputs_info=x[0])
    symc.save(symc.function([x], states, mode="python"), tmp_path / "good")
    document, _ = archive.read(tmp_path / "good")
    nodes = document["nodes"]
    loop = next(number for number, node in enumerate(nodes) if "Scan" in str(node.get("op")))
    slots = nodes[loop]["op"]["fields"][0]["fields"][0]
    twice = _set("nodes", loop, "op", "fields", 0, "fields", 0, value=[slots[0], *slots[:-1]])
    less = _set("nodes", loop, "op", "fields", 0, "fields", 0, value=slots[:-1])
    outside = _set("outputs", value=[slots[0]["node"]])
    for change, said in ((twice, "of another one|are one slot"), (less, "of another one"),
                         (outside, "of another one")):  # fmt: skip
        with pytest.raises(BadFile, match=said):
            symc.load(changed(tmp_path, change), mode="python")


def test_a_program_from_a_file_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code relies on checks that symc does when it makes a graph; a forger skips them."""
    monkeypatch.setattr(document, "_check", lambda op, args: None)
    y = T.vector("y", dtype="int64")
    symc.save(symc.function([y], [y + y, y * y], name="sums", mode="python"), tmp_path / "good")
    forged = changed(tmp_path, _set("nodes", 1, "op", value={"elementwise": "div"}))
    with pytest.raises(BadFile, match="cannot be made"):
        symc.load(forged, mode="default")


def test_a_device_that_is_not_here_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = T.vector("x")
    symc.save(symc.function([x], x + 1, device="cuda:7", mode="python"), tmp_path / "f")
    with pytest.raises(DeviceError, match=r"device=\"cpu\"\) takes it elsewhere"):
        symc.load(tmp_path / "f", mode="default")
    assert symc.load(tmp_path / "f", mode="default", device="cpu")([1.0]) == 2


def test_files_of_a_later_symc_say_so(tmp_path: Path) -> None:
    saved_bytes(tmp_path)
    with pytest.raises(BadFile, match=r"its format is 99, and this symc reads 1 to 1"):
        symc.load(changed(tmp_path, _set("format", value=99)))


def test_an_array_that_is_a_pickle_is_not_read(tmp_path: Path) -> None:
    saved_bytes(tmp_path)
    data = io.BytesIO()
    np.save(data, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "good") as good, zipfile.ZipFile(tmp_path / "bad", "w") as bad:
        for member in good.namelist():
            bad.writestr(member, data.getvalue() if member == "arrays/0.npy" else good.read(member))
    with pytest.raises(BadFile, match="arrays/0"):
        symc.load(tmp_path / "bad")


def test_an_array_that_claims_to_be_huge_asks_for_no_memory(tmp_path: Path) -> None:
    saved_bytes(tmp_path)
    data = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)}
    np.lib.format.write_array_header_1_0(data, header)
    with zipfile.ZipFile(tmp_path / "good") as good, zipfile.ZipFile(tmp_path / "bad", "w") as bad:
        for member in good.namelist():
            bad.writestr(member, data.getvalue() if member == "arrays/0.npy" else good.read(member))
    with pytest.raises(BadFile, match="does not hold what it says"):
        symc.load(tmp_path / "bad")


def test_the_file_can_be_read_without_symc(tmp_path: Path) -> None:
    saved_bytes(tmp_path)
    with zipfile.ZipFile(tmp_path / "good") as good:
        document = json.loads(good.read("symc.json"))
        assert document["format"] == 1
        (leaf,) = [leaf for leaf in document["leaves"] if leaf["name"] == "w"]
        values = np.load(io.BytesIO(good.read(f"arrays/{leaf['value']}.npy")))
    assert values.shape == (3, 4)


def test_a_file_that_is_compressed_is_refused(tmp_path: Path) -> None:
    """18 KB of deflated JSON took 488 MB."""
    with zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("symc.json", "[" + " " * 20_000_000 + "]")
    assert (tmp_path / "bomb").stat().st_size < 30_000
    tracemalloc.start()
    with pytest.raises(BadFile, match=r"bomb: symc\.json is compressed"):
        symc.load(tmp_path / "bomb")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000


def test_parts_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    """Each of a thousand arrays could be the same megabyte of a file."""
    made = bytearray(saved_bytes(tmp_path))
    length, entry = len(made), made.index(b"PK\x01\x02")
    while entry >= 0:  # each part is as long as the file
        made[entry + 20 : entry + 28] = struct.pack("<II", length, length)
        entry = made.find(b"PK\x01\x02", entry + 46)
    (tmp_path / "bad").write_bytes(made)
    with pytest.raises(BadFile, match="its parts are longer than the file"):
        symc.load(tmp_path / "bad")


HEADERS = [
    "{'descr': '''", "(" * 5000, "{'descr': '<f8', 'fortran_order': False, 'shape': (3L,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, -1), }", "", "1L", "{}",
    "{'descr': 'f8,f8', 'fortran_order': False, 'shape': (), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4611686018427387904, 9), }",
]  # fmt: skip


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_cannot_be_read_are_bad_files(tmp_path: Path, header: str) -> None:
    """`TokenError` came out of the tokenizer that NumPy reads old headers with."""
    saved_bytes(tmp_path)
    text = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    with zipfile.ZipFile(tmp_path / "good") as good, zipfile.ZipFile(tmp_path / "bad", "w") as bad:
        for member in good.namelist():
            bad.writestr(member, text if member == "arrays/0.npy" else good.read(member))
    with pytest.raises(BadFile, match="arrays/0"):
        symc.load(tmp_path / "bad")


def test_a_compiler_that_hangs_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    symc.save(training_step(), tmp_path / "f")
    fake = tmp_path / "gcc"
    fake.write_text("#!/bin/sh\nsleep 1000\n")
    fake.chmod(0o755)
    monkeypatch.setenv("SYMC_CC", str(fake))
    with symc.config.set(compile_timeout=0.1), pytest.raises(CompileTimeout):
        symc.load(tmp_path / "f", mode="default")


def test_a_folder_is_no_damaged_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        symc.load(tmp_path)


def test_names_of_any_text(tmp_path: Path) -> None:
    """Lone surrogates, as in names of files that are not UTF-8, have no bytes in UTF-8."""
    name = "caf\udce9\ud800"
    x, w = T.vector(name), symc.shared(np.ones(2), name=name)
    y = T.exp(x) * w
    y.name = name
    f = symc.function([x], {name: y}, updates=[(w, w + x)], name=name, mode="default")
    np.testing.assert_array_equal(f(**{name: [0.0, 0.0]})[name], [1, 1])
    assert "caf\ufffd" in f.source
    symc.save(f, tmp_path / "f")
    again = symc.load(tmp_path / "f")
    assert again.shared[0].name == name
    np.testing.assert_array_equal(again([0.0, 0.0])[name], [1, 1])
    assert "caf\ufffd" in f.report(tmp_path / "page.html").read_text(encoding="utf-8")
    folder = f.export(tmp_path / "exported", example=[[0.0, 0.0]])
    subprocess.run(["make", "-s", "test"], cwd=folder, check=True, capture_output=True)
    pickle.loads(pickle.dumps(f))


def test_a_name_too_long_for_a_file_is_refused_by_export(tmp_path: Path) -> None:
    f = symc.function([], T.zeros(2), name="n" * 100_000, mode="python")
    with pytest.raises(CannotSave, match="which has 100000 characters; give it one of at most 200"):
        f.export(tmp_path / "exported")
    assert not (tmp_path / "exported").exists()
