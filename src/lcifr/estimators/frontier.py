"""Tuning of gamma: the frontier of score and certified share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.base import clone

from lcifr.data.io.files import locked
from lcifr.drawing.charts import Dot, frontier_chart, model_dot, standalone
from lcifr.drawing.markup import to_xml
from lcifr.estimators.base_head import Head
from lcifr.estimators.baselines import plain, unaware
from lcifr.estimators.choice import CERTIFIED, Scale, choose
from lcifr.estimators.encoder import FairEncoder
from lcifr.estimators.evaluation import FrontierPoint, evaluate_models
from lcifr.estimators.heads import RobustClassifier
from lcifr.estimators.search import Search
from lcifr.learn.defaults import GAMMAS
from lcifr.learn.score import worse_than_unaware

__all__ = ["Frontier", "FrontierPoint", "evaluate_models", "tune"]

TITLE = "Score against certified share"


@dataclass(frozen=True)
class Frontier:
    """Score and certified share for every weight tried, and the model chosen.

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
        from lcifr.drawing.figures import frontier_figure

        return frontier_figure(self._dots(), self.required)

    def _repr_svg_(self) -> str:
        """For notebooks: certified share (across) against score (up), with both baselines and the score required."""
        dots = self._dots()
        description = ", ".join(f"{dot.label}: score {dot.up:.3f}, certified {dot.across:.3f}" for dot in dots)
        chart = frontier_chart(dots, self.required, title=TITLE, description=description, key="frontier")
        return to_xml(standalone(chart)) + "\n"

    def _dots(self) -> tuple[Dot, ...]:
        """Both baselines, then the weights that were tried."""
        named = [(self.plain, "plain"), (self.unaware, "unaware")]
        named += [(point, "chosen" if point == self.chosen else "tried") for point in self.points]
        score = Scale.of(self.by).score
        return tuple(model_dot(kind, point.gamma, point.certified, score(point)) for point, kind in named)


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
        Where every fitted model and its figures are kept; a run that stopped goes on from there. Models that were
        changed since are learned again, with a warning; two searches cannot work in one folder.
    """
    head = head or RobustClassifier()
    scale = Scale.of(by)
    with nullcontext() if folder is None else locked(Path(folder), "lcifr.tune"):
        search = Search(encoder, head, (X, y), validation, folder, by)
        bare, blind = search.visit(plain(encoder), "plain"), search.visit(unaware(encoder), "unaware")
        points: list[FrontierPoint] = []
        for gamma in sorted(gammas):
            candidate: FairEncoder = clone(encoder)
            candidate.set_params(gamma=float(gamma))
            points.append(_with_warning(search.visit(candidate, f"gamma-{gamma:g}"), blind, scale))
            if scale.score(points[-1]) < required - scale.error(points[-1]):
                break
        choice = choose(points, required, scale)
        fitted, chosen_head = search.models(choice.point.name) if choice.point is not None else (None, None)
    return Frontier(tuple(points), bare, blind, required, choice.point, fitted, chosen_head, by, choice.why)


def _with_warning(point: FrontierPoint, baseline: FrontierPoint, scale: Scale) -> FrontierPoint:
    """The point, with a warning where the unaware baseline scores more and is certified as often."""
    if scale.as_good(point, baseline) or not CERTIFIED.as_good(baseline, point):
        return point
    warning = worse_than_unaware(scale.score(point), scale.score(baseline))
    return replace(point, degeneracies=(*point.degeneracies, warning))
