"""Tree models from files: columns by their names or by a description, decisions by the library where it is there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding, Individuals
from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.columns import FLOAT64, Block, Column, ConstantColumn, NumberColumn, RawColumn, as_numbers, float_in
from lcifr.models.files.described_columns import constant_column, described_columns
from lcifr.models.files.described_output import check_meaning, declared_labels
from lcifr.models.files.description import (
    OF_INPUTS,
    THRESHOLD_ENTRIES,
    DescribedInput,
    DescribedOutput,
    InputKind,
    Meaning,
    ModelDescription,
    TakenEntries,
)
from lcifr.models.files.outline import ModelInput, ModelOutline, rule_words
from lcifr.models.model import Model
from lcifr.models.rule import Kind, Rule
from lcifr.models.table_model import PositionalColumns, TableModel
from lcifr.models.trees.latents import LatentTrees, trees_on_latents
from lcifr.models.trees.matrix import code_column
from lcifr.models.trees.nodes import TreeLeaf
from lcifr.models.trees.splits import LibraryNode
from lcifr.models.trees.tables import TreeSource, build_trees, identity
from lcifr.models.trees.trees import Trees

DESCRIBE = "describe its inputs: `lcifr init people.csv --model FILE` proposes a description, `--describe` takes it"
TAKEN = (OF_INPUTS - {"inputs.input"}) | THRESHOLD_ENTRIES | {"arithmetic"}
"""Entries of a description that every tree file takes."""
INSTEAD = {
    "inputs.input": "leave input out: the model takes one matrix",
    "output.name": "leave name out: there is one output",
    "output.position": "leave position out: the probability, or the score, is that of the second class",
    "missing": "leave missing out: only XGBoost's files do not say which number stands for a missing value",
}
ON_LATENTS = TakenEntries(
    THRESHOLD_ENTRIES | {"missing"},
    {"inputs": "leave [[inputs]] out: z is taken as it is", "arithmetic": "use --arithmetic", **INSTEAD},
)

Sums = Callable[[NDArray[np.float64]], NDArray[Any]]


@dataclass(frozen=True)
class TreeFile:
    """A file of boosted trees.

    Parameters
    ----------
    library : what wrote it, in words. names : of its columns; empty where it has none.
    categorical : which columns hold codes of categories. categories : of these, in their order, the values, where the
        file knows them.
    scores : (rows, columns) -> (rows, outputs), the library's own sums; None where it is not installed.
    positional : why the library does not compare the names of columns, in words; empty where it does.
    probabilities : the same of its probabilities, (rows,) of the second of two classes.
    assumptions : what the file does not say, and is taken for granted.
    """

    source: TreeSource
    library: str
    names: tuple[str, ...]
    categorical: tuple[bool, ...]
    where: str
    notes: tuple[str, ...] = ()
    description: ModelDescription | None = None
    scores: Sums | None = field(default=None, repr=False)
    probabilities: Sums | None = field(default=None, repr=False)
    assumptions: tuple[str, ...] = ()
    positional: str = ""

    @property
    def positional_columns(self) -> PositionalColumns | None:
        """The columns, where the library reads them by position and the file names them."""
        return PositionalColumns(self.positional, self.names) if self.positional and self.names else None

    @cached_property
    def declared(self) -> TreeSource:
        """The trees with the rule, the classes and the missing number that the description declares."""
        source, description = self.source, self.description
        if description is None:
            return source
        if description.missing is not None:
            source = replace(source, missing=float(np.float32(description.missing)))
        output = description.output
        if output is None:
            return source
        where = f"{description.source}: {self.where}"
        check_meaning(output, source.rule, where)
        if output.has_threshold:
            band = source.threshold_band(output, description.arithmetic, where)
            rule = Rule(Kind.SIGN, 1, band=(band.lower, band.upper), log_odds=source.rule.log_odds)
            source = replace(source, rule=rule)
        if source.labels is not None:
            source = replace(source, labels=declared_labels(output, source.labels, where))
        return source

    def read_table(self, table: Any, encoding: Encoding) -> TableModel:
        """The model on the raw columns of a pandas frame.

        Raises
        ------
        NetworkError
            For columns that the table does not have, and for inputs that nobody describes.
        """
        source, block = self.declared, self._block(encoding, table)
        if len(block) != source.width:
            raise NetworkError(
                f"{self.where} takes {source.width} numbers, its description feeds {len(block)}", fix=DESCRIBE
            )
        function, own = build_trees(source, block, encoding, self.where)
        model = Model(function, source.rule, source.labels)
        described = None if self.description is None else self.description.output
        is_probability = described is not None and described.meaning is Meaning.PROBABILITY
        asked = self.probabilities if is_probability else self.scores
        predictor = TreeFilePredictor(block, encoding, model, function, asked, own, described)
        return TableModel(
            own,
            identity(len(own.features)),
            model,
            predictor,
            table,
            "" if asked is None else source.runtime,
            predict_people=predictor.decide,
            positional=self.positional_columns,
        )

    def read_latents(self) -> LatentTrees:
        """The model on z, whose columns are in the order of the file's."""
        ON_LATENTS.check(self.description, "a model on z")
        return LatentTrees(trees_on_latents(self.declared), self.scores)

    def _block(self, encoding: Encoding, table: Any) -> Block:
        if self.description is not None and self.description.inputs:
            entries = self.description.inputs
            self._refuse_other_order(entries)
            return Block(tuple(column for one in entries for column in _fed(one, encoding, table, self.where)))
        if not self.names:
            raise NetworkError(f"{self.where} does not say which columns it reads", fix=DESCRIBE)
        kept = self.source.categories or ()
        known = iter(kept if len(kept) == sum(self.categorical) else ())  # else nobody knows which column is which
        columns: list[Column] = []
        for name, coded in zip(self.names, self.categorical, strict=True):
            attribute = _attribute(encoding, name, self.where)
            if not coded:
                columns += as_numbers((RawColumn(attribute, float_in(table, name)),), self.where).columns
            elif (values := next(known, None)) is None:
                raise NetworkError(f'{self.where} does not say which code stands for which "{name}"', fix=DESCRIBE)
            else:
                columns.append(code_column(attribute, values, self.source.unknown_code))
        return Block(tuple(columns))

    def _refuse_other_order(self, entries: Sequence[DescribedInput]) -> None:
        """A description that feeds one column of the model with another one of its columns."""
        place, described = 0, {one.column for one in entries}
        for one in entries:
            known = self.names[place] if place < len(self.names) else one.column
            if one.width == 1 and one.column in self.names and known != one.column and known in described:
                raise NetworkError(
                    f'{self.where} calls its column {place + 1} "{known}", its description feeds "{one.column}"',
                    fix="describe the columns in the order of the model's: " + ", ".join(self.names),
                )
            place += one.width

    def outline(self) -> ModelOutline:
        """What the file says without a table."""
        source, described = self.declared, self.description
        model = Model(Trees.of(1, source.base, []), source.rule, source.labels)
        classes = () if source.labels is None else tuple(source.labels.tolist())
        output = None if described is None else described.output
        compared = output is not None and output.has_threshold
        named = tuple(
            ModelInput(name, is_category=coded) for name, coded in zip(self.names, self.categorical, strict=False)
        )
        return ModelOutline(
            library=self.library,
            runtime="" if self.scores is None else source.runtime,
            inputs=named or (ModelInput("X", source.width, is_column=False),),
            steps=(trees_in_words(source.trees),),
            outputs=len(source.base),
            rule=output.rule_words(*classes) if output is not None and compared else rule_words(model),
            arithmetic=(described and described.arithmetic) or source.native,
            classes=classes,
            is_number=source.rule.kind is Kind.NUMBER,
            knows_codes=bool(described and described.inputs) or len(source.categories or ()) >= sum(self.categorical),
            notes=self.notes,
            output=DescribedOutput(Meaning.NUMBER if source.rule.kind is Kind.NUMBER else Meaning.CLASS),
            reads_raw=True,
            assumptions=self.assumptions
            if self.positional_columns is None
            else (*self.assumptions, self.positional_columns.assumption),
        )


