"""LibraryModel: a model of another library, read for the columns of a table, with a φ; compared with the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.deployment import deploy_both
from lcifr.certification.library.comparison import LibraryComparison, compare
from lcifr.certification.library.decisions import EvaluatedPeople, LibraryDecisions
from lcifr.certification.library.probes import make_up_people
from lcifr.certification.producer import FrozenEncoder
from lcifr.certification.query import Outputs, outputs_at
from lcifr.data import Individuals
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import choose_arithmetic
from lcifr.models.load import read_table_model
from lcifr.models.model import Model
from lcifr.models.table_model import TableModel
from lcifr.similarity.similarity import Similarity

MADE_UP = 256
"""People beside those of the table that a model is compared with its library on, at least."""


@dataclass(frozen=True)
class LibraryModel:
    """What proofs are about, and the library's own word on it.

    Parameters
    ----------
    encoder : the encoding and the first layer, with φ. model : what decides behind it, with what counts as the same.
    source : the model as it was read, with the library's own functions.
    """

    encoder: FrozenEncoder
    model: Model
    source: TableModel

    @classmethod
    def read(
        cls,
        model: Any,
        table: Any,
        similarity: Similarity,
        groups: Sequence[Sequence[Any]] | None = None,
        tolerance: float | None = None,
    ) -> LibraryModel:
        """Read a fitted model, or what was loaded from a file, for the columns of a pandas frame.

        Raises
        ------
        NetworkError
            For what cannot be read exactly, by the name of the step that stands in the way.
        """
        source = read_table_model(model, table, similarity.encoding)
        encoder = FrozenEncoder(source.inputs, similarity.over(source.encoding))
        return cls(encoder, source.model.agreeing(groups, tolerance), source)

    def scores(self, people: Individuals) -> NDArray[np.float64]:
        """(people, outputs) what the model as it was read computes, before anything is decided."""
        return self._outputs(self._encoded(people), rounds=False).values

    def compare(self, people: Individuals, frame: Any = None) -> LibraryComparison:
        """Both on some people; ``frame`` has them as the library takes them, where that is at hand."""
        said = self.source.library_says(people, frame)
        return compare(self.model, self._outputs(self._encoded(people)), said.decisions, said.outputs)

    def decisions_about(
        self, people: Individuals, frame: Any = None, ids: Sequence[Any] | None = None
    ) -> LibraryDecisions:
        """The library's decisions about people.

        Compared with are these people, and as many others made up among them as it takes to have every category: a
        model that is read wrongly elsewhere would decide alike about those who happen to be in the table.

        Raises
        ------
        NetworkError
            If the library decides otherwise about somebody, where rounding cannot be the reason.
        """
        decided, own = self._agreed(people, "people", frame, ids)
        if len(people):
            count = max([MADE_UP, *(len(category.values) for category in people.schema.categorical)])
            made_up = make_up_people(self.source, people, count)
            self._agreed(made_up, "people made up among those of the table")
        return LibraryDecisions(self.source, self.model, decided, own)

    def _agreed(
        self, people: Individuals, who: str, frame: Any = None, ids: Sequence[Any] | None = None
    ) -> tuple[NDArray[Any], EvaluatedPeople]:
        """(people,) the library's decisions, if rounding can be the reason wherever they are not those of the model.

        Also what the model as it was read computes.
        What rounds in the library is bounded only for those of whom something differs that our own pass explains not.
        """
        said, points = self.source.library_says(people, frame), self._encoded(people)
        outputs = self._outputs(points, rounds=False)
        exact = compare(self.model, outputs, said.decisions, said.outputs)
        if len(rows := np.flatnonzero(exact.wrong)):
            numbers = None if said.outputs is None else said.outputs[rows]
            some = compare(self.model, self._outputs(points[rows]), said.decisions[rows], numbers)
            wrong = np.zeros(len(people), np.bool_)
            wrong[rows] = some.wrong
            self._refuse_difference(replace(exact, wrong=wrong), who, ids)
        return said.decisions, EvaluatedPeople(people, points, outputs.values, outputs.rounding_error)

    def _refuse_difference(self, found: LibraryComparison, who: str, ids: Sequence[Any] | None) -> None:
        if found.agrees:
            return
        row = int(found.wrong.argmax())
        named = f"row {row}" if ids is None else f'"{ids[row]}"'
        raise NetworkError(
            f"the library decides otherwise than its model as it was read about {int(found.wrong.sum())} of "
            f"{len(found)} {who}; the first is {named}: {found.library[row]!r}, not {found.read[row]!r}",
            fix="see that the table is the one that the model takes (spaces in texts, dtypes); "
            "`lcifr doctor --model` shows more",
        )

    def _encoded(self, people: Individuals) -> NDArray[np.float64]:
        return self.encoder.encoding.encode(people)

    def _outputs(self, points: NDArray[np.float64], *, rounds: bool = True) -> Outputs:
        """Of encoded people, with what rounding can do in the library.

        That is a bound for sums in any order, so for its own, in its format.
        """
        native = choose_arithmetic(None, *(factor.native for factor in self.model.computed))
        deployment = deploy_both(self.encoder, self.model, native, None)
        nothing = None if rounds else np.zeros(deployment.outputs)
        return outputs_at(deployment, points, nothing)
