"""Numeric and categorical attributes, and their entries in a schema file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lcifr.errors import SchemaError, did_you_mean


@dataclass(frozen=True)
class Numeric:
    """A number: age, income, a count.

    Parameters
    ----------
    name
        The table's column.
    unit
        What the number counts, for people who read reports: ``"years"``.
    lower, upper
        The declared range, inclusive; None where nothing is declared. A declared range limits who can exist at
        all, so it clips every region.
    integer
        Whether only whole numbers occur.
    """

    name: str
    unit: str | None = None
    lower: float | None = None
    upper: float | None = None
    integer: bool = False

    def __post_init__(self) -> None:
        limits = [limit for limit in (self.lower, self.upper) if limit is not None]
        if not all(math.isfinite(limit) for limit in limits):
            raise SchemaError(
                f'attribute "{self.name}": the range {limits} is not finite', fix="leave out an end that does not exist"
            )
        if len(limits) == 2 and limits[0] > limits[1]:
            raise SchemaError(
                f'attribute "{self.name}": the range runs backwards, from {limits[0]} to {limits[1]}',
                fix="swap the ends",
            )


@dataclass(frozen=True)
class Categorical:
    """One of a few named values: sex, state, purpose. The order of ``values`` is the order of the feature columns."""

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise SchemaError(f'attribute "{self.name}" has no values', fix="list its values, or drop the column")
        if not all(isinstance(value, str) for value in self.values):
            raise SchemaError(
                f'attribute "{self.name}": values must be text, found {list(self.values)}', fix='write 1 as "1"'
            )
        repeated = sorted({value for value in self.values if self.values.count(value) > 1})
        if repeated:
            raise SchemaError(
                f'attribute "{self.name}" lists a value twice: {", ".join(repeated)}', fix="list each value once"
            )
        blank = [value for value in self.values if not value.strip()]
        if blank:
            raise SchemaError(
                f'attribute "{self.name}" has a blank value; blank means missing here',
                fix='give missing people a value of their own, such as "unknown"',
            )


Attribute = Numeric | Categorical


def attribute_to_dict(attribute: Attribute) -> dict[str, Any]:
    """Plain values of an attribute for a schema file, without its name; only what is declared."""
    if isinstance(attribute, Categorical):
        return {"kind": "categorical", "values": list(attribute.values)}
    entry: dict[str, Any] = {"kind": "numeric"}
    if attribute.unit is not None:
        entry["unit"] = attribute.unit
    if attribute.integer:
        entry["integer"] = True
    if attribute.lower is not None:
        entry["lower"] = attribute.lower
    if attribute.upper is not None:
        entry["upper"] = attribute.upper
    return entry


_ENTRIES: dict[str, dict[str, tuple[type, ...]]] = {
    "numeric": {"kind": (str,), "unit": (str,), "integer": (bool,), "lower": (int, float), "upper": (int, float)},
    "categorical": {"kind": (str,), "values": (list, tuple)},
}


def attribute_from_dict(name: str, entry: object) -> Attribute:
    """The inverse of :func:`attribute_to_dict`; entries may be written by hand, and an error names the entry."""
    if not isinstance(entry, Mapping) or entry.get("kind") not in _ENTRIES:
        raise SchemaError(f'attribute "{name}": kind must be "numeric" or "categorical"')
    known = _ENTRIES[entry["kind"]]
    for key, value in entry.items():
        if key not in known:
            raise SchemaError(f'attribute "{name}": unknown entry "{key}".{did_you_mean(key, known)}')
        if not isinstance(value, known[key]) or (isinstance(value, bool) and bool not in known[key]):
            raise SchemaError(
                f'attribute "{name}": {key} = {value!r} is not a {" or ".join(kind.__name__ for kind in known[key])}'
            )
    fields = {key: value for key, value in entry.items() if key != "kind"}
    if entry["kind"] == "categorical":
        if "values" not in fields:
            raise SchemaError(f'attribute "{name}": its values are missing', fix='values = ["female", "male"]')
        return Categorical(name, tuple(fields["values"]))
    return Numeric(name, **fields)