@dataclass(frozen=True)
class TreeFilePredictor:
    """Decisions about people: by the library's own sums, or by ours where it is not installed.

    ``described`` : the rule that is declared for the library's numbers; None for the library's own.
    """

    block: Block
    encoding: Encoding
    model: Model
    trees: Trees = field(repr=False)
    scores: Sums | None = field(repr=False)
    own: Encoding
    described: DescribedOutput | None = None

    def __call__(self, frame: Any) -> NDArray[Any]:
        """(people,) decisions about the rows of a pandas frame."""
        return self.decide(Individuals.read(frame, self.encoding.schema))

    def decide(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions."""
        if self.scores is None:
            return self.model.decide(self.trees(self.own.encode(people)))
        matrix = np.column_stack([self._values(column, people) for column in self.block.columns])
        found = np.asarray(self.scores(matrix))
        if self.described is not None and self.described.has_threshold and self.model.labels is not None:
            return np.asarray(self.model.labels[self.described.is_second(found.reshape(-1)).astype(np.int64)])
        return self.model.decide(found.astype(np.float64).reshape(len(people), -1))

    def _values(self, column: Column, people: Individuals) -> NDArray[np.float64]:
        if isinstance(column, ConstantColumn):
            return np.full(len(people), column.value)
        if isinstance(column, NumberColumn):
            return column.program(people.number(column.attribute))
        entries = np.array([math.nan if value is None else value for value in column.values])
        return np.asarray(entries[people.code(column.attribute)])


def _fed(entry: DescribedInput, encoding: Encoding, table: Any, where: str) -> tuple[Column, ...]:
    if entry.kind is InputKind.CONSTANT:
        return (constant_column(entry, FLOAT64),)
    name = str(entry.column)
    attribute = _attribute(encoding, name, where)
    return described_columns(entry, attribute, FLOAT64, f'{where}, column "{name}"', float_in(table, name))


def _attribute(encoding: Encoding, name: str, where: str) -> Any:
    schema = encoding.schema
    if name not in schema:
        raise NetworkError(
            f'{where} reads the column "{name}", which the table does not have.{did_you_mean(name, schema.names)}'
        )
    return schema[name]


def trees_in_words(trees: Sequence[LibraryNode]) -> str:
    """How many there are, and how large."""
    return f"{len(trees):,} trees with up to {max(map(_leaves, trees), default=0)} leaves each, added up"


def _leaves(tree: LibraryNode) -> int:
    waiting, found = [tree], 0
    while waiting:
        node = waiting.pop()
        if isinstance(node, TreeLeaf):
            found += 1
        else:
            waiting += [node.first, node.second]
    return found


def class_numbers(count: int) -> NDArray[Any] | None:
    """Names of classes in files that have none: 0, 1, …; None where numbers are the decision."""
    return np.arange(count) if count else None
