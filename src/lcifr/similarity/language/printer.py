"""Printer of formulas: syntax tree to text that parses back to the same tree."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from lcifr.data.schema import RESERVED_GROUPS
from lcifr.similarity.language.formula import (
    Absolute,
    And,
    Atom,
    AttributeSet,
    CategoryComparison,
    Comparison,
    Formula,
    Free,
    Implies,
    Linear,
    Membership,
    Not,
    Or,
    Rank,
    Same,
    Value,
    Variable,
    Within,
)
from lcifr.similarity.language.names import quote_name, quote_value, write_decimal

WIDTH = 100  # columns; a longer condition is broken at its and / or / implies
_IMPLIES, _OR, _AND, _NOT, _ATOM = range(5)  # how tightly each binds


def print_formula(formula: Formula) -> str:
    """The formula as text, with the fewest parentheses that keep its tree.

    ``parse(print_formula(f), schema) == f`` for every tree that text can say: ``And`` and ``Or`` of two parts or more,
    numbers that are finite decimals.

    Raises
    ------
    ValueError
        If the tree holds what text cannot say, such as the number one third or an ``Or`` without parts.
    """
    return "\n".join(_lines(formula, WIDTH))


def print_linear(linear: Linear) -> str:
    """A linear term as text: ``2*age' - age + 3``."""
    parts = [_signed(factor, variable) for factor, variable in linear.terms]
    if linear.constant != 0 or not parts:
        parts.append(("-" if linear.constant < 0 else "+", write_decimal(abs(linear.constant))))
    (sign, text), *rest = parts
    return ("-" if sign == "-" else "") + text + "".join(f" {sign} {text}" for sign, text in rest)


def print_set(names: AttributeSet) -> str:
    """A set of attributes as text: ``numeric except age``."""
    included, excluded = (
        ", ".join(name if name in RESERVED_GROUPS else quote_name(name) for name in part)
        for part in (names.names, names.excluded)
    )
    return f"{included} except {excluded}" if excluded else included


def print_variable(variable: Variable) -> str:
    """``age'``, ``|age' - age|`` or ``rank(gpa by race)``."""
    match variable:
        case Value(person, attribute):
            return quote_name(attribute) + person.value
        case Absolute(inside):
            return f"|{print_linear(inside)}|"
        case Rank(person, attribute, by, values):
            group = "" if values is None else _print_group(values)
            return f"rank({quote_name(attribute)}{person.value} by {quote_name(by)}{person.value}{group})"
        case _:
            assert_never(variable)


def _print_group(values: tuple[str, ...]) -> str:
    return f" = {quote_value(values[0])}" if len(values) == 1 else f" in {print_values(values)}"


def print_values(values: tuple[str, ...]) -> str:
    """``{"A", "B"}``."""
    return "{" + ", ".join(quote_value(value) for value in values) + "}"


def _signed(factor: Fraction, variable: Variable) -> tuple[str, str]:
    size = abs(factor)
    text = print_variable(variable) if size == 1 else f"{write_decimal(size)}*{print_variable(variable)}"
    return "-" if factor < 0 else "+", text


def _print_atom(atom: Atom) -> str:
    match atom:
        case Same(names):
            return f"same({print_set(names)})"
        case Free(names):
            return f"free({print_set(names)})"
        case Within(names, distance, in_sd):
            return f"{print_set(names)} within {write_decimal(distance)}{' sd' if in_sd else ''}"
        case Comparison(left, operator, right):
            return f"{print_linear(left)} {operator} {print_linear(right)}"
        case CategoryComparison(left, operator, right):
            shown = quote_value(right) if isinstance(right, str) else print_variable(right)
            return f"{print_variable(left)} {operator} {shown}"
        case Membership(left, values):
            return f"{print_variable(left)} in {print_values(values)}"
        case _:
            assert_never(atom)


def _binding(formula: Formula) -> int:
    match formula:
        case Implies():
            return _IMPLIES
        case Or():
            return _OR
        case And():
            return _AND
        case Not(Membership()):
            return _ATOM
        case Not():
            return _NOT
        case _:
            return _ATOM


def _lines(formula: Formula, width: int) -> list[str]:
    """The formula as one line if it fits, else with its parts on lines of their own."""
    match formula:
        case Not(Membership(left, values)):
            return [f"{print_variable(left)} not in {print_values(values)}"]
        case Not(part):
            first, *rest = _enclosed(part, _NOT, width - 4)
            return [f"not {first}", *(f"    {line}" for line in rest)]
        case And(parts):
            return _join([_enclosed(part, _AND + 1, width) for part in parts], "and", width)
        case Or(parts):
            return _join([_enclosed(part, _OR + 1, width) for part in parts], "or", width)
        case Implies(condition, consequence):
            sides = [_enclosed(condition, _IMPLIES + 1, width), _enclosed(consequence, _IMPLIES, width)]
            return _join(sides, "implies", width)
        case _:
            return [_print_atom(formula)]


def _enclosed(part: Formula, at_least: int, width: int) -> list[str]:
    """The part's lines, in parentheses if it binds less tightly than its place needs."""
    if _binding(part) >= at_least:
        return _lines(part, width)
    lines = _lines(part, width - 2)
    if len(lines) == 1:
        return [f"({lines[0]})"]
    return [f"( {lines[0]}", *(f"  {line}" for line in lines[1:-1]), f"  {lines[-1]} )"]


def _join(parts: list[list[str]], word: str, width: int) -> list[str]:
    """Parts joined by ``and``, ``or`` or ``implies``: on one line if that is short enough."""
    if not parts:
        raise ValueError(f'a formula of no parts cannot be written with "{word}"')
    flat = f" {word} ".join(lines[0] for lines in parts)
    if all(len(lines) == 1 for lines in parts) and len(flat) <= width:
        return [flat]
    joined = [[*lines[:-1], f"{lines[-1]} {word}"] for lines in parts[:-1]] + [parts[-1]]
    return [line for lines in joined for line in lines]
