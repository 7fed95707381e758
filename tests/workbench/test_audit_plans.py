"""Plans: the words of the command, what is refused before anything starts, and which stopped runs are gone on with."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from lcifr.cli import build
from lcifr.errors import LcifrError
from lcifr.workbench.audits import AuditPlan
from lcifr.workflows.folders import Command, RunSettings
from tests.workbench.bench import PLAN

OURS = AuditPlan(out="audit", producer="p", consumer="c", table="people.csv", phi="a b.phi", sample=5, population=True)
THEIRS = AuditPlan(out="audit", model="m.onnx", table="people.csv", phi="x.phi", reference="train.csv", tolerance=0.5)


@pytest.mark.parametrize("plan", [OURS, THEIRS, replace(OURS, table="", phi="")])
def test_the_words_ask_for_what_the_plan_asks_for(plan, monkeypatch):
    """The command line reads the words as the very request that the plan stands for."""
    from lcifr.cli import audit as command

    seen: list[object] = []

    def stand_in(request: object, *, argv: object) -> None:
        seen.append(request)
        raise LcifrError("enough")

    monkeypatch.setattr(command, "run_audit", stand_in)
    CliRunner().invoke(build(), plan.words())
    assert seen == [plan.request]


@pytest.mark.parametrize("plan", [OURS, THEIRS, replace(THEIRS, schema="s.toml", id_column="person", target="repaid")])
def test_a_plan_is_known_again_by_its_settings(plan):
    settings = RunSettings.of(Command.of("audit", plan.request), {})
    assert AuditPlan.of_settings(settings, plan.out) == plan


@pytest.mark.parametrize(
    "change",
    [{"workers": 3}, {"describe": "/etc/passwd"}, {"seed": 7}, {"unheard": "of"}, {"table": ["x"]}, {"by": ["sex"]}],
)
def test_settings_that_no_plan_makes_are_not_started_from_the_page(change):
    settings = RunSettings.of(Command.of("audit", THEIRS.request), {})
    odd = replace(settings, arguments={**settings.arguments, **change})
    assert AuditPlan.of_settings(odd, "audit") is None
    assert AuditPlan.of_settings(replace(settings, command="produce"), "audit") is None
    assert AuditPlan.of_settings(replace(settings, arguments=[change]), "audit") is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"table": "../people.csv"}, "not the name of a file"),
        ({"table": "--json"}, "not the name of a file"),
        ({"phi": "no.phi"}, "no such file"),
        ({"phi": ""}, "no formula is chosen"),
        ({"model": ""}, "no model is chosen"),
        ({"reference": "/etc/passwd"}, "not the name of a file"),
        ({"out": "../audit"}, "not the name of a file"),
        ({"out": "audit"}, "already exists"),
        ({"out": "--force"}, "not the name of a file"),
        ({"schema": "people.toml/../../x"}, "not the name of a file"),
    ],
)
def test_nothing_odd_is_started(client, change, said):
    assert said in client.refusal("audit/start", **{**PLAN, "out": "new", **change})
    assert client.ask("run/state") is None


def test_the_command_is_shown_as_it_would_be_pasted(client):
    values = {"model": "model.skops", "table": "people.csv", "phi": "people.phi", "out": "my audit"}
    shown = client.ask("audit/plan", **values)["command"]
    assert shown == "lcifr audit people.csv --model=model.skops --phi=people.phi --schema=people.toml '--out=my audit'"
