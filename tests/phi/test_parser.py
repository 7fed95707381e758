"""The parser: every text of the corpus gives its tree, and everything the language refuses is refused with a reason."""

from __future__ import annotations

import re
import time

import pytest

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.errors import SimilarityError
from lcifr.phi.formula import And, Comparison, Not, Same
from lcifr.phi.parser import MAX_LENGTH, MAX_NESTING, diagnose, parse
from tests.phi.corpus import CORPUS, SCHEMA, Entry

ODD = Schema(
    (Numeric("in"), Numeric("all"), Numeric("hours per week"), Numeric("a`b\\c"), Categorical("not", ("x\ny", "\\"))),
    target="hired",
)


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_corpus_text_gives_its_tree(entry: Entry) -> None:
    assert parse(entry.text, SCHEMA) == entry.tree


def test_nodes_know_where_they_stood() -> None:
    text = "same(sex) and\n  ( age' <= 3 or not gpa within 0.2 sd )"
    formula = parse(text, SCHEMA)
    assert isinstance(formula, And)
    same, either = formula.parts
    low, negation = either.parts  # type: ignore[union-attr]
    assert [text[node.span.start : node.span.end] for node in (formula, same, low, negation, negation.part)] == [
        text,
        "same(sex)",
        "age' <= 3",
        "not gpa within 0.2 sd",
        "gpa within 0.2 sd",
    ]


def test_names_that_are_words_of_the_language_stand_in_backticks() -> None:
    formula = parse("`in`' <= `all` and `hours per week` = 1 and `a\\`b\\\\c`' = 2", ODD)
    assert isinstance(formula, And)
    first, _, last = formula.parts
    assert isinstance(first, Comparison)
    assert isinstance(last, Comparison)
    names = [variable.attribute for _, variable in (*first.left.terms, *first.right.terms, *last.left.terms)]  # type: ignore[union-attr]
    assert names == ["in", "all", "a`b\\c"]


def test_values_with_line_ends_and_backslashes_are_escaped() -> None:
    formula = parse('`not` not in {"x\\ny", "\\\\"}', ODD)
    assert isinstance(formula, Not)
    assert formula.part.values == ("x\ny", "\\")  # type: ignore[union-attr]


def test_all_is_the_set_even_where_an_attribute_has_that_name() -> None:
    formula = parse("same(all)", ODD)
    assert isinstance(formula, Same)
    with pytest.raises(SimilarityError, match="always means the set"):
        parse("same(`all`)", ODD)


