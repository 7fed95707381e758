"""Models that already decide, from the shell: audited, certified, compared, proposed for, shown and reported."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lcifr as package
from lcifr.data import Encoding, Schema
from lcifr.phi import Similarity
from lcifr.workflows.results import AuditResult
from tests.story import lcifr
from tests.workflows.credit import PHI, READ, fit, made_up, write_credit

ASKED = ("--phi", "people.phi", "--reference", "train.csv", "--target", "repaid", "--id", "person", "--workers", "1")


@pytest.fixture(scope="module")
def credit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("credit")
    write_credit(folder)
    return folder


@pytest.fixture(scope="module")
def audited(credit: Path) -> Path:
    said = lcifr(
        "audit", "people.csv", "--model", "model.skops", *ASKED, "--no-bundle", "--out", "audit", cwd=credit, expect=1
    )
    assert "60 people" in said.out.splitlines()[0]
    assert "not examined because of missing values: 2 rows;" in said.out
    assert "confirmed by scikit-learn" in said.out
    assert "unaware" in said.out  # baselines, learned from train.csv
    assert "ignored columns that cannot be attributes" in said.err  # applied_on
    return credit / "audit"


def complete(credit: Path) -> pd.DataFrame:
    return pd.read_csv(credit / "people.csv").dropna().reset_index(drop=True)


def test_verdicts_are_those_of_python(audited: Path, credit: Path) -> None:
    people, train = complete(credit), pd.read_csv(credit / "train.csv")
    schema = Schema.load(audited / "schema.toml")
    names = list(schema.names)
    similarity = Similarity(PHI, schema, Encoding.fit(train[names], schema))
    result = AuditResult.read(audited)
    found = package.audit(
        fit(train),
        people[names],
        ids=people["person"],
        similarity=similarity,
        arithmetic=result.model.arithmetic,
    )
    rows = pd.read_parquet(audited / "audited" / "audit.parquet")
    assert rows["id"].tolist() == people["person"].tolist()
    assert rows["verdict"].tolist() == [str(one) for one in found.verdict]
    assert rows["prediction"].tolist() == found.prediction.tolist()


def test_the_result_names_file_hash_rule_runtime_and_who_was_left_out(audited: Path, credit: Path) -> None:
    result = AuditResult.read(audited)
    origin = result.model.origin
    assert origin is not None
    assert origin.sha256 == hashlib.sha256((credit / "model.skops").read_bytes()).hexdigest()
    assert origin.columns == READ
    assert origin.runtime.startswith("scikit-learn ")
    assert "the decision is yes" in origin.rule
    assert result.left_out == 2
    assert result.statement.people == 58
    assert set(result.statement.baselines) == {"plain", "unaware"}
    assert result.statement.accuracy is not None


def test_counterexamples_are_in_the_tables_units_and_the_librarys_own(audited: Path, credit: Path) -> None:
    model, people = fit(pd.read_csv(credit / "train.csv")), complete(credit).set_index("person")
    result = AuditResult.read(audited)
    assert result.statement.violated == len(result.counterexamples) > 0
    for pair in result.counterexamples:
        own = people.loc[[pair.id], list(READ)]
        other = own.assign(**{name: values[1] for name, values in pair.differs.items() if name in READ})
        assert model.predict(own)[0] == pair.prediction != pair.other_prediction == model.predict(other)[0]


def test_processes_and_a_second_run_change_nothing(audited: Path, credit: Path) -> None:
    words = [*ASKED[:-1], "2", "--chunk", "16"]
    lcifr("audit", "people.csv", "--model", "model.skops", *words, "--no-bundle", "--no-baselines", "--out", "two",
          cwd=credit, expect=1)  # fmt: skip
    one, two = (pd.read_parquet(credit / name / "audited" / "audit.parquet") for name in ("audit", "two"))
    pd.testing.assert_frame_equal(one, two)


def test_the_report_says_what_was_audited(audited: Path, credit: Path) -> None:
    lcifr("report", "audit", "--out", "audit.md", cwd=credit)
    page = (credit / "audit.md").read_text(encoding="utf-8")
    digest = hashlib.sha256((credit / "model.skops").read_bytes()).hexdigest()
    for words in ("model.skops", digest, "Runtime: scikit-learn", "the decision is yes",
                  "**People not examined.** 2 of the 60 rows",
                  "come from train.csv", "unaware", "Arithmetic:"):  # fmt: skip
        assert words in page


def test_the_result_names_the_look_up_of_columns_the_libraries_and_the_baselines(audited: Path, credit: Path) -> None:
    """There is no encoder in front of a model of another library, so no result claims one."""
    result, settings = (json.loads((audited / name).read_text()) for name in ("result.json", "settings.json"))
    assert set(result["hashes"]) == {"look_up", "model", "similarity", "encoding"}
    assert settings["versions"]["scikit-learn"] == version("scikit-learn")
    assert settings["versions"]["skops"] == version("skops")
    kind = "a ReLU network (20 hidden units, 20 outputs), and logistic regression on its outputs"
    assert result["baseline_learner"] == kind
    lcifr("report", "audit", "--out", "kinds.md", cwd=credit)
    page = (credit / "kinds.md").read_text(encoding="utf-8")
    assert "encoder" not in page
    for words in (f"are each {kind}", "| look-up of columns |", f"| skops | {version('skops')} |"):
        assert words in page


def test_names_of_decisions_are_read_and_change_nothing_else(audited: Path, credit: Path, tmp_path: Path) -> None:
    named = ("--labels", "no=refused,yes=granted, at last")
    said = lcifr("audit", "people.csv", "--model", "model.skops", *ASKED, *named, "--no-baselines", "--out", "named",
                 cwd=credit, expect=1)  # fmt: skip
    assert "decisions: no is called “refused”, yes is called “granted, at last”" in said.out
    first = re.search(r"^repaid +(.*)$", said.out, re.MULTILINE)
    assert first is not None
    assert {"refused", "granted, at last"} == set(re.split(r" {2,}", first[1].strip()))
    plain, other = AuditResult.read(audited), AuditResult.read(credit / "named")
    assert other.model.labels == {"no": "refused", "yes": "granted, at last"}
    assert other.model.hashes == plain.model.hashes
    assert other.counterexamples == plain.counterexamples
    one, two = (folder / "audited" / "audit.parquet" for folder in (audited, credit / "named"))
    assert one.read_bytes() == two.read_bytes()
    assert json.loads((credit / "named/settings.json").read_text())["arguments"]["labels"] == other.model.labels
    assert "granted" not in lcifr("check", "named/bundle", cwd=credit).out
    lcifr("report", "named", "--out", tmp_path / "named.md", cwd=credit)
    lcifr("report", "audit", "--out", tmp_path / "later.md", *named, cwd=credit)
    for name in ("named.md", "later.md"):
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert "similar people get the same decision (refused, granted, at last)" in page
        assert "| decided refused | decided granted, at last |" in page


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("maybe=granted", "the model does not make the decision 'maybe'.*Fix: the decisions are no, yes"),
        ("no=same,yes=same", "two decisions would be called 'same'"),
        ("no=yes", "two decisions would be called 'yes'"),
        ("no", "'no' does not say what to call a decision"),
        ("no=", "'no=' does not say what to call a decision"),
        ("no=a,no=b", "names the decision 'no' twice"),
    ],
)
def test_names_that_mean_nothing_are_refused_before_anything_is_proved(labels: str, message: str, credit: Path) -> None:
    words = ("audit", "people.csv", "--model", "model.skops", *ASKED, "--labels", labels, "--out", "odd")
    refused = lcifr(*words, cwd=credit, expect=2)
    assert re.search(message, refused.err, re.DOTALL)
    assert not (credit / "odd").exists()
    assert "Auditing" not in refused.err


def test_a_changed_model_in_the_folder_is_refused(audited: Path, tmp_path: Path) -> None:
    shutil.copytree(audited, tmp_path / "audit")
    pytest.importorskip("skops.io").dump(fit(made_up(200, 5)), tmp_path / "audit" / "model.skops")
    said = lcifr("report", "audit", "--out", "page.md", cwd=tmp_path, expect=2)
    assert "not the model that was audited" in said.err


@pytest.mark.parametrize(
    ("words", "code"),
    [((), 0), (("--strict",), 1), (("--fail-under", "0.1"), 0), (("--fail-under", "1"), 1)],
)
def test_certify_is_a_gate_for_new_people(words: tuple[str, ...], code: int, credit: Path) -> None:
    complete(credit).to_csv(credit / "complete.csv", index=False)
    asked = ("--model", "model.skops", *ASKED, "--force", "--out", "certificates", *words, "--json")
    assert lcifr("certify", "complete.csv", *asked, cwd=credit, expect=code).json["not_examined"] == 0
    said = lcifr("certify", "people.csv", *asked, cwd=credit, expect=1).json  # there is a counterexample, and gaps
    assert said["left_out"] == said["not_examined"] == 2
    assert said["people"] == 58
    assert said["origin"]["runtime"].startswith("scikit-learn")
    verdicts = pd.read_parquet(credit / "certificates" / said["files"]["certificates"])["verdict"]
    assert (verdicts == "CERTIFIED").sum() == said["certified"]


def test_a_formula_may_speak_of_columns_that_the_model_does_not_read(credit: Path) -> None:
    (credit / "only.phi").write_text("same(all except region) and free(region)\n", encoding="utf-8")
    words = [word if word != "people.phi" else "only.phi" for word in ASKED]
    said = lcifr("audit", "people.csv", "--model", "model.skops", *words, "--no-bundle", "--no-baselines", "--json",
                 "--out", "unread", cwd=credit, expect=3).json  # fmt: skip
    assert said["certified"] == said["people"] == 58


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("people.csv", "--model", "model.skops"), "who counts as similar"),
        (("people.csv", "--phi", "people.phi"), "an argument is missing after it"),
        (("people.csv", "more.csv", "--model", "model.skops", "--phi", "people.phi"), "takes one TABLE"),
        (("people.csv", "--model", "model.pkl", "--phi", "people.phi"), r"skops.io.dump(joblib.load("),
        (("people.csv", "--model", "nothing.onnx", "--phi", "people.phi"), "there is no such file"),
        (("people.csv", "--model", "dates.skops", "--phi", "people.phi"), "cannot be an attribute: contains dates"),
        (("few.csv", "--model", "model.skops", "--phi", "people.phi"), 'reads the column "debt", which is missing'),
        (("p", "c", "--tolerance", "3"), "--tolerance works only with --model"),
    ],
)
def test_wrong_use_is_told_how_to_put_it_right(words: tuple[str, ...], message: str, credit: Path) -> None:
    (credit / "model.pkl").write_bytes(pickle.dumps(print))
    made_up(20, 3).drop(columns="debt").to_csv(credit / "few.csv", index=False)
    if not (credit / "dates.skops").exists():
        _write_dates(credit / "dates.skops")
    said = lcifr("audit", *words, "--out", "wrong", cwd=credit, expect=2)
    assert message in said.err
    assert "Fix: " in said.err
    assert not (credit / "wrong").exists()


def _write_dates(path: Path) -> None:
    import skops.io
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    table = made_up(60, 4)
    skops.io.dump(
        make_pipeline(OneHotEncoder(), LogisticRegression()).fit(table[["applied_on"]], table["repaid"]), path
    )


def test_new_people_need_a_reference(credit: Path) -> None:
    said = lcifr("certify", "people.csv", "--model", "model.skops", "--phi", "people.phi", "--out", "x", cwd=credit,
                 expect=2)  # fmt: skip
    assert "--reference TABLE" in said.err


def test_doctor_finds_that_the_model_is_the_librarys(credit: Path) -> None:
    words = ("doctor", "--model", "model.skops", "--data", "people.csv", "--target", "repaid")
    said = lcifr(*words, "--json", cwd=credit).json
    assert said["agrees"]
    assert said["left_out"] == 2
    assert [one["people"] for one in said["rows"]][:2] == [58, 2000]
    assert said["rows"][2]["people"] > 58
    assert all(one["wrong"] == 0 for one in said["rows"])
    assert said["share"] > 0.99
    assert "All agree." in lcifr(*words, cwd=credit).out


def test_doctor_finds_a_model_that_was_read_wrongly(credit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from lcifr.certification import subject

    read = subject.read_table_model

    def flipped(*given: Any) -> Any:
        found = read(*given)
        return replace(found, model=replace(found.model, labels=found.model.labels[::-1]))

    monkeypatch.setattr(subject, "read_table_model", flipped)
    words = ("doctor", "--model", "model.skops", "--data", "people.csv", "--target", "repaid")
    said = lcifr(*words, cwd=credit, expect=1)
    assert "DO NOT AUDIT" in said.out
    assert "the library decides" in said.out


def test_init_proposes_what_an_audit_needs(credit: Path) -> None:
    words = (
        "init",
        "people.csv",
        "--model",
        "model.skops",
        "--target",
        "repaid",
        "--id",
        "person",
        "--out",
        "proposed",
    )
    said = lcifr(*words, cwd=credit)
    assert "lcifr doctor --model model.skops" in said.err
    schema = Schema.load(credit / "proposed" / "people.toml")
    assert schema.names_categorical == ("job", "sex", "region")
    assert not (credit / "proposed" / "model.toml").exists()  # the model knows its columns
    asked = ("--phi", "proposed/people.phi", "--id", "person", "--workers", "1", "--no-bundle")
    audit = lcifr("audit", "people.csv", "--model", "model.skops", *asked, "--json", "--out", "from-proposal",
                  cwd=credit, expect=None)  # fmt: skip
    assert audit.json["people"] == 58


def test_a_number_that_the_model_reads_stays_though_it_is_the_same_for_everyone(credit: Path) -> None:
    folder = credit / "constant"
    folder.mkdir()
    shutil.copyfile(credit / "model.skops", folder / "model.skops")
    complete(credit).assign(debt=500.0, note="same").to_csv(folder / "people.csv", index=False)
    asked = ("--model", "model.skops", "--target", "repaid", "--id", "person")
    said = lcifr("init", "people.csv", *asked, cwd=folder)
    assert "left out: \"note\": is 'same' for everyone" in said.out  # which it does not read
    phi = (folder / "people.phi").read_text(encoding="utf-8")
    assert "numeric except debt within 0.3 sd and\nsame(debt)" in phi
    found = lcifr("audit", "people.csv", *asked, "--phi", "people.phi", "--workers", "1", "--json", "--out", "audit",
                  cwd=folder, expect=None)  # fmt: skip
    assert (found.json["people"], found.json["checked"]["rejected"]) == (58, {})
    lcifr("report", "audit", cwd=folder)


def test_model_show_says_what_was_loaded(credit: Path) -> None:
    said = lcifr("model", "show", "model.skops", cwd=credit).out
    digest = hashlib.sha256((credit / "model.skops").read_bytes()).hexdigest()
    for words in ("5 columns", '"income"', "StandardScaler of 3", "OneHotEncoder of 2", "the decision is yes", digest):
        assert words in said
    assert lcifr("model", "show", "model.skops", "--json", cwd=credit).json["columns"] == list(READ)
