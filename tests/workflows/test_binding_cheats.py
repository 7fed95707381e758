"""Bundles that are confirmed, and about something else: each is seen by ``lcifr check`` and named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcifr.check.__main__ import main
from tests.certification.made_bundles import contents_of
from tests.workflows.binding_lender import Plain, changed, check, lender, statuses, verdict, violated
from tests.workflows.credit import PHI, fit, made_up


def honest() -> Plain:
    return contents_of(lender() / "audit" / "bundle")


def drop(plain: Plain) -> None:
    plain["lines"] = [line for line in plain["lines"] if verdict(line) == "certified"]


def copy_under_their_ids(plain: Plain) -> None:
    sure = next(line for line in plain["lines"] if verdict(line) == "certified")
    plain["lines"] = [line if verdict(line) == "certified" else {**sure, "id": line["id"]} for line in plain["lines"]]


def copy_under_new_ids(plain: Plain) -> None:
    names = violated(plain)
    copy_under_their_ids(plain)
    plain["lines"] = [
        line | {"id": f"new-{line['id']}" if line["id"] in names else line["id"]} for line in plain["lines"]
    ]


def leave_undecided(plain: Plain) -> None:
    for line in plain["lines"]:
        line["decision"] = line["decision"] if verdict(line) == "certified" else {"verdict": "undecided"}


def leave_unclaimed(plain: Plain) -> None:
    plain["lines"] = [
        line if verdict(line) == "certified" else {"id": line["id"], "x": line["x"]} for line in plain["lines"]
    ]


CHEATS = {
    "dropped": (drop, 5, "missing", "your people who are missing in the bundle ({}): "),
    "copied": (copy_under_their_ids, 5, "differ", "people who differ ({}): "),
    "copied under new ids": (
        copy_under_new_ids,
        5,
        "missing",
        "people of the bundle who are not in your file ({}): new-",
    ),
    "undecided": (
        leave_undecided,
        4,
        "unclaimed",
        "people of the bundle without a verdict, of whom nothing is claimed ({}): ",
    ),
    "unclaimed": (
        leave_unclaimed,
        4,
        "unclaimed",
        "people of the bundle without a verdict, of whom nothing is claimed ({}): ",
    ),
}


def test_the_honest_bundle_passes() -> None:
    assert len(honest()["lines"]) == 28
    assert len(violated(honest())) >= 3
    said = check(expect=0)
    assert said.out.startswith("28 of 28 people")
    assert said.out.count(": the same\n") == 5


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_is_confirmed_by_itself_and_seen_beside_the_readers_people(
    cheat: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, code, kind, words = CHEATS[cheat]
    bundle = changed(tmp_path, change)
    assert main([str(bundle)]) == 0  # every claim about them is confirmed is confirmed
    assert check(bundle, "--json", expect=code).json["compared"][0]["names"][kind] == violated(honest())
    capsys.readouterr()
    assert main([str(bundle), "--people", str(lender() / "people.csv"), "--id", "person"]) == code
    assert words.format(len(violated(honest()))) in capsys.readouterr().out


def test_copies_are_named_with_whom_they_are_copies_of(tmp_path: Path) -> None:
    people = check(changed(tmp_path, copy_under_their_ids), "--json").json["compared"][0]
    sure = next(line["id"] for line in honest()["lines"] if verdict(line) == "certified")
    pairs = [set(one.split(" of ")) for one in people["names"]["copies"]]
    assert len(pairs) == len(violated(honest()))
    assert {name for pair in pairs for name in pair} == {sure, *violated(honest())}


def test_people_who_are_not_confirmed_do_not_count_in_the_first_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sure = 28 - len(violated(honest()))
    for number, change in enumerate((leave_undecided, leave_unclaimed)):
        main([str(changed(tmp_path / str(number), change))])
        assert capsys.readouterr().out.startswith(f"{sure} of 28 people: every claim about them is confirmed")


def test_another_model_is_seen(tmp_path: Path) -> None:
    import skops.io

    other = tmp_path / "other.skops"
    skops.io.dump(fit(made_up(200, 1), C=0.5), other)
    assert statuses(model=other) == {
        **dict.fromkeys(("people", "phi", "schema", "train"), "the same"),
        "model": "DIFFERS",
    }
    assert "the weights or the trees of the model are different" in check(model=other, expect=5).out


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("# whatever\n  same(job,region)  and (age within 1.0)\nand numeric except age within 0.1 sd\n", "the same"),
        (PHI.replace("0.1 sd", "0.1000001 sd"), "DIFFERS"),
        (PHI.replace("within 1 ", "within 2 "), "DIFFERS"),
        (PHI.replace("same(job, region)", "same(job)"), "DIFFERS"),
    ],
)
def test_another_formula_is_seen_and_another_spelling_is_none(text: str, status: str, tmp_path: Path) -> None:
    phi = tmp_path / "other.phi"
    phi.write_text(text, encoding="utf-8")
    found = statuses(phi=phi)
    assert found.pop("phi") == status
    assert set(found.values()) == {"the same"}


def test_other_standard_deviations_are_seen(tmp_path: Path) -> None:
    train = made_up(200, 1)
    train.loc[17, "income"] += 0.01
    train.to_csv(tmp_path / "train.csv", index=False)
    found = statuses(train=tmp_path / "train.csv")
    assert {name for name, status in found.items() if status == "DIFFERS"} == {"train", "phi"}
    said = check(train=tmp_path / "train.csv", expect=5).out
    assert "the standard deviation of income is " in said
    assert "only by the standard deviations or ranks of the training table" in said
    assert "of debt" not in said.partition("\npeople: ")[2]


def test_scales_of_the_bundle_that_nobody_trained_on_are_seen(tmp_path: Path) -> None:
    def widen(plain: Plain) -> None:
        plain["encoding"]["scales"]["income"]["sd"] *= 2

    assert statuses(changed(tmp_path, widen))["train"] == "DIFFERS"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"upper": 81}, "age: upper is 80, in the bundle 81"),
        ({"integer": False}, "age: integer is True"),
        ({"unit": "months"}, "unit"),
    ],
)
def test_another_schema_is_seen(entry: Plain, words: str, tmp_path: Path) -> None:
    def change(plain: Plain) -> None:
        plain["encoding"]["schema"]["attributes"]["age"] |= entry
        plain["lines"] = plain["lines"][:1]

    said = check(changed(tmp_path, change))
    assert "schema: DIFFERS" in said.out
    assert words in said.out


def test_a_hash_that_the_bundle_names_binds_nothing(tmp_path: Path) -> None:
    """The model's file, whose hash an audit may name anywhere, beside functions that are not its own."""

    def change(plain: Plain) -> None:
        plain["model.json"] = json.loads(json.dumps(plain["model.json"]).replace("0.", "0.1", 1))

    assert statuses(changed(tmp_path, change))["model"] == "DIFFERS"


def test_permuted_people_are_the_same(tmp_path: Path) -> None:
    bundle = changed(tmp_path, lambda plain: plain["lines"].reverse())
    assert set(statuses(bundle).values()) == {"the same"}


def test_a_person_with_two_claims_is_refused(tmp_path: Path) -> None:
    bundle = changed(tmp_path, lambda plain: plain["lines"].append(plain["lines"][0]))
    assert "occurs twice" in check(bundle, expect=2).err
