"""A matplotlib figure that a notebook shows as it is, without pyplot."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """Notebooks know how to show a plain figure only after pyplot was imported; this one shows itself."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()
