"""Syntax tree of a formula, its names and numbers, and its printer: text that parses back to the same tree.

Nodes are frozen and compare by meaning: where they stood in the text (``span``) does not count.
Numbers are exact: ``0.1`` in a formula is one tenth, not the nearest float.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, TypeVar, assert_never

from lcifr.data.schema import RESERVED_GROUPS, Schema


@dataclass(frozen=True)
class Span:
    """Where a node stands in its text: characters ``start`` to ``end`` (end excluded), counted from 0."""

    start: int
    end: int

    @classmethod
    def of(cls, place: Any) -> Span:
        """The span of a token, or of a node of lark's parse tree."""
        return cls(place.start_pos or 0, place.end_pos or 0)  # the end of the text has no position


NOWHERE = Span(0, 0)


def _span() -> Span:  # a field that neither equality nor repr looks at
    return field(default=NOWHERE, compare=False, repr=False)


class Person(Enum):
    """Whose attribute: the individual's own, or the other individual's (primed in the text)."""

    SELF = ""
    OTHER = "'"


# -- sets of attributes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AttributeSet:
    """``numeric``, ``age, income``, ``all except sex``: names of attributes or groups, less the excluded ones."""

    names: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    span: Span = _span()


# -- linear terms ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """``age`` or ``age'``: the value of an attribute of one of the two."""

    person: Person
    attribute: str
    span: Span = _span()


@dataclass(frozen=True)
class Rank:
    """``rank(gpa' by race' = "White")``: 1 + the distinct training values strictly above, within the person's group.

    The group is the people whose category is in ``values``, or those whose category is not, whichever holds for the
    person; ``values=None`` (written ``by race``) makes every category a group of its own.
    """

    person: Person
    attribute: str
    by: str
    values: tuple[str, ...] | None
    span: Span = _span()


@dataclass(frozen=True)
class Absolute:
    """``|gpa' - gpa|``; the inside holds no further absolute value."""

    inside: Linear
    span: Span = _span()


Variable = Value | Rank | Absolute


@dataclass(frozen=True)
class Linear:
    """Σ coefficient · variable + constant, in the order written; coefficients may be 0 or repeated as written."""

    terms: tuple[tuple[Fraction, Variable], ...]
    constant: Fraction = Fraction(0)
    span: Span = _span()


# -- formulas ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Same:
    """``same(SET)``: every attribute of the set is equal."""

    set: AttributeSet
    span: Span = _span()


@dataclass(frozen=True)
class Free:
    """``free(SET)``: the other person may have any value there, on purpose; always true, and joined at the top only."""

    set: AttributeSet
    span: Span = _span()


@dataclass(frozen=True)
class Within:
    """``SET within 5`` or ``SET within 0.3 sd``: every numeric attribute of the set differs by at most that."""

    set: AttributeSet
    distance: Fraction
    in_sd: bool
    span: Span = _span()


@dataclass(frozen=True)
class Comparison:
    """``2*age' - income <= 3*age + 1``; ``operator`` is one of ``= != < <= > >=``."""

    left: Linear
    operator: str
    right: Linear
    span: Span = _span()


@dataclass(frozen=True)
class CategoryComparison:
    """``race' = "White"``, ``race' != race``: ``=`` or ``!=`` against a value's text or another attribute."""

    left: Value
    operator: str
    right: Value | str
    span: Span = _span()


@dataclass(frozen=True)
class Membership:
    """``race' in {"A", "B"}``."""

    left: Value
    values: tuple[str, ...]
    span: Span = _span()


@dataclass(frozen=True)
class Not:
    part: Formula
    span: Span = _span()


@dataclass(frozen=True)
class And:
    """Two or more parts; nested conjunctions stay nested, as the parentheses in the text had them."""

    parts: tuple[Formula, ...]
    span: Span = _span()


@dataclass(frozen=True)
class Or:
    parts: tuple[Formula, ...]
    span: Span = _span()


@dataclass(frozen=True)
class Implies:
    """``a implies b``; written without parentheses it groups to the right."""

    condition: Formula
    consequence: Formula
    span: Span = _span()


