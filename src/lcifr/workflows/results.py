"""Results of the commands as frozen dataclasses, read from and written to ``result.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

from lcifr.certification.bundle import ProofSample
from lcifr.certification.handover import Provenance, RadiusSummary
from lcifr.certification.population import ScaleSource, Statement, Tally, decision_name, state_tally
from lcifr.check.judge import CheckReport
from lcifr.data.codec import Record, from_json, inline, key
from lcifr.errors import LcifrError, did_you_mean
from lcifr.learn.history import FrontierPoints
from lcifr.models.model import Model
from lcifr.phi.lint import Finding
from lcifr.workflows.folders import RESULT, fitting_together, read_result
from lcifr.workflows.people import TRAIN, DatasetNotes

if TYPE_CHECKING:
    from lcifr.certification.saved_models import SavedHead, SavedProducer
    from lcifr.certification.subject import Hashes
    from lcifr.models.model import Degeneracy


class CommandResult(Record):
    """What a command prints with ``--json``, and writes into its folder."""

    head = ("format", "command")
    format: ClassVar[str]
    command: ClassVar[str]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The result in a folder that the command wrote."""
        with fitting_together(folder):
            return cls.from_dict(read_result(folder, cls.command))


# ModelOrigin: where a model of another library comes from, how it decides, and who confirmed that.


