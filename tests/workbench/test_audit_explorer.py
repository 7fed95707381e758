"""The explorer: what it says is what the folder says, and what if agrees with φ, the model and the proof."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lcifr.report import read_folder


@pytest.fixture(scope="module")
def opened(client):
    return client.ask("audit/open", name="audit")


def who(opened, kind):
    return [one["id"] for one in opened["people"] if one["kind"] == kind]


def own_values(person):
    return {one["attribute"]["name"]: one["own"] for one in person["movable"]}


def test_everybody_is_there_with_their_verdict(opened, written):
    audited = pd.read_parquet(written / "audit" / "audited" / "audit.parquet")
    assert [one["id"] for one in opened["people"]] == audited["id"].tolist()
    assert [one["kind"].upper() for one in opened["people"]] == audited["verdict"].tolist()
    assert [part[2] for part in opened["document"]["headline"]["parts"]] == [
        *(int((audited["verdict"] == kind).sum()) for kind in ("CERTIFIED", "COUNTEREXAMPLE", "UNDECIDED")),
        2,  # rows with gaps, which were not examined
    ]
    assert opened["commands"] == ["lcifr report audit", "lcifr check audit/bundle"]


def test_the_person_themselves_is_covered_by_their_proof(client, opened):
    for name in who(opened, "certified")[:5]:
        person = client.ask("audit/person", audit="audit", id=name)
        answer = client.ask("audit/what-if", audit="audit", id=name, values=own_values(person))
        assert (answer["similar"], answer["same"], answer["covered"]) == (True, True, True)
        assert "covered by the proof" in answer["sentence"]


def test_a_counterexample_is_similar_decided_otherwise_and_not_covered(client, opened):
    names = who(opened, "counterexample")
    assert names
    for name in names:
        person = client.ask("audit/person", audit="audit", id=name)
        answer = client.ask("audit/what-if", audit="audit", id=name, values=person["other"])
        assert (answer["similar"], answer["same"], answer["covered"]) == (True, False, False)
        assert "this is a counterexample" in answer["sentence"]
        assert answer["own"]["decision"] == person["shown"]["other_decision"]


def test_beyond_phi_nothing_is_covered_and_the_part_that_fails_is_named(client, opened):
    name = who(opened, "certified")[0]
    values = own_values(client.ask("audit/person", audit="audit", id=name))
    other = "cook" if values["job"] != "cook" else "pilot"
    answer = client.ask("audit/what-if", audit="audit", id=name, values=values | {"job": other})
    assert (answer["similar"], answer["covered"]) == (False, False)
    assert answer["failing"] == "same(job, region)"


def test_what_if_agrees_with_phi_and_the_model_on_random_people(client, opened, written):
    """Oracle: φ's own truth, and the plain decision of the model that the folder holds."""
    report = read_folder(written / "audit")
    random, people = np.random.default_rng(0), report.found.people
    for _ in range(25):
        row, donor = random.integers(0, len(people), 2)
        name = str(report.found.ids[row])
        values = own_values(client.ask("audit/person", audit="audit", id=name))
        for one, value in people.take([donor]).to_pandas().iloc[0].items():
            if random.random() < 0.3:
                values[one] = value.item() if hasattr(value, "item") else value
        answer = client.ask("audit/what-if", audit="audit", id=name, values=values)
        from lcifr.workbench.people_tables import read_person

        other = read_person(values, people.schema)
        holds = bool(report.encoder.similarity.holds(people.take([row]), other)[0])
        decided = report.found.model.predict(report.encoder.transform(other))[0]
        assert answer["similar"] is holds
        assert answer["own"]["decision"] == str(decided)
        assert answer["same"] is (decided == report.found.prediction[row])
        assert answer["covered"] is (holds and opened["people"][row]["kind"] == "certified")


def test_a_proof_that_a_decision_contradicts_is_never_shown_as_a_proof(client, opened, monkeypatch):
    """A liar: the model says something else for everybody but the proof stands."""
    name = who(opened, "certified")[0]
    values = own_values(client.ask("audit/person", audit="audit", id=name))
    from lcifr.models.model import Model

    monkeypatch.setattr(Model, "differ", lambda self, one, two: np.array([True]))
    said = client.refusal("audit/what-if", audit="audit", id=name, values=values)
    assert "one of the two is wrong" in said


def test_somebody_who_cannot_exist_is_refused(client, opened):
    name = who(opened, "certified")[0]
    values = own_values(client.ask("audit/person", audit="audit", id=name))
    assert "below the declared range" in client.refusal(
        "audit/what-if", audit="audit", id=name, values=values | {"age": 3}
    )
    assert "not among the people" in client.refusal("audit/person", audit="audit", id="nobody")


def test_a_changed_folder_is_refused(own, written):
    import shutil

    shutil.copytree(written / "audit", own.desk.folder.root / "audit")
    result = own.desk.folder.root / "audit" / "people.parquet"
    people = pd.read_parquet(result)
    people.assign(age=people["age"] + 1).to_parquet(result)
    assert "audit" in own.refusal("audit/open", name="audit")


def test_the_report_is_written_where_the_command_writes_it(own, written):
    import shutil

    shutil.copytree(written / "audit", own.desk.folder.root / "audit")
    assert own.ask("audit/report", name="audit")["file"] == "audit/report.html"
    assert (own.desk.folder.root / "audit" / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
