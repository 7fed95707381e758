"""ModelOutline: what was loaded from a model file, in words that a person compares with what they meant to load."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lcifr.models.arithmetic import Arithmetic
from lcifr.models.files.description import DescribedOutput
from lcifr.models.model import Model
from lcifr.models.rule import Kind

SHOWN = 8  # columns, steps and classes that are listed before "…"
LONGEST = 80
"""Characters of a text from a file that are shown."""
PLAIN = re.compile(r"[\w.+-]+")
"""Names that can stand in a sentence without quotes."""


@dataclass(frozen=True)
class ModelInput:
    """An input of a model: a column by its name, or a tensor of numbers.

    Parameters
    ----------
    width : numbers in it. dtype : as the model stores it; empty where any will do.
    is_column : whether the name is that of a column of the table.
    is_category : whether it is taken as a category; None where the model takes it either way.
    values : of a category, those that the model knows.
    """

    name: str
    width: int = 1
    dtype: str = ""
    is_column: bool = True
    is_category: bool | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelOutline:
    """What a model is, as far as its file says it without a table.

    Parameters
    ----------
    library : what wrote it, such as ``scikit-learn 1.7.2``. runtime : what computes its own decisions here, to compare
        with and to confirm counterexamples; empty where that is not installed.
    inputs : in the model's order. steps : what happens to them, one after the other, in words.
    outputs : how many numbers the last step gives. classes : empty for numbers, and where they are not known.
    is_number : whether the decision is a number, so that somebody must say how far two may be apart.
    knows_codes : False where the file has numbers for categories, and not which stands for which.
    assumptions : what the file does not say, and is taken for granted, in sentences.
    rule : what becomes a decision, in words. arithmetic : in which it is computed unless somebody says otherwise.
    output : what a description would say of the output, as far as the file says it; None where that is a guess.
    reads_raw : whether the inputs are the numbers of the table themselves: trees compare them, or the file scales them.
    metadata : texts of the file about itself, by name. Nothing checks them, so they are part of no sentence.
    """

    library: str
    runtime: str
    inputs: tuple[ModelInput, ...]
    steps: tuple[str, ...]
    outputs: int
    rule: str
    arithmetic: Arithmetic
    classes: tuple[Any, ...] = ()
    is_number: bool = False
    notes: tuple[str, ...] = field(default=())
    knows_codes: bool = True
    output: DescribedOutput | None = None
    reads_raw: bool = False
    metadata: tuple[tuple[str, str], ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns that it reads, where it knows their names."""
        return tuple(one.name for one in self.inputs) if all(one.is_column for one in self.inputs) else None

    @property
    def needs_description(self) -> bool:
        """Whether somebody must say which column feeds which input, or which code stands for which category."""
        return self.columns is None or not self.knows_codes

    @property
    def width(self) -> int:
        """Numbers and columns that it takes in all."""
        return sum(one.width for one in self.inputs)

    def sentences(self) -> Iterator[str]:
        """A paragraph, sentence by sentence."""
        yield f"A model of {self.library}."
        yield self._inputs()
        yield f"Then: {'; '.join(self.steps)}." if self.steps else "Nothing is computed before the decision."
        yield f"{_counted(self.outputs, 'output')}; {self.rule}."
        yield f"Computed in {self.arithmetic}." if self.arithmetic is not Arithmetic.EXACT else EXACT
        yield f"Its own decisions come from {self.runtime}." if self.runtime else NO_RUNTIME
        yield from self.notes
        yield from self.assumptions

    def _inputs(self) -> str:
        if self.columns is not None:
            return f"It reads {_counted(len(self.inputs), 'column')}: {listed(self.columns)}."
        parts = [
            f"{quoted(one.name)} ({_counted(one.width, 'number')}{one.dtype and ', ' + one.dtype})"
            for one in self.inputs
        ]
        return f"It takes {listed(parts, quotes=False)}, and does not say which columns these are."


EXACT = "lcifr knows no float arithmetic for it, so verdicts are about real numbers on the stored weights."
NO_RUNTIME = "Its library is not installed here, so its decisions come from lcifr's exact forward pass."


def rule_words(model: Model) -> str:
    """What becomes a decision."""
    rule, names = model.rule, [plainly(label) for label in model.labels] if model.labels is not None else None
    if rule.kind is Kind.NUMBER:
        return "the decision is the number"
    if rule.kind is Kind.CLASS:
        lead = f" by more than {rule.band[1]:.3g}" if rule.band[1] else ""
        classes = f" ({listed(names, quotes=False)})" if names else ""
        return f"the decision is the class{classes} with the largest output{lead}, the first of several"
    first, second = names or ("class 0", "class 1")
    near = f" (within {(rule.band[1] - rule.band[0]) / 2:.1g} of that, rounding decides)"
    width = rule.band[1] - rule.band[0]
    threshold = 0.0 if abs(rule.middle) < width else rule.middle
    return f"the decision is {second} where the output is above {threshold:.6g}{near if width else ''}, else {first}"


def listed(names: Any, *, quotes: bool = True) -> str:
    """The first few names, and how many more."""
    shown = [quoted(name) if quotes else str(name) for name in names[:SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def quoted(text: object) -> str:
    """A text of a file in quotes, in one line, with everything escaped that could pass for text of ours."""
    known = str(text)
    shown = known if len(known) <= LONGEST else f"{known[:LONGEST]}…"
    escaped = json.dumps(shown, ensure_ascii=False)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in escaped)


def plainly(label: object) -> str:
    """The name of a class, in quotes where it is no plain word."""
    return str(label) if PLAIN.fullmatch(str(label)) and len(str(label)) <= LONGEST else quoted(label)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
