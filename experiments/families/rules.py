"""The two rules by which points of a frontier are chosen, within each family and across both; no test people.

They were written down before any test figure of boosters was made:

- **accurate**: of what certifies at least the goal, min(100, half a point more than the paper's method), the most
  accurate; where nothing reaches the goal, the most certified that does not decide nearly the same for everyone;
- **certified**: of what has a balanced accuracy of at least 60 and at most 4 points below the plain model's, the most
  certified.

Within a family a point is judged by cross-validation among training and validation people where its cells have that,
else by validation people. Across families it is the better of the two families' own points, both judged by the same
people: by the same folds where there are some, else by validation people. Certified is over the reals, end to end for
trees and on the ball for networks, where a consumer certifies; that is never more than end to end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from experiments.choose import TRIVIAL, Point, Seen, goal, points
from experiments.plan import eligible
from experiments.store import Found

RULES = ("accurate", "certified")
METHODS = {"networks": "bounds", "trees": "trees"}
PLAIN = {"networks": "plain", "trees": "trees_plain"}
BALANCED, BELOW = 60.0, 4.0
ROUNDING = 1e-9
T = TypeVar("T")


class Judgement(Protocol):
    """What a rule looks at, in per cent."""

    @property
    def accuracy(self) -> float: ...
    @property
    def balanced(self) -> float: ...
    @property
    def certified(self) -> float: ...


@dataclass(frozen=True)
class Choice:
    """A point of a family's frontier."""

    family: str
    point: Point

    @property
    def weights(self) -> str:
        """γ and head of a network; γ, stretch, whether pairs are read, and if it is another row's model, of trees."""
        if self.family == "networks":
            return f"{self.point.gamma:g} / {self.point.head}"
        return f"{self.point.gamma:g} / {self.point.stretch:g}{f', {self.point.head}' if self.point.head else ''}"


def accurate(tried: Sequence[T], goal: float, look: Callable[[T], Judgement]) -> T | None:
    """The most accurate that certifies enough; where nothing does, the most certified that is not trivial."""
    able = [one for one in tried if look(one).certified >= goal - ROUNDING]
    if able:
        return max(able, key=lambda one: (look(one).accuracy, look(one).certified))
    useful = [one for one in tried if look(one).balanced >= TRIVIAL] or tried
    return max(useful, key=lambda one: (look(one).certified, look(one).accuracy), default=None)


def certified(tried: Sequence[T], plain: float, look: Callable[[T], Judgement]) -> T | None:
    """The most certified of what is nearly as good as a plain model with this balanced accuracy; None: nothing is."""
    least = max(BALANCED, plain - BELOW)
    kept = [one for one in tried if look(one).balanced >= least - ROUNDING]
    return max(kept, key=lambda one: (look(one).certified, look(one).accuracy), default=None)


def candidates(row: str, found: dict[str, Found], family: str) -> list[Point]:
    """What may be chosen: of networks, weights that were in the plan before any test figure was seen."""
    tried = points(row, found, METHODS[family])
    if family == "trees":
        return tried
    return [one for one in tried if eligible(row, one.gamma, one.stretch, one.head)]


def within(row: str, found: dict[str, Found], family: str, rule: str) -> Choice | None:
    """One family's point by a rule; None where there is none."""
    tried, plain = candidates(row, found, family), points(row, found, PLAIN[family])
    if rule == "accurate":
        point = accurate(tried, goal(row, points(row, found, "dl2")), lambda one: one.judged)
    else:
        point = certified(tried, plain[0].judged.balanced, lambda one: one.judged) if plain else None
    return None if point is None else Choice(family, point)


def across(row: str, found: dict[str, Found], rule: str) -> Choice | None:
    """The better of both families' points by the same rule, judged by the same people."""
    both = [choice for family in METHODS if (choice := within(row, found, family, rule)) is not None]
    crossed = [_crossed(row, found, choice) for choice in both]
    judgements = [
        choice.point.on_validation if None in crossed else seen for choice, seen in zip(both, crossed, strict=True)
    ]
    judged = list(zip(both, judgements, strict=True))
    if rule == "accurate":
        best = accurate(judged, goal(row, points(row, found, "dl2")), lambda one: one[1])
    else:
        best = max(judged, key=lambda one: (one[1].certified, one[1].accuracy), default=None)
    return None if best is None else best[0]


def _crossed(row: str, found: dict[str, Found], choice: Choice) -> Seen | None:
    """A choice judged by the folds of its row; None where it is not."""
    if choice.family == "trees":
        known = choice.point.crossed
    else:
        cell = found.get(f"{row.replace('/', '-')}/crossed", {})
        weights = choice.point.gamma, choice.point.head
        known = next((one for one in cell.get("crossed", ()) if (one["gamma"], one["head"]) == weights), None)
    return None if known is None else Seen.of(known)
