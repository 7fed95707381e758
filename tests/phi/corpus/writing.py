"""Corpus: what does not change the meaning: comments, white space, quoted names."""

from __future__ import annotations

from lcifr.phi.formula import And, Or
from tests.phi.corpus.entry import Entry, category, compare, number, pair, same, within

ENTRIES = (
    Entry(
        "comments",
        "# who is similar\nsame(categorical) and # every category\n\n  age within 5 # years\n# that is all",
        And((same("categorical"), within("5", "age"))),
        (pair({}, {"age": 35.0}),),
        (pair({}, {"age": 36.0}),),
    ),
    Entry(
        "comment_sign_in_a_value",
        'citizen = "yes" # not "no"',
        category("citizen", "=", "yes"),
        (pair({}, {"citizen": 'no, "sort of #2"'}),),
        (pair({"citizen": 'no, "sort of #2"'}, {}),),
    ),
    Entry(
        "windows_file",
        "\ufeffsame(sex) and\r\n\tage within 5\r\n",
        And((same("sex"), within("5", "age"))),
        (pair({}, {"age": 35.0}),),
        (pair({}, {"age": 36.0}),),
    ),
    Entry(
        "quoted_name",
        "`hours per week`' <= 40",
        compare("hours per week'", "<=", number("40")),
        (pair({}, {"hours per week": 40}),),
        (pair({}, {"hours per week": 41}),),
    ),
    Entry(
        "quoted_names_in_sets",
        "`age`, `hours per week` within 2 and same(numeric except `hours per week`, age)",
        And((within("2", "age", "hours per week"), same("numeric", but=("hours per week", "age")))),
        (pair({}, {"hours per week": 42, "age": 28.0}),),
        (pair({}, {"hours per week": 43}), pair({}, {"gpa": 3.1})),
    ),
    Entry(
        "letters_beyond_ascii",
        "größe' >= größe",
        compare("größe'", ">=", "größe"),
        (pair({}, {}), pair({}, {"größe": 1.71})),
        (pair({}, {"größe": 1.69}),),
    ),
    Entry(
        "no_spaces",
        'age\'<=37and(sex="male"or`age`within 5)',
        And(
            (
                compare("age'", "<=", number("37")),
                Or((category("sex", "=", "male"), within("5", "age"))),
            )
        ),
        (pair({}, {"age": 35.0}), pair({"sex": "male"}, {"age": 0.0})),
        (pair({}, {"age": 36.0}), pair({"sex": "male"}, {"age": 37.1})),
    ),
)