REFUSED = [
    # text, the place the error points at, what it must say
    ("age'*gpa' <= 3", "age'*gpa'", "product of attributes is not linear"),
    ("0*age*gpa <= 3", "0*age*gpa", "product of attributes"),
    ("|age|*|gpa| <= 3", "|age|*|gpa|", "product of attributes"),
    ("age/2 <= 3", "age/2", "division"),
    ("2/age <= 3", "2/age", "dividing by an attribute"),
    ("age**2 <= 3", "age**2", "powers"),
    ("age^2 <= 3", "age^2", "powers"),
    ("||age| - 2| <= 3", "||age| - 2|", "absolute value inside another"),
    ('race < "White"', 'race < "White"', "categories have no order"),
    ('"White" >= race', '"White" >= race', "categories have no order"),
    ("race' > race", "race' > race", "categories have no order"),
    ('race = "Whte"', '"Whte"', 'no value "Whte". Did you mean "White"?'),
    ('race in {"White", "Blakc"}', '"Blakc"', 'Did you mean "Black"?'),
    ("race' = White", "White", "values stand in double quotes"),
    ("race' in {White}", "White", 'Fix: write "White"'),
    ("race' in {}", "}", "expected a value in double quotes"),
    ('race in {"White", "White"}', '"White"}', "listed twice"),
    ("race within 3", "race", "there is no distance between categories"),
    ("all within 0.3 sd", "all", "race, sex, partner_race, citizen are categories"),
    ("age, sex within 3", "age, sex", "sex is a category"),
    ("age within -3", "-3", "cannot be negative"),
    ("age within -0.3 sd", "-0.3 sd", "cannot be negative"),
    ("age' - age <= 0.3 sd", "sd", "write gpa within 0.2 sd"),
    ("age within 5 years", "years", "units are not written"),
    ('age = "30"', '"30"', "cannot be compared with text"),
    ("race = 3", "race = 3", "cannot be compared with a number"),
    ("3 = race", "3 = race", "cannot be compared with a number"),
    ("race + 1 = 3", "race", "is a category"),
    ("age = race", "age = race", "race is a category and age a number"),
    ('age + "1" = 2', '"1"', "text cannot be calculated with"),
    ('"a" = "b"', '"a" = "b"', "two texts"),
    ("race = sex", "race = sex", "no value in common"),
    ("admitted = 1", "admitted", "is the target"),
    ("same(all except admitted)", "admitted", "is the target"),
    ("agee <= 3", "agee", 'Did you mean "age"?'),
    ("same(categoricl)", "categoricl", 'Did you mean "categorical"?'),
    ("same(wrok)", "wrok", 'Did you mean "work"?'),
    ("xyzzy <= 3", "xyzzy", "the attributes are age, gpa, `hours per week`"),
    ("same(age except numeric)", "age except numeric", "this set is empty"),
    ("same(all) and free(sex)", "free(sex)", "line 1, column 1 asks something of it"),
    ("same(all) and free(sex)", "free(sex)", "or out of that condition: all except sex"),
    ("same(all except age) and free(sex)", "free(sex)", "all except age, sex"),
    ("free(work) and\ngpa' >= 2", "free(work)", "line 2, column 1 asks something of it"),
    ("free(age) and rank(age' by sex') < 3", "free(age)", "asks something of it"),
    ("same(age) or free(sex)", "free(sex)", "cannot stand under or"),
    ("not free(sex)", "free(sex)", "cannot stand under or, not"),
    ("same(age) and (age <= 3 implies free(sex))", "free(sex)", "(…) and free(sex)"),
    ("free(sx)", "sx", 'Did you mean "sex"?'),
    ("free(sex')", "'", "not one person's values"),
    ("free(sex, sex)", "sex)", "named twice"),
    ("free(sex except sex)", "sex except sex", "this set is empty"),
    ("fre(sex)", "(", 'Did you mean "free"?'),
    ("same(numeric except sex)", "sex", "not among what it is excepted from"),
    ("same(age, age)", "age)", "named twice"),
    ("rank(race by race) < 3", "race", "has no rank"),
    ("rank(gpa by age) < 3", "age", "only categories form groups"),
    ("rank(gpa' by race) < 3", "rank(gpa' by race)", "put a prime on both names"),
    ('rank(gpa by race\' = "White") < 3', "rank", "put a prime on both names"),
    ('rank(gpa by race < "White") < 3', "<", "categories have no order"),
    ('rank(gpa by race = "Wite") < 3', '"Wite"', "Did you mean"),
    ("rank(gpa) < 3", ")", "expected by"),
    ("same(age')", "'", "not one person's values"),
    ("age' within 3", "within", "carry no prime"),
    ("age'' = 3", "' =", "one prime"),
    ("race' = 'White'", "'White'", "double quotes"),
    ('"age" within 3', '"age"', "stand in backticks or bare: age"),
    ("age == 3", "==", "write ="),
    ("age ≤ 3", "≤", "write <="),
    ("age <> 3", "<>", "write !="),
    ("gpa − age < 3", "−", "write -"),
    ("age = 3 & gpa = 2", "&", "write and"),
    ("age = 3 AND gpa = 2", "AND", 'Did you mean "and"?'),
    ("NOT age = 3", "NOT", "small letters"),
    ("age = 3 adn gpa = 2", "adn", 'Did you mean "and"?'),
    ("saem(all)", "(", 'Did you mean "same"?'),
    ("age wihtin 3", "wihtin", 'Did you mean "within"?'),
    ("(numeric except age) within 3", ")", "without parentheses"),
    ("(age) within 3", "within", "without parentheses"),
    ("hours per week' <= 40", "per", "`hours per week`"),
    ("hours-per-week' <= 40", "hours", "Did you mean `hours per week`?"),
    ("|age' <= 3", "<=", "expected the closing |"),
    ("2 age <= 3", "age", "write 2*age"),
    ("numeric' <= 3", "numeric'", "is a set of attributes"),
    ("work <= 3", "work", "is a set of attributes"),
    ('age in {"30"}', 'age in {"30"}', "only a category"),
    ("age < gpa > 3", "age < gpa > 3", "must point the same way"),
    ("age != gpa != 3", "age != gpa != 3", "must point the same way"),
    ("age <= 1e999999", "1e999999", "too large"),
    ("age <= 1e-999", "1e-999", "too many digits"),
    ("age <= 1" + "0" * 5000, "1" + "0" * 5000, "too large"),
    ("1e60*1e60*age <= 3", "1e60*1e60*age", "too large"),
    ("", "", "the formula is empty"),
    ("  # nothing\n", "", "the formula is empty"),
    ("same(all", "", "ends too early; expected a comma or )"),
    ("age <= 3 and", "", "ends too early; expected a condition"),
    ("age <= 3, gpa <= 3", ", gpa", "expected"),
    ("age", "", "ends too early; expected within or a comparison"),
    ('sex = "male', '"male', "never closed"),
    ("`age <= 3", "`age", "never closed"),
    ("age\x00 <= 3", "\x00", "U+0000"),
    ("age <= 3 \ud800", "\ud800", "U+D800"),
    ("age <= 3 $", "$", "not a symbol of the language"),
]


