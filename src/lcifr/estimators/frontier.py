"""The paper's advice as a function: raise the weight of the promise while accuracy allows it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from lcifr.data import read_frame
from lcifr.errors import LearningError
from lcifr.estimators.base_head import Head
from lcifr.estimators.baselines import plain, unaware
from lcifr.estimators.choice import CERTIFIED, Scale, choose
from lcifr.estimators.encoder import FairEncoder
from lcifr.estimators.heads import RobustClassifier
from lcifr.estimators.input_validation import is_table
from lcifr.files import write_json
from lcifr.learn.score import (
    USELESS,
    Degeneracy,
    balanced_error_of,
    balanced_score_of,
    degeneracies,
    score_error_of,
    score_of,
    share_error,
    worse_than_unaware,
)
from lcifr.learn.target import Target

GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True)
class FrontierPoint:
    """One model on the validation people.

    Parameters
    ----------
    name : ``"plain"``, ``"unaware"`` or the weight. gamma : the weight.
    score, balanced : accuracy and balanced accuracy, or R² for a number.
    certified : share proved on the ball by bounds alone: a lower bound of what exact proofs give.
    radius : mean ε. degeneracies : what is trivial about it.
    score_error, balanced_error, certified_error : standard errors of these figures.
    """

    name: str
    gamma: float
    score: float
    balanced: float
    certified: float
    radius: float
    degeneracies: tuple[Degeneracy, ...] = ()
    score_error: float = 0.0
    balanced_error: float = 0.0
    certified_error: float = 0.0

    @property
    def useful(self) -> bool:
        """Whether it tells people apart, and better than deciding without looking."""
        return not any(one.name in USELESS for one in self.degeneracies)


@dataclass(frozen=True)
class Frontier:
    """What every weight costs and gives.

    Parameters
    ----------
    points : one for each weight tried, rising. plain, unaware : the baselines.
    required : the score asked for. chosen : by the rule of :func:`lcifr.estimators.choice.choose`, or None.
    encoder, head : the chosen models, fitted, or None.
    by : the score that counts, ``"accuracy"`` (R² for a number) or ``"balanced"``. why : this choice, in words.
    """

    points: tuple[FrontierPoint, ...]
    plain: FrontierPoint
    unaware: FrontierPoint
    required: float
    chosen: FrontierPoint | None
    encoder: FairEncoder | None
    head: Head | None
    by: str = "accuracy"
    why: str = ""

    def plot(self, path: str | Path | None = None) -> Any:
        """Write the frontier as an SVG file; without a path, return a matplotlib figure of it."""
        if path is not None:
            Path(path).write_text(self._repr_svg_(), encoding="utf-8")
            return None
        from lcifr.estimators.frontier_plot import plot_frontier

        return plot_frontier(self)

    def _repr_svg_(self) -> str:
        """For notebooks."""
        from lcifr.estimators.frontier_plot import frontier_svg

        return frontier_svg(self)


def tune(
    encoder: FairEncoder,
    X: Any,
    y: Any,
    *,
    validation: tuple[Any, Any],
    required: float,
    gammas: Sequence[float] = GAMMAS,
    by: str = "accuracy",
    head: Head | None = None,
    folder: str | Path | None = None,
) -> Frontier:
    """Fit the encoder and a head for rising weights until the validation score falls below ``required``; choose one.

    Only useful models can be chosen: none that decides the same for everybody, or worse than without looking. Of those
    that reach ``required`` the most certified is chosen, and of those as certified the one with the best score, where
    figures within one standard error of each other are equal. Of equals the more certified one is taken.

    Parameters
    ----------
    encoder, head
        Unfitted; all settings but gamma, such as ``stretch``, are the same for every weight. The head (logistic
        regression unless given) is trained against each person's own radius.
    validation
        A table and labels, for early stopping and for every figure of the frontier.
    required
        The least score that will do.
    by
        Which score: ``"accuracy"`` (R² for a number), or ``"balanced"`` accuracy, where one class is rare.
    folder
        Where every fitted model and its figures are kept; a run that stopped goes on from there.
    """
    head = head or RobustClassifier()
    scale = Scale.of(by)
    search = _Search(encoder, head, (X, y), validation, folder, by)
    bare, blind = search.visit(plain(encoder), "plain"), search.visit(unaware(encoder), "unaware")
    points: list[FrontierPoint] = []
    for gamma in sorted(gammas):
        candidate: FairEncoder = clone(encoder)
        candidate.set_params(gamma=float(gamma))
        points.append(_beside(search.visit(candidate, f"gamma-{gamma:g}"), blind, scale))
        if scale.score(points[-1]) < required - scale.error(points[-1]):
            break
    choice = choose(points, required, scale)
    fitted, chosen_head = search.models(choice.point.name) if choice.point is not None else (None, None)
    return Frontier(tuple(points), bare, blind, required, choice.point, fitted, chosen_head, by, choice.why)


def _beside(point: FrontierPoint, baseline: FrontierPoint, scale: Scale) -> FrontierPoint:
    """With a word of warning where the unaware baseline scores more and is certified as often."""
    if scale.as_good(point, baseline) or not CERTIFIED.as_good(baseline, point):
        return point
    warning = worse_than_unaware(scale.score(point), scale.score(baseline))
    return replace(point, degeneracies=(*point.degeneracies, warning))


class _Search:
    """Fits and judges models, or finds them where an earlier run left them."""

    def __init__(
        self,
        encoder: FairEncoder,
        head: Head,
        training: tuple[Any, Any],
        validation: tuple[Any, Any],
        folder: str | Path | None,
        by: str,
    ) -> None:
        self.head, self.training, self.validation, self.by = head, training, validation, by
        self.folder = None if folder is None else Path(folder)
        known = getattr(encoder.similarity, "encoding", None)  # whom a ready φ takes ranks among
        self.ranked = training[0] if known is None or known.training is None else known.training
        self.fitted: dict[str, tuple[FairEncoder, Head]] = {}
        if self.folder is not None:
            self._open(self.folder, _fingerprint(encoder, head, training, validation, by))

    @staticmethod
    def _open(folder: Path, mark: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / "search.json"
        if note.exists() and json.loads(note.read_text(encoding="utf-8")).get("mark") != mark:
            raise LearningError(
                f"{folder} holds a search with other people or other settings", fix="give an empty folder, or remove it"
            )
        write_json(note, {"mark": mark})

    def visit(self, candidate: FairEncoder, name: str) -> FrontierPoint:
        """The point of this candidate, fitted now or found in the folder."""
        note = None if self.folder is None else self.folder / f"{name}.json"
        if note is not None and note.exists():
            values = json.loads(note.read_text(encoding="utf-8"))
            values["degeneracies"] = tuple(Degeneracy(**one) for one in values["degeneracies"])
            return FrontierPoint(**values)
        candidate.fit(*self.training, validation=self.validation)
        head: Head = clone(self.head)
        reach = candidate.reach(self.training[0]).radius
        head.fit(candidate.transform(self.training[0]), np.asarray(self.training[1]), radius=reach)
        point = evaluate_models(candidate, head, *self.validation, name=name, by=self.by)
        self.fitted[name] = candidate, head
        if note is not None and self.folder is not None:
            candidate.save(self.folder / f"{name}.encoder")
            head.save(self.folder / f"{name}.head")
            write_json(note, asdict(point))  # last: it says that the others are whole
        return point

    def models(self, name: str) -> tuple[FairEncoder, Head]:
        if name not in self.fitted:
            assert self.folder is not None
            encoder = FairEncoder.load(self.folder / f"{name}.encoder", training=self.ranked)
            self.fitted[name] = encoder, type(self.head).load(self.folder / f"{name}.head")
        return self.fitted[name]


def evaluate_models(
    encoder: FairEncoder, head: Head, X: Any, y: Any, *, name: str = "", by: str = "accuracy"
) -> FrontierPoint:
    """How fitted models do on these people; certified on the ball, by bounds alone."""
    found = encoder.reach(X)
    target = Target.of_model(head.model_)
    label = target.encode(np.asarray(y))
    decision = head.model_.rule.decide(head.network_(found.latent))
    certified = float(head.certified(found.latent, found.radius).mean())
    trivial = degeneracies(
        target,
        latent=found.latent,
        decision=decision,
        label=label,
        balanced=by == "balanced",
        weighted=head.weighted,
    )
    return FrontierPoint(
        name,
        float(encoder.gamma),
        score_of(target, decision, label),
        balanced_score_of(target, decision, label),
        certified,
        float(found.radius.mean()),
        trivial,
        score_error_of(target, decision, label),
        balanced_error_of(target, decision, label),
        share_error(certified, len(label)),
    )


def _fingerprint(
    encoder: FairEncoder, head: Head, training: tuple[Any, Any], validation: tuple[Any, Any], by: str
) -> str:
    """sha256 of settings and data, so that a folder is never continued with others."""
    digest = hashlib.sha256(repr((by, clone(encoder).set_params(gamma=0.0, verbose=False))).encode())
    digest.update(repr(encoder.similarity).encode() + repr(head).encode())
    for table, labels in (training, validation):
        if is_table(table):
            frame = read_frame(table)
            for column in frame.column_names:
                digest.update(column.encode() + repr(frame[column].to_pylist()).encode())
        else:
            digest.update(np.asarray(table).tobytes())
        digest.update(repr(np.asarray(labels).tolist()).encode())
    return digest.hexdigest()
