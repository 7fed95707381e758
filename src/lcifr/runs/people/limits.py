"""Limits on how many people are held in memory, and how many make a part."""

from __future__ import annotations

from lcifr.errors import LcifrError

HELD = 100_000
"""People whose proofs (a bundle) or regions (baselines) are held in memory at most."""
LEARNED = 2_000_000
"""People who are held in memory at most to learn from them; ``lcifr.report`` has the same limit for a page."""
PROVED = 1000
"""People whose proofs an audit writes and checks unless it is said otherwise: about a minute. If all of them are
confirmed, so would be 99.7 % of everybody at least, with 95 % confidence."""
FEW, PART = 100_000, 256
"""Up to so many people a part is small, so that little is done again; beyond, as large as the library makes it."""
PARTS = 16
"""Parts at least, so that there are some for every core and a stopped run loses little, unless they get too small."""
SMALLEST = 32
"""People in a part at least: with fewer the engine has too little to do at a time."""


def refuse_more(people: int, most: int, what: str, fix: str) -> None:
    """Say how many people are too many for what needs all of them in memory."""
    if people > most:
        raise LcifrError(f"{what} needs everybody in memory: {people:,} people, at most {most:,}", fix=fix)


def part_for(people: int, asked: int | None) -> int:
    """People per part: as asked, else few, else so many that there are not too many parts."""
    from lcifr.runs.streaming.large import CHUNK

    return asked or (min(PART, max(SMALLEST, -(-people // PARTS))) if people <= FEW else CHUNK)
