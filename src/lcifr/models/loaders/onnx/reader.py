"""Reader of ONNX files: the graph node by node, bound to a table's columns, as a model to audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.data.frames import is_missing, text_of
from lcifr.data.program import Operation
from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.columns import (
    FLOAT64,
    Block,
    Column,
    ConstantColumn,
    Dtype,
    NumberColumn,
    RawColumn,
    as_numbers,
    constant_column,
    described_columns,
    encoding_of,
    float_in,
    inputs_of,
)
from lcifr.models.description import (
    OF_INPUTS,
    THRESHOLD_ENTRIES,
    DescribedInput,
    DescribedOutput,
    InputKind,
    Meaning,
    ModelDescription,
    ScoreComparison,
    TakenEntries,
)
from lcifr.models.function import Function
from lcifr.models.loaders.dataflow import LARGEST, ROUNDINGS, FlowVector, layer_out, new_weights
from lcifr.models.loaders.onnx.decisions import ReadDecision, deciding_output, read_decision
from lcifr.models.loaders.onnx.graph import (
    AnyArray,
    Graph,
    GraphTensor,
    Node,
    is_text,
    read_bytes,
    read_graph,
    require_onnx,
)
from lcifr.models.loaders.onnx.operators import apply
from lcifr.models.loaders.onnx.runtime import Feeds, OnnxPredictor, OutputDecisions, runtime_name, runtime_scores
from lcifr.models.loaders.onnx.tree_ensembles import build_sum, outputs_behind
from lcifr.models.loaders.onnx.values import (
    Call,
    CodedNumberError,
    Columns,
    Constant,
    Decided,
    Exponentials,
    GraphContext,
    Hidden,
    Probabilities,
    Softmax,
    TextColumn,
    Texts,
    Value,
)
from lcifr.models.model import Model
from lcifr.models.network import chain_of, identity
from lcifr.models.source import LibraryAnswer, ModelInput, ModelOutline, TableModel, rule_words

# Reading of a graph: its nodes one after the other, from the table's columns to the value that decides.

MOST_NUMBERS = 2**22
"""Components of all values together, at most: a short file may ask for any number."""
COMPUTED = (Hidden, Exponentials, Probabilities, Softmax, Decided)
"""Values of the function, whose type is that of its arithmetic."""
MALFORMED = (ValueError, TypeError, IndexError, KeyError, OverflowError, AttributeError, ArithmeticError)
"""What numpy says of shapes and indices that do not fit."""


@dataclass(frozen=True)
class ReadGraph:
    """What a graph computes for the output that decides.

    Parameters
    ----------
    value : of that output. values : of everything that it was made of, by name.
    arithmetic : of the function. divisions : nodes whose constants no float64 replaces exactly.
    """

    value: Value
    values: dict[str, Value]
    arithmetic: Arithmetic
    divisions: tuple[str, ...]


def read_value(graph: Graph, output: str, bind: Bind) -> ReadGraph:
    """The value of an output, as a formula of the columns that ``bind`` gives for the graph's inputs.

    Raises
    ------
    NetworkError
        For what is not exactly representable, with the name of the node.
    """
    nodes = graph.needed_for(output)
    merged = _MergedConstants.of(graph, nodes)
    context = GraphContext(graph.version, _people(graph), merged.spare)
    read = {name for node in nodes for name in node.inputs}
    values: dict[str, Value] = {name: Constant(array) for name, array in graph.constants.items() if name in read}
    values |= {one.name: bind(one) for one in graph.inputs if one.name in read}
    numbers, weights = 0, 0
    seen: set[FlowVector] = set()
    for node in nodes:
        given = tuple(values[name] if name else None for name in node.inputs)
        found = _computed(Call(node, given, context))
        values |= {name: value for name, value in zip(node.outputs, found, strict=False) if name}
        numbers += sum(1 if isinstance(one, Constant) else prod(one.shape) for one in found)
        weights += sum(new_weights(one.vector, seen) for one in found if isinstance(one, Hidden))
        if numbers > MOST_NUMBERS or weights > LARGEST:
            raise NetworkError(f"{node.where}: the model is larger than {MOST_NUMBERS} numbers or {LARGEST} weights")
    if output not in values:
        raise NetworkError(f'the output "{output}" is one that its node does not have here')
    computed = [values[name] for name in read | {output} if name in values]  # not what nothing reads
    single = any(isinstance(value, COMPUTED) and value.dtype == np.float32 for value in computed)
    arithmetic = Arithmetic.FLOAT32 if single or merged.as_float32 else Arithmetic.FLOAT64
    return ReadGraph(values[output], values, arithmetic, tuple(context.divisions))


def _computed(call: Call) -> tuple[Value, ...]:
    try:
        with np.errstate(all="ignore"):  # of what overflows or is NaN operators speak themselves
            return apply(call)
    except NetworkError:
        raise
    except MALFORMED as problem:
        raise call.refuse(f"it does not fit what it is given: {problem}") from None


def _people(graph: Graph) -> int | None:
    sizes = {one.people for one in graph.inputs}
    return sizes.pop() if len(sizes) == 1 else None


@dataclass(frozen=True)
class _MergedConstants:
    """What a runtime may multiply into the weights of a MatMul: batch normalisations, and factors of one number.

    Parameters
    ----------
    spare : roundings that a weight may have more. as_float32 : whether a float64 factor becomes a float32 on the way,
        as in onnxruntime (its fusion of MatMul with a scale has a float32 attribute).
    """

    spare: int
    as_float32: bool

    @classmethod
    def of(cls, graph: Graph, nodes: list[Node]) -> _MergedConstants:
        if not any(node.operator == "MatMul" for node in nodes):
            return cls(0, False)
        factors = dict(graph.constants)
        factors |= {node.outputs[0]: _constant(node) for node in nodes if node.operator == "Constant"}
        scales = [
            (node.operator, factors[name])
            for node in nodes
            if node.operator in ("Mul", "Div")
            for name in node.inputs
            if name in factors and _rounds(factors[name])
        ]
        normalises = any(node.operator == "BatchNormalization" for node in nodes)
        narrowed = [
            operator == "Div" or (array.astype(np.float32) != array).any()
            for operator, array in scales
            if array.dtype == np.float64
        ]
        return cls(ROUNDINGS if scales or normalises else 0, any(narrowed))


def _constant(node: Node) -> AnyArray:
    values = [np.asarray(value) for value in node.attributes.values()]
    return values[0] if values else np.zeros(0)


def _rounds(factor: AnyArray) -> bool:
    """Whether it is one number, and a product with it may be rounded."""
    return factor.size == 1 and factor.dtype.kind == "f" and bool(np.abs(np.frexp(factor)[0]).ravel()[0] != 0.5)


# Binding of a graph's inputs to the columns of a table: by their names, or by a description of the model.

DESCRIBE = "describe its inputs: `lcifr init people.csv --model model.onnx` proposes a model.toml"
WHOLE = np.dtype(np.int64)


@dataclass(frozen=True)
class TableColumns:
    """A table's schema, and how it writes the values of its categories.

    Parameters
    ----------
    frame : of pandas, for the texts as they stand there; None where there is none at hand.
    """

    schema: Schema
    frame: Any = None

    def float_of(self, name: str) -> Dtype:
        """The floating-point type in which the table holds a number; float64 where there is no frame."""
        return FLOAT64 if self.frame is None or name not in self.frame.columns else float_in(self.frame, name)

    def written(self, name: str) -> tuple[str, ...]:
        """The texts of a category's values as the table has them: the schema's are without blanks around."""
        values = self.schema[name].values  # type: ignore[union-attr]
        if self.frame is None or name not in self.frame.columns:
            return values
        seen = {text_of(one).strip(): text_of(one) for one in self.frame[name].unique() if not is_missing(one)}
        return tuple(seen.get(value, value) for value in values)


Bind = Callable[[GraphTensor], "Columns | Texts"]


def binding(graph: Graph, description: ModelDescription | None, table: TableColumns) -> Bind:
    """What each input of the graph is, as columns of the table.

    Raises
    ------
    NetworkError
        For a description of inputs that the graph does not have.
    """
    if description is None or not description.inputs:
        return lambda tensor: _by_name(tensor, table)
    names = [one.name for one in graph.inputs]
    for name in {one.input for one in description.inputs} - {None}:
        if name not in names:
            raise NetworkError(
                f'{description.source}: the model has no input "{name}".{did_you_mean(str(name), names)}',
                fix=f"one of {', '.join(names)}",
            )
    only = len(names) == 1
    nameless = [place for place, one in enumerate(description.inputs, 1) if one.input is None]
    if nameless and (not only or len(nameless) < len(description.inputs)):
        raise NetworkError(
            f"{description.source}: [[inputs]] {nameless[0]} does not say which input of the model it feeds",
            fix=f'add input = "…" to each entry: {", ".join(names)}',
        )

    def bind(tensor: GraphTensor) -> Columns | Texts:
        entries = description.of_input(tensor.name) or (description.of_input(None) if only else ())
        if not entries:
            raise NetworkError(f'{description.source}: nothing feeds the input "{tensor.name}"', fix="add its entries")
        return _described(tensor, entries, table, description.source)

    return bind


def _by_name(tensor: GraphTensor, table: TableColumns) -> Columns | Texts:
    if tensor.name not in table.schema or (tensor.shape is not None and prod(tensor.shape) != 1):
        size = "" if tensor.shape is None else f", {prod(tensor.shape)} numbers,"
        raise NetworkError(
            f'the input "{tensor.name}"{size} of the model is not a column of the table.'
            f"{did_you_mean(tensor.name, table.schema.names)}",
            fix=DESCRIBE,
        )
    return _as_is(tensor, tensor.name, table)


def _as_is(tensor: GraphTensor, column: str, table: TableColumns) -> Columns | Texts:
    """A column as the table holds it, in the tensor's type."""
    attribute, where = table.schema[column], f'input "{tensor.name}"'
    shape = (1,) if tensor.shape is None else tensor.shape
    if tensor.dtype is None:
        raise NetworkError(f"{where} is not a tensor")
    if is_text(tensor.dtype):
        if not isinstance(attribute, Categorical):
            raise NetworkError(
                f'{where} takes texts, but the schema says that "{column}" is a number',
                fix=f'declare it categorical: Schema.infer(…, categorical=["{column}"])',
            )
        return Texts((TextColumn(column, table.written(column)),), shape)
    if not isinstance(attribute, Categorical) and tensor.dtype.kind != "f":
        _check_whole(tensor, attribute, where)
    widened = isinstance(attribute, Numeric) and tensor.dtype == FLOAT64
    block = as_numbers((RawColumn(attribute, table.float_of(column) if widened else tensor.dtype),), where)
    return Columns(Block(block.columns, tensor.dtype), shape)


