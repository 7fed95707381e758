"""How a bundle is read: types are what the page says, files are read once, and what is not claimed is said."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import represent
from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected
from tests.certification.made_bundles import SCENES, bundle, contents, rewritten
from tests.certification.scenes import FORMULAS, scene
from tests.check.process import COMMAND

ALONE = (sys.executable, "-m", "lcifr.check")


@pytest.fixture
def plain() -> dict[str, Any]:
    return copy.deepcopy(contents(0, "whole"))


def violated(tmp_path: Path) -> dict[str, Any]:
    """A bundle with a counterexample."""
    every = (copy.deepcopy(contents(number, "whole")) for number in range(len(SCENES)))
    return next(one for one in every if any(line["decision"]["verdict"] == "counterexample" for line in one["lines"]))


NO_FRACTIONS: list[Any] = [
    [],
    [5],
    [0, 1, 1],
    "5",
    ["5", "1"],
    [True, 1],
    [0, 0],
    [0, -1],
    [0.0, 1.0],
    {"0": 1},
    0,
    None,
]


@pytest.mark.parametrize("found", NO_FRACTIONS, ids=str)
@pytest.mark.parametrize("where", ["constant", "coefficient"])
def test_what_is_no_fraction_is_not_taken_for_one(
    found: Any, where: str, plain: dict[str, Any], tmp_path: Path
) -> None:
    fractions = {"constant": [0, 1], "coefficient": [0, 1]} | {where: found}
    more = ["compare", "<=", fractions["constant"], [[fractions["coefficient"], "self", "age"]]]
    plain["similarity"]["formula"] = ["all", plain["similarity"]["formula"], more]
    assert len(check_bundle(rewritten(tmp_path, plain)).rejected) == 4


def test_that_fraction_written_rightly_is_confirmed(plain: dict[str, Any], tmp_path: Path) -> None:
    """0 ≤ 0 says nothing, so all stays confirmed: the test above refuses the fractions and nothing else."""
    more = ["compare", "<=", [0, 1], [[[0, 1], "self", "age"]]]
    plain["similarity"]["formula"] = ["all", plain["similarity"]["formula"], more]
    assert check_bundle(rewritten(tmp_path, plain)).exit_code == 0


@pytest.mark.parametrize(
    ("name", "key", "found"),
    [
        *(("age", "lower", found) for found in ("18", True, None, [18], float("nan"), 91)),
        *(("age", "integer", found) for found in (1, "true", None, 0, [])),
        *(("sex", "values", found) for found in ("fm", {"female": 0, "male": 1}, 2)),
    ],
)
def test_an_encoding_of_other_types_is_refused(
    name: str, key: str, found: Any, plain: dict[str, Any], tmp_path: Path
) -> None:
    plain["encoding"]["schema"]["attributes"][name][key] = found
    with pytest.raises(Rejected):
        check_bundle(rewritten(tmp_path, plain))


@pytest.mark.parametrize("found", [None, 1.5, [1], {}, True])
def test_an_id_is_text_or_a_whole_number(found: Any, plain: dict[str, Any], tmp_path: Path) -> None:
    plain["lines"][0]["id"] = found
    with pytest.raises(Rejected, match="is no id"):
        check_bundle(rewritten(tmp_path, plain))


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "sign", "note": "approved"},
        {"kind": "class", "groups": [[0.0], [1.0]]},
        {"kind": "class", "groups": [[False], [True]]},
        {"kind": "within", "tolerance": 1.0, "groups": []},
    ],
    ids=str,
)
def test_a_rule_says_what_its_kind_has_and_no_more(rule: Any, plain: dict[str, Any], tmp_path: Path) -> None:
    """It is shown as what must agree, so nothing stands in it that was not used."""
    plain["manifest"]["decision"] = rule
    with pytest.raises(Rejected, match=r"the rule|not an integer"):
        check_bundle(rewritten(tmp_path, plain))


@pytest.mark.parametrize("name", ["encoder.json", "model.json"])
@pytest.mark.parametrize(
    "found",
    [
        {},
        {"kind": "network"},
        {"factors": []},
        {"kind": "forest"},
        {"kind": "trees"},
        {"kind": "network", "factors": [1]},
        5,
        [],
        None,
    ],
    ids=str,
)
def test_a_function_that_is_none_is_refused(name: str, found: Any, plain: dict[str, Any], tmp_path: Path) -> None:
    plain[name] = found
    with pytest.raises(Rejected):
        check_bundle(rewritten(tmp_path, plain))


def test_without_a_factor_there_is_no_function(plain: dict[str, Any], tmp_path: Path) -> None:
    plain["encoder.json"] = plain["model.json"] = {"kind": "network", "factors": []}
    with pytest.raises(Rejected):
        check_bundle(rewritten(tmp_path, plain))


def test_every_file_is_opened_once() -> None:
    """A second reading could find another file than the one that was hashed."""
    program = """
