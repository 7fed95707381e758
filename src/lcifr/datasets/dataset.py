"""Dataset descriptions, location and verification of their files, and the train/validation/test split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.data.files import sha256_of
from lcifr.data.schema import Schema
from lcifr.datasets.downloads import DataFile, data_folder
from lcifr.errors import DatasetError

if TYPE_CHECKING:
    import pandas as pd

BUILTIN = Path(__file__).parent / "files"  # what ships inside the package, one folder per dataset
SHARE = 0.2  # of all rows for the test, then of the rest for validation, as in the paper
SEED = 0  # the paper's


def split_names(text: str) -> tuple[str, ...]:
    """Names written one after another, as a dataset's file lists its columns and categories."""
    return tuple(text.split())


@dataclass(frozen=True)
class Source:
    """Description of a dataset: origin, licence, files, schema, preprocessing and cautions.

    Parameters
    ----------
    name, title
        What ``load`` calls it, and what people call it.
    homepage, licence, citation
        Where it comes from, what one may do with it, whom to cite.
    summary
        Who the rows are, in a sentence.
    positive
        What the label 1 means.
    cautions
        What to know before drawing conclusions from it.
    files
        What the dataset can be read from. Not all need be there: see ``read``.
    schema
        The attributes, as far as they are known without the files.
    read
        From the files in place and the label's name to the cleaned table.
    labels
        Other labels it offers, by name.
    by_hand
        Why it cannot be fetched automatically and what to do instead, with ``{folder}`` for the place where the files
        belong; None where it can.
    """

    name: str
    title: str
    homepage: str
    licence: str
    citation: str
    summary: str
    positive: str
    cautions: tuple[str, ...]
    files: tuple[DataFile, ...]
    schema: Schema
    read: Callable[[DatasetFolder, str | None], CleanTable]
    labels: tuple[str, ...] = ()
    by_hand: str | None = None

    @property
    def builtin(self) -> bool:
        """Whether the data ships inside the package."""
        return (BUILTIN / self.name).is_dir()

    def instructions(self, folder: Path) -> str | None:
        """How to obtain the files by hand; None where they can be downloaded."""
        return None if self.by_hand is None else self.by_hand.replace("{folder}", str(folder))

    def file(self, name: str) -> DataFile:
        return next(file for file in self.files if file.name == name)


@dataclass(frozen=True, eq=False)
class CleanTable:
    """A cleaned table, before it is split.

    Parameters
    ----------
    schema
        The attributes; every category of the data is among their values.
    X, y
        The people and their 0/1 labels, indexed by their row in the source.
    test
        The people and labels of a test set of its own, where the source has one.
    cautions, partial
        As in :class:`Dataset`, for the files that were read.
    """

    schema: Schema
    X: pd.DataFrame
    y: pd.Series[int]
    test: tuple[pd.DataFrame, pd.Series[int]] | None = None
    cautions: tuple[str, ...] = ()
    partial: str | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """Some of a dataset's people.

    Parameters
    ----------
    X
        A frame in the data's own units and category names; its index is the row in the source file.
    y
        The labels, 0 or 1, with the same index.
    """

    X: pd.DataFrame
    y: pd.Series[int]

    def __len__(self) -> int:
        return len(self.X)

    @property
    def positive_rate(self) -> float:
        return float(self.y.mean())


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset in the paper's splits.

    Parameters
    ----------
    source
        Its description: homepage, licence, citation, what the label means.
    schema
        The attributes.
    train, validation, test
        The splits.
    cautions
        What to know before drawing conclusions, about the dataset and about the very files that were read.
    partial
        Why this is not the whole dataset; None where it is. Say it beside every figure.
    """

    source: Source
    schema: Schema
    train: Split
    validation: Split
    test: Split
    cautions: tuple[str, ...] = ()
    partial: str | None = None

    @property
    def name(self) -> str:
        return self.source.name

    def __repr__(self) -> str:
        sizes = "/".join(str(len(split)) for split in (self.train, self.validation, self.test))
        return (
            f"<Dataset {self.name}: {sizes} people, {len(self.schema)} attributes{', partial' if self.partial else ''}>"
        )


@dataclass(frozen=True)
class DatasetFolder:
    """Search path of a dataset's files: its own folder in the data folder, then the package.

    Parameters
    ----------
    source
        Whose files.
    root
        The folder of all datasets.
    verify
        Whether a file with another checksum than the published one is refused.
    """

    source: Source
    root: Path = field(default_factory=data_folder)
    verify: bool = True

    @property
    def folder(self) -> Path:
        return self.root / self.source.name

    def find(self, name: str) -> Path | None:
        """The file, or None if it is missing. An altered file is an error."""
        for folder in (self.folder, BUILTIN / self.source.name):
            path = folder / name
            if path.is_file():
                self._check(path, self.source.file(name).sha256)
                return path
        return None

    def require(self, *names: str) -> list[Path]:
        """The files, or an error that names all that are missing."""
        found = {name: self.find(name) for name in names}
        if missing := [name for name, path in found.items() if path is None]:
            raise self.missing(missing)
        return [path for path in found.values() if path is not None]

    def missing(self, names: Sequence[str]) -> DatasetError:
        """The error for missing files: which, where to get them, and where to put them."""
        source, files = self.source, " and ".join(names)
        are, them = ("is", "it") if len(names) == 1 else ("are", "them")
        by_hand = f"get {files} from {source.homepage} and place {them} in {self.folder}"
        return DatasetError(
            f"{source.title}: {files} {are} not in {self.folder}",
            fix=source.instructions(self.folder) or f"run `lcifr data fetch {source.name}`, or {by_hand}",
        )

    def _check(self, path: Path, expected: str | None) -> None:
        if not self.verify or expected is None or (found := sha256_of(path)) == expected:
            return
        raise DatasetError(
            f"{path} is not the published file: its sha256 is {found}, the published one {expected}",
            fix=f"move it away and get it again from {self.source.homepage}, or say verify=False to use it as it is",
        )


def split(source: Source, table: CleanTable) -> Dataset:
    """The paper's splits: a fifth for the test unless the source has its own, then a fifth of the rest to validate."""
    from sklearn.model_selection import train_test_split

    X, y, test = table.X, table.y, table.test
    if test is None:
        X, X_test, y, y_test = train_test_split(X, y, test_size=SHARE, random_state=SEED)
        test = (X_test, y_test)
    X_train, X_validation, y_train, y_validation = train_test_split(X, y, test_size=SHARE, random_state=SEED)
    return Dataset(
        source=source,
        schema=table.schema,
        train=Split(X_train, y_train),
        validation=Split(X_validation, y_validation),
        test=Split(*test),
        cautions=source.cautions + table.cautions,
        partial=table.partial,
    )
