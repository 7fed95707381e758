"""Corpus: categories compared with their values, with each other, and in lists."""

from __future__ import annotations

from lcifr.phi.formula import Not
from tests.phi.corpus.entry import Entry, category, member, pair, value

ENTRIES = (
    Entry(
        "is_a_value",
        'race\' = "White"',
        category("race'", "=", "White"),
        (pair({"race": "Black"}, {"race": "White"}),),
        (pair({}, {"race": "Black"}),),
    ),
    Entry(
        "is_not_a_value",
        'race != "White"',
        category("race", "!=", "White"),
        (pair({"race": "Asian"}, {"race": "White"}),),
        (pair({}, {"race": "Black"}),),
    ),
    Entry(
        "value_first",
        '"White" = race\'',
        category("race'", "=", "White"),
        (pair({"race": "Black"}, {"race": "White"}),),
        (pair({}, {"race": "Asian"}),),
    ),
    Entry(
        "both_alike",
        "race' = race",
        category("race'", "=", value("race")),
        (pair({}, {}), pair({"race": "Black"}, {"sex": "male"})),
        (pair({}, {"race": "Asian"}),),
    ),
    Entry(
        "both_differ",
        "race != race'",
        category("race", "!=", value("race'")),
        (pair({}, {"race": "Asian"}),),
        (pair({"race": "Asian"}, {}),),
    ),
    Entry(
        "two_attributes_by_name",
        "partner_race' = race",
        category("partner_race'", "=", value("race")),
        (pair({"race": "Asian"}, {"partner_race": "Asian"}), pair({}, {"partner_race": "White"})),
        (pair({}, {}), pair({"race": "Black"}, {"partner_race": "Asian"})),
    ),
    Entry(
        "two_attributes_differ",
        "partner_race != race",
        category("partner_race", "!=", value("race")),
        (pair({}, {}), pair({"race": "Black", "partner_race": "Asian"}, {})),
        (pair({"race": "Asian", "partner_race": "Asian"}, {"race": "White"}),),
    ),
    Entry(
        "one_of_several",
        'race\' in {"White", "Asian"}',
        member("race'", "White", "Asian"),
        (pair({}, {}), pair({}, {"race": "Asian"})),
        (pair({}, {"race": "Black"}),),
    ),
    Entry(
        "none_of_several",
        'race not in {"White", "Asian"}',
        Not(member("race", "White", "Asian")),
        (pair({"race": "Black"}, {"race": "White"}),),
        (pair({}, {"race": "Black"}),),
    ),
    Entry(
        "value_with_quotes",
        'citizen\' = "no, \\"sort of #2\\""',
        category("citizen'", "=", 'no, "sort of #2"'),
        (pair({}, {"citizen": 'no, "sort of #2"'}),),
        (pair({}, {}),),
    ),
    Entry(
        "none_of_one",
        'citizen\' not in {"yes"}',
        Not(member("citizen'", "yes")),
        (pair({}, {"citizen": 'no, "sort of #2"'}),),
        (pair({}, {}),),
    ),
)
