"""Proxy detection: constrained attributes that predict a free one.

A formula that lets sex change but keeps ``relationship = "Husband"`` compares a man with a person who hardly exists.
The rule is simple enough to argue about: among the people with one value of the kept attribute (at least one in a
hundred of all), at least 95 % have one and the same value of the free one, and exceptions are five times rarer than in
the data as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.data import Categorical, Individuals
from lcifr.regions.cell import IntArray
from lcifr.similarity.semantics.core import Booleans

REAL_SHARE = 0.01  # of all people have the telling value
ALMOST_SURELY = 0.95  # of the people with the telling value have one value of the free attribute
RARER = 5  # times fewer exceptions than in the data as a whole
EXPECTED = 20  # exceptions at the whole data's rate: with fewer, a five-fold drop could be chance (below 1 in 50,000)
PARTS = 10  # a number is cut into so many equally filled intervals


@dataclass(frozen=True)
class Proxy:
    """One value (or interval) of a kept attribute that gives away the free one.

    Parameters
    ----------
    value
        The kept attribute's value, as text: ``= "Husband"`` or ``from 40 to 99``.
    people
        How many have it.
    given_away, share, base
        The free attribute's value, how many of these people have it, and how many of all.
    """

    value: str
    people: int
    given_away: str
    share: float
    base: float


def find_proxies(people: Individuals, free: str, kept: str) -> tuple[Proxy, ...]:
    """The values of ``kept`` that give away ``free`` (categorical), the largest groups first."""
    attribute = people.schema[free]
    assert isinstance(attribute, Categorical)
    codes = people.code(free)
    base = np.bincount(codes, minlength=len(attribute.values)) / len(people)
    found = []
    for value, member in _parts(people, kept):
        size = int(member.sum())
        counts = np.bincount(codes[member], minlength=len(attribute.values))
        top = int(counts.argmax())
        expected = size * (1 - base[top])
        sure = counts[top] >= ALMOST_SURELY * size and size >= REAL_SHARE * len(people)
        if sure and expected >= max(EXPECTED, RARER * (size - counts[top])):
            found.append(Proxy(value, size, attribute.values[top], float(counts[top] / size), float(base[top])))
    return tuple(sorted(found, key=lambda proxy: -proxy.people))


def _parts(people: Individuals, name: str) -> list[tuple[str, Booleans]]:
    """Who has which value of an attribute; numbers in equally filled intervals."""
    attribute = people.schema[name]
    if isinstance(attribute, Categorical):
        return [(f'= "{value}"', people.code(name) == code) for code, value in enumerate(attribute.values)]
    values = people.number(name)
    cuts = np.unique(np.quantile(values, np.arange(1, PARTS) / PARTS))
    part: IntArray = np.searchsorted(cuts, values, side="right")
    members = [part == p for p in range(len(cuts) + 1)]
    return [
        (f"from {values[member].min():.6g} to {values[member].max():.6g}", member) for member in members if member.any()
    ]
