"""Attacks on whole bundles: things that a careless reader would take for something else. None may be confirmed."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lcifr.check.bundle import check_bundle
from lcifr.check.exact import Rejected
from lcifr.check.report import statement
from lcifr.data.files import sha256_of
from tests.certification.made_bundles import SCENES, contents, judge_of, judged_by, rewritten, with_text


def report_of(tmp_path: Path, plain: dict[str, Any]) -> Any:
    return check_bundle(rewritten(tmp_path, plain))


@pytest.fixture
def plain() -> dict[str, Any]:
    return copy.deepcopy(contents(0, "whole"))


def lines(plain: dict[str, Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in plain["lines"])


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('"verdict": "certified"', '"verdict": "undecided", "verdict": "certified"', "twice"),
        ('"radius": ', '"radius": 0.001, "radius": ', "twice"),
        ('"radius": ', '"radius": NaN, "r": ', "nan is not a finite"),
        ('"radius": ', '"radius": Infinity, "r": ', "inf is not a finite"),
        ('"codes": [', '"codes": [' + "[" * 100_000 + "]" * 100_000 + ",", "RecursionError"),
    ],
)
def test_json_that_can_be_read_in_two_ways_is_not_read(
    before: str, after: str, reason: str, plain: dict[str, Any], tmp_path: Path
) -> None:
    text = lines(plain).replace(before, after, 1)
    assert text != lines(plain)
    with pytest.raises(Rejected, match=reason):
        check_bundle(with_text(tmp_path, plain, "people.jsonl.gz", text))


def test_a_key_twice_in_the_encoding_is_not_read(plain: dict[str, Any], tmp_path: Path) -> None:
    text = json.dumps(plain["encoding"]).replace('"scales": {', '"scales": {}, "scales": {', 1)
    with pytest.raises(Rejected, match="twice"):
        check_bundle(with_text(tmp_path, plain, "encoding.json", text))


@pytest.mark.parametrize("radius", [1e999, -1e999, 1, True, None, "1", "nan", "1e3", 10**400, [], "0x1p+0", ""])
def test_a_radius_that_is_no_number_is_not_confirmed(radius: object, plain: dict[str, Any], tmp_path: Path) -> None:
    text = lines(plain).replace(json.dumps(plain["lines"][0]["latent"]["radius"]), json.dumps(radius), 1)
    text = text.replace("Infinity", "1e999")
    with pytest.raises(Rejected):
        check_bundle(with_text(tmp_path, plain, "people.jsonl.gz", text))


def test_the_order_of_attributes_is_part_of_the_encodings_name(plain: dict[str, Any], tmp_path: Path) -> None:
    before = check_bundle(rewritten(tmp_path / "before", plain)).hashes["encoding.json"]
    attributes = plain["encoding"]["schema"]["attributes"]
    plain["encoding"]["schema"]["attributes"] = dict(reversed(attributes.items()))
    assert sha256_of(rewritten(tmp_path / "after", plain) / "encoding.json") != before


def test_an_encoder_for_other_features_confirms_nothing(plain: dict[str, Any], tmp_path: Path) -> None:
    """Not even a counterexample, or a certificate of somebody without similar people: no forward pass fits."""
    for row in plain["encoder.json"][0]:
        row.append(1.0)
    with pytest.raises(Rejected, match="numbers come in"):
        report_of(tmp_path, plain)


def test_a_schema_that_forgets_an_attribute_confirms_nothing(plain: dict[str, Any], tmp_path: Path) -> None:
    del plain["encoding"]["schema"]["attributes"]["sex"]
    with pytest.raises(Rejected, match="numbers come in"):
        report_of(tmp_path, plain)


def test_the_report_says_what_must_agree_and_about_which_files(plain: dict[str, Any], tmp_path: Path) -> None:
    """A rule under which everybody agrees would confirm anything; an auditor has to see it."""
    folder = rewritten(tmp_path, plain)
    report = check_bundle(folder)
    said = "\n".join([*report.lines(), *statement(folder, report)])
    assert "the same decision: class 1 where the output is above 0.0, class 0 where it is below 0.0" in said
    assert all(f"{file.name} {sha256_of(file)}" in said for file in folder.iterdir() if file.name != "manifest.json")


@pytest.mark.parametrize("name", ["law", "../encoder.json", "model.network"])
def test_a_file_that_nobody_reads_is_not_named(name: str, plain: dict[str, Any], tmp_path: Path) -> None:
    folder = rewritten(tmp_path, plain)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = manifest["files"]["encoder.json"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Rejected, match="exactly the files"):
        check_bundle(folder)


RULES: list[Any] = [
    {"kind": "class", "groups": [[0]]},
    {"kind": "class", "groups": []},
    {"kind": "sign", "tolerance": 512.0},
    {"kind": "within", "tolerance": -1.0},
    {"kind": "within", "tolerance": 1e308 * 10},
    {"kind": "anything"},
    {},
    [],
    "sign",
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rules_of_decision_that_are_none_confirm_nothing_new(
    rule: object, plain: dict[str, Any], tmp_path: Path
) -> None:
    plain["manifest"]["decision"] = rule
    right = check_bundle(rewritten(tmp_path / "right", copy.deepcopy(contents(0, "whole"))))
    try:
        report = report_of(tmp_path, plain)
    except Rejected:
        return
    assert isinstance(rule, dict)
    assert rule["kind"] == "sign"
    assert report.names["certified"] == right.names["certified"]


@pytest.mark.parametrize("kind", ["ball", "box", "whole"])
def test_another_class_is_not_confirmed(kind: str, tmp_path: Path) -> None:
    every = (copy.deepcopy(contents(number, kind)) for number in range(len(SCENES)))
    plain = next(one for one in every if any("prediction" in line["decision"] for line in one["lines"]))
    decided = [line["decision"] for line in plain["lines"] if "prediction" in line["decision"]]
    for decision in decided:
        decision["prediction"] = 1 - decision["prediction"]
    report = report_of(tmp_path, plain)
    assert decided
    assert len(report.rejected) == len(decided)


@pytest.mark.parametrize("prediction", [True, 1.0, "1", None, 2, -1, [1]])
def test_a_prediction_is_a_class(prediction: object, plain: dict[str, Any], tmp_path: Path) -> None:
    decided = [line["decision"] for line in plain["lines"] if "prediction" in line["decision"]]
    for decision in decided:
        decision["prediction"] = prediction
    assert len(report_of(tmp_path, plain).rejected) == len(decided)


def test_a_tie_is_never_certified(plain: dict[str, Any], tmp_path: Path) -> None:
    """The model becomes the constant 0: nobody is on either side."""
    plain["model.json"] = [[[0.0] * len(row) for row in rows] for rows in plain["model.json"]]
    report = report_of(tmp_path, plain)
    assert report.names["certified"] == report.names["counterexample"] == []


@pytest.mark.parametrize("name", ["1", 1])
def test_ids_that_read_alike_are_the_same_person(name: object, plain: dict[str, Any], tmp_path: Path) -> None:
    plain["lines"][0]["id"] = name
    with pytest.raises(Rejected, match="twice"):
        report_of(tmp_path, plain)


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"../../etc/passwd": {"sha256": "", "bytes": 0}}},
        {"files": {}},
        {"files": []},
        {"format": "lcifr-audit-1"},
        {"format": None},
        {"people": -1},
        {"people": -5},
        {"people": True},
        {"people": "4"},
        {"files": None},
        {"files": {"people.jsonl.gz": {}}},
    ],
    ids=str,
)
def test_a_manifest_that_says_something_else_is_refused(
    change: dict[str, Any], plain: dict[str, Any], tmp_path: Path
) -> None:
    folder = rewritten(tmp_path, plain)
    manifest = json.loads((folder / "manifest.json").read_text()) | change
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Rejected):
        check_bundle(folder)


@pytest.mark.parametrize(
    "values", [["female", "female"], ["female", 1], [True, 1], [["female"], ["male"]], []], ids=str
)
def test_a_category_that_is_two_codes_or_no_text_is_refused(
    values: list[Any], plain: dict[str, Any], tmp_path: Path
) -> None:
    """φ would be confirmed of one of the two, and its words would speak of both."""
    plain["encoding"]["schema"]["attributes"]["sex"]["values"] = values
    with pytest.raises(Rejected, match="the values of sex are not texts, each once"):
        report_of(tmp_path, plain)


def test_a_person_who_cannot_exist_is_not_confirmed(plain: dict[str, Any], tmp_path: Path) -> None:
    numbers = plain["lines"][0]["x"]["numbers"]
    numbers[0] += 0.5
    assert "nobody's" in report_of(tmp_path, plain).rejected[str(plain["lines"][0]["id"])]


def test_no_text_of_a_bundle_reaches_the_terminal_as_it_is(plain: dict[str, Any], tmp_path: Path) -> None:
    """An id that goes up a line and wipes it would hide that somebody is not confirmed."""
    wipe = "\x1b[1A\x1b[2K\u202e\r\n"
    plain["lines"][0]["id"] = f"a{wipe}"
    plain["lines"][0]["decision"] = {"verdict": f"fine{wipe}"}
    report = report_of(tmp_path, plain)
    assert report.exit_code == 1
    assert all(line.isprintable() for line in report.lines())
    assert any("NOT confirmed: a\\x1b" in line for line in report.lines())
    plain["manifest"]["format"] = wipe
    with pytest.raises(Rejected) as caught:
        check_bundle(rewritten(tmp_path / "again", plain))
    assert str(caught.value).isprintable()


ONE, HUGE = 1.0, 2.0**900
EVERY = [[[[j, sign]], [], []] for j in range(8) for sign in (1.0, -1.0)]  # every direction of a box
PLAIN = ["leaf", [], EVERY]
FIRST = ["leaf", [], EVERY[:4]]
NOTHING = ["leaf", [], []]
TRICKS: dict[str, Any] = {
    "no tree": [],
    "no node": [[]],
    "no pass": [[NOTHING]],
    "text": ["leaf"],
    "a mapping": {"leaf": [[], []]},
    "mappings as nodes": [[{"leaf": [[], []]}]],
    "the old format": [{"cell": 0, "claims": [{"direction": [[0, ONE]], "nodes": [{"leaf": {}}]}]}],
    "the empty direction alone": [[["leaf", [], [[[], [], []]]]]],
    "emptiness by a row that is not there": [[["leaf", [], [[[], [], [[0, HUGE], [-1, HUGE], [9, HUGE]]]]]]],
    "emptiness by a negative multiplier": [[["leaf", [], [[[], [], [[0, -HUGE]]]]]]],
    "emptiness by lines": [[["leaf", [], [[[], [[0, k, HUGE, -HUGE, HUGE] for k in range(20)], []]]]]],
    "a direction of zeros": [[["leaf", [], [[[[0, -0.0]], [], [[0, HUGE]]]]]]],
    "half a tree": [[["relu", 0, 0], PLAIN]],
    "too much of a tree": [[PLAIN, PLAIN]],
    "a half beyond everything, the other silent": [[["numeric", 0, -HUGE], PLAIN, NOTHING]],
    "two halves beyond everything": [[["numeric", 0, HUGE], ["numeric", 0, -HUGE], PLAIN, NOTHING, NOTHING]],
    "a choice of no column": [[["choice", 0, []], NOTHING, NOTHING]],
    "a choice like a number": [[["numeric", column, ONE] for column in range(4)] + [NOTHING] * 5],
    "a number like a choice": [[["choice", column, [column]] for column in range(4)] + [NOTHING] * 5],
    "both sides of one ReLU": [[["relu", 0, 0], ["relu", 0, 0], NOTHING, NOTHING, NOTHING]],
    "one direction here, another there": [[["relu", 0, 0], FIRST, ["leaf", [], EVERY[4:]]]],
    "an end of the neuron before the first": [[["leaf", [[0, [place], [], []] for place in (-1, -2)], EVERY]]],
    "ends of many layers": [[["leaf", [[d, [0], [], []] for d in range(-3, 5)], EVERY]]],
    "ends that are true": [[["leaf", [[0, [True], [], []]], EVERY]]],
    "an output before the first": [[["leaf", [], [[[[-1, ONE]], [], []]]]]],
    "a coefficient twice": [[["leaf", [], [[[[j, -ONE], [j, ONE]], [], []] for j in range(4)]]]],
    "not a number": [[["leaf", [], [[[[0, "nan"]], [], []]]]]],
    "infinite": [[["leaf", [], [[[[0, 1e999]], [], []]]]]],
    "an integer": [[["leaf", [], [[[[0, 1]], [], []]]]]],
    "a long integer": [[["leaf", [], [[[[0, 10**400]], [], []]]]]],
    "steep lines": [[["leaf", [], [[d, [[0, k, -HUGE, HUGE, -HUGE] for k in range(20)], []] for d, *_ in EVERY]]]],
    "all at once": [[PLAIN], [NOTHING], [["relu", 0, 0], PLAIN, NOTHING]],
}


@pytest.mark.parametrize("number", range(len(SCENES)))
@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_proves_a_box_that_is_too_small(trick: str, number: int) -> None:
    """The box shrinks to a point beside z, which only those have to whom nobody else is similar."""
    plain = copy.deepcopy(contents(number, "box"))
    judge = judge_of(plain)
    tried = 0
    for line in plain["lines"]:
        latent = line["latent"]
        if max(high - low for low, high in zip(latent["lower"], latent["upper"], strict=True)) < 1e-3:
            continue
        tried += 1
        latent["lower"], latent["upper"] = [v - 1e-6 for v in latent["z"]], [v + 1e-6 for v in latent["z"]]
        latent["radius"], latent["proofs"] = 2e-6, TRICKS[trick]
        assert judged_by(judge, line).rejected
        latent["proofs"] = [*contents(number, "box")["lines"][0]["latent"]["proofs"], *list(TRICKS[trick])]
        assert judged_by(judge, line).rejected
    assert tried or number != 0


@pytest.mark.parametrize("on", ["whole", "ball", "box"])
@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_certifies_somebody_who_is_refuted(trick: str, on: str) -> None:
    tried = 0
    for number in range(len(SCENES)):
        plain = copy.deepcopy(contents(number, "whole"))
        judge = judge_of(plain)
        for line in plain["lines"]:
            if line["decision"]["verdict"] == "counterexample":
                tried += 1
                line["decision"] |= {"verdict": "certified", "on": on, "proofs": TRICKS[trick]}
                assert judged_by(judge, line).rejected
    assert tried
