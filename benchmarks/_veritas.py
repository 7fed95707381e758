"""Veritas (dtai-veritas), asked the same question as the search over trees, person by person."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.trees import Scene

PATIENCE = 5.0
"""CPU seconds that Veritas has for a person."""


class Veritas:
    """Veritas on the same question, person by person."""

    def __init__(self, scene: Scene) -> None:
        import veritas

        self.scene, self.veritas = scene, veritas
        self.trees = veritas.get_addtree(scene.estimator, silent=True)
        self.offset = float(self.trees.get_base_score(0))
        cell = scene.region.cells[0]
        assert len(scene.region.cells) == 1
        self.cell = cell

    def boxes(self, person: int) -> Iterator[list[Any]]:
        """One for each combination of categories; intervals are open above."""
        interval, cell = self.veritas.Interval, self.cell
        box = [interval(0.0, float(np.finfo(np.float32).tiny))] * self.scene.region.features
        for place, column in enumerate(cell.numeric):
            above = float(np.nextafter(np.float32(cell.upper[person, place]), np.float32(np.inf)))
            box[column] = interval(float(cell.lower[person, place]), above)
        allowed = [choice.columns[choice.allowed[person]] for choice in cell.choices]
        for chosen in product(*allowed):
            own = list(box)
            for column in chosen:
                own[column] = interval(1.0, 1.0 + 2.0**-23)
            yield own

    def decide(self, boxes: Sequence[Any], above: bool) -> str:
        """``certified``, ``refuted`` or ``open``."""
        kind = self.veritas.HeuristicType
        late = time.process_time() + PATIENCE
        for box in boxes:
            config = self.veritas.Config(kind.MIN_OUTPUT if above else kind.MAX_OUTPUT)
            config.ignore_state_when_worse_than = 0.0
            config.stop_when_num_solutions_exceeds = 1
            search, reason = config.get_search(self.trees, box), self.veritas.StopReason.OUT_OF_TIME
            while reason == self.veritas.StopReason.OUT_OF_TIME and time.process_time() < late:
                reason = search.step_for(0.2, 100)
            if search.num_solutions() > 0:
                return "refuted"
            if reason != self.veritas.StopReason.NO_MORE_OPEN:
                return "open"
        return "certified"
