"""Parser of similarity formulas: text and schema to syntax tree, with names and types checked.

Parts that do not fit the schema are reported and parsing goes on, so that one error shows all problems. A rejected
part is None, and so is everything built from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

from lark import Lark, Token, Transformer_NonRecursive, Tree, UnexpectedCharacters, UnexpectedToken, v_args
from lark.tree import Meta

from lcifr.data.schema import RESERVED_GROUPS, Categorical, Numeric, Schema
from lcifr.errors import SimilarityError, did_you_mean
from lcifr.phi.formula import (
    PLACES,
    Absolute,
    And,
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
    Person,
    Rank,
    Same,
    Span,
    Value,
    Within,
    attributes_in,
    is_writable,
    parts_of,
    quote_name,
    quote_value,
    read_decimal,
    repeated,
    set_members,
    unquote,
)
from lcifr.phi.free_attributes import check_free_clauses
from lcifr.phi.syntax_errors import Diagnostic, Diagnostics, MisplacedToken, explain_character, explain_token

# Comments in the text of a formula, told apart from # in names and values.

_NAME_OR_COMMENT = re.compile(r'("(?:[^"\\\r\n]|\\[^\r\n])*"|`(?:[^`\\\r\n]|\\[^\r\n])*`)|#[^\r\n]*')


def blank_comments(text: str) -> str:
    """The text with a space in place of every comment."""
    return _NAME_OR_COMMENT.sub(lambda found: found[1] or " ", text.removeprefix("\ufeff"))


def drop_last_comments(text: str) -> str:
    """The text up to the last line that holds some of the formula.

    ``lcifr init`` writes its help behind the formula it drafts; an author's own comments stand before or inside it.

    Examples
    --------
    >>> drop_last_comments('# near in age\\nsame(job) and  # no other job\\n  team = "#1"\\n\\n# job: "clerk"\\n')
    '# near in age\\nsame(job) and  # no other job\\n  team = "#1"'
    """
    lines = text.removeprefix("\ufeff").strip().splitlines()
    while lines and not blank_comments(lines[-1]).strip():
        lines.pop()
    return "\n".join(lines)


# Names in a formula, looked up in the schema; those that do not fit are reported.


@dataclass(frozen=True)
class NameReference:
    """A name in the text, not yet resolved."""

    name: str
    quoted: bool
    person: Person
    span: Span

    @property
    def is_set(self) -> bool:
        """Whether this is ``all``, ``numeric`` or ``categorical``; in backticks those are ordinary names."""
        return self.name in RESERVED_GROUPS and not self.quoted

    def __str__(self) -> str:
        return quote_name(self.name) + self.person.value


@dataclass(frozen=True)
class NameCheck:
    """Resolves names against a schema, and reports those that do not fit."""

    schema: Schema
    diagnostics: Diagnostics

    def attribute(self, named: NameReference) -> Numeric | Categorical | None:
        """The attribute of this name, or None after reporting why there is none."""
        if named.name in self.schema and not named.is_set:
            return self.schema[named.name]
        if named.is_set or named.name in self.schema.groups:
            self.diagnostics.add(
                f'"{named.name}" is a set of attributes and has no single value to compare',
                named.span,
                fix=f"write same({named.name}) or {named.name} within a distance, or name one of its attributes",
            )
        else:
            self._refuse_unknown(named, self.schema.names)
        return None

    def members(self, names: AttributeSet, parts: tuple[NameReference, ...]) -> tuple[str, ...] | None:
        """The attributes of a set, or None after reporting why there are none."""
        known = (*self.schema.names, *self.schema.groups, *RESERVED_GROUPS)
        good = [self._can_stand_in_set(part, known) for part in parts]
        if not all(good):
            return None
        included = set(attributes_in(AttributeSet(names.names), self.schema))
        for part in parts[len(names.names) :]:
            if not set(set_members(part.name, self.schema)) & included:
                self.diagnostics.add(
                    f"{part} is not among what it is excepted from",
                    part.span,
                    fix="take it out, or check the set before except",
                )
                return None
        members = attributes_in(names, self.schema)
        # A set of the schema may well be empty, or hold nothing but what is excepted: then nothing is asked of it.
        if not members and not any(name in RESERVED_GROUPS or name in self.schema.groups for name in names.names):
            self.diagnostics.add(
                "this set is empty: what it names is excepted again",
                names.span,
                fix="take out this condition, or except less",
            )
            return None
        return members

    def _can_stand_in_set(self, part: NameReference, known: tuple[str, ...]) -> bool:
        if part.quoted and part.name in RESERVED_GROUPS and part.name in self.schema:
            self.diagnostics.add(
                f'in a set, "{part.name}" always means the set of that name, not the attribute',
                part.span,
                fix=f"write {part}' = {part} instead, or rename the column",
            )
            return False
        if part.name not in known:
            self._refuse_unknown(part, known)
            return False
        return True

    def category(self, value: str, attribute: Categorical, span: Span) -> bool:
        """Whether the attribute has this value; reports it if not."""
        if value in attribute.values or self.diagnostics.is_full:
            return value in attribute.values
        shown = ", ".join(quote_value(known) for known in attribute.values[:8]) + (
            ", …" if len(attribute.values) > 8 else ""
        )
        hint = did_you_mean(value, attribute.values)
        self.diagnostics.add(
            f'{quote_name(attribute.name)} has no value "{value}".{hint}', span, fix=f"its values are {shown}"
        )
        return False

    def _refuse_unknown(self, named: NameReference, known: tuple[str, ...]) -> None:
        if self.diagnostics.is_full:
            return
        if named.name == self.schema.target:
            self.diagnostics.add(
                f'"{named.name}" is the target, what is to be predicted: who is similar cannot depend on it',
                named.span,
                fix="take it out of the formula",
            )
            return
        hint = did_you_mean(named.name, known) or self._hint_part_of_name(named.name)
        owners = [attribute.name for attribute in self.schema.categorical if named.name in attribute.values]
        if owners and not named.quoted:
            hint = f' It is a value of {quote_name(owners[0])}: values stand in double quotes, "{named.name}".'
        self.diagnostics.add(
            f'there is no attribute "{named.name}".{hint}',
            named.span,
            fix=None if hint else f"the attributes are {self._list_names()}",
        )

    def _hint_part_of_name(self, word: str) -> str:
        """For ``hours-per-week``, which reads as a subtraction: the attribute that has this word in its name."""
        found = [name for name in self.schema.names if word.casefold() in re.split(r"[\W_]+", name.casefold())]
        return f" Did you mean {quote_name(found[0])}?" if found else ""

    def _list_names(self) -> str:
        names = [quote_name(name) for name in self.schema.names]
        return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


# Linear arithmetic on terms of a formula; non-linear terms are rejected.


@dataclass(frozen=True)
class Text:
    """A category's name in double quotes, as it stands in the text."""

    value: str
    span: Span


