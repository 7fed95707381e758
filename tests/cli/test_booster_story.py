"""A booster from the shell: learned from a table, handed over, consumed, audited, checked, reported; and tuned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcifr.certification.handover import Representation
from lcifr.estimators import FairBooster
from lcifr.workflows.producing import load_encoder
from tests.story import lcifr, write_made_up

LEARN = ("some people.csv", "--phi", "who.phi", "--target", "paid", "--learner", "trees")
QUICK = ("--rounds", "30", "--learning-rate", "0.3", "--min-people", "5")


def result_of(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A producer's, a consumer's and an auditor's folder, and what each command said."""
    place = tmp_path_factory.mktemp("booster")
    write_made_up(place, signal=1.5, share=0.5, people=100)
    commands: dict[str, tuple[Any, ...]] = {
        "producer": ("produce", *LEARN, *QUICK, "--gamma", "0.3", "--rising", "income", "--falling", "debt"),
        "consumer": ("consume", "producer/handover", "producer/labels.csv"),
        "audit": ("audit", "producer", "consumer", "--bundle"),
        "new": ("represent", "producer", "some people.csv", "--bundle"),
        "certified": ("certify", "consumer", "new/handover"),
    }
    for out, words in commands.items():
        said = lcifr(*words, "--out", out, cwd=place, expect=None)
        (place / f"{out}.said").write_text(said.out, encoding="utf-8")
        assert said.code in (0, 1, 3), said.err
    return place


def test_z_is_a_score_for_each_attribute_that_is_read(place: Path) -> None:
    booster, made = load_encoder(place / "producer"), result_of(place / "producer")
    assert isinstance(booster, FairBooster)
    assert made["learner"] == "trees"
    assert made["scores"] == [*booster.get_feature_names_out()]
    assert "sex" in made["unread"]
    said = (place / "producer.said").read_text(encoding="utf-8")
    assert f"z has one score for each of: {', '.join(made['scores'])}" in said
    handed = Representation.read(place / "producer/handover/held-out")
    assert handed.width == len(made["scores"])
    assert handed.exact.all()
    for name, way in (("income", 1), ("debt", -1)):  # as it was asked for
        shape = next(shape for shape in booster.additive_.shapes if shape.bins.attribute == name)
        assert (way * np.diff(shape.values[:, 0]) >= 0).all()


def test_pairs_trees_and_bags_are_said_in_the_shell_and_checked(tmp_path: Path) -> None:
    write_made_up(tmp_path, signal=1.5, share=0.5, people=100)
    words = ("produce", *LEARN, *QUICK, "--out", "producer")
    few = ("--rounds", "3")  # attributes alone are not done yet, and trees have something to do
    lcifr(*words, *few, "--interactions", "auto", "--depth", "2", "--bags", "2", cwd=tmp_path)
    booster = load_encoder(tmp_path / "producer")
    assert (booster.interactions, booster.depth, booster.bags) == ("auto", 2, 2)
    assert booster.additive_.trees
    lcifr("check", "producer/bundle", cwd=tmp_path)
    lcifr("audit", "producer", "producer", "--no-baselines", "--bundle", "--out", "audit", cwd=tmp_path, expect=None)
    people = pd.read_parquet(tmp_path / "producer/people/held-out.parquet")
    found = result_of(tmp_path / "audit")
    assert found["share"] >= booster.certified(people).mean()
    lcifr("check", "audit/bundle", cwd=tmp_path)
    said = lcifr(*words, "--interactions", "some", "--force", cwd=tmp_path, expect=2)
    assert "--interactions 'some' is no number of pairs" in said.err
    assert "auto" in said.err
    said = lcifr("produce", *LEARN[:-1], "network", "--bags", "2", "--out", "other", cwd=tmp_path, expect=2)
    assert "--bags works only with --learner trees" in said.err


def test_a_consumer_proves_on_the_box_and_the_audit_says_what_that_costs(place: Path) -> None:
    used, audit = result_of(place / "consumer"), result_of(place / "audit")
    assert used["on"] == "box"
    assert "proved on each person's box around z" in (place / "consumer.said").read_text(encoding="utf-8")
    cost = audit["modularity"]
    assert cost["box"] == used["share"] == audit["share"]  # one cell and a linear head: the box costs nothing
    assert cost["ball"] <= cost["box"]
    assert {"plain", "unaware"} <= audit["baselines"].keys()
    assert result_of(place / "certified")["people"] == 100


