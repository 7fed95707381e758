"""Tuning of gamma: the frontier of score and certified share, of networks, trees or both."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.base import clone

from lcifr.data.files import locked
from lcifr.display.canvas import to_xml
from lcifr.display.charts import Dot, frontier_chart, model_dot, standalone
from lcifr.errors import LearningError
from lcifr.estimators.base_booster import BaseBooster
from lcifr.estimators.base_head import Head
from lcifr.estimators.baselines import Producer, plain, unaware
from lcifr.estimators.choice import CERTIFIED, Scale, choose
from lcifr.estimators.evaluation import FrontierPoint, evaluate_models
from lcifr.estimators.heads import RobustClassifier
from lcifr.estimators.search import Search
from lcifr.learn.defaults import GAMMAS, Learner
from lcifr.learn.score import worse_than_unaware

__all__ = ["Frontier", "FrontierPoint", "evaluate_models", "tune"]

TITLE = "Score against certified share"


@dataclass(frozen=True)
class Frontier:
    """Score and certified share for every weight tried, and the model chosen.

    Parameters
    ----------
    points : one for each weight tried, rising, family by family. plain, unaware : the baselines.
    others : those of a second family.
    required : the score asked for. chosen : by the rule of :func:`lcifr.estimators.choice.choose`, or None.
    encoder, head : the chosen models, fitted, or None.
    by : the score that counts, ``"accuracy"`` (R² for a number) or ``"balanced"``. why : this choice, in words.
    """

    points: tuple[FrontierPoint, ...]
    plain: FrontierPoint
    unaware: FrontierPoint
    required: float
    chosen: FrontierPoint | None
    encoder: Producer | None
    head: Head | None
    by: str = "accuracy"
    why: str = ""
    others: tuple[FrontierPoint, ...] = ()

    @property
    def baselines(self) -> tuple[FrontierPoint, ...]:
        """Plain and unaware, of every family."""
        return self.plain, self.unaware, *self.others

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
        chart = frontier_chart(dots, self.required, title=TITLE, description=description, key="frontier")
        return to_xml(standalone(chart)) + "\n"

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
    everybody is certified on the box.

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
    found = (tuple(points), bare, blind, required, choice.point, fitted, chosen_head, by, choice.why)
    return Frontier(*found, tuple(others))


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
