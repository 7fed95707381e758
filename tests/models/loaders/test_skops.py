"""Skops files: honest ones are the fitted objects; of hostile ones nothing is loaded, and the error names it."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from lcifr.data.files import ChangedFileWarning
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.loaders import skops as reader
from lcifr.models.loaders import skops_allow_list
from lcifr.models.loaders.sklearn import read_sklearn_table
from lcifr.models.loaders.skops import read_file
from lcifr.models.loading import load_file
from tests.models.loaders.sklearn_tables import encoding_of, labels
from tests.models.loaders.skops_files import (
    TABLE,
    container,
    entries,
    in_place_of_a_weight,
    mutated,
    node,
    ordinary,
    packed,
    value,
    with_schema,
)


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(data: bytes) -> Path:
        path = tmp_path / "model.skops"
        path.write_bytes(data)
        return path

    return write


def test_a_file_is_the_fitted_object(written: Any) -> None:
    path, model = written(ordinary()), skops.io.loads(ordinary())
    found = load_file(path)
    read = found.read_table(TABLE, encoding_of(TABLE))
    expected = read_sklearn_table(model, TABLE, encoding_of(TABLE))
    assert read.model.identity == expected.model.identity
    assert read.encoding.hash == expected.encoding.hash
    assert np.array_equal(read.predict(TABLE), model.predict(TABLE))
    assert found.outline().classes == (0, 1)


def test_workers_and_seeds_of_a_file_are_left_out(written: Any) -> None:
    model = Pipeline([("decide", LogisticRegression(random_state=np.random.RandomState(0)))])
    model.fit(TABLE[["age"]], labels(TABLE))
    model.steps[-1][1].n_jobs = 4
    path = written(skops.io.dumps(model))
    assert read_file(path).fitted.steps[-1][1].n_jobs is None
    assert read_file(path).fitted.steps[-1][1].random_state is None


LIST = container("ListNode", "list")
HOSTILE = {
    "os.system": node("FunctionNode", "os", "system"),
    "builtins.eval": node("TypeNode", "builtins", "eval"),
    "builtins.map": node("TypeNode", "builtins", "map"),
    "subprocess.Popen": node("ObjectNode", "subprocess", "Popen", content=value(None)),
    "datetime.timezone": node("ConstructorFromReduceNode", "datetime", "timezone", content=container("TupleNode", "t")),
    "functools.partial": node("PartialNode", "functools", "partial", content={}),
    "operator.methodcaller": node("OperatorFuncNode", "operator", "methodcaller", attrs=container("TupleNode", "t")),
    "MethodNode": node("MethodNode", "builtins", "list", content={"func": "append", "obj": LIST}),
    "numpy.random._generator.Generator": node("RandomGeneratorNode", "numpy.random._generator", "Generator"),
    "CachedNode": node("CachedNode", "builtins", "list", __id__=1),
    "collections.defaultdict": node("DefaultDictNode", "collections", "defaultdict"),
    "sklearn.utils.Bunch": node("ObjectNode", "sklearn.utils", "Bunch", content=value(None)),
    "builtins.bytes": node("BytesNode", "builtins", "bytes", file="schema.json"),
    "lcifr.cli.main": node("FunctionNode", "lcifr.cli", "main"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_on_the_list_is_refused_by_name_before_anything_is_loaded(
    name: str, written: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loads(*_: Any, **__: Any) -> None:
        raise AssertionError("something was loaded")

    monkeypatch.setattr(skops.io, "loads", loads)
    with pytest.raises(NetworkError, match=f"intercept_.*{name}.*nothing was loaded"):
        read_file(written(in_place_of_a_weight(HOSTILE[name])))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AdaBoostClassifier(n_estimators=2), "AdaBoostClassifier"),
        (Pipeline([("f", FunctionTransformer(np.log1p)), ("d", LogisticRegression())]), "log1p"),
    ],
)
def test_models_that_are_not_read_are_refused_by_name(model: Any, words: str, written: Any) -> None:
    path = written(skops.io.dumps(model.fit(TABLE[["age"]], labels(TABLE))))
    with pytest.raises(NetworkError, match=words):
        read_file(path)


def _loop(schema: dict[str, Any]) -> None:
    """A part that stands for what it is in."""
    schema["__id__"] = 7
    schema["content"]["content"]["steps"] = {"__loader__": "ListNode", "__id__": 7}


def _deep(schema: dict[str, Any]) -> dict[str, Any]:
    found = value(0)
    for _ in range(300):
        found = container("ListNode", "list", found)
    return {**found, "protocol": 2}


def _named(name: str) -> Any:
    def change(schema: dict[str, Any]) -> None:
        schema["protocol"] = name

    return change


BROKEN = {
    "loop": (with_schema(_loop), "steps"),
    "deep": (with_schema(_deep), "nested deeper"),
    "deeper than JSON": (packed({"schema.json": b"[" * 200_000}), "no JSON"),
    "old protocol": (with_schema(lambda s: {**s, "protocol": 0}), "protocol 0"),
    "true as a protocol": (with_schema(lambda s: {**s, "protocol": True}), "protocol True"),
    "no protocol": (with_schema(lambda s: {k: v for k, v in s.items() if k != "protocol"}), "protocol None"),
    "a list": (with_schema(lambda s: [s]), "protocol None"),
    "no model": (with_schema(lambda s: {**container("ListNode", "list"), "protocol": 2}), "holds a list"),
    "not a zip": (b"PK\x03\x04 and no more", "no skops file"),
    "empty": (b"", "no skops file"),
    "no schema": (packed({"other.json": b"{}"}), "no schema.json"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_with_the_reason(name: str, written: Any) -> None:
    data, words = BROKEN[name]
    with pytest.raises(NetworkError, match=words):
        read_file(written(data))


def _array(header: str, data: bytes = b"") -> bytes:
    text = header.encode().ljust(118 - 10) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


ARRAYS = {
    "huge shape": (_array("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }"), "length"),
    "negative shape": (_array("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -8), }", b"8" * 64), "length"),
    "too short": (_array("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", b"8" * 16), "length"),
    "pickled objects": (_array("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"cos\nsystem\n"), "object"),
    "records": (_array("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", b"8" * 8), "plain values"),
    "a call as its header": (_array("__import__('os').system('true')"), "no array"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_what_they_say(name: str, written: Any) -> None:
    data, words = ARRAYS[name]
    parts = entries(ordinary())
    first = next(one for one in parts if one.endswith(".npy"))
    with pytest.raises(NetworkError, match=words):
        read_file(written(packed(parts | {first: data})))


def test_a_bomb_is_not_unpacked(written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skops_allow_list, "MOST_BYTES", 1 << 20)
    data = packed(entries(ordinary()) | {"big.npy": b"0" * (1 << 23)}, zipfile.ZIP_DEFLATED)
    assert len(data) < 1 << 20
    with pytest.raises(NetworkError, match="more than 1,048,576 bytes"):
        read_file(written(data))


def test_entries_are_there_once_and_packed_in_a_known_way(written: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        path = written(ordinary())
        with zipfile.ZipFile(path, "a") as file:
            file.writestr("schema.json", b"{}")
    with pytest.raises(NetworkError, match="two entries"):
        read_file(path)
    with pytest.raises(NetworkError, match="packed in an unknown way"):
        read_file(written(packed(entries(ordinary()), zipfile.ZIP_LZMA)))


def test_an_archive_in_an_archive_is_not_looked_into(written: Any) -> None:
    inner = in_place_of_a_weight(node("FunctionNode", "os", "system"))
    found = read_file(written(packed(entries(ordinary()) | {"inner.skops": inner})))
    assert type(found.fitted).__name__ == "Pipeline"


def test_an_old_skops_is_refused(written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "version", lambda name: "0.11.0")
    with pytest.raises(NetworkError, match=r"skops 0.11.0 has known flaws\nFix: pip install \"skops>=0.13\""):
        read_file(written(ordinary()))


def test_a_model_of_another_scikit_learn_is_read_with_a_warning(written: Any) -> None:
    def older(found: Any) -> None:
        for key, one in found.items() if isinstance(found, dict) else enumerate(found):
            if key == "_sklearn_version":
                found[key] = value("1.2.0")
            elif isinstance(one, dict | list):
                older(one)

    with pytest.warns(ChangedFileWarning, match=r"saved with scikit-learn 1\.2\.0"):
        read_file(written(with_schema(older)))


def _survives(path: Path) -> bool:
    """Whether a mutated file can be read and used; anything but an error of ours fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read = read_file(path).read_table(TABLE, encoding_of(TABLE))
        except LcifrError:
            return False
    assert np.isfinite(read.model.function(read.inputs(np.zeros((1, read.inputs.inputs))))).all()
    return True


def _read_mutated(written: Any, count: int, seed: int) -> None:
    rng, survived = np.random.default_rng(seed), 0
    for _ in range(count):
        survived += _survives(written(mutated(rng)))
    assert 0 < survived < count


def test_mutated_files_are_errors_or_models(written: Any) -> None:
    _read_mutated(written, 300, seed=0)


@pytest.mark.long
def test_ten_thousand_mutated_files_are_errors_or_models(written: Any) -> None:
    _read_mutated(written, 10_000, seed=1)


def test_schemas_are_json_of_known_parts(written: Any) -> None:
    """What is handed to skops has no ids, no other keys, and no attribute that no prediction reads."""
    path = written(ordinary())
    text = skops_allow_list.checked(skops_allow_list.read_archive(path)).schema.decode()
    assert "__id__" not in text
    assert "os.system" not in text
    assert json.loads(text)["protocol"] == 2
