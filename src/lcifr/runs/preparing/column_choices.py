"""ColumnChoices: what a user knows of a table's columns better than a guess."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ColumnChoices:
    """What the user knows better than a guess; names of columns.

    Parameters
    ----------
    target, id_column : what is to be predicted, and who people are; None if not said.
    categorical, numeric : columns of a kind that is not guessed. drop : columns to leave out.
    """

    target: str | None = None
    id_column: str | None = None
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that is named."""
        known = tuple(name for name in (self.target, self.id_column) if name is not None)
        return (*known, *self.categorical, *self.numeric, *self.drop)
