"""What the tests of commands share: nobody's own data, and a table of real people."""

import pytest

from lcifr.datasets import load
from lcifr.datasets.downloads import FOLDER_VARIABLE


@pytest.fixture
def empty_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "data"))


@pytest.fixture
def german_csv(tmp_path):
    path = tmp_path / "people.csv"
    load("german").test.X.to_csv(path, index=False)
    return path