def _check_whole(tensor: GraphTensor, attribute: Any, where: str) -> None:
    """A number of the table that becomes a whole number has to be one, and to fit."""
    if not attribute.integer or tensor.dtype is None or tensor.dtype.kind not in "iu":
        raise NetworkError(
            f'{where} takes {tensor.dtype}, but "{attribute.name}" is not declared a whole number',
            fix="declare it an integer in the schema, or export the model with float inputs",
        )
    ends = np.iinfo(tensor.dtype)
    known = attribute.lower is not None and attribute.upper is not None
    if tensor.dtype != WHOLE and not (known and ends.min <= attribute.lower and attribute.upper <= ends.max):
        raise NetworkError(
            f'{where} takes {tensor.dtype}, and "{attribute.name}" may be beyond', fix="export with int64"
        )


def _described(
    tensor: GraphTensor, entries: tuple[DescribedInput, ...], table: TableColumns, source: str
) -> Columns | Texts:
    width = sum(one.width for one in entries)
    if tensor.shape is not None and tensor.shape != (width,) and prod(tensor.shape) != width:
        raise NetworkError(
            f'{source}: the input "{tensor.name}" takes {prod(tensor.shape)} numbers, its entries feed {width}',
            fix="correct the entries",
        )
    for one in entries:
        if one.column is not None and one.column not in table.schema:
            raise NetworkError(
                f'{source}: the table has no column "{one.column}".{did_you_mean(one.column, table.schema.names)}'
            )
    shape = (width,) if tensor.shape is None else tensor.shape
    if tensor.dtype is None or is_text(tensor.dtype):
        texts = [_as_is(tensor, str(one.column), table) for one in entries if one.kind is InputKind.AS_IS]
        if len(texts) < len(entries):
            raise NetworkError(f'{source}: the input "{tensor.name}" takes texts', fix='use kind = "as is"')
        return Texts(tuple(column for one in texts if isinstance(one, Texts) for column in one.columns), shape)
    columns = [column for one in entries for column in _columns(tensor, one, table, source)]
    return Columns(Block(tuple(columns), tensor.dtype), shape)


