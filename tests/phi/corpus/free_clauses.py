"""Corpus: attributes that are free on purpose, and sets in which nothing is left."""

from __future__ import annotations

from lcifr.phi.formula import And
from tests.phi.corpus.entry import Entry, free, pair, same, within

ENTRIES = (
    Entry(
        "free_one",
        "same(all except sex) and free(sex)",
        And((same("all", but=("sex",)), free("sex"))),
        (pair({}, {}), pair({}, {"sex": "male"})),
        (pair({}, {"race": "Asian"}), pair({}, {"sex": "male", "age": 31.0})),
    ),
    Entry(
        "free_first_and_among_others",
        "free(race) and same(sex, citizen) and free(work) and age within 5",
        And((free("race"), same("sex", "citizen"), free("work"), within("5", "age"))),
        (pair({}, {"race": "Asian", "gpa": 0.1, "age": 35.0, "größe": 1.0}),),
        (pair({}, {"sex": "male"}), pair({}, {"age": 35.1})),
    ),
    Entry(
        "free_a_set_except",
        "same(citizen) and free(categorical except citizen)",
        And((same("citizen"), free("categorical", but=("citizen",)))),
        (pair({}, {"race": "Asian", "sex": "male", "partner_race": "White", "age": 99.0}),),
        (pair({}, {"citizen": 'no, "sort of #2"'}),),
    ),
    Entry(
        "free_in_parentheses",
        "(same(age) and free(sex)) and same(race)",
        And((And((same("age"), free("sex"))), same("race"))),
        (pair({}, {"sex": "male", "gpa": 1.0}),),
        (pair({}, {"age": 31.0}), pair({}, {"race": "Asian"})),
    ),
    Entry(
        "free_all",
        "free(all)",
        free("all"),
        (pair({}, {"sex": "male", "age": 99.0}), pair({}, {})),
        (),
    ),
    Entry(
        "empty_set",
        "same(work except gpa, `hours per week`) and same(sex)",
        And((same("work", but=("gpa", "hours per week")), same("sex"))),
        (pair({}, {"gpa": 1.0, "age": 31.0}),),
        (pair({}, {"sex": "male"}),),
    ),
)
