"""Attribute scores, contributions and profiles: what charts show of them, in sentences and in bars."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from lcifr.display.canvas import Shape, axis_name, line, rectangle
from lcifr.display.charts import Histogram
from lcifr.display.text import count, format_value, short

# Plain data of pictures of a model: scores of attributes, a person's contributions, the output along an attribute.
#
# Values are what JSON can hold; numbers of an attribute are in the table's own units.


@dataclass(frozen=True)
class Freedom:
    """What a similar person may have instead of the person's own value: intervals of a number, or categories."""

    intervals: tuple[tuple[float, float], ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Axis:
    """An attribute along which something is drawn.

    Parameters
    ----------
    edges : of a number, (pieces + 1,) rising: the thresholds, between the ends of what is drawn; or the places at which
        a network was computed. Empty for a category.
    categories : its values; empty for a number.
    """

    attribute: str
    unit: str
    edges: tuple[float, ...]
    categories: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many pieces, or values, there are."""
        return len(self.categories) or len(self.edges) - 1

    @property
    def label(self) -> str:
        """The name below a chart, with the unit."""
        return axis_name(self.attribute, self.unit)

    def piece(self, place: int) -> str:
        """One of them in words."""
        if self.categories:
            return self.categories[place]
        return f"{short(self.edges[place], 6)} to {short(self.edges[place + 1], 6)}"


@dataclass(frozen=True)
class AttributeScore(Axis):
    """What one attribute adds to a model's outputs: a step function of a number, or a value for each category.

    Parameters
    ----------
    adds : for each output, (pieces,) or (categories,); 0 on average over the people.
    outputs : names of the outputs, where there are several.
    people : the histogram of a number. counts : (categories,) people.
    moves : the largest less the smallest that it adds for any of these people, of the output where that is most.
    """

    adds: tuple[tuple[float, ...], ...]
    outputs: tuple[str, ...]
    people: Histogram | None
    counts: tuple[int, ...]
    moves: float


@dataclass(frozen=True)
class MarkedScore:
    """A score with the value of one person (None for no one), and what someone similar may have."""

    score: AttributeScore
    own: float | str | None = None
    free: Freedom | None = None


@dataclass(frozen=True)
class PairScore:
    """What two attributes add together, beyond what each of them adds: adds[i][j] in piece i across and j up.

    0 on average over the people; ``moves`` : the largest less the smallest that it adds for any of them.
    """

    across: Axis
    up: Axis
    adds: tuple[tuple[float, ...], ...]
    moves: float

    @property
    def name(self) -> str:
        """Both attributes."""
        return f"{self.across.attribute} × {self.up.attribute}"


@dataclass(frozen=True)
class Contribution:
    """What an attribute (or a pair of them) adds for one person, and the least and most for anyone similar."""

    attribute: str
    adds: float
    low: float
    high: float


@dataclass(frozen=True)
class PersonScore:
    """Why a person's output is what it is.

    Parameters
    ----------
    average : the mean output of all people. output : this person's. low, high : bounds for anyone similar.
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
class Profile(Axis):
    """A model's output along one attribute, everything else as a counterexample has it.

    Parameters
    ----------
    outputs : (pieces,), (points,) or (categories,).
    limits : where the decision changes: one output, or two for a number that may move by a tolerance.
    own, other : the value of the person, and that of the counterexample. at_own, at_other : the output there.
    axis : what the output is, in words.
    """

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


# Sentences and tables about scores, contributions and profiles, the same in reports and notebooks.

NEGLIGIBLE = 1e-9
"""Of what outputs differ by: a threshold this near to 0, as rounding of probabilities makes it, is read as 0."""


def signed(value: float) -> str:
    """+0.31 or −0.12; 0 has no sign."""
    text = short(value, 3)
    return text if value <= 0 or text == "0" else f"+{text}"


def score_sentence(score: AttributeScore) -> str:
    """What a chart of an attribute shows."""
    among = f"its score moves by {short(score.moves, 3)} among these people"
    if score.categories:
        return f"{count(len(score.categories))} categories; {among}."
    steps = len(score.edges) - 2
    return f"A step function with {count(steps)} {'step' if steps == 1 else 'steps'}; {among}."


def score_rows(score: AttributeScore) -> tuple[tuple[str, ...], ...]:
    """Rows of a table: a category, or a bar of the histogram; people; for each output what is added there."""
    if score.categories:
        return tuple(
            (name, count(people), *(signed(adds[place]) for adds in score.adds))
            for place, (name, people) in enumerate(zip(score.categories, score.counts, strict=True))
        )
    assert score.people is not None
    bars = zip(pairwise(score.people.edges), score.people.counts["people"], strict=True)
    return tuple(
        (f"{short(low, 6)} to {short(high, 6)}", count(people), *(_span(score, adds, low, high) for adds in score.adds))
        for (low, high), people in bars
        if people
    )


def score_head(score: AttributeScore) -> tuple[str, ...]:
    """The head of :func:`score_rows`."""
    adds = tuple(f"Adds to {name}" for name in score.outputs) or ("Adds",)
    return (score.attribute if score.categories else "Between", "People", *adds)


def _span(score: AttributeScore, adds: tuple[float, ...], low: float, high: float) -> str:
    pieces = zip(pairwise(score.edges), adds, strict=True)
    here = [value for (left, right), value in pieces if left < high and right > low]
    ends = signed(min(here)), signed(max(here))
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def person_sentence(score: PersonScore) -> str:
    """The sum of a person's contributions, and what someone similar could have."""
    low, high = short(score.low, 3), short(score.high, 3)
    start = f"The average output is {short(score.average, 3)}, this person’s {short(score.output, 3)}"
    where = "" if score.threshold is None else f"; above {limit_text(score.threshold)} it decides “{score.up}”"
    if score.low == score.high:
        return f"{start}{where}. Nothing that someone similar may have changes it."
    return f"{start}{where}. For anyone similar it lies between {low} and {high}."


def limit_text(limit: float, scale: float = 1.0) -> str:
    """A threshold as people write it."""
    return "0" if abs(limit) <= NEGLIGIBLE * scale else short(limit)


def profile_sentence(profile: Profile, *, year: bool = False) -> str:
    """What a profile shows, in plain words; ``year`` as of :func:`format_value`."""
    own, other = (format_value(value, year=year) for value in (profile.own, profile.other))
    unit = f" {profile.unit}" if profile.unit else ""
    lead = (
        f"Everything else as in the counterexample: at {profile.attribute} {own}{unit}, this person’s value, the "
        f"{profile.axis} is {short(profile.at_own)}; at {other}{unit} it is {short(profile.at_other)}"
    )
    size = max(abs(profile.at_own), abs(profile.at_other), *(abs(limit) for limit in profile.limits))
    crossed = [limit for limit in profile.limits if (profile.at_own > limit) != (profile.at_other > limit)]
    if not crossed:
        return f"{lead}. Both are on the same side of where the decision changes: it takes the other attributes too."
    limit = limit_text(crossed[0], size)
    if profile.categories:
        return f"{lead}, on the other side of {limit}, where the decision changes."
    places = crossings(profile, crossed[0])
    if len(places) == 1:
        place = format_value(float(f"{places[0]:.6g}"), year=year)
        return f"{lead}. It crosses {limit}, where the decision changes, at {place}{unit}."
    many = f"{count(len(places))} times" if len(places) > 1 else "between them"
    return f"{lead}. It crosses {limit}, where the decision changes, {many}."


def crossings(profile: Profile, limit: float) -> list[float]:
    """Where, between both values, the output passes a limit."""
    low, high = sorted((float(profile.own), float(profile.other)))
    if profile.stepwise:
        inner = zip(profile.edges[1:-1], pairwise(profile.outputs), strict=True)
        return [edge for edge, (a, b) in inner if low <= edge <= high and (a > limit) != (b > limit)]
    points = list(zip(profile.edges, profile.outputs, strict=True))
    pairs = [(a, b) for a, b in pairwise(points) if (a[1] > limit) != (b[1] > limit)]
    at = [x + (limit - y) / (v - y) * (u - x) for (x, y), (u, v) in pairs]
    return [place for place in at if low <= place <= high]


# Bars of a person's contributions, one to a row of a table: what an attribute adds, and its range within φ.

BAR, ROW, ROOM = 160, 16, 4
"""Width and height of a bar's picture, and what is left free beside it."""


@dataclass(frozen=True)
class ContributionBar:
    """Across: where 0 is, the bar from there (left, width), and the range within φ (left, width), if it is one."""

    zero: int
    bar: tuple[int, int]
    range: tuple[int, int] | None


def place_bars(score: PersonScore) -> list[ContributionBar]:
    """The bars of all listed contributions, on one scale."""
    ends = [0.0, *(end for one in score.contributions for end in (one.adds, one.low, one.high))]
    low, wide = min(ends), (max(ends) - min(ends)) or 1.0

    def x(value: float) -> int:
        return round(ROOM + (value - low) / wide * (BAR - 2 * ROOM))

    def span(a: float, b: float) -> tuple[int, int]:
        left, right = sorted((x(a), x(b)))
        return left, max(right - left, 1)

    return [
        ContributionBar(x(0.0), span(0.0, one.adds), span(one.low, one.high) if moves(one) else None)
        for one in score.contributions
    ]


def bar_shapes(one: Contribution, place: ContributionBar, left: float = 0.0, top: float = 0.0) -> list[Shape]:
    """A contribution: blue raises the output, red lowers it, the band is what someone similar may have."""
    band = (
        [] if place.range is None else [rectangle(left + place.range[0], top + 1, place.range[1], ROW - 2, "similar")]
    )
    bar = rectangle(left + place.bar[0], top + 4, place.bar[1], ROW - 8, "for" if one.adds >= 0 else "against")
    return [*band, bar, line(left + place.zero, top, left + place.zero, top + ROW, "axis")]


def moves(one: Contribution) -> bool:
    """Whether it can be seen that a contribution could move."""
    return signed(one.low) != signed(one.high)


def range_text(one: Contribution) -> str:
    """How far a contribution could move."""
    return f"{signed(one.low)} to {signed(one.high)}" if moves(one) else "stays"