def _columns(tensor: GraphTensor, entry: DescribedInput, table: TableColumns, source: str) -> tuple[Column, ...]:
    dtype = tensor.dtype
    assert dtype is not None
    if entry.kind is InputKind.CONSTANT:
        return (constant_column(entry, dtype),)
    name = str(entry.column)
    if entry.kind is InputKind.AS_IS:
        found = _as_is(tensor, name, table)
        return found.block.columns if isinstance(found, Columns) else ()
    return described_columns(entry, table.schema[name], dtype, f'{source}, column "{name}"', table.float_of(name))


# Assembly of a table model from what was read: encoding, look-up layer, chain of networks, rule.


@dataclass(frozen=True)
class LibraryPredictions:
    """The library's own predictions for the rows of a pandas frame, with its name and version.

    Parameters
    ----------
    predict_with_outputs : the same with its numbers, where it gives those of the function; else None.
    """

    predict: Callable[[Any], NDArray[Any]]
    runtime: str
    predict_with_outputs: Callable[[Any], LibraryAnswer] | None = None


def assembled(
    decision: ReadDecision,
    arithmetic: Arithmetic,
    divisions: tuple[str, ...],
    library: LibraryPredictions,
    table: Any,
    encoding: Encoding,
) -> TableModel:
    """The model on the raw columns of a pandas frame.

    Parameters
    ----------
    arithmetic : in which the library computes it. divisions : the steps whose constants no float64 replaces exactly.
    """
    function: Function
    if outputs_behind(decision.scores):
        if divisions:
            raise NetworkError(
                f"{divisions[0]} divides the outputs of trees", fix="multiply their leaves before the export"
            )
        function, own = build_sum(decision.scores, arithmetic, encoding)
        inputs = identity(len(own.features))
    else:
        layers = layer_out(decision.scores, arithmetic)
        block = Block((*layers.columns, *(ConstantColumn(0.0),) * layers.spare))
        divides = divisions[0] if divisions else ""
        function = chain_of(replace(network, divides=divides) for network in layers.networks)
        own, inputs = encoding_of(block, encoding), inputs_of(block, encoding).of_runtime(arithmetic)
    model = Model(function, decision.rule, decision.labels)
    return TableModel(own, inputs, model, library.predict, table, library.runtime, library.predict_with_outputs)


