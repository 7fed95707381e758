"""Corpus: conditions joined by and, or, not and implies."""

from __future__ import annotations

from lcifr.phi.formula import And, Implies, Not, Or
from tests.phi.corpus.entry import Entry, category, compare, linear, number, pair, same, value, within

YOUNG, OLD = compare("age'", "<=", number("37")), compare("age'", ">", number("37"))
EQUAL_SEX = category("sex'", "=", value("sex"))

ENTRIES = (
    Entry(
        "conjunction",
        "same(categorical) and age within 5 and gpa within 0.2",
        And((same("categorical"), within("5", "age"), within("0.2", "gpa"))),
        (pair({"gpa": 3.4}, {"age": 35.0, "gpa": 3.6}),),
        (pair({}, {"age": 36.0}), pair({}, {"gpa": 3.3}), pair({}, {"sex": "male"})),
    ),
    Entry(
        "disjunction",
        "age' <= 37 or same(sex)",
        Or((YOUNG, same("sex"))),
        (pair({}, {"age": 50.0}), pair({}, {"sex": "male"})),
        (pair({}, {"age": 50.0, "sex": "male"}),),
    ),
    Entry(
        "and_binds_before_or",
        "age' <= 37 and same(sex) or age' > 37 and same(race)",
        Or((And((YOUNG, same("sex"))), And((OLD, same("race"))))),
        (pair({}, {"race": "Black"}), pair({}, {"age": 40.0, "sex": "male"})),
        (pair({}, {"sex": "male"}), pair({}, {"age": 40.0, "race": "Black"})),
    ),
    Entry(
        "parentheses_keep_their_shape",
        "(age' <= 37 and same(sex)) and (same(race) or age' > 37)",
        And((And((YOUNG, same("sex"))), Or((same("race"), OLD)))),
        (pair({}, {"gpa": 0.0}),),
        (pair({}, {"sex": "male"}), pair({}, {"race": "Black"}), pair({}, {"age": 40.0})),
    ),
    Entry(
        "negation",
        "not age within 5",
        Not(within("5", "age")),
        (pair({}, {"age": 35.1}), pair({}, {"age": 24.9})),
        (pair({}, {"age": 35.0}), pair({}, {})),
    ),
    Entry(
        "negated_set",
        "not same(age, sex)",
        Not(same("age", "sex")),
        (pair({}, {"age": 31.0}), pair({}, {"sex": "male"}), pair({}, {"age": 31.0, "sex": "male"})),
        (pair({}, {"gpa": 1.0}),),
    ),
    Entry(
        "negated_group_within",
        "not work within 2",
        Not(within("2", "work")),
        (pair({}, {"gpa": 0.9}), pair({}, {"hours per week": 37})),
        (pair({}, {"gpa": 1.0, "hours per week": 38}),),
    ),
    Entry(
        "double_negation",
        "not not age' <= 37",
        Not(Not(YOUNG)),
        (pair({}, {"age": 37.0}),),
        (pair({}, {"age": 37.1}),),
    ),
    Entry(
        "negated_disjunction",
        "not (age' <= 37 or sex' = sex)",
        Not(Or((YOUNG, EQUAL_SEX))),
        (pair({}, {"age": 38.0, "sex": "male"}),),
        (pair({}, {"age": 38.0}), pair({}, {"sex": "male"})),
    ),
    Entry(
        "negated_conjunction",
        "not (age' <= 37 and sex' = sex)",
        Not(And((YOUNG, EQUAL_SEX))),
        (pair({}, {"age": 38.0}), pair({}, {"sex": "male"})),
        (pair({}, {}),),
    ),
    Entry(
        "negated_comparisons",
        "not gpa' = gpa and not gpa' < 1 and not sex' != sex",
        And(
            (
                Not(compare("gpa'", "=", "gpa")),
                Not(compare("gpa'", "<", number("1"))),
                Not(category("sex'", "!=", value("sex"))),
            )
        ),
        (pair({}, {"gpa": 1.0}),),
        (pair({}, {}), pair({}, {"gpa": 0.9}), pair({}, {"gpa": 1.0, "sex": "male"})),
    ),
    Entry(
        "implication",
        'sex = "female" implies age within 5',
        Implies(category("sex", "=", "female"), within("5", "age")),
        (pair({}, {"age": 35.0}), pair({"sex": "male"}, {"age": 99.0})),
        (pair({}, {"age": 36.0}),),
    ),
    Entry(
        "implication_groups_to_the_right",
        "age' <= 37 implies sex' = sex implies same(race)",
        Implies(YOUNG, Implies(EQUAL_SEX, same("race"))),
        (pair({}, {"age": 40.0, "race": "Black"}), pair({}, {"sex": "male", "race": "Black"}), pair({}, {})),
        (pair({}, {"race": "Black"}),),
    ),
    Entry(
        "implication_grouped_left",
        "(age' <= 37 implies sex' = sex) implies same(race)",
        Implies(Implies(YOUNG, EQUAL_SEX), same("race")),
        (pair({}, {"sex": "male", "race": "Black"}), pair({}, {})),
        (pair({}, {"race": "Black"}), pair({}, {"age": 40.0, "race": "Black"})),
    ),
    Entry(
        "implication_under_conditions",
        'sex = "female" and age <= 37 implies same(race) and gpa within 1',
        Implies(
            And((category("sex", "=", "female"), compare("age", "<=", number("37")))),
            And((same("race"), within("1", "gpa"))),
        ),
        (pair({}, {"gpa": 4.0}), pair({"sex": "male"}, {"race": "Black", "gpa": 0.0})),
        (pair({}, {"gpa": 4.1}), pair({}, {"race": "Black"})),
    ),
    Entry(
        "negated_implication",
        "not (age' <= 37 implies sex' = sex)",
        Not(Implies(YOUNG, EQUAL_SEX)),
        (pair({}, {"sex": "male"}),),
        (pair({}, {}), pair({}, {"age": 40.0, "sex": "male"})),
    ),
    Entry(
        "conditional_on_a_threshold",
        """same(categorical) and
( age <= 37 and age' <= 37 and age within 0.2 sd or
  age > 37 and age' > 37 and age within 0.4 sd )""",
        And(
            (
                same("categorical"),
                Or(
                    (
                        And((compare("age", "<=", number("37")), YOUNG, within("0.2", "age", sd=True))),
                        And((compare("age", ">", number("37")), OLD, within("0.4", "age", sd=True))),
                    )
                ),
            )
        ),
        (
            pair({"age": 36.0}, {"age": 37.0}),
            pair({"age": 30.0}, {"age": 28.0}),
            pair({"age": 38.6}, {"age": 42.6}),
            pair({"age": 38.6}, {"age": 37.1}),
        ),
        (
            pair({"age": 36.0}, {"age": 37.1}),
            pair({"age": 30.0}, {"age": 32.1}),
            pair({"age": 38.6}, {"age": 37.0}),
            pair({"age": 38.6}, {"age": 42.7}),
        ),
    ),
    Entry(
        "false_on_oneself",
        "age' > age or age' < age - 1 or sex' != sex",
        Or(
            (
                compare("age'", ">", "age"),
                compare("age'", "<", linear("age", constant="-1")),
                category("sex'", "!=", value("sex")),
            )
        ),
        (pair({}, {"age": 30.1}), pair({}, {"age": 28.9}), pair({}, {"sex": "male"})),
        (pair({}, {}), pair({}, {"age": 29.0})),
    ),
)
