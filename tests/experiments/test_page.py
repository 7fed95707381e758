"""The page is written from cells alone: the same cells, the same page, whole or with holes."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.plan import all_cells
from experiments.render import MERGED, render
from experiments.store import Store, merge, read_merged

from tests.experiments.made_up import everything


def pages(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()}


def test_the_same_cells_give_the_same_page(tmp_path: Path) -> None:
    merged = tmp_path / "cells.json"
    merged.write_text(merge(everything()), encoding="utf-8")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        render(all_cells(), Store(tmp_path), tmp_path / name / "results.md", merged=merged)
    assert pages(tmp_path / "one") == pages(tmp_path / "two")
    page = pages(tmp_path / "one")["results.md"]
    assert "–" not in page.split("## The table of constraints")[1].split("##")[0]  # no holes
    assert "(results/adult.svg)" in page
    assert "Unfinished" not in page


def test_cells_merge_and_come_back_in_any_order(tmp_path: Path) -> None:
    found = everything()
    path = tmp_path / "cells.json"
    path.write_text(merge(dict(reversed(found.items()))), encoding="utf-8")
    assert read_merged(path) == found
    assert path.read_text(encoding="utf-8") == merge(found)


def test_a_page_with_holes_says_so(tmp_path: Path) -> None:
    store, cells = Store(tmp_path), all_cells()
    found = everything()
    for cell in cells:
        if cell.name.startswith("german-cat_noise/"):
            store.write(cell, {key: value for key, value in found[cell.name].items() if key != "settings"})
    render(cells, store, tmp_path / "results.md")
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "not measured yet" in page
    assert "**Unfinished:" in page
    assert "| Noise, Adult | 83.0 / 74.5 / 59.0 | 81.4 / 70.9 / 97.8 | – |" in page
    kept = read_merged(tmp_path / "results" / MERGED)
    assert all(name.startswith("german-cat_noise/") for name in kept)


@pytest.mark.parametrize("text", ["", "{", "[1]"])
def test_a_broken_cell_counts_as_missing(tmp_path: Path, text: str) -> None:
    store, cell = Store(tmp_path), all_cells()[0]
    store.write(cell, {"points": []})
    assert store.read(cell) is not None
    (tmp_path / "cells" / f"{cell.name}.json").write_text(text, encoding="utf-8")
    assert store.read(cell) is None


def test_the_committed_page_is_what_the_committed_cells_say(tmp_path: Path) -> None:
    home = Path(__file__).parents[2] / "docs"
    render(all_cells(), Store(tmp_path), tmp_path / "results.md", merged=home / "results" / MERGED)
    written = pages(tmp_path)
    assert written["results.md"] == (home / "results.md").read_text(encoding="utf-8")
    for name in (name for name in written if name.endswith(".svg")):
        assert written[name] == (home / "results" / name).read_text(encoding="utf-8")
