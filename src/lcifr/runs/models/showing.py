"""What a model file holds, in words and as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lcifr.data.files import json_value
from lcifr.models.source import ModelOutline
from lcifr.runs.models.opening import open_model


@dataclass(frozen=True)
class ShownModel:
    """A model file.

    Parameters
    ----------
    format : what the file is. description : the file that says which column feeds which input; empty for none.
    columns : that feed the model, where it or its description says so; None where nobody does.
    describes_columns : whether the description says so.
    draft : whether the description is marked as one.
    """

    file: str
    format: str
    sha256: str
    outline: ModelOutline
    description: str
    columns: tuple[str, ...] | None
    describes_columns: bool = False
    draft: bool = False

    @property
    def described_words(self) -> str:
        """What stands where, in a sentence."""
        what = "The columns are" if self.describes_columns else "What the file does not say is"
        return f"{what} {'declared with' if self.description.startswith('--') else 'described in'} {self.description}."

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        outline = asdict(self.outline) | {"classes": [json_value(one) for one in self.outline.classes]}
        return {
            "format": "lcifr-model-shown-1",
            "command": "model show",
            "file": self.file,
            "model_format": self.format,
            "sha256": self.sha256,
            "description": self.description or None,
            "draft": self.draft,
            "columns": None if self.columns is None else list(self.columns),
            "outline": outline,
        }


def show_model(path: Path, describe: Path | None = None, missing: float | None = None) -> ShownModel:
    """Load a model file and say what it is; ``missing`` as for :func:`open_model`."""
    file = open_model(path, describe, missing, drafts=True)
    outline, described = file.outline(), file.description
    columns = outline.columns if described is None or not described.inputs else described.columns
    source, inputs = ("", False) if described is None else (described.source, bool(described.inputs))
    draft = described is not None and described.draft
    return ShownModel(str(path), str(file.format), file.sha256, outline, source, columns, inputs, draft)
