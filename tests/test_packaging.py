"""The installed files: only `symc`, with all of its parts, beside a user's own cache.py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINKED = ("codegen", "cache")
INPUTS = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", ".ci", "symc", "tests", *LINKED)
NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info", ".*")

USER_PROGRAM = """
import cache, codegen
import numpy as np
import symc
import symc.tensor as T
from symc.cache.store import Store
from symc.codegen.ir import Program

assert cache.mine == codegen.mine == "the user's"
x = T.vector("x")
f = symc.function([x], symc.grad((x**2).sum(), x))
assert np.array_equal(f([1.0, 2.0, 3.0]), [2.0, 4.0, 6.0])
assert f.source, "not compiled"
assert Store.__module__ == "symc.cache.store", Store
assert Program.__module__ == "symc.codegen.statements", Program
print(symc.__file__)
"""


def settings() -> dict[str, dict[str, str] | list[str]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: dict[str, dict[str, str] | list[str]] = tomllib.load(file)["tool"]["setuptools"]
    return found


def packages_in_folders() -> set[str]:
    found: set[str] = set()
    for top in ("symc", *LINKED):
        for path in (ROOT / top).rglob("*.py"):
            folder = path.parent.relative_to(ROOT)
            if not any((ROOT / part).is_symlink() for part in (folder, *folder.parents)):
                name = ".".join(folder.parts)
                found.add(name if top == "symc" else f"symc.{name}")
    return found


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """The output of a command; fails the test with it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**clean, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(folder: Path, *, compiler: str = "") -> tuple[Path, Path]:
    """The sdist, and the wheel that is made from the sdist; a copy of the checkout is built."""
    checkout = folder / "checkout"
    checkout.mkdir()
    for name in INPUTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, checkout / name, symlinks=True, ignore=NOT_COPIED)
        else:
            shutil.copy(ROOT / name, checkout / name)
    environment = {"CC": compiler} if compiler else {}
    isolation = ["--no-isolation"] if _has_recent_setuptools() else []
    run(
        sys.executable, "-m", "build", *isolation, "--outdir", folder, ".",
        cwd=checkout, **environment,
    )  # fmt: skip
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


def _has_recent_setuptools() -> bool:
    try:
        return int(version("setuptools").split(".")[0]) >= 77
    except PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("built"))


def files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_pyproject_lists_the_packages_that_there_are() -> None:
    packages = settings()["packages"]
    assert sorted(packages) == sorted(packages_in_folders())


def test_pyproject_maps_each_package_that_lies_elsewhere() -> None:
    outside = [p for p in settings()["packages"] if p.split(".")[1:2] in (["codegen"], ["cache"])]
    expected = {name: name.removeprefix("symc.").replace(".", "/") for name in outside}
    assert settings()["package-dir"] == expected


def test_a_checkout_without_links_says_what_to_do(tmp_path: Path) -> None:
    """Zip files of a checkout hold links as texts."""
    ignored = shutil.ignore_patterns(*LINKED, "*.so", "__pycache__")
    shutil.copytree(ROOT / "symc", tmp_path / "symc", ignore=ignored)
    for name in LINKED:
        (tmp_path / "symc" / name).write_text(f"../{name}", encoding="utf-8")
    # Without the finder of an editable symc of here.
    program = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f)];"
        "sys.path.insert(0, ''); import symc"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "pip install -e ." in done.stderr


@pytest.mark.skipif((ROOT / "PKG-INFO").exists(), reason="a source distribution holds no links")
@pytest.mark.parametrize("name", LINKED)
def test_links_make_a_checkout_usable(name: str) -> None:
    link = ROOT / "symc" / name
    assert link.is_symlink()
    assert link.readlink() == Path("..") / name


@pytest.mark.parametrize("name", LINKED)
def test_parts_refuse_other_names(name: str) -> None:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {name}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "ImportError" in done.stderr
    assert f"symc.{name}" in done.stderr


