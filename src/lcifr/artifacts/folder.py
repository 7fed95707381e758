"""Folders of artifacts: written atomically, read only if every file matches the manifest, and seen to have changed.

A folder with a manifest is represented by the manifest, which holds the hashes of its files.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data.io.files import now, sha256_of, sync, write_json
from lcifr.errors import ArtefactError

MANIFEST = "manifest.json"
LARGEST_JSON = 1 << 30
"""Bytes of a JSON file: ids of tens of millions of people fit, a bomb does not."""


@contextmanager
def fresh_folder(path: str | Path, among: Path | None = None) -> Iterator[Path]:
    """A temporary folder, renamed to ``path`` once everything in it is written; nothing is overwritten.

    ``among`` : where the temporary folder is created, on the same disk; beside ``path`` by default.
    """
    target = Path(path)
    if target.exists():
        raise ArtefactError(f"{target} already exists", fix="choose another name, or remove it yourself")
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=among or target.parent))
    try:
        yield beside
        for file in beside.iterdir():
            sync(file)
        beside.chmod(0o755)
        _rename_to(beside, target)
        sync(target.parent)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _rename_to(beside: Path, target: Path) -> None:
    """Rename, without replacing a folder that has appeared meanwhile, even between this check and the renaming."""
    if target.exists() or target.is_symlink():
        raise _appeared(target)
    try:
        os.rename(beside, target)
    except OSError:
        if target.exists():
            raise _appeared(target) from None
        raise


def _appeared(target: Path) -> ArtefactError:
    return ArtefactError(
        f"{target} has appeared while it was being written: it is left as it is",
        fix="choose another name, or remove it yourself",
    )


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and hash of every file, for the manifest."""
    return {
        file.name: {"sha256": sha256_of(file), "bytes": file.stat().st_size}
        for file in sorted(folder.iterdir())
        if file.name != MANIFEST
    }


def write_manifest(folder: Path, about: Mapping[str, Any]) -> None:
    """Write the manifest of a folder, dated."""
    write_json(folder / MANIFEST, {**about, "written": now()})


def read_json(path: Path) -> Any:
    """Read a JSON file of bounded size; NaN and infinity are refused."""

    def refuse(word: str) -> Any:
        raise ArtefactError(f"{path} holds {word}, which is not JSON", fix="get the file again")

    _require_plain_file(path)
    if path.stat().st_size > LARGEST_JSON:
        raise ArtefactError(
            f"{path} is larger than {LARGEST_JSON} bytes", fix="lcifr did not write it; get the right file"
        )
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ArtefactError(f"{path} is not JSON", fix="get the file again") from None


def _require_plain_file(path: Path) -> None:
    if path.is_symlink() or not path.is_file():
        raise ArtefactError(f"{path} is missing, or is not a regular file", fix="get the whole folder again")


def open_folder(folder: str | Path, form: str, names: Sequence[str]) -> dict[str, Any]:
    """The manifest of a folder that lists exactly these files, whose sizes and hashes all match."""
    root = Path(folder)
    if not root.is_dir():
        raise ArtefactError(f"{root} is not a folder", fix="give the folder that was handed over")
    manifest = read_json(root / MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != form:
        found = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
        raise ArtefactError(
            f"{root / MANIFEST} has the format {found!r}, this version reads {form!r}",
            fix="use the version of lcifr that wrote it, or have it written again",
        )
    files = manifest.get("files")
    if not isinstance(files, dict) or set(files) != set(names):
        raise ArtefactError(f"{root / MANIFEST} does not list exactly the files {', '.join(names)}")
    for name in names:
        _check_file(root / name, files[name])
    return manifest


def check_listed(root: Path) -> None:
    """Check the size and hash of every file that the manifest lists, whatever its format."""
    manifest = read_json(root / MANIFEST)
    files = manifest.get("files") if isinstance(manifest, dict) else None
    for name, entry in files.items() if isinstance(files, dict) else ():
        _check_file(root / Path(name).name, entry)


def _check_file(path: Path, entry: Any) -> None:
    _require_plain_file(path)
    if not isinstance(entry, Mapping) or path.stat().st_size != entry.get("bytes"):
        raise ArtefactError(f"{path} is not as long as the manifest says: truncated?", fix="get the file again")
    if sha256_of(path) != entry.get("sha256"):
        raise ArtefactError(f"{path} does not match the manifest: its hash differs")


def read_arrays(path: Path, shapes: Mapping[str, tuple[type, tuple[int, ...]]]) -> dict[str, NDArray[Any]]:
    """Exactly these arrays of a safetensors file, with these types and shapes; floats must be finite."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    _require_plain_file(path)
    try:
        found = load_file(path)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as problem:
        raise ArtefactError(f"{path} is not a safetensors file: {problem}", fix="get the file again") from None
    if set(found) != set(shapes):
        raise ArtefactError(f"{path} holds {sorted(found)}, expected {sorted(shapes)}")
    for name, (kind, shape) in shapes.items():
        array = found[name]
        if array.dtype != np.dtype(kind) or array.shape != shape:
            raise ArtefactError(
                f"{path}: {name} is {array.dtype} {array.shape}, expected {np.dtype(kind)} {shape}",
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ArtefactError(f"{path}: {name} holds NaN or infinity")
    return found


NAMED = ("lcifr", "numpy", "torch", "highspy")


def versions() -> dict[str, str]:
    """Of what takes part in a proof."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:  # looking them up takes longer than many a proof
    found = []
    for name in NAMED:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


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