Atom = Same | Free | Within | Comparison | CategoryComparison | Membership
Formula = Atom | Not | And | Or | Implies


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """What a formula joins or negates, in the order of the text; nothing for an atom."""
    match formula:
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
        case Implies(condition, consequence):
            return condition, consequence
        case _:
            return ()


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """What must hold at once, in the order of the text: the parts of a conjunction, or the formula itself."""
    if isinstance(formula, And):
        for part in formula.parts:
            yield from conjuncts(part)
    else:
        yield formula


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and everything inside it, outermost first."""
    yield formula
    for part in parts_of(formula):
        yield from subformulas(part)


# Names and numbers as formulas write them: attributes, groups and categories looked up, and exact decimals.

KEYWORDS = ("and", "or", "not", "implies", "same", "free", "within", "sd", "except", "in", "rank", "by")
_Item = TypeVar("_Item")
_BARE_NAME = re.compile(r"[^\W\d]\w*")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}


def quote_name(name: str) -> str:
    """The name of an attribute as formulas write it: in backticks unless it is one plain word."""
    if _BARE_NAME.fullmatch(name) and name not in KEYWORDS and name not in RESERVED_GROUPS:
        return name
    return _quote(name, "`")


def quote_value(value: str) -> str:
    """The name of a category as formulas write it: ``"White"``."""
    return _quote(value, '"')


def _quote(text: str, mark: str) -> str:
    return mark + "".join(_ESCAPES.get(sign, "\\" + sign if sign in (mark, "\\") else sign) for sign in text) + mark


def unquote(text: str) -> str:
    """What stands between the marks, with ``\\n``, ``\\r``, ``\\t`` and ``\\`` before a sign undone."""
    return re.sub(r"\\(.)", lambda found: _MEANT.get(found[1], found[1]), text[1:-1], flags=re.DOTALL)


def repeated(items: Sequence[_Item], key: Callable[[_Item], str]) -> list[_Item]:
    """The items that repeat an earlier one."""
    seen: set[str] = set()
    found = []
    for item in items:
        if key(item) in seen:
            found.append(item)
        seen.add(key(item))
    return found


def attributes_in(names: AttributeSet, schema: Schema) -> tuple[str, ...]:
    """The attributes of a set, each once, in the schema's order."""
    kept = {member for name in names.names for member in set_members(name, schema)}
    dropped = {member for name in names.excluded for member in set_members(name, schema)}
    return tuple(name for name in schema.names if name in kept - dropped)


def set_members(name: str, schema: Schema) -> tuple[str, ...]:
    """The attributes that one name in a set stands for."""
    if name == "all":
        return schema.names
    if name in ("numeric", "categorical"):
        return tuple(attribute.name for attribute in (schema.numeric if name == "numeric" else schema.categorical))
    return schema.groups.get(name, (name,))


PLACES = 100  # digits before and after the point: no attribute needs more, and every number stays quick to compute with
_LONGEST = 4 * PLACES  # characters of a literal that are read at all
_SCALE = 10**PLACES


def is_writable(number: Fraction) -> bool:
    """Whether the number is a finite decimal of at most ``PLACES`` digits on either side of the point."""
    return bool(_SCALE % number.denominator == 0 and abs(number) < _SCALE)


def read_decimal(text: str) -> Fraction | None:
    """The exact number that ``text`` (``3``, ``0.1``, ``1e-3``) writes, or None where it is out of ``is_writable``."""
    exponent = re.search(r"[eE]([+-]?[0-9]+)$", text)
    if len(text) > _LONGEST or (exponent and abs(int(exponent[1])) > 2 * _LONGEST):
        return None
    number = Fraction(text)
    return number if is_writable(number) else None


def write_decimal(number: Fraction) -> str:
    """The shortest decimal text that reads back as exactly this number.

    Raises
    ------
    ValueError
        If the number has no such text, as one third.
    """
    if not is_writable(number):
        raise ValueError(
            f"{number} cannot be written as a decimal of at most {PLACES} digits on either side of the point"
        )
    if number == 0:
        return "0"
    digits = str(abs(number.numerator) * (_SCALE // number.denominator))
    significant = digits.rstrip("0")
    exponent = len(digits) - len(significant) - PLACES
    return ("-" if number < 0 else "") + _place_point(significant, exponent)


def _place_point(digits: str, exponent: int) -> str:
    """``digits`` times ten to the ``exponent``: with a point where that is short to read, else with ``e``."""
    if exponent > 12 or exponent < -20:
        return f"{digits}e{exponent}"
    if exponent >= 0:
        return digits + "0" * exponent
    padded = digits.rjust(1 - exponent, "0")
    return f"{padded[:exponent]}.{padded[exponent:]}"


# Printer of formulas: syntax tree to text that parses back to the same tree.

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
