"""Model selection of ``tune``: useful models only, with ties within one standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lcifr.errors import LearningError
from lcifr.learn.score import USELESS

if TYPE_CHECKING:
    from lcifr.estimators.evaluation import FrontierPoint

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

    Whoever is behind by no more than one standard error is as good. Of points that are as good in both the more
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
    said = f"{point.title} is chosen of {len(able)} useful models with the required {what} of {required:g}"
    if others := [one.title for one in equal if one is not point]:
        are = "is" if len(others) == 1 else "are"
        last = "the more certified wins, then the larger gamma"
        return f"{said}; {_listed(others)} {are} within one standard error of it, and of equals {last}"
    if behind := [one.title for one in CERTIFIED.best(able) if one is not point]:
        are = "is" if len(behind) == 1 else "are"
        return f"{said}; {_listed(behind)} {are} as certified, within one standard error, and behind it in {what}"
    return f"{said}; it is more certified than the others by more than one standard error"


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
