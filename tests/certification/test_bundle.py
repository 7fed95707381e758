"""The files of an audit bundle: what is broken, foreign, altered or escapes is refused, and the command says so."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import lcifr
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import represent
from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected
from lcifr.data.files import sha256_of
from lcifr.errors import ArtefactError
from tests.certification.made_bundles import WEIGHTS, bundle, contents, rewritten
from tests.certification.scenes import FORMULAS, scene


def test_rewriting_alone_changes_nothing(tmp_path: Path) -> None:
    assert check_bundle(rewritten(tmp_path, copy.deepcopy(contents(0, "whole")))).exit_code == 0


@pytest.mark.parametrize("what", ["missing", "repeated", "manifest"])
def test_people_are_counted(what: str, tmp_path: Path) -> None:
    plain = copy.deepcopy(contents(0, "ball"))
    if what == "missing":
        plain["lines"].pop()
    elif what == "repeated":
        plain["lines"][1] = plain["lines"][0]
    else:
        plain["manifest"]["people"] = 5
    with pytest.raises(Rejected):
        check_bundle(rewritten(tmp_path, plain))


@pytest.mark.parametrize("name", [*WEIGHTS, "similarity.json", "encoding.json", "people.jsonl.gz"])
def test_hashes_must_be_those_of_the_files(name: str, tmp_path: Path) -> None:
    folder = rewritten(tmp_path, copy.deepcopy(contents(0, "ball")))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name]["sha256"] = "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Rejected, match=f"{name} is not the file"):
        check_bundle(folder)


def test_the_names_of_things_are_the_hashes_of_their_files(tmp_path: Path) -> None:
    """So that a hand-over, a regulator and a report speak about the same φ, encoding, weights and radii."""
    one = scene(1, FORMULAS[0], count=4)
    handed = represent(one.encoder, one.people)
    write_bundle(tmp_path / "bundle", one.encoder, one.people, handed, certify(handed, one.model))
    said = check_bundle(tmp_path / "bundle").hashes
    assert said["similarity.json"] == handed.provenance.similarity == one.encoder.similarity.hash
    assert said["encoding.json"] == handed.provenance.encoding == one.encoder.encoding.hash
    assert said["encoder.json"] == handed.provenance.weights == one.encoder.network.hash
    assert said["hand-over"] == handed.latent_hash


@pytest.mark.parametrize("name", ["similarity", "encoding", "weights"])
def test_a_report_about_another_formula_encoding_or_encoder_confirms_no_radius(name: str, tmp_path: Path) -> None:
    """A bundle with the same latents and a φ that calls nobody similar would be confirmed, too."""
    one = scene(1, FORMULAS[0], count=4)
    handed = represent(one.encoder, one.people)
    write_bundle(tmp_path / "bundle", one.encoder, one.people, handed)
    (tmp_path / "report.json").write_text(json.dumps(asdict(check_bundle(tmp_path / "bundle"))))
    assert set(handed.with_report(tmp_path / "report.json").radius_status) == {"checked"}
    foreign = replace(handed, provenance=replace(handed.provenance, **{name: "0" * 64}))
    with pytest.raises(ArtefactError, match="a different hand-over"):
        foreign.with_report(tmp_path / "report.json")


def test_a_bundle_about_other_people_than_those_handed_over_is_not_written(tmp_path: Path) -> None:
    one = scene(1, FORMULAS[0], count=4)
    handed = represent(one.encoder, one.people)
    with pytest.raises(ArtefactError, match=r"row \d of X is not .*\nFix: "):
        write_bundle(tmp_path / "bundle", one.encoder, one.people.take([1, 2, 3, 0]), handed)
    assert not list(tmp_path.iterdir())


FOREIGN: list[Any] = [
    ["maybe"],
    [],
    {"kind": "all", "parts": []},
    ["compare", "~", [0, 1], []],
    ["compare", "<=", [0, 0], []],
    ["compare", "<=", "1e999999999", []],
    ["compare", "<=", [0, 1], [[[1, 1], "self", "sex"]]],
    ["compare", "<=", [0, 1], [[[1, 1], "nobody", "age"]]],
    ["category", "other", "sex", [7]],
    ["category", "other", "age", [0]],
    ["all"],  # true: everybody is similar to everybody, and a number has no bound
]


@pytest.mark.parametrize("tree", FOREIGN, ids=lambda tree: json.dumps(tree)[:60])
def test_a_foreign_formula_confirms_nothing(tree: Any, tmp_path: Path) -> None:
    plain = copy.deepcopy(contents(0, "whole"))
    plain["similarity"]["formula"] = tree
    report = check_bundle(rewritten(tmp_path, plain))
    assert len(report.rejected) == 4


@pytest.mark.parametrize("name", ["similarity", "encoding"])
@pytest.mark.parametrize("format_", [1, None, "3", 5])
def test_another_format_of_a_file_is_not_read(name: str, format_: object, tmp_path: Path) -> None:
    plain = copy.deepcopy(contents(0, "whole"))
    plain[name]["format"] = format_
    with pytest.raises(Rejected, match="not of format"):
        check_bundle(rewritten(tmp_path, plain))


@pytest.mark.parametrize("name", ["people.jsonl.gz", "encoder.json", "encoding.json", "similarity.json"])
@pytest.mark.parametrize("how", ["cut", "zeros", "no code", "gone", "link"])
def test_broken_files_are_named(name: str, how: str, tmp_path: Path) -> None:
    folder = rewritten(tmp_path, copy.deepcopy(contents(0, "ball")))
    path = folder / name
    data = path.read_bytes()
    path.unlink()
    broken = {"cut": data[: len(data) // 2], "zeros": bytes(len(data)), "no code": data[:10] + b"\xff" * len(data)}
    if how in broken:
        path.write_bytes(broken[how])
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["files"][name] = {"sha256": sha256_of(path), "bytes": path.stat().st_size}
        (folder / "manifest.json").write_text(json.dumps(manifest))
    elif how == "link":
        (tmp_path / "elsewhere").write_bytes(data)
        path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Rejected, match=name.replace(".", r"\.")):
        check_bundle(folder)


def test_the_command_needs_no_package_and_its_exit_codes_are_a_contract(tmp_path: Path) -> None:
    source = str(Path(lcifr.__file__).parents[1])
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import lcifr.check.__main__ as m; sys.exit(m.main(sys.argv[2:]))"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", "-c", code, source, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    good = run(str(bundle(0, "whole")))
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("4 of 4 people")
    plain = copy.deepcopy(contents(0, "whole"))
    plain["lines"][2]["latent"]["radius"] = 0.0
    bad = run(str(rewritten(tmp_path, plain)), "--json")
    assert bad.returncode == 1
    assert list(json.loads(bad.stdout)["rejected"]) == ["2"]
    assert run(str(tmp_path / "nothing")).returncode == 2
    assert run().returncode == 2
