"""Corpus: linear comparisons, absolute values, ties and decimals."""

from __future__ import annotations

from lcifr.similarity.language.formula import And

from .entry import Entry, absolute, compare, linear, number, pair

ENTRIES = (
    Entry(
        "at_most",
        "gpa' <= 3.4",
        compare("gpa'", "<=", number("3.4")),
        (pair({}, {"gpa": 3.4}), pair({"gpa": 4.0}, {"gpa": 0.0})),
        (pair({}, {"gpa": 3.4000001}),),
    ),
    Entry(
        "less_than",
        "gpa' < 3.4",
        compare("gpa'", "<", number("3.4")),
        (pair({}, {"gpa": 3.3999999}),),
        (pair({}, {"gpa": 3.4}), pair({}, {"gpa": 3.5})),
    ),
    Entry(
        "equals_a_number",
        "gpa' = 0.3",
        compare("gpa'", "=", number("0.3")),
        (pair({}, {"gpa": 0.3}),),
        (pair({}, {"gpa": 0.30000000000000004}), pair({}, {"gpa": 0.29})),
    ),
    Entry(
        "is_not_the_same",
        "gpa' != gpa",
        compare("gpa'", "!=", "gpa"),
        (pair({}, {"gpa": 3.1}), pair({"gpa": 0.3}, {"gpa": 0.30000000000000004})),
        (pair({"gpa": 0.3}, {}),),
    ),
    Entry(
        "more_than_the_other",
        "age > age'",
        compare("age", ">", "age'"),
        (pair({}, {"age": 29.9}),),
        (pair({}, {}), pair({}, {"age": 30.1})),
    ),
    Entry(
        "at_least_with_a_constant",
        "age' >= age + 5",
        compare("age'", ">=", linear("age", constant="5")),
        (pair({}, {"age": 35.0}), pair({"age": 0.1}, {"age": 5.1})),
        (pair({}, {"age": 34.9}),),
    ),
    Entry(
        "number_first",
        "18 <= age",
        compare(number("18"), "<=", "age"),
        (pair({}, {}), pair({"age": 18.0}, {})),
        (pair({"age": 17.9}, {"age": 18.0}),),
    ),
    Entry(
        "weighted",
        "2*age' - age <= 3*gpa + 21",
        compare(linear(("2", "age'"), ("-1", "age")), "<=", linear(("3", "gpa"), constant="21")),
        (pair({}, {"age": 30.0}), pair({}, {"gpa": 0.0})),
        (pair({}, {"age": 30.1}), pair({"gpa": 2.9}, {})),
    ),
    Entry(
        "factor_behind",
        "age'*2 <= 80",
        compare(linear(("2", "age'")), "<=", number("80")),
        (pair({}, {"age": 40.0}),),
        (pair({}, {"age": 40.5}),),
    ),
    Entry(
        "parentheses_and_signs",
        "2*(age' - age) - -gpa*0.5 + (1 - 2) <= 3.5",
        compare(linear(("2", "age'"), ("-2", "age"), ("0.5", "gpa"), constant="-1"), "<=", number("3.5")),
        (pair({}, {"age": 31.5}),),
        (pair({}, {"age": 31.6}),),
    ),
    Entry(
        "decimal_tie_at_most",
        "gpa' - gpa <= 0.2",
        compare(linear("gpa'", ("-1", "gpa")), "<=", number("0.2")),
        (pair({"gpa": 3.4}, {"gpa": 3.6}), pair({"gpa": 0.1}, {"gpa": 0.3}), pair({}, {"gpa": 0.0})),
        (pair({"gpa": 3.4}, {"gpa": 3.61}),),
    ),
    Entry(
        "decimal_tie_less_than",
        "gpa' - gpa < 0.1",
        compare(linear("gpa'", ("-1", "gpa")), "<", number("0.1")),
        (pair({"gpa": 0.2}, {"gpa": 0.29}),),
        (pair({"gpa": 0.2}, {"gpa": 0.3}), pair({"gpa": 0.7}, {"gpa": 0.8}), pair({"gpa": 1.0}, {"gpa": 1.1})),
    ),
    Entry(
        "one_tenth_and_two_tenths",
        "gpa + 0.1*age = 0.3",
        compare(linear("gpa", ("0.1", "age")), "=", number("0.3")),
        (pair({"gpa": 0.2, "age": 1.0}, {}), pair({"gpa": 0.1, "age": 2.0}, {})),
        (pair({"gpa": 0.2, "age": 1.1}, {}), pair({"gpa": 0.30000000000000004, "age": 0.0}, {})),
    ),
    Entry(
        "absolute_difference",
        "|gpa' - gpa| < 0.2",
        compare(linear(absolute("gpa'", ("-1", "gpa"))), "<", number("0.2")),
        (pair({"gpa": 3.4}, {"gpa": 3.59}), pair({"gpa": 3.4}, {"gpa": 3.21})),
        (pair({"gpa": 3.4}, {"gpa": 3.6}), pair({"gpa": 3.4}, {"gpa": 3.2})),
    ),
    Entry(
        "absolute_far_apart",
        "|gpa' - gpa| >= 0.2",
        compare(linear(absolute("gpa'", ("-1", "gpa"))), ">=", number("0.2")),
        (pair({"gpa": 3.4}, {"gpa": 3.6}), pair({"gpa": 3.4}, {"gpa": 1.0})),
        (pair({"gpa": 3.4}, {"gpa": 3.59}), pair({}, {})),
    ),
    Entry(
        "absolute_among_others",
        "3 - 2*|age' - age - 1| >= 1 - 0.5*|größe|",
        compare(
            linear(("-2", absolute("age'", ("-1", "age"), constant="-1")), constant="3"),
            ">=",
            linear(("-0.5", absolute("größe")), constant="1"),
        ),
        (pair({"größe": 2.0}, {"age": 32.5}), pair({"größe": -2.0}, {"age": 29.5}), pair({}, {"age": 31.0})),
        (pair({"größe": 2.0}, {"age": 32.6}), pair({"größe": 0.0}, {"age": 32.5})),
    ),
    Entry(
        "absolute_equals",
        "|age' - age| = 5",
        compare(linear(absolute("age'", ("-1", "age"))), "=", number("5")),
        (pair({}, {"age": 35.0}), pair({}, {"age": 25.0})),
        (pair({}, {}), pair({}, {"age": 34.0})),
    ),
    Entry(
        "chain",
        "18 <= age' < 65",
        And((compare(number("18"), "<=", "age'"), compare("age'", "<", number("65")))),
        (pair({}, {"age": 18.0}), pair({}, {"age": 64.9})),
        (pair({}, {"age": 17.9}), pair({}, {"age": 65.0})),
    ),
    Entry(
        "written_with_exponents",
        ".5*age' >= 1.75e+1 - 25E-1",
        compare(linear(("0.5", "age'")), ">=", number("15")),
        (pair({}, {"age": 30.0}),),
        (pair({}, {"age": 29.9}),),
    ),
    Entry(
        "factor_zero",
        "0*age + gpa' <= 3",
        compare(linear(("0", "age"), "gpa'"), "<=", number("3")),
        (pair({"age": 1000.0}, {}),),
        (pair({}, {"gpa": 3.1}),),
    ),
    Entry(
        "no_attribute_at_all",
        "1 < 2",
        compare(number("1"), "<", number("2")),
        (pair({}, {"age": 1.0, "sex": "male"}),),
        (),
    ),
)
