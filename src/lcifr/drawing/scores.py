"""Plain data of pictures of a model: scores of attributes, a person's contributions, the output along an attribute.

Values are what JSON can hold; numbers of an attribute are in the table's own units.
"""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.drawing.histogram import Histogram


@dataclass(frozen=True)
class Freedom:
    """What a similar person may have instead of the person's own value: intervals of a number, or categories."""

    intervals: tuple[tuple[float, float], ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class AttributeScore:
    """What one attribute adds to a model's outputs: a step function of a number, or a value for each category.

    Parameters
    ----------
    edges : of a number, (pieces + 1,) rising: the thresholds, between the ends of what is drawn. Empty for a category.
    categories : its values; empty for a number. adds : for each output, (pieces,) or (categories,); 0 on average over
        the people. outputs : names of the outputs, where there are several.
    people : the histogram of a number. counts : (categories,) people.
    moves : the largest less the smallest that it adds for anybody of these people, of the output where that is most.
    """

    attribute: str
    unit: str
    edges: tuple[float, ...]
    categories: tuple[str, ...]
    adds: tuple[tuple[float, ...], ...]
    outputs: tuple[str, ...]
    people: Histogram | None
    counts: tuple[int, ...]
    moves: float


@dataclass(frozen=True)
class MarkedScore:
    """A score with the value of one person (None for nobody), and what somebody similar may have."""

    score: AttributeScore
    own: float | str | None = None
    free: Freedom | None = None


@dataclass(frozen=True)
class PairAxis:
    """One attribute of a pair: edges (pieces + 1,) of a number, or the values of a category."""

    attribute: str
    unit: str
    edges: tuple[float, ...]
    categories: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many pieces, or values, there are."""
        return len(self.categories) or len(self.edges) - 1


@dataclass(frozen=True)
class PairScore:
    """What two attributes add together, beyond what each of them adds: adds[i][j] in piece i across and j up.

    0 on average over the people; ``moves`` : the largest less the smallest that it adds for anybody of them.
    """

    across: PairAxis
    up: PairAxis
    adds: tuple[tuple[float, ...], ...]
    moves: float

    @property
    def name(self) -> str:
        """Both attributes."""
        return f"{self.across.attribute} × {self.up.attribute}"


@dataclass(frozen=True)
class Contribution:
    """What an attribute (or a pair of them) adds for one person, and the least and most for anybody similar."""

    attribute: str
    adds: float
    low: float
    high: float


@dataclass(frozen=True)
class PersonScore:
    """Why a person's output is what it is.

    Parameters
    ----------
    average : the mean output of all people. output : this person's. low, high : bounds for anybody similar.
    up, down : what speaks for more and what for less of it. threshold : where the decision changes; None for numbers.
    contributions : the largest first; what is not listed adds ``rest``.
    """

    average: float
    output: float
    low: float
    high: float
    up: str
    down: str
    threshold: float | None
    contributions: tuple[Contribution, ...]
    rest: float = 0.0


@dataclass(frozen=True)
class Profile:
    """A model's output along one attribute, everything else as a counterexample has it.

    Parameters
    ----------
    edges : of a number, (pieces + 1,) rising; or the places (points,) at which a network was computed.
    categories : its values; empty for a number. outputs : (pieces,), (points,) or (categories,).
    limits : where the decision changes: one output, or two for a number that may move by a tolerance.
    own, other : the value of the person, and that of the counterexample. at_own, at_other : the output there.
    axis : what the output is, in words.
    """

    attribute: str
    unit: str
    edges: tuple[float, ...]
    categories: tuple[str, ...]
    outputs: tuple[float, ...]
    limits: tuple[float, ...]
    own: float | str
    other: float | str
    at_own: float
    at_other: float
    axis: str

    @property
    def stepwise(self) -> bool:
        """Whether the output is constant between edges, as that of trees is."""
        return len(self.edges) == len(self.outputs) + 1
