"""The content of a report: the results themselves and what is derived from them, before it has any form.

Every format is written from this alone, so that all of them say the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.population import ScaleSource, Statement, why_no_bound
from lcifr.certification.verdicts import Audit, Certificates, Verdict
from lcifr.display.charts import Histogram
from lcifr.display.scores import AttributeScore, Freedom, PairScore, PersonScore, Profile
from lcifr.display.text import arithmetic_words
from lcifr.models.function import Function
from lcifr.phi.lint import Finding
from lcifr.workflows.results import CheckedProofs, ModelOrigin, TuneResult

if TYPE_CHECKING:
    from lcifr.estimators.tuning import Frontier

# People of the explorer: plain values, as JSON can hold them.

Value = str | int | float
LISTED = 200
"""People in the page's list at once."""


@dataclass(frozen=True)
class PersonRow:
    """One person of the explorer.

    Parameters
    ----------
    values : the attributes, in the table's own units. may : for each attribute that may differ, how far.
    linked : whether not every combination of what may differ is similar.
    score : of an additive model, what speaks for and against. profiles : the output around the counterexample.
    least_probability : proved: no similar person's probability of this decision is smaller; None where not known.
    other, other_decision : the counterexample. moved : how far its number is from the person's own.
    """

    id: str
    verdict: str
    reason: str
    decision: str
    margin: float | None
    radius: float | None = None
    moved: float | None = None
    least_probability: float | None = None
    vacuous: bool = False
    values: Mapping[str, Value] = field(default_factory=dict)
    may: Mapping[str, Freedom] = field(default_factory=dict)
    linked: bool = False
    other: Mapping[str, Value] | None = None
    other_decision: str | None = None
    score: PersonScore | None = None
    profiles: tuple[Profile, ...] = ()


@dataclass(frozen=True)
class Scores:
    """What each attribute adds to the output of an additive model.

    Parameters
    ----------
    drawn : of the attributes that move the output most. moves : of all of them, how far.
    pairs : those drawn that have a score together. undrawn : those not drawn.
    average : the mean output of these people, where there is one output. up : what more of it speaks for.
    """

    drawn: tuple[AttributeScore, ...]
    moves: Mapping[str, float]
    pairs: tuple[PairScore, ...]
    undrawn: tuple[str, ...]
    average: float | None
    up: str


@dataclass(frozen=True, eq=False)
class Explorer:
    """The people one can look at: all of them, or a sample and as many counterexamples as the page has room for."""

    people: tuple[PersonRow, ...]
    attributes: tuple[str, ...]
    units: Mapping[str, str]
    complete: bool
    counterexamples: int
    regions: bool  # whether it is known what a similar person may have
    tolerance: float | None = None  # of decisions that are numbers
    years: tuple[str, ...] = ()  # attributes whose numbers are years, which are written without a comma
    scores: Scores | None = None  # of an additive model
    probabilities: bool = False  # whether the model computes a probability from its output
    left_off: int = 0  # people of the report that a shorter page leaves out

    @property
    def first(self) -> PersonRow | None:
        """Who is shown until a person is chosen: the first counterexample, or the first person."""
        bad = next((one for one in self.people[:LISTED] if one.verdict == "COUNTEREXAMPLE"), None)
        return bad or next(iter(self.people), None)


# The report: verdicts, the statement about the population, and what the caller knows beside them.


@dataclass(frozen=True)
class Promise:
    """φ: its name, its text and what it says in English; None where the producer withholds it or the schema."""

    name: str
    text: str | None
    english: str | None
    hash: str


@dataclass(frozen=True)
class ComparedModel:
    """One model on the people who were examined, and its figures by the names that a statement's baselines have.

    Shares, but for R² and the mean error of numbers; a figure that is not known is None.
    """

    name: str
    figures: Mapping[str, float | None]

    def __getitem__(self, figure: str) -> float | None:
        return self.figures.get(figure)

    @property
    def score(self) -> float | None:
        """By which models are compared: accuracy, or R² of numbers."""
        return self["accuracy"] if self["mean_error"] is None else self["r2"]


@dataclass(frozen=True)
class DecisionRow:
    """How many of some people get each decision: of those with one value of an attribute, or with one true label."""

    attribute: str
    value: str
    people: tuple[int, ...]


@dataclass(frozen=True)
class Decisions:
    """Who is decided how: ``names`` of the decisions, and for everyone, every group and every true label counts."""

    names: tuple[str, ...]
    people: tuple[int, ...]
    groups: tuple[DecisionRow, ...]
    labels: tuple[DecisionRow, ...]


@dataclass(frozen=True)
class Caution:
    """Something without which the figures mislead; ``code`` for programs, ``title`` and ``text`` for people."""

    code: str
    title: str
    text: str