@pytest.mark.parametrize(
    ("text", "place", "said"), REFUSED, ids=[text[:40].encode("unicode_escape").decode() for text, *_ in REFUSED]
)
def test_refusals_name_the_place_and_the_reason(text: str, place: str, said: str) -> None:
    with pytest.raises(SimilarityError) as caught:
        parse(text, SCHEMA, source="similar.phi")
    error = caught.value
    message = str(error)
    message.encode("utf-8")  # any file or terminal can show it
    assert said in message
    assert message.startswith(f"similar.phi, line {error.line}, column {error.column}: ")
    assert error.source == "similar.phi"
    assert error.line is not None
    assert error.column is not None
    line = re.split(r"\r\n|\r|\n", text)[error.line - 1]
    assert line[error.column - 1 :].startswith(place)
    assert "$END" not in message
    assert not re.search(r"\b(LPAR|RPAR|VBAR|COMPARE|QUOTED|STRING|NUMBER)\b", message)


def test_reserved_words_that_the_schema_uses_are_explained() -> None:
    with pytest.raises(SimilarityError, match="the attribute is written `in`"):
        parse("in' <= 3", ODD)


@pytest.mark.parametrize(
    "text", ['agee <= 3 and\nsxe = "male"', "same(", "age <=", "🙂 and age = 3", "same(agee, ages) or"]
)
def test_diagnoses_are_what_the_error_shows_each_at_its_place(text: str) -> None:
    found = diagnose(text, SCHEMA)
    with pytest.raises(SimilarityError) as refused:
        parse(text, SCHEMA)
    assert found
    assert list(found) == sorted(found, key=lambda one: one.span.start)
    assert all(one.message in str(refused.value) and 0 <= one.span.start <= one.span.end <= len(text) for one in found)


def test_a_formula_has_nothing_to_diagnose() -> None:
    assert all(diagnose(entry.text, SCHEMA) == () for entry in CORPUS)


def test_every_problem_with_names_is_reported_at_once() -> None:
    with pytest.raises(SimilarityError) as caught:
        parse("agee <= 3 and\nsxe = \"male\" and\nrace = 'x'".replace("'x'", '"Blakc"'), SCHEMA)
    message = str(caught.value)
    assert [f"line {line}," in message for line in (1, 2, 3)] == [True] * 3
    assert message.count("Did you mean") == 3
    assert (caught.value.line, caught.value.column) == (1, 1)


def test_the_line_and_the_caret_stand_below_each_other() -> None:
    with pytest.raises(SimilarityError) as caught:
        parse("same(sex) and\r\n\tgröße' <= ages'  # 3", SCHEMA)
    head, line, caret, *_ = str(caught.value).splitlines()
    assert head.startswith("formula, line 2, column 12: ")
    assert line == "     größe' <= ages'  # 3"
    assert caret == " " * line.index("ages") + "^" * len("ages'")


def test_a_very_long_line_is_cut_around_the_place() -> None:
    with pytest.raises(SimilarityError) as caught:
        parse(" and ".join(["age <= 3"] * 500 + ["agee <= 3"] + ["age <= 3"] * 500), SCHEMA)
    _, line, caret, *_ = str(caught.value).splitlines()
    assert len(line) < 130
    assert line[caret.index("^") :].startswith("agee <= 3")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "(" * 10_000 + "age = 3" + ")" * 10_000,
        "same(" * 200 + "age" + ")" * 200,
        "not " * 10_000 + "age = 3",
        "age = 3 implies " * 3_000 + "age = 3",
        "age = 3 and " * 50_000,
        "|" * 10_000,
        "1.1*" * 5_000 + "age = 3",
        "same(" + "age," * 10_000 + "age)",
        "race in {" + '"x",' * 10_000 + '"x"}',
        "\n".join(f"x{i} = 1 and" for i in range(3_000)) + " age = 3",
        "same(all except " + ",".join(f"agee{i}" for i in range(5_000)) + ")",
    ],
    ids=["open", "closed", "same", "not", "implies", "long", "bars", "digits", "twice", "values", "names", "except"],
)
def test_what_is_too_deep_or_too_long_is_refused_quickly(text: str) -> None:
    started = time.process_time()
    with pytest.raises(SimilarityError) as caught:
        parse(text, SCHEMA)
    assert caught.value.line is not None
    assert len(str(caught.value)) < 10_000
    assert time.process_time() - started < 5


def test_nesting_and_length_up_to_the_limits_are_read() -> None:
    deep = "(" * MAX_NESTING + "age = 3" + ")" * MAX_NESTING
    assert parse(deep, SCHEMA) == parse("age = 3", SCHEMA)
    parse("not " * (MAX_NESTING - 1) + "age = 3", SCHEMA)
    parse("-" * 1000 + "age = 3", SCHEMA)
    parse("age = 3 #" + "x" * (MAX_LENGTH - 9), SCHEMA)
