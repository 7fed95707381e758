"""Results of the commands as frozen dataclasses, read from and written to ``result.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from lcifr.certification.bundle import ProofSample
from lcifr.certification.population import ScaleSource, Statement, decision_name
from lcifr.check.judge import CheckReport
from lcifr.errors import LcifrError, did_you_mean
from lcifr.models.model import Model
from lcifr.phi.lint import Finding
from lcifr.workflows.folders import RESULT, fitting_together, read_result
from lcifr.workflows.people import TRAIN, DatasetNotes

if TYPE_CHECKING:
    from lcifr.certification.handover import Provenance, RadiusSummary
    from lcifr.certification.population import Tally
    from lcifr.certification.saved_models import SavedHead, SavedProducer
    from lcifr.estimators.tuning import FrontierPoint
    from lcifr.models.model import Degeneracy


# ModelOrigin: where a model of another library comes from, how it decides, and who confirmed that.


@dataclass(frozen=True)
class ModelOrigin:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain: dict[str, Any] = {name: list(getattr(self, name)) for name in ("columns", "steps", "assumptions")}
        return {**asdict(self), **plain, "groups": [list(group) for group in self.groups]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ModelOrigin:
        """What :meth:`to_dict` gave."""
        groups = tuple(tuple(group) for group in plain["groups"])
        lists = {name: tuple(plain.get(name, ())) for name in ("columns", "steps", "assumptions")}
        return cls(**{**plain, **lists, "groups": groups})

    @property
    def confirmed_by(self) -> str:
        """Who decided about the two people of a counterexample, in words."""
        return self.runtime or "an exact forward pass of the model as it was read (its runtime is not installed)"


# A producer's and a consumer's folder: what their results say in a few words, and the saved models for proofs.

Json = dict[str, Any]
Summary = TypeVar("Summary", "ProducerSummary", "ConsumerSummary")


@dataclass(frozen=True)
class ProducerFormula:
    """A formula as results show it; source : the file or name it was given by."""

    text: str
    english: str
    hash: str
    source: str | None


@dataclass(frozen=True)
class ProducerSummary:
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
    sizes: Mapping[str, int]
    held_out: tuple[str | int, ...]
    phi: ProducerFormula
    encoder: str
    unread: tuple[str, ...]
    epochs: int
    radius: RadiusSummary
    warnings: tuple[str, ...]
    files: Mapping[str, str | None]
    findings: tuple[Finding, ...] | None = None
    learner: str = "network"
    scores: tuple[str, ...] = ()

    def to_dict(self) -> Json:
        """Plain values for JSON, which calls the splits sides."""
        said = asdict(replace(self, findings=None)) | {"findings": plain_findings(self.findings)}
        return {"sides" if name == "sizes" else name: listed(value) for name, value in said.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ProducerSummary:
        """What :meth:`to_dict` gave, read again; other keys are not looked at."""
        from lcifr.certification.handover import RadiusSummary

        before = {"findings": None, "learner": "network", "scores": ()}  # folders of before there was a choice
        known = _known(cls, {**before, **plain, "sizes": plain["sides"]})
        known["data"] = DatasetNotes.from_dict(known["data"])
        known["phi"] = ProducerFormula(**_known(ProducerFormula, known["phi"]))
        known["radius"] = RadiusSummary(**known["radius"])
        known["findings"] = read_findings(known["findings"])
        return cls(**known | {name: tuple(known[name]) for name in ("held_out", "unread", "warnings", "scores")})


@dataclass(frozen=True)
class ConsumerSummary:
    """A consumer's model: what it predicts, what it learned from, and the encoder (provenance) it belongs to.

    Parameters
    ----------
    classes : what it decides between; empty for numbers, which have a tolerance. model : the hash of its weights.
    trained_on : people; None for a model from elsewhere, of which nobody knows.
    """

    target: str
    task: str
    classes: tuple[Any, ...]
    tolerance: float | None
    trained_on: int | None
    provenance: Provenance
    model: str

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ConsumerSummary:
        """As the results of ``consume`` and ``tune`` say it."""
        from lcifr.certification.handover import Provenance

        known = _known(cls, plain)
        known["provenance"] = Provenance.from_dict(known["provenance"])
        return cls(**known | {"classes": tuple(known["classes"])})


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
    except (KeyError, TypeError, ValueError) as problem:
        raise LcifrError(
            f"{folder / RESULT} is not as lcifr writes it: {type(problem).__name__}: {problem}",
            fix="give the folder as it was written, or make it again",
        ) from None


def plain_findings(findings: tuple[Finding, ...] | None) -> list[dict[str, str]] | None:
    """What lint says of φ, as JSON has it."""
    if findings is None:
        return None
    return [{"code": one.code, "severity": str(one.severity), "message": one.message} for one in findings]


def read_findings(plain: Sequence[Mapping[str, Any]] | None) -> tuple[Finding, ...] | None:
    """What :func:`plain_findings` gave."""
    from lcifr.phi.lint import Severity

    if plain is None:
        return None
    return tuple(Finding(str(one["code"]), Severity(one["severity"]), str(one["message"])) for one in plain)


def _known(kind: type[Any], plain: Mapping[str, Any]) -> Json:
    return {one.name: plain[one.name] for one in fields(kind)}


def listed(value: Any) -> Any:
    """A tuple as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


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

