"""The six datasets reproduce the paper's split sizes, positive rates and one-hot dimensions."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

from lcifr.data import Encoding, Individuals
from lcifr.datasets import names
from lcifr.datasets.health import TRANSFER

PAPER = {
    "adult": ((24129, 6033, 15060), (24.9, 24.9, 24.6), 104),
    "compas": ((3377, 845, 1056), (52.3, 52.2, 55.6), 14),
    "crime": ((1276, 319, 399), (48.7, 55.5, 49.6), 147),
    "german": ((640, 160, 200), (70.5, 66.9, 71.0), 59),
    "health": ((139785, 34947, 43683), (68.0, 68.6, 68.0), 110),
    "law_school": ((55053, 13764, 17205), (27.3, 26.8, 26.3), 37),
}
PARTIAL_LAW_SCHOOL = ((31647, 7912, 9890), (25.1, 25.7, 25.4), 26)


def splits(data):
    return (data.train, data.validation, data.test)


@pytest.mark.parametrize("name", PAPER)
def test_sizes_rates_and_dimensions(dataset, name):
    data = dataset(name)
    sizes, rates, dimension = PARTIAL_LAW_SCHOOL if name == "law_school" and data.partial else PAPER[name]
    assert tuple(len(split) for split in splits(data)) == sizes
    assert tuple(round(100 * split.positive_rate, 1) for split in splits(data)) == rates
    encoding = Encoding.fit(data.train.X, data.schema)
    assert len(encoding.features) == dimension
    assert encoding.encode(data.test.X.head(100)).shape == (100, dimension)


@pytest.mark.parametrize("name", names())
def test_every_split_passes_the_gate(dataset, name):
    data = dataset(name)
    for split in splits(data):
        people = Individuals.read(split.X, data.schema)
        assert len(people) == len(split.y)
        assert tuple(split.X.columns) == data.schema.names
        assert (split.X.index == split.y.index).all()
        assert split.y.name == data.schema.target
        assert set(split.y.unique()) == {0, 1}
        assert str(split.y.dtype) == "int64"


@pytest.mark.parametrize("name", names())
def test_nobody_is_in_two_splits(dataset, name):
    data = dataset(name)
    # Adult's test set is a file of its own, with rows that count from 0 again
    compared = splits(data)[: 2 if name == "adult" else 3]
    for one, other in itertools.combinations(compared, 2):
        assert one.X.index.intersection(other.X.index).empty
    assert all(split.X.index.is_unique for split in splits(data))


@pytest.mark.parametrize("name", names())
def test_schema_says_what_the_data_holds(dataset, name):
    data = dataset(name)
    everybody = pd.concat([split.X for split in splits(data)])
    for attribute in data.schema.categorical:
        assert set(attribute.values) == set(everybody[attribute.name])
    for attribute in data.schema.numeric:
        whole = bool((everybody[attribute.name] % 1 == 0).all())
        assert attribute.integer == whole, attribute.name
        assert attribute.lower is attribute.upper is None  # the paper's datasets declare no ranges


@pytest.mark.parametrize("name", names())
def test_described_without_its_files(dataset, name):
    """The schema in the dataset's file is the loaded one, but for law schools that only the files know."""
    data = dataset(name)
    described = data.source.schema
    assert described.names == data.schema.names
    assert described.groups == data.schema.groups
    differing = [a.name for a, b in zip(described, data.schema, strict=True) if a != b]
    assert differing in ([], ["college"])


@pytest.mark.parametrize("label", TRANSFER)
def test_health_transfer_labels(dataset, label):
    plain, transfer = dataset("health"), dataset("health", label)
    assert len(transfer.schema.groups["counts"]) == 40
    assert len(plain.schema.groups["counts"]) == 86
    assert not [name for name in transfer.schema.names if name.startswith("condition_")]
    assert len(Encoding.fit(transfer.validation.X, transfer.schema).features) == 64
    for ours, theirs in zip(splits(transfer), splits(plain), strict=True):
        has = theirs.X[f"condition_{label.lower()}"] > 0
        assert (ours.y == has).all()
        assert (theirs.X[ours.X.columns] == ours.X).all(axis=None)


def test_partial_law_school_says_so(dataset):
    data = dataset("law_school")
    if data.partial is None:
        pytest.skip("the complete law school file is here")
    assert "49,449 of 86,022" in data.partial
    assert sum(len(split) for split in splits(data)) == 49_449
    assert "partial" in repr(data)
