"""Hashes of the files of a folder, and detection of files that have changed.

A folder with a manifest is represented by the manifest, which holds the hashes of its files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lcifr.artifacts.folder import MANIFEST, check_listed
from lcifr.errors import ArtefactError
from lcifr.files import sha256_of


def describe_contents(root: Path, *names: str) -> dict[str, str]:
    """SHA-256 of every file by its path below ``root``; hidden files are skipped.

    Parameters
    ----------
    names : files and folders of ``root``; all of them by default.
    """
    there = [root / name for name in names] if names else sorted(root.iterdir())
    files = sorted(file for one in there for file in _files(one))
    return {file.relative_to(root).as_posix(): sha256_of(file) for file in files}


def _files(path: Path) -> Iterator[Path]:
    if path.name.startswith("."):
        return
    if not path.is_dir():
        yield path
    elif (path / MANIFEST).is_file():
        yield path / MANIFEST
    else:
        for below in path.iterdir():
            yield from _files(below)


def first_change(root: Path, described: Mapping[str, str]) -> str | None:
    """The first file that is missing or has changed; None where there is none."""
    for name, expected in described.items():
        file = root / name
        if file.is_symlink() or not file.is_file() or sha256_of(file) != expected:
            return name
        if file.name == MANIFEST:
            try:
                check_listed(file.parent)
            except ArtefactError as problem:
                return f"{name} ({str(problem).splitlines()[0]})"
    return None