NOT_CONSUMED = ("subgroups", "baselines")  # of a statement: a consumer knows no attributes and trains no baselines


@dataclass(frozen=True)
class ProduceResult:
    """What ``produce`` says; unaware : whether the encoder is the baseline by that name.

    model : of a booster for classes, the sum of its scores, by which it decides itself; None for all others.
    """

    unaware: bool
    produced: ProducerSummary
    model: ConsumerSummary | None = None
    format: ClassVar[str] = "lcifr-produced-1"
    command: ClassVar[str] = "produce"

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        head = {"format": self.format, "command": self.command, "unaware": self.unaware}
        return {**head, **self.produced.to_dict(), **_plain_model(self.model)}


@dataclass(frozen=True)
class RepresentResult:
    """What ``represent`` says; encoder : the hash of its weights."""

    people: int
    encoder: str
    radius: RadiusSummary
    files: Mapping[str, str | None]
    format: ClassVar[str] = "lcifr-represented-1"
    command: ClassVar[str] = "represent"

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        return {"format": self.format, "command": self.command, **asdict(self)}


@dataclass(frozen=True)
class ConsumeResult:
    """What ``consume`` says.

    Parameters
    ----------
    about : the split that the statement is about. sizes : people per split. on : ball or box.
    arithmetic : in which the model is computed; the provenance names the encoder's.
    claimed, checked : people of that split whose radius rests on the producer's word, and on the checker's.
    origin : of a tree model that was trained elsewhere.
    """

    model: ConsumerSummary
    about: str
    sizes: Mapping[str, int]
    held_out: bool
    statement: Statement
    on: str
    arithmetic: str
    claimed: int
    checked: int
    files: Mapping[str, str]
    origin: ModelOrigin | None = None
    format: ClassVar[str] = "lcifr-consumed-1"
    command: ClassVar[str] = "consume"

    @property
    def is_in_sample(self) -> bool:
        """Whether the model learned from these very people; of a model from elsewhere that is not known."""
        return self.origin is None and self.about == TRAIN

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        model = {one.name: listed(getattr(self.model, one.name)) for one in fields(self.model)}
        said = asdict(replace(self.statement, subgroups=None))
        return {
            "format": self.format,
            "command": self.command,
            **{name: model[name] for name in ("target", "task", "classes", "tolerance")},
            "about": self.about,
            "trained_on": self.model.trained_on,
            "sides": dict(self.sizes),
            "held_out": self.held_out,
            **{name: listed(value) for name, value in said.items() if name not in NOT_CONSUMED},
            "on": self.on,
            "arithmetic": self.arithmetic,
            "radius": {"claimed": self.claimed, "checked": self.checked},
            "provenance": asdict(self.model.provenance),
            "model": self.model.model,
            "origin": None if self.origin is None else self.origin.to_dict(),
            "files": dict(self.files),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ConsumeResult:
        """What :meth:`to_dict` gave; KeyError, TypeError or ValueError where something is missing or odd."""

        return cls(
            model=ConsumerSummary.from_dict(plain),
            about=str(plain["about"]),
            sizes=dict(plain["sides"]),
            held_out=bool(plain["held_out"]),
            statement=Statement.from_dict(plain),
            on=str(plain["on"]),
            arithmetic=str(plain["arithmetic"]),
            claimed=int(plain["radius"]["claimed"]),
            checked=int(plain["radius"]["checked"]),
            files=dict(plain["files"]),
            origin=ModelOrigin.from_dict(plain["origin"]) if plain.get("origin") else None,
        )

    @classmethod
    def read(cls, folder: Path) -> ConsumeResult:
        """The result in a folder that ``consume`` wrote."""
        with fitting_together(folder):
            return cls.from_dict(read_result(folder, cls.command))


@dataclass(frozen=True)
class TuneResult:
    """What ``tune`` says: every model that was tried, and the one that was chosen, if any.

    Parameters
    ----------
    by : the score that had to be ``required``. chosen, gamma : name and weight of that model. why : it, or none.
    plain, unaware, points : the baselines, and the models with rising weights. others : baselines of a second family.
    tried : ``network``, ``trees`` or ``both``.
    produced, model : the chosen models as a producer's and a consumer's folder has them; None where none was chosen.
    """

    required: float
    by: str
    chosen: str | None
    gamma: float | None
    why: str
    stretch: float
    decoder_weight: float
    class_weight: str | None
    whole_numbers: bool
    plain: FrontierPoint
    unaware: FrontierPoint
    points: tuple[FrontierPoint, ...]
    files: Mapping[str, str | None]
    produced: ProducerSummary | None = None
    model: ConsumerSummary | None = None
    others: tuple[FrontierPoint, ...] = ()
    tried: str = "network"
    format: ClassVar[str] = "lcifr-frontier-1"
    command: ClassVar[str] = "tune"

    @property
    def baselines(self) -> tuple[FrontierPoint, ...]:
        """Plain and unaware, of every family."""
        return self.plain, self.unaware, *self.others

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        apart = ("plain", "unaware", "points", "others", "files", "produced", "model")
        said = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in apart}
        said |= {"plain": _point(self.plain), "unaware": _point(self.unaware), "points": [*map(_point, self.points)]}
        said |= {"others": [*map(_point, self.others)]}
        said |= {"files": dict(self.files)}
        if self.produced is not None:
            said |= {name: value for name, value in self.produced.to_dict().items() if name != "files"}
        return {"format": self.format, "command": self.command, **said, **_plain_model(self.model)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TuneResult:
        """What :meth:`to_dict` gave; of what is trivial about a model the words alone are left."""
        apart = ("plain", "unaware", "points", "others", "files", "produced", "model")
        plain = {"others": (), "tried": "network", **plain}  # before there was a choice of what learns
        known = {one.name: plain[one.name] for one in fields(cls) if one.name not in apart}
        found = bool(plain["chosen"])
        return cls(
            **known,
            plain=_read_point(plain["plain"]),
            unaware=_read_point(plain["unaware"]),
            points=tuple(map(_read_point, plain["points"])),
            others=tuple(map(_read_point, plain["others"])),
            files=dict(plain["files"]),
            produced=ProducerSummary.from_dict(plain) if found else None,
            model=ConsumerSummary.from_dict(plain) if found else None,
        )

    @classmethod
    def read(cls, folder: Path) -> TuneResult:
        """The result in a folder that ``tune`` wrote."""
        with fitting_together(folder):
            return cls.from_dict(read_result(folder, cls.command))


def _plain_model(model: ConsumerSummary | None) -> Json:
    """What a consumer's model is, where a producer's folder holds one; target and task are the producer's."""
    more = ("classes", "tolerance", "trained_on", "provenance", "model")
    return {} if model is None else {name: listed(asdict(model)[name]) for name in more}


def _point(point: FrontierPoint) -> Json:
    """A model that was tried: what is trivial about it in words, and what to do about it."""
    said = {"degeneracies": [one.message for one in point.degeneracies]}
    return {**asdict(point), **said, "advice": [one.advice for one in point.degeneracies if one.advice]}


def _read_point(plain: Mapping[str, Any]) -> FrontierPoint:
    from lcifr.estimators.tuning import FrontierPoint
    from lcifr.models.model import Degeneracy

    plain = {"learner": "network", "on": "ball", **plain}  # before there was a choice of what learns
    known = {one.name: plain[one.name] for one in fields(FrontierPoint)}
    return FrontierPoint(**known | {"degeneracies": tuple(Degeneracy("", text) for text in plain["degeneracies"])})


# The result of an audit: what is counted, proved, refuted and checked, read from and written to ``result.json``.

AUDIT_FORMAT = "lcifr-audit-result-2"


@dataclass(frozen=True)
class FormulaSummary:
    """The φ that was audited: its text, its meaning in English, its hash, its file or name.

    ``is_producers`` : whether it is the φ that the producer trained for.
    """

    text: str
    english: str
    hash: str
    source: str
    is_producers: bool


@dataclass(frozen=True)
class ModelHashes:
    """What the verdicts are about, by SHA-256.

    Parameters
    ----------
    first : of the producer's encoder; or of the layer that looks up a table's columns for a model of another library.
    model : of the weights. similarity : φ as resolved. encoding : of the people.
    has_encoder : whether ``first`` is an encoder; without one, results call it ``look_up``.
    """

    first: str
    model: str
    similarity: str
    encoding: str
    has_encoder: bool = True

    @property
    def encoder(self) -> str | None:
        """Of the producer's encoder; None where there is none."""
        return self.first if self.has_encoder else None

    def to_dict(self) -> dict[str, str]:
        """As results have them."""
        name = "encoder" if self.has_encoder else "look_up"
        return {name: self.first, "model": self.model, "similarity": self.similarity, "encoding": self.encoding}

    def of_proofs(self) -> dict[str, str]:
        """As proofs have them: these always speak of two functions, and call the first one the encoder."""
        return replace(self, has_encoder=True).to_dict()

    @classmethod
    def from_dict(cls, plain: Mapping[str, str]) -> ModelHashes:
        """What :meth:`to_dict` gave."""
        has_encoder = "encoder" in plain
        first = plain["encoder" if has_encoder else "look_up"]
        return cls(first, plain["model"], plain["similarity"], plain["encoding"], has_encoder)


@dataclass(frozen=True)
class ModelSummary:
    """The whole model h ∘ f, or a model of another library.

    Parameters
    ----------
    target : the label it predicts. task : ``classification`` or ``regression``. classes : empty for numbers.
    tolerance : how far two predictions of numbers may be apart; None for classes.
    trained_on : people whom the consumer learned from; None where nobody says so.
    arithmetic : in which it is computed, from the table's values to the decision.
    origin : of a model of another library; None for what lcifr learned.
    data : what is known of a dataset by name (title, cautions); None for a table of one's own.
    scales : the standard deviations and ranks that φ speaks of, and how many rows of which table they come from.
    labels : what decisions are called for people to read, by the model's own names. No hash depends on them.
    """

    target: str
    task: str
    classes: tuple[Any, ...]
    tolerance: float | None
    trained_on: int | None
    data: DatasetNotes | None
    phi: FormulaSummary
    hashes: ModelHashes
    arithmetic: str
    origin: ModelOrigin | None = None
    scales: tuple[ScaleSource, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        origin = None if self.origin is None else self.origin.to_dict()
        return {
            **asdict(self),
            "classes": list(self.classes),
            "hashes": self.hashes.to_dict(),
            "origin": origin,
            "scales": [asdict(one) for one in self.scales],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ModelSummary:
        """What :meth:`to_dict` gave, among other keys."""
        return cls(
            str(plain["target"]),
            str(plain["task"]),
            tuple(plain["classes"]),
            plain["tolerance"],
            plain["trained_on"],
            DatasetNotes.from_dict(plain["data"]),
            FormulaSummary(**plain["phi"]),
            ModelHashes.from_dict(plain["hashes"]),
            str(plain["arithmetic"]),
            ModelOrigin.from_dict(plain["origin"]) if plain.get("origin") else None,
            tuple(ScaleSource(**one) for one in plain.get("scales") or ()),
            dict(plain.get("labels") or {}),
        )

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
    ball: float | None = None
    box: float | None = None

    def to_dict(self) -> dict[str, float]:
        """Plain values for JSON, without what was not asked."""
        shares = {"ball": self.ball, "box": self.box, "end_to_end": self.end_to_end, "violated": self.violated}
        return {name: share for name, share in shares.items() if share is not None}


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
class AuditResult:
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

    model: ModelSummary
    held_out: bool
    statement: Statement
    advice: tuple[str, ...]
    alone: int
    modularity: Modularity
    reasons: Mapping[str, int]
    counterexamples: tuple[CounterexamplePair, ...]
    drawn_from: int | None
    findings: tuple[Finding, ...] | None
    checked: CheckedProofs | None
    bundle: str | None
    baseline_learner: str = ""

    @property
    def left_out(self) -> int:
        """Rows of the table with missing values, which were not examined."""
        return self.statement.not_examined

    @property
    def is_refuted(self) -> bool:
        """Whether somebody similar is decided otherwise, or the checker refuses a proof."""
        return self.statement.violated > 0 or bool(self.checked and self.checked.rejected)

    def to_dict(self) -> dict[str, Any]:
        """The content of ``result.json``."""
        return {
            "format": AUDIT_FORMAT,
            "command": "audit",
            **self.model.to_dict(),
            "held_out": self.held_out,
            **self.statement.to_dict(),
            "baseline_learner": self.baseline_learner or None,
            "advice": list(self.advice),
            "alone": self.alone,
            "modularity": self.modularity.to_dict(),
            "reasons": dict(self.reasons),
            "counterexamples": [asdict(one) for one in self.counterexamples],
            "drawn_from": self.drawn_from,
            "left_out": self.left_out,
            "findings": plain_findings(self.findings),
            "checked": None if self.checked is None else asdict(self.checked),
            "files": {"bundle": self.bundle},
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> AuditResult:
        """What :meth:`to_dict` gave; KeyError, TypeError or ValueError where something is missing or odd."""
        checked = plain["checked"]
        return cls(
            model=ModelSummary.from_dict(plain),
            held_out=bool(plain["held_out"]),
            statement=Statement.from_dict(plain),
            advice=tuple(plain["advice"]),
            alone=int(plain["alone"]),
            modularity=Modularity(**plain["modularity"]),
            reasons=dict(plain["reasons"]),
            counterexamples=tuple(CounterexamplePair(**one) for one in plain["counterexamples"]),
            drawn_from=plain["drawn_from"],
            findings=read_findings(plain["findings"]),
            checked=None if checked is None else CheckedProofs(**checked),
            bundle=plain["files"]["bundle"],
            baseline_learner=plain.get("baseline_learner") or "",
        )

    @classmethod
    def read(cls, folder: Path) -> AuditResult:
        """The result in a folder that an audit wrote."""

        with fitting_together(folder):
            return cls.from_dict(read_result(folder, "audit"))


# The result of ``certify``: what is proved of new people, read from and written to ``result.json``.

AUDITED = "audited"
CERTIFY_FORMAT = "lcifr-certified-2"


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


@dataclass(frozen=True)
class CertifyResult:
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
    hashes, phi : what was proved from end to end.
    origin : of a model of another library.
    looked_up : who was certified by a sweep; None without one.
    scales : the standard deviations and ranks that φ speaks of, and how many rows of which table they come from.
    labels : as for :class:`lcifr.workflows.results.ModelSummary`.
    """

    target: str
    task: str
    classes: tuple[Any, ...]
    tolerance: float | None
    proved: str
    statement: Statement
    certificates: str
    arithmetic: str
    encoder_arithmetic: str | None
    provenance: Provenance | None = None
    hashes: ModelHashes | None = None
    phi: FormulaSummary | None = None
    origin: ModelOrigin | None = None
    looked_up: LookUpSummary | None = None
    scales: tuple[ScaleSource, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def end_to_end(cls, model: ModelSummary, tally: Tally, looked_up: LookUpSummary | None = None) -> CertifyResult:
        """What an audit of the same people found."""
        from lcifr.certification.population import state_tally

        return cls(
            model.target,
            model.task,
            model.classes,
            model.tolerance,
            "end to end",
            state_tally(tally, held_out=False),
            f"{AUDITED}/audit.parquet",
            model.arithmetic,
            model.arithmetic if model.hashes.has_encoder else None,
            hashes=model.hashes,
            phi=model.phi,
            origin=model.origin,
            looked_up=looked_up,
            scales=model.scales,
            labels=model.labels,
        )

    @property
    def radius(self) -> str | None:
        """``claimed``: the verdicts rest on the producer's radius. None where they rest on no radius."""
        return None if self.provenance is None else "claimed"

    def to_dict(self) -> dict[str, Any]:
        """The content of ``result.json``."""
        said = self.statement.to_dict()
        del said["subgroups"], said["baselines"]
        about = {"provenance": self.provenance, "phi": self.phi}
        hashes = {} if self.hashes is None else {"hashes": self.hashes.to_dict()}
        encoder = {} if self.encoder_arithmetic is None else {"encoder_arithmetic": self.encoder_arithmetic}
        return {
            "format": CERTIFY_FORMAT,
            "command": "certify",
            "target": self.target,
            "task": self.task,
            "classes": list(self.classes),
            "tolerance": self.tolerance,
            "labels": dict(self.labels),
            **{name: asdict(known) for name, known in about.items() if known is not None},
            **hashes,
            "origin": None if self.origin is None else self.origin.to_dict(),
            "left_out": self.statement.not_examined,
            "proved": self.proved,
            "arithmetic": self.arithmetic,
            **encoder,
            "held_out": False,
            **said,
            "radius": self.radius,
            "scales": [asdict(one) for one in self.scales],
            **({} if self.looked_up is None else {"looked_up": asdict(self.looked_up)}),
            "files": {"certificates": self.certificates},
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CertifyResult:
        """What :meth:`to_dict` gave."""
        from lcifr.certification.handover import Provenance

        return cls(
            str(plain["target"]),
            str(plain["task"]),
            tuple(plain["classes"]),
            plain["tolerance"],
            str(plain["proved"]),
            Statement.from_dict(plain),
            str(plain["files"]["certificates"]),
            str(plain["arithmetic"]),
            plain.get("encoder_arithmetic"),
            Provenance.from_dict(plain["provenance"]) if "provenance" in plain else None,
            ModelHashes.from_dict(plain["hashes"]) if "hashes" in plain else None,
            FormulaSummary(**plain["phi"]) if "phi" in plain else None,
            ModelOrigin.from_dict(plain["origin"]) if plain.get("origin") else None,
            LookUpSummary(**plain["looked_up"]) if "looked_up" in plain else None,
            tuple(ScaleSource(**one) for one in plain.get("scales") or ()),
            dict(plain.get("labels") or {}),
        )

    @classmethod
    def read(cls, folder: Path) -> CertifyResult:
        """The result in a folder that ``certify`` wrote."""
        with fitting_together(folder):
            return cls.from_dict(read_result(folder, "certify"))
