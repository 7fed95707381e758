"""Why someone is undecided, in words that a person who is no expert understands."""

from __future__ import annotations

import pytest

from lcifr.certification.verdicts import Reason

JARGON = ("witness", "fractional", "vacuous", "somebody", "nobody", "latent", "relax")


@pytest.mark.parametrize("reason", [one for one in Reason if one])
def test_a_reason_is_a_sentence_without_jargon(reason: Reason) -> None:
    assert not [word for word in JARGON if word in reason.lower()]
    assert reason[0].islower()  # it stands after a colon
    assert not reason.endswith(".")
