"""Reports to look at: small audits with every verdict, people with hostile names, and a very large population."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from lcifr.certification.audit import audit
from lcifr.certification.handover import FrozenEncoder, represent
from lcifr.certification.population import state
from lcifr.certification.verdicts import Audit, Reason, Verdict
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.estimators.tuning import Frontier, FrontierPoint
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import read_model
from lcifr.phi import Similarity
from lcifr.report import About, Report, build
from lcifr.workflows.results import CheckedProofs
from tests.certification import explained_models, scenes
from tests.prove.instances import random_network

ABOUT = About(
    title="A made-up audit",
    data="60 made-up people",
    decisions={"0": "refused", "1": "granted"},
    checked=CheckedProofs(60, 60, 0, 40, 10, {}),
    recheck=("python -m lcifr.check bundle",),
    data_cautions=("Nobody of these people exists.",),
)
BASELINES = {
    "plain": {"accuracy": 0.81, "balanced_accuracy": 0.77, "certified": 0.42, "violated": 0.5, "undecided": 0.08},
    "unaware": {"accuracy": 0.79, "balanced_accuracy": 0.75, "certified": 1.0, "violated": 0.0, "undecided": 0.0},
}
FRONTIER = Frontier(
    (FrontierPoint("gamma-1", 1.0, 0.8, 0.7, 0.6, 0.1), FrontierPoint("gamma-3", 3.0, 0.7, 0.6, 0.9, 0.1)),
    FrontierPoint("plain", 0.0, 0.83, 0.7, 0.3, 0.2),
    FrontierPoint("unaware", 0.0, 0.81, 0.7, 0.5, 0.2),
    0.75,
    FrontierPoint("gamma-1", 1.0, 0.8, 0.7, 0.6, 0.1),
    None,
    None,
)


@cache
def audited(seed: int = 3, formula: str = scenes.FORMULAS[3], count: int = 60) -> tuple[Audit, FrozenEncoder]:
    """People with every verdict: narrow networks on wide regions."""
    scene = scenes.scene(seed, formula, count=count, depth=0)
    ids = [f"p{row}" for row in range(count)]
    found = audit(scene.encoder, scene.model, scene.people, ids)
    verdict, reason = found.verdict.copy(), found.reason.copy()
    open_row = int(found.certified.argmax())  # as if its proof had failed: undecided people are rare where all is small
    verdict[open_row], reason[open_row] = Verdict.UNDECIDED, Reason.LOOSE
    return replace(found, verdict=verdict, reason=reason), scene.encoder


def labels(found: Audit) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 2, len(found))


def statement(found: Audit, **options: Any) -> Any:
    by = {"sex": found.people.to_pandas()["sex"]} if "sex" in found.people.schema else None
    return state(found, labels(found), **({"held_out": True, "by": by, "baselines": BASELINES} | options))


@cache
def small_report() -> Report:
    return made_report()


def made_report(about: About = ABOUT, **options: Any) -> Report:
    found, encoder = audited()
    handed = represent(encoder, found.people, found.ids)
    return build(found, statement(found, **options), encoder=encoder, radius=handed, tuning=FRONTIER, about=about)


# -- people who mean harm ----------------------------------------------------------------------------------------------

SCRIPT = "</script><script>window.harmed = 1</script>"
IMAGE = "<img src=x onerror='window.harmed = 2'>"
QUOTES = "\"'`&amp;&lt;--><!-- | * _ [x](javascript:window.harmed=3) \\u003c"
TURNED = "abc\u202egnp.exe\u2066 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627\u200f"
LONG = "x" * 10_000
SEED = 3  # certificates and counterexamples
HOSTILE = (SCRIPT, IMAGE, QUOTES, TURNED, LONG)


@cache
def hostile_report() -> Report:
    """Every name and value that a user can give is hostile: attributes, categories, units, ids, comments of φ."""
    schema = Schema(
        (
            Numeric("age " + IMAGE, unit=QUOTES, lower=18, upper=90),
            Categorical("sex " + SCRIPT, HOSTILE),
            Categorical(LONG, ("female " + IMAGE, TURNED)),
        )
    )
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {attribute.name: rng.choice(attribute.values, 40) for attribute in schema.categorical}
        | {schema.names[0]: rng.uniform(18, 90, 40).round(1)}
    )
    text = f"# {SCRIPT} {IMAGE} {QUOTES} {TURNED}\nnumeric within 20"
    similarity = Similarity(text, schema, Encoding.fit(people, schema), source=SCRIPT)
    encoder = FrozenEncoder(random_network(rng, [len(similarity.encoding.features), 4, 2]), similarity)
    ids = [f"{HOSTILE[row % 5]} {row}" for row in range(40)]
    found = audit(encoder, random_network(np.random.default_rng(SEED), [2, 1]), people, ids)
    about = About(
        title=SCRIPT + IMAGE,
        data=TURNED,
        partial=IMAGE,
        data_cautions=HOSTILE,
        model=SCRIPT,
        decisions={"0": IMAGE, "1": SCRIPT},
        settings={IMAGE: SCRIPT},
        recheck=(SCRIPT, IMAGE),
    )
    by = {name: people[name] for name in schema.names_categorical}
    return build(found, state(found, held_out=False, by=by), encoder=encoder, about=about)


# -- long names, many categories ---------------------------------------------------------------------------------------

WORDY = "average_monthly_household_income_before_taxes_in_the_last_twelve_months"
NAMES = tuple(f"Region number {k:02d} of the country, with everything that belongs to it" for k in range(24))


@cache
def wordy_report() -> Report:
    """An honest table with long names: of attributes, of two dozen categories, of decisions; large numbers, years."""
    schema = Schema(
        (
            Numeric(WORDY, unit="euros", lower=0, upper=1_000_000),
            Numeric("year_of_birth", lower=1930, upper=2010, integer=True),
            Categorical("region_of_residence", NAMES),
            Categorical("sex", ("female", "male", "not stated")),
        )
    )
    rng, count = np.random.default_rng(0), 150
    table = pd.DataFrame(
        {
            WORDY: rng.uniform(1_000, 900_000, count).round(2),
            "year_of_birth": rng.integers(1940, 2005, count),
            "region_of_residence": rng.choice(NAMES, count),
            "sex": rng.choice(["female", "male", "not stated"], count),
        }
    )
    similarity = Similarity("same(region_of_residence) and numeric within 0.2 sd", schema, Encoding.fit(table, schema))
    found, encoder = made_up(table, similarity)
    found = replace(found, margin=found.margin * 123_456, prediction=rng.integers(0, 2, count))
    about = replace(
        ABOUT,
        title="Credit lines: do similar people get the same decision?",
        author="Group Compliance, Retail Credit Models, Bank of Examples",
        audited="2026-03-01",
        decisions={"0": "declined after a manual review", "1": "offered at a preferential rate"},
        checked=CheckedProofs(100, 150, 0, 80, 10, {}),
    )
    by = {name: table[name] for name in ("region_of_residence", "sex")}
    said = state(found, rng.integers(0, 2, count), held_out=True, by=by, baselines=BASELINES)
    return build(found, said, encoder=encoder, tuning=crowded_frontier(), about=about)


def crowded_frontier() -> Frontier:
    """Models that differ by less than the size of their dots."""
    points = tuple(
        FrontierPoint(f"gamma-{k}", float(f"{10 ** (k - 3):g}"), 0.52 + 0.004 * k, 0.5, 0.40 + 0.006 * k, 0.1)
        for k in range(6)
    )
    return replace(
        FRONTIER, points=points, chosen=points[2], unaware=FrontierPoint("unaware", 0.0, 0.53, 0.5, 0.42, 0.2)
    )


# -- very many people --------------------------------------------------------------------------------------------------


@cache
def large_report(count: int = 200_000) -> Report:
    """A population whose verdicts are made up: what is shown does not depend on how they were found."""
    table = scenes.people(count, 1).assign(income=lambda table: table["income"].clip(0, 90))
    found, encoder = made_up(table, scenes.similarity(scenes.FORMULAS[0]))
    radii = np.random.default_rng(1).uniform(0, 1, count)
    return build(found, statement(found), encoder=encoder, radius=radii, about=ABOUT)


def made_up(table: pd.DataFrame, similarity: Similarity) -> tuple[Audit, FrozenEncoder]:
    """Verdicts by chance."""
    rng, count = np.random.default_rng(0), len(table)
    people = Individuals.read(table, similarity.schema)
    margin = rng.normal(1.0, 0.7, count)
    verdict = np.full(count, Verdict.CERTIFIED, dtype=object)
    verdict[margin < 0] = Verdict.UNDECIDED
    verdict[margin < -0.4] = Verdict.COUNTEREXAMPLE
    nobody = np.zeros(count, np.bool_)
    found = Audit(
        ids=tuple(f"person-{row}" for row in range(count)),
        people=people,
        verdict=verdict,
        reason=np.where(verdict == Verdict.UNDECIDED, Reason.LOOSE, Reason.NONE).astype(object),
        prediction=rng.integers(0, 2, count),
        margin=margin,
        vacuous=nobody,
        alone=nobody,
        others=people.take(rng.permutation(count)),
        ball=None,
        box=None,
        model=read_model(random_network(rng, [2, 1])),
        arithmetic=Arithmetic.FLOAT64,
    )
    encoder = FrozenEncoder(random_network(rng, [len(similarity.encoding.features), 4, 2]), similarity)
    return found, encoder


@cache
def tree_report(together: int) -> Report:
    """Of a sum of trees that read so many attributes together."""
    made, found = explained_models.audited({1: 5, 2: 9, 3: 8}[together], together=together)
    about = About(decisions={"0": "refused", "1": "granted"})
    return build(found, state(found, held_out=True), similarity=made.encoder.similarity, about=about)