Operand = Linear | NameReference | Text | None
"""What can stand beside a comparison; None where something in it has been refused already."""

NUMBERS_FIX = f"numbers have at most {PLACES} digits before and after the point"


@dataclass(frozen=True)
class LinearArithmetic:
    """Arithmetic on linear terms, which reports what is not linear."""

    check: NameCheck

    def linear(self, operand: Operand) -> Linear | None:
        """The operand as a linear term, or None after reporting why it is not linear."""
        if isinstance(operand, Text):
            self._refuse(
                "text cannot be calculated with or compared by size",
                operand.span,
                fix="compare it with a category by = or !=",
            )
            return None
        if not isinstance(operand, NameReference):
            return operand
        attribute = self.check.attribute(operand)
        if isinstance(attribute, Categorical):
            self._refuse(
                f"{quote_name(operand.name)} is a category: it has no number to calculate with or to compare by size",
                operand.span,
                fix=f'compare it with one of its values, {operand} = "{attribute.values[0]}"',
            )
        if attribute is None or isinstance(attribute, Categorical):
            return None
        value = Value(operand.person, operand.name, operand.span)
        return Linear(((Fraction(1), value),), span=operand.span)

    def add(self, operands: list[Operand], signs: list[int], span: Span) -> Linear | None:
        """Σ sign · operand."""
        parts = [self.linear(operand) for operand in operands]
        if any(part is None for part in parts):
            return None
        pairs = [(sign, part) for sign, part in zip(signs, parts, strict=True) if part is not None]
        terms = tuple((sign * factor, variable) for sign, part in pairs for factor, variable in part.terms)
        constant = sum((sign * part.constant for sign, part in pairs), Fraction(0))
        return self._limited(Linear(terms, constant, span))

    def multiply(self, operands: list[Operand], signs: list[str], span: Span) -> Linear | None:
        """The product, of which at most one part may contain an attribute."""
        for sign, operand in zip(signs, operands[1:], strict=True):
            if sign != "*":
                self._refuse_sign(sign, operand, span)
                return None
        parts = [self.linear(operand) for operand in operands]
        if any(part is None for part in parts):
            return None
        product = Linear((), Fraction(1))
        for part in [part for part in parts if part is not None]:
            if product.terms and part.terms:
                self._refuse(
                    "a product of attributes is not linear, and only linear conditions can be proved",
                    span,
                    fix="multiply attributes by numbers only, 2*age",
                )
                return None
            scaled, factor = (product, part.constant) if product.terms or not part.terms else (part, product.constant)
            terms = tuple((factor * coefficient, variable) for coefficient, variable in scaled.terms)
            limited = self._limited(Linear(terms, factor * scaled.constant, span))
            if limited is None:
                return None
            product = limited
        return product

    def absolute(self, operand: Operand, span: Span) -> Linear | None:
        """``|operand|`` as a linear term of its own."""
        inside = self.linear(operand)
        if inside is None:
            return None
        if any(isinstance(variable, Absolute) for _, variable in inside.terms):
            self._refuse("an absolute value inside another one", span, fix="write two conditions joined by and / or")
            return None
        return Linear(((Fraction(1), Absolute(inside, span)),), span=span)

    def rank(self, rank: Rank) -> Linear:
        return Linear(((Fraction(1), rank),), span=rank.span)

    def _limited(self, term: Linear) -> Linear | None:
        if all(is_writable(number) for number in (term.constant, *(factor for factor, _ in term.terms))):
            return term
        self._refuse("a number here comes out too large or with too many decimals", term.span, fix=NUMBERS_FIX)
        return None

    def _refuse_sign(self, sign: str, operand: Operand, span: Span) -> None:
        if sign != "/":
            self._refuse("powers are not linear", span, fix="multiply attributes by numbers only, 2*age")
        elif isinstance(operand, Linear) and not operand.terms:
            self._refuse(
                "division is not part of the language",
                span,
                fix="multiply instead: 0.5*age for age/2, and 3*age' <= age for age' <= age/3",
            )
        else:
            self._refuse(
                "dividing by an attribute is not linear",
                span,
                fix="multiply both sides: age' <= 2*age for age'/age <= 2 (where age is above 0)",
            )

    @property
    def _refuse(self) -> Callable[..., None]:
        return self.check.diagnostics.add


