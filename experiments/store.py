"""Where cells are kept: one small JSON file each, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from lcifr.data.files import write_json

Found = dict[str, Any]
"""What a cell found, with its ``name``, ``kind`` and ``settings`` beside it."""


class Store:
    """A folder of results.

    Parameters
    ----------
    folder : holds ``cells/NAME.json`` and ``models/NAME.*``, the fitted models that are confirmed later.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def model_path(self, name: str, part: str) -> Path:
        path = self.folder / "models" / f"{name}.{part}"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def read(self, cell: Cell) -> Found | None:
        """What was found for this cell; None if nothing was, or with other settings."""
        found = self._load(self._path(cell.name))
        return found if found is not None and found.get("settings") == cell.settings else None

    def write(self, cell: Cell, found: Found) -> None:
        """Replace the cell's file in one step: a run that is killed leaves the old file or the new one."""
        path = self._path(cell.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = {"name": cell.name, "kind": cell.kind, "settings": cell.settings, **found}
        write_json(path, whole)

    def done(self, cells: Iterable[Cell]) -> dict[str, Found]:
        """What is there of these cells, by name."""
        found = {cell.name: self.read(cell) for cell in cells}
        return {name: one for name, one in found.items() if one is not None}

    def _path(self, name: str) -> Path:
        return self.folder / "cells" / f"{name}.json"

    @staticmethod
    def _load(path: Path) -> Found | None:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return found if isinstance(found, dict) else None


def merge(found: dict[str, Found]) -> str:
    """All cells as one text, a line each: what is committed."""
    return "[\n" + ",\n".join(json.dumps(found[name], allow_nan=False) for name in sorted(found)) + "\n]\n"


def read_merged(path: Path) -> dict[str, Found]:
    """What :func:`merge` wrote."""
    return {one["name"]: one for one in json.loads(path.read_text(encoding="utf-8"))}
