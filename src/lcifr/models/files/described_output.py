"""Rules and class names that a description declares for a model whose file has a rule of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.models.files.description import DescribedOutput, DescriptionError, Label, Meaning
from lcifr.models.rule import Kind, Rule


def check_meaning(described: DescribedOutput, rule: Rule, where: str) -> None:
    """Refuse a meaning that outputs cannot have which decide by ``rule`` when nothing is declared.

    Raises
    ------
    DescriptionError
        For numbers that are said to be classes and the reverse, and for one score where there are several.
    """
    is_number = rule.kind is Kind.NUMBER
    if is_number != (described.meaning is Meaning.NUMBER):
        decides = "predicts a number" if is_number else f"decides between {rule.classes} classes"
        fix = 'meaning = "number"' if is_number else 'use meaning = "class", or "probability" with a threshold'
        raise DescriptionError(f'{where} {decides}: meaning = "{described.meaning}" is for other models', fix=fix)
    if described.has_threshold and rule.kind is not Kind.SIGN:
        raise DescriptionError(
            f"{where} decides between {rule.classes} classes by {rule.outputs} numbers: threshold = "
            f"{described.threshold!r} is for two classes and one number",
            fix='use meaning = "scores", without comparison and threshold',
        )
    if described.meaning is Meaning.SCORES and rule.kind is Kind.SIGN:
        raise DescriptionError(
            f'{where} decides between two classes by one number: meaning = "scores" is for one number per class',
            fix='use meaning = "class" for the library\'s own rule, or "probability" with comparison and threshold',
        )


def declared_labels(
    described: DescribedOutput, own: Sequence[Any] | NDArray[Any], where: str, *, named: bool = False
) -> NDArray[Any]:
    """The names of the classes that a description gives, else the model's own.

    Parameters
    ----------
    named : whether the model's own names mean something: then other names may replace them, but not the same ones in
        another order.
    """
    labels = list(own)
    if not described.classes:
        return np.asarray(own)
    if len(described.classes) != len(labels):
        raise DescriptionError(
            f"{where} has {len(labels)} classes, its description {len(described.classes)}",
            fix="name each class once, in the order of the model's",
        )
    texts, given = [str(label) for label in labels], [str(label) for label in described.classes]
    if named and texts != given and set(texts) & set(given):
        raise DescriptionError(
            f"{where} has the classes {', '.join(texts)}, its description {', '.join(given)}",
            fix="leave classes out, or name them in the order of the model's",
        )
    return renamed(described.classes)


def renamed(classes: Sequence[Label]) -> NDArray[Any]:
    """Names of classes as an array: of one type, else as they are."""
    kinds = {type(one) for one in classes}
    return np.array(classes, dtype=None if len(kinds) == 1 else object)