# Type checking of comparisons: numbers with numbers, categories with categories.

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class ComparisonBuilder:
    """Builds comparisons, and reports those between incompatible types."""

    check: NameCheck
    arithmetic: LinearArithmetic

    def compare(self, left: Operand, sign: str, right: Operand, span: Span) -> Formula | None:
        """``left sign right``, or None after reporting why they cannot be compared."""
        if isinstance(left, Text) or (self._category(right) and not self._category(left)):
            if isinstance(right, Text):
                self._refuse(
                    "two texts are compared, but no attribute",
                    span,
                    'compare an attribute with a value, sex = "female"',
                )
                return None
            return self.compare(right, _FLIPPED.get(sign, sign), left, span)
        category = self._category(left)
        if isinstance(left, NameReference) and category:
            return self._compare_category(left, category, sign, right, span)
        if isinstance(right, Text):
            self._refuse_text(left, right)
            return None
        linear_left, linear_right = self.arithmetic.linear(left), self.arithmetic.linear(right)
        if linear_left is None or linear_right is None:
            return None
        return Comparison(linear_left, sign, linear_right, span)

    def member(self, operand: Operand, values: list[Text], span: Span) -> Formula | None:
        """``operand in {values}``."""
        category = self._category(operand)
        if isinstance(operand, NameReference) and category:
            known = self.categories(values, category)
            return Membership(Value(operand.person, operand.name, operand.span), known, span) if known else None
        if isinstance(operand, Text):
            self._refuse(
                "an attribute is needed here, not text",
                operand.span,
                'write an attribute before in, race\' in {"…"}',
            )
        elif self.arithmetic.linear(operand) is not None:
            self._refuse(
                "only a category can be in a list of values", span, "compare numbers by size: age >= 18 and age <= 21"
            )
        return None

    def categories(self, values: list[Text], attribute: Categorical) -> tuple[str, ...] | None:
        """The listed values, or None after reporting unknown or repeated ones."""
        good = [self.check.category(text.value, attribute, text.span) for text in values]
        twice = repeated(values, key=lambda text: text.value)
        for text in twice:
            self._refuse(f"{quote_value(text.value)} is listed twice", text.span, "list it once; was another meant?")
        if twice:
            return None
        return tuple(text.value for text in values) if all(good) else None

    def _category(self, operand: Operand) -> Categorical | None:
        if not isinstance(operand, NameReference) or operand.name not in self.check.schema:
            return None
        attribute = self.check.schema[operand.name]
        return attribute if isinstance(attribute, Categorical) and not operand.is_set else None

    def _compare_category(
        self, left: NameReference, category: Categorical, sign: str, right: Operand, span: Span
    ) -> Formula | None:
        shown = quote_name(left.name)
        if right is None:
            return None
        if isinstance(right, Linear):
            self._refuse(
                f"{shown} is a category and cannot be compared with a number",
                span,
                f"write the value in double quotes, {left} = {quote_value(category.values[0])}",
            )
            return None
        if sign not in ("=", "!="):
            self._refuse(
                f'{shown} is a category: categories have no order, so "{sign}" means nothing',
                span,
                "write =, != or in {…}",
            )
            return None
        value = Value(left.person, left.name, left.span)
        if isinstance(right, Text):
            known = self.check.category(right.value, category, right.span)
            return CategoryComparison(value, sign, right.value, span) if known else None
        return self._compare_two(value, category, sign, right, span)

    def _compare_two(
        self, left: Value, category: Categorical, sign: str, right: NameReference, span: Span
    ) -> Formula | None:
        other = self.check.attribute(right)
        if other is None:
            return None
        if isinstance(other, Numeric):
            self._refuse(
                f"{quote_name(left.attribute)} is a category and {right} a number", span, "compare like with like"
            )
            return None
        if not set(category.values) & set(other.values):
            message = f"{quote_name(left.attribute)} and {quote_name(other.name)} have no value in common"
            self._refuse(message, span, "compare an attribute with itself, or with one of its values")
            return None
        return CategoryComparison(left, sign, Value(right.person, right.name, right.span), span)

    def _refuse_text(self, left: Operand, right: Text) -> None:
        if left is None or (isinstance(left, NameReference) and self.check.attribute(left) is None):
            return
        what = f"{left} is a number" if isinstance(left, NameReference) else "the other side is a number"
        self._refuse(f"{what} and cannot be compared with text", right.span, "write the number without quotation marks")

    def _refuse(self, message: str, span: Span, fix: str) -> None:
        self.check.diagnostics.add(message, span, fix=fix)


