"""The work of ``lcifr demo``: train three models on German credit data, audit them, and check the proofs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.workflows.events import Listener, StepKind, listening, step
from lcifr.workflows.folders import Command, RunSettings

if TYPE_CHECKING:
    from lcifr.certification.handover import FrozenEncoder, Representation
    from lcifr.certification.verdicts import Audit
    from lcifr.datasets import Dataset
    from lcifr.estimators import FairEncoder
    from lcifr.estimators.heads import Head
    from lcifr.phi import Similarity
    from lcifr.workflows.results import CheckedProofs

DATASET, FORMULA = "german", "german/cat_noise"
PLAIN, UNAWARE, PROVED = "plain", "unaware of sex", "trained with lcifr"
# Small and quick: enough for the point, not for the best figures (experiments/ tunes on validation).
BATCH, EPOCHS, HEAD_WEIGHT = 64, 60, 3.0
MARK, PROOFS, PAGE = "demo.json", "proofs", "report.html"  # the mark: of a folder that a demo wrote and may replace


@dataclass(frozen=True, kw_only=True)
class DemoRequest:
    """out : where report and proofs go; an earlier demo's are replaced. seed : of the training."""

    out: Path = Path("lcifr-demo")
    seed: int = 0

    def __post_init__(self) -> None:
        out = self.out
        if out.exists() and not (out / MARK).is_file() and (not out.is_dir() or any(out.iterdir())):
            raise LcifrError(f"{out} exists and was not written by `lcifr demo`", fix="choose another --out")


@dataclass(frozen=True, eq=False)
class DemoModel:
    """One model on the test people.

    Parameters
    ----------
    figures : accuracies and shares by which models are compared. checked : what the exact checker said of its proofs.
    handed : the hand-over of the model that was trained for what is proved; None for the baselines.
    """

    name: str
    encoder: FrozenEncoder
    audit: Audit
    figures: Mapping[str, Any]
    checked: CheckedProofs
    handed: Representation | None


@dataclass(frozen=True, eq=False)
class DemoResult:
    """The plain model, the unaware one, and the one that was trained for what is proved, in this order."""

    models: tuple[DemoModel, ...]
    data: Dataset
    settings: RunSettings
    out: Path

    @property
    def refused(self) -> int:
        """Proofs that the exact checker does not confirm."""
        return sum(len(model.checked.rejected) for model in self.models)

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        models = [
            {
                "model": model.name,
                **model.figures,
                "confirmed": model.checked.certified + model.checked.counterexamples,
                "refused": len(model.checked.rejected),
            }
            for model in self.models
        ]
        page = str(self.out / PAGE)
        return {"format": "lcifr-demo-1", "command": "demo", "models": models, "refused": self.refused, "report": page}


def demo_similarity() -> Similarity:
    """The φ of the demo, with the scales of the people it learns from."""
    from lcifr.datasets import load
    from lcifr.phi import ready
    from lcifr.workflows.people import fit_similarity

    data = load(DATASET)
    return fit_similarity(ready(FORMULA), FORMULA, data.schema, data.train.X)


def demo(request: DemoRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> DemoResult:
    """Train three models, certify the test people with each, and check the proofs.

    Parameters
    ----------
    listener : receives events (:mod:`lcifr.workflows.events`). argv : the command line, to record in the settings.
    """
    from lcifr.datasets import load
    from lcifr.estimators import FairEncoder, plain, unaware
    from lcifr.workflows.producing import one_thread

    settings = RunSettings.of(Command.of("demo", request, argv), {})
    _make_room(request.out, settings)
    data = load(DATASET)
    base = FairEncoder(demo_similarity(), batch_size=BATCH, epochs=EPOCHS, random_state=request.seed)
    models, found = {PLAIN: plain(base), UNAWARE: unaware(base), PROVED: base}, list[DemoModel]()
    steps, done = 2 * len(models), 0
    with listening(listener), one_thread(), step("learning, proving, checking", StepKind.COUNT) as progress:
        for name, encoder in models.items():
            encoder.fit(data.train.X, data.train.y, validation=(data.validation.X, data.validation.y))
            progress(done := done + 1, steps)
            found.append(_judge(name, encoder, _head(encoder, data), data, request.out))
            progress(done := done + 1, steps)
    return DemoResult(tuple(found), data, settings, request.out)


def _make_room(out: Path, settings: RunSettings) -> None:
    """A folder that holds the settings alone: a new one, or that of an earlier demo without what it held."""
    from lcifr.data.files import write_json

    out.mkdir(parents=True, exist_ok=True)
    write_json(out / MARK, settings.to_dict())
    shutil.rmtree(out / PROOFS, ignore_errors=True)


def _head(encoder: FairEncoder, data: Dataset) -> Head:
    """The consumer's classifier: it sees z and y, and of the last model also each person's radius."""
    from lcifr.estimators import RobustClassifier
    from lcifr.workflows.baselines import fit_plain_head

    if encoder.gamma == 0:
        return fit_plain_head(RobustClassifier(), encoder, data.train.X, data.train.y)
    near = encoder.radius(data.train.X, method="bounds")
    return RobustClassifier(gamma=HEAD_WEIGHT).fit(near.latent, data.train.y, radius=near.radius)


def _judge(name: str, encoder: FairEncoder, head: Head, data: Dataset, out: Path) -> DemoModel:
    """Audit one model on the test people: a proof or a counterexample for each person; then check all of them."""
    from lcifr.certification.audit import audit
    from lcifr.certification.bundle import write_bundle
    from lcifr.certification.handover import freeze, represent
    from lcifr.certification.population import state
    from lcifr.certification.verdicts import Audit
    from lcifr.check.bundle import check_bundle
    from lcifr.workflows.baselines import figures_of
    from lcifr.workflows.results import CheckedProofs

    frozen, folder = freeze(encoder), out / PROOFS / name.split()[0]
    ids = [int(row) for row in data.test.X.index]
    handed = represent(frozen, data.test.X, ids) if name == PROVED else None
    found = audit(frozen, head, data.test.X, ids, modular=False if handed is None else handed)
    folder.parent.mkdir(exist_ok=True)
    written = write_bundle(folder, frozen, data.test.X, handed, found)
    found = written if isinstance(written, Audit) else found  # whose proof stops short is not certified
    figures = figures_of(state(found, data.test.y, held_out=True))
    return DemoModel(name, frozen, found, figures, CheckedProofs.from_report(check_bundle(folder)), handed)
