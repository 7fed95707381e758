"""Folders that commands wrote before: bundles and hand-overs are still confirmed, and results still named alike."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lcifr import Representation
from lcifr.check import check_bundle
from tests.check.second.asking import refused, second_of
from tests.golden.make import COMMANDS, HOME, OLDER, run, unpack, write_inputs

HANDED_OVER = [name for name in COMMANDS if name.startswith("produce-")]
SWEPT = [name for name in COMMANDS if name.startswith("sweep-")]
AUDITED = [name for name in COMMANDS if name.startswith("audit-")]
OF_NETWORKS = [
    *("audit-logistic", "audit-network", "audit-number", "audit-float32", "audit-parties"),
    "produce-network",
]
"""What the second checker reads: it knows no trees and no sweeps."""
HOMES = pytest.mark.parametrize("home", [HOME, OLDER], ids=["now", OLDER.name])
NAMED = ("result.json", "settings.json", "manifest.json")
ADDED = ("/arguments/threshold", "/arguments/score_threshold")
"""Options that requests for a model file have had since then."""
RENAMED = {
    "produce": {"/arguments/monotone": ("/arguments/rising", "/arguments/falling")},
    "certify": {
        "/arguments/table": ("/arguments/people", "/arguments/on"),
        **{f"/inputs/table{rest}": (f"/inputs/people{rest}",) for rest in ("", "/path", "/sha256")},
    },
}
"""Keys of settings with other names since the golden folders were written: arguments are the fields of requests."""


def keys(plain: Any, before: str = "") -> set[str]:
    """Every path of a JSON value; the entries of a list are alike."""
    if isinstance(plain, dict):
        return {path for key, value in plain.items() for path in keys(value, f"{before}/{key}")} | {before}
    if isinstance(plain, list):
        return {path for value in plain for path in keys(value, f"{before}/*")} | {before}
    return {before}


def json_of(folder: Path) -> dict[str, Any]:
    """The files of a folder that say what was done, by their paths."""
    found = (path for path in folder.rglob("*.json") if path.name in NAMED)
    return {str(path.relative_to(folder)): json.loads(path.read_text(encoding="utf-8")) for path in found}


def test_every_command_has_a_golden_folder_and_they_are_small() -> None:
    assert {path.name.removesuffix(".tar.gz") for path in HOME.glob("*.tar.gz")} == set(COMMANDS)
    assert {path.name.removesuffix(".tar.gz") for path in OLDER.iterdir()} == {*AUDITED, *SWEPT, *HANDED_OVER}
    assert sum(path.stat().st_size for path in HOME.rglob("*.tar.gz")) < 2_000_000


@HOMES
@pytest.mark.parametrize("name", [*AUDITED, *SWEPT, *HANDED_OVER])
def test_a_golden_bundle_is_confirmed(name: str, home: Path, tmp_path: Path) -> None:
    report = check_bundle(unpack(name, tmp_path, home) / "bundle")
    assert not report.rejected
    assert report.people == 5 if name in AUDITED else report.people > 5
    assert sum(report.confirmed.values()) > 0
    if name in SWEPT:
        assert sum(kind.startswith("proved") for kind in report.confirmed) == 1


@HOMES
@pytest.mark.parametrize("name", HANDED_OVER)
def test_a_golden_hand_over_is_read_and_is_the_one_whose_radii_are_proved(
    name: str, home: Path, tmp_path: Path
) -> None:
    folder = unpack(name, tmp_path, home)
    learned, handed = (Representation.read(folder / "handover" / part) for part in ("train", "held-out"))
    assert (len(learned), len(handed)) == (54, 6)
    assert handed.latent_hash == check_bundle(folder / "bundle").hashes["hand-over"]


@HOMES
@pytest.mark.parametrize("name", OF_NETWORKS)
def test_the_second_checker_confirms_it_too(name: str, home: Path, tmp_path: Path) -> None:
    bundle = unpack(name, tmp_path, home) / "bundle"
    plain = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in bundle.glob("*.json")}
    plain |= {"encoding": plain["encoding.json"], "similarity": plain["similarity.json"]}
    plain["manifest"] = {"decision": None} | plain["manifest.json"]
    lines = [json.loads(line) for line in gzip.decompress((bundle / "people.jsonl.gz").read_bytes()).splitlines()]
    if name in HANDED_OVER:  # radii alone: no model stands behind the encoder
        width = len(lines[0]["latent"]["z"])
        plain["model.json"] = [[[*[1.0] * width, 0.0]]]
    second = second_of(plain)
    assert [refused(second, line) for line in lines] == [""] * len(lines)


def assert_same_keys(before: Path, after: Path) -> None:
    old, new, renamed = json_of(before), json_of(after), RENAMED.get(after.name.partition("-")[0], {})
    assert set(new) == set(old)
    for file in old:
        expected = {now for key in keys(old[file]) for now in renamed.get(key, (key,))}
        added = {key for key in keys(new[file]) if file == "settings.json" and key in ADDED}
        assert keys(new[file]) - added == expected, file


def test_a_result_has_the_keys_that_it_had(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    run("audit-logistic", tmp_path)
    assert_same_keys(unpack("audit-logistic", tmp_path / "before"), tmp_path / "audit-logistic")


@pytest.fixture(scope="module")
def commands_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every command was run by this version."""
    folder = tmp_path_factory.mktemp("golden")
    write_inputs(folder)
    for name in COMMANDS:
        run(name, folder)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_every_result_has_the_keys_that_it_had(name: str, commands_run: Path, tmp_path: Path) -> None:
    assert_same_keys(unpack(name, tmp_path), commands_run / name)
