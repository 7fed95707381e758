"""Shares of everybody who can exist, by what is known of them, along the values of one attribute and of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

Shares = Mapping[str, float]
"""For each standing (``proved``, ``strict crossings only``, ``violating``, ``open``) a share; together they are 1."""


@dataclass(frozen=True)
class ValueParts:
    """The values of an attribute, in the table's units, in a few parts.

    Parameters
    ----------
    labels : of the parts: a category, a whole number, or from … to ….
    edges : of a number (parts + 1,) where they begin and end; empty for categories.
    """

    attribute: str
    unit: str
    labels: tuple[str, ...]
    edges: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class ShareStrip:
    """Along one attribute: the shares of everybody with a value of each part."""

    bins: ValueParts
    shares: tuple[Shares, ...]


@dataclass(frozen=True)
class ShareGrid:
    """Over two attributes: ``shares[row][column]`` of everybody in a part of each."""

    across: ValueParts
    down: ValueParts
    shares: tuple[tuple[Shares, ...], ...]


@dataclass(frozen=True)
class SweepMap:
    """Where in the universe it is proved, where violated, and where open.

    Parameters
    ----------
    strips : one an attribute, first the one along which the standing changes most.
    grid : of the two attributes that separate best; None where there is but one attribute.
    """

    strips: tuple[ShareStrip, ...]
    grid: ShareGrid | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)
