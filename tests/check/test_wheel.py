"""``lcifr-check``: a wheel of the same files, which needs the standard library alone and Python 3.10 or later."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from wheels.try_wheel import check_in_empty_environment

import lcifr
from lcifr.check import check_bundle
from tests.certification.made_bundles import bundle

ROOT = Path(__file__).parents[2]
CHECKER = Path(lcifr.__file__).parent / "check"
SOURCES = sorted(CHECKER.rglob("*.py"))
OLDEST = (3, 10)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    done = subprocess.run(words, cwd=ROOT / "wheels/lcifr-check", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(place.glob("lcifr_check-*-py3-none-any.whl"))


def test_it_holds_the_same_files_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
        metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA"))
    license_ = {"lcifr/check/LICENSE": (ROOT / "LICENSE").read_bytes()}
    own = {file.relative_to(CHECKER.parents[1]).as_posix(): file.read_bytes() for file in SOURCES}
    assert found == own | license_
    assert "Requires-Dist" not in metadata
    assert f"Requires-Python: >={OLDEST[0]}.{OLDEST[1]}" in metadata
    version = (ROOT / "pyproject.toml").read_text().split('\nversion = "')[1].split('"')[0]
    assert f"\nVersion: {version}\n" in metadata


def test_it_confirms_a_bundle_where_nothing_else_is_installed(wheel: Path) -> None:
    done = check_in_empty_environment(wheel, bundle(2, "whole"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("\n".join(check_bundle(bundle(2, "whole")).lines()))


def test_it_needs_no_installing(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    words = [sys.executable, "-S", "-s", "-m", "lcifr.check", str(bundle(0, "whole"))]
    done = subprocess.run(words, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 of 4 people")


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.relative_to(CHECKER).as_posix())
def test_older_pythons_can_read_it_and_it_imports_the_standard_library_alone(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"), feature_version=OLDEST)
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.startswith("lcifr.check") or name.split(".")[0] in sys.stdlib_module_names - {"tomllib"}, name
