"""The plain and the unaware model, trained and audited like the one in question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.certification.handover import FrozenEncoder
    from lcifr.certification.population import Statement
    from lcifr.data import Individuals
    from lcifr.estimators.heads import Head
    from lcifr.estimators.tuning import Producer
    from lcifr.models.arithmetic import Arithmetic
    from lcifr.phi import Similarity
    from lcifr.workflows.people import PeopleTable

Baselines = dict[str, dict[str, "float | None"]]

PLAIN_CLASSIFIER = "`lcifr consume --gamma 0` trains a plain classifier, as the baselines have"


@dataclass(frozen=True, eq=False)
class BaselineSettings:
    """How baselines are trained and audited: like the model that they stand beside.

    Parameters
    ----------
    encoder : unfitted, whose sizes and training the baselines share. similarity : φ over lcifr's own encoding.
    regresses : whether the label is a number. tolerance : of numbers. class_weight : as for the model in question.
    """

    encoder: Producer
    similarity: Similarity
    regresses: bool
    tolerance: float | None
    class_weight: Any
    arithmetic: Arithmetic

    @property
    def learner(self) -> str:
        """What kind of model both baselines are, in words."""
        head = "linear regression" if self.regresses else "logistic regression"
        hidden: tuple[int, ...] | None = getattr(self.encoder, "hidden", None)
        if hidden is None:
            return f"boosted trees (one score for each attribute), and {head} on the scores"
        layers = " + ".join(map(str, hidden)) or "no"
        outputs: int = getattr(self.encoder, "latent_dim", 0)
        return f"a ReLU network ({layers} hidden units, {outputs} outputs), and {head} on its outputs"


@dataclass(frozen=True)
class JudgedBaselines:
    """What :func:`judge_baselines` found, and what kind of model the baselines are; both empty without baselines."""

    figures: Baselines = field(default_factory=dict)
    learner: str = ""


def judge_baselines(settings: BaselineSettings, training: PeopleTable, people: Individuals, y: Any) -> Baselines:
    """For each baseline its figures on the same people: both trained for the label alone, with a plain head.

    A model of numbers is also compared with whoever always says the mean of the training labels. Classes count for the
    baselines as they do for the model in question: else accuracies do not compare.
    """
    from lcifr.certification.audit import audit_region
    from lcifr.certification.population import state
    from lcifr.certification.subject import Subject
    from lcifr.estimators import plain, unaware
    from lcifr.models.loading import read_model
    from lcifr.workflows.events import StepKind, step

    found, ids, fitted = Baselines(), tuple(range(len(people))), settings.encoder
    lowered = settings.similarity.region(people)  # once for both: φ and the scales are the same
    with step("Training and auditing the baselines", StepKind.COUNT) as progress:
        progress(0, 2)
        for place, (name, make) in enumerate((("plain", plain), ("unaware", unaware))):
            baseline = make(fitted).set_params(random_state=fitted.random_state or 0, verbose=False)
            frozen, head = _learn(baseline, settings, training)
            subject = Subject(frozen, read_model(head, tolerance=settings.tolerance), settings.arithmetic)
            judged = audit_region(subject, people, lowered, ids, modular=False)
            said = state(judged, y, held_out=False)
            found[name] = figures_of(said)
            progress(place + 1, 2)
    if said.mean_error_of_mean is not None:
        known = {"r2": said.r2_of_mean, "mean_error": said.mean_error_of_mean}
        found["always the mean"] = {**known, "certified": 1.0, "violated": 0.0, "undecided": 0.0}
    return found


def _learn(encoder: Producer, settings: BaselineSettings, training: PeopleTable) -> tuple[FrozenEncoder, Head]:
    """A baseline with the φ that is asked about, whose scales are those of the same training people."""
    from lcifr.certification.handover import FrozenEncoder, freeze
    from lcifr.estimators import RobustClassifier, RobustRegressor

    encoder.fit(training.X, training.y)
    head: Head = RobustRegressor() if settings.regresses else RobustClassifier(class_weight=settings.class_weight)
    fit_plain_head(head, encoder, training.X, training.y)
    return FrozenEncoder(freeze(encoder).function, settings.similarity, encoder.whole_numbers), head


def fit_plain_head(head: Head, encoder: Producer, X: Any, y: Any) -> Head:
    """A head of this kind for the label alone: no radius takes part."""
    head.set_params(against="nothing").fit(encoder.transform(X), y)
    return head


def figures_of(said: Statement) -> dict[str, Any]:
    """The figures by which models are compared, of people whose labels are known; all are of those examined."""
    fit = ("accuracy", "balanced_accuracy") if said.mean_error is None else ("r2", "mean_error")
    return {
        **{name: getattr(said, name) for name in fit},
        "certified": said.share_of_examined,
        "violated": said.violated / said.people,
        "undecided": said.undecided / said.people,
    }


def beaten_by(statement: Statement, *, is_unaware: bool) -> dict[str, str]:
    """What is said where a baseline is as good and as often certified, and what to do about it."""
    from lcifr.learn.scores import UNAWARE_ADVICE

    said, as_good = {}, [name for name, figures in statement.baselines.items() if _as_good(figures, statement)]
    if "plain" in as_good:
        said["the plain model is as accurate and as often certified: training for φ gained nothing"] = PLAIN_CLASSIFIER
    if "unaware" in as_good and is_unaware:
        said["the same encoder with a plain classifier is as accurate and as often certified"] = PLAIN_CLASSIFIER
    elif "unaware" in as_good:
        text = "the unaware model is as accurate and as often certified: use that one"
        said[text] = f"{UNAWARE_ADVICE}; {PLAIN_CLASSIFIER}"
    return said


def _as_good(figures: Mapping[str, float | None], statement: Statement) -> bool:
    """In all that is known of both: accuracy and balanced accuracy, or R² of numbers, and certified people."""
    own = {name: getattr(statement, name) for name in ("accuracy", "balanced_accuracy", "r2")}
    known = {name: value for name, value in own.items() if value is not None}
    pairs = [(figures.get(name), value) for name, value in (known | {"certified": statement.share_of_examined}).items()]
    return bool(known) and all(theirs is not None and theirs >= mine for theirs, mine in pairs)
