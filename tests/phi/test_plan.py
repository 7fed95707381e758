"""Plans of cells: what is refused, and with which way out."""

from __future__ import annotations

import pytest

from lcifr.errors import RegionError
from lcifr.phi import Similarity
from lcifr.phi.similarity import MAX_CELLS
from tests.regions.example import ENCODING, PEOPLE, SCHEMA, region


def test_too_many_cells_are_refused_with_their_number_and_the_part():
    pieces = " and ".join(f"(gpa' <= {k} or score' >= {k})" for k in range(1, 10))
    with pytest.raises(RegionError) as caught:
        region(f"same(categorical, age) and gpa, score within 5 and {pieces} and (age' <= 9 or sex' = sex)")
    message = str(caught.value)
    assert f"at most {MAX_CELLS} cells" in message
    assert any(str(MAX_CELLS + extra) in message for extra in range(1, 8 * MAX_CELLS + 2))
    assert "^^^" in message
    assert "line 1, column" in message
    assert "Fix:" in message


def test_as_many_as_are_allowed_are_not_refused():
    values = " or ".join(f"(city' = \"{city}\" and age' <= {k})" for city in "ABCDEFGH" for k in range(32))
    similarity = Similarity(f"same(sex) and numeric within 1 and ({values})", SCHEMA, ENCODING)
    assert len(similarity.plans) <= MAX_CELLS  # those that another contains do not count
    similarity.region(PEOPLE)


def test_a_rank_beside_other_values_is_refused_with_a_way_out():
    with pytest.raises(RegionError, match="half-space") as caught:
        region("same(all except gpa) and rank(gpa' by sex') + gpa' <= 3")
    assert "Fix:" in str(caught.value)
