"""Parser of similarity formulas: text and schema to syntax tree."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import resources

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedToken

from lcifr.data.schema import Schema
from lcifr.errors import SimilarityError
from lcifr.similarity.language.constrained_attributes import check_free_clauses
from lcifr.similarity.language.diagnostics import Diagnostic, Diagnostics
from lcifr.similarity.language.formula import Formula, Span, parts_of
from lcifr.similarity.language.syntax_errors import MisplacedToken, explain_character
from lcifr.similarity.language.syntax_hints import explain_token
from lcifr.similarity.language.tree_builder import TreeBuilder

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
    grammar = resources.files("lcifr.similarity.language").joinpath("grammar.lark").read_text(encoding="utf-8")
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
