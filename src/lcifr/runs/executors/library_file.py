"""LibraryFile: the file of a model of another library with all it takes to read it again, on any machine."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from lcifr.certification.subject import LibraryModel
from lcifr.phi.similarity import Similarity
from lcifr.runs.executors.packing import Luggage, pack_similarity, unpack_similarity


@final
@dataclass(frozen=True, eq=False)
class LibraryFile:
    """A model file, and how it was read.

    Parameters
    ----------
    path : its name, by whose ending some formats are known. content : its bytes.
    description : the file that says which column feeds which input, or None.
    example : a pandas frame of people as the table writes them. similarity : φ with the scales of the reference.
    groups, tolerance : what counts as the same decision.
    """

    path: str
    content: bytes
    description: str | None
    example: Any
    similarity: Similarity
    groups: tuple[tuple[Any, ...], ...] = ()
    tolerance: float | None = None

    def pack(self, into: Luggage) -> dict[str, Any]:
        """As plain values and bytes."""
        written = io.BytesIO()
        self.example.to_parquet(written, index=False)
        return {
            "name": f"model{Path(self.path).suffix}",
            "content": into.put_bytes(self.content),
            "description": self.description,
            "example": into.put_bytes(written.getvalue()),
            "similarity": pack_similarity(self.similarity, into),
            "groups": self.groups,
            "tolerance": self.tolerance,
        }


def open_library(said: Mapping[str, Any], held: Luggage) -> LibraryModel:
    """The model that was packed, read as it was read before; nothing in its file is run."""
    import pandas as pd

    from lcifr.models.description import read_description
    from lcifr.models.loading import load_file

    with tempfile.TemporaryDirectory() as folder:  # loaders take files, and some libraries read no others
        path, described = Path(folder) / said["name"], Path(folder) / "description.toml"
        path.write_bytes(held.bytes_of(said["content"]))
        description = None
        if said["description"] is not None:
            described.write_text(said["description"], encoding="utf-8")
            description = read_description(described)
        file = load_file(path, description)
        example = pd.read_parquet(io.BytesIO(held.bytes_of(said["example"])))
        similarity = unpack_similarity(said["similarity"], held)
        return LibraryModel.read(file, example, similarity, said["groups"] or None, said["tolerance"])
