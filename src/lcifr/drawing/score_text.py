"""Sentences and tables about scores, contributions and profiles, the same in reports and notebooks."""

from __future__ import annotations

from itertools import pairwise

from lcifr.drawing.scores import AttributeScore, PersonScore, Profile
from lcifr.drawing.text import count, format_value, short

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
    """The sum of a person's contributions, and what somebody similar could have."""
    low, high = short(score.low, 3), short(score.high, 3)
    start = f"The average output is {short(score.average, 3)}, this person’s {short(score.output, 3)}"
    where = "" if score.threshold is None else f"; above {limit_text(score.threshold)} it decides “{score.up}”"
    if score.low == score.high:
        return f"{start}{where}. Nothing that somebody similar may have changes it."
    return f"{start}{where}. For anybody similar it lies between {low} and {high}."


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
