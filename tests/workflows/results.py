"""Results as the tests read them: the plain JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def result(folder: Path) -> dict[str, Any]:
    """The result of a run."""
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))
