"""Tree ensembles of every library as functions of a table's columns or of latents, from objects and from files."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Encoding, Individuals, Numeric
from lcifr.data.frames import text_of
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.arithmetic import FORMATS, Arithmetic
from lcifr.models.columns import (
    FLOAT64,
    Block,
    Column,
    ConstantColumn,
    NumberColumn,
    RawColumn,
    TableColumn,
    as_numbers,
    constant_column,
    described_columns,
    encoding_of,
    float_in,
)
from lcifr.models.description import (
    OF_INPUTS,
    THRESHOLD_ENTRIES,
    DescribedInput,
    DescribedOutput,
    InputKind,
    Meaning,
    ModelDescription,
    TakenEntries,
    check_meaning,
    declared_labels,
)
from lcifr.models.model import Model
from lcifr.models.network import identity
from lcifr.models.rule import SINGLE_UNIT, Kind, MarginBand, Rule, behind_line, probability_band
from lcifr.models.source import LatentTrees, ModelInput, ModelOutline, PositionalColumns, TableModel, rule_words
from lcifr.models.trees import CategoryNode, NumberNode, TreeLeaf, TreeNode, Trees, below, preorder

# Trees of a library over the columns of its matrix, turned into trees over encoded columns.

LARGEST_NUMBER = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class LibrarySplit:
    """A split of a library's tree.

    Parameters
    ----------
    feature : column of the matrix. threshold : the first child takes numbers at most this (less than, if ``strict``).
    codes : of a categorical split, the codes of the first child; then ``threshold`` means nothing.
    members : of a split by equality, the numbers of the first child; then ``threshold`` means nothing either.
    missing_first : where a missing value goes. missing_reach : numbers of at most this size are missing; NaN for none.
    zero_reach : numbers of at most this size are 0 before they are compared; see :class:`ColumnReader` for sparse ones.
    """

    feature: int
    threshold: float
    first: LibraryNode
    second: LibraryNode
    strict: bool = False
    missing_first: bool = False
    codes: frozenset[int] | None = None
    missing_reach: float = math.nan
    members: frozenset[float] | None = None
    zero_reach: float = 0.0

    @property
    def last(self) -> float:
        """The last float64 that goes to the first child."""
        last = below(self.threshold) if self.strict else self.threshold
        if abs(last) > self.zero_reach:
            return last
        return self.zero_reach if last >= 0.0 else below(-self.zero_reach)

    def takes_first(self, value: float) -> bool:
        """Where an entry of the matrix goes; NaN is missing."""
        if math.isnan(value) or abs(value) <= self.missing_reach:
            return self.missing_first
        if self.members is not None:
            return value in self.members
        return value <= self.last if self.codes is None else int(value) in self.codes


LibraryNode = LibrarySplit | TreeLeaf


def cast_block(block: Block, kind: StepFormat, where: str) -> Block:
    """The matrix in the format that the library casts it to: float32 or float64."""
    if kind is StepFormat.FLOAT64:
        return block
    return block.stepwise(((ProgramStep(Operation.CAST, kind),) for _ in block.columns), where)


@dataclass(frozen=True)
class ColumnReader:
    """Turns trees over the columns of a library's matrix into trees over encoded columns.

    Parameters
    ----------
    missing : a number that the library takes as missing, such as the 0 that a sparse matrix leaves out; NaN for none.
    cast_later : where the library scales the columns and casts them to float32 once it knows what is missing, the
        scaled columns: a tiny number is then 0 and not missing. Thresholds become those of the float64 numbers before.
    sparse : whether the matrix is sparse. LightGBM compares what is stored there as it is, however near to 0.
    """

    columns: Sequence[Column]
    encoding: Encoding
    missing: float = math.nan
    cast_later: Sequence[Column] | None = None
    sparse: bool = False

    def tree(self, root: LibraryNode) -> TreeNode:
        """The same tree over encoded columns."""
        return rebuild(root, self._split, self._only_side)

    def _only_side(self, node: LibrarySplit) -> LibraryNode | None:
        if not 0 <= node.feature < len(self.columns):
            raise NetworkError(f"a split about column {node.feature}; there are {len(self.columns)}")
        column = self.columns[node.feature]
        if not isinstance(column, ConstantColumn):
            return None
        node = self._compared(node)
        scaled = column if self.cast_later is None else self.cast_later[node.feature]
        assert isinstance(scaled, ConstantColumn)
        return node.first if node.takes_first(self._entry(column.value, scaled.value)) else node.second

    def _split(self, node: LibrarySplit, first: TreeNode, second: TreeNode) -> TreeNode:
        column, node = self.columns[node.feature], self._compared(node)
        assert not isinstance(column, ConstantColumn)
        where = self.encoding.columns(column.attribute)
        scaled = column if self.cast_later is None else self.cast_later[node.feature]
        if isinstance(column, TableColumn):
            assert isinstance(scaled, TableColumn)
            chosen = frozenset(
                where.start + code
                for code, (value, last) in enumerate(zip(column.values, scaled.values, strict=True))
                if value is not None and last is not None and node.takes_first(self._entry(value, last))
            )
            if len(chosen) in (0, len(column.values)):
                return first if chosen else second
            return CategoryNode(range(where.start, where.start + len(column.values)), chosen, first, second)
        if node.codes is not None:
            raise NetworkError(f'a split by categories is about the number "{column.attribute}"')
        if self.cast_later is not None:
            assert isinstance(scaled, NumberColumn)
            steps = Program(scaled.program.steps[len(column.program.steps) :])
            node = replace(node, threshold=last_behind(steps, last_cast_to(node.last)), strict=False)
        return split_number(where.start, node, (first, second), (self.missing, self.missing), cast_later=False)

    def _compared(self, node: LibrarySplit) -> LibrarySplit:
        return replace(node, zero_reach=0.0) if self.sparse and node.zero_reach else node

    def _entry(self, value: float, scaled: float) -> float:
        if value == self.missing:
            return math.nan
        return scaled if self.cast_later is None else float(np.float32(scaled))


Place = TypeVar("Place")
Grown = TypeVar("Grown")


def grow(
    root: Place, look: Callable[[Place], Grown | tuple[Place, Place]], join: Callable[[Place, Grown, Grown], Grown]
) -> Grown:
    """A tree from its root down, and put together from its leaves up; it may be deeper than Python's stack.

    Parameters
    ----------
    look : the leaf at a place, or the places of both children. join : the split at a place, with its children.
    """
    waiting: list[tuple[Place, bool]] = [(root, False)]  # whether both children are built
    built: list[Grown] = []
    while waiting:
        place, ready = waiting.pop()
        if ready:
            second, first = built.pop(), built.pop()
            built.append(join(place, first, second))
        elif isinstance(found := look(place), tuple):
            waiting += [(place, True), (found[1], False), (found[0], False)]
        else:
            built.append(found)
    return built[0]


def rebuild(
    root: LibraryNode,
    split: Callable[[LibrarySplit, TreeNode, TreeNode], TreeNode],
    only_side: Callable[[LibrarySplit], LibraryNode | None] = lambda node: None,
) -> TreeNode:
    """A tree over other columns.

    Parameters
    ----------
    split : a split with its children built. only_side : the child that every row goes to; None where rows differ.
    """

    def passed(node: LibraryNode) -> LibraryNode:
        while not isinstance(node, TreeLeaf) and (only := only_side(node)) is not None:
            node = only
        return node

    def look(node: LibraryNode) -> TreeLeaf | tuple[LibraryNode, LibraryNode]:
        return node if isinstance(node, TreeLeaf) else (passed(node.first), passed(node.second))

    return grow(passed(root), look, split)  # type: ignore[arg-type]  # only splits are joined


def with_leaves(tree: LibraryNode, decide: Callable[[tuple[float, ...]], tuple[float, ...]]) -> LibraryNode:
    """The same splits with other leaves."""

    def look(node: LibraryNode) -> LibraryNode | tuple[LibraryNode, LibraryNode]:
        return TreeLeaf(decide(node.values)) if isinstance(node, TreeLeaf) else (node.first, node.second)

    def join(node: LibraryNode, first: LibraryNode, second: LibraryNode) -> LibraryNode:
        return replace(node, first=first, second=second)  # type: ignore[arg-type]  # only splits are joined

    return grow(tree, look, join)


def split_number(
    column: int,
    node: LibrarySplit,
    sides: tuple[TreeNode, TreeNode],
    missing: tuple[float, float],
    cast_later: bool,
) -> TreeNode:
    """A split of a number, of which those from ``missing[0]`` to ``missing[1]`` are missing, none if these are NaN;
    ``cast_later`` as in :class:`ColumnReader`."""
    first, second = sides
    if node.members is not None:
        return _equal_to(column, node.members, first, second)
    if math.isnan(missing[0]) and math.isnan(node.missing_reach) and abs(node.last) >= LARGEST_NUMBER:
        return first if node.last > 0 else second  # every row goes to the same side
    plain = NumberNode(column, last_cast_to(node.last) if cast_later else node.last, first, second)
    ends = missing if math.isnan(node.missing_reach) else (-node.missing_reach, node.missing_reach)
    side = first if node.missing_first else second
    if math.isnan(ends[0]) or (ends[0] <= node.last) == (ends[1] <= node.last) == node.missing_first:
        return plain
    return NumberNode(column, below(ends[0]), plain, NumberNode(column, ends[1], side, plain))


def _equal_to(column: int, members: frozenset[float], first: TreeNode, second: TreeNode) -> TreeNode:
    """``first`` where the number is one of these."""
    found = second
    for member in sorted(members, reverse=True):
        found = NumberNode(column, below(member), second, NumberNode(column, member, first, found))
    return found


def last_cast_to(threshold: float) -> float:
    """The last float64 that float32 rounds to a number at most ``threshold``."""
    last = np.float32(threshold)
    if float(last) > threshold:
        last = np.nextafter(last, np.float32(-np.inf))
    middle = 0.5 * float(last) + 0.5 * float(np.nextafter(last, np.float32(np.inf)))  # exact, and rounds to even
    return middle if np.float32(middle) == last else float(np.nextafter(middle, -np.inf))


def last_behind(steps: Program, threshold: float) -> float:
    """The last float64 that increasing steps make a number of at most the threshold; the first of all if there is none.

    Floats are halved by their order, as probes are.
    """
    if not steps.steps:
        return threshold
    low, high = -_ORDER_OF_LARGEST, _ORDER_OF_LARGEST
    while low < high:
        middle = (low + high + 1) // 2
        if steps(_float_at(middle)) <= threshold:
            low = middle
        else:
            high = middle - 1
    return _float_at(low)


_ORDER_OF_LARGEST = int(np.float64(LARGEST_NUMBER).view(np.int64))


def _float_at(place: int) -> float:
    """Floats in their order: 0 is at 0, its neighbours at 1 and -1."""
    size = float(np.int64(abs(place)).view(np.float64))
    return size if place >= 0 else -size


def all_cast_to(number: float) -> tuple[float, float]:
    """The first and the last float64 that float32 rounds to this number; NaN twice for NaN."""
    if math.isnan(number):
        return number, number
    before = float(np.nextafter(np.float32(number), np.float32(-np.inf)))
    return float(np.nextafter(last_cast_to(before), np.inf)), last_cast_to(number)


def codes_of(bits: Sequence[int] | np.ndarray, words: int = 32) -> frozenset[int]:
    """The codes whose bits are set in words of so many bits."""
    return frozenset(
        word * words + bit for word, value in enumerate(bits) for bit in range(words) if int(value) >> bit & 1
    )


# The matrix that a library of trees makes of the columns of a frame: numbers, and categories as their codes.


def library_matrix(
    columns: tuple[RawColumn, ...] | Block,
    table: Any,
    encoder: Any,
    stored: tuple[tuple[Any, ...], ...] | None,
    unknown: float | None,
    where: str,
) -> Block:
    """The matrix of the library: numbers as they are, categories of a frame as their codes.

    ``stored`` : the values of categorical columns, in their order, that the library keeps; None for the table's own.
    """
    if isinstance(columns, Block):
        if encoder is not None:
            raise NetworkError(f"{where} encodes categories itself, after another transformer", fix="leave one out")
        return columns
    if encoder is not None:  # of histogram boosting: categories come first, as codes of its own
        flags = np.zeros(len(columns), np.bool_)
        flags[encoder._transformer_to_input_indices["encoder"]] = True
        known = encoder.named_transformers_["encoder"].categories_
        chosen = [column for column, flag in zip(columns, flags, strict=True) if flag]
        coded = [code_column(column.attribute, values) for column, values in zip(chosen, known, strict=True)]
        rest = tuple(column for column, flag in zip(columns, flags, strict=True) if not flag)
        return Block((*coded, *(as_numbers(rest, where).columns if rest else ())))
    found: list[Column] = []
    own = {
        column.attribute.name: kind.categories
        for column in columns
        if isinstance(column.attribute, Categorical)
        and hasattr(kind := table[column.attribute.name].dtype, "categories")
    }
    if stored is not None and len(stored) != len(own):
        raise NetworkError(
            f"{where} was fitted with {len(stored)} categorical columns, the table has {len(own)}",
            fix="give the columns of the table the pandas dtypes that they had then",
        )
    known = iter(own.values() if stored is None else stored)
    for column in columns:
        if column.attribute.name in own:
            found.append(code_column(column.attribute, next(known), unknown))
        else:
            found += as_numbers((column,), where).columns
    kinds = {column.dtype for column in columns}
    return Block(tuple(found), np.dtype(np.float32) if kinds == {np.dtype(np.float32)} else np.dtype(np.float64))


def code_column(
    attribute: Numeric | Categorical, values: Sequence[Any], unknown: float | None = math.nan
) -> TableColumn:
    """The code of each value of the schema; ``unknown`` where the library does not know it, see :class:`TreeSource`."""
    if not isinstance(attribute, Categorical):
        raise NetworkError(
            f'"{attribute.name}" is a category to the model and a number in the schema',
            fix="declare it as categorical in the schema",
        )
    places = {text_of(value).strip(): place for place, value in enumerate(values)}
    codes = tuple(float(places[value]) if value in places else unknown for value in attribute.values)
    return TableColumn(attribute.name, codes)


# Tree models on the raw columns of a table, alone or behind the preprocessing of a Pipeline.

SINGLE = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")
FORESTS = ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor")
BOOSTED = ("GradientBoostingClassifier", "GradientBoostingRegressor")
HISTOGRAM = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
KINDS = (*SINGLE, *FORESTS, *BOOSTED, *HISTOGRAM)
"""Estimators of scikit-learn that are sums of trees."""
LIBRARIES = {
    "sklearn": "lcifr.models.loaders.sklearn_trees",
    "xgboost": "lcifr.models.loaders.xgboost",
    "lightgbm": "lcifr.models.loaders.lightgbm",
    "interpret": "lcifr.models.loaders.interpret",
}
"""The loader of each library; its ``read_source(estimator)`` returns a :class:`TreeSource`."""


def is_tree_model(estimator: Any) -> bool:
    """Whether a fitted estimator is a sum of trees that can be read here."""
    library = type(estimator).__module__.split(".")[0]
    return type(estimator).__name__ in KINDS if library == "sklearn" else library in LIBRARIES


@dataclass(frozen=True, kw_only=True)
class TreeSource:
    """What every loader of trees returns: trees over the columns of a matrix, and all that is known about their sum.

    Parameters
    ----------
    trees : over columns of the matrix; their leaves have one value for each output. base, scale : as in
        :class:`Trees`. width : columns of the matrix.
    rule, labels : by which the library decides, and the names of the classes; None for numbers, and before they are
        known.
    runtime : what computes the library's own decisions here, with its version; empty where it is not installed.
    library, objective : what wrote the model, and what it was trained for, in the library's words.
    cast : what the library casts its matrix to. native : what it adds leaves up in.
    names : of the columns, where the model keeps them. categorical : which of them hold codes of categories.
    categories : of categorical columns of a frame, the values that the library keeps; None where the table's count.
    unknown_code : what it takes other values for, NaN for missing ones; None where it refuses them.
    missing : the number that it takes as missing, NaN for none; sparse_missing : whether also zeros that a sparse
        matrix leaves out.
    matrix : what makes the matrix of the columns, where the library has a way of its own; else :func:`library_matrix`.
    used_rounds, rounds : of boosting, how many decide and how many there are, where the model says so.
    """

    trees: tuple[LibraryNode, ...]
    base: NDArray[np.float64]
    rule: Rule
    scale: Fraction = Fraction(1)
    width: int = 0
    labels: NDArray[Any] | None = None
    runtime: str = ""
    library: str = ""
    objective: str = ""
    cast: StepFormat = StepFormat.FLOAT64
    native: Arithmetic = Arithmetic.FLOAT64
    names: tuple[str, ...] = ()
    categorical: tuple[bool, ...] = ()
    categories: tuple[tuple[Any, ...], ...] | None = None
    unknown_code: float | None = math.nan
    missing: float = math.nan
    sparse_missing: bool = False
    matrix: Callable[[tuple[RawColumn, ...] | Block, str], Block] | None = field(
        default=None, repr=False, compare=False
    )
    used_rounds: int = 0
    rounds: int = 0

    @property
    def slope(self) -> float | None:
        """The slope of the logistic function that turns the only output into a probability; None if there is none."""
        return None if self.rule.log_odds is None else self.rule.log_odds[0]

    def threshold_band(self, described: DescribedOutput, arithmetic: Arithmetic | None, where: str) -> MarginBand:
        """The band of the only output, for a threshold on it or on its probability, as the library computes either.

        Parameters
        ----------
        arithmetic : in which the model is deployed, where that is not the library's: the coarser of both counts.
        """
        kinds = [FORMATS[one].unit for one in (self.native, arithmetic) if one in FORMATS]
        roundoff, threshold = max(kinds), described.threshold
        if described.meaning is Meaning.SCORE:
            rounded = threshold if roundoff < SINGLE_UNIT else float(np.float32(threshold))
            found = MarginBand(min(threshold, rounded), max(threshold, rounded))
        elif self.slope is None:
            raise NetworkError(
                f"{where} gives no probability that is the logistic function of its sum",
                fix='use meaning = "score" with a threshold of the sum, or meaning = "class"',
            )
        else:
            found = probability_band(threshold, roundoff, where)
            if self.slope != 1.0:
                found = behind_line(found, self.slope, 0.0, roundoff)
        return self.widened(found)

    def widened(self, band: MarginBand) -> MarginBand:
        """For another rule than the library's own: XGBoost rounds the base score of logistic objectives in float32."""
        single = self.native is Arithmetic.FLOAT32 and self.slope is not None
        room = max(map(abs, self.rule.band)) if single else 0.0
        return MarginBand(band.lower - room, band.upper + room)