# Outline of an ONNX file in words, as far as the graph says it without a table.

SILENT = ("Constant", "Identity", "Dropout", "Cast", "Reshape", "ZipMap")
"""Operators that change no number, or only its type."""


def outline_graph(graph: Graph, description: ModelDescription | None) -> ModelOutline:
    """What is in the file, with the rule where the graph or a description gives it.

    Raises
    ------
    NetworkError
        For what is not exactly representable, whatever the columns are.
    """
    described = None if description is None else description.output
    output = deciding_output(graph, described)
    read, coded = _read_stand_in(graph, description, output)
    counted = Counter(node.operator for node in graph.needed_for(output) if node.operator not in SILENT)
    undecided = ModelOutline(
        library=graph.dialect,
        runtime=runtime_name(),
        inputs=_inputs(graph, description, coded),
        steps=tuple(f"{many} {name}" if many > 1 else name for name, many in counted.items()),
        outputs=prod(getattr(read.value, "shape", (1,))),
        rule="",
        arithmetic=read.arithmetic,
        output=_declared_by(read.value, graph, output),
        reads_raw=_reads_raw(read),
        metadata=graph.metadata,
    )
    try:
        decision = read_decision(read.value, described, output)
    except NetworkError as unknown:
        return replace(undecided, rule=str(unknown).partition("\n")[0])
    if not outputs_behind(decision.scores):
        layer_out(decision.scores, Arithmetic.EXACT)  # refuses what is too large
    return replace(
        undecided,
        outputs=decision.rule.outputs,
        rule=rule_words(decision.rule, decision.labels),
        classes=() if decision.labels is None else tuple(decision.labels.tolist()),
        is_number=decision.labels is None,
        notes=tuple(
            f"{node} divides by numbers whose inverses no float64 holds: verdicts in float arithmetic cover it, exact "
            "ones are refused."
            for node in read.divisions[:3]
        ),
    )


def _declared_by(value: Value, graph: Graph, name: str) -> DescribedOutput | None:
    """What the graph itself tells about the deciding output: a class or probabilities; None for other numbers."""
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


# Reader of ONNX files: graphs of affine and piecewise linear operators become models on the columns of a table.

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
        scores = runtime_scores(predictor, read.values, decision.scores, read.arithmetic)
        library = LibraryPredictions(predictor, runtime_name(), scores)
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
