"""The steps of a run that are done: kept with a hash of what each wrote, so that a resumed run trusts nothing else.

A step is known by the files and folders that it writes. The notes lie in ``.steps.json`` of the folder that is worked
in, which goes with all that is hidden when the run has ended.
"""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import final

from lcifr.artifacts.contents import describe_contents, first_change
from lcifr.files import write_json
from lcifr.runs.streaming.parts import ChangedPartWarning

NOTES = ".steps.json"


@final
class Steps:
    """What is done in a folder that is worked in.

    Parameters
    ----------
    work : the folder; nobody else works in it.
    """

    def __init__(self, work: Path) -> None:
        self.work = work

    def kept(self, *names: str) -> bool:
        """Whether a step wrote these, and they are what it wrote. If not, nothing of them is left."""
        note = self._notes().get(names[0])
        changed = None if note is None else first_change(self.work, note)
        if note is not None and changed is None:
            return True
        if changed is not None:
            text = f"{self.work / changed} is not what the run before has written: it is made again"
            warnings.warn(text, ChangedPartWarning, stacklevel=2)
        for name in names:
            _remove(self.work / name)
        return False

    def keep(self, *names: str) -> None:
        """These are written, all of them."""
        write_json(self.work / NOTES, self._notes() | {names[0]: describe_contents(self.work, *names)})

    def _notes(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads((self.work / NOTES).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
