"""Names in a formula, looked up in the schema; those that do not fit are reported."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lcifr.data.schema import RESERVED_GROUPS, Categorical, Numeric, Schema
from lcifr.errors import did_you_mean
from lcifr.similarity.language.diagnostics import Diagnostics
from lcifr.similarity.language.formula import AttributeSet, Person, Span
from lcifr.similarity.language.names import attributes_in, quote_name, quote_value, set_members


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