import sys
opened = []
sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == "open" else None)
from lcifr.check.bundle import check_bundle
check_bundle(sys.argv[1])
print(*(path.rpartition("/")[2] for path in opened if path.startswith(sys.argv[1])))
"""
    folder = bundle(0, "whole")
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == sorted(file.name for file in folder.iterdir())


def test_the_hash_of_the_people_is_that_of_what_was_read(plain: dict[str, Any], tmp_path: Path) -> None:
    """Found out after the last person; no report comes of it."""
    folder = rewritten(tmp_path, plain)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["people.jsonl.gz"]["sha256"] = "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))
    done: list[tuple[int, int]] = []
    with pytest.raises(Rejected, match="its hash differs"):
        check_bundle(folder, lambda *heard: done.append(heard))  # type: ignore[arg-type]
    assert done == [(k, 4) for k in range(1, 5)]


def test_without_radii_there_is_no_hand_over_to_name(tmp_path: Path) -> None:
    one = scene(1, FORMULAS[0], count=3)
    found = audit(one.encoder, one.model, one.people, modular=False)
    write_bundle(tmp_path / "decisions", one.encoder, one.people, None, found)
    assert "hand-over" not in check_bundle(tmp_path / "decisions").hashes
    handed = represent(one.encoder, one.people)
    write_bundle(tmp_path / "both", one.encoder, one.people, handed, found)
    assert check_bundle(tmp_path / "both").hashes["hand-over"] == handed.latent_hash


@pytest.mark.parametrize("command", [ALONE, (*COMMAND, "check")], ids=["alone", "lcifr check"])
@pytest.mark.parametrize("how", ["undecided", "silent"])
def test_a_counterexample_that_is_left_out_shows(how: str, command: tuple[str, ...], tmp_path: Path) -> None:
    plain = violated(tmp_path)
    whole = check_bundle(rewritten(tmp_path / "whole", plain))
    hidden = [line for line in plain["lines"] if line["decision"]["verdict"] == "counterexample"]
    for line in hidden:
        if how == "undecided":
            line["decision"] = {"verdict": "undecided"}
        else:
            del line["decision"]
    folder = rewritten(tmp_path / "less", plain)
    report = check_bundle(folder)
    assert len(report.names["unclaimed"]) == len(whole.names["unclaimed"]) + len(hidden)
    assert f"people without a claim: {len(report.names['unclaimed'])}, " in "\n".join(report.lines())
    codes = [
        subprocess.run([*command, str(folder), *more], capture_output=True, check=False).returncode
        for more in ((), ("--strict",))
    ]
    assert codes == [0, 4]


def test_where_everybody_has_a_verdict_strict_changes_nothing() -> None:
    report = check_bundle(bundle(0, "whole"))
    assert (report.names["unclaimed"], report.strict_exit_code) == ([], 0)


def test_what_is_not_confirmed_comes_before_what_is_not_claimed(plain: dict[str, Any], tmp_path: Path) -> None:
    plain["lines"][0]["decision"] = {"verdict": "undecided"}
    plain["lines"][1]["latent"]["radius"] = 0.0
    report = check_bundle(rewritten(tmp_path, plain))
    assert (report.exit_code, report.strict_exit_code) == (1, 1)


@pytest.mark.parametrize("command", [ALONE, (*COMMAND, "check")], ids=["alone", "lcifr check"])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_reader_who_has_seen_enough_is_no_error(command: tuple[str, ...], more: tuple[str, ...]) -> None:
    """``lcifr check … | head`` ends quietly, and the exit code is still the answer."""
    with subprocess.Popen(
        [*command, str(bundle(0, "whole")), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        _, said = running.communicate() if running.stdout is None else ("", running.stderr.read())  # type: ignore[union-attr]
    assert (running.returncode, said) == (0, "")


@pytest.mark.parametrize("words", [[], ["a", "b"], ["a", "--patience=x"], ["a", "--loud"], ["-a"]])
def test_wrong_use_is_said(words: list[str]) -> None:
    done = subprocess.run([*ALONE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
