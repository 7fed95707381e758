"""Storage of trained models as safetensors with a JSON header, versioned and hashed; nothing is pickled."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.errors import LearningError
from lcifr.files import write_atomic
from lcifr.models.network import Network

FORMAT = "lcifr-model"
VERSION = 4  # 1 and 2 named φ, scales and weights by earlier canonical forms; numbers of 3 were standardised
KEY = "lcifr"  # one entry: safetensors writes several in any order, and equal models should be equal files


@dataclass(frozen=True)
class Stored:
    """What a file holds: plain values and networks by name."""

    content: dict[str, Any]
    networks: dict[str, Network]


def write(path: str | Path, kind: str, stored: Stored) -> None:
    """One safetensors file; a reader never sees half of it."""
    from safetensors.numpy import save

    tensors = {
        f"{name}.{index}.{part}": np.array(getattr(layer, part))
        for name, network in stored.networks.items()
        for index, layer in enumerate(network.layers)
        for part in ("weight", "bias")
    }
    depths = {name: len(network.layers) for name, network in stored.networks.items()}
    # Keys keep their order: the order of a schema's attributes is the order of the feature columns.
    text = json.dumps({"content": stored.content, "networks": depths}, ensure_ascii=False, allow_nan=False)
    header = {"format": FORMAT, "version": VERSION, "kind": kind, "hash": _digest(text, tensors), "content": text}
    write_atomic(path, save(tensors, metadata={KEY: json.dumps(header, ensure_ascii=False)}))


def read(path: str | Path, kind: str) -> Stored:
    """Read what :func:`write` wrote; a broken, altered, foreign or newer file is an error."""
    header, tensors = _open(Path(path))
    if header.get("format") != FORMAT:
        raise LearningError(f"{path} is not a saved model of lcifr", fix="write it with .save(path)")
    if header.get("version") != VERSION:
        older = isinstance(found := header.get("version"), int) and found < VERSION
        raise LearningError(
            f"{path} has format version {found}, this lcifr reads {VERSION}",
            fix="learn and save the model again with this version" if older else "update lcifr",
        )
    if header.get("kind") != kind:
        raise LearningError(f"{path} holds a {header.get('kind')}, not a {kind}", fix=f"use {header.get('kind')}.load")
    text = header.get("content", "")
    if header.get("hash") != _digest(text, tensors):
        raise LearningError(f"{path}: the numbers are not those that were saved", fix="get the file again")
    values = json.loads(text)
    networks = {
        name: Network.from_arrays((tensors[f"{name}.{i}.weight"], tensors[f"{name}.{i}.bias"]) for i in range(depth))
        for name, depth in values["networks"].items()
    }
    return Stored(values["content"], networks)


def _open(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        data = path.read_bytes()
    except OSError as problem:
        raise LearningError(f"{path} cannot be read: {problem}") from None
    try:
        tensors = load(data)
        length = struct.unpack("<Q", data[:8])[0]
        metadata = json.loads(data[8 : 8 + length]).get("__metadata__") or {}
        header = json.loads(metadata.get(KEY, "{}"))
    except (SafetensorError, ValueError, struct.error) as problem:
        raise LearningError(
            f"{path} is broken or truncated, or no saved model at all: {problem}", fix="get the file again"
        ) from None
    return header if isinstance(header, dict) else {}, tensors


def _digest(text: str, tensors: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name], dtype="<f8")
        digest.update(f"{name}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
