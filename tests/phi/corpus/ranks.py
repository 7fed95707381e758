"""Corpus: ranks within groups.

The training people's distinct grades: White 2, 2.5, 3, 3.5; Black 1.5, 3; Asian 2, 4; not White 1.5, 2, 3, 4.
"""

from __future__ import annotations

from tests.phi.corpus.entry import Entry, absolute, compare, linear, number, pair, rank

_GAP = linear(absolute(rank("gpa'", "race", "White"), ("-1", rank("gpa", "race", "White"))))

ENTRIES = (
    Entry(
        "rank_difference",
        """|rank(gpa' by race' = "White") - rank(gpa by race = "White")| < 2""",
        compare(_GAP, "<", number("2")),
        (
            pair({"gpa": 3.5}, {"gpa": 4.0, "race": "Black"}),  # 1 and 1
            pair({"gpa": 3.5}, {"gpa": 3.0, "race": "Asian"}),  # 1 and 2
            pair({"gpa": 3.2}, {"gpa": 2.0, "race": "Asian"}),  # 2 and 3: a grade that nobody had
            pair({"gpa": 2.0}, {"gpa": 0.1}),  # 4 and 5
        ),
        (
            pair({"gpa": 3.5}, {"gpa": 2.9, "race": "Asian"}),  # 1 and 3
            pair({"gpa": 2.0}, {"gpa": 3.0, "race": "Black"}),  # 4 and 2
        ),
    ),
    Entry(
        "rank_by_the_rest_is_the_same",
        """|rank(gpa' by race' != "White") - rank(gpa by race not in {"White"})| < 2""",
        compare(_GAP, "<", number("2")),
        (pair({"gpa": 3.5}, {"gpa": 3.0, "race": "Asian"}),),
        (pair({"gpa": 3.5}, {"gpa": 2.9, "race": "Asian"}),),
    ),
    Entry(
        "rank_in_every_category",
        "rank(gpa' by race') <= rank(gpa by race)",
        compare(linear(rank("gpa'", "race")), "<=", linear(rank("gpa", "race"))),
        (
            pair({"gpa": 3.0}, {"gpa": 1.5, "race": "Black"}),  # 2 and 2
            pair({"gpa": 3.0}, {"gpa": 2.0, "race": "Asian"}),  # 2 and 2
        ),
        (
            pair({"gpa": 3.5}, {"gpa": 2.0, "race": "Asian"}),  # 1 and 2
            pair({"gpa": 3.0}, {"gpa": 1.4, "race": "Black"}),  # 2 and 3
        ),
    ),
    Entry(
        "rank_in_a_list",
        """rank(gpa' by race' in {"White", "Black"}) = 3""",
        compare(linear(rank("gpa'", "race", "White", "Black")), "=", number("3")),
        (pair({}, {"gpa": 2.5}), pair({}, {"race": "Black", "gpa": 2.6}), pair({}, {"race": "Asian", "gpa": 1.9})),
        (pair({}, {"gpa": 2.4}), pair({}, {"race": "Asian", "gpa": 2.0}), pair({}, {"gpa": 3.0})),
    ),
    Entry(
        "rank_among_numbers",
        """2*rank(gpa by race = "White") - 1 >= 0.1*age""",
        compare(linear(("2", rank("gpa", "race", "White")), constant="-1"), ">=", linear(("0.1", "age"))),
        (pair({"gpa": 3.0}, {}), pair({"gpa": 2.0, "age": 70.0}, {})),
        (pair({"gpa": 3.0, "age": 30.1}, {}), pair({"gpa": 3.5}, {"gpa": 2.0})),
    ),
)
