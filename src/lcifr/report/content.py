"""The content of a report: every fact once, as numbers and words, before it has any form.

Every format is written from this alone, so that all of them say the same. Values are what JSON can hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lcifr.certification.population import ScaleSource
from lcifr.display.charts import Histogram
from lcifr.display.scores import AttributeScore, Freedom, PairScore, PersonScore, Profile
from lcifr.phi.lint import Finding

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
    years: tuple[str, ...] = ()  # attributes whose numbers are years, which nobody writes with a comma
    scores: Scores | None = None  # of an additive model
    probabilities: bool = False  # whether the model computes a probability from its output
    left_off: int = 0  # people of the report whom a shorter page does not show

    @property
    def first(self) -> PersonRow | None:
        """Who is shown before anybody chooses: the first counterexample, or the first person."""
        bad = next((one for one in self.people[:LISTED] if one.verdict == "COUNTEREXAMPLE"), None)
        return bad or next(iter(self.people), None)


# The content of a report: every fact once, as numbers and words, before it has any form.
#
# Every format is written from this alone, so that all of them say the same. Values are what JSON can hold.


@dataclass(frozen=True)
class LibraryFacts:
    """A model of another library: its file and what wrote it, what it computes and decides, and who confirmed that.

    ``runtime`` is empty where it is not installed; ``reference`` is the table whose standard deviations φ speaks of;
    ``assumptions`` are sentences about what the file does not say.
    """

    name: str
    steps: tuple[str, ...]
    rule: str
    runtime: str
    sha256: str
    reference: str
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """Who had which model audited, and when; days as 2026-11-16, and nothing where nobody said it.

    Parameters
    ----------
    audited : the day on which the audit ended. written : the day on which the page was made, if that is another one.
    author : who answers for the page. encoder, model : the sizes of the layers, inputs first; hashes say which ones.
    arithmetic : what the verdicts speak about, in words. library : of a model of another library.
    trees, encoder_trees : how many the model and the encoder are sums of; 0 for networks.
    labels : what decisions are called, by the model's own names.
    """

    audited: str
    written: str
    author: str
    encoder: tuple[int, ...]
    model: tuple[int, ...]
    arithmetic: str
    library: LibraryFacts | None = None
    trees: int = 0
    encoder_trees: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Promise:
    """φ: its name, its text and what it says in English; None where the producer withholds it or the schema."""

    name: str
    text: str | None
    english: str | None
    hash: str


@dataclass(frozen=True)
class Proved:
    """Of how many people what was proved; ``lower`` is a bound for the population, None where there is none.

    Parameters
    ----------
    people : who were examined. not_examined : rows beside them, in which a value is missing. share : of both.
    constant : the decision that everybody gets, where there is but one.
    no_bound : why there is no bound for the population; empty where there is one.
    """

    people: int
    certified: int
    violated: int
    undecided: int
    vacuous: int
    alone: int
    share: float
    lower: float | None
    confidence: float
    reasons: Mapping[str, int]
    on_ball: float | None = None
    on_box: float | None = None
    constant: str | None = None
    not_examined: int = 0
    no_bound: str = ""

    @property
    def rows(self) -> int:
        """Rows of the table, examined or not."""
        return self.people + self.not_examined


@dataclass(frozen=True)
class ModelRow:
    """One model's figures on the people who were examined: shares, but for R² and the mean error of numbers.

    None where a figure is not known.
    """

    name: str
    accuracy: float | None
    balanced_accuracy: float | None
    certified: float | None
    violated: float | None
    undecided: float | None
    r2: float | None = None
    mean_error: float | None = None

    @property
    def score(self) -> float | None:
        """By which models are compared: accuracy, or R² of numbers."""
        return self.accuracy if self.mean_error is None else self.r2


@dataclass(frozen=True)
class GroupRow:
    """People with one value of an attribute."""

    attribute: str
    value: str
    people: int
    certified: float
    at_least: float | None
    violated: float
    accuracy: float | None
    mean_error: float | None = None


@dataclass(frozen=True)
class DecisionRow:
    """How many of some people get each decision: of those with one value of an attribute, or with one true label."""

    attribute: str
    value: str
    people: tuple[int, ...]


@dataclass(frozen=True)
class Decisions:
    """Who is decided how: ``names`` of the decisions, and for everybody, every group and every true label counts."""

    names: tuple[str, ...]
    people: tuple[int, ...]
    groups: tuple[DecisionRow, ...]
    labels: tuple[DecisionRow, ...]


@dataclass(frozen=True)
class FrontierRow:
    """One weight that was tried, or a baseline: ``kind`` is ``tried``, ``chosen``, ``plain`` or ``unaware``."""

    name: str
    kind: str
    gamma: float
    score: float
    balanced: float
    certified: float
    family: str = ""


@dataclass(frozen=True)
class Tuning:
    """What every weight costs and gives, on validation people; ``by`` : the score that was required."""

    required: float
    rows: tuple[FrontierRow, ...]
    by: str = "accuracy"


@dataclass(frozen=True)
class Checked:
    """What the exact checker said about the audit bundle; ``people`` may be fewer than were audited."""

    people: int
    certified: int
    counterexamples: int
    rejected: int


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
    title : of the page. data : whose people these are. partial : why it is not the whole dataset.
    data_cautions : what is to be known about the data. model : what the model under audit is called.
    decisions : words for the model's labels. settings : named, as they were.
    checked : the exact checker's word. recheck : commands that do it again.
    findings : what lint says of φ with the training people; None to lint with the people audited.
    versions : of what took part in the proofs; None for those installed now.
    author : who answers for the page. audited, written : the days of the audit and of the page, as 2026-11-16.
    library : of a model of another library. trained_on : whether the model learned from people among these; None
        where nobody knows.
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
    checked: Checked | None = None
    recheck: tuple[str, ...] = ()
    findings: tuple[Finding, ...] | None = None
    versions: Mapping[str, str] | None = None
    author: str = ""
    audited: str = ""
    written: str = ""
    library: LibraryFacts | None = None
    trained_on: bool | None = None
    scales: tuple[ScaleSource, ...] | None = None
    baseline_learner: str = ""


@dataclass(frozen=True)
class Report:
    """Everything that one shows of an audit."""

    title: str
    data: str
    origin: Origin
    promise: Promise
    proved: Proved
    cautions: tuple[Caution, ...]
    models: tuple[ModelRow, ...]
    majority_rate: float | None
    margins: Histogram | None
    radii: Histogram | None
    groups: tuple[GroupRow, ...]
    decisions: Decisions | None
    explorer: Explorer
    tuning: Tuning | None
    checked: Checked | None
    recheck: tuple[str, ...]
    rule: str
    hashes: Mapping[str, str]
    versions: Mapping[str, str]
    settings: Mapping[str, str]
    data_cautions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    scales: tuple[ScaleSource, ...] = ()
    baseline_learner: str = ""
