"""Reader of ONNX files: graphs of affine and piecewise linear operators become models on the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lcifr.data import Encoding
from lcifr.models.files.description import OF_INPUTS, THRESHOLD_ENTRIES, DescribedOutput, ModelDescription, TakenEntries
from lcifr.models.files.outline import ModelOutline
from lcifr.models.onnx.assembly import LibraryWord, assembled
from lcifr.models.onnx.binding import TableColumns, binding
from lcifr.models.onnx.decision import ReadDecision, deciding_output, read_decision
from lcifr.models.onnx.feeding import Feeds, OutputDecisions
from lcifr.models.onnx.graph import Graph, read_bytes, read_graph, require_onnx
from lcifr.models.onnx.reading import ReadGraph, read_value
from lcifr.models.onnx.runtime import OnnxPredictor, runtime_name, runtime_scores
from lcifr.models.onnx.values import Columns, Texts
from lcifr.models.table_model import TableModel

TAKES = TakenEntries(
    OF_INPUTS | THRESHOLD_ENTRIES | {"output.name", "output.position", "arithmetic"},
    {"missing": "leave missing out: an ONNX file says itself what is missing"},
)


@dataclass(frozen=True)
class OnnxModel:
    """An ONNX file whose graph can be read.

    Parameters
    ----------
    data : the file. source : its name, for messages.
    description : of its columns and outputs, where it does not say so itself.
    """

    data: bytes = field(repr=False)
    graph: Graph = field(repr=False)
    description: ModelDescription | None = None
    source: str = "the model"

    @property
    def described_output(self) -> DescribedOutput | None:
        return None if self.description is None else self.description.output

    def read_table(self, table: Any, encoding: Encoding) -> TableModel:
        """The model on the raw columns of a pandas frame.

        Raises
        ------
        NetworkError
            For what is not exactly representable, with the node that stands in the way.
        """
        output, read, decision = self._read(TableColumns(encoding.schema, table))
        bound = {
            one.name: value
            for one in self.graph.inputs
            if isinstance(value := read.values.get(one.name), Columns | Texts)
        }
        decides = OutputDecisions(self.described_output, decision.labels, decision.own_labels)
        predictor = OnnxPredictor(self.data, self.graph, Feeds(encoding.schema), bound, output, decides)
        asked = None if self.description is None else self.description.arithmetic
        said = runtime_scores(predictor, read.values, decision.scores, read.arithmetic)
        library = LibraryWord(predictor, runtime_name(), said)
        return assembled(decision, asked or read.arithmetic, read.divisions, library, table, encoding)

    def _read(self, table: TableColumns) -> tuple[str, ReadGraph, ReadDecision]:
        output = deciding_output(self.graph, self.described_output)
        bind = binding(self.graph, self.description, table)
        read = read_value(self.graph, output, bind)
        for one in self.graph.inputs:  # described inputs that nothing needs: their entries are checked all the same
            if self.description is not None and self.description.of_input(one.name):
                bind(one)
        return output, read, read_decision(read.value, self.described_output, output)

    def outline(self) -> ModelOutline:
        """What the file says without a table."""
        from lcifr.models.onnx.outline import outline_graph

        return outline_graph(self.graph, self.description)


def read_file(path: str | Path, description: ModelDescription | None = None) -> OnnxModel:
    """An ONNX file; nothing in it is run, and no other file is opened.

    Raises
    ------
    NetworkError
        For what is no ONNX file, or not one that can be read; which operators work depends on where they stand, so
        some are refused only when the model meets its table.
    """
    file = Path(path)
    return read_onnx(read_bytes(file), description, str(file))


def read_onnx(data: bytes, description: ModelDescription | None = None, source: str = "the model") -> OnnxModel:
    """The same from memory."""
    require_onnx(f"{source} is an ONNX file")
    return OnnxModel(data, read_graph(data, source), description, source)