# Construction of the syntax tree from lark's parse tree, checked against the schema.
#
# Parts that do not fit the schema are reported and parsing goes on, so that one error shows all problems. A rejected
# part is None, and so is everything built from it.

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


# Parser of similarity formulas: text and schema to syntax tree.

MAX_NESTING = 100  # parentheses, not and implies in one another: beyond reading, and the readers of the tree recurse
MAX_LENGTH = 50_000  # characters: about a second of reading


def parse(text: str, schema: Schema, *, source: str = "formula") -> Formula:
    """Read a similarity formula and check it against the schema.

    Parameters
    ----------
    text
        The formula; see ``docs/language.md``.
    schema
        The attributes, categories and groups that the formula may name.
    source
        What errors call the text: its file, for example.

    Raises
    ------
    SimilarityError
        If the text is no formula, or says what the language refuses or the schema does not know. Its ``line`` and
        ``column`` say where; problems with names are all reported at once.

    Examples
    --------
    >>> from lcifr.data.schema import Categorical, Numeric, Schema
    >>> schema = Schema((Numeric("age"), Categorical("sex", ("female", "male"))))
    >>> parse("age within 5", schema)
    Within(set=AttributeSet(names=('age',), excluded=()), distance=Fraction(5, 1), in_sd=False)
    """
    return _parse(text, schema, Diagnostics(text, source))


