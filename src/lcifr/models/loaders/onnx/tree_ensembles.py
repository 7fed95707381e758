"""Tree ensembles of ONNX: their nodes as trees over columns, and their outputs in a graph as one sum of trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from lcifr.data import Encoding
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.columns import Block, NumberColumn, encoding_of
from lcifr.models.loaders.dataflow import (
    WIDEST,
    AffineVector,
    FlowVector,
    LeafVector,
    affine,
    chosen,
    components,
    joined,
    leaf,
    negative,
    vectors_behind,
)
from lcifr.models.loaders.onnx.categories import cast_to_floats
from lcifr.models.loaders.onnx.values import Call, Columns, Decided, Hidden, Probabilities, Probability, Value
from lcifr.models.loaders.tree_ensembles import ColumnReader, LibraryNode, LibrarySplit, grow, with_leaves
from lcifr.models.rule import Kind
from lcifr.models.trees import TreeLeaf, Trees, preorder

# Outputs of tree ensembles inside a dataflow graph, and the one sum of trees that a vector made of them is.
#
# A graph may pick outputs of an ensemble, turn their sign, add constants or a second ensemble, and multiply all of it
# by one number. That is a sum of trees again: its leaves are the stored numbers, never products of them.

ELSEWHERE = "computes with the outputs of trees in a way that is not a sum of trees"


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """base + scale · Σ leaves, over the columns of a block.

    Parameters
    ----------
    trees : their leaves have one value for each output. base : (outputs,).
    """

    trees: tuple[LibraryNode, ...] = field(repr=False)
    base: tuple[float, ...]
    scale: Fraction
    block: Block = field(repr=False)

    def outputs(self) -> LeafVector:
        """All of them, as a vector that a graph computes with."""
        return leaf([TreeOutput(self, place) for place in range(len(self.base))])


@dataclass(frozen=True)
class TreeOutput:
    """One output of an ensemble; it stands where a graph has a column of the table."""

    ensemble: TreeEnsemble
    place: int


def outputs_behind(vector: FlowVector) -> bool:
    """Whether outputs of trees are among what a vector is made of."""
    leaves = (one for one in vectors_behind(vector, set()) if isinstance(one, LeafVector))
    return any(isinstance(column, TreeOutput) for one in leaves for column in one.columns)


def build_sum(vector: FlowVector, arithmetic: Arithmetic, encoding: Encoding) -> tuple[Trees, Encoding]:
    """The sum of trees that a vector is.

    Raises
    ------
    NetworkError
        For anything but a sum: activations, columns beside trees, outputs that are scaled differently.
    """
    rows = [_row(part) for part in components(vector)]
    scale, factor = _scale(rows)
    ensembles = list(dict.fromkeys(output.ensemble for row in rows for output in row.factors))
    own = encoding_of(Block(tuple(column for one in ensembles for column in one.block.columns)), encoding)
    trees = []
    for ensemble in ensembles:
        reader = ColumnReader(ensemble.block.columns, own)
        chosen = [
            [(output.place, 1 if by > 0 else -1) for output, by in row.factors.items() if output.ensemble is ensemble]
            for row in rows
        ]
        trees += [reader.tree(one) for tree in ensemble.trees for one in _combined(tree, chosen)]
    base, constants = _constants(rows, factor, scale)
    rounded = max(row.roundings for row in rows)
    trees += [*constants, *([TreeLeaf((0.0,) * len(rows))] * rounded)]  # each counts as one operation that rounds
    function = Trees.of(len(own.features), base, trees, scale)
    return function.of_runtime(arithmetic), own


@dataclass(frozen=True)
class _SumRow:
    """Σ factor · output + Σ constants; ``roundings`` beyond those of the ensembles themselves."""

    factors: Mapping[TreeOutput, Fraction]
    constants: tuple[Fraction, ...] = ()
    roundings: int = 0


def _row(part: tuple[FlowVector, int, int]) -> _SumRow:
    base, place, sign = part
    if isinstance(base, LeafVector):
        column = base.columns[place]
        if not isinstance(column, TreeOutput):
            raise NetworkError(f"a column beside trees: the model {ELSEWHERE}", fix="export the trees alone")
        constant = Fraction(column.ensemble.base[column.place])
        return _SumRow({column: Fraction(sign)}, (sign * constant,) if constant else ())
    if not isinstance(base, AffineVector):
        raise NetworkError(f"an activation behind trees {ELSEWHERE}", fix="export the trees alone")
    factors: dict[TreeOutput, Fraction] = {}
    constants: list[Fraction] = [Fraction(float(base.bias[place]))] if base.bias[place] else []
    roundings = base.spare + 1
    for term in base.terms:
        inside = components(term.vector)
        for weight, one in zip(term.weight[place].tolist(), inside, strict=True):
            if weight:
                row = _row(one)
                for output, by in row.factors.items():
                    factors[output] = factors.get(output, Fraction(0)) + Fraction(weight) * by
                constants += [Fraction(weight) * constant for constant in row.constants]
                roundings += row.roundings + 2
    return _SumRow(
        {output: sign * by for output, by in factors.items() if by}, tuple(sign * one for one in constants), roundings
    )


def _scale(rows: Sequence[_SumRow]) -> tuple[Fraction, Fraction]:
    """What multiplies all leaves, and what multiplies all outputs."""
    factors = {abs(by) for row in rows for by in row.factors.values()}
    scales = {output.ensemble.scale for row in rows for output in row.factors}
    if len(factors) != 1 or len(scales) != 1:
        raise NetworkError(f"the model {ELSEWHERE}: it multiplies them by {len(factors) * len(scales)} numbers")
    factor = factors.pop()
    return factor * scales.pop(), factor


def _combined(tree: LibraryNode, chosen: Sequence[Sequence[tuple[int, int]]]) -> list[LibraryNode]:
    """A tree whose leaves hold the outputs asked for; several where no float holds a sum of two stored numbers."""

    def together(values: tuple[float, ...]) -> tuple[Fraction, ...]:
        return tuple(sum((sign * Fraction(values[place]) for place, sign in row), Fraction(0)) for row in chosen)

    def one_each(turn: int) -> Callable[[tuple[float, ...]], tuple[float, ...]]:
        return lambda values: tuple(row[turn][1] * values[row[turn][0]] if turn < len(row) else 0.0 for row in chosen)

    turns = max(map(len, chosen))
    if turns > 1 and all(
        is_float(value) for node in preorder(tree) if isinstance(node, TreeLeaf) for value in together(node.values)
    ):
        return [with_leaves(tree, lambda values: tuple(map(float, together(values))))]
    return [with_leaves(tree, one_each(turn)) for turn in range(turns)]


def is_float(value: Fraction) -> bool:
    """Whether a float64 holds it exactly."""
    return abs(value) <= Fraction(np.finfo(np.float64).max) and Fraction(float(value)) == value


def _constants(rows: Sequence[_SumRow], factor: Fraction, scale: Fraction) -> tuple[list[float], list[TreeLeaf]]:
    """The base, and trees of one leaf for constants whose sum no float holds."""
    sums = [sum(row.constants, Fraction(0)) for row in rows]
    if all(map(is_float, sums)):
        return [float(one) for one in sums], []
    parts = [[constant / scale for constant in row.constants] for row in rows]
    if not all(is_float(one) for row in parts for one in row):
        raise NetworkError(f"the model {ELSEWHERE}: it scales a constant by {float(factor):g}, beside them")
    turns = max(map(len, parts))
    leaves = [TreeLeaf(tuple(float(row[t]) if t < len(row) else 0.0 for row in parts)) for t in range(turns)]
    return [0.0] * len(rows), leaves


# Nodes of ONNX tree ensembles, put together as trees over the columns of a matrix.

EQUALITY = ("BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
MOST_VALUES = 2**24
"""The most values that all leaves may hold together: a short file can ask for any number of outputs."""


@dataclass(frozen=True)
class EnsembleNodes:
    """The nodes of all trees side by side.

    Parameters
    ----------
    feature, mode, threshold, yes, no : of each node; children by their places. missing_yes : where missing values go.
    members : of a node that asks for one of several numbers. leaves : of each leaf the values, by output.
    """

    call: Call
    outputs: int
    feature: Sequence[int]
    mode: Sequence[str]
    threshold: Sequence[float]
    yes: Sequence[int]
    no: Sequence[int]
    missing_yes: Sequence[bool]
    leaves: Mapping[int, Mapping[int, float]]
    members: Mapping[int, frozenset[float]]

    def trees(self, roots: Sequence[int]) -> tuple[LibraryNode, ...]:
        """One for each root; every other node has one parent."""
        if not roots:
            raise self.call.refuse("there is no tree")
        if not 0 < self.outputs <= WIDEST or len(self.leaves) * self.outputs > MOST_VALUES:
            raise self.call.refuse(f"{self.outputs} outputs of {len(self.leaves)} leaves are too many")
        seen: set[int] = set()

        def look(node: int) -> LibraryNode | tuple[int, int]:
            if node in self.leaves:
                values = self.leaves[node]
                return TreeLeaf(tuple(values.get(output, 0.0) for output in range(self.outputs)))
            if node in seen:
                raise self.call.refuse(f"node {node} has two parents, or is its own ancestor")
            seen.add(node)
            return self.yes[node], self.no[node]

        return tuple(grow(root, look, self._split) for root in roots)

    def _split(self, node: int, yes: LibraryNode, no: LibraryNode) -> LibraryNode:
        mode, feature, at = self.mode[node], self.feature[node], self.threshold[node]
        missing = self.missing_yes[node]
        if mode in EQUALITY:
            members = self.members.get(node, frozenset({at}))
            turned = mode == "BRANCH_NEQ"
            first, second = (no, yes) if turned else (yes, no)
            return LibrarySplit(feature, 0.0, first, second, missing_first=missing != turned, members=members)
        if math.isnan(at):
            raise self.call.refuse(f"the threshold of node {node} is NaN")
        if mode in ("BRANCH_LEQ", "BRANCH_LT"):
            return LibrarySplit(feature, at, yes, no, strict=mode == "BRANCH_LT", missing_first=missing)
        return LibrarySplit(feature, at, no, yes, strict=mode == "BRANCH_GTE", missing_first=not missing)


# Attributes of ONNX tree ensembles, both generations: lists of nodes, leaves and weights, checked.

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
"""In the order of their numbers in the second generation."""
LEAF = "LEAF"
MOST_NODES = 2**21


@dataclass(frozen=True)
class ReadTrees:
    """trees : over the columns. scored : the outputs that get a weight whichever leaf of some tree is reached."""

    trees: tuple[LibraryNode, ...]
    scored: frozenset[int]


def first_generation(call: Call, kind: str, outputs: int, columns: Columns) -> ReadTrees:
    """The trees of a TreeEnsembleClassifier (``kind`` "class") or TreeEnsembleRegressor ("target")."""
    ids = {name: call.listed(f"nodes_{name}") for name in ("treeids", "nodeids", "featureids", "modes")}
    ids |= {name: call.listed(f"nodes_{name}") for name in ("truenodeids", "falsenodeids")}
    values = numbers(call, "nodes_values", columns)
    count = _alike(call, values, *ids.values())
    missing = call.listed("nodes_missing_value_tracks_true") or (0,) * count
    places = {key: place for place, key in enumerate(zip(ids["treeids"], ids["nodeids"], strict=True))}
    if len(places) < count or len(missing) != count:
        raise call.refuse("two nodes are named alike, or missing values have no side")
    modes = tuple(map(str, ids["modes"]))
    _check_modes(call, (mode for mode in modes if mode != LEAF), MODES[:-1])
    children = {
        name: [
            places.get((tree, child), -1) if mode != LEAF else -1
            for tree, child, mode in zip(ids["treeids"], ids[f"{name}nodeids"], modes, strict=True)
        ]
        for name in ("true", "false")
    }
    inner = [place for place, mode in enumerate(modes) if mode != LEAF]
    if any(children[name][place] < 0 for name in children for place in inner):
        raise call.refuse("a child is not a node of its tree")
    _check_features(call, [ids["featureids"][place] for place in inner], columns)
    found = EnsembleNodes(
        call,
        outputs,
        ids["featureids"],
        modes,
        values,
        children["true"],
        children["false"],
        [one == 1 for one in missing],
        _weights(call, kind, outputs, columns, places, modes),
        {},
    )
    roots = _roots(call, ids["treeids"], [children[name][place] for name in children for place in inner])
    return ReadTrees(found.trees(roots), _scored(ids["treeids"], found.leaves))


def _scored(treeids: Sequence[int], leaves: Mapping[int, Mapping[int, float]]) -> frozenset[int]:
    always: dict[int, frozenset[int]] = {}
    for place, weights in leaves.items():
        always[treeids[place]] = always.get(treeids[place], frozenset(weights)) & frozenset(weights)
    return frozenset().union(*always.values())


def _roots(call: Call, treeids: Sequence[int], children: Sequence[int]) -> list[int]:
    """The first node of each tree, which is the only one without a parent."""
    starts = [place for place, tree in enumerate(treeids) if not place or tree != treeids[place - 1]]
    if len(starts) != len(set(treeids)):
        raise call.refuse("the nodes of a tree stand apart, among those of another")
    if sorted([*starts, *children]) != list(range(len(treeids))):
        raise call.refuse("the first node of a tree is not its root, or some node has two parents or none")
    return starts


def _weights(
    call: Call,
    kind: str,
    outputs: int,
    columns: Columns,
    places: Mapping[tuple[Any, Any], int],
    modes: Sequence[str],
) -> dict[int, dict[int, float]]:
    """The values of each leaf, by output. Values of inner nodes, which old converters wrote, mean nothing."""
    trees, nodes, targets = (call.listed(f"{kind}_{name}") for name in ("treeids", "nodeids", "ids"))
    weights = numbers(call, f"{kind}_weights", columns)
    _alike(call, weights, trees, nodes, targets)
    found: dict[int, dict[int, float]] = {place: {} for place, mode in enumerate(modes) if mode == LEAF}
    for tree, node, target, weight in zip(trees, nodes, targets, weights, strict=True):
        place = places.get((tree, node))
        if place is None or not 0 <= target < outputs or not math.isfinite(weight):
            raise call.refuse(f"a weight {weight} for output {target} of node {node} in tree {tree}")
        if place in found and found[place].setdefault(target, weight) != weight:
            raise call.refuse(f"node {node} in tree {tree} has two weights for output {target}")
    if len(trees) > len({*zip(trees, nodes, targets, strict=True)}):
        raise call.refuse("a leaf has two weights for one output")
    if not all(found.values()):
        raise call.refuse("a leaf has no weight, which runtimes refuse")
    return found


def second_generation(call: Call, outputs: int, columns: Columns) -> tuple[LibraryNode, ...]:
    """The trees of a TreeEnsemble, whose leaves are numbered separately from its nodes."""
    splits, modes = numbers(call, "nodes_splits", columns), _tensor(call, "nodes_modes").tolist()
    features = call.listed("nodes_featureids")
    yes, yes_leaf, no, no_leaf = (
        call.listed(f"nodes_{name}") for name in ("truenodeids", "trueleafs", "falsenodeids", "falseleafs")
    )
    count = _alike(call, splits, modes, features, yes, yes_leaf, no, no_leaf)
    missing = call.listed("nodes_missing_value_tracks_true") or (0,) * count
    weights, targets = numbers(call, "leaf_weights", columns), call.listed("leaf_targetids")
    leaves, roots = _alike(call, weights, targets), call.listed("tree_roots")
    sides = ((child, 1 if leaf else 0) for child, leaf in (*zip(yes, yes_leaf), *zip(no, no_leaf)))  # noqa: B905
    inside = all(0 <= child < (leaves if leaf else count) for child, leaf in sides)
    if not inside or len(missing) != count or not all(0 <= root < count for root in roots):
        raise call.refuse("a child or root is neither a node nor a leaf, or missing values have no side")
    if not all(0 <= target < outputs and math.isfinite(w) for target, w in zip(targets, weights, strict=True)):
        raise call.refuse("a leaf weighs NaN or infinity, or for an output that is not there")
    _check_modes(call, (str(mode) for mode in modes), tuple(map(str, range(len(MODES)))))
    named = [MODES[mode] for mode in modes]
    _check_features(call, features, columns)
    found = EnsembleNodes(
        call,
        outputs,
        features,
        named,
        splits,
        [child + count if leaf else child for child, leaf in zip(yes, yes_leaf, strict=True)],
        [child + count if leaf else child for child, leaf in zip(no, no_leaf, strict=True)],
        [one == 1 for one in missing],
        {count + k: {target: w} for k, (target, w) in enumerate(zip(targets, weights, strict=True))},
        dict(_memberships(call, named, columns)),
    )
    return found.trees(roots)


def _memberships(call: Call, modes: Sequence[str], columns: Columns) -> Iterator[tuple[int, frozenset[float]]]:
    """The numbers of each node of BRANCH_MEMBER: in their order, with NaN between."""
    asking = [place for place, mode in enumerate(modes) if mode == "BRANCH_MEMBER"]
    if not asking:
        return
    values = np.array(numbers(call, "membership_values", columns))
    ends = np.flatnonzero(np.isnan(values))
    groups = np.split(values, ends + 1)
    groups = [group[~np.isnan(group)] for group in groups]
    if len(groups) == len(asking) + 1 and not len(groups[-1]):
        groups.pop()
    if len(groups) != len(asking) or not all(len(group) and np.isfinite(group).all() for group in groups):
        raise call.refuse(f"{len(groups)} sets of members for {len(asking)} nodes")
    yield from zip(asking, (frozenset(group.tolist()) for group in groups), strict=True)


def numbers(call: Call, name: str, columns: Columns) -> tuple[float, ...]:
    """Floats of a list, or of a tensor in the format of the columns."""
    tensors = [one for one in (f"{name}_as_tensor", name) if isinstance(call.node.attributes.get(one), np.ndarray)]
    if not tensors:
        return call.listed(name)
    tensor = _tensor(call, tensors[0])
    if len(tensors) > 1 or tensor.dtype != columns.dtype or (tensors[0] != name and call.listed(name)):
        raise call.refuse(f"{tensors[0]} is of {tensor.dtype}, the columns of {columns.dtype}", fix="use one format")
    return tuple(tensor.astype(np.float64).ravel().tolist())


def _tensor(call: Call, name: str) -> Any:
    found = call.node.attributes.get(name)
    if not isinstance(found, np.ndarray):
        raise call.refuse(f'attribute "{name}" is not a tensor')
    return found


def _alike(call: Call, *lists: Sequence[Any]) -> int:
    sizes = {len(one) for one in lists}
    if len(sizes) != 1 or not 0 < max(sizes) <= MOST_NODES:
        raise call.refuse(f"its lists have {sorted(sizes)} entries", fix=f"alike, and at most {MOST_NODES}")
    return sizes.pop()


def _check_modes(call: Call, modes: Iterator[str], known: Sequence[str]) -> None:
    for mode in modes:
        if mode not in known:
            raise call.refuse(f"a node of the mode {mode}", fix=f"one of {', '.join(known)}")


def _check_features(call: Call, features: Sequence[int], columns: Columns) -> None:
    if any(not 0 <= feature < len(columns.block) for feature in features):
        raise call.refuse(f"a split about a column beyond the {len(columns.block)} that it is given")


# Tree ensembles of ONNX: TreeEnsembleRegressor, TreeEnsembleClassifier, TreeEnsemble, as onnxruntime has them.

FLOAT32 = np.dtype(np.float32)
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def tree_ensemble_regressor(call: Call) -> tuple[Value, ...]:
    """A sum or mean of trees, in float32 at the end whatever it is given."""
    columns, outputs = _columns(call), call.integer("n_targets", 0)
    if (transform := call.text("post_transform", "NONE")) != "NONE":
        raise call.refuse(f"post_transform {transform} of a regression, of which runtimes differ", fix="use NONE")
    trees = first_generation(call, "target", outputs, columns).trees
    base = numbers(call, "base_values", columns)
    if len(base) not in (0, outputs):
        raise call.refuse(f"{len(base)} base values for {outputs} outputs")
    ensemble = _ensemble(call, trees, base or (0.0,) * outputs, call.text("aggregate_function", "SUM"), columns)
    return (Hidden(ensemble.outputs(), FLOAT32, (outputs,)),)


def tree_ensemble(call: Call) -> tuple[Value, ...]:
    """The second generation: outputs are of the format of the columns."""
    columns, outputs = _columns(call), call.integer("n_targets", 0)
    if call.integer("post_transform", 0):
        raise call.refuse(
            "a post_transform, whose number is softmax in the standard and the logistic function in onnxruntime",
            fix="leave it out, and put a Sigmoid or Softmax behind",
        )
    number = call.integer("aggregate_function", 1)
    name = AGGREGATES[number] if 0 <= number < len(AGGREGATES) else str(number)
    trees = second_generation(call, outputs, columns)
    _refuse_equality(call, trees, columns)
    ensemble = _ensemble(call, trees, (0.0,) * outputs, name, columns)
    return (Hidden(ensemble.outputs(), columns.dtype, (outputs,)),)


def tree_ensemble_classifier(call: Call) -> tuple[Value, ...]:
    """The class, decided by the sums before they become probabilities; and these."""
    columns = _columns(call)
    labels = call.listed("classlabels_int64s") or call.listed("classlabels_strings")
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise call.refuse(f"{len(labels)} labels, where each of at least two classes has its own")
    read, base = first_generation(call, "class", len(labels), columns), numbers(call, "base_values", columns)
    if len(labels) == 2:
        return _of_two(call, read, base, labels, columns)
    if len(base) not in (0, len(labels)):
        raise call.refuse(f"{len(base)} base values for {len(labels)} classes")
    if not base:
        _check_scored(call, read, range(len(labels)))
    ensemble = _ensemble(call, read.trees, base or (0.0,) * len(labels), "SUM", columns)
    scores = ensemble.outputs()
    deciding = scores
    if len(read.trees) == 1 and not base:  # of one number nothing is rounded, so that each leaf has decided already
        decided = [with_leaves(tree, _first_of_largest) for tree in read.trees]
        deciding = _ensemble(call, decided, (0.0,) * len(labels), "SUM", columns).outputs()
    chosen_class = Decided(deciding, Kind.CLASS, (0.0, 0.0), labels, columns.dtype, ())
    return chosen_class, call.post_transformed(Hidden(scores, FLOAT32, (scores.width,)))


def _of_two(
    call: Call, read: ReadTrees, base: Sequence[float], labels: tuple[object, ...], columns: Columns
) -> tuple[Value, ...]:
    """One score decides: that of the only class with weights, else that of the second, whatever the first one has."""
    used = set(call.listed("class_ids"))
    if len(base) > 1 or (base and used != {0}):
        raise call.refuse(f"{len(base)} base values of two classes, which runtimes add to the other one's sum")
    if len(used) == 2:
        _check_scored(call, read, (1,))
        if all(isinstance(label, int) for label in labels) and labels != (0, 1):
            raise call.refuse("both of two classes have weights, and runtimes call them 0 and 1 whatever their labels")
    place = 0 if used == {0} else 1
    positive = len(used) == 1 and all(weight >= 0 for weight in numbers(call, "class_weights", columns))
    threshold = 0.5 if positive else 0.0
    ensemble = _ensemble(call, read.trees, (base[0] if base else 0.0, 0.0), "SUM", columns)
    scores = ensemble.outputs()
    score: FlowVector = chosen(scores, [place])
    band = (threshold, threshold)
    deciding = score
    if len(read.trees) == 1 and not base:
        decided = [with_leaves(tree, lambda v: (1.0 if v[place] > threshold else -1.0,)) for tree in read.trees]
        deciding, band = _ensemble(call, decided, (0.0,), "SUM", columns).outputs(), (0.0, 0.0)
    found = Decided(deciding, Kind.SIGN, band, labels, columns.dtype, ())
    if len(used) == 2:
        return found, call.post_transformed(Hidden(scores, FLOAT32, (scores.width,)))
    return found, _written(call, score, place, positive)


def _written(call: Call, score: FlowVector, place: int, positive: bool) -> Value:
    """What becomes of one score of two classes: 1 − s and s where no weight is negative, else −s and s."""
    transform = call.text("post_transform", "NONE")
    if place == 0 and transform == "LOGISTIC":
        return Probabilities((Probability(score, complement=True), Probability(score)), FLOAT32, (2,))
    if transform == "NONE" and place == 0:
        both = affine((np.array([[-1.0], [1.0]]), score), bias=[1.0, 0.0]) if positive else None
        return Hidden(joined([negative(score), score]) if both is None else both, FLOAT32, (2,))
    return call.unread_scores(transform)


def _columns(call: Call) -> Columns:
    """The matrix, as the runtime compares it: whole numbers in float32."""
    value = call.person_value(0)
    if not isinstance(value, Columns):
        raise call.refuse(
            "trees stand behind a step that mixes columns, so their splits are about no attribute",
            fix="leave that step out, and train the trees on the columns themselves",
        )
    if len(value.shape) != 1 or value.dtype.kind not in "fi":
        raise call.refuse(
            f"trees over {value.dtype} of the shape {value.shape}", fix="give the trees one row of floats"
        )
    if value.dtype.kind == "f":
        return value
    return cast_to_floats(call, value, FLOAT32)


def _ensemble(
    call: Call, trees: Sequence[LibraryNode], base: Sequence[float], aggregate: str, columns: Columns
) -> TreeEnsemble:
    if aggregate not in AGGREGATES[:2]:
        raise call.refuse(f"aggregate_function {aggregate} is not a sum of trees", fix="use SUM or AVERAGE")
    if not np.isfinite(base).all():
        raise call.refuse("base values are NaN or infinite")
    scale = Fraction(1, len(trees)) if aggregate == "AVERAGE" else Fraction(1)
    return TreeEnsemble(tuple(trees), tuple(map(float, base)), scale, columns.block)


def _check_scored(call: Call, read: ReadTrees, classes: Sequence[int]) -> None:
    """Refuse classes without a weight in some leaves: runtimes treat them differently from classes of weight 0."""
    for one in classes:
        if one not in read.scored:
            raise call.refuse(f"class {one} has no weight in some leaves, and runtimes leave it out where these decide")


def _refuse_equality(call: Call, trees: Sequence[LibraryNode], columns: Columns) -> None:
    """Refuse splits by equality on numbers: onnxruntime uses bit masks, in which 1.5 can count as 1."""
    for node in (node for tree in trees for node in preorder(tree)):
        if isinstance(node, TreeLeaf) or node.members is None:
            continue
        column = columns.block.columns[node.feature]
        if isinstance(column, NumberColumn):
            raise call.refuse(
                f'a split by equality about the number "{column.attribute}", which runtimes take for a whole one',
                fix=f'declare "{column.attribute}" categorical',
            )


def _first_of_largest(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(k == int(np.argmax(values))) for k in range(len(values)))
