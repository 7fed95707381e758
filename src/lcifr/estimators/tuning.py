"""Baselines, and search over gamma: models along the frontier of score and certified share, and the best one."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from lcifr.data import read_frame
from lcifr.data.files import ChangedFileWarning, locked, sha256_of, write_json
from lcifr.display.charts import Dot, frontier_chart, model_dot
from lcifr.display.html import svg_file
from lcifr.errors import LearningError
from lcifr.estimators.boosters import BaseBooster
from lcifr.estimators.encoder import FairEncoder
from lcifr.estimators.heads import Head, RobustClassifier
from lcifr.estimators.saving import load_producer
from lcifr.estimators.validation import is_table
from lcifr.learn.history import USELESS, FrontierPoint, FrontierPoints
from lcifr.learn.parameters import GAMMAS, Learner
from lcifr.learn.scores import (
    balanced_error_of,
    balanced_score_of,
    degeneracies,
    score_error_of,
    score_of,
    share_error,
    worse_than_unaware,
)
from lcifr.learn.target import Target
from lcifr.models.model import Degeneracy

# Producers of either family, and their plain and unaware baselines.

Producer = FairEncoder | BaseBooster
"""What gives z, with proofs: a network, or a booster, whose z are scores of attributes."""
Kind = TypeVar("Kind", FairEncoder, BaseBooster, FairEncoder | BaseBooster)


def plain(encoder: Kind) -> Kind:
    """The same encoder or booster, unfitted, for the plain loss alone: gamma is 0 and no attribute is tied."""
    baseline: Kind = clone(encoder)
    baseline.set_params(gamma=0.0, tie_free=False)
    return baseline


def unaware(encoder: Kind) -> Kind:
    """The same encoder or booster, unfitted, for its label without the attributes that φ leaves free.

    A booster never splits on them. In an encoder their columns are tied to one weight, which adds the same to
    all scores: the network is a function of the other attributes alone, exactly as if the columns had been dropped.
    Under a similarity that frees some attributes and keeps all others equal it is certified for everyone by
    construction. Fitted, its ``unread_`` names them.
    """
    baseline: Kind = clone(encoder)
    baseline.set_params(gamma=0.0, tie_free=True)
    return baseline


# Evaluation of a fitted encoder and head: score, certified share and radius, with standard errors.


def evaluate_models(
    encoder: Producer, head: Head, X: Any, y: Any, *, name: str = "", by: str = "accuracy", on: str = "ball"
) -> FrontierPoint:
    """How fitted models do on these people; certified on the ball or box, by bounds alone."""
    found = encoder.reach(X)
    target = Target.of_model(head.model_)
    label = target.encode(np.asarray(y))
    decision = head.model_.rule.decide(head.network_(found.latent))
    box, trees = (found.lower, found.upper) if on == "box" else None, hasattr(encoder, "score_trees_")
    certified = float(head.certified(found.latent, found.radius, box=box).mean())
    trivial = degeneracies(
        target,
        latent=None if trees else found.latent,
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
        "trees" if trees else "network",
        on,
    )


# Model selection of ``tune``: useful models only, with ties within one standard error.

SCORES = {"accuracy": "score", "balanced": "balanced"}
"""What ``by`` may be, and the figure of a point that it means."""


@dataclass(frozen=True)
class Scale:
    """A metric of models with its standard error; ``name`` is the field of a point."""

    name: str

    @classmethod
    def of(cls, by: str) -> Scale:
        """The score that ``by`` asks for."""
        if by not in SCORES:
            raise LearningError(f"by={by!r} is not a score", fix='use "accuracy" or "balanced"')
        return cls(SCORES[by])

    def score(self, point: FrontierPoint) -> float:
        return float(getattr(point, self.name))

    def error(self, point: FrontierPoint) -> float:
        return float(getattr(point, f"{self.name}_error"))

    def as_good(self, point: FrontierPoint, other: FrontierPoint) -> bool:
        """Whether ``point`` is better, or behind by at most one standard error, the larger one of the two."""
        return self.score(other) - self.score(point) <= max(self.error(point), self.error(other))

    def best(self, points: Sequence[FrontierPoint]) -> list[FrontierPoint]:
        """The best of them, and all that are as good."""
        first = max(points, key=self.score)
        return [point for point in points if self.as_good(point, first)]


CERTIFIED = Scale("certified")


@dataclass(frozen=True)
class ModelChoice:
    """The point that was chosen, or None; ``why`` in words."""

    point: FrontierPoint | None
    why: str


def choose(points: Sequence[FrontierPoint], required: float, scale: Scale) -> ModelChoice:
    """Of the useful points with the required score the most certified; of those as certified the best in score.

    A point behind by no more than one standard error is as good. Of points that are as good in both the more
    certified one is taken, and at the very same share the larger weight: it was trained harder for the promise.
    """
    useful = [point for point in points if point.useful]
    able = [point for point in useful if scale.score(point) >= required]
    if not able:
        return ModelChoice(None, _why_none(points, useful, required, scale))
    equal = scale.best(CERTIFIED.best(able))
    point = max(equal, key=lambda one: (one.certified, one.gamma))
    return ModelChoice(point, _why(point, equal, able, required, scale))


def _why(
    point: FrontierPoint, equal: list[FrontierPoint], able: list[FrontierPoint], required: float, scale: Scale
) -> str:
    what = "balanced accuracy" if scale.name == "balanced" else "score"
    if len(able) == 1:
        return f"{point.title} is the only useful model with the required {what} of {required:g}"
    chosen = f"{point.title} is chosen of {len(able)} useful models with the required {what} of {required:g}"
    if others := [one.title for one in equal if one is not point]:
        are = "is" if len(others) == 1 else "are"
        last = "the more certified wins, then the larger gamma"
        return f"{chosen}; {_listed(others)} {are} within one standard error of it, and of equals {last}"
    if behind := [one.title for one in CERTIFIED.best(able) if one is not point]:
        are = "is" if len(behind) == 1 else "are"
        return f"{chosen}; {_listed(behind)} {are} as certified, within one standard error, and behind it in {what}"
    return f"{chosen}; it is more certified than the others by more than one standard error"


def _why_none(points: Sequence[FrontierPoint], useful: list[FrontierPoint], required: float, scale: Scale) -> str:
    if useful:
        best = max(scale.score(point) for point in useful)
        return f"no useful model reaches the required {required:g}; the best of them has {best:.3f}"
    found = {one.name for point in points for one in point.degeneracies} & set(USELESS)
    if found == {"constant"}:
        return "no model is useful: each decides the same for everybody"
    return "no model is useful: each decides the same for everybody, or worse than without looking"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# Resumable search: candidates are fitted and evaluated, or read from the folder of an earlier run.

PARTS = ("encoder", "head")
"""The files of a candidate beside its note."""


class Search:
    """Fits and evaluates models, or reads those of an earlier run."""

    def __init__(
        self,
        families: Sequence[Producer],
        head: Head,
        training: tuple[Any, Any],
        validation: tuple[Any, Any],
        folder: str | Path | None,
        by: str,
    ) -> None:
        self.head, self.training, self.validation, self.by = head, training, validation, by
        self.on = "box" if any(isinstance(one, BaseBooster) for one in families) else "ball"
        self.folder = None if folder is None else Path(folder)
        known = getattr(families[0].similarity, "encoding", None)  # the people a ready φ takes ranks among
        self.ranked = training[0] if known is None or known.ranked is None else known.ranked
        self.fitted: dict[str, tuple[Producer, Head]] = {}
        if self.folder is not None:
            self._open(self.folder, _fingerprint(families, head, training, validation, by))

    @staticmethod
    def _open(folder: Path, mark: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / "search.json"
        if note.exists() and json.loads(note.read_text(encoding="utf-8")).get("mark") != mark:
            raise LearningError(
                f"{folder} holds a search with other people or other settings", fix="give an empty folder, or remove it"
            )
        write_json(note, {"mark": mark})

    def visit(self, candidate: Producer, name: str) -> FrontierPoint:
        """The point of this candidate, fitted now or found in the folder."""
        if (found := self._found(name)) is not None:
            return found
        candidate.fit(*self.training, validation=self.validation)
        head = candidate.head_ if isinstance(candidate, BaseBooster) else self._head(candidate)
        point = evaluate_models(candidate, head, *self.validation, name=name, by=self.by, on=self.on)
        self.fitted[name] = candidate, head
        if self.folder is not None:
            candidate.save(self.folder / f"{name}.encoder")
            head.save(self.folder / f"{name}.head")
            files = {part: sha256_of(self.folder / f"{name}.{part}") for part in PARTS}
            write_json(self.folder / f"{name}.json", {"point": asdict(point), "files": files})  # last: all is whole
        return point

    def _head(self, encoder: FairEncoder) -> Head:
        """Trained on z of the training people, against their balls or boxes; a booster has one of its own."""
        head: Head = clone(self.head)
        near = encoder.reach(self.training[0])
        box = (near.lower, near.upper) if self.on == "box" else None
        head.fit(encoder.transform(self.training[0]), np.asarray(self.training[1]), radius=near.radius, box=box)
        return head

    def _found(self, name: str) -> FrontierPoint | None:
        """What an earlier run found for this candidate, if its models are still the ones that it wrote."""
        if self.folder is None or not (self.folder / f"{name}.json").is_file():
            return None
        try:
            note = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            for part in PARTS:
                if sha256_of(self.folder / f"{name}.{part}") != note["files"][part]:
                    raise ValueError(f"{name}.{part} is not what the search wrote")
            point = note["point"]
            return FrontierPoint(**point | {"degeneracies": tuple(Degeneracy(**one) for one in point["degeneracies"])})
        except (OSError, ValueError, KeyError, TypeError) as problem:
            warnings.warn(f"{self.folder}: {problem}; it is learned again", ChangedFileWarning, stacklevel=4)
            return None

    def models(self, name: str) -> tuple[Producer, Head]:
        if name not in self.fitted:
            assert self.folder is not None
            encoder = load_producer(self.folder / f"{name}.encoder", training=self.ranked)
            self.fitted[name] = encoder, type(self.head).load(self.folder / f"{name}.head")
        return self.fitted[name]


def _fingerprint(
    families: Sequence[Producer], head: Head, training: tuple[Any, Any], validation: tuple[Any, Any], by: str
) -> str:
    """sha256 of settings and data, so that a folder is never continued with others."""
    digest = hashlib.sha256(by.encode())
    for encoder in families:
        digest.update(repr(clone(encoder).set_params(gamma=0.0, verbose=False)).encode())
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


# Tuning of gamma: the frontier of score and certified share, of networks, trees or both.

__all__ = ["Frontier", "FrontierPoint", "evaluate_models", "tune"]

TITLE = "Score against certified share"


@dataclass(frozen=True)
class Frontier(FrontierPoints):
    """Score and certified share for every weight tried, and the model chosen.

    Parameters
    ----------
    points : one for each weight tried, rising, family by family. plain, unaware : the baselines.
    others : those of a second family.
    required : the score asked for. chosen : by the rule of :func:`lcifr.estimators.tuning.choose`, or None.
    encoder, head : the chosen models, fitted, or None.
    by : the score that counts, ``"accuracy"`` (R² for a number) or ``"balanced"``. why : this choice, in words.
    """

    chosen: FrontierPoint | None
    encoder: Producer | None
    head: Head | None

    def plot(self, path: str | Path | None = None) -> Any:
        """Write the frontier as an SVG file; without a path, return a matplotlib figure of it."""
        if path is not None:
            Path(path).write_text(self._repr_svg_(), encoding="utf-8")
            return None
        from lcifr.display.figures import frontier_figure

        return frontier_figure(self._dots(), self.required)

    def _repr_svg_(self) -> str:
        """For notebooks: certified share (across) against score (up), with both baselines and the score required."""
        dots = self._dots()
        description = ", ".join(f"{dot.label}: score {dot.up:.3f}, certified {dot.across:.3f}" for dot in dots)
        chart = frontier_chart(dots, self.required, title=TITLE)
        return svg_file(chart, description=description, key="frontier")

    def _dots(self) -> tuple[Dot, ...]:
        """Both baselines, then the weights that were tried."""
        named = [(point, "unaware" if point.name.endswith("unaware") else "plain") for point in self.baselines]
        named += [(point, "chosen" if point == self.chosen else "tried") for point in self.points]
        score, several = Scale.of(self.by).score, bool(self.others)
        return tuple(
            model_dot(kind, point.gamma, point.certified, score(point), point.learner if several else "")
            for point, kind in named
        )


def tune(
    encoder: Producer | Sequence[Producer],
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
    """Fit models with rising weights until the validation score falls below ``required``; choose one.

    An encoder gets a head, a booster decides by the sum of its scores. Of two families each is searched by itself, and
    one model is chosen of all. Encoders are certified on the ball, as in the paper; where boosters are searched,
    all are certified on the box.

    Only useful models can be chosen: none that decides the same for everybody, or worse than without looking. Of those
    that reach ``required`` the most certified is chosen, and of those as certified the one with the best score, where
    figures within one standard error of each other are equal. Of equals the more certified one is taken.

    Parameters
    ----------
    encoder, head
        Unfitted: a :class:`FairEncoder`, a :class:`FairBooster`, or both in a list; all settings but gamma, such as
        ``stretch``, are the same for every weight. The head of encoders (logistic regression unless given) is trained
        against each person's own radius or box.
    validation
        A table and labels, for early stopping and for every figure of the frontier.
    required
        The least score that will do.
    by
        Which score: ``"accuracy"`` (R² for a number), or ``"balanced"`` accuracy, where one class is rare.
    folder
        Where every fitted model and its figures are kept; a run that stopped goes on from there. Models that were
        changed since are learned again, with a warning; two searches cannot work in one folder.
    """
    head, scale = head or RobustClassifier(), Scale.of(by)
    families: list[Producer] = [*encoder] if isinstance(encoder, Sequence) else [encoder]
    if not families or len({family_of(one) for one in families}) < len(families):
        raise LearningError("tune compares families, an encoder and a booster", fix="give one of each at most")
    with nullcontext() if folder is None else locked(Path(folder), "lcifr.tune"):
        search = Search(families, head, (X, y), validation, folder, by)
        baselines, points = list[FrontierPoint](), list[FrontierPoint]()
        for one in families:
            prefix = f"{family_of(one)}-" if len(families) > 1 else ""
            baselines += [search.visit(make(one), f"{prefix}{make.__name__}") for make in (plain, unaware)]
            points += _rising(search, one, prefix, sorted(gammas), (required, scale), baselines[-1])
        choice = choose(points, required, scale)
        fitted, chosen_head = search.models(choice.point.name) if choice.point is not None else (None, None)
    bare, blind, *others = baselines
    found = (tuple(points), bare, blind, required, choice.point, fitted, chosen_head)
    return Frontier(*found, by=by, why=choice.why, others=tuple(others))


def family_of(producer: Producer) -> Learner:
    """The family that a producer belongs to."""
    return Learner.TREES if isinstance(producer, BaseBooster) else Learner.NETWORK


def _rising(
    search: Search,
    family: Producer,
    prefix: str,
    gammas: Sequence[float],
    asked: tuple[float, Scale],
    blind: FrontierPoint,
) -> list[FrontierPoint]:
    """The points of rising weights, up to the first whose score falls below what is required."""
    points: list[FrontierPoint] = []
    required, scale = asked
    for gamma in gammas:
        candidate: Producer = clone(family)
        candidate.set_params(gamma=float(gamma))
        points.append(_with_warning(search.visit(candidate, f"{prefix}gamma-{gamma:g}"), blind, scale))
        if scale.score(points[-1]) < required - scale.error(points[-1]):
            break
    return points


def _with_warning(point: FrontierPoint, baseline: FrontierPoint, scale: Scale) -> FrontierPoint:
    """The point, with a warning where the unaware baseline scores more and is certified as often."""
    if scale.as_good(point, baseline) or not CERTIFIED.as_good(baseline, point):
        return point
    warning = worse_than_unaware(scale.score(point), scale.score(baseline))
    return replace(point, degeneracies=(*point.degeneracies, warning))
