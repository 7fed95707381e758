"""Outline of an ONNX file in words, as far as the graph says it without a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod

import numpy as np

from lcifr.data import Categorical, Numeric, Schema
from lcifr.data.program import Operation
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.columns import NumberColumn
from lcifr.models.dataflow.layering import layer_out
from lcifr.models.dataflow.tree_outputs import outputs_behind
from lcifr.models.files.description import (
    DescribedInput,
    DescribedOutput,
    InputKind,
    Meaning,
    ModelDescription,
    ScoreComparison,
)
from lcifr.models.files.outline import ModelInput, ModelOutline, rule_words
from lcifr.models.function import Function
from lcifr.models.model import Model
from lcifr.models.onnx.binding import TableColumns, binding
from lcifr.models.onnx.calls import CodedNumberError
from lcifr.models.onnx.decision import deciding_output, read_decision
from lcifr.models.onnx.graph import Graph, GraphTensor
from lcifr.models.onnx.reading import ReadGraph, read_value
from lcifr.models.onnx.runtime import runtime_name
from lcifr.models.onnx.tensors import is_text
from lcifr.models.onnx.values import Columns, Decided, Hidden, Probabilities, Softmax, Value
from lcifr.models.trees.trees import Trees

SILENT = ("Constant", "Identity", "Dropout", "Cast", "Reshape", "ZipMap")
"""Operators that change no number, or only its type."""


def outline_graph(graph: Graph, description: ModelDescription | None) -> ModelOutline:
    """What is in the file; the rule where the graph or a description says it.

    Raises
    ------
    NetworkError
        For what is not exactly representable, whatever the columns are.
    """
    described = None if description is None else description.output
    output = deciding_output(graph, described)
    read, coded = _read_stand_in(graph, description, output)
    counted = Counter(node.operator for node in graph.needed_for(output) if node.operator not in SILENT)
    steps = tuple(f"{many} {name}" if many > 1 else name for name, many in counted.items())
    library = graph.dialect
    inputs = _inputs(graph, description, coded)
    raw = _reads_raw(read)
    try:
        decision = read_decision(read.value, described, output)
    except NetworkError as unsaid:
        words, outputs = str(unsaid).partition("\n")[0], prod(getattr(read.value, "shape", (1,)))
        return ModelOutline(
            library,
            runtime_name(),
            inputs,
            steps,
            outputs,
            words,
            read.arithmetic,
            output=_said_of(read.value, graph, output),
            reads_raw=raw,
            metadata=graph.metadata,
        )
    function: Function = Trees.of(1, np.zeros(decision.rule.outputs), [])  # of trees any will do for the words
    if not outputs_behind(decision.scores):
        function = layer_out(decision.scores, Arithmetic.EXACT).networks[-1]
    labels = () if decision.labels is None else tuple(decision.labels.tolist())
    rule = rule_words(Model(function, decision.rule, decision.labels))
    notes = tuple(
        f"{node} divides by numbers whose inverses no float64 holds: verdicts in float arithmetic cover it, exact ones "
        "are refused."
        for node in read.divisions[:3]
    )
    return ModelOutline(
        library,
        runtime_name(),
        inputs,
        steps,
        decision.rule.outputs,
        rule,
        read.arithmetic,
        labels,
        decision.labels is None,
        notes,
        output=_said_of(read.value, graph, output),
        reads_raw=raw,
        metadata=graph.metadata,
    )


def _said_of(value: Value, graph: Graph, name: str) -> DescribedOutput | None:
    """What the graph itself says of the output that decides: a class, or probabilities; None of other numbers."""
    named = name if len(graph.outputs) > 1 else None
    if isinstance(value, Decided):
        return DescribedOutput(Meaning.CLASS, named)
    if isinstance(value, Probabilities) and prod(value.shape) == 1:
        return DescribedOutput(Meaning.PROBABILITY, named, comparison=ScoreComparison.AT_LEAST, threshold=0.5)
    return DescribedOutput(Meaning.SCORES, named) if isinstance(value, Probabilities | Softmax) else None


def _reads_raw(read: ReadGraph) -> bool:
    """Whether trees compare the inputs, or the graph scales them itself."""
    vectors = [one.vector for one in read.values.values() if isinstance(one, Hidden)]
    vectors += [one.scores for one in read.values.values() if isinstance(one, Decided)]
    programs = [
        column.program
        for one in read.values.values()
        if isinstance(one, Columns)
        for column in one.block.columns
        if isinstance(column, NumberColumn)
    ]
    return any(map(outputs_behind, vectors)) or any(
        step.operation is not Operation.CAST for program in programs for step in program.steps
    )


def _read_stand_in(graph: Graph, description: ModelDescription | None, output: str) -> tuple[ReadGraph, frozenset[str]]:
    """The graph over made-up columns; and the inputs that it codes value by value, so that they are categories."""
    coded: frozenset[str] = frozenset()
    while True:
        stand_in, named = _stand_in(graph, description, coded)
        try:
            bound = binding(graph, stand_in if stand_in.inputs else None, TableColumns(named))
            return read_value(graph, output, bound), coded
        except CodedNumberError as found:
            if stand_in.inputs or found.attribute in coded or found.attribute not in named:
                raise
            coded |= {found.attribute}


def _inputs(graph: Graph, description: ModelDescription | None, coded: frozenset[str]) -> tuple[ModelInput, ...]:
    if description is not None and description.inputs:
        return tuple(ModelInput(column) for column in description.columns)
    named = _are_columns(graph)
    return tuple(
        ModelInput(one.name, prod(one.shape or (1,)), _type_words(one), named, True if one.name in coded else None)
        for one in graph.inputs
    )


def _type_words(tensor: GraphTensor) -> str:
    return "texts" if tensor.dtype is None or is_text(tensor.dtype) else str(tensor.dtype)


def _are_columns(graph: Graph) -> bool:
    """Whether every input is one number or text of a person, as skl2onnx makes it of a column."""
    return all(one.shape is None or prod(one.shape) == 1 for one in graph.inputs)


def _stand_in(
    graph: Graph, description: ModelDescription | None, coded: frozenset[str]
) -> tuple[ModelDescription, Schema]:
    """Made-up columns that fit the graph, and the entries that feed it; none where its inputs are columns."""
    if _are_columns(graph) and (description is None or not description.inputs):
        texts = tuple(dict.fromkeys(text for node in graph.nodes for text in _categories(node.attributes)))
        columns: list[Numeric | Categorical] = [
            Categorical(one.name, texts or ("text",))
            if one.dtype is None or is_text(one.dtype)
            else Categorical(one.name, ("0", "1"))
            if one.name in coded
            else _number(one.name)
            for one in graph.inputs
        ]
        return ModelDescription(()), Schema(tuple(columns))
    entries, made = [], []
    for one in graph.inputs:
        for place in range(prod(one.shape) if one.shape is not None else 1):
            made.append(_number(f"{one.name}[{place}]"))
            entries.append(DescribedInput(InputKind.NUMBER, made[-1].name, one.name))
    return ModelDescription(tuple(entries)), Schema(tuple(made))


def _number(name: str) -> Numeric:
    return Numeric(name, integer=True)


def _categories(attributes: Mapping[str, object]) -> list[str]:
    lists = [attributes.get(name) for name in ("cats_strings", "keys_strings", "classes_strings")]
    return [text for one in lists if isinstance(one, tuple) for text in one if isinstance(text, str) and text.strip()]
