"""Outputs along an attribute, what similar people may have, and thresholds of trees, in the table's own units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.display.scores import Freedom, Profile
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.phi import Similarity
from lcifr.regions.region import Cell, FloatArray


class PiecesBetween(NamedTuple):
    """edges : (pieces + 1,) with both ends. pieces : (pieces,)."""

    edges: tuple[float, ...]
    pieces: NDArray[np.intp]


@dataclass(frozen=True)
class TableThresholds:
    """Thresholds of one number, rising, in the table's units, as exact as :meth:`Encoding.unscale`.

    Parameters
    ----------
    values : (thresholds,). pieces : (thresholds + 1,) of each piece between them its number among the encoded pieces.
    """

    values: FloatArray
    pieces: NDArray[np.intp]

    def between(self, low: float, high: float) -> PiecesBetween:
        """Those pieces that reach into an interval."""
        inside = (self.values > low) & (self.values < high)
        first = int((self.values <= low).sum())
        edges = (float(low), *self.values[inside].tolist(), float(high))
        return PiecesBetween(edges, self.pieces[first : first + len(edges) - 1])


def in_table_units(thresholds: FloatArray, encoding: Encoding, attribute: str) -> TableThresholds:
    """Encoded thresholds (rising) of a number; without those that no value of the table passes, because it is clipped.

    Encodings are monotone; one that falls turns the pieces round.
    """
    j = encoding.schema.names_numeric.index(attribute)
    numbers = encoding.numbers
    values = thresholds * numbers.factors[j] + numbers.origins[j]
    pieces = np.arange(len(thresholds) + 1)
    if numbers.falling[j]:
        values, pieces = values[::-1], pieces[::-1]
    first, last = numbers.programs[j].unclipped
    start, stop = int((values <= first).sum()), int((values < last).sum())
    return TableThresholds(values[start:stop], pieces[start : stop + 1])


# What a similar person may have instead, read from the region, in the table's own units.

NEGLIGIBLE = 1e-9
"""Standard deviations: regions are rounded outward, and what lies within this of an end is that end."""


@dataclass(frozen=True)
class Surroundings:
    """For one person, what each attribute may be instead; ``linked`` if not every combination is similar."""

    may: dict[str, Freedom]
    linked: bool


def surroundings(similarity: Similarity, people: Individuals) -> list[Surroundings]:
    """What a similar person may have otherwise, for each of a table of people."""
    cells = [_InUnits(cell, similarity.encoding) for cell in similarity.region(people).cells]
    found = []
    for row in range(len(people)):
        present = [one for one in cells if one.cell.present[row]]
        free = _numbers(similarity.schema, present, people, row) | _categories(similarity.schema, present, people, row)
        may = {name: free[name] for name in similarity.schema.names if name in free}
        found.append(Surroundings(may, len(present) > 1 or any(one.cell.rows is not None for one in present)))
    return found


class _InUnits:
    """A cell with the ends of its box in the table's own units, whole where only whole numbers occur."""

    def __init__(self, cell: Cell, encoding: Encoding) -> None:
        self.cell = cell
        whole = np.array([attribute.integer for attribute in encoding.schema.numeric], dtype=np.bool_)
        room = NEGLIGIBLE * encoding.units
        lower, upper = encoding.unscale_bounds(cell.lower, cell.upper)
        self.lower = np.where(whole, np.ceil(lower - room), lower)
        self.upper = np.where(whole, np.floor(upper + room), upper)
        self.units = encoding.units.tolist()


def _numbers(schema: Schema, cells: list[_InUnits], people: Individuals, row: int) -> dict[str, Freedom]:
    found = {}
    ends = [(one.lower[row].tolist(), one.upper[row].tolist()) for one in cells]
    own = people.numbers[row].tolist()
    for j, attribute in enumerate(schema.numeric):
        unit = cells[0].units[j] if cells else 1.0
        spans = [(_round(low[j], unit), _round(high[j], unit)) for low, high in ends if low[j] <= high[j]]
        joined = tuple(_merged(spans, 1.0 if attribute.integer else 0.0))
        if joined and joined != ((own[j], own[j]),):
            found[attribute.name] = Freedom(intervals=joined)
    return found


def _categories(schema: Schema, cells: list[_InUnits], people: Individuals, row: int) -> dict[str, Freedom]:
    found = {}
    for j, attribute in enumerate(schema.categorical):
        allowed = np.zeros(len(attribute.values), np.bool_)
        for one in cells:
            allowed |= one.cell.choices[j].allowed[row]  # choices come in the order of the schema, as columns do
        values = tuple(value for value, may in zip(attribute.values, allowed.tolist(), strict=True) if may)
        if values and values != (attribute.values[people.codes[row, j]],):
            found[attribute.name] = Freedom(values=values)
    return found


def _round(value: float, unit: float) -> float:
    """Without the noise of scaling: nine digits of the value or of its scale."""
    return round(value, 9 - math.ceil(math.log10(max(abs(value), unit)))) + 0.0


