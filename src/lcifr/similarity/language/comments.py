"""Comments in the text of a formula, told apart from # in names and values."""

from __future__ import annotations

import re

_NAME_OR_COMMENT = re.compile(r'("(?:[^"\\\r\n]|\\[^\r\n])*"|`(?:[^`\\\r\n]|\\[^\r\n])*`)|#[^\r\n]*')


def blank_comments(text: str) -> str:
    """The text with a space in place of every comment."""
    return _NAME_OR_COMMENT.sub(lambda found: found[1] or " ", text.removeprefix("\ufeff"))


def drop_comments(text: str) -> str:
    """The lines that hold some of the formula, without comments.

    Examples
    --------
    >>> drop_comments('# who is similar?\\n\\nsame(job) and  # the same job\\n  team = "#1"\\n')
    'same(job) and\\n  team = "#1"'
    """
    return "\n".join(line.rstrip() for line in blank_comments(text).splitlines() if line.strip())
