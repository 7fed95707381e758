"""Sweeps on the page: the map and the shares are those that the command wrote."""

from __future__ import annotations

import json

import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from lcifr.display.charts import KINDS
from tests.certification.sweep.tiny import FORMULAS, SCHEMA, everybody, fitted
from tests.story import lcifr
from tests.workbench.bench import Client
from tests.workbench.served import Served
from tests.workflows.swept_place import ASKED

pytestmark = pytest.mark.long  # the search over pairs is loaded


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder with a sweep of everybody of a tiny universe."""
    folder = tmp_path_factory.mktemp("swept")
    everybody().to_pandas().to_csv(folder / "people.csv", index=False)
    skops.io.dump(fitted(LogisticRegression(), 1), folder / "model.skops")
    (folder / "people.phi").write_text(FORMULAS[0], encoding="utf-8")
    SCHEMA.save(folder / "people.toml")
    lcifr("sweep", "people.csv", *ASKED, "--out", "swept", cwd=folder, expect=1)
    return folder


def test_the_map_is_the_commands(swept):
    client = Client(swept)
    assert client.ask("folder")["sweeps"] == ["swept"]
    found = client.ask("sweep/open", name="swept")
    written = json.loads((swept / "swept" / "result.json").read_text(encoding="utf-8"))
    assert [one["bins"]["attribute"].partition(" (")[0] for one in found["map"]["strips"]] == [
        one["bins"]["attribute"] for one in written["map"]["strips"]
    ]
    for shown, known in zip(found["map"]["strips"], written["map"]["strips"], strict=True):
        assert shown["bins"]["labels"] == known["bins"]["labels"]
        assert [standing for standing, _ in found["standings"]] == list(KINDS)
        for here, there in zip(shown["shares"], known["shares"], strict=True):
            assert {*here} <= {*KINDS}
            assert here == pytest.approx(there)
    assert found["map"]["grid"]["down"]["labels"] == written["map"]["grid"]["down"]["labels"]
    assert len(found["worst"]) == len(written["worst"]) > 0
    assert found["lines"][0].startswith("proved: ")
    client.desk.close()


def test_changed_cells_are_refused(swept, tmp_path):
    import shutil

    shutil.copytree(swept / "swept", tmp_path / "swept")
    with (tmp_path / "swept" / "cells.parquet").open("ab") as file:
        file.write(b"x")
    assert "is not what the sweep wrote" in Client(tmp_path).refusal("sweep/open", name="swept")


def test_the_map_is_drawn(browser, swept):
    made = Served(swept)
    try:
        made.wait()
        for width in (1280, 390):
            page = browser.open(f"{made.address}#audit", width=width)
            page.until("document.querySelector('#swept figure')")
            assert "of everyone who could exist" in page.text("#swept")
            assert page.run("document.querySelectorAll('#swept rect.counterexample').length") > 0
            assert page.run("document.documentElement.scrollWidth") <= width
            assert page.complaints() == []
    finally:
        made.stop()