def _merged(intervals: list[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Their union; whole numbers next to each other are one interval."""
    found: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


# Profiles: a model's output along one attribute, between a person and a counterexample and a bit beyond.

BEYOND = 0.5
"""How much of the distance between both values is drawn beyond each of them."""
SAMPLED = 97
"""Points at which a network is computed; both values are two of them."""


def profiles(encoder: FrozenEncoder, model: Model, person: Individuals, other: Individuals) -> tuple[Profile, ...]:
    """For each attribute in which one person and one counterexample differ, the output along it.

    Of trees it is exact: the output is constant between their thresholds, and computed once in every piece.
    """
    shown, found = _DrawnOutput(encoder, model, person), list[Profile]()
    for attribute in person.schema:
        name = attribute.name
        if isinstance(attribute, Categorical):
            own, there = int(person.code(name)[0]), int(other.code(name)[0])
            if own != there:
                known = np.flatnonzero(~encoder.encoding.is_outside(name))
                texts, ends = (
                    tuple(attribute.values[c] for c in known),
                    (attribute.values[own], attribute.values[there]),
                )
                people = _with_values(other, name, known), _with_values(other, name, np.array([own, there]))
                found.append(shown.profile(attribute, (), texts, ends, *people))
            continue
        values = np.array([person.number(name)[0], other.number(name)[0]])
        if values[0] != values[1]:
            edges, inside = _places(encoder, model, attribute, values)
            people = _with_values(other, name, inside), _with_values(other, name, values)
            found.append(shown.profile(attribute, edges, (), (float(values[0]), float(values[1])), *people))
    return tuple(found)


class _DrawnOutput:
    """The one output that is drawn: the only one, or the lead of the person's class; and where the decision changes."""

    def __init__(self, encoder: FrozenEncoder, model: Model, person: Individuals) -> None:
        self.encoder, self.model = encoder, model
        self.own = self._outputs(person)[0]
        rule = model.rule
        self.limits: tuple[float, ...] = (rule.middle,) if rule.kind is Kind.SIGN else (0.0,)
        self.axis = "output of the model"
        if rule.kind is Kind.NUMBER:
            self.axis = "prediction"
            self.limits = (float(self.own[0] - rule.known_tolerance), float(self.own[0] + rule.known_tolerance))
        elif rule.kind is Kind.CLASS:
            self.axis = "lead of the person’s decision"

    def _outputs(self, people: Individuals) -> FloatArray:
        return self.model.function(self.encoder.function(self.encoder.encoding.encode(people)))

    def __call__(self, people: Individuals) -> FloatArray:
        """(people,)"""
        outputs, rule = self._outputs(people), self.model.rule
        if rule.kind is not Kind.CLASS:
            return outputs[:, 0]
        mine = rule.group_of == rule.group_of[int(self.own.argmax())]
        return np.asarray(outputs[:, mine].max(1) - outputs[:, ~mine].max(1))

    def profile(
        self,
        attribute: Numeric | Categorical,
        edges: tuple[float, ...],
        categories: tuple[str, ...],
        ends: tuple[float | str, float | str],
        along: Individuals,
        both: Individuals,
    ) -> Profile:
        """The output of people ``along`` the attribute, and of the two at its ``ends``."""
        values, (own, there) = tuple(self(along).tolist()), self(both).tolist()
        unit = "" if isinstance(attribute, Categorical) else attribute.unit or ""
        return Profile(attribute.name, unit, edges, categories, values, self.limits, *ends, own, there, self.axis)


def _places(
    encoder: FrozenEncoder, model: Model, attribute: Numeric, values: FloatArray
) -> tuple[tuple[float, ...], FloatArray]:
    """The edges of what is drawn, and a number in each piece between them; of networks the numbers themselves."""
    low, high = _ends(attribute, values)
    column = encoder.encoding.columns(attribute.name).start
    known = (function.thresholds(column) for function in (encoder.function, model.function))
    splits = next((found for found in known if found is not None), None)
    if splits is None:
        places = np.unique(np.concatenate([np.linspace(low, high, SAMPLED - 2), values]))
        return tuple(places.tolist()), places
    thresholds = in_table_units(splits, encoder.encoding, attribute.name)
    edges = np.array(thresholds.between(low, high).edges)
    edges = _apart(edges)
    return tuple(edges.tolist()), edges[:-1] / 2 + edges[1:] / 2


def _apart(edges: FloatArray) -> FloatArray:
    """Without edges so close to the one before that decoding could have moved them past each other."""
    gap = 1e-9 * (edges[-1] - edges[0])
    kept = np.concatenate([[True], np.diff(edges[:-1]) > gap, [True]])
    return np.asarray(edges[kept])


def _ends(attribute: Numeric, values: FloatArray) -> tuple[float, float]:
    """Both values and a bit beyond, within what the schema declares."""
    room = BEYOND * float(abs(values[1] - values[0]))
    low, high = float(values.min()) - room, float(values.max()) + room
    low = low if attribute.lower is None else max(low, min(attribute.lower, float(values.min())))
    return low, high if attribute.upper is None else min(high, max(attribute.upper, float(values.max())))


def _with_values(other: Individuals, name: str, values: NDArray[Any]) -> Individuals:
    """One person with each of these numbers, or codes, of an attribute."""
    rows, schema = other.take(np.zeros(len(values), np.intp)), other.schema
    if name in schema.names_numeric:
        rows.numbers[:, schema.names_numeric.index(name)] = values
    else:
        rows.codes[:, schema.names_categorical.index(name)] = values
    return rows