def test_the_booster_itself_is_audited_by_the_sum_of_its_scores(place: Path) -> None:
    """Its folder is a consumer's, too: the decisions are the booster's own, and so is the share in closed form."""
    assert "lcifr audit producer producer" in (place / "producer.said").read_text(encoding="utf-8")
    lcifr("audit", "producer", "producer", "--no-baselines", "--bundle", "--out", "itself", cwd=place, expect=None)
    found, booster = result_of(place / "itself"), load_encoder(place / "producer")
    people = pd.read_parquet(place / "producer/people/held-out.parquet")
    assert found["share"] == booster.certified(people).mean()
    verdicts = pd.read_parquet(place / "itself/audited/audit.parquet")
    assert [*verdicts["prediction"]] == [*booster.predict(people)]
    assert "every claim about them is confirmed" in lcifr("check", "itself/bundle", cwd=place).out


def test_the_checker_confirms_everything_from_the_files_alone(place: Path) -> None:
    for folder in ("producer/bundle", "audit/bundle", "new/bundle"):
        assert "every claim about them is confirmed" in lcifr("check", folder, cwd=place).out
    report = lcifr("check", "producer/bundle", "--json", cwd=place)
    (place / "checked.json").write_text(report.out, encoding="utf-8")
    words = ("consume", "producer/handover", "producer/labels.csv", "--checked", "checked.json", "--hidden", "4")
    said = lcifr(*words, "--epochs", "5", "--on", "ball", "--out", "checked", cwd=place)
    assert "radius: checked for all 20" in said.out


def test_the_page_is_written_from_the_folder(place: Path) -> None:
    lcifr("report", "audit", cwd=place)
    page = (place / "audit/report.html").read_text(encoding="utf-8")
    assert "income" in page


def test_what_is_about_a_network_is_refused_for_trees_and_the_other_way(place: Path) -> None:
    said = lcifr("produce", *LEARN, "--latent", "3", "--out", "no", cwd=place, expect=2)
    assert "--latent works only with --learner network" in said.err
    assert "Fix: " in said.err
    words = ("produce", "some people.csv", "--phi", "who.phi", "--target", "paid", "--rounds", "3", "--out", "no")
    assert "--rounds works only with --learner trees" in lcifr(*words, cwd=place, expect=2).err
    both = ("--rising", "income", "--falling", "income")
    assert "both name income" in lcifr("produce", *LEARN, *both, "--out", "no", cwd=place, expect=2).err
    assert not (place / "no").exists()


def test_networks_and_trees_are_on_one_frontier_and_one_is_chosen_of_all(place: Path) -> None:
    words = ("tune", "some people.csv", "--phi", "who.phi", "--target", "paid", "--learner", "both", *QUICK)
    more = ("--latent", "3", "--hidden", "4", "--epochs", "8", "--required", "0.5", "--gammas", "0.3,3")
    said = lcifr(*words, *more, "--out", "frontier", cwd=place)
    found = result_of(place / "frontier")
    points = found["points"]
    assert {point["learner"] for point in points} == {"network", "trees"}
    assert {point["on"] for point in points} == {"box"}
    chosen = next(point for point in points if point["name"] == found["chosen"])
    assert chosen["score"] >= 0.5
    assert found["learner"] == chosen["learner"]
    for title in ("network, plain", "trees, unaware", "trees, gamma 3", "network, gamma 0.3"):
        assert title in said.out
    drawing = (place / "frontier/frontier.svg").read_text(encoding="utf-8")
    assert "trees, γ = 3" in drawing
    assert drawing.count("<polyline") == 2
    lcifr("audit", "frontier", "frontier", "--no-baselines", "--out", "own", cwd=place, expect=None)
    assert result_of(place / "own")["hashes"]["encoder"] == found["encoder"]
    lcifr("report", "audit", "--tune", "frontier", "--out", "with.md", cwd=place)
    assert "trees, γ = 3" in (place / "with.md").read_text(encoding="utf-8")
