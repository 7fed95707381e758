"""Colours for formulas, and plain text for what surrounds them on the language's page."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from lcifr.phi.formula import KEYWORDS


class PhiLexer(RegexLexer):
    """The words, names and numbers of a similarity formula."""

    name = "Similarity formula"
    aliases: ClassVar[list[str]] = ["phi"]
    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"#.*$", Comment.Single),
            (r"`(?:\\.|[^`\\])*`'?", Name),
            (r'"(?:\\.|[^"\\])*"', String),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(("all", "numeric", "categorical"), prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", Number),
            (r"[^\W\d]\w*'?", Name),
            (r"[<>=!|*+/^-]+", Operator),
            (r"[(){},]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
        ]
    }


def setup(app: Any) -> dict[str, bool]:
    """Register the lexers with Sphinx."""
    app.add_lexer("phi", PhiLexer)
    for plain in ("english", "refused", "error"):
        app.add_lexer(plain, TextLexer)
    return {"parallel_read_safe": True}
