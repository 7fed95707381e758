"""A file is there with all its bytes or as it was before, and nothing is left beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lcifr.data import Encoding, Schema
from lcifr.data import files as writing
from lcifr.data.files import write_atomic, write_json
from lcifr.models.network import Network

Write = Callable[[Path], None]


def _network(path: Path) -> None:
    Network.from_arrays([([[1.0]], [0.0])]).save(path)


def _encoding(path: Path) -> None:
    schema = Schema.from_dict({"attributes": {"age": {"kind": "numeric"}}})
    Encoding(schema, np.zeros(1), np.ones(1)).save(path)


WRITERS: dict[str, Write] = {
    "bytes": lambda path: write_atomic(path, b"new"),
    "json": lambda path: write_json(path, {"new": 1}),
    "network": _network,
    "encoding": _encoding,
}


@pytest.mark.parametrize("step", ["sync", "os.replace"])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_or_a_kill_leaves_the_old_file_alone(
    writer: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(f"lcifr.data.files.{step}", stop)
        with pytest.raises(KeyboardInterrupt):
            WRITERS[writer](path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    WRITERS[writer](path)
    assert path.read_bytes() != b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(writing, "sync", lambda path: seen.append((path.read_bytes(), (tmp_path / "it").exists())))
    write_atomic(tmp_path / "it", b"all of it")
    assert seen == [(b"all of it", False)]


def test_json_keeps_the_order_of_keys_and_knows_no_nan(tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    write_json(path, {"b": 1, "a": "ß"})
    assert list(json.loads(path.read_text(encoding="utf-8"))) == ["b", "a"]
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert "ß" in path.read_text(encoding="utf-8")
