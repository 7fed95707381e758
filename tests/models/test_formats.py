"""Formats by content: every library's own files, whatever they are called; pickles are refused and never run."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lcifr.errors import LcifrError, NetworkError
from lcifr.models.loading import ModelFormat, recognise

X = np.linspace(0, 1, 60).reshape(20, 3)
Y = np.arange(20) % 2


def write_onnx(path: Path) -> None:
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    path.write_bytes(to_onnx(LogisticRegression().fit(X, Y), X[:1].astype(np.float32)).SerializeToString())


def write_skops(path: Path) -> None:
    pytest.importorskip("skops.io").dump(LogisticRegression().fit(X, Y), path)


def write_xgboost(path: Path, ending: str) -> None:
    xgboost = pytest.importorskip("xgboost")
    path.write_bytes(bytes(xgboost.XGBClassifier(n_estimators=2).fit(X, Y).get_booster().save_raw(ending)))


def write_lightgbm(path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    text = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, Y).booster_.model_to_string()
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("write", "found"),
    [
        (write_onnx, ModelFormat.ONNX),
        (write_skops, ModelFormat.SKOPS),
        (lambda path: write_xgboost(path, "json"), ModelFormat.XGBOOST),
        (lambda path: write_xgboost(path, "ubj"), ModelFormat.XGBOOST),
        (write_lightgbm, ModelFormat.LIGHTGBM),
    ],
)
@pytest.mark.parametrize("name", ["model", "model.pkl.bak", "model.onnx"])
def test_a_file_is_what_is_in_it(write: Any, found: ModelFormat, name: str, tmp_path: Path) -> None:
    write(tmp_path / name)
    assert recognise(tmp_path / name) is found


@pytest.mark.parametrize(
    "content", [b"CBM1\x10)\x00\x00", b'{\n  "features_info":\n    {', b'{"oblivious_trees":[', b'{"model_info":{']
)
def test_catboosts_own_formats_are_refused_with_the_line_that_exports_onnx(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "risk.cbm").write_bytes(content)
    with pytest.raises(NetworkError, match=r'(?s)CatBoost.*Fix: .*model.save_model\("risk.onnx", format="onnx"\)'):
        recognise(tmp_path / "risk.cbm")


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", ["model.pkl", "model.bin"])
def test_a_pickle_is_refused_with_the_lines_that_convert_it_and_not_run(
    protocol: int, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(pickle.dumps(Trap(tmp_path / "ran"), protocol=protocol))
    with pytest.raises(NetworkError, match=r"pickle or joblib file(.|\n)*skops\.io\.dump\(joblib\.load\("):
        recognise(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", [b'{"version": "1.0", "ebm": {}}', b'{\n  "version": "1.0",\n  "ebm": {\n'])
def test_the_json_of_an_explainable_boosting_machine_is_named(content: bytes, tmp_path: Path) -> None:
    (path := tmp_path / "machine.json").write_bytes(content)
    with pytest.raises(NetworkError, match=r"(?s)explainable boosting machine.*Fix: pass the fitted object"):
        recognise(path)


@pytest.mark.parametrize("compress", [("zlib", 3), ("gzip", 3), ("bz2", 3), ("xz", 3), ("lzma", 3)])
def test_a_compressed_joblib_file_is_refused_too(compress: tuple[str, int], tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    joblib.dump(LogisticRegression().fit(X, Y), tmp_path / "model.joblib", compress=compress)
    with pytest.raises(NetworkError, match=r"skops\.io\.dump"):
        recognise(tmp_path / "model.joblib")


def test_what_torch_saves_is_refused_with_the_lines_that_export_it(tmp_path: Path) -> None:
    import torch

    torch.save(torch.nn.Linear(2, 1), tmp_path / "model.pt")
    with pytest.raises(NetworkError, match=r"torch\.save(.|\n)*torch\.onnx\.export"):
        recognise(tmp_path / "model.pt")


@pytest.mark.parametrize("content", [b"", b"age,sex\n1,2\n", b"\x89PNG\r\n", b"{}"])
def test_what_is_no_model_is_refused_with_the_list_of_what_is(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(NetworkError, match="ONNX, skops"):
        recognise(tmp_path / "file")


def test_a_folder_and_nothing_are_named(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="lcifr audit PRODUCER CONSUMER"):
        recognise(tmp_path)
    (tmp_path / "model.onnx").touch()
    with pytest.raises(LcifrError, match=r'Did you mean "model\.onnx"'):
        recognise(tmp_path / "modle.onnx")


def test_a_broken_archive_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "{}")
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02")] = 0  # the list of its entries begins otherwise
    path.write_bytes(bytes(data))
    with pytest.raises(NetworkError, match="cannot be read"):
        recognise(path)
