"""What was checked, in words: the text of φ means what its tree means, and all that a reader must know is there."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcifr.check.__main__ import main
from lcifr.check.bundle import check_bundle
from lcifr.check.judge import CheckReport
from lcifr.check.report import _first, statement
from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.data.files import sha256_of
from lcifr.phi import Similarity
from tests.certification.made_bundles import bundle, contents, rewritten
from tests.check.read_statement import holds

SCHEMA = Schema((Numeric("age", lower=0, upper=9, integer=True), Numeric("pay"), Categorical("job", ("a", "b", "c"))))
PEOPLE = [{"age": age, "pay": pay, "job": job} for age in (0, 3, 4) for pay in (0.5, 2.0) for job in "abc"]
FORMULAS = (
    "same(all)",
    "age within 1 and pay within 0.7 sd",
    "job' != job or age' < 2*age - 1",
    '(job = "a" implies job\' in {"a", "b"}) and |pay - pay\'| + |age - age\'| <= 1.6',
    "not (age within 1) and free(pay, job)",
    'same(job) or (job = "a" and job\' = "b") and 3*pay\' <= 0.5*age + 2',
    "rank(pay' by job') <= rank(pay by job) and age' != 3",
    "free(all)",
)


@cache
def encoding() -> Encoding:
    return Encoding.fit(pd.DataFrame(PEOPLE), SCHEMA)


def said_of(tmp_path: Path, **changes: Any) -> list[str]:
    """The statement about a bundle with other contents."""
    folder = rewritten(tmp_path, {**contents(0, "whole"), "encoding": encoding().to_dict(), **changes})
    hashes = {name: sha256_of(folder / name) for name in ("encoding.json", "similarity.json", "people.jsonl.gz")}
    return statement(folder, CheckReport(hashes=hashes))


@pytest.mark.parametrize("text", FORMULAS)
def test_the_text_of_a_formula_is_true_of_the_pairs_of_which_the_formula_is(text: str, tmp_path: Path) -> None:
    similarity = Similarity(text, SCHEMA, encoding())
    lines = said_of(tmp_path, similarity=similarity.to_dict())
    table = pd.DataFrame(PEOPLE)
    for x in PEOPLE:
        found = similarity.holds(pd.DataFrame([x]), table)
        assert found.tolist() == [holds(lines, x, other, PEOPLE) for other in PEOPLE]


@pytest.mark.parametrize("change", ["another code", "one value less", "two attributes", "two people alike"])
def test_what_is_almost_an_equality_is_not_called_one(change: str, tmp_path: Path) -> None:
    alike = Similarity("same(job)", SCHEMA, encoding()).to_dict()
    assert "  other.job = self.job" in said_of(tmp_path / "right", similarity=alike)
    people = ("self", "other")
    same = ["any", *(["all", *(["category", who, "job", [code]] for who in people)] for code in range(3))]
    if change == "another code":
        same[1][2][3] = [1]
    elif change == "one value less":
        same.pop()
    elif change == "two attributes":
        same[1][2][3] = [0, 1]
    else:
        same[1][2][1] = "self"
    lines = said_of(tmp_path / "wrong", similarity={"format": 4, "formula": same})
    assert not any(" = " in line for line in lines[: lines.index("people who can exist")])


def test_ranges_scales_categories_and_what_the_model_does_not_take_are_said(tmp_path: Path) -> None:
    plain = encoding().to_dict()
    plain["outside"] = [["job", "c"]]
    plain["schema"]["attributes"]["age"]["unit"] = "years"
    lines = "\n".join(said_of(tmp_path, encoding=plain, similarity={"format": 4, "formula": ["all"]}))
    sd = encoding().sd("age")
    assert (
        f"age: a whole number from 0 to 9, in years; mean {encoding().mean('age')!r}, standard deviation {sd!r}"
        in lines
    )
    assert "pay: a number without a range" in lines
    assert "job: one of 'a', 'b', 'c'" in lines
    assert "nobody has job = 'c'" in lines


@pytest.mark.parametrize("kind", ["whole", "box"])
def test_rule_tie_universe_and_arithmetic_are_said(kind: str) -> None:
    lines = "\n".join(statement(bundle(0, kind), check_bundle(bundle(0, kind))))
    assert "the same decision: class 1 where the output is above 0.0, class 0 where it is below 0.0" in lines
    assert "a tie is never confirmed" in lines
    assert "universe " in lines
    assert "arithmetic float64: " in lines


def test_what_says_less_than_one_may_think_is_said(tmp_path: Path) -> None:
    never = {"format": 4, "formula": ["all", contents(0, "whole")["similarity"]["formula"], ["any"]]}
    lines = [{**line, "id": number} for number, line in enumerate(contents(0, "whole")["lines"][:1] * 3)]
    for line in lines:
        line.pop("latent", None)
        line["decision"] = {**line["decision"], "proofs": []}
    plain = {**contents(0, "whole"), "similarity": never, "lines": lines}
    plain["manifest"] = {**plain["manifest"], "people": 3}
    folder = rewritten(tmp_path, plain)
    report = check_bundle(folder)
    said = statement(folder, report)
    assert report.names["vacuous"] == ["0", "1", "2"]
    assert "no one who could exist is similar to 3 of the people: about them, it says nothing" in said
    assert "2 people are the same as somebody before them in every attribute" in said
    report.decision = {"kind": "class", "groups": [[0, 1]]}
    assert "every class counts as the same decision, so nothing can be decided otherwise" in statement(folder, report)
    report.decision = None
    assert any(line.startswith("without a model") for line in statement(folder, report))


def test_a_tree_that_cannot_be_said_does_not_hide_what_is_not_confirmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = rewritten(tmp_path, {**contents(0, "whole"), "similarity": {"format": 4, "formula": ["none of"]}})
    assert main([str(folder)]) == 1
    said = capsys.readouterr().out
    assert "NOT confirmed" in said
    assert "about what it is cannot be said" in said


def test_names_of_a_foreign_file_do_not_move_the_cursor(tmp_path: Path) -> None:
    plain = encoding().to_dict()
    plain["schema"]["attributes"]["job"]["values"] = ["a\x1b[2J", "b\nall of these:", "\u202ec"]
    lines = said_of(tmp_path, encoding=plain, similarity=Similarity("same(job)", SCHEMA, encoding()).to_dict())
    assert all(line.isprintable() for line in lines)


def test_no_part_of_a_name_reads_as_part_of_the_formula(tmp_path: Path) -> None:
    """Everybody of the same job is similar here; without marks around the name it would say that wages count, too."""
    job, plain = "job = self.job and other.pay", encoding().to_dict()
    attributes = plain["schema"]["attributes"]
    plain["schema"]["attributes"] = {job: attributes.pop("job"), "capital-gain": attributes.pop("pay"), **attributes}
    lines = said_of(
        tmp_path, encoding=plain, similarity={"format": 4, "formula": ["all", ["same", job], ["same", "age"]]}
    )
    assert f"    other.`{job}` = self.`{job}`" in lines
    assert "    other.age = self.age" in lines
    assert f"  `{job}`: one of 'a', 'b', 'c'" in lines
    assert any(line.startswith("  capital-gain: ") for line in lines)


def test_a_name_does_not_end_its_own_marks(tmp_path: Path) -> None:
    plain = encoding().to_dict()
    plain["schema"]["attributes"]["a` = self.`b"] = plain["schema"]["attributes"].pop("job")
    lines = said_of(tmp_path, encoding=plain, similarity={"format": 4, "formula": ["same", "a` = self.`b"]})
    assert "  other.`a`` = self.``b` = self.`a`` = self.``b`" in lines


@pytest.mark.parametrize(
    ("rows", "is_look_up"),
    [
        ([[1.0, 0.0, 0.0, 0.0, 0.0, 0.5], [0.0, 0.0, 3.0, 1.0, 2.0, 0.0]], True),  # a number; codes of a category
        ([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]], False),
        ([[1.0, 2.0, 0.0, 0.0, 0.0, 0.0]], False),
    ],
)
def test_a_look_up_of_columns_is_not_called_an_encoder(
    rows: list[list[float]], is_look_up: bool, tmp_path: Path
) -> None:
    (tmp_path / "encoder.json").write_text(json.dumps([rows]))
    kinds = {"age": None, "pay": None, "job": ("a", "b", "c")}
    report = CheckReport(hashes={"encoder.json": sha256_of(tmp_path / "encoder.json")})
    said = _first(tmp_path, report, kinds)
    assert ("without an encoder" in " ".join(said)) == is_look_up


@pytest.mark.parametrize(("factors", "is_empty"), [([], True), ([[[1.0, 2.0]]], False)])
def test_an_empty_first_function_is_not_called_an_encoder(factors: list[Any], is_empty: bool, tmp_path: Path) -> None:
    (tmp_path / "encoder.json").write_text(json.dumps({"kind": "network", "factors": factors}))
    report = CheckReport(hashes={"encoder.json": sha256_of(tmp_path / "encoder.json")})
    assert ("without an encoder" in " ".join(_first(tmp_path, report, {"age": None}))) == is_empty
