"""The result of an audit: what is counted, proved, refuted and checked, read from and written to ``result.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lcifr.certification.bundle import Drawn
from lcifr.certification.population import ScaleSource, Statement, decision_name
from lcifr.check.judge import CheckReport
from lcifr.errors import LcifrError, did_you_mean
from lcifr.models.model import Model
from lcifr.phi.lint import Finding
from lcifr.runs.auditing.origin import ModelOrigin
from lcifr.runs.folders.summaries import DatasetNotes, plain_findings, read_findings

FORMAT = "lcifr-audit-result-2"


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
    def from_report(cls, report: CheckReport, drawn: Drawn | None = None) -> CheckedProofs:
        """The checker's report, of a bundle about these people; about everybody if None."""
        drawn = drawn or Drawn(report.people, report.people, 0)
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
            "format": FORMAT,
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
        from lcifr.runs.folders.run import fitting_together, read_result

        with fitting_together(folder):
            return cls.from_dict(read_result(folder, "audit"))