def read_source(estimator: Any) -> TreeSource:
    """The trees of a fitted estimator, by the loader of its library."""
    loader = importlib.import_module(LIBRARIES[type(estimator).__module__.split(".")[0]])
    found: TreeSource = loader.read_source(estimator)
    return found


def class_labels(estimator: Any, read: TreeSource) -> NDArray[Any] | None:
    """Names of the classes, None for numbers; a classifier predicts classes, and a regressor numbers."""
    name, classes = type(estimator).__name__, read.rule.classes
    if name.endswith("Classifier") != bool(classes):
        does = "predicts probabilities" if classes else "cuts numbers at one half"
        raise NetworkError(f"{name} with the objective {read.objective} {does}", fix="let a classifier predict classes")
    return np.asarray(estimator.classes_) if classes else None


def class_numbers(read: TreeSource) -> NDArray[Any] | None:
    """Names of the classes of a file, which has none: 0, 1, …; None where numbers are the decision."""
    return np.arange(read.rule.classes) if read.rule.classes else None


def is_installed(package: str) -> bool:
    """Whether a package is there, without importing it."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def made_up_names(count: int) -> list[str]:
    """The names that interpret gives the columns of a matrix without names."""
    return [f"feature_{place:04}" for place in range(count)]


def estimator_matrix(estimator: Any, source: TreeSource, columns: tuple[RawColumn, ...] | Block, table: Any) -> Block:
    """The matrix that a fitted tree model makes of the columns before it."""
    where = type(estimator).__name__
    if source.matrix is not None:
        block = source.matrix(columns, where)
    else:
        encoder = getattr(estimator, "_preprocessor", None)
        block = library_matrix(columns, table, encoder, source.categories, source.unknown_code, where)
    if len(block) != source.width:
        raise NetworkError(f"the model takes {source.width} numbers, its preprocessing gives {len(block)}")
    return block


def build_trees(source: TreeSource, block: Block, encoding: Encoding, where: str) -> tuple[Trees, Encoding]:
    """The function over encoded columns, and the encoding that computes them."""
    sparse = source.sparse_missing and block.sparse
    if sparse and source.missing != 0.0 and not math.isnan(source.missing):
        raise NetworkError(f"{where} takes {source.missing:g} as missing, and zeros of a sparse matrix", fix="use one")
    # The matrix leaves zeros out before the library casts: a tiny number is then 0, and missing only if 0 itself is.
    later = sparse and math.isnan(source.missing) and source.cast is StepFormat.FLOAT32
    if later:
        cast, scaled = replace(block.as_floats(), columns=block.unscaled), block.columns
    else:
        cast, scaled = cast_block(block.as_floats(), source.cast, where), None
    own = encoding_of(cast, encoding)
    missing = 0.0 if sparse else source.missing
    reader = ColumnReader(cast.columns, own, missing, cast_later=scaled, sparse=block.sparse)
    trees = Trees.of(len(own.features), source.base, [reader.tree(tree) for tree in source.trees], source.scale)
    return trees.of_runtime(source.native), own


# Tree models on latents: a consumer's trees over the numbers z of a hand-over, as they are stored.


def read_trees_on_latents(estimator: Any) -> Model:
    """A fitted tree model of XGBoost, LightGBM or scikit-learn, as a function of z in float64."""
    return trees_on_latents(read_source(estimator))


def trees_on_latents(source: TreeSource) -> Model:
    """The trees of a library as a function of z in float64.

    A library that casts z to float32 compares it at other numbers: thresholds become the last float64 that is cast to
    at most them, so that nothing is rounded on the way. A number that it takes as missing
    is every z that is cast to it.
    """
    later = source.cast is StepFormat.FLOAT32
    missing = all_cast_to(source.missing) if later else (source.missing, source.missing)

    def split(node: LibrarySplit, first: TreeNode, second: TreeNode) -> TreeNode:
        if not 0 <= node.feature < source.width:
            raise NetworkError(f"a split about column {node.feature}; there are {source.width}")
        if node.codes is not None:
            raise NetworkError(
                f"a split is about categories of column {node.feature}, and z has numbers only",
                fix="fit the model on the latents as plain numbers",
            )
        return split_number(node.feature, node, (first, second), missing, later)

    trees = Trees.of(source.width, source.base, [rebuild(tree, split) for tree in source.trees], source.scale)
    return Model(trees.of_runtime(source.native), source.rule, source.labels)


# Tree models from files: columns by their names or by a description, decisions by the library where it is there.

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

LibraryScores = Callable[..., NDArray[Any]]
"""(rows, columns) of a library's matrix -> (rows, outputs) the library's own sums; with ``probability=True`` (rows,)
its probabilities of the second of two classes."""


@dataclass(frozen=True)
class TreeFile:
    """A file of boosted trees.

    Parameters
    ----------
    where : the file, for messages. scores : the library's own numbers; None where it is not installed.
    positional : why the library does not compare the names of columns, in words; empty where it does.
    assumptions : what the file does not say, and is taken for granted.
    """

    source: TreeSource
    where: str
    notes: tuple[str, ...] = ()
    description: ModelDescription | None = None
    scores: LibraryScores | None = field(default=None, repr=False)
    assumptions: tuple[str, ...] = ()
    positional: str = ""

    @property
    def positional_columns(self) -> PositionalColumns | None:
        """The columns, where the library reads them by position and the file names them."""
        return PositionalColumns(self.positional, self.source.names) if self.positional and self.source.names else None

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
            For columns that the table does not have, and for inputs without a description.
        """
        source, block = self.declared, self._block(encoding, table)
        if len(block) != source.width:
            raise NetworkError(
                f"{self.where} takes {source.width} numbers, its description feeds {len(block)}", fix=DESCRIBE
            )
        function, own = build_trees(source, block, encoding, self.where)
        model = Model(function, source.rule, source.labels)
        described = None if self.description is None else self.description.output
        predictor = TreeFilePredictor(block, encoding, model, self.scores, own, described)
        return TableModel(
            own,
            identity(len(own.features)),
            model,
            predictor,
            table,
            self._runtime,
            predict_people=predictor.decide,
            positional=self.positional_columns,
        )

    @property
    def _runtime(self) -> str:
        return "" if self.scores is None else self.source.runtime

    def read_latents(self) -> LatentTrees:
        """The model on z, whose columns are in the order of the file's."""
        ON_LATENTS.check(self.description, "a model on z")
        return LatentTrees(trees_on_latents(self.declared), self.scores)

    def _block(self, encoding: Encoding, table: Any) -> Block:
        if self.description is not None and self.description.inputs:
            entries = self.description.inputs
            self._refuse_other_order(entries)
            return Block(tuple(column for one in entries for column in _fed(one, encoding, table, self.where)))
        if not self.source.names:
            raise NetworkError(f"{self.where} does not say which columns it reads", fix=DESCRIBE)
        kept = self.source.categories or ()
        known = iter(
            kept if len(kept) == sum(self.source.categorical) else ()
        )  # else it is unknown which column is which
        columns: list[Column] = []
        for name, coded in zip(self.source.names, self.source.categorical, strict=True):
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
            known = self.source.names[place] if place < len(self.source.names) else one.column
            if one.width == 1 and one.column in self.source.names and known != one.column and known in described:
                raise NetworkError(
                    f'{self.where} calls its column {place + 1} "{known}", its description feeds "{one.column}"',
                    fix="describe the columns in the order of the model's: " + ", ".join(self.source.names),
                )
            place += one.width

    def outline(self) -> ModelOutline:
        """Summary of the file, without a table."""
        source, described = self.declared, self.description
        classes = () if source.labels is None else tuple(source.labels.tolist())
        output = None if described is None else described.output
        compared = output is not None and output.has_threshold
        named = tuple(
            ModelInput(name, is_category=coded)
            for name, coded in zip(self.source.names, self.source.categorical, strict=False)
        )
        return ModelOutline(
            library=source.library,
            runtime=self._runtime,
            inputs=named or (ModelInput("X", source.width, is_column=False),),
            steps=(trees_in_words(source.trees),),
            outputs=len(source.base),
            rule=output.rule_words(*classes)
            if output is not None and compared
            else rule_words(source.rule, source.labels),
            arithmetic=(described and described.arithmetic) or source.native,
            classes=classes,
            is_number=source.rule.kind is Kind.NUMBER,
            knows_codes=bool(described and described.inputs)
            or len(source.categories or ()) >= sum(self.source.categorical),
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
    scores: LibraryScores | None = field(repr=False)
    own: Encoding
    described: DescribedOutput | None = None

    def __call__(self, frame: Any) -> NDArray[Any]:
        """(people,) decisions about the rows of a pandas frame."""
        return self.decide(Individuals.read(frame, self.encoding.schema))

    def decide(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions."""
        if self.scores is None:
            return self.model.predict(self.own.encode(people))
        matrix = np.column_stack([self._values(column, people) for column in self.block.columns])
        is_probability = self.described is not None and self.described.meaning is Meaning.PROBABILITY
        found = np.asarray(self.scores(matrix, probability=is_probability))
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
    """Number and size of the trees, for an outline."""
    leaves = (sum(isinstance(node, TreeLeaf) for node in preorder(tree)) for tree in trees)
    return f"{len(trees):,} trees with up to {max(leaves, default=0)} leaves each, added up"
