"""Verdicts of an audit that is not finished, counted from the parts that are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from lcifr.runs.auditing.gathering import AUDITED


@dataclass
class VerdictsSoFar:
    """Counts of a run's verdicts; each part is read once.

    Parameters
    ----------
    work : the folder that the run works in.
    """

    work: Path
    _parts: dict[str, Counter[str]] = field(default_factory=dict)

    def count(self) -> dict[str, int]:
        """People by verdict, of those parts that are there now; of all once the parts have been joined."""
        from lcifr.runs.streaming.audited import AUDITED as JOINED

        joined = self.work / AUDITED / JOINED
        paths = [joined] if joined.is_file() else sorted((self.work / f".{AUDITED}.parts").glob("part-*.parquet"))
        found: Counter[str] = Counter()
        for path in paths:
            if path.name not in self._parts:
                counted = _count(path)
                if counted is None:
                    continue
                self._parts[path.name] = counted
            found += self._parts[path.name]
        return dict(found)


def _count(path: Path) -> Counter[str] | None:
    """None for a file that went away meanwhile: parts are removed when they have been joined."""
    from pyarrow import ArrowInvalid, parquet

    try:
        return Counter(parquet.read_table(path, columns=["verdict"])["verdict"].to_pylist())
    except (FileNotFoundError, ArrowInvalid):
        return None
