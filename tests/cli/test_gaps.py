"""Tables with gaps: rows not examined count in every share, and each scale comes from all rows with a value."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost

from lcifr import workflows
from lcifr.certification.population import lower_bound
from lcifr.cli.certify import _gate
from lcifr.cli.statements import baseline_table
from lcifr.data import Encoding, Schema
from lcifr.evidence.model_card import model_card
from lcifr.phi import Similarity
from lcifr.report.cautions import _about_the_model as cautions_about_model
from lcifr.report.content import ComparedModel
from lcifr.report.folder import read_folder
from lcifr.report.markdown import render_markdown
from lcifr.workflows.events import Advanced, Event
from lcifr.workflows.folders import RunStopped
from lcifr.workflows.results import AuditResult
from tests.story import Said, lcifr

PEOPLE, EXAMINED = 300, 120
READ = ["debt", "income", "sex"]
PHI = "same(numeric) and free(sex)\n"
NEAR = "numeric within 0.1 sd and free(sex)\n"


def with_gaps(people: int = PEOPLE, seed: int = 0) -> pd.DataFrame:
    """People of whom three in five have no debt, no income, or neither."""
    draw = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "debt": draw.gamma(2, 900, people).round(2),
            "income": draw.lognormal(8, 0.5, people).round(2),
            "sex": draw.integers(0, 2, people),
        }
    )
    gone = draw.permutation(people)[people * EXAMINED // PEOPLE :]
    table.loc[gone[: people * 130 // 300], "debt"] = np.nan
    table.loc[gone[people * 100 // 300 : people * 170 // 300], "income"] = np.nan
    table.loc[gone[people * 170 // 300 :], ["income", "debt"]] = np.nan
    return table


def deployed() -> xgboost.XGBClassifier:
    """Decides with gaps, as such libraries do: by sex where something is missing, and otherwise by income."""
    table = with_gaps(6000, 1)
    known = table[["debt", "income"]].notna().all(axis=1)
    label = np.where(known, table["income"] > 3000, table["sex"] == 1).astype(int)
    return xgboost.XGBClassifier(n_estimators=4, max_depth=4, learning_rate=0.8, reg_lambda=0.0).fit(table, label)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gaps")
    table = with_gaps()
    deployed().save_model(place / "model.json")
    table.to_csv(place / "people.csv", index=False)
    table.dropna().to_csv(place / "complete.csv", index=False)
    (place / "same.phi").write_text(PHI, encoding="utf-8")
    (place / "near.phi").write_text(NEAR, encoding="utf-8")
    lcifr("init", "people.csv", "--model", "model.json", "--numeric", "sex", "--out", "drafted", cwd=place)
    schema = Schema.load(place / "drafted" / "people.toml")
    assert list(schema.names) == READ
    categories = '[attributes.sex]\nkind = "categorical"\nvalues = ["0", "1"]\n'
    numbers = "".join(f'[attributes.{name}]\nkind = "numeric"\n' for name in READ[:2])
    (place / "people.toml").write_text(f"{numbers}{categories}", encoding="utf-8")
    return place


def audit(folder: Path, *words: str, people: str = "people.csv", phi: str = "same.phi", out: str, code: int) -> Said:
    asked = ("--model", "model.json", "--phi", phi, "--schema", "people.toml", "--workers", "1")
    return lcifr("audit", people, *asked, *words, "--force", "--out", out, cwd=folder, expect=code)


@pytest.fixture(scope="module")
def audited(folder: Path) -> Said:
    return audit(folder, "--population", out="audit", code=3)


def test_enumeration_of_all_rows_contradicts_what_the_complete_rows_alone_would_say(
    folder: Path, audited: Said
) -> None:
    table = pd.read_csv(folder / "people.csv")
    model = deployed()
    alike = model.predict(table) == model.predict(table.assign(sex=1 - table["sex"]))  # φ frees sex and nothing else
    result = AuditResult.read(folder / "audit").statement
    complete = table.notna().all(axis=1)
    assert result.certified == int((alike & complete).sum()) == EXAMINED
    assert lower_bound(result.certified, result.people, 0.95) > 0.95 > 2 * alike.mean()  # the false statement
    assert result.lower is None
    assert (result.people, result.not_examined, result.rows) == (EXAMINED, PEOPLE - EXAMINED, PEOPLE)
    assert result.share == result.certified / PEOPLE <= alike.mean()


def test_the_first_line_counts_all_rows_and_the_missing_bound_has_its_reason(audited: Said) -> None:
    first, second, third, *_ = audited.out.splitlines()
    assert first == "certified with respect to φ: 120 of 300 held-out people (40.0 %), 180 of them not examined"
    assert second.startswith("no statement about a population: 180 rows were left out because of missing values")
    assert third == "counterexamples 0, undecided 0, not examined 180"


def test_a_table_without_gaps_has_its_bound_and_exits_with_0(folder: Path) -> None:
    said = audit(folder, "--population", people="complete.csv", out="complete", code=0)
    assert "120 of 120 held-out people (100.0 %)\nin the population: at least 97.5 %" in said.out
    assert "examined" not in said.out


def test_a_counterexample_goes_before_rows_that_are_not_examined(folder: Path) -> None:
    audit(folder, phi="near.phi", out="near", code=1)


def test_json_has_the_shares_of_all_rows(folder: Path, audited: Said) -> None:
    plain = json.loads((folder / "audit" / "result.json").read_text(encoding="utf-8"))
    assert (plain["rows"], plain["people"], plain["not_examined"], plain["left_out"]) == (300, 120, 180, 180)
    assert plain["share"] == plain["modularity"]["end_to_end"] == 0.4
    assert plain["lower"] is None
    assert not any("at_least" in group for group in plain["subgroups"])


@pytest.mark.parametrize(("words", "code"), [(("--fail-under", "0.5"), 3), (("--fail-under", "0.3"), 3), ((), 3)])
def test_rows_that_are_not_examined_never_pass_a_gate(words: tuple[str, ...], code: int, folder: Path) -> None:
    asked = ("--model", "model.json", "--phi", "same.phi", "--schema", "people.toml", "--reference", "complete.csv")
    gate = ("certify", "people.csv", *asked, *words, "--workers", "1", "--force", "--out", "gate", "--json")
    gated = lcifr(*gate, cwd=folder, expect=code)
    said = gated.json
    assert (said["share"], said["not_examined"]) == (0.4, 180)
    complete = lcifr(*("complete.csv" if word == "people.csv" else word for word in gate), cwd=folder)
    assert complete.json["share"] == 1.0
    if words:
        passed = "40.0 % of the people are certified, but exit 3: 180 rows were not examined\n"
        failed = "failed, only 40.0 % of the people are certified; exit 3, rows were not examined\n"
        assert gated.err.endswith(f"--fail-under {words[1]}: {failed if words[1] == '0.5' else passed}")


def test_a_gate_names_the_rows_that_made_it_fail_before_the_counterexamples_that_it_allows(folder: Path) -> None:
    asked = ("--model", "model.json", "--phi", "near.phi", "--schema", "people.toml", "--reference", "complete.csv")
    gate = (*asked, "--fail-under", "0.01", "--workers", "1", "--force", "--out", "near-gate")
    assert "passed" in lcifr("certify", "complete.csv", *gate, cwd=folder).err
    said = lcifr("certify", "people.csv", *gate, cwd=folder, expect=1)
    assert "but exit 1: 180 rows were not examined, and there are counterexamples" in said.err


def test_every_format_of_the_report_says_who_was_not_examined(folder: Path, audited: Said) -> None:
    for form in ("md", "html", "json"):
        lcifr("report", "audit", "--out", f"page.{form}", cwd=folder)
    page = (folder / "page.md").read_text(encoding="utf-8")
    assert "**40.0 %** 120 of 300 people are certified with respect to φ, 180 of them not examined." in page
    assert "- Not examined: 180 (60.0 %)" in page
    assert "| Not examined: a value is missing | 180 | 60.0 % |" in page
    assert "No statement about a population: 180 rows were left out because of missing values" in page
    assert "**People not examined.** 180 of the 300 rows" in page
    bar = (folder / "page.html").read_text(encoding="utf-8")
    assert 'width="600.00" height="18" class="not-examined"' in bar
    plain = json.loads((folder / "page.json").read_text(encoding="utf-8"))["proved"]
    assert (plain["share"], plain["not_examined"], plain["lower"]) == (0.4, 180, None)


def test_a_model_card_rounds_as_the_report_and_says_who_its_figures_are_of(folder: Path, audited: Said) -> None:
    made = read_folder(folder / "audit")
    odd = {"certified": 252, "violated": 71, "undecided": 0, "people": 323, "not_examined": 77}
    report = replace(made, statement=replace(made.statement, **odd))
    card, page = model_card(AuditResult.read(folder / "audit"), report), render_markdown(report)
    for share in ("63.0 %", "17.7 %", "19.3 %"):  # 17.75 % and 19.25 % would each round on its own
        assert f"{share} |" in card
        assert f"{share} |" in page
    assert "of the 323 people who were examined" in card


def test_beside_baselines_the_shares_are_of_the_people_examined_and_say_so(
    folder: Path, audited: Said, capsys: pytest.CaptureFixture[str]
) -> None:
    said = AuditResult.read(folder / "audit").statement
    figures = {"accuracy": 0.9, "balanced_accuracy": 0.9, "certified": 1.0, "violated": 0.0, "undecided": 0.0}
    beside = replace(said, baselines={"unaware": figures}, accuracy=0.8, balanced_accuracy=0.8)
    baseline_table(beside, "a ReLU network")
    assert "of the 120 people who were examined" in capsys.readouterr().out
    baseline_table(replace(beside, not_examined=0), "a ReLU network")
    assert "examined" not in capsys.readouterr().out
    own = figures | {"accuracy": 0.8, "balanced_accuracy": 0.8}
    rows = ComparedModel("this model", own), ComparedModel("unaware", figures)
    cautions = [one.text for one in cautions_about_model(beside, rows)]
    assert any(
        "100.0 % certified; this model" in text and "of the people who were examined" in text for text in cautions
    )


@pytest.mark.parametrize(("certified", "bar", "shown"), [(355, 0.99, "88.8 %"), (355, 0.888, "88.7 %")])
def test_a_failed_gate_shows_the_share_of_the_headline_unless_that_rounds_up_to_the_bar(
    certified: int, bar: float, shown: str, folder: Path, audited: Said
) -> None:
    said = AuditResult.read(folder / "audit").statement
    said = replace(said, people=400, certified=certified, share=certified / 400, not_examined=0)
    assert f"failed, only {shown} of" in _gate(said, bar, enough=False)


def test_a_result_of_before_is_read_as_what_it_should_have_said(folder: Path, audited: Said, tmp_path: Path) -> None:
    shutil.copytree(folder / "audit", tmp_path / "audit")
    file = tmp_path / "audit" / "result.json"
    plain = json.loads(file.read_text(encoding="utf-8"))
    for name in ("rows", "not_examined", "scales"):
        del plain[name]
    before = plain | {"share": 1.0, "lower": 0.975, "held_out": True}
    found = AuditResult.from_dict(before)
    assert (found.statement.share, found.statement.lower, found.left_out) == (0.4, None, 180)
    settings = json.loads((tmp_path / "audit" / "settings.json").read_text(encoding="utf-8"))
    settings["files"].pop("result.json", None)
    (tmp_path / "audit" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    file.write_text(json.dumps(before), encoding="utf-8")
    assert read_folder(tmp_path / "audit").statement.share == 0.4


def test_an_interval_for_a_sample_counts_its_own_gaps(folder: Path) -> None:
    said = audit(folder, "--sample", "50", "--json", out="sample", code=3).json
    assert said["rows"] == said["people"] + said["not_examined"] == 50
    assert 0 < said["not_examined"] < 50
    assert said["drawn_from"] == 300
    assert said["share"] == said["certified"] / 50


def test_doctor_and_init_count_the_rows_that_an_audit_loses(folder: Path, tmp_path: Path) -> None:
    words = ("--model", "model.json", "--data", "people.csv", "--schema", "people.toml")
    assert "not compared because of missing values: 180 of 300 rows" in lcifr("doctor", *words, cwd=folder).out
    said = lcifr("init", "people.csv", "--model", "model.json", "--out", tmp_path, cwd=folder).out
    assert "note: a value is missing in 180 of 300 rows: an audit does not examine them" in said
    assert '"debt": values are missing in 140 of 300 rows' in said
    other = lcifr("init", "people.csv", "--target", "sex", "--out", tmp_path / "own", cwd=folder).out
    assert "note: a value is missing in 180 of 300 rows in all" in other
    assert '"income": values are missing in 80 of 300 rows, which `lcifr produce` refuses' in other


def test_each_sd_comes_from_every_row_with_a_value_and_says_so(folder: Path) -> None:
    table = pd.read_csv(folder / "people.csv")
    said = audit(folder, phi="near.phi", out="near", code=1).out
    for name, rows in (("debt", 160), ("income", 220)):
        assert f"sd of {name}: {table[name].std():.4g}, from {rows} of 300 rows of people.csv" in said
    scales = json.loads((folder / "near" / "result.json").read_text(encoding="utf-8"))["scales"]
    assert [one["sd"] for one in scales] == pytest.approx([table["debt"].std(), table["income"].std()], rel=1e-12)
    assert [(one["rows"], one["of"], one["source"]) for one in scales] == [
        (160, 300, "people.csv"),
        (220, 300, "people.csv"),
    ]
    lcifr("report", "near", "--out", "near.md", cwd=folder)
    page = (folder / "near.md").read_text(encoding="utf-8")
    assert f"| debt | {table['debt'].std():.4g} | 160 | 300 | people.csv |" in page
    pairs = AuditResult.read(folder / "near").counterexamples
    assert pairs
    for pair in pairs:  # similar by the table's own deviations
        for name, (own, other) in pair.differs.items():
            assert name == "sex" or abs(other - own) <= 0.1 * table[name].std() * (1 + 1e-9)


def test_the_readers_own_table_and_formula_give_the_phi_of_the_bundle(folder: Path) -> None:
    audit(folder, "--bundle", phi="near.phi", out="bound", code=1)
    words = ("--phi", "near.phi", "--schema", "people.toml", "--train", "people.csv", "--people", "people.csv")
    said = lcifr("check", "bound/bundle", *words, cwd=folder, expect=4).out  # 4: nothing is claimed about some
    assert {f"{what}: the same" for what in ("people", "phi", "schema", "train")} <= {*said.splitlines()}
    other = lcifr("check", "bound/bundle", "--phi", "near.phi", "--schema", "people.toml", "--train", "complete.csv",
                  cwd=folder, expect=5).out  # fmt: skip
    assert "phi: DIFFERS\n  only by the standard deviations" in other


def test_phi_check_uses_the_same_scales_and_names_their_rows(folder: Path) -> None:
    table = pd.read_csv(folder / "people.csv")
    said = lcifr("phi", "check", "near.phi", "--data", "people.csv", "--schema", "people.toml", cwd=folder, expect=None)
    assert f"sd of debt: {table['debt'].std():.4g}, from 160 of 300 rows of people.csv" in said.out


def test_a_reference_in_which_every_row_has_a_gap_still_has_its_scales(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "people.csv")
    table[table.isna().any(axis=1)].to_csv(folder / "holes.csv", index=False)
    said = audit(folder, "--reference", "holes.csv", "--json", people="complete.csv", phi="near.phi", out="holes",
                 code=1).json  # fmt: skip
    assert [one["rows"] for one in said["scales"]] == [40, 100]
    refused = audit(folder, people="holes.csv", out="nobody", code=2)
    assert "every row has a missing value" in refused.err
    assert "Fix: give at least one row without missing values" in refused.err


def test_scales_of_a_table_without_gaps_stay_what_they_were(folder: Path) -> None:
    schema, table = Schema.load(folder / "people.toml"), pd.read_csv(folder / "complete.csv")
    hashes = {Similarity(NEAR, schema, Encoding.fit(table, schema, skip_missing=skip)).hash for skip in (False, True)}
    assert len(hashes) == 1


def test_the_same_in_python(folder: Path) -> None:
    import lcifr as package

    table = pd.read_csv(folder / "people.csv")
    table["sex"] = table["sex"].astype(str)
    found: Any = package.audit(str(folder / "model.json"), table, similarity="same(numeric) and free(sex)")
    assert repr(found).startswith("<Audit of 300 people with respect to φ: 120 certified")
    assert "180 not examined" in repr(found)
    html = found._repr_html_()
    assert "120 of 300 people certified with respect to φ (40.0 %)" in html
    assert "180 rows have missing values and are not examined." in html
    assert found.modularity()["end_to_end"] == 0.4
    said = package.certification.state(found, held_out=True)
    assert (said.share, said.lower, said.not_examined) == (0.4, None, 180)
    assert "120 of 300 (40.0%), 180 of them not examined" in str(said)


def test_parquet_and_processes_say_the_same(folder: Path, audited: Said) -> None:
    pd.read_csv(folder / "people.csv").astype({"sex": str}).to_parquet(folder / "people.parquet")
    said = audit(
        folder, "--workers", "2", "--chunk", "20", "--json", people="people.parquet", out="parquet", code=3
    ).json
    plain = json.loads((folder / "audit" / "result.json").read_text(encoding="utf-8"))
    for name in ("rows", "people", "not_examined", "certified", "share", "modularity", "hashes"):
        assert said[name] == plain[name]


def test_a_stopped_audit_goes_on_with_the_rows_that_are_not_examined(folder: Path) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= 40:
            raise KeyboardInterrupt

    with contextlib.chdir(folder):
        request = workflows.AuditRequest(
            model=Path("model.json"), table=Path("people.csv"), phi="same.phi", schema="people.toml",
            out=Path("resumed"), bundle=False, workers=1, chunk=20,
        )  # fmt: skip
        with pytest.raises(RunStopped):
            workflows.audit(request, stop)
        found = workflows.audit(request).statement
    assert (found.rows, found.not_examined, found.share) == (300, 180, 0.4)


def test_a_sweep_counts_the_people_of_the_table_that_it_did_not_look_at(folder: Path) -> None:
    schema = (folder / "people.toml").read_text(encoding="utf-8")
    ranges = schema.replace('kind = "numeric"\n', 'kind = "numeric"\nlower = 0\nupper = 100000\n')
    (folder / "ranges.toml").write_text(ranges, encoding="utf-8")
    asked = ("--model", "model.json", "--phi", "same.phi", "--schema", "ranges.toml", "--cells", "50")
    said = lcifr("sweep", "people.csv", *asked, "--json", "--out", "swept", cwd=folder, expect=None).json
    assert said["people"]["not examined"] == 180
    assert sum(said["people"].values()) == 300
