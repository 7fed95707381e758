"""The demo: real numbers that add up, a counterexample that holds, proofs that the checker confirms."""

import json

import pytest
from typer.testing import CliRunner

from lcifr.cli import build


@pytest.fixture(scope="module")
def printed() -> list[dict]:
    result = CliRunner().invoke(build(), ["demo", "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_shares_add_up_and_proofs_are_confirmed(printed):
    for row in printed:
        assert row["certified"] + row["violated"] + row["undecided"] == pytest.approx(1)
        assert row["proofs_checked"] == round(200 * row["certified"])
        assert row["proofs_refused"] == 0
        assert row["accuracy"] > 0.65


def test_the_demo_speaks_to_people(tmp_path):
    picture = tmp_path / "demo.svg"
    result = CliRunner().invoke(build(), ["demo", "--picture", str(picture)])
    assert result.exit_code == 0, result.output
    for words in ("who counts as similar", "Free, with any value at all: sex", "certified", "every one confirmed"):
        assert words in result.stdout
    drawn = picture.read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "url(http" not in drawn
