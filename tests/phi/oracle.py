"""The slow truth: a formula as written, evaluated on one pair in exact arithmetic, straight from the language."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

from lcifr.data import Categorical, Schema
from lcifr.phi.formula import (
    Absolute,
    And,
    CategoryComparison,
    Comparison,
    Formula,
    Free,
    Implies,
    Linear,
    Membership,
    Not,
    Or,
    Person,
    Rank,
    Same,
    Value,
    Within,
    attributes_in,
)

Row = dict[str, Any]
OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Oracle:
    def __init__(self, schema: Schema, training: list[Row], sds: dict[str, float]) -> None:
        self.schema, self.training, self.sds = schema, training, sds

    def holds(self, formula: Formula, x: Row, other: Row) -> bool:
        match formula:
            case Not(part):
                return not self.holds(part, x, other)
            case And(parts):
                return all(self.holds(part, x, other) for part in parts)
            case Or(parts):
                return any(self.holds(part, x, other) for part in parts)
            case Implies(condition, consequence):
                return not self.holds(condition, x, other) or self.holds(consequence, x, other)
            case Free():
                return True
            case Same(chosen):
                return all(x[name] == other[name] for name in attributes_in(chosen, self.schema))
            case Within(chosen, distance, in_sd):
                return all(
                    abs(exact(other[name]) - exact(x[name])) <= distance * (Fraction(self.sds[name]) if in_sd else 1)
                    for name in attributes_in(chosen, self.schema)
                )
            case Comparison(left, sign, right):
                return OPERATORS[sign](self.term(left, x, other), self.term(right, x, other))
            case CategoryComparison(left, sign, right):
                wanted = right if isinstance(right, str) else self.value(right, x, other)
                return OPERATORS[sign](self.value(left, x, other), wanted)
            case Membership(left, values):
                return self.value(left, x, other) in values
        raise AssertionError(formula)

    def value(self, value: Value, x: Row, other: Row) -> Any:
        return (x if value.person is Person.SELF else other)[value.attribute]

    def term(self, linear: Linear, x: Row, other: Row) -> Fraction:
        total = linear.constant
        for c, variable in linear.terms:
            match variable:
                case Value():
                    total += c * exact(self.value(variable, x, other))
                case Absolute(inside):
                    total += c * abs(self.term(inside, x, other))
                case Rank():
                    total += c * self.rank(variable, x if variable.person is Person.SELF else other)
        return total

    def rank(self, rank: Rank, person: Row) -> int:
        by = self.schema[rank.by]
        assert isinstance(by, Categorical)

        def group(row: Row) -> Any:
            return row[rank.by] if rank.values is None else row[rank.by] in rank.values

        peers = {exact(row[rank.attribute]) for row in self.training if group(row) == group(person)}
        return 1 + sum(value > exact(person[rank.attribute]) for value in peers)


def exact(value: float) -> Fraction:
    return Fraction(repr(value))