@dataclass(frozen=True)
class About:
    """What the caller knows and the verdicts do not say.

    Parameters
    ----------
    title : of the page. data : which people these are. partial : why it is not the whole dataset.
    data_cautions : what a reader must know about the data. model : the name of the model under audit.
    decisions : words for the model's labels. settings : of the run, by name.
    checked : what the exact checker found. recheck : commands that check again.
    findings : what lint says of φ with the training people; None to lint with the people audited.
    versions : of what took part in the proofs; None for those installed now.
    author : who is responsible for the page. audited, written : the dates of the audit and of the page, as 2026-11-16.
    library : of a model of another library. trained_on : whether the model learned from people among these; None
        where that is not known.
    scales : where the standard deviations and ranks of φ come from; None for what the similarity knows itself.
    baseline_learner : what kind of model the baselines are, in words; empty where that is not known.
    """

    title: str = "Certificate report"
    data: str = ""
    partial: str | None = None
    data_cautions: tuple[str, ...] = ()
    model: str = "this model"
    decisions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    checked: CheckedProofs | None = None
    recheck: tuple[str, ...] = ()
    findings: tuple[Finding, ...] | None = None
    versions: Mapping[str, str] | None = None
    author: str = ""
    audited: str = ""
    written: str = ""
    library: ModelOrigin | None = None
    trained_on: bool | None = None
    scales: tuple[ScaleSource, ...] | None = None
    baseline_learner: str = ""

    @property
    def written_later(self) -> str:
        """The day on which the page was made; empty if it is the day of the audit."""
        return "" if self.written == self.audited else self.written


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a report shows: the results themselves, and what was derived from them.

    Parameters
    ----------
    found : the verdicts. statement : what they mean for the population. about : with versions and scales filled in.
    encoder : None without one, or where φ is withheld. promise : φ in words. rule : what must agree, in a sentence.
    hashes : of everything the verdicts depend on, by name. notes : what lint says of φ without being a caution.
    models : the one under audit, then its baselines. tuning : what was tried to find the model.
    margins, radii : of everyone; None where there are none. decisions : None of a model that predicts numbers.
    """

    found: Audit | Certificates
    statement: Statement
    about: About
    encoder: FrozenEncoder | None
    promise: Promise
    rule: str
    hashes: Mapping[str, str]
    cautions: tuple[Caution, ...]
    notes: tuple[str, ...]
    models: tuple[ComparedModel, ...]
    margins: Histogram | None
    radii: Histogram | None
    decisions: Decisions | None
    explorer: Explorer
    tuning: Frontier | TuneResult | None

    @property
    def encoder_function(self) -> Function | None:
        """What the encoder computes; None without an encoder of its own."""
        return None if self.encoder is None or self.encoder.function.is_identity else self.encoder.function

    @property
    def arithmetic(self) -> str:
        """What the verdicts speak about, in words."""
        return arithmetic_words(self.found.arithmetic, getattr(self.found, "handover_arithmetic", None))

    @property
    def alone(self) -> int:
        """How many people are similar to no one but themselves."""
        return int((self.found.alone & ~self.found.vacuous).sum()) if isinstance(self.found, Audit) else 0

    @property
    def reasons(self) -> dict[str, int]:
        """Why people are undecided, the most frequent reason first."""
        undecided = self.found.reason[self.found.verdict == Verdict.UNDECIDED]
        return dict(sorted(Counter(map(str, undecided)).items(), key=lambda item: (-item[1], item[0])))

    @property
    def modularity(self) -> dict[str, float]:
        """Shares certified on the ball and on the box of the hand-over alone; empty where that was not asked."""
        return self.found.modularity() if isinstance(self.found, Audit) else {}

    @property
    def constant(self) -> str | None:
        """The decision that everyone gets, in words, where there is but one."""
        constant = self.statement.constant
        return None if constant is None else self.about.decisions.get(constant, constant)

    @property
    def no_bound(self) -> str:
        """Why there is no bound for the population; empty where there is one."""
        if self.statement.lower is not None:
            return ""
        return why_no_bound(self.statement.not_examined, trained_on=bool(self.about.trained_on))

    @property
    def groups(self) -> list[dict[str, Any]]:
        """A record for each value of each attribute asked for, as :attr:`Statement.subgroups` has them."""
        frame = self.statement.subgroups
        records = [] if frame is None else frame.to_dict("records")
        return [{name: known(value) for name, value in record.items()} for record in records]


def known(value: Any) -> Any:
    """The value; None for NaN, as pandas writes a figure that is missing."""
    return None if isinstance(value, float) and math.isnan(value) else value
