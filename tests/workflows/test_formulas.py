"""How commands take a formula: a file, or the name of one that is ready."""

from __future__ import annotations

import pytest

from lcifr.errors import LcifrError
from lcifr.workflows.people import read_formula


@pytest.mark.parametrize("text", ["numeric within 0.02 sd", "same(all)", "age'<=age"])
def test_a_formula_in_place_of_its_file_is_answered_with_what_to_write(text: str) -> None:
    with pytest.raises(LcifrError, match="a formula is given as a file or by a ready-made name") as refused:
        read_formula(text)
    assert "write the formula to a file" in str(refused.value)
    assert "adult" not in str(refused.value)


def test_a_name_is_still_answered_with_the_nearest() -> None:
    with pytest.raises(LcifrError, match='Did you mean "adult/cat_noise"'):
        read_formula("adult/cat-noise")
    assert read_formula("adult/cat")[1] == "adult/cat"