@dataclass(frozen=True)
class ModelOrigin(Record):
    """The model of another library that was audited, and who confirmed its decisions.

    Parameters
    ----------
    file : as it was named. sha256 : of the file. format : what it is. library : what wrote it.
    description : the file that says which column feeds which input; None where the model says so itself.
    columns : that the model reads. steps, rule : what it computes and decides, in words.
    runtime : what was asked for its own decisions, of everybody and of every counterexample; empty where that is not
        installed, and an exact forward pass of the model as it was read stands for it.
    reference : the table whose standard deviations and ranks φ speaks of.
    groups : classes that count as one decision, where somebody said so.
    assumptions : what the file does not say and was taken for granted, in sentences.
    """

    file: str
    sha256: str
    format: str
    library: str
    description: str | None
    columns: tuple[str, ...]
    steps: tuple[str, ...]
    rule: str
    runtime: str
    reference: str
    groups: tuple[tuple[Any, ...], ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def confirmed_by(self) -> str:
        """Who decided about the two people of a counterexample, in words."""
        return self.runtime or "an exact forward pass of the model as it was read (its runtime is not installed)"


# A producer's and a consumer's folder: what their results say in a few words, and the saved models for proofs.

Summary = TypeVar("Summary", "ProducerSummary", "ConsumerSummary")


def read_findings(plain: list[dict[str, str]] | None) -> tuple[Finding, ...] | None:
    """What lint says of φ, without the people that it shows as examples."""
    return None if plain is None else tuple(from_json(Finding, one) for one in plain)


def plain_findings(findings: tuple[Finding, ...] | None) -> list[dict[str, str]] | None:
    """What :func:`read_findings` reads."""
    if findings is None:
        return None
    return [{"code": one.code, "severity": str(one.severity), "message": one.message} for one in findings]


FINDINGS = key(write=plain_findings, read=read_findings)
EMPTY_AS_NULL = key(write=lambda text: text or None, read=lambda text: text or "")


@dataclass(frozen=True)
class FormulaSummary:
    """A formula as results show it; source : the file or name it was given by."""

    text: str
    english: str
    hash: str
    source: str | None


@dataclass(frozen=True)
class ProducerSummary(Record):
    """An encoder that was learned and handed over.

    Parameters
    ----------
    sizes : people per split. held_out : their ids. encoder : the hash of its weights. unread : attributes that z does
        not depend on. epochs : learned, of a booster the rounds. radius : of the held-out people.
    files : in the run's folder, by what they are.
    findings : what lint says of φ with the people who were learned from; None in folders of before it was kept.
    learner : ``network`` or ``trees``. scores : of trees, the attributes whose scores are the coordinates of z.
    """

    target: str
    data: DatasetNotes | None
    task: str
    sizes: Mapping[str, int] = field(metadata=key("sides"))
    held_out: tuple[str | int, ...]
    phi: FormulaSummary
    encoder: str
    unread: tuple[str, ...]
    epochs: int
    radius: RadiusSummary
    warnings: tuple[str, ...]
    files: Mapping[str, str | None]
    findings: tuple[Finding, ...] | None = field(default=None, metadata=FINDINGS)
    learner: str = "network"
    scores: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decisions(Record):
    """What a model decides: its label, and between which classes; numbers have a tolerance instead."""

    target: str
    task: str
    classes: tuple[Any, ...]
    tolerance: float | None


@dataclass(frozen=True, kw_only=True)
class ConsumerSummary(Decisions):
    """A consumer's model: what it predicts, what it learned from, and the encoder (provenance) it belongs to.

    Parameters
    ----------
    target, task, classes, tolerance : as for :class:`Decisions`. model : the hash of its weights.
    trained_on : people; None for a model from elsewhere, of which nobody knows.
    """

    trained_on: int | None
    provenance: Provenance
    model: str


def read_producer(folder: Path) -> ProducerSummary:
    """What the command that wrote a producer's folder said: ``produce``, or ``tune`` where it found a model."""
    return _read(ProducerSummary, folder, "produce", "tune")


def read_consumer(folder: Path) -> ConsumerSummary:
    """What the command that wrote a consumer's folder said.

    The folder of ``tune`` holds a consumer's model too, and so does that of a booster, which decides by its own scores.
    """
    own = ("produce",) if (folder / MODEL).is_file() else ()
    return _read(ConsumerSummary, folder, "consume", "tune", *own)


def _read(kind: type[Summary], folder: Path, *commands: str) -> Summary:
    plain = read_result(folder, *commands)
    try:
        return kind.from_dict(plain)
    except ValueError as problem:
        raise LcifrError(
            f"{folder / RESULT} is not as lcifr writes it: {problem}",
            fix="give the folder as it was written, or make it again",
        ) from None


TRAINING, MODEL = Path("people") / "train.parquet", "model.safetensors"
HEADS = {"classification": "RobustClassifier", "regression": "RobustRegressor"}
"""The kind of head that a task needs; a test keeps it like the estimators, which need not be loaded for it."""


def read_saved_encoder(folder: Path) -> SavedProducer:
    """The encoder or booster of a producer's folder, for proofs and not for training.

    Training people are read only for formulas that take ranks.
    """
    from lcifr.certification.saved_models import BOOSTERS, SavedBooster, SavedEncoder, read_kind
    from lcifr.data import Individuals, Schema, read_frame

    training, path = folder / TRAINING, folder / "encoder.safetensors"

    def people(schema: Schema) -> Individuals:
        return Individuals.read(read_frame(training).select(list(schema.names)), schema, fitting=True)

    there = people if training.is_file() else None
    if (kind := read_kind(path)) in BOOSTERS:
        return SavedBooster.read(path, kind, there, only_for_ranks=True)
    return SavedEncoder.read(path, there, only_for_ranks=True)


def read_saved_head(folder: Path, task: str) -> SavedHead:
    """What decides in a consumer's folder, for proofs and not for training: a head, or trees from elsewhere."""
    from lcifr.certification.saved_models import TREES, SavedHead, read_kind, read_saved_trees

    path = folder / MODEL
    return read_saved_trees(path) if read_kind(path) == TREES else SavedHead.read(path, HEADS[task])


def classes_of(model: Model) -> tuple[Any, ...]:
    """What a model decides between, as JSON has it; empty for numbers."""
    from lcifr.data.files import json_value

    return () if model.labels is None else tuple(json_value(one) for one in model.labels)


def learned_warnings(found: Iterable[Degeneracy], said: Statement) -> list[str]:
    """What is trivial about a model on the people it learned from, unless the statement says it of these people."""
    accuracy, majority = said.accuracy, said.majority_rate
    below = accuracy is not None and majority is not None and accuracy < majority
    known = {name for name, holds in (("constant", said.constant is not None), ("below majority", below)) if holds}
    return [_of_learning(one) for one in found if one.name not in known]


def _of_learning(one: Degeneracy) -> str:
    there = one.name in ("constant", "below majority")
    return f"on the people it learned from: {one.message}" if there else one.message


# What producers' and consumers' runs found: frozen dataclasses, each with one way to JSON and one way back.


@dataclass(frozen=True, kw_only=True)
class ProduceResult(CommandResult):
    """What ``produce`` says; unaware : whether the encoder is the baseline by that name.

    model : of a booster for classes, the sum of its scores, by which it decides itself; None for all others.
    """

    unaware: bool
    produced: ProducerSummary = field(metadata=inline())
    model: ConsumerSummary | None = field(default=None, metadata=inline())
    format: ClassVar[str] = "lcifr-produced-1"
    command: ClassVar[str] = "produce"


@dataclass(frozen=True)
class RepresentResult(CommandResult):
    """What ``represent`` says; encoder : the hash of its weights."""

    people: int
    encoder: str
    radius: RadiusSummary
    files: Mapping[str, str | None]
    format: ClassVar[str] = "lcifr-represented-1"
    command: ClassVar[str] = "represent"


NOT_CONSUMED = ("subgroups", "baselines", "rows")
"""Keys of a statement that are not a consumer's, who knows no attributes and trains no baselines."""


@dataclass(frozen=True)
class ConsumeResult(CommandResult):
    """What ``consume`` says.

    Parameters
    ----------
    about : the split that the statement is about. sizes : people per split. on : ball or box.
    arithmetic : in which the model is computed; the provenance names the encoder's.
    claimed, checked : people of that split whose radius rests on the producer's word, and on the checker's.
    origin : of a tree model that was trained elsewhere.
    """

    model: ConsumerSummary = field(metadata=inline())
    about: str
    sizes: Mapping[str, int] = field(metadata=key("sides"))
    held_out: bool
    statement: Statement = field(metadata=inline(without=NOT_CONSUMED))
    on: str
    arithmetic: str
    claimed: int = field(metadata=key("radius.claimed"))
    checked: int = field(metadata=key("radius.checked"))
    files: Mapping[str, str]
    origin: ModelOrigin | None = None
    format: ClassVar[str] = "lcifr-consumed-1"
    command: ClassVar[str] = "consume"

    @property
    def is_in_sample(self) -> bool:
        """Whether the model learned from these very people; of a model from elsewhere that is not known."""
        return self.origin is None and self.about == TRAIN


@dataclass(frozen=True, kw_only=True)
class TuneResult(FrontierPoints, CommandResult):
    """What ``tune`` says: every model that was tried, and the one that was chosen, if any.

    Parameters
    ----------
    points, plain, unaware, others, required, by, why : as for :class:`lcifr.estimators.Frontier`.
    chosen, gamma : name and weight of the model that was chosen; None without one.
    tried : ``network``, ``trees`` or ``both``.
    produced, model : the chosen models as a producer's and a consumer's folder has them; None where none was chosen.
    """

    chosen: str | None
    gamma: float | None
    stretch: float
    decoder_weight: float
    class_weight: str | None
    whole_numbers: bool
    files: Mapping[str, str | None]
    produced: ProducerSummary | None = field(default=None, metadata=inline(without=("files",)))
    model: ConsumerSummary | None = field(default=None, metadata=inline())
    tried: str = "network"
    format: ClassVar[str] = "lcifr-frontier-1"
    command: ClassVar[str] = "tune"


# The result of an audit: what is counted, proved, refuted and checked, read from and written to ``result.json``.


@dataclass(frozen=True)
class AuditedFormula(FormulaSummary):
    """The φ that was audited; ``is_producers`` : whether it is the φ that the producer trained for."""

    source: str
    is_producers: bool


@dataclass(frozen=True, kw_only=True)
class ModelHashes(Record):
    """What the verdicts are about, by SHA-256.

    Parameters
    ----------
    encoder : of the producer's encoder; None where there is none.
    look_up : of the layer that looks up a table's columns for a model of another library, which has no encoder.
    model : of the weights. similarity : φ as resolved. encoding : of the people.
    """

    encoder: str | None = field(default=None, metadata=key(omit=True))
    look_up: str | None = field(default=None, metadata=key(omit=True))
    model: str
    similarity: str
    encoding: str

    @classmethod
    def of(cls, hashes: Hashes, first: Literal["encoder", "look_up"]) -> ModelHashes:
        """What verdicts are about; ``first`` says what stands before the model."""
        return cls(
            **{first: hashes.encoder}, model=hashes.model, similarity=hashes.similarity, encoding=hashes.encoding
        )

    def __post_init__(self) -> None:
        if (self.encoder is None) == (self.look_up is None):
            raise ValueError("hashes are of an encoder or of a look-up, and of one of them")

    @property
    def first(self) -> str:
        """Of the encoder, or of the layer that stands in its place."""
        return str(self.encoder or self.look_up)

    def of_proofs(self) -> dict[str, str]:
        """As proofs have them: these always speak of two functions, and call the first one the encoder."""
        named = {"model": self.model, "similarity": self.similarity, "encoding": self.encoding}
        return {"encoder": self.first, **named}


@dataclass(frozen=True, kw_only=True)
class ProvedModel(Decisions):
    """A model about whose decisions something is proved.

    Parameters
    ----------
    target, task, classes, tolerance : as for :class:`Decisions`.
    arithmetic : in which the model is computed, from the table's values to the decision.
    origin : of a model of another library; None for what lcifr learned.
    scales : the standard deviations and ranks that φ speaks of, and how many rows of which table they come from.
    labels : what decisions are called for people to read, by the model's own names. No hash depends on them.
    """

    arithmetic: str
    origin: ModelOrigin | None = None
    scales: tuple[ScaleSource, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ModelSummary(ProvedModel):
    """The whole model h ∘ f, or a model of another library.

    Parameters
    ----------
    target : the label it predicts. task : ``classification`` or ``regression``. classes : empty for numbers.
    tolerance : how far two predictions of numbers may be apart; None for classes.
    trained_on : people whom the consumer learned from; None where nobody says so.
    data : what is known of a dataset by name (title, cautions); None for a table of one's own.
    phi : the formula. hashes : weights, formula and encoding.
    arithmetic, origin, scales, labels : as for :class:`ProvedModel`.
    """

    trained_on: int | None
    data: DatasetNotes | None
    phi: AuditedFormula
    hashes: ModelHashes

    def shown(self, decision: Any) -> str:
        """What a decision is called for people to read."""
        return self.labels.get(decision_name(decision), str(decision))


def decisions_of(model: Model) -> tuple[Any, ...]:
    """What a model decides between: its classes, or the numbers of nameless ones; nothing for a number."""
    return tuple(range(model.rule.classes)) if model.labels is None else tuple(model.labels)


def name_decisions(labels: Mapping[Any, str], decisions: Iterable[Any]) -> dict[str, str]:
    """What decisions are called for people to read, by the model's own names.

    Parameters
    ----------
    labels : as asked for, such as ``{0: "refused", 1: "granted"}``; decisions that are not in it keep their names.
    decisions : that the model makes, see :func:`decisions_of`.

    Raises
    ------
    LcifrError
        For a decision that the model does not make, and where two would have the same name.
    """
    if not labels:
        return {}
    known = [decision_name(one) for one in decisions]
    if not known:
        raise LcifrError("--labels names decisions, but this model predicts numbers", fix="leave --labels out")
    named = {decision_name(one): str(text).strip() for one, text in labels.items()}
    for one in named:
        if one not in known:
            raise LcifrError(
                f"--labels: the model does not make the decision {one!r}.{did_you_mean(one, known)}",
                fix=f"the decisions are {', '.join(known)}",
            )
    shown = [named.get(one, one) for one in known]
    if not all(shown):
        raise LcifrError("--labels: the name of a decision is empty", fix="give each decision a name")
    if twice := next((text for text in shown if shown.count(text) > 1), None):
        raise LcifrError(f"--labels: two decisions would be called {twice!r}", fix="give each decision its own name")
    return named


@dataclass(frozen=True)
class Modularity:
    """Shares certified on the ball and on the box of the hand-over, and from end to end; and shares violated."""

    end_to_end: float
    violated: float
    ball: float | None = field(default=None, metadata=key(omit=True))
    box: float | None = field(default=None, metadata=key(omit=True))


@dataclass(frozen=True)
class CounterexamplePair:
    """One person and a similar one who is decided otherwise.

    ``differs`` : for each attribute that differs, the values of both, in the table's own units.
    """

    id: str | int
    prediction: Any
    other_prediction: Any
    differs: Mapping[str, list[Any]]


@dataclass(frozen=True)
class CheckedProofs:
    """What the exact checker said of the bundle.

    Parameters
    ----------
    people : those whose proofs were written, drawn by ``seed`` from ``of``.
    certified, counterexamples : confirmed. rejected : for each id the reason.
    """

    people: int
    of: int
    seed: int
    certified: int
    counterexamples: int
    rejected: Mapping[str, str]

    @classmethod
    def from_report(cls, report: CheckReport, drawn: ProofSample | None = None) -> CheckedProofs:
        """The checker's report, of a bundle about these people; about everybody if None."""
        drawn = drawn or ProofSample(report.people, report.people, 0)
        return cls(
            people=report.people,
            of=drawn.of,
            seed=drawn.seed,
            certified=len(report.names["certified"]),
            counterexamples=len(report.names["counterexample"]),
            rejected=report.rejected,
        )


@dataclass(frozen=True)
class AuditResult(CommandResult):
    """What an audit found.

    Parameters
    ----------
    model : the model that was audited, with its φ.
    held_out : whether the people stand for the population: nobody trained on them.
    statement : counts, shares, accuracy, baselines, subgroups and warnings.
    advice : what to do about the warnings. alone : people similar to nobody but themselves.
    modularity : how much the hand-over alone certifies. reasons : of the undecided, with counts.
    counterexamples : the first 100; ``audited/audit.parquet`` has all.
    drawn_from : people of the table that a sample was drawn from; None if everybody was audited.
    findings : what lint says of φ; None where the producer's training people were not handed on.
    checked : what the exact checker confirmed; None without proofs. bundle : their folder inside the result's.
    baseline_learner : what kind of model the baselines are, in words; empty without baselines.
    """

    also = ("left_out",)
    model: ModelSummary = field(metadata=inline())
    held_out: bool
    statement: Statement = field(metadata=inline())
    advice: tuple[str, ...]
    alone: int
    modularity: Modularity
    reasons: Mapping[str, int]
    counterexamples: tuple[CounterexamplePair, ...]
    drawn_from: int | None
    findings: tuple[Finding, ...] | None = field(metadata=FINDINGS)
    checked: CheckedProofs | None
    bundle: str | None = field(metadata=key("files.bundle"))
    baseline_learner: str = field(default="", metadata=EMPTY_AS_NULL)
    format: ClassVar[str] = "lcifr-audit-result-2"
    command: ClassVar[str] = "audit"

    @property
    def left_out(self) -> int:
        """Rows of the table with missing values, which were not examined."""
        return self.statement.not_examined

    @property
    def is_refuted(self) -> bool:
        """Whether somebody similar is decided otherwise, or the checker refuses a proof."""
        return self.statement.violated > 0 or bool(self.checked and self.checked.rejected)


# The result of ``certify``: what is proved of new people, read from and written to ``result.json``.

AUDITED = "audited"


@dataclass(frozen=True)
class LookUpSummary:
    """How many ``people`` a sweep certifies without a search; its folder, and its hash.

    ``checked`` of them by cells that the exact checker has confirmed, ``claimed`` by whoever swept.
    """

    people: int
    checked: int
    claimed: int
    folder: str
    sweep: str


@dataclass(frozen=True, kw_only=True)
class CertifyResult(ProvedModel, CommandResult):
    """What is proved of new people.

    Parameters
    ----------
    target, task, classes, tolerance : of the consumer's model.
    proved : ``end to end``, or ``hand-over, ball`` or ``hand-over, box``.
    statement : counts, shares and warnings; never about a population.
    arithmetic : in which the model is computed. encoder_arithmetic : of the encoder, which may differ in a hand-over;
        None for a model without one.
    certificates : the file, inside the result's folder, with a decision and a verdict for everybody.
    provenance : of the hand-over that the model learned from, where a hand-over was certified.
    hashes, phi : what was proved from end to end; None where a hand-over was certified.
    origin : of a model of another library.
    looked_up : who was certified by a sweep; None without one.
    scales, labels : as for :class:`ProvedModel`.
    """

    also = ("left_out", "held_out", "radius")
    proved: str
    statement: Statement = field(metadata=inline(without=("subgroups", "baselines")))
    certificates: str = field(metadata=key("files.certificates"))
    phi: AuditedFormula | None = field(default=None, metadata=key(omit=True))
    hashes: ModelHashes | None = field(default=None, metadata=key(omit=True))
    encoder_arithmetic: str | None = field(default=None, metadata=key(omit=True))
    provenance: Provenance | None = field(default=None, metadata=key(omit=True))
    looked_up: LookUpSummary | None = field(default=None, metadata=key(omit=True))
    format: ClassVar[str] = "lcifr-certified-2"
    command: ClassVar[str] = "certify"

    @classmethod
    def end_to_end(cls, model: ModelSummary, tally: Tally, looked_up: LookUpSummary | None = None) -> CertifyResult:
        """What an audit of the same people found."""
        return cls(
            **{one.name: getattr(model, one.name) for one in fields(ProvedModel)},
            phi=model.phi,
            hashes=model.hashes,
            proved="end to end",
            statement=state_tally(tally, held_out=False),
            certificates=f"{AUDITED}/audit.parquet",
            encoder_arithmetic=None if model.hashes.encoder is None else model.arithmetic,
            looked_up=looked_up,
        )

    @property
    def left_out(self) -> int:
        """Rows of the table with missing values, which were not examined."""
        return self.statement.not_examined

    @property
    def held_out(self) -> bool:
        """Never: these people stand for no population."""
        return False

    @property
    def radius(self) -> str | None:
        """``claimed``: the verdicts rest on the producer's radius. None where they rest on no radius."""
        return None if self.provenance is None else "claimed"