def diagnose(text: str, schema: Schema) -> tuple[Diagnostic, ...]:
    """Everything that :func:`parse` refuses in a text, in its order; nothing where it is a formula."""
    diagnostics = Diagnostics(text, "formula")
    with suppress(SimilarityError):
        _parse(text, schema, diagnostics)
    return tuple(sorted(diagnostics.found, key=lambda one: one.span.start))


def _parse(text: str, schema: Schema, diagnostics: Diagnostics) -> Formula:
    if len(text) > MAX_LENGTH:
        diagnostics.add(
            f"the formula is longer than {MAX_LENGTH} characters", Span(MAX_LENGTH, MAX_LENGTH), fix="split it"
        )
        raise diagnostics.error()
    tree = _read(text, schema, diagnostics)
    formula: Formula | None = TreeBuilder(schema, diagnostics).transform(tree)
    _raise_found(diagnostics)
    if formula is None:
        raise AssertionError("a part was refused without a reason")
    _limit_depth(formula, diagnostics)
    _raise_found(diagnostics)
    check_free_clauses(formula, schema, diagnostics)
    _raise_found(diagnostics)
    return formula


def _raise_found(diagnostics: Diagnostics) -> None:
    if diagnostics.found:
        raise diagnostics.error()


@cache
def _grammar() -> Lark:
    """lark's parser of the grammar file, built on first use."""
    grammar = resources.files("lcifr.phi").joinpath("grammar.lark").read_text(encoding="utf-8")
    # The basic lexer keeps keywords keywords everywhere, so that a misplaced one is named as what it is.
    return Lark(grammar, parser="lalr", lexer="basic", propagate_positions=True, maybe_placeholders=True)


def _read(text: str, schema: Schema, diagnostics: Diagnostics) -> Tree[Token]:
    """The parse tree of the text; raises at the first syntax error."""
    reader = _grammar().parse_interactive(text)
    before: Token | None = None
    current: Token | None = None
    try:
        depth = 0
        for token in reader.iter_parse():  # each token comes before it is read
            before, current = current, token
            depth += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
            if depth > MAX_NESTING:
                diagnostics.found.append(_too_deep(Span(token.start_pos or 0, token.end_pos or 0)))
                raise diagnostics.error()
        before = current
        tree: Tree[Token] = reader.feed_eof()  # type: ignore[no-untyped-call]
        return tree
    except UnexpectedCharacters as error:
        diagnostics.found.append(explain_character(text, error.pos_in_stream or 0))
    except UnexpectedToken as error:
        misplaced = MisplacedToken(error.token, before, frozenset(reader.accepts()), schema)  # type: ignore[no-untyped-call]
        diagnostics.found.append(explain_token(misplaced))
    raise diagnostics.error() from None


def _limit_depth(formula: Formula, diagnostics: Diagnostics) -> None:
    """Reject a tree that is nested too deeply. Iterative, because it protects recursive functions."""
    waiting: list[tuple[Formula, int]] = [(formula, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_NESTING:
            diagnostics.found.append(_too_deep(node.span))
            return
        waiting += [(part, depth + 1) for part in parts_of(node)]


def _too_deep(span: Span) -> Diagnostic:
    return Diagnostic(f"nested more than {MAX_NESTING} deep", span, fix="write it flatter: nobody could read this")
