"""Datasets are found by looking at the folder, fully described, and plain about what is missing."""

from __future__ import annotations

import dataclasses
import doctest
import hashlib
import sys

import pytest

import lcifr.datasets
from lcifr.data.files import sha256_of
from lcifr.datasets import find, load, names
from lcifr.datasets.dataset import BUILTIN
from lcifr.datasets.downloads import FOLDER_VARIABLE, DataFile
from lcifr.datasets.german import COLUMNS, SCHEMA
from lcifr.errors import DatasetError


@pytest.fixture(autouse=True)
def nobody_elses_files(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "data"))


def test_the_papers_six_are_there():
    assert {"adult", "compas", "crime", "german", "health", "law_school"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_dataset_is_described(name):
    source = find(name)
    for text in ("title", "homepage", "licence", "citation", "summary", "positive"):
        assert getattr(source, text).strip(), text
    assert source.homepage.startswith("http")
    assert len(source.cautions) >= 3
    assert source.schema.target not in source.schema
    assert source.by_hand or all(file.urls and file.sha256 for file in source.files)
    for file in source.files:
        assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
        assert all(url.startswith("https://") and url.endswith(file.name) for url in file.urls)


@pytest.mark.parametrize("name", names())
def test_attribute_names_can_stand_in_a_formula(name):
    assert all(attribute.isidentifier() for attribute in find(name).schema.names)


def test_a_new_file_is_a_new_dataset(monkeypatch, tmp_path):
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "martians.py").write_text(
        "import dataclasses\n"
        "from lcifr.datasets import german\n"
        "SOURCE = dataclasses.replace(german.SOURCE, name='martians', by_hand='ask a Martian, into {folder}')\n"
    )
    (folder / "_notes.py").write_text("raise RuntimeError('never imported')\n")
    monkeypatch.setattr(lcifr.datasets, "__path__", [*lcifr.datasets.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, "lcifr.datasets.martians", raising=False)
    assert "martians" in names()
    assert "_notes" not in names()
    assert find("martians").name == "martians"
    with pytest.raises(DatasetError, match=r"ask a Martian, into .*martians"):
        load("martians")
    del sys.modules["lcifr.datasets.martians"]


def test_a_file_without_a_source_is_reported(monkeypatch, tmp_path):
    (tmp_path / "hollow.py").write_text("")
    monkeypatch.setattr(lcifr.datasets, "__path__", [*lcifr.datasets.__path__, str(tmp_path)])
    with pytest.raises(DatasetError, match=r"hollow\.py defines no SOURCE"):
        find("hollow")
    del sys.modules["lcifr.datasets.hollow"]


@pytest.mark.parametrize("spelling", ["law_school", "Law School", "law-school", " LAW_SCHOOL "])
def test_spellings(spelling):
    assert find(spelling).name == "law_school"


def test_unknown_names_are_answered_with_near_ones():
    with pytest.raises(DatasetError, match='Did you mean "german"') as caught:
        load("germany")
    assert all(name in str(caught.value) for name in names())


def test_labels_are_checked():
    with pytest.raises(DatasetError, match='no label "MSC"') as caught:
        load("health", label="MSC")
    assert "METAB3" in str(caught.value)
    with pytest.raises(DatasetError, match="leave the label out"):
        load("german", label="good")


@pytest.mark.parametrize("name", [name for name in names() if not find(name).builtin])
def test_missing_files_say_what_to_do(name, tmp_path):
    with pytest.raises(DatasetError) as caught:
        load(name)
    message = str(caught.value)
    assert str(tmp_path / "data" / name) in message
    assert find(name).homepage in message
    assert find(name).files[0].name in message
    assert f"lcifr data fetch {name}" in message or find(name).by_hand


def test_all_missing_files_are_named_at_once():
    with pytest.raises(DatasetError, match=r"adult\.data and adult\.test are not in"):
        load("adult")


def test_german_needs_no_folder(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE)
    assert len(load("german").train) == 640


def test_the_built_in_file_is_the_published_one_with_its_attribution():
    folder = BUILTIN / "german"
    assert sha256_of(folder / "german.data") == find("german").file("german.data").sha256
    attribution = (folder / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert "Hofmann" in attribution
    assert "CC BY 4.0" in attribution


def test_german_words_replace_codes_one_to_one():
    for column, attribute in zip(COLUMNS, SCHEMA, strict=True):
        if isinstance(column, tuple) and column[0] != "sex":
            assert len(set(column[1].values())) == len(column[1]) == len(attribute.values)
    german = load("german")
    assert not german.train.X.isna().any(axis=None)


def test_an_altered_file_is_refused_unless_wanted(tmp_path):
    folder = tmp_path / "data" / "german"
    folder.mkdir(parents=True)
    lines = (BUILTIN / "german" / "german.data").read_text().splitlines()
    (folder / "german.data").write_text("\n".join(lines[:500]) + "\n")
    with pytest.raises(DatasetError, match="not the published file"):
        load("german")
    assert len(load("german", verify=False).train) == 320


def test_folder_argument_goes_before_the_environment(tmp_path):
    folder = tmp_path / "mine" / "german"
    folder.mkdir(parents=True)
    (folder / "german.data").write_text("altered")
    with pytest.raises(DatasetError, match="mine"):
        load("german", folder=tmp_path / "mine")


def test_descriptions_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        find("german").name = "other"


def test_an_address_needs_a_checksum():
    with pytest.raises(DatasetError, match="without a checksum"):
        DataFile("x.csv", urls=("https://example.org/x.csv",))
    DataFile("x.csv", hashlib.sha256(b"x").hexdigest(), ("https://example.org/x.csv",))


def test_the_example_in_the_docstring_runs():
    results = doctest.testmod(lcifr.datasets)
    assert results.attempted > 0
    assert not results.failed
