"""Tree models from files: columns by their names or by a description, decisions by the library where it is there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding, Individuals
from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.columns import FLOAT64, Block, Column, ConstantColumn, NumberColumn, RawColumn, as_numbers
from lcifr.models.files.described_columns import constant_column, described_columns
from lcifr.models.files.description import DescribedInput, DescribedOutput, InputKind, Meaning, ModelDescription
from lcifr.models.files.outline import ModelInput, ModelOutline, rule_words
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.models.table_model import TableModel
from lcifr.models.trees.latents import LatentTrees, trees_on_latents
from lcifr.models.trees.matrix import code_column
from lcifr.models.trees.nodes import TreeLeaf
from lcifr.models.trees.splits import LibraryNode
from lcifr.models.trees.tables import TreeSource, build_trees, identity
from lcifr.models.trees.trees import Trees

DESCRIBE = "describe its inputs: `lcifr init people.csv --model FILE` proposes a description, `--describe` takes it"


@dataclass(frozen=True)
class TreeFile:
    """A file of boosted trees.

    Parameters
    ----------
    library : what wrote it, in words. names : of its columns; empty where it has none.
    categorical : which columns hold codes of categories. categories : of these, in their order, the values, where the
        file knows them.
    scores : (rows, columns) -> (rows, outputs), the library's own sums; None where it is not installed.
    """

    source: TreeSource
    library: str
    names: tuple[str, ...]
    categorical: tuple[bool, ...]
    where: str
    notes: tuple[str, ...] = ()
    description: ModelDescription | None = None
    scores: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = field(default=None, repr=False)

    def read_table(self, table: Any, encoding: Encoding) -> TableModel:
        """The model on the raw columns of a pandas frame.

        Raises
        ------
        NetworkError
            For columns that the table does not have, and for inputs that nobody describes.
        """
        block = self._block(encoding)
        if len(block) != self.source.width:
            raise NetworkError(
                f"{self.where} takes {self.source.width} numbers, its description feeds {len(block)}", fix=DESCRIBE
            )
        function, own = build_trees(self.source, block, encoding, self.where)
        model = Model(function, self.source.rule, self.labels)
        predictor = TreeFilePredictor(block, encoding, model, function, self.scores, own)
        return TableModel(
            own,
            identity(len(own.features)),
            model,
            predictor,
            table,
            "" if self.scores is None else self.source.runtime,
            predict_people=predictor.decide,
        )

    def read_latents(self) -> LatentTrees:
        """The model on z, whose columns are in the order of the file's."""
        model = replace(trees_on_latents(self.source), labels=self.labels)
        return LatentTrees(model, self.scores)

    @property
    def labels(self) -> NDArray[Any] | None:
        """Those of the description, else numbers from 0 on; None where numbers are the decision."""
        described = None if self.description is None else self.description.output
        if self.source.labels is None or described is None or not described.classes:
            return self.source.labels
        if len(described.classes) != len(self.source.labels):
            raise NetworkError(
                f"{self.where} has {len(self.source.labels)} classes, its description {len(described.classes)}"
            )
        return np.array(described.classes)

    def _block(self, encoding: Encoding) -> Block:
        if self.description is not None:
            entries = self.description.inputs
            return Block(tuple(column for one in entries for column in _fed(one, encoding, self.where)))
        if not self.names:
            raise NetworkError(f"{self.where} does not say which columns it reads", fix=DESCRIBE)
        kept = self.source.categories or ()
        known = iter(kept if len(kept) == sum(self.categorical) else ())  # else nobody knows which column is which
        columns: list[Column] = []
        for name, coded in zip(self.names, self.categorical, strict=True):
            attribute = _attribute(encoding, name, self.where)
            if not coded:
                columns += as_numbers((RawColumn(attribute, np.dtype(np.float64)),), self.where).columns
            elif (values := next(known, None)) is None:
                raise NetworkError(f'{self.where} does not say which code stands for which "{name}"', fix=DESCRIBE)
            else:
                columns.append(code_column(attribute, values, self.source.unknown_code))
        return Block(tuple(columns))

    def outline(self) -> ModelOutline:
        """What the file says without a table."""
        source = self.source
        model = Model(Trees.of(1, source.base, []), source.rule, self.labels)
        named = tuple(
            ModelInput(name, is_category=coded) for name, coded in zip(self.names, self.categorical, strict=False)
        )
        return ModelOutline(
            library=self.library,
            runtime="" if self.scores is None else source.runtime,
            inputs=named or (ModelInput("X", source.width, is_column=False),),
            steps=(trees_in_words(source.trees),),
            outputs=len(source.base),
            rule=rule_words(model),
            arithmetic=source.native,
            classes=() if self.labels is None else tuple(self.labels.tolist()),
            is_number=source.rule.kind is Kind.NUMBER,
            knows_codes=self.description is not None or len(source.categories or ()) >= sum(self.categorical),
            notes=self.notes,
            output=DescribedOutput(Meaning.NUMBER if source.rule.kind is Kind.NUMBER else Meaning.CLASS),
            reads_raw=True,
        )


@dataclass(frozen=True)
class TreeFilePredictor:
    """Decisions about people: by the library's own sums, or by ours where it is not installed."""

    block: Block
    encoding: Encoding
    model: Model
    trees: Trees = field(repr=False)
    scores: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = field(repr=False)
    own: Encoding

    def __call__(self, frame: Any) -> NDArray[Any]:
        """(people,) decisions about the rows of a pandas frame."""
        return self.decide(Individuals.read(frame, self.encoding.schema))

    def decide(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions."""
        if self.scores is None:
            return self.model.decide(self.trees(self.own.encode(people)))
        matrix = np.column_stack([self._values(column, people) for column in self.block.columns])
        values = np.asarray(self.scores(matrix), dtype=np.float64).reshape(len(people), -1)
        return self.model.decide(values)

    def _values(self, column: Column, people: Individuals) -> NDArray[np.float64]:
        if isinstance(column, ConstantColumn):
            return np.full(len(people), column.value)
        if isinstance(column, NumberColumn):
            return column.program(people.number(column.attribute))
        entries = np.array([math.nan if value is None else value for value in column.values])
        return np.asarray(entries[people.code(column.attribute)])


def _fed(entry: DescribedInput, encoding: Encoding, where: str) -> tuple[Column, ...]:
    if entry.kind is InputKind.CONSTANT:
        return (constant_column(entry, FLOAT64),)
    name = str(entry.column)
    return described_columns(entry, _attribute(encoding, name, where), FLOAT64, f'{where}, column "{name}"')


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
