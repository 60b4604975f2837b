"""The notebooks run from top to bottom, and show the results that come out.

``--update-golden`` writes their outputs anew. Cells tagged ``varies`` show times, pictures and the
like: their stored outputs are not compared.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EVERY = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def varies(cell: dict[str, Any]) -> bool:
    return "varies" in cell["metadata"].get("tags", ())


def shown(cell: dict[str, Any]) -> str:
    """The text that stands below a cell."""
    texts: list[str | list[str]] = [
        output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
        for output in cell["outputs"]
    ]
    return "".join(text if isinstance(text, str) else "".join(text) for text in texts)


@EVERY
def test_outputs_are_stored_in_order(path: Path) -> None:
    cells = code_cells(read(path))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell["outputs"] for cell in cells)


@EVERY
def test_it_takes_five_minutes_to_read(path: Path) -> None:
    """200 words of prose, 25 lines of code, or 60 lines of output are taken to be a minute."""
    cells = read(path)["cells"]
    prose = sum(len("".join(c["source"]).split()) for c in cells if c["cell_type"] == "markdown")
    code = sum(len(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    output = sum(shown(cell).count("\n") for cell in cells if cell["cell_type"] == "code")
    assert prose / 200 + code / 25 + output / 60 < 5, (prose, code, output)


@EVERY
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_notebook_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (extra `test`)")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (extra `test`)")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed (extra `test`)")
    if "symc.pytensor" in path.read_text(encoding="utf-8"):  # scripts/test-pytensor runs these
        pytest.importorskip("pymc", reason="PyMC is not installed (extra `pymc`)")
    if "cuda:sim" in path.read_text(encoding="utf-8"):
        from symc.codegen.targets import sim

        if not sim.available():
            pytest.skip("the simulator needs g++")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    stored = read(path)
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", record_timing=False, coalesce_streams=True,
        resources={"metadata": {"path": str(tmp_path)}},
    )  # fmt: skip
    client.execute()
    if request.config.getoption("--update-golden"):
        write(path, stored, notebook)
        return
    for before, after in zip(code_cells(stored), code_cells(notebook), strict=True):
        if not varies(before):
            assert shown(after) == shown(before), "".join(before["source"])


def write(path: Path, stored: dict[str, Any], executed: dict[str, Any]) -> None:
    """Writes the outputs; of cells that vary only where there are none (clear them to renew)."""
    for before, after in zip(code_cells(stored), code_cells(executed), strict=True):
        if varies(before) and before["outputs"]:
            continue
        before["outputs"] = [_kept(output) for output in after["outputs"]]
        before["execution_count"] = after["execution_count"]
    path.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _kept(output: dict[str, Any]) -> dict[str, Any]:
    assert output.get("name") != "stderr", output["text"]
    if "text" in output:
        return {**output, "text": output["text"].splitlines(keepends=True)}
    data = dict(output.get("data", {}))
    if "text/html" in data:
        data["text/html"] = data["text/html"].splitlines(keepends=True)
    return {**output, "data": data}


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("name", ["first_function", "training_on_digits"])
def test_functions_are_stored_as_html(name: str) -> None:
    """No stored notebook had any, so that the site showed functions by their names alone."""
    cells = code_cells(read(ROOT / "notebooks" / f"{name}.ipynb"))
    pages = [
        "".join(output["data"]["text/html"])
        for cell in cells
        for output in cell["outputs"]
        if "text/html" in output.get("data", {})
    ]
    assert any("<summary>generated source</summary>" in page for page in pages)
