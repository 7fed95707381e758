"""The attributes of a table: who can exist, and how a network sees them."""

from __future__ import annotations

import math
from copy import copy
from typing import Any, NamedTuple

from lcifr.check.exact import ensure, items, number, numbers, position
from lcifr.check.limits import COLUMNS, at_most

Person = dict[str, Any]  # name → value of a number, code of a category
# Some of all individuals, by what they do not exceed: name of a category → its codes; row → a fraction, and of one
# number a float that somebody can have.
Part = dict[Any, Any]
UNDECLARED = {"lower": -math.inf, "upper": math.inf, "integer": False}


class Number(NamedTuple):
    """A numeric attribute: its feature column, scale and declared range."""

    column: int
    mean: float
    sd: float
    lower: float
    upper: float
    integer: bool

    def encode(self, value: float) -> float:
        """As the network sees it, in the float arithmetic of every user; monotone, as float arithmetic is."""
        return (value - self.mean) / self.sd


class AttributeTable:
    """The attributes of ``encoding.json`` in the order of their feature columns; a category has one for each value."""

    def __init__(self, encoding: Any) -> None:
        self.numbers: dict[str, Number] = {}
        self.categories: dict[str, range] = {}
        self.width = 0
        for name, entry in encoding["schema"]["attributes"].items():
            column = self.width
            if {"categorical": True, "numeric": False}[entry["kind"]]:
                self.width += len(items(entry["values"]))
                self.categories[name] = range(column, self.width)
                continue
            self.width += 1
            mean, sd = (number(encoding["scales"][name][key]) for key in ("mean", "sd"))
            lower, upper, whole = (entry.get(key, if_none) for key, if_none in UNDECLARED.items())
            right = {type(lower), type(upper)} <= {int, float} and type(whole) is bool and sd > 0 and lower <= upper
            ensure(right, f"the sd of {name} is not positive, or its range is none")
            self.numbers[name] = Number(column, mean, sd, float(lower), float(upper), whole)
        at_most(COLUMNS, self.width, "feature columns")

    def person(self, found: Any) -> Person:
        """{"numbers": […], "codes": […]} in the order of the attributes; somebody who can exist."""
        values = numbers(found["numbers"], len(self.numbers))
        for (name, about), value in zip(self.numbers.items(), values, strict=True):
            exists = about.lower <= value <= about.upper and (value.is_integer() or not about.integer)
            ensure(exists, f"{name} = {value} is nobody's: out of range, or not whole")
        codes = zip(self.categories.items(), items(found["codes"]), strict=True)
        known = {name: position(code, len(columns)) for (name, columns), code in codes}
        return {**dict(zip(self.numbers, values, strict=True)), **known}

    def reals(self) -> AttributeTable:
        """The same where every number is any float: none has to be whole."""
        found = copy(self)
        found.numbers = {name: about._replace(integer=False) for name, about in self.numbers.items()}
        return found

    def everybody(self) -> Part:
        """All individuals."""
        ends = {((name, s),): s * end for name, n in self.numbers.items() for s, end in ((-1, n.lower), (1, n.upper))}
        return {**ends, **{name: frozenset(range(len(columns))) for name, columns in self.categories.items()}}

    def point(self, person: Person) -> list[list[tuple[int, float]]]:
        """A person as the network sees them: for each attribute a group with one corner."""
        known = [[(about.column, about.encode(person[name]))] for name, about in self.numbers.items()]
        return known + [[(columns[person[name]], 1.0)] for name, columns in self.categories.items()]
