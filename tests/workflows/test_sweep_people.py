"""People of the table whom no cell of a sweep decides are asked about one by one, against the library's decisions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from lcifr.certification.sweep.pair_question import PairQuestion
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.phi.similarity import Similarity
from lcifr.workflows import SweepRequest, SweepResult, sweep
from lcifr.workflows import sweep_people as asked_people
from lcifr.workflows.folders import RunStopped
from lcifr.workflows.sweep_people import PEOPLE, DecidedBy, SweptPeople
from tests.certification.sweep.tiny import ENCODING, FORMULAS, SCHEMA, everybody, fitted
from tests.story import lcifr
from tests.workflows.swept_place import ASKED


def request_for(tiny_place: Path, out: str, **options: object) -> SweepRequest:
    request = SweepRequest(
        table=tiny_place / "people.csv",
        model=tiny_place / "model.skops",
        phi=str(tiny_place / "people.phi"),
        schema=str(tiny_place / "people.toml"),
        out=tiny_place / out,
        cells=1,  # one that is cut: every cell stays open
    )
    return replace(request, **options)


def violating() -> np.ndarray:
    """(72,) who has a similar person with another decision, by trying everyone."""
    people, similarity = everybody(), Similarity(FORMULAS[0], SCHEMA, ENCODING)
    decisions = fitted(LogisticRegression(), 1).predict(people.to_pandas())
    rows = [people.take(np.full(len(people), row)) for row in range(len(people))]
    return np.array([(similarity.holds(x, people) & (decisions != decisions[row])).any() for row, x in enumerate(rows)])


def test_everyone_in_open_cells_is_proved_or_refuted(tiny_place: Path) -> None:
    result = sweep(request_for(tiny_place, "one_cell"))
    assert not result.sweep.proved
    assert not result.sweep.violating
    bad = violating()
    assert result.people.by_cell == {}
    assert result.people.one_by_one == {"proved": (~bad).sum(), "violating": bad.sum()}
    assert result.people.counts["open"] == result.people.not_asked == 0
    rows = pd.read_parquet(tiny_place / "one_cell" / PEOPLE)
    assert rows["id"].tolist() == [str(row) for row in range(len(bad))]
    assert ((rows["standing"] == "violating") == bad).all()
    assert set(rows.loc[bad, "decided by"]) == {DecidedBy.COUNTEREXAMPLE}
    assert set(rows.loc[~bad, "decided by"]) == {DecidedBy.PROOF}
    x, names = everybody().to_pandas()[bad], list(SCHEMA.names)
    other = rows.loc[bad, [f"x' {name}" for name in names]].set_axis(names, axis=1)
    assert rows.loc[~bad, "x' age"].isna().all()
    assert Similarity(FORMULAS[0], SCHEMA, ENCODING).holds(x, other.astype(x.dtypes)).all()
    model = fitted(LogisticRegression(), 1)
    assert (model.predict(x) != model.predict(other)).all()
    assert SweepResult.read(tiny_place / "one_cell").people == result.people


def test_a_counterexample_refutes_the_open_cell_of_its_person(
    tiny_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PairQuestion, "ask", _finds_nothing)
    result = sweep(request_for(tiny_place, "refuted"))
    assert result.sweep.refuted
    assert 1 <= len(result.sweep.pairs) <= len(result.sweep.open)
    for cell in result.sweep.open:
        assert cell.pair is None or cell.cell.contains(cell.pair.x).all()
    assert len(pd.read_csv(tiny_place / "refuted" / "pairs.csv")) == 2 * len(result.sweep.pairs)
    assert SweepResult.read(tiny_place / "refuted").sweep.refuted


def _finds_nothing(self: PairQuestion, cells: Any, budget: object, *, thoroughly: bool = True) -> object:
    from lcifr.certification.counterexample import Pairs
    from lcifr.certification.sweep.pair_question import CellAnswers

    nothing = np.zeros(len(cells), np.bool_)
    return CellAnswers(nothing, Pairs.none(cells.middles()), ~nothing)


def test_a_limit_is_kept_and_said(tiny_place: Path) -> None:
    said = lcifr(
        "sweep", "people.csv", *ASKED, "--cells", 1, "--people", 5, "--out", "five", cwd=tiny_place, expect=1
    )  # fmt: skip
    assert "67 open (not asked about)" in said.out
    found = SweepResult.read(tiny_place / "five").people
    assert sum(found.one_by_one.values()) == 5
    rows = pd.read_parquet(tiny_place / "five" / PEOPLE)
    assert (rows["decided by"] == DecidedBy.NOTHING).tolist() == [row >= 5 for row in range(72)]
    none = sweep(request_for(tiny_place, "nobody", people=0)).people
    assert none == SweptPeople({}, {}, 72)


def test_a_stopped_run_asks_about_nobody_twice_and_cuts_no_cell_again(
    tiny_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, asked = PairQuestion.ask_individuals, list[int]()

    def ask(self: PairQuestion, people, budget):  # type: ignore[no-untyped-def]
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(len(people))
        return honest(self, people, budget)

    monkeypatch.setattr(asked_people, "AT_ONCE", 10)
    monkeypatch.setattr(PairQuestion, "ask_individuals", ask)
    with pytest.raises(RunStopped):
        sweep(request_for(tiny_place, "stopped_late"))

    def go_on(self: PairQuestion, people, budget):  # type: ignore[no-untyped-def]
        asked.append(len(people))
        return honest(self, people, budget)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the cells were known")

    monkeypatch.setattr(PairQuestion, "ask_individuals", go_on)
    monkeypatch.setattr(Sweeper, "run", refuse)
    result = sweep(request_for(tiny_place, "stopped_late"))
    assert sum(asked) == 72
    assert result.people.counts["violating"] == violating().sum()
    assert sorted(file.name for file in (tiny_place / "stopped_late").iterdir()) == sorted(
        ["cells.parquet", "encoding.json", "pairs.csv", PEOPLE, "result.json", "settings.json"]
    )


def test_proofs_of_single_people_are_not_in_the_bundle_and_it_says_so(tiny_place: Path) -> None:
    asked = ("sweep", "people.csv", *ASKED, "--cells", 1, "--bundle")
    said = lcifr(*asked, "--out", "proved_alone", cwd=tiny_place, expect=1)
    result = SweepResult.read(tiny_place / "proved_alone")
    assert result.people.one_by_one["proved"] > 0
    assert f"proofs of single people ({result.people.proofs}) are not in it and not checked" in said.out
    assert result.checked is not None
    assert result.checked.rejected == 0
    assert result.checked.shares == {"open": "1"}
    report = json.loads((tiny_place / "proved_alone" / "checked.json").read_text())
    assert not report["names"].get("proved")
    checked = lcifr("check", "proved_alone", cwd=tiny_place, expect=None)
    assert "single people" not in checked.out
    page = lcifr("report", "proved_alone", "--out", "alone.md", cwd=tiny_place)
    assert page.code == 0
    assert "are not in it and not checked" in (tiny_place / "alone.md").read_text(encoding="utf-8")


def test_an_older_result_has_counts_alone() -> None:
    old = SweptPeople.from_dict({"people": {"proved": 3, "violating": 1, "open": 2}})
    assert str(old) == "3 proved (by their cell); 1 refuted (by their cell); 2 open (not asked about)"
    assert SweptPeople.from_dict(old.to_dict()) == old
    both = SweptPeople({"proved": 1200}, {"proved": 30, "open": 2}, 5)
    proved = "1,230 proved (1,200 by their cell, 30 by a proof of their own)"
    assert str(both) == f"{proved}; 7 open (2 after a search of their own, 5 not asked about)"
