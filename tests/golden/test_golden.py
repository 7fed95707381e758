"""Bundles and results that were written before: still confirmed, and still named alike."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lcifr.check import check_bundle
from tests.check.second.asking import refused, second_of
from tests.golden.make import COMMANDS, HOME, run, unpack, write_inputs

THERE = [name for name in COMMANDS if (HOME / f"{name}.tar.gz").exists()]
AUDITED = [name for name in THERE if name.startswith("audit-")]
OF_NETWORKS = [name for name in AUDITED if name in ("audit-logistic", "audit-number")]
"""What the second checker reads: it knows no trees."""


def keys(plain: Any, before: str = "") -> set[str]:
    """Every path of a JSON value; the entries of a list are alike."""
    if isinstance(plain, dict):
        return {path for key, value in plain.items() for path in keys(value, f"{before}/{key}")} | {before}
    if isinstance(plain, list):
        return {path for value in plain for path in keys(value, f"{before}/*")} | {before}
    return {before}


def test_there_are_golden_folders_and_they_are_small() -> None:
    assert "audit-logistic" in THERE
    assert sum(path.stat().st_size for path in HOME.glob("*.tar.gz")) < 2_000_000


@pytest.mark.parametrize("name", AUDITED)
def test_a_golden_bundle_is_confirmed(name: str, tmp_path: Path) -> None:
    report = check_bundle(unpack(name, tmp_path) / "bundle")
    assert not report.rejected
    assert report.people == 5
    assert sum(report.confirmed.values()) > 0


@pytest.mark.parametrize("name", OF_NETWORKS)
def test_the_second_checker_confirms_it_too(name: str, tmp_path: Path) -> None:
    bundle = unpack(name, tmp_path) / "bundle"
    plain = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in bundle.glob("*.json")}
    plain |= {"encoding": plain["encoding.json"], "similarity": plain["similarity.json"]}
    plain["manifest"] = plain["manifest.json"]
    lines = gzip.decompress((bundle / "people.jsonl.gz").read_bytes()).splitlines()
    second = second_of(plain)
    assert [refused(second, json.loads(line)) for line in lines] == [""] * 5


def test_a_result_has_the_keys_that_it_had(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    for name in ("audit-logistic",):
        run(name, tmp_path)
        (tmp_path / "before").mkdir()
        before = unpack(name, tmp_path / "before")
        for file in ("result.json", "settings.json", "bundle/manifest.json"):
            old, new = (json.loads((folder / file).read_text(encoding="utf-8")) for folder in (before, tmp_path / name))
            assert keys(new) == keys(old), file
