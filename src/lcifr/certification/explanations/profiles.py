"""Profiles: a model's output along one attribute, between a person and a counterexample and a bit beyond."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.deployment import Encoder
from lcifr.certification.explanations.thresholds import in_table_units
from lcifr.data import Categorical, Individuals, Numeric
from lcifr.drawing.scores import Profile
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.models.trees.trees import NUMBER, Trees
from lcifr.regions.region import FloatArray

BEYOND = 0.5
"""How much of the distance between both values is drawn beyond each of them."""
SAMPLED = 97
"""Points at which a network is computed; both values are two of them."""


def profiles(encoder: Encoder, model: Model, person: Individuals, other: Individuals) -> tuple[Profile, ...]:
    """For each attribute in which one person and one counterexample differ, the output along it.

    Of trees it is exact: the output is constant between their thresholds, and computed once in every piece.
    """
    return tuple(_profiles(encoder, model, person, other))


def _profiles(encoder: Encoder, model: Model, person: Individuals, other: Individuals) -> Iterator[Profile]:
    shown = _DrawnOutput(encoder, model, person)
    for attribute in person.schema:
        name = attribute.name
        if isinstance(attribute, Categorical):
            own, there = int(person.code(name)[0]), int(other.code(name)[0])
            if own != there:
                known = np.flatnonzero(~encoder.encoding.is_outside(name))
                outputs, at = (shown(_with_codes(other, name, codes)) for codes in (known, np.array([own, there])))
                pair = attribute.values[own], attribute.values[there]
                yield shown.profile(name, "", (), tuple(attribute.values[c] for c in known), outputs, pair, at)
            continue
        values = np.array([person.number(name)[0], other.number(name)[0]])
        if values[0] != values[1]:
            edges, inside = _places(encoder, model, attribute, values)
            outputs = shown(_with_numbers(other, name, inside))
            at = shown(_with_numbers(other, name, values))
            ends = (float(values[0]), float(values[1]))
            yield shown.profile(name, attribute.unit or "", edges, (), outputs, ends, at)


class _DrawnOutput:
    """The one output that is drawn: the only one, or the lead of the person's class; and where the decision changes."""

    def __init__(self, encoder: Encoder, model: Model, person: Individuals) -> None:
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
        attribute: str,
        unit: str,
        edges: tuple[float, ...],
        categories: tuple[str, ...],
        outputs: FloatArray,
        ends: tuple[float | str, float | str],
        at: FloatArray,
    ) -> Profile:
        values = tuple(outputs.tolist())
        return Profile(
            attribute, unit, edges, categories, values, self.limits, *ends, float(at[0]), float(at[1]), self.axis
        )


def _places(
    encoder: Encoder, model: Model, attribute: Numeric, values: FloatArray
) -> tuple[tuple[float, ...], FloatArray]:
    """The edges of what is drawn, and a number in each piece between them; of networks the numbers themselves."""
    low, high = _ends(attribute, values)
    trees = next((one for one in (encoder.function, model.function) if isinstance(one, Trees)), None)
    if trees is None:
        places = np.unique(np.concatenate([np.linspace(low, high, SAMPLED - 2), values]))
        return tuple(places.tolist()), places
    nodes = trees.nodes
    mine = (nodes.kind == NUMBER) & (nodes.column == encoder.encoding.columns(attribute.name).start)
    thresholds = in_table_units(np.unique(nodes.threshold[mine]), encoder.encoding, attribute.name)
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


def _with_numbers(other: Individuals, name: str, values: FloatArray) -> Individuals:
    rows = other.take(np.zeros(len(values), np.intp))
    rows.numbers[:, rows.schema.names_numeric.index(name)] = values
    return rows


def _with_codes(other: Individuals, name: str, codes: NDArray[np.intp]) -> Individuals:
    rows = other.take(np.zeros(len(codes), np.intp))
    names = [attribute.name for attribute in rows.schema.categorical]
    rows.codes[:, names.index(name)] = codes
    return rows
