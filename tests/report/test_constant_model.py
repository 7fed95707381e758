"""A model that decides the same for everybody is said to be just that, before any share of certified people."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from lcifr.certification.population import state
from lcifr.certification.verdicts import Audit, Reason, Verdict
from lcifr.cli.statements import statement_lines
from lcifr.display.text import percent
from lcifr.learn.scores import GAMMA_ADVICE
from lcifr.models.model import Degeneracy
from lcifr.report import Report, build, render
from lcifr.report.sections import put_into_words
from lcifr.workflows.results import learned_warnings
from tests.report import scenes


def decided_alike(verdict: Verdict) -> Audit:
    """Everybody is decided 1, and everybody has this verdict."""
    found, _ = scenes.audited()
    people = len(found)
    reason = Reason.NONE if verdict is Verdict.CERTIFIED else Reason.LOOSE
    return replace(
        found,
        prediction=np.ones(people, dtype=found.prediction.dtype),
        verdict=np.array([verdict] * people, dtype=object),
        reason=np.array([reason] * people, dtype=object),
    )


def report_of(found: Audit) -> Report:
    return build(found, scenes.statement(found), encoder=scenes.audited()[1], about=scenes.ABOUT)


@pytest.mark.parametrize("verdict", [Verdict.CERTIFIED, Verdict.UNDECIDED])
def test_the_same_decision_is_said_first_and_claims_nothing_of_the_verdicts(verdict: Verdict) -> None:
    """Nobody certified and "certified for everyone" contradict each other."""
    found = decided_alike(verdict)
    statement = state(found, scenes.labels(found), held_out=True)
    assert statement.constant == "1"
    said = str(statement)
    assert said.splitlines()[0].startswith("all 60 people get the same decision (1)")
    assert "for everyone" not in said
    assert said.count("the same decision") == 1
    lines = statement_lines(statement, held_out=True)
    assert lines[0].startswith("warning: all 60 people get the same decision (1)")
    share = percent(statement.share)
    assert lines[1] == f"(certified with respect to φ: {statement.certified} of 60 held-out people ({share}))"
    assert "\n".join(lines).count("the same decision") == 1


@pytest.mark.parametrize("verdict", [Verdict.CERTIFIED, Verdict.UNDECIDED])
def test_the_page_puts_it_before_the_figure_and_mutes_the_figure(verdict: Verdict) -> None:
    report = report_of(decided_alike(verdict))
    headline = put_into_words(report).headline
    assert headline.words == "The model makes the same decision for everyone: granted."
    assert headline.muted
    assert report.cautions[0].code == "constant"
    page = render(report)
    assert '<p class="figure muted">' in page
    assert '<p class="figure">' not in page
    assert "The model makes the same decision for everyone: granted." in re.search(r"<title>(.*?)</title>", page)[1]
    first = next(line for line in render(report, "md").splitlines() if line.startswith("**"))
    assert first.startswith("**The model makes the same decision for everyone: granted.**")
    assert len([one for one in report.cautions if "same decision" in one.text]) == 1


def test_of_any_other_model_the_figure_comes_first() -> None:
    report = scenes.small_report()
    assert report.constant is None
    assert not put_into_words(report).headline.muted
    assert '<p class="figure">' in render(report)
    assert "constant" not in {one.code for one in report.cautions}


def test_what_the_statement_says_is_not_said_again_of_the_people_learned_from() -> None:
    found = (Degeneracy("constant", "the model decides the same for everybody", GAMMA_ADVICE),)
    here = replace(state(decided_alike(Verdict.CERTIFIED), held_out=True), constant="1")
    assert learned_warnings(found, here) == []
    elsewhere = learned_warnings(found, replace(here, constant=None))
    assert elsewhere == ["on the people it learned from: the model decides the same for everybody"]
