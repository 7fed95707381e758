"""Corpus: sets of attributes that are equal, or within a distance."""

from __future__ import annotations

from tests.phi.corpus.entry import Entry, pair, same, within

ENTRIES = (
    Entry(
        "same_all",
        "same(all)",
        same("all"),
        (pair({}, {}), pair({"age": 0.1}, {})),
        (pair({}, {"age": 30.1}), pair({}, {"sex": "male"}), pair({}, {"größe": 1.70001})),
    ),
    Entry(
        "same_all_except",
        "same(all except sex)",
        same("all", but=("sex",)),
        (pair({}, {}), pair({}, {"sex": "male"})),
        (pair({}, {"sex": "male", "age": 31.0}), pair({}, {"race": "Asian"})),
    ),
    Entry(
        "same_numeric",
        "same(numeric)",
        same("numeric"),
        (pair({}, {"race": "Black", "sex": "male"}),),
        (pair({}, {"hours per week": 41}),),
    ),
    Entry(
        "same_categorical",
        "same(categorical)",
        same("categorical"),
        (pair({}, {"age": 99.0, "gpa": 0.0}),),
        (pair({}, {"partner_race": "Asian"}), pair({}, {"citizen": 'no, "sort of #2"'})),
    ),
    Entry(
        "same_names",
        "same(age, race)",
        same("age", "race"),
        (pair({}, {"gpa": 1.0, "sex": "male"}),),
        (pair({}, {"age": 29.0}), pair({}, {"race": "Black"}), pair({}, {"age": 29.0, "race": "Black"})),
    ),
    Entry(
        "same_group",
        "same(work)",
        same("work"),
        (pair({}, {"age": 20.0}),),
        (pair({}, {"gpa": 3.1}), pair({}, {"hours per week": 39})),
    ),
    Entry(
        "same_except_group",
        "same(numeric except work)",
        same("numeric", but=("work",)),
        (pair({}, {"gpa": 1.0, "hours per week": 10}),),
        (pair({}, {"age": 31.0}), pair({}, {"größe": 1.8})),
    ),
    Entry(
        "same_union_except",
        "same(categorical, age except sex, race)",
        same("categorical", "age", but=("sex", "race")),
        (pair({}, {"sex": "male", "race": "Black", "gpa": 1.0}),),
        (pair({}, {"age": 31.0}), pair({}, {"partner_race": "White"})),
    ),
    Entry(
        "within_units",
        "age within 5",
        within("5", "age"),
        (pair({}, {"age": 35.0}), pair({}, {"age": 25.0}), pair({}, {"age": 33.3, "gpa": 0.0})),
        (pair({}, {"age": 35.001}), pair({}, {"age": 24.999})),
    ),
    Entry(
        "within_decimal",
        "gpa within 0.2",
        within("0.2", "gpa"),
        (pair({"gpa": 3.4}, {"gpa": 3.6}), pair({"gpa": 3.6}, {"gpa": 3.4}), pair({"gpa": 0.1}, {"gpa": 0.3})),
        (pair({"gpa": 3.4}, {"gpa": 3.6000001}), pair({"gpa": 0.1}, {"gpa": 0.30000001})),
    ),
    Entry(
        "within_tenth",
        "gpa within 0.1",
        within("0.1", "gpa"),
        (pair({"gpa": 0.2}, {"gpa": 0.3}), pair({"gpa": 0.3}, {"gpa": 0.4}), pair({"gpa": 1.1}, {"gpa": 1.0})),
        (pair({"gpa": 0.2}, {"gpa": 0.31}), pair({"gpa": -0.05}, {"gpa": 0.06})),
    ),
    Entry(
        "within_sd",
        "age within 0.3 sd",
        within("0.3", "age", sd=True),
        (pair({}, {"age": 33.0}), pair({}, {"age": 27.0}), pair({"age": 0.1}, {"age": 3.1})),
        (pair({}, {"age": 33.0001}), pair({}, {"age": 26.9999})),
    ),
    Entry(
        "within_zero",
        "age within 0",
        within("0", "age"),
        (pair({"age": 0.3}, {"sex": "male"}),),
        (pair({"age": 0.3}, {"age": 0.30000000000000004}),),
    ),
    Entry(
        "within_set_in_sd",
        "numeric except work, größe within 1 sd",
        within("1", "numeric", but=("work", "größe"), sd=True),
        (pair({}, {"age": 40.0, "gpa": 1.0}), pair({}, {"age": 20.0})),
        (pair({}, {"age": 40.1}),),
    ),
    Entry(
        "within_group",
        "work within 2",
        within("2", "work"),
        (pair({}, {"gpa": 1.0, "hours per week": 42}),),
        (pair({}, {"gpa": 0.9}), pair({}, {"hours per week": 43})),
    ),
    Entry(
        "within_list",
        "age, gpa within 1",
        within("1", "age", "gpa"),
        (pair({}, {"age": 31.0, "gpa": 2.0}),),
        (pair({}, {"age": 31.5}), pair({}, {"gpa": 4.1})),
    ),
)
