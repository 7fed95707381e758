"""A dataset by name: its description, whether its files are here, and how to get them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.datasets import Source

PLAIN = ("name", "title", "homepage", "licence", "citation", "summary", "positive")


@dataclass(frozen=True)
class DatasetInfo:
    """A dataset and where it stands.

    Parameters
    ----------
    state : ``built in``, ``here``, ``to fetch``, or ``by hand``. by_hand : what to do where nobody may download it.
    """

    source: Source
    state: str
    by_hand: str | None

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        source = self.source
        return {
            **{name: getattr(source, name) for name in PLAIN},
            "by_hand": self.by_hand,
            "labels": list(source.labels),
            "cautions": list(source.cautions),
            "state": self.state,
            "files": [{"name": file.name, "sha256": file.sha256, "urls": list(file.urls)} for file in source.files],
            "schema": source.schema.to_dict(),
        }


def dataset_info(name: str, folder: Path | None = None) -> DatasetInfo:
    """The dataset by this name; ``folder`` is that of all datasets, None for ``$LCIFR_DATA`` or the user's cache."""
    from lcifr.datasets import find
    from lcifr.datasets.downloads import data_folder

    source = find(name)
    place = data_folder(folder) / source.name
    return DatasetInfo(source, _state(source, place), source.instructions(place))


def _state(source: Source, place: Path) -> str:
    """Whether a dataset can be loaded: built in, here, or how to get it."""
    if source.builtin:
        return "built in"
    if source.by_hand:
        return "here" if place.is_dir() and any(place.iterdir()) else "by hand"
    return "here" if all((place / file.name).is_file() for file in source.files) else "to fetch"
