"""Whether the run that made a folder can be repeated: its settings, once its inputs are what they were."""

from __future__ import annotations

from pathlib import Path

from lcifr.errors import LcifrError
from lcifr.runs.events import note
from lcifr.runs.folders.settings import RunInput, RunSettings, current_versions


def unchanged_settings(folder: Path) -> RunSettings:
    """The settings of a result folder, whose inputs are there and unchanged; other versions are noted."""
    settings = RunSettings.read(folder)
    _refuse_changed_inputs(settings)
    versions = current_versions()
    for name, before in settings.versions.items():
        if versions.get(name) != before:
            note(f"{name} was {before} then and is {versions.get(name)} now: numbers may differ a little")
    return settings


def _refuse_changed_inputs(settings: RunSettings) -> None:
    for name, before in settings.inputs.items():
        path = Path(before.path)
        if not path.exists():
            raise LcifrError(f"{path} ({name}) is not there", fix="run it from the folder where it was run")
        if RunInput.of(path) != before:
            raise LcifrError(
                f"{path} ({name}) is not what it was: its hash differs", fix="put the old one in its place"
            )
