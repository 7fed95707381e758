"""Comments in the text of a formula, told apart from # in names and values."""

from __future__ import annotations

import re

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