def test_wheel_holds_symc_and_nothing_else(built: tuple[Path, Path]) -> None:
    names = files_of(built[1])
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"symc"}
    modules = {name for name in names if name.endswith((".py", ".pyi"))}
    here = {
        f"symc/{path.relative_to(ROOT).as_posix()}".replace("symc/symc/", "symc/")
        for top in ("symc", *LINKED)
        for path in (ROOT / top).rglob("*.py*")
        if path.suffix in (".py", ".pyi")
        and not any(parent.is_symlink() for parent in path.parents)
    }
    assert modules == here


def test_wheel_holds_headers_data_and_the_extension(built: tuple[Path, Path]) -> None:
    names = files_of(built[1])
    runtime = (*ROOT.glob("codegen/runtime/**/*.h"), *ROOT.glob("codegen/runtime/**/*.c"))
    assert {f"symc/{path.relative_to(ROOT).as_posix()}" for path in runtime} <= names
    assert "symc/py.typed" in names
    assert {"symc/demo/digits.csv.gz", "symc/demo/NOTICE.md"} <= names
    assert {"symc/calls/_call.abi3.so", "symc/tensor/_libm.abi3.so"} <= names
    assert "-cp311-abi3-" in built[1].name, "one wheel for 3.11 and later"
    assert {"symc/show/report/dagre/dagre.min.js", "symc/show/report/dagre/LICENSE"} <= names


def test_sdist_holds_what_a_build_needs(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "symc/calls/_call.c", "codegen/ir.py"}
    needed |= {"tests/conftest.py", "tests/test_packaging.py", "MANIFEST.in", ".ci/run"}
    needed |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob("symc/calls/_*.[ch]")}
    assert needed <= names


def test_an_install_works_beside_a_users_cache_and_codegen(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    paths = {key: str(environment) for key in ("base", "platbase")}
    site = Path(sysconfig.get_path("platlib", "venv", paths))
    # symc's dependencies are used from here instead of being downloaded again. (Paths that a .pth
    # file names are not searched for .pth files, so an editable symc of here stays out of sight.)
    (site / "dependencies.pth").write_text(sysconfig.get_path("platlib") + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", built[1], cwd=tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    for name in LINKED:
        (project / f"{name}.py").write_text('mine = "the user\'s"\n', encoding="utf-8")
    (project / "main.py").write_text(USER_PROGRAM, encoding="utf-8")
    where = run(python, "main.py", cwd=project, SYMC_CACHE_DIR=str(tmp_path / "cache"))
    assert where.strip() == str(site / "symc" / "__init__.py")


def test_without_a_compiler_the_extension_is_left_out(tmp_path: Path) -> None:
    _, wheel = build(tmp_path, compiler="no-such-compiler")
    assert not [name for name in files_of(wheel) if re.match(r"symc/calls/_\w+\.[^p]", name)]
    assert "symc/calls/call.py" in files_of(wheel)


def test_no_hint_installs_a_package_that_is_not_ours() -> None:
    """The public index has a package of symc's name: hints are for a checkout, or name others."""
    pattern = re.compile(r"(?:pip|uv|pipx) (?:\w+ )*install[^`\n]*?[\s'\"]symc\b(?![./])(?! \()")
    assert pattern.search("pip install 'symc[cuda]'")
    assert pattern.search("pip install --force-reinstall symc")
    assert not pattern.search("`pip install '.[cuda]'` in the checkout of symc (what it brings)")
    root = Path(__file__).parent.parent
    kinds = (
        "*.py",
        "*.md",
        "*.toml",
        "*.ipynb",
        "*.h",
        "*.cuh",
        "*.clh",
        "*.table",
        "*.c",
        "*.js",
        "*.yml",
    )
    folders = ("symc", "codegen", "cache", "docs", "notebooks", "benchmarks", "scripts")
    paths = [path for folder in folders for kind in kinds for path in (root / folder).rglob(kind)]
    paths += [*root.glob("*.md"), *root.glob("*.toml"), *root.glob("*.yml")]
    assert len(paths) > 300
    for path in paths:
        found = pattern.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path}: {found[0]}"
