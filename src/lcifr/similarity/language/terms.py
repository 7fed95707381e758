"""Linear arithmetic on terms of a formula; non-linear terms are rejected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from lcifr.data.schema import Categorical
from lcifr.similarity.language.formula import Absolute, Linear, Rank, Span, Value
from lcifr.similarity.language.name_check import NameCheck, NameReference
from lcifr.similarity.language.names import PLACES, is_writable, quote_name


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
