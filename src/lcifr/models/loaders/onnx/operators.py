"""Operators of ONNX: those that compute or move numbers, and the table of all; others are refused by their node."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.models.columns import Block, Column, ConstantColumn
from lcifr.models.loaders.dataflow import (
    AffineVector,
    FloatArray,
    FlowVector,
    Normalisation,
    affine,
    at_least,
    checked_width,
    clipped,
    joined,
    larger,
    leaky,
    negative,
    relu,
    scaled,
)
from lcifr.models.loaders.onnx import categories, decisions, tree_ensembles
from lcifr.models.loaders.onnx.categories import cast_columns, cast_to_floats
from lcifr.models.loaders.onnx.graph import AnyArray, finite
from lcifr.models.loaders.onnx.values import (
    Call,
    Columns,
    Constant,
    Decided,
    Exponentials,
    Hidden,
    IntArray,
    Operator,
    PersonValue,
    Probabilities,
    Probability,
    Texts,
    Value,
    as_hidden,
    broadcast,
    join,
    logistic,
    pick,
    places_of,
)
from lcifr.models.rule import Kind

# Operators of ONNX that mix columns: Gemm, MatMul, BatchNormalization, LinearRegressor, LinearClassifier, Scaler.

FLOAT32 = np.dtype(np.float32)


def gemm(call: Call) -> tuple[Value, ...]:
    weight = _matrix(call, call.required(1))
    weight = weight.T if call.integer("transB", 0) else weight
    if call.integer("transA", 0):
        raise call.refuse("transA mixes rows")
    alpha, beta = (_power_of_two(call, name) for name in ("alpha", "beta"))
    given = call.constant(2)
    bias = np.zeros(weight.shape[1]) if given is None else finite(given, f"{call.where}, its bias")
    if bias.ndim > 1 and bias.shape[0] == 1:
        bias = bias[0]
    if bias.ndim > 1 or bias.size not in (1, weight.shape[1]):
        raise call.refuse(f"a bias of the shape {bias.shape} for {weight.shape[1]} outputs")
    shift = beta * np.broadcast_to(bias, (weight.shape[1],))
    value = _inputs(call, given if given is not None else call.required(1))
    return (_product(call, value, alpha * weight.T, shift, 0),)


def _power_of_two(call: Call, name: str) -> float:
    """A factor that rounds nothing."""
    found = call.number(name, 1.0)
    if found != 0 and abs(math.frexp(found)[0]) != 0.5:
        raise call.refuse(
            f"{name} = {found:g} is not a power of 2", fix="multiply it into the weights before the export"
        )
    return found


def matmul(call: Call) -> tuple[Value, ...]:
    if isinstance(call.value(0), Constant):
        raise call.refuse("the row's values are the right factor of a matrix product, which mixes rows")
    given = call.required(1)
    if given.ndim == 1:
        hidden = _product(call, _inputs(call, given), _matrix(call, given[:, None]).T, None, call.graph.rounded_weights)
        return (Hidden(hidden.vector, hidden.dtype, hidden.shape[:-1]),)
    return (_product(call, _inputs(call, given), _matrix(call, given).T, None, call.graph.rounded_weights),)


def _matrix(call: Call, array: AnyArray) -> FloatArray:
    if array.ndim != 2 or 0 in array.shape:
        raise call.refuse(f"weights of the shape {array.shape}, where a matrix belongs")
    return finite(array, f"{call.where}, its weights")


def _inputs(call: Call, constant: AnyArray) -> Hidden:
    value = as_hidden(call.value(0), call.where)
    if value.dtype != constant.dtype:
        raise call.refuse(f"values of {value.dtype} and constants of {constant.dtype}")
    return value


def _product(call: Call, value: Hidden, weight: FloatArray, bias: FloatArray | None, spare: int) -> Hidden:
    """weight (outputs, inputs) times the last dimension; the others have to be 1."""
    if not value.shape or value.shape[-1] != weight.shape[1] or value.vector.width != weight.shape[1]:
        raise call.refuse(f"{weight.shape[1]} numbers are expected, and a row has the shape {value.shape}")
    vector = affine((weight, value.vector), bias=bias, spare=spare)
    return Hidden(vector, value.dtype, (*value.shape[:-1], weight.shape[0]))


def batch_normalization(call: Call) -> tuple[Value, ...]:
    trains = call.integer("training_mode", 0) or len([name for name in call.node.outputs if name]) > 1
    if trains or not call.integer("spatial", 1):
        raise call.refuse("it is in training mode", fix="export the model with module.eval()")
    value = as_hidden(call.value(0), call.where)
    if len(value.shape) != 1:
        raise call.refuse(f"a row has the shape {value.shape}, and one dimension is expected")
    constants = [finite(call.required(i), f"{call.where}, its constants") for i in range(1, 5)]
    epsilon = call.number("epsilon", float(np.float32(1e-5)))
    learned = Normalisation(constants[0], constants[1], constants[2], constants[3], epsilon)
    call.graph.divisions.append(call.where)
    return (Hidden(learned.of(value.vector, call.where), value.dtype, value.shape),)


def scaler(call: Call) -> tuple[Value, ...]:
    """(x − offset) · scale: in float32 for float32 and whole numbers, in float64 and cast for float64."""
    value = call.person_value(0)
    width = value.shape[-1] if value.shape else 0
    offset, scale = (np.array(call.listed(name), dtype=np.float64) for name in ("offset", "scale"))
    if len(value.shape) != 1 or offset.shape != scale.shape or len(scale) not in (1, width):
        raise call.refuse(f"offsets {offset.shape} and scales {scale.shape} for rows of the shape {value.shape}")
    offset, scale = (np.broadcast_to(finite(one, call.where), (width,)) for one in (offset, scale))
    if isinstance(value, Columns):
        if not scale.all():
            raise call.refuse("a scale is 0")
        return (_scaled_columns(call, value, offset, scale),)
    hidden = as_hidden(value, call.where)
    vector = scaled(scaled(hidden.vector, 1.0, -offset), scale)
    return (Hidden(vector, FLOAT32, value.shape),)


def _scaled_columns(call: Call, value: Columns, offset: FloatArray, scale: FloatArray) -> Columns:
    wide = value.dtype == np.float64
    kind = StepFormat.FLOAT64 if wide else StepFormat.FLOAT32
    cast = (ProgramStep(Operation.CAST, StepFormat.FLOAT32),)
    steps = [
        (
            *(() if value.dtype.kind == "f" else cast),
            *((ProgramStep(Operation.SUBTRACT, kind, (float(o),)),) if o else ()),
            *((ProgramStep(Operation.MULTIPLY, kind, (float(s),)),) if s != 1 else ()),
            *(cast if wide else ()),
        )
        for o, s in zip(offset, scale, strict=True)
    ]
    block = Block(value.block.columns, FLOAT32).stepwise(steps, call.where)
    return Columns(block, value.shape)


def linear_regressor(call: Call) -> tuple[Value, ...]:
    value, targets = _float32(call), call.integer("targets", 1)
    weight, bias = _coefficients(call, value, targets, use_bias=len(call.listed("intercepts")) == targets)
    if call.text("post_transform", "NONE") != "NONE":
        raise call.refuse("a regression with a post_transform", fix="use post_transform NONE")
    return (_product(call, value, weight, bias, 0),)


def linear_classifier(call: Call) -> tuple[Value, ...]:
    """The first of the largest scores decides, before they become probabilities; a single score is compared with 0."""
    value = _float32(call)
    count = len(call.listed("intercepts"))
    weight, bias = _coefficients(call, value, count, use_bias=True)
    labels = call.listed("classlabels_ints") or call.listed("classlabels_strings")
    classes = max(count, 2)
    if len(labels) != classes:
        raise call.refuse(f"{len(labels)} labels for {classes} classes")
    scores = _product(call, value, weight, bias, 0)
    if count == 2 and (weight[0] == -weight[1]).all() and bias[0] == -bias[1]:
        # Two sums that differ in sign alone: beyond what either can be off, one says what the other says.
        margin = affine((weight[1:], value.vector), bias=bias[1:])
        scores = replace(scores, vector=joined([negative(margin), margin]))
        decided = Decided(margin, Kind.SIGN, (0.0, 0.0), labels, scores.dtype, ())
    else:
        kind = Kind.SIGN if count == 1 else Kind.CLASS
        decided = Decided(scores.vector, kind, (0.0, 0.0), labels, scores.dtype, ())
    return decided, _probabilities(call, scores, count)


def _probabilities(call: Call, scores: Hidden, count: int) -> Value:
    if count > 1:
        return call.post_transformed(scores)
    transform, found = call.text("post_transform", "NONE"), logistic(scores)
    if transform != "LOGISTIC":
        return call.unread_scores(transform)
    return replace(found, parts=(Probability(scores.vector, complement=True), *found.parts), shape=(2,))


def _float32(call: Call) -> Hidden:
    """The input of a linear model of ai.onnx.ml, which computes in float32 whatever it is given."""
    value = call.person_value(0)
    if isinstance(value, Columns) and value.dtype != np.float32:
        value = cast_to_floats(call, value, FLOAT32)
    hidden = as_hidden(value, call.where)
    if hidden.dtype != np.float32:
        hidden = Hidden(scaled(hidden.vector, 1.0), FLOAT32, hidden.shape)
    return hidden


def _coefficients(call: Call, value: Hidden, outputs: int, *, use_bias: bool) -> tuple[FloatArray, FloatArray]:
    width = value.shape[-1] if len(value.shape) == 1 else 0
    coefficients = np.array(call.listed("coefficients"), dtype=np.float64)
    if outputs < 1 or coefficients.shape != (outputs * width,):
        raise call.refuse(f"{coefficients.size} coefficients for {outputs} outputs and rows of the shape {value.shape}")
    bias = np.array(call.listed("intercepts"), dtype=np.float64) if use_bias else np.zeros(outputs)
    return finite(coefficients, call.where).reshape(outputs, width), finite(bias, call.where)


# Operators of ONNX number by number: +, −, ×, ÷ by constants, negation, square roots of constants.
#
# On columns of the table they are steps of the encoding's programs, rounded as the runtime rounds them. Behind the
# encoding they are affine maps of their own.

_NEUTRAL = {Operation.ADD: 0.0, Operation.SUBTRACT: 0.0, Operation.MULTIPLY: 1.0, Operation.DIVIDE: 1.0}
_NUMPY = {
    Operation.ADD: np.add,
    Operation.SUBTRACT: np.subtract,
    Operation.MULTIPLY: np.multiply,
    Operation.DIVIDE: np.divide,
}


def add_all(call: Call) -> tuple[Value, ...]:
    """Sum, of any number of values; the rounding bound holds for any order of summation."""
    found = call.value(0)
    for place in range(1, len(call.values)):
        found = _combined(call, Operation.ADD, found, call.value(place))
    return (found,)


def of_two(call: Call, operation: Operation) -> tuple[Value, ...]:
    """Add, Sub, Mul and Div."""
    return (_combined(call, operation, call.value(0), call.value(1)),)


def _combined(call: Call, operation: Operation, left: Value, right: Value) -> Value:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(_folded(call, _NUMPY[operation], left.array, right.array))
    if isinstance(right, Constant):
        return _with_constant(call, operation, left, right.array, turned=False)  # type: ignore[arg-type]
    if isinstance(left, Constant):
        return _with_constant(call, operation, right, left.array, turned=True)
    return _of_two(call, operation, left, right)


def _folded(call: Call, compute: Callable[..., AnyArray], *arrays: AnyArray) -> AnyArray:
    """Constants with constants: one correctly rounded operation in their own type, as every runtime has it."""
    if len({array.dtype for array in arrays}) > 1 or any(array.dtype.kind not in "f" for array in arrays):
        raise call.refuse("constants of these types are not computed with", fix="export it with constants folded")
    with np.errstate(all="ignore"):
        found = np.asarray(compute(*arrays))
    finite(found, call.where)
    return found


def square_root(call: Call) -> tuple[Value, ...]:
    if not isinstance(call.value(0), Constant):
        raise call.refuse("the square root of a value that depends on the row is not piecewise linear")
    return (Constant(_folded(call, np.sqrt, call.required(0))),)


def negate(call: Call) -> tuple[Value, ...]:
    value = call.value(0)
    if isinstance(value, Constant):
        return (Constant(_folded(call, np.negative, value.array)),)
    if isinstance(value, Columns):
        return (_with_constant(call, Operation.MULTIPLY, value, np.array(-1, value.dtype), turned=False),)
    hidden = as_hidden(value, call.where)
    return (replace(hidden, vector=negative(hidden.vector)),)


def _with_constant(call: Call, operation: Operation, value: PersonValue, array: AnyArray, *, turned: bool) -> Value:
    """value ∘ constant, or constant ∘ value where ``turned``."""
    if isinstance(value, Texts | Decided):
        raise call.refuse(f"it computes with {'texts' if isinstance(value, Texts) else 'a class'}")
    if array.dtype != value.dtype:
        raise call.refuse(f"a constant of {array.dtype} and a value of {value.dtype}")
    places, constants = broadcast(value.shape, finite(array, f"{call.where}, its constants"), call.where)
    found, numbers = pick(value, places, call.where), constants.ravel().astype(np.float64)
    if operation is Operation.DIVIDE and not turned and not numbers.all():
        raise call.refuse("a division by 0")
    commutes = not turned or operation in (Operation.ADD, Operation.MULTIPLY)
    if commutes and (numbers == _NEUTRAL[operation]).all():
        return found
    if isinstance(found, Exponentials | Probabilities):
        return _of_probabilities(call, operation, found, numbers, turned=turned)
    if turned and operation is Operation.DIVIDE:
        raise call.refuse("a constant divided by a value that depends on the row is not piecewise linear")
    if isinstance(found, Columns):
        return _of_columns(call, operation, found, numbers, turned=turned)
    return _of_hidden(call, operation, as_hidden(found, call.where), numbers, turned=turned)


def _of_probabilities(
    call: Call, operation: Operation, value: Exponentials | Probabilities, numbers: FloatArray, *, turned: bool
) -> Value:
    """1 − p; 1 + exp(x), and 1 divided by that, which is how calibrated models write their sigmoid."""
    if (numbers == 1.0).all():
        if isinstance(value, Probabilities) and operation is Operation.SUBTRACT and turned:
            parts = tuple(replace(part, complement=not part.complement) for part in value.parts)
            return replace(value, parts=parts)
        if isinstance(value, Exponentials) and operation is Operation.ADD and not value.plus_one:
            return replace(value, plus_one=True)
        if isinstance(value, Exponentials) and operation is Operation.DIVIDE and turned and value.plus_one:
            return logistic(Hidden(negative(value.exponents), value.dtype, value.shape))
    raise call.refuse("it computes with probabilities, which are not piecewise linear", fix="leave this step out")


def _of_columns(call: Call, operation: Operation, value: Columns, numbers: FloatArray, *, turned: bool) -> Columns:
    if value.dtype.kind != "f":
        raise call.refuse(f"it computes with {value.dtype}", fix="cast to float32 or float64 before")
    kind = StepFormat(value.dtype.name)
    columns = [
        _stepwise(call, column, operation, kind, float(number), turned=turned)
        for column, number in zip(value.block.columns, numbers, strict=True)
    ]
    return Columns(Block(tuple(columns), value.dtype), value.shape)


def _stepwise(
    call: Call, column: Column, operation: Operation, kind: StepFormat, constant: float, *, turned: bool
) -> Column:
    if operation is Operation.MULTIPLY and constant == 0:
        return ConstantColumn(0.0)
    if operation in (Operation.MULTIPLY, Operation.DIVIDE) and abs(constant) < kind.smallest:
        raise call.refuse(
            f"its constant {constant:g} is subnormal in {kind}, and a machine may read it as 0",
            fix="scale the column before the model instead",
        )
    steps: tuple[ProgramStep, ...] = ()
    if turned and operation is Operation.SUBTRACT:  # c − x is −x + c, to the bit
        steps, operation = (ProgramStep(Operation.MULTIPLY, kind, (-1.0,)),), Operation.ADD
    if constant != _NEUTRAL[operation]:
        steps += (ProgramStep(operation, kind, (constant,)),)
    return Block((column,), np.dtype(kind.value)).stepwise([steps], call.where).columns[0]


def _of_hidden(call: Call, operation: Operation, value: Hidden, numbers: FloatArray, *, turned: bool) -> Hidden:
    vector = value.vector
    if operation is Operation.ADD or (operation is Operation.SUBTRACT and not turned):
        shift = numbers if operation is Operation.ADD else -numbers
        if isinstance(vector, AffineVector) and not vector.bias.any():  # a bias: one sum, in any order
            return replace(value, vector=replace(vector, bias=shift))
        return replace(value, vector=scaled(vector, 1.0, shift))
    if operation is Operation.SUBTRACT:
        return replace(value, vector=scaled(vector, -1.0, numbers))
    if operation is Operation.DIVIDE:
        numbers = _reciprocals(call, numbers)
    if (numbers == -1.0).all():
        return replace(value, vector=negative(vector))
    return replace(value, vector=scaled(vector, numbers))


def _reciprocals(call: Call, numbers: FloatArray) -> FloatArray:
    """1 / c. Where that is no float64, the one nearest to it is within what the rounding bound counts for a weight."""
    if (np.frexp(np.abs(numbers))[0] != 0.5).any():
        call.graph.divisions.append(call.where)
    return 1.0 / numbers


def _of_two(call: Call, operation: Operation, left: PersonValue, right: PersonValue) -> Hidden:
    """Two values of the person: their sum or difference."""
    if operation not in (Operation.ADD, Operation.SUBTRACT):
        raise call.refuse("two values that depend on the row are multiplied or divided, which is not piecewise linear")
    one, other = as_hidden(left, call.where), as_hidden(right, call.where)
    one, other = same_shape(call, one, other)
    unit = np.eye(one.vector.width)
    sign = 1.0 if operation is Operation.ADD else -1.0
    return replace(one, vector=affine((unit, one.vector), (sign * unit, other.vector)))


def same_shape(call: Call, one: Hidden, other: Hidden) -> tuple[Hidden, Hidden]:
    """Two values brought to one shape."""
    if one.dtype != other.dtype or len(one.shape) != len(other.shape):
        raise call.refuse(f"values of {one.dtype} {one.shape} and {other.dtype} {other.shape} together")
    places = np.broadcast_arrays(places_of(one), places_of(other))
    first, second = pick(one, places[0], call.where), pick(other, places[1], call.where)
    return as_hidden(first, call.where), as_hidden(second, call.where)


# Operators of ONNX that are piecewise linear: Relu, LeakyRelu, PRelu, Clip, Abs, Max and Min, exactly.


def relu_(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    return (replace(value, vector=relu(value.vector)),)


def leaky_relu(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    return (replace(value, vector=leaky(value.vector, call.number("alpha", float(np.float32(0.01))))),)


def prelu(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    slopes = finite(call.required(1), f"{call.where}, its slopes")
    places, each = broadcast(value.shape, slopes, call.where)
    found = as_hidden(pick(value, places, call.where), call.where)
    return (replace(found, vector=leaky(found.vector, each.ravel())),)


def absolute(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    unit = np.eye(value.vector.width)
    return (replace(value, vector=affine((unit, relu(value.vector)), (unit, relu(negative(value.vector))))),)


def clip(call: Call) -> tuple[Value, ...]:
    """On columns of the table a step of the program; behind the encoding two ReLUs."""
    value = call.value(0)
    if not isinstance(value, Columns):
        value = as_hidden(value, call.where)
    lower, upper = _end(call, 1, "min", -np.inf), _end(call, 2, "max", np.inf)
    largest = float(np.finfo(value.dtype).max) if value.dtype.kind == "f" else np.inf
    if lower >= largest or upper <= -largest:
        raise call.refuse(f"it clips everyone to one number: between {lower:g} and {upper:g}")
    if isinstance(value, Hidden):
        ends = [np.full(value.vector.width, end) for end in (lower, upper)]
        ends = [np.where(np.abs(end) >= largest, np.copysign(np.inf, end), end) for end in ends]
        return (replace(value, vector=clipped(value.vector, *ends)),)
    as_hidden(value, call.where)  # only to refuse whole numbers
    ends_of_step = max(lower, -largest), min(upper, largest)
    if ends_of_step == (-largest, largest):
        return (value,)
    if not ends_of_step[0] < ends_of_step[1]:
        raise call.refuse(f"it clips everyone to one number: between {lower:g} and {upper:g}")
    step = ProgramStep(Operation.CLIP, StepFormat(value.dtype.name), ends_of_step)
    block = Block(value.block.columns, value.dtype).stepwise([(step,)] * len(value.block), call.where)
    return (Columns(block, value.shape),)


def _end(call: Call, place: int, name: str, default: float) -> float:
    given = call.constant(place)
    if given is None:
        return float(call.attribute(name, default, float))
    if given.size != 1:
        raise call.refuse(f"its {name} is {given.size} numbers")
    return float(given.ravel()[0])


def extreme(call: Call, sign: int) -> tuple[Value, ...]:
    """Max, and Min where ``sign`` is −1: the smallest of several values is the negative of the largest negative."""
    values = [call.value(place) for place in range(len(call.values))]
    people = [as_hidden(value, call.where) for value in values if not isinstance(value, Constant)]
    if not people:
        raise call.refuse("constants only", fix="export it with constants folded")
    found = people[0]
    for other in people[1:]:
        found, second = same_shape(call, found, other)
        found = replace(found, vector=_turned(larger(_turned(found.vector, sign), _turned(second.vector, sign)), sign))
    for value in values:
        if isinstance(value, Constant):
            found = _larger_than_constant(call, found, value.array, sign)
    return (found,)


def _larger_than_constant(call: Call, value: Hidden, array: AnyArray, sign: int) -> Hidden:
    if array.dtype != value.dtype or np.isnan(array.astype(np.float64)).any():
        raise call.refuse(f"a constant of {array.dtype}, perhaps NaN, and a value of {value.dtype}")
    places, constants = broadcast(value.shape, array, call.where)
    found = as_hidden(pick(value, places, call.where), call.where)
    ends: FloatArray = sign * constants.ravel().astype(np.float64)
    if (ends == np.inf).any():
        raise call.refuse("one side is infinite")
    return replace(found, vector=_turned(at_least(_turned(found.vector, sign), ends), sign))


def _turned(vector: FlowVector, sign: int) -> FlowVector:
    return vector if sign > 0 else negative(vector)


# Operators of ONNX that move numbers and change none: Reshape, Concat, Gather, Slice, Split, Squeeze and their kin.

LARGEST_CONSTANT = 2**22
"""Numbers of a constant that is made of others, at most."""
NONES = {"value_float": np.float32, "value_int": np.int64, "value_floats": np.float32, "value_ints": np.int64}


def constant(call: Call) -> tuple[Value, ...]:
    attributes = call.node.attributes
    if isinstance(tensor := attributes.get("value"), np.ndarray):
        return (Constant(tensor),)
    for name, dtype in NONES.items():
        if name in attributes:
            return (Constant(np.array(attributes[name], dtype=dtype)),)
    for name in ("value_string", "value_strings"):
        if name in attributes:
            return (Constant(np.array(attributes[name], dtype=object)),)
    raise call.refuse("a constant without a dense value")


def identity(call: Call) -> tuple[Value, ...]:
    return (call.value(0),)


def dropout(call: Call) -> tuple[Value, ...]:
    """Passes on, unless it is in training mode."""
    mode = call.constant(2)
    if mode is not None and np.asarray(mode).any():
        raise call.refuse("it is in training mode", fix="export the model with module.eval()")
    return (call.value(0),)


def reshape(call: Call) -> tuple[Value, ...]:
    value, wanted = call.value(0), np.asarray(call.required(1)).ravel().tolist()
    if call.integer("allowzero", 0) and 0 in wanted:
        raise call.refuse("a shape with 0 rows or numbers")
    if isinstance(value, Constant):
        sizes = [value.array.shape[i] if size == 0 else int(size) for i, size in enumerate(wanted)]
        return (Constant(value.array.reshape(sizes)),)
    shape = _new_shape(call, value, [int(size) for size in wanted])
    return (pick(value, places_of(value).reshape(shape), call.where) if shape != value.shape else value,)


def _new_shape(call: Call, value: PersonValue, wanted: list[int]) -> tuple[int, ...]:
    """The sizes behind the first, which has to stay the people."""
    size = prod(value.shape)
    if not wanted:
        raise call.refuse("a shape without rows")
    rest = [value.shape[i - 1] if n == 0 and 0 < i <= len(value.shape) else n for i, n in enumerate(wanted)][1:]
    if -1 in rest and wanted[0] in (0, call.graph.people):
        known = prod(n for n in rest if n != -1)
        rest = [size // max(known, 1) if n == -1 else n for n in rest]
    people_stay = wanted[0] in (0, -1) or (call.graph.people is not None and wanted[0] == call.graph.people)
    if not people_stay or prod(rest) != size or min(rest, default=1) < 1:
        raise call.refuse(f"the shape {wanted} mixes rows; a row has the shape {value.shape}")
    return tuple(rest)


def flatten(call: Call) -> tuple[Value, ...]:
    value = call.person_value(0)
    if call.integer("axis", 1) not in (1, -len(value.shape) if value.shape else 1):
        raise call.refuse("it flattens the rows", fix="use axis 1")
    return (pick(value, places_of(value).ravel(), call.where),)


def transpose(call: Call) -> tuple[Value, ...]:
    value, order = call.value(0), call.listed("perm")
    if isinstance(value, Constant):
        return (Constant(np.transpose(value.array, order or None)),)
    if not order or order[0] != 0 or sorted(order) != list(range(len(value.shape) + 1)):
        raise call.refuse("it turns rows into columns")
    return (pick(value, np.transpose(places_of(value), [axis - 1 for axis in order[1:]]), call.where),)


def squeeze(call: Call) -> tuple[Value, ...]:
    value = call.value(0)
    if isinstance(value, Constant):
        return (Constant(np.squeeze(value.array, call.whole_numbers(1, "axes") or None)),)
    found = call.axes(1, len(value.shape) + 1)
    if found is None:
        raise call.refuse("it does not say which dimensions go, and one person would lose the first")
    return (pick(value, np.squeeze(places_of(value), tuple(axis - 1 for axis in found)), call.where),)


def unsqueeze(call: Call) -> tuple[Value, ...]:
    value, raw = call.value(0), call.whole_numbers(1, "axes")
    if isinstance(value, Constant):
        return (Constant(np.expand_dims(value.array, raw)),)
    axes = tuple(call.axis(one, len(value.shape) + 1 + len(raw)) - 1 for one in raw)
    return (pick(value, np.expand_dims(places_of(value), axes), call.where),)


def concat(call: Call) -> tuple[Value, ...]:
    values = [call.value(place) for place in range(len(call.values))]
    if not values:
        raise call.refuse("nothing to join")
    if all(isinstance(value, Constant) for value in values):
        arrays = [value.array for value in values if isinstance(value, Constant)]
        _check_size(call, sum(array.size for array in arrays))
        return (Constant(np.concatenate(arrays, call.integer("axis", 0))),)
    people = [call.person_value(place) for place in range(len(values))]
    rank = len(people[0].shape) + 1
    axis = call.axis(call.integer("axis", 0), rank)
    return (join(people, axis - 1, call.where),)


def feature_vectorizer(call: Call) -> tuple[Value, ...]:
    """Columns side by side, as float32."""
    values = [call.person_value(place) for place in range(len(call.values))]
    floats = [cast_columns(call, one, np.dtype(np.float32)) if isinstance(one, Columns) else one for one in values]
    if any(len(one.shape) != 1 for one in floats):
        raise call.refuse("columns of several dimensions")
    return (join(floats, 0, call.where),)


def gather(call: Call) -> tuple[Value, ...]:
    value, index = call.value(0), call.value(1)
    if isinstance(value, Constant) and isinstance(index, Decided):
        return (_labelled(call, index, value.array),)
    indices = np.asarray(call.required(1))
    if isinstance(value, Constant):
        _check_size(call, indices.size * max(1, value.array.size))
        return (Constant(np.take(value.array, indices, axis=call.integer("axis", 0))),)
    axis = call.axis(call.integer("axis", 0), len(value.shape) + 1) - 1
    return (_taken(call, value, indices, axis),)


def array_feature_extractor(call: Call) -> tuple[Value, ...]:
    """Columns by their numbers along the last dimension; or labels by the number of the class."""
    value, index = call.value(0), call.value(1)
    if isinstance(value, Constant) and isinstance(index, Decided):
        return (_labelled(call, index, value.array),)
    person = call.person_value(0)
    if not person.shape:
        raise call.refuse("a row has no columns here")
    return (_taken(call, person, np.asarray(call.required(1)).ravel(), len(person.shape) - 1),)


def _labelled(call: Call, decided: Decided, labels: AnyArray) -> Decided:
    """Classes by numbers become classes by labels."""
    found = labels.ravel()
    if call.integer("axis", 0) != 0 or not all(
        isinstance(one, int) and 0 <= one < len(found) for one in decided.labels
    ):
        raise call.refuse(f"{len(found)} labels for the classes {decided.labels}")
    named = tuple(found[one] if found.dtype == object else found[one].item() for one in decided.labels)
    return replace(decided, labels=named)


def _taken(call: Call, value: PersonValue, indices: AnyArray, axis: int) -> PersonValue:
    if indices.dtype.kind not in "iu":
        raise call.refuse(f"indices of {indices.dtype}")
    checked_width(max(1, indices.size) * prod(value.shape[:axis]) * prod(value.shape[axis + 1 :]))
    size = value.shape[axis]
    if indices.size and not (-size <= indices.min() and indices.max() < size):
        raise call.refuse(f"column {int(indices.max())} of {size}")
    return pick(value, np.take(places_of(value), indices, axis=axis), call.where)


def slice_(call: Call) -> tuple[Value, ...]:
    value = call.value(0)
    if isinstance(value, Constant):
        raise call.refuse("a slice of a constant", fix="export it with constants folded")
    starts, ends = (call.whole_numbers(place, name) for place, name in ((1, "starts"), (2, "ends")))
    steps = call.constant(4)
    step = [1] * len(starts) if steps is None else np.asarray(steps).ravel().tolist()
    axes = call.whole_numbers(3, "axes") or tuple(range(len(starts)))
    if not len(starts) == len(ends) == len(axes) == len(step) or 0 in step:
        raise call.refuse("its starts, ends, axes and steps do not fit together")
    places: IntArray = places_of(value)
    for start, end, axis, by in zip(starts, ends, axes, step, strict=True):
        at = call.axis(int(axis), len(value.shape) + 1) - 1
        index: list[slice] = [slice(None)] * places.ndim
        index[at] = slice(start, None if by < 0 and end < -places.shape[at] else end, by)
        places = places[tuple(index)]
    return (pick(value, places, call.where),)


def split(call: Call) -> tuple[Value, ...]:
    value = call.person_value(0)
    axis = call.axis(call.integer("axis", 0), len(value.shape) + 1) - 1
    sizes, parts = list(call.whole_numbers(1, "split")), len(call.node.outputs)
    if not sizes:
        each = -(-value.shape[axis] // parts)
        sizes = [each] * (parts - 1) + [value.shape[axis] - each * (parts - 1)]
    if len(sizes) != parts or sum(sizes) != value.shape[axis] or min(sizes) < 1:
        raise call.refuse(f"{value.shape[axis]} columns in parts of {sizes}")
    pieces = np.split(places_of(value), np.cumsum(sizes)[:-1], axis=axis)
    return tuple(pick(value, piece, call.where) for piece in pieces)


def _check_size(call: Call, size: int) -> None:
    if size > LARGEST_CONSTANT:
        raise call.refuse(f"a constant of {size} numbers", fix=f"at most {LARGEST_CONSTANT} are read")


# The operators of ONNX that are read, by domain and name; all others are refused by their node.

STANDARD: dict[str, Operator] = {
    "Abs": absolute,
    "Add": partial(of_two, operation=Operation.ADD),
    "ArgMax": decisions.arg_max,
    "BatchNormalization": batch_normalization,
    "Cast": categories.cast,
    "Clip": clip,
    "Concat": concat,
    "Constant": constant,
    "Div": partial(of_two, operation=Operation.DIVIDE),
    "Dropout": dropout,
    "Exp": decisions.exponential,
    "Flatten": flatten,
    "Gather": gather,
    "Gemm": gemm,
    "Greater": decisions.compare,
    "GreaterOrEqual": decisions.compare,
    "Identity": identity,
    "LeakyRelu": leaky_relu,
    "Less": decisions.compare,
    "LessOrEqual": decisions.compare,
    "LogSoftmax": decisions.softmax,
    "MatMul": matmul,
    "Max": partial(extreme, sign=1),
    "Min": partial(extreme, sign=-1),
    "Mul": partial(of_two, operation=Operation.MULTIPLY),
    "Neg": negate,
    "Not": decisions.negation,
    "PRelu": prelu,
    "Relu": relu_,
    "Reshape": reshape,
    "Sigmoid": decisions.sigmoid,
    "Slice": slice_,
    "Softmax": decisions.softmax,
    "Split": split,
    "Sqrt": square_root,
    "Squeeze": squeeze,
    "Sub": partial(of_two, operation=Operation.SUBTRACT),
    "Sum": add_all,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
    "Where": decisions.where_,
}
MACHINE_LEARNING: dict[str, Operator] = {
    "ArrayFeatureExtractor": array_feature_extractor,
    "FeatureVectorizer": feature_vectorizer,
    "Imputer": categories.imputer,
    "LabelEncoder": categories.label_encoder,
    "LinearClassifier": linear_classifier,
    "LinearRegressor": linear_regressor,
    "OneHotEncoder": categories.one_hot_encoder,
    "Scaler": scaler,
    "TreeEnsemble": tree_ensembles.tree_ensemble,
    "TreeEnsembleClassifier": tree_ensembles.tree_ensemble_classifier,
    "TreeEnsembleRegressor": tree_ensembles.tree_ensemble_regressor,
    "ZipMap": decisions.zip_map,
}
OPERATORS = {"": STANDARD, "ai.onnx.ml": MACHINE_LEARNING}


def apply(call: Call) -> tuple[Value, ...]:
    """What a node computes.

    Raises
    ------
    NetworkError
        With the name of the node, if it is not exactly representable.
    """
    operator = OPERATORS[call.node.domain].get(call.node.operator)
    if operator is None:
        raise call.refuse(
            "this operator is not supported: neither affine or piecewise linear nor a sum of trees",
            fix=f"one of {', '.join(sorted(STANDARD | MACHINE_LEARNING))}",
        )
    return operator(call)
