"""``python -m symc``: the output of the commands, and their exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symc.__main__ import main
from symc.codegen.targets import compiler, openmp
from symc.commands import doctor

MODULE = """\
import symc, symc.tensor as T

x = T.vector("x")
total = symc.function([x], T.exp(x).sum(), name="total")


def several():
    return {"a": total, "b": [symc.function([x], x * 2, name="twice")]}


number = 3
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    file = tmp_path / "users_module.py"
    file.write_text(MODULE)
    return file


def test_doctor_says_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    for what in ("versions", "C compiler", "flags", "cache", "a function"):
        assert f"+ {what}" in printed
    found = compiler.find_compiler()
    assert found is not None
    assert f"{'+' if openmp.has_openmp(found) else '-'} threads" in printed


def test_doctor_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert {"what", "state", "found", "mend"} == set(findings[0])
    assert all(finding["state"] in doctor.MARKS for finding in findings)


def test_doctor_without_a_compiler(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYMC_CC", "no-such-compiler")
    with pytest.warns(RuntimeWarning, match="no C compiler"):
        assert main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert "! C compiler" in printed
    assert "to mend it: install gcc or clang" in printed


def test_doctor_survives_what_it_did_not_foresee(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def look() -> None:
        raise OSError("a disk on fire")

    monkeypatch.setattr(doctor, "LOOKS", (look,))
    assert main(["doctor"]) == 1
    assert "! look             OSError: a disk on fire" in capsys.readouterr().out


def test_compile_fills_the_cache(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", f"{module}:several", str(module)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["total", "twice", "total"]
    assert "was in the cache" in lines[2]
    assert main(["compile", "--json", f"{module}:total"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    assert answer["name"] == "total"
    assert answer["cached"]


def test_show_prints_a_view(
    module: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(module.parent)
    views = {
        "source": "symc_run", "graph": "%1 = exp", "program": "kernel", "explain": "1. kernel",
        "report": "wrote total.html",
    }  # fmt: skip
    for view, text in views.items():
        assert main(["show", f"{module}:total", view]) == 0
        assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:f", "there is no module no_such_module"),
        ("no_such_file.py:f", "there is no file no_such_file.py"),
        ("{module}:nothing", "has no nothing"),
        ("{module}:number", "is no function of symc's"),
    ],
)
def test_what_is_not_there_gives_status_2(
    module: Path, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("compile", "show"):
        assert main([command, name.format(module=module)]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compile", "show"])
def test_what_the_users_module_raises_is_shown_without_our_lines(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "users_broken_module.py"
    file.write_text("def make():\n    raise ValueError('no data')\n\ndef wants(x):\n    pass\n")
    for name, line in ("make", "ValueError: no data"), ("wants", "TypeError: wants() missing"):
        assert main([command, f"{file}:{name}"]) == 2
        said = capsys.readouterr().err
        assert line in said
        assert "named.py" not in said
    assert "line 2, in make" not in said
    file.write_text("def (")
    assert main([command, str(file)]) == 2
    assert "SyntaxError" in capsys.readouterr().err
    assert main([command, "users.broken"]) == 2
    assert "a function is named users:broken" in capsys.readouterr().err


def test_show_in_json(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{module}:total", "graph", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["view"] == "graph"
    assert answer["functions"][0]["name"] == "total"
    assert "exp" in answer["functions"][0]["text"]


def test_unknown_commands_give_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dance"]) == 2
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("symc ")
    assert main(["--help"]) == 0
    assert "doctor" in capsys.readouterr().out


def test_the_cache_has_its_own_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "size", "--json"]) == 0
    assert "entries" in json.loads(capsys.readouterr().out)
