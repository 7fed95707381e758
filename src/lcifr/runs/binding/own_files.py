"""OwnFiles: the files that whoever reads a bundle holds against it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lcifr.errors import no_such_file


@dataclass(frozen=True, kw_only=True)
class OwnFiles:
    """Files of whoever reads a bundle; None, or nothing, for what is not given.

    Parameters
    ----------
    people : a table, with ``id_column`` the column of their names. model : a file, or the folders of a producer and a
        consumer. describe : the description of a model file. missing : its number that stands for a missing value.
    phi, schema : files, or names of ready ones. train : the table whose standard deviations and ranks φ speaks of.
    """

    people: Path | None = None
    id_column: str | None = None
    model: tuple[Path, ...] = ()
    describe: Path | None = None
    phi: str | None = None
    schema: str | None = None
    train: Path | None = None
    missing: float | None = None

    @property
    def are_given(self) -> bool:
        return self != OwnFiles()

    def refuse_lost(self) -> None:
        """What is not there is said before anything is checked."""
        for path in (self.people, self.describe, self.train, *self.model):
            if path is not None and not path.exists():
                raise no_such_file(str(path), "check the path")
