"""Tree ensembles of ONNX: TreeEnsembleRegressor, TreeEnsembleClassifier, TreeEnsemble, as onnxruntime has them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.models.columns import Block, NumberColumn
from lcifr.models.dataflow.tree_outputs import TreeEnsemble, with_leaves
from lcifr.models.dataflow.vectors import FlowVector, affine, chosen, joined, negative
from lcifr.models.onnx.calls import Call
from lcifr.models.onnx.operators.ensemble_nodes import ReadTrees, first_generation, numbers, second_generation
from lcifr.models.onnx.values import (
    Columns,
    Constant,
    Decided,
    Hidden,
    Probabilities,
    Probability,
    Softmax,
    Value,
)
from lcifr.models.rule import Kind
from lcifr.models.trees.nodes import TreeLeaf
from lcifr.models.trees.splits import LibraryNode

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
    return chosen_class, _transformed(call, scores)


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
    return found, _transformed(call, scores) if len(used) == 2 else _written(call, score, place, positive)


def _written(call: Call, score: FlowVector, place: int, positive: bool) -> Value:
    """What becomes of one score of two classes: 1 − s and s where no weight is negative, else −s and s."""
    transform = call.text("post_transform", "NONE")
    if place == 0 and transform == "LOGISTIC":
        return Probabilities((Probability(score, complement=True), Probability(score)), FLOAT32, (2,))
    if transform == "NONE" and place == 0:
        both = affine((np.array([[-1.0], [1.0]]), score), bias=[1.0, 0.0]) if positive else None
        return Hidden(joined([negative(score), score]) if both is None else both, FLOAT32, (2,))
    return _unread(transform)


def _transformed(call: Call, scores: FlowVector) -> Value:
    transform = call.text("post_transform", "NONE")
    if transform == "NONE":
        return Hidden(scores, FLOAT32, (scores.width,))
    if transform == "SOFTMAX":
        return Softmax(scores, FLOAT32, (scores.width,))
    if transform == "LOGISTIC":
        parts = tuple(Probability(chosen(scores, [i])) for i in range(scores.width))
        return Probabilities(parts, FLOAT32, (scores.width,))
    return _unread(transform)


def _unread(transform: str) -> Constant:
    return Constant(np.array(f"the scores behind post_transform {transform}", dtype=object))  # texts: of no use


def _columns(call: Call) -> Columns:
    """The matrix, as the runtime compares it: whole numbers in float32."""
    value = call.person_value(0)
    if not isinstance(value, Columns):
        raise call.refuse(
            "trees stand behind a step that mixes columns, so their splits are about no attribute",
            fix="leave that step out, and train the trees on the columns themselves",
        )
    if len(value.shape) != 1 or value.dtype.kind not in "fi":
        raise call.refuse(f"trees over {value.dtype} of the shape {value.shape}", fix="one row of floats for a person")
    if value.dtype.kind == "f":
        return value
    cast = [(ProgramStep(Operation.CAST, StepFormat.FLOAT32),)] * len(value.block)
    return Columns(Block(value.block.columns, FLOAT32).stepwise(cast, call.where), value.shape)


def _ensemble(
    call: Call, trees: Sequence[LibraryNode], base: Sequence[float], aggregate: str, columns: Columns
) -> TreeEnsemble:
    if aggregate not in AGGREGATES[:2]:
        raise call.refuse(f"aggregate_function {aggregate} is no sum of trees", fix="use SUM or AVERAGE")
    if not np.isfinite(base).all():
        raise call.refuse("base values are NaN or infinite")
    scale = Fraction(1, len(trees)) if aggregate == "AVERAGE" else Fraction(1)
    return TreeEnsemble(tuple(trees), tuple(map(float, base)), scale, columns.block)


def _check_scored(call: Call, read: ReadTrees, classes: Sequence[int]) -> None:
    """Of a class that got no weight for a person runtimes think otherwise than of one that got 0."""
    for one in classes:
        if one not in read.scored:
            raise call.refuse(f"class {one} has no weight in some leaves, and runtimes leave it out where these decide")


def _refuse_equality(call: Call, trees: Sequence[LibraryNode], columns: Columns) -> None:
    """Of sets of numbers onnxruntime makes bit masks, in which 1.5 can be a 1."""
    waiting = list(trees)
    while waiting:
        node = waiting.pop()
        if isinstance(node, TreeLeaf):
            continue
        if node.members is not None and isinstance(columns.block.columns[node.feature], NumberColumn):
            name = columns.block.columns[node.feature].attribute  # type: ignore[union-attr]
            raise call.refuse(
                f'a split by equality about the number "{name}", which runtimes take for a whole one',
                fix=f'declare "{name}" categorical',
            )
        waiting += [node.first, node.second]


def _first_of_largest(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(k == int(np.argmax(values))) for k in range(len(values)))
