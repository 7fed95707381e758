"""A hand-over read some people at a time: the same people, and refused wherever it is refused at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from lcifr.certification import handover as handed
from lcifr.certification.consumer import certify
from lcifr.certification.handover import IDS, LATENT, Representation, read_handover_chunks, represent, stream_ids
from lcifr.certification.population import Tally
from lcifr.data.files import MANIFEST, describe_files
from lcifr.errors import ArtefactError
from lcifr.workflows.jobs import certify_folder, read_certified
from tests.certification.scenes import FORMULAS, scene

LISTS = st.lists(st.text(max_size=4) | st.integers(), max_size=12)
COUNT = 11


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    one = scene(3, FORMULAS[0], count=COUNT)
    represent(one.encoder, one.people, [f"p{i}" for i in range(COUNT)]).write(tmp_path / "handed")
    return tmp_path / "handed"


# -- ids ---------------------------------------------------------------------------------------------------------------


@given(ids=LISTS, block=st.integers(2, 9), indent=st.sampled_from([None, 1]), escaped=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ids_are_those_of_json(
    ids: list[str | int], block: int, indent: int | None, escaped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However they are laid out, and wherever a block ends: within a number, an escape, a blank."""
    monkeypatch.setattr(handed, "BLOCK", block)
    (tmp_path / IDS).write_text(json.dumps(ids, indent=indent, ensure_ascii=escaped), encoding="utf-8")
    assert list(stream_ids(tmp_path / IDS)) == ids


@given(ids=LISTS.filter(len), cut=st.integers(1, 40), block=st.integers(1, 9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_list_that_was_cut_is_refused(
    ids: list[str | int], cut: int, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handed, "BLOCK", block)
    text = json.dumps(ids, ensure_ascii=False)
    (tmp_path / IDS).write_text(text[: -min(cut, len(text))], encoding="utf-8")
    with pytest.raises(ArtefactError, match="not a list of ids"):
        list(stream_ids(tmp_path / IDS))


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1,]", "[,1]", "[1 2]", "[1]]", "[1] 2", "[1.5]", "[null]", "[true]", "[[1]]", "[NaN]", "[" * 100_000],
)
def test_what_is_no_list_of_ids_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / IDS).write_text(text, encoding="utf-8")
    with pytest.raises(ArtefactError, match="not a list of ids"):
        list(stream_ids(tmp_path / IDS))


# -- people ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 4, 11, 50])
def test_pieces_are_the_whole(folder: Path, size: int) -> None:
    whole, pieces = Representation.read(folder), list(read_handover_chunks(folder, size))
    assert tuple(name for piece in pieces for name in piece.ids) == whole.ids
    assert [piece.start for piece in pieces] == list(range(0, COUNT, size))
    for name, array in whole.arrays().items():
        assert (np.concatenate([getattr(piece.representation, name) for piece in pieces]) == array).all()
    assert {piece.representation.provenance.weights for piece in pieces} == {whole.provenance.weights}


def altered(folder: Path, arrays: Any = None, ids: Any = None, **manifest: Any) -> None:
    """A hand-over with something else in it, and its hashes redone."""
    if arrays is not None:
        save_file({**load_file(folder / LATENT), **arrays}, folder / LATENT)
    if ids is not None:
        (folder / IDS).write_text(json.dumps(ids), encoding="utf-8")
    before = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    changed = {**before, **manifest, "files": describe_files(folder)}
    (folder / MANIFEST).write_text(json.dumps(changed), encoding="utf-8")


NAMES = [f"p{i}" for i in range(COUNT)]
ALTERED = {
    "a radius that is no number": {"arrays": {"radius": np.array([*range(10), np.nan])}},
    "a negative radius": {"arrays": {"radius": np.array([*range(10), -1.0])}},
    "another shape": {"arrays": {"radius": np.zeros(12)}},
    "another type": {"arrays": {"exact": np.zeros(11)}},
    "one array more": {"arrays": {"x": np.zeros(11)}},
    "a box that runs backwards": {"arrays": {"lower": np.full((11, 3), 1e9), "upper": np.zeros((11, 3))}},
    "other counts": {"counts": {"exact": 0, "not_exact": 0, "vacuous": 0}},
    "an id short": {"ids": NAMES[:-1]},
    "an id more": {"ids": [*NAMES, "q"]},
    "an id that is none": {"ids": [*NAMES[:-1], None]},
    "more people": {"people": 12},
    "people who are no number": {"people": "11"},
    "another format": {"format": "lcifr-handover-9"},
    "nobody's proof": {"provenance": {}},
}


@pytest.mark.parametrize("case", ALTERED)
def test_what_is_refused_at_once_is_refused_in_pieces(folder: Path, case: str) -> None:
    altered(folder, **ALTERED[case])
    with pytest.raises(ArtefactError):
        Representation.read(folder)
    with pytest.raises(ArtefactError):
        list(read_handover_chunks(folder, 4))


# -- verdicts ----------------------------------------------------------------------------------------------------------


def test_parts_are_certified_as_the_whole(folder: Path, tmp_path: Path) -> None:
    model = scene(3, FORMULAS[0], count=COUNT).model
    done = certify_folder(folder, model, tmp_path / "out", chunk=4, workers=1)
    assert (done.people, done.found) == (COUNT, 0)
    whole = certify(Representation.read(folder), model)
    found, tally = [], Tally()
    for some in read_certified(tmp_path / "out/certificates.parquet", model, on="ball"):
        found.append(some)
        tally.add(some, None, {})
    assert [name for some in found for name in some.ids] == NAMES
    assert [word for some in found for word in some.verdict] == list(whole.verdict)
    assert tally.all.certified == whole.certified.sum()


def test_an_id_in_two_pieces_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    altered(folder, ids=[*NAMES[:-1], "p1"])
    with pytest.raises(ArtefactError, match="'p1' occurs twice"):
        certify_folder(folder, scene(3, FORMULAS[0]).model, tmp_path / "out", chunk=4, workers=1)
    assert not (tmp_path / "out").exists()
