"""What a runtime is given and what its outputs decide: tensors of people, and decisions of numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Schema
from lcifr.data.frames import text_of
from lcifr.models.columns import Column, ConstantColumn, NumberColumn
from lcifr.models.files.description import DescribedOutput, Meaning
from lcifr.models.onnx.tensors import AnyArray
from lcifr.models.onnx.values import Columns, Texts


@dataclass(frozen=True)
class Feeds:
    """People of a pandas frame as tensors."""

    schema: Schema

    def tensor(self, value: Columns | Texts, people: Any) -> AnyArray:
        """(people, …) what an input is for everybody in the frame, in its own type."""
        if isinstance(value, Texts):
            texts = [self._looked_up(people, one.attribute, one.texts) for one in value.columns]
            return np.array(texts, dtype=object).T.reshape(len(people), *value.shape)
        columns = [self._numbers(people, one) for one in value.block.columns]
        return np.array(columns).T.reshape(len(people), *value.shape).astype(value.dtype)

    def _numbers(self, people: Any, column: Column) -> NDArray[np.float64]:
        if isinstance(column, ConstantColumn):
            return np.full(len(people), column.value)
        if isinstance(column, NumberColumn):
            return column.program(people[column.attribute].to_numpy(dtype=np.float64))
        return np.array(self._looked_up(people, column.attribute, column.values), dtype=np.float64)

    def _looked_up(self, people: Any, attribute: str, entries: tuple[Any, ...]) -> list[Any]:
        values = self.schema[attribute].values  # type: ignore[union-attr]
        known = dict(zip(values, entries, strict=True))
        return [known[text_of(one).strip()] for one in people[attribute]]


@dataclass(frozen=True)
class OutputDecisions:
    """What the numbers or classes of an output decide.

    Parameters
    ----------
    described : by a description; None where the model says so itself.
    labels : of the classes; None for numbers. own_labels : as the model has them.
    """

    described: DescribedOutput | None
    labels: NDArray[Any] | None = field(repr=False, compare=False)
    own_labels: tuple[Any, ...] = ()

    def __call__(self, outputs: AnyArray) -> NDArray[Any]:
        """(people, …) outputs to (people,) decisions; (people, outputs) where several numbers are the decision."""
        rows = outputs.reshape(len(outputs), -1)
        meaning = Meaning.CLASS if self.described is None else self.described.meaning
        if self.labels is None:
            return rows[:, 0] if rows.shape[1] == 1 else rows
        if meaning is Meaning.CLASS:
            named = dict(zip(self.own_labels, self.labels.tolist(), strict=True))
            return np.asarray([named[one] for one in rows[:, 0].tolist()])
        if meaning is Meaning.SCORES:
            return np.asarray(self.labels[rows.argmax(1)])
        return np.asarray(self.labels[self._compared(rows).astype(np.int64)])

    def _compared(self, rows: AnyArray) -> NDArray[np.bool_]:
        described = self.described
        assert described is not None
        return described.is_second(rows[:, -1 if described.position is None else described.position])
