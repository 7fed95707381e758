"""A reader of the checker's report: the text of φ as a truth value for two people, from the words alone."""

from __future__ import annotations

import re
from typing import Any

Person = dict[str, Any]
TERM = re.compile(
    r"(?:≈?(?P<factor>[\d.e+-]+) · )?(?P<rank>rank\()?(?P<who>self|other)\.(?P<name>\w+)(?: by (?P<by>\w+), .*\))?"
)


def holds(lines: list[str], x: Person, other: Person, training: list[Person]) -> bool:
    """Whether what stands between the first line and "people who can exist" is true of a pair."""
    start, stop = (
        lines.index("another person (other) is similar to a person (self) if"),
        lines.index("people who can exist"),
    )
    people = {"self": x, "other": other}
    return _all(lines[start + 1 : stop], 1, people, training, all)


def _all(lines: list[str], depth: int, people: dict[str, Person], training: list[Person], combine: Any) -> bool:
    """``combine`` over the lines at this depth, each with those below it."""
    found, place = [], 0
    while place < len(lines):
        said, stop = lines[place][2 * depth :], place + 1
        while stop < len(lines) and lines[stop].startswith("  " * (depth + 1)):
            stop += 1
        below = lines[place + 1 : stop]
        if said in ("all of these:", "one or more of these:"):
            found.append(_all(below, depth + 1, people, training, all if said.startswith("all") else any))
        else:
            found.append(_truth(said, people, training))
        place = stop
    return bool(combine(found))


def _truth(said: str, people: dict[str, Person], training: list[Person]) -> bool:
    if said in ("always", "never"):
        return said == "always"
    if chosen := re.fullmatch(r"(self|other)\.(\w+) is (.*)", said):
        return repr(people[chosen[1]][chosen[2]]) in chosen[3].split(" or ")
    if equal := re.fullmatch(r"other\.(\w+) = self\.(\1)", said):
        return bool(people["other"][equal[1]] == people["self"][equal[1]])
    left, operator, right = re.fullmatch(r"(.*) (<=|<|!=|=) (.*)", said).groups()  # type: ignore[union-attr]
    difference = _sum(left, people, training) - _sum(right, people, training)
    tied = abs(difference) <= 1e-9
    return {"<=": difference <= 1e-9, "<": difference < -1e-9, "=": tied, "!=": not tied}[operator]


def _sum(side: str, people: dict[str, Person], training: list[Person]) -> float:
    return sum(_term(term, people, training) for term in side.split(" + "))


def _term(text: str, people: dict[str, Person], training: list[Person]) -> float:
    found = TERM.fullmatch(text)
    if found is None:
        return float(text.removeprefix("≈"))
    person, name, by = people[found["who"]], found["name"], found["by"]
    value = float(person[name])
    if found["rank"]:
        group = {float(one[name]) for one in training if one[by] == person[by]}
        value = 1 + len([one for one in group if one > value])
    return float(found["factor"] or 1) * value
