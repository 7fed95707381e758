"""Construction of the syntax tree from lark's parse tree, checked against the schema.

Parts that do not fit the schema are reported and parsing goes on, so that one error shows all problems. A rejected
part is None, and so is everything built from it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from lark import Token, Transformer_NonRecursive, v_args
from lark.tree import Meta

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.similarity.language.comparisons import ComparisonBuilder
from lcifr.similarity.language.diagnostics import Diagnostics
from lcifr.similarity.language.formula import (
    And,
    AttributeSet,
    Formula,
    Free,
    Implies,
    Linear,
    Not,
    Or,
    Person,
    Rank,
    Same,
    Span,
    Within,
)
from lcifr.similarity.language.name_check import NameCheck, NameReference
from lcifr.similarity.language.names import quote_name, read_decimal, repeated, unquote
from lcifr.similarity.language.terms import NUMBERS_FIX, LinearArithmetic, Operand, Text

_RIGHT_SIGNS = {"==": "=", "=<": "<=", "=>": ">=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!="}
_CHAINS = ({"<", "<="}, {">", ">="}, {"="})  # signs that may follow one another in one chain: 18 <= age' < 65


@v_args(meta=True)
class TreeBuilder(Transformer_NonRecursive):  # type: ignore[type-arg]
    """Builds the tree of a formula from the bottom up; each method is called with the parts of its grammar rule."""

    def __init__(self, schema: Schema, diagnostics: Diagnostics) -> None:
        super().__init__(visit_tokens=False)
        self.check = NameCheck(schema, diagnostics)
        self.arithmetic = LinearArithmetic(self.check)
        self.comparisons = ComparisonBuilder(self.check, self.arithmetic)
        self.refuse: Callable[..., None] = diagnostics.add

    # -- conditions joined ---------------------------------------------------------------------------------------------

    def start(self, meta: Meta, parts: list[Formula | None]) -> Formula | None:
        return parts[0]

    def implication(self, meta: Meta, parts: list[Formula | None]) -> Formula | None:
        condition, consequence = parts
        return Implies(condition, consequence, Span.of(meta)) if condition and consequence else None

    def disjunction(self, meta: Meta, parts: list[Formula | None]) -> Formula | None:
        good = tuple(part for part in parts if part is not None)
        return Or(good, Span.of(meta)) if len(good) == len(parts) else None

    def conjunction(self, meta: Meta, parts: list[Formula | None]) -> Formula | None:
        good = tuple(part for part in parts if part is not None)
        return And(good, Span.of(meta)) if len(good) == len(parts) else None

    def denial(self, meta: Meta, parts: list[Formula | None]) -> Formula | None:
        return Not(parts[0], Span.of(meta)) if parts[0] is not None else None

    # -- sets ----------------------------------------------------------------------------------------------------------

    def name(self, meta: Meta, tokens: list[Token]) -> NameReference:
        quoted = tokens[0].type == "QUOTED"
        return NameReference(unquote(tokens[0]) if quoted else str(tokens[0]), quoted, Person.SELF, Span.of(tokens[0]))

    def names(self, meta: Meta, names: list[NameReference]) -> tuple[NameReference, ...]:
        for named in repeated(names, key=lambda named: named.name):
            self.refuse(f"{named} is named twice", named.span, fix="name it once; was another attribute meant?")
        return tuple(names)

    def set(self, meta: Meta, parts: list[tuple[NameReference, ...]]) -> tuple[AttributeSet, tuple[str, ...] | None]:
        """The set and its attributes (None where it was rejected)."""
        names, excluded = parts[0], parts[1] if len(parts) > 1 else ()
        written = AttributeSet(tuple(part.name for part in names), tuple(part.name for part in excluded), Span.of(meta))
        return written, self.check.members(written, (*names, *excluded))

    def same(self, meta: Meta, parts: list[tuple[AttributeSet, tuple[str, ...] | None]]) -> Formula | None:
        names, members = parts[0]
        return Same(names, Span.of(meta)) if members is not None else None

    def free(self, meta: Meta, parts: list[tuple[AttributeSet, tuple[str, ...] | None]]) -> Formula | None:
        names, members = parts[0]
        return Free(names, Span.of(meta)) if members is not None else None

    def distance(self, meta: Meta, tokens: list[Token]) -> tuple[Any, bool]:
        number = self._read_number(tokens[-2] if tokens[-1].type == "SD" else tokens[-1])
        if tokens[0] == "-":
            self.refuse("a distance cannot be negative", Span.of(meta), fix="leave out the minus sign")
        return number, tokens[-1].type == "SD"

    def within(self, meta: Meta, parts: list[Any]) -> Formula | None:
        (names, members), (distance, in_sd) = parts
        if members is None or distance is None:
            return None
        categories = [name for name in members if isinstance(self.check.schema[name], Categorical)]
        if categories:
            shown = ", ".join(quote_name(name) for name in categories[:5]) + (", …" if len(categories) > 5 else "")
            one = len(categories) == 1
            self.refuse(
                f"{shown} {'is a category' if one else 'are categories'}: there is no distance between categories",
                names.span,
                fix=f"write same({shown}) for {'it' if one else 'them'}, and within for numeric attributes only",
            )
            return None
        return Within(names, distance, in_sd, Span.of(meta))

    # -- linear terms --------------------------------------------------------------------------------------------------

    def number(self, meta: Meta, tokens: list[Token]) -> Operand:
        number = self._read_number(tokens[0])
        return None if number is None else Linear((), number, Span.of(meta))

    def _read_number(self, token: Token) -> Any:
        number = read_decimal(token)
        if number is None:
            self.refuse("this number is too large or has too many digits", Span.of(token), fix=NUMBERS_FIX)
        return number

    def text(self, meta: Meta, tokens: list[Token]) -> Operand:
        return Text(unquote(tokens[0]), Span.of(meta))

    def value(self, meta: Meta, parts: list[Any]) -> Operand:
        named = parts[0]
        return NameReference(named.name, named.quoted, Person.OTHER, Span.of(meta)) if len(parts) > 1 else named

    def signed(self, meta: Meta, parts: list[Any]) -> Operand:
        return self.arithmetic.add([parts[1]], [-1 if parts[0] == "-" else 1], Span.of(meta))

    def sum(self, meta: Meta, parts: list[Any]) -> Operand:
        signs = [1, *(-1 if sign == "-" else 1 for sign in parts[1::2])]
        return self.arithmetic.add(parts[::2], signs, Span.of(meta))

    def product(self, meta: Meta, parts: list[Any]) -> Operand:
        return self.arithmetic.multiply(parts[::2], [str(sign) for sign in parts[1::2]], Span.of(meta))

    def absolute(self, meta: Meta, parts: list[Operand]) -> Operand:
        return self.arithmetic.absolute(parts[0], Span.of(meta))

    # -- ranks ---------------------------------------------------------------------------------------------------------

    def group_of_one(self, meta: Meta, tokens: list[Token]) -> list[Text]:
        if self._read_sign(tokens[0]) not in ("=", "!="):
            self.refuse("categories have no order", Span.of(tokens[0]), fix='write = or !=, or in {"…", "…"}')
        return [Text(unquote(tokens[1]), Span.of(tokens[1]))]

    def rank(self, meta: Meta, parts: list[Any]) -> Operand:
        ranked, by, group = parts
        attribute, grouping = self.check.attribute(ranked), self.check.attribute(by)
        if isinstance(attribute, Categorical):
            self.refuse(f"{ranked} is a category and has no rank", ranked.span, fix="rank a numeric attribute")
        if isinstance(grouping, Numeric):
            self.refuse(f"{by} is a number, and only categories form groups", by.span, fix="group by a category")
        if ranked.person is not by.person:
            self.refuse(
                "a rank refers to one person: put a prime on both names, or on neither",
                Span.of(meta),
                fix=f"write {quote_name(by.name)}{ranked.person.value} after by",
            )
            return None
        if not isinstance(attribute, Numeric) or not isinstance(grouping, Categorical):
            return None
        # The rest of the people are a group too, so "= White" and "!= White" name the same two groups.
        values = None if group is None else self.comparisons.categories(group, grouping)
        if group is not None and values is None:
            return None
        return self.arithmetic.rank(Rank(ranked.person, ranked.name, by.name, values, Span.of(meta)))

    # -- comparisons ---------------------------------------------------------------------------------------------------

    def comparison(self, meta: Meta, parts: list[Any]) -> Formula | None:
        signs = [self._read_sign(sign) for sign in parts[1::2]]
        if len(signs) > 1 and not any(set(signs) <= chain for chain in _CHAINS):
            self.refuse(
                "the comparisons of a chain must point the same way",
                Span.of(meta),
                fix="write two comparisons joined by and",
            )
            return None
        pairs = list(pairwise(parts[::2]))
        compared = [
            self.comparisons.compare(left, sign, right, Span.of(meta))
            for (left, right), sign in zip(pairs, signs, strict=True)
        ]
        good = tuple(comparison for comparison in compared if comparison is not None)
        if len(good) < len(compared):
            return None
        return And(good, Span.of(meta)) if len(good) > 1 else good[0]

    def _read_sign(self, token: Token) -> str:
        sign = _RIGHT_SIGNS.get(token, str(token))
        if sign != token:
            self.refuse(f'"{token}" is not a symbol of the language', Span.of(token), fix=f"write {sign}")
        return sign

    def membership(self, meta: Meta, parts: list[Any]) -> Formula | None:
        return self.comparisons.member(parts[0], parts[1], Span.of(meta))

    def exclusion(self, meta: Meta, parts: list[Any]) -> Formula | None:
        member = self.comparisons.member(parts[0], parts[1], Span.of(meta))
        return None if member is None else Not(member, Span.of(meta))

    def values(self, meta: Meta, tokens: list[Token]) -> list[Text]:
        return [Text(unquote(token), Span.of(token)) for token in tokens]
