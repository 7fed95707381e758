"""Type checking of comparisons: numbers with numbers, categories with categories."""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.data.schema import Categorical, Numeric
from lcifr.similarity.language.formula import CategoryComparison, Comparison, Formula, Linear, Membership, Span, Value
from lcifr.similarity.language.name_check import NameCheck, NameReference
from lcifr.similarity.language.names import quote_name, quote_value, repeated
from lcifr.similarity.language.terms import LinearArithmetic, Operand, Text

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
