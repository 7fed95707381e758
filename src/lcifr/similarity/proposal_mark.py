"""Mark of a formula proposed by ``lcifr init``, and detection of proposals nobody has edited.

The mark is a comment with a digest of the formula without its comments. It travels with the text (encoder, hand-over,
audit), and becomes invalid as soon as somebody changes the formula.
"""

from __future__ import annotations

import hashlib
import re

from lcifr.similarity.language.comments import blank_comments
from lcifr.similarity.linting.finding import Finding, Severity

DIGITS = 16
_MARK = re.compile(rf"^#.*\(guess ([0-9a-f]{{{DIGITS}}})\)", re.MULTILINE)

UNTOUCHED = Finding(
    "untouched-proposal",
    Severity.WARNING,
    "φ is the unedited draft of lcifr init: a guess from the names and types of the columns. Nobody has confirmed "
    "that these are the people who count as similar; correct it, or delete its first line to adopt it",
)


def mark_of(formula: str) -> str:
    """The comment that marks a proposed formula."""
    return f"(guess {_digest(formula)})"


def is_untouched(text: str) -> bool:
    """Whether a formula is marked as proposed and unchanged since, comments and spaces aside."""
    marks = _MARK.findall(text)
    return bool(marks) and _digest(text) in marks


def _digest(text: str) -> str:
    words = " ".join(blank_comments(text).split())
    return hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]
