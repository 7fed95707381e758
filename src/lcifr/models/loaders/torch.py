"""Loader of torch: modules as networks, layer by layer or by their trace."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import OF_INPUTS, THRESHOLD_ENTRIES, ModelDescription, TakenEntries
from lcifr.models.loaders.dataflow import Normalisation, affine, clipped, leaky, relu
from lcifr.models.loaders.onnx.decisions import read_decision
from lcifr.models.loaders.onnx.graph import Graph, GraphTensor, require_onnx
from lcifr.models.loaders.onnx.reader import LibraryPredictions, TableColumns, assembled, binding, read_onnx
from lcifr.models.loaders.onnx.runtime import Feeds, OutputDecisions
from lcifr.models.loaders.onnx.values import (
    Columns,
    Hidden,
    PersonValue,
    Probabilities,
    Softmax,
    as_hidden,
    logistic,
)
from lcifr.models.source import TableModel

if TYPE_CHECKING:
    from torch import Tensor, nn


# Torch modules of affine layers with ReLU between: built for training, and read back; others are refused by name.

FloatArray = NDArray[np.float64]


def build_torch(widths: Sequence[int]) -> nn.Sequential:
    """Linear layers of these widths with ReLU between."""
    from torch import nn

    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        parts += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def torch_parameters(module: nn.Sequential) -> list[tuple[Tensor, Tensor]]:
    """The parameters (weight, bias) of its affine layers, as training changes them."""
    from torch import nn

    return [(part.weight, part.bias) for part in module if isinstance(part, nn.Linear)]


def read_torch(module: nn.Module) -> list[tuple[FloatArray, FloatArray]]:
    """[(weight, bias), …] of a torch module, merged where no ReLU is between."""
    from torch import nn

    layers: list[tuple[FloatArray, FloatArray]] = []
    open_affine = False  # the last thing seen was affine, with no ReLU after it
    for name, part in module.named_modules():
        if isinstance(part, nn.Sequential | nn.Identity | nn.Flatten | nn.Dropout):
            continue
        if isinstance(part, nn.Linear):
            weight = part.weight.detach().cpu().double().numpy()
            bias = np.zeros(len(weight)) if part.bias is None else part.bias.detach().cpu().double().numpy()
            if open_affine:
                before, shift = layers.pop()
                weight, bias = weight @ before, weight @ shift + bias
            layers.append((weight, bias))
            open_affine = True
        elif isinstance(part, nn.ReLU) and open_affine:
            open_affine = False
        elif not isinstance(part, nn.ReLU) or not layers:
            raise NetworkError(
                f'layer "{name or "(the module itself)"}" is {type(part).__name__}, which is not affine or ReLU here',
                fix="use a Sequential of Linear, ReLU, Identity, Flatten and Dropout, starting with Linear",
            )
    if not open_affine:
        raise NetworkError("the last layer is not Linear", fix="end the network with a Linear layer (no ReLU after it)")
    return layers


def native_arithmetic(module: nn.Module) -> Arithmetic:
    """What torch computes the module in; EXACT for formats without a bound, and where :func:`read_torch` merges layers.

    Merged weights are other numbers than those that torch multiplies with, one layer after the other.
    """
    import torch
    from torch import nn

    affine = [part for part in module.modules() if isinstance(part, nn.Linear | nn.ReLU)]
    merged = any(isinstance(one, nn.Linear) and isinstance(other, nn.Linear) for one, other in pairwise(affine))
    known = {torch.float32: Arithmetic.FLOAT32, torch.float64: Arithmetic.FLOAT64}
    kinds = {parameter.dtype for parameter in module.parameters()}
    return known.get(kinds.pop(), Arithmetic.EXACT) if len(kinds) == 1 and not merged else Arithmetic.EXACT


# Torch modules on the columns of a table: a Sequential as it stands, others by their export to ONNX, in memory.

INPUT, OUTPUT = "input", "output"
TAKES = TakenEntries(
    OF_INPUTS | THRESHOLD_ENTRIES | {"output.position", "arithmetic"},
    {"output.name": "leave name out: a module has one output", "missing": "leave missing out: it is for XGBoost"},
)


@dataclass(frozen=True)
class TorchPredictor:
    """The module's own decisions for the rows of a pandas frame."""

    module: nn.Module = field(repr=False)
    feeds: Feeds = field(repr=False)
    bound: Columns = field(repr=False)
    decides: OutputDecisions

    def __call__(self, frame: Any) -> NDArray[Any]:
        """(people,) decisions."""
        import torch

        with torch.no_grad():
            found = self.module(torch.from_numpy(self.feeds.tensor(self.bound, frame)))
        return self.decides(found.cpu().numpy())


@dataclass(frozen=True)
class TorchModel:
    """A module on the columns of a table, for :func:`lcifr.audit`.

    Parameters
    ----------
    module : in evaluation mode, on the CPU. A Sequential of Linear, ReLU, LeakyReLU, PReLU, ReLU6, Hardtanh,
        BatchNorm1d, Dropout, Identity and Flatten, perhaps with Sigmoid or Softmax at its end; or a module that torch
        exports to such operators of ONNX.
    description : which column feeds which input, and what the outputs mean.
    """

    module: nn.Module = field(repr=False)
    description: ModelDescription

    def read_table(self, table: Any, encoding: Encoding) -> TableModel:
        """The model on the raw columns of a pandas frame.

        Raises
        ------
        NetworkError
            For what is not exactly representable, by the name of the part that stands in the way.
        """
        import torch

        TAKES.check(self.description, "a torch module")
        if self.module.training:
            raise NetworkError("the module is in training mode", fix="call module.eval() before")
        dtype = _dtype(self.module)
        tensor = GraphTensor(INPUT, dtype, None)
        graph = Graph((tensor,), (), (), {}, 0)
        bound = binding(graph, self.description, TableColumns(encoding.schema, table))(tensor)
        if not isinstance(bound, Columns):
            raise NetworkError("a torch module takes numbers, and no texts", fix="describe how categories are coded")
        parts = list(_parts(self.module, ""))
        if not all(type(part).__name__ in READERS for _, part in parts):
            return self._exported(bound, table, encoding)
        value: PersonValue = bound
        divisions: list[str] = []
        for name, part in parts:
            where = f'part "{name}" ({type(part).__name__})'
            value = READERS[type(part).__name__](part, value, where)
            divisions += [where] if type(part).__name__ == "BatchNorm1d" else []
        decision = read_decision(value, self.description.output, OUTPUT)
        arithmetic = Arithmetic.FLOAT32 if dtype == np.float32 else Arithmetic.FLOAT64
        decides = OutputDecisions(self.description.output, decision.labels, decision.own_labels)
        predictor = TorchPredictor(self.module, Feeds(encoding.schema), bound, decides)
        library = LibraryPredictions(predictor, f"torch {torch.__version__}")
        return assembled(
            decision, self.description.arithmetic or arithmetic, tuple(divisions), library, table, encoding
        )

    def _exported(self, bound: Columns, table: Any, encoding: Encoding) -> TableModel:
        """By its trace; code that branches on values has no trace that holds for every row, and is refused."""
        import torch

        require_onnx(f"{type(self.module).__name__} is read by its export to ONNX")
        example = torch.from_numpy(np.ones((2, len(bound.block)), bound.dtype))
        buffer: Any = io.BytesIO()  # of which the exporter's types say nothing
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                torch.onnx.export(
                    self.module, (example,), buffer, dynamo=False, input_names=[INPUT], output_names=[OUTPUT],
                    dynamic_axes={INPUT: {0: "people"}},
                )  # fmt: skip
            except Exception as problem:  # whatever the exporter raises, it is about this module
                raise NetworkError(
                    f"torch could not export {type(self.module).__name__}: {problem}",
                    fix="use torch operations that torch can export to ONNX, or write it as a Sequential",
                ) from None
        if any(one.category.__name__ == "TracerWarning" for one in heard):
            raise NetworkError(
                f"the Python code of {type(self.module).__name__} branches on values of the row while it runs",
                fix="write it with torch operations only, or as a Sequential",
            )
        read = read_onnx(buffer.getvalue(), self.description, type(self.module).__name__).read_table(table, encoding)
        decides = read.predict.decides  # type: ignore[attr-defined]
        predictor = TorchPredictor(self.module, Feeds(encoding.schema), bound, decides)
        return replace(read, predict=predictor, runtime=f"torch {torch.__version__}", predict_with_outputs=None)


def _dtype(module: nn.Module) -> np.dtype[Any]:
    import torch

    known: dict[Any, np.dtype[Any]] = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}
    kinds = {one.dtype for one in (*module.parameters(), *module.buffers()) if one.is_floating_point()}
    if len(kinds) != 1 or not kinds <= set(known):
        raise NetworkError(
            f"the module's numbers are {', '.join(map(str, kinds)) or 'none'}", fix="use float32 or float64"
        )
    return known[kinds.pop()]


def _parts(module: nn.Module, name: str) -> Iterator[tuple[str, nn.Module]]:
    """The parts of nested Sequentials, in their order."""
    from torch import nn

    if type(module) is not nn.Sequential:
        yield name or "(the module itself)", module
        return
    for inner, part in module.named_children():
        yield from _parts(part, f"{name}.{inner}" if name else inner)


def _numbers(tensor: Any) -> FloatArray:
    found = tensor.detach().cpu().double().numpy()
    if not np.isfinite(found).all():
        raise NetworkError("a weight is NaN or infinite", fix="check the training that produced this module")
    return np.asarray(found, dtype=np.float64)


def _in_format(value: Hidden, number: float) -> float:
    """A Python number as torch computes with it."""
    return float(np.asarray(number).astype(value.dtype))


def _linear(part: Any, value: PersonValue, where: str) -> Hidden:
    hidden, weight = as_hidden(value, where), _numbers(part.weight)
    if hidden.vector.width != weight.shape[1]:
        raise NetworkError(f"{where} takes {weight.shape[1]} numbers, and is given {hidden.vector.width}")
    bias = None if part.bias is None else _numbers(part.bias)
    return replace(hidden, vector=affine((weight, hidden.vector), bias=bias), shape=(weight.shape[0],))


def _relu(part: Any, value: PersonValue, where: str) -> Hidden:
    hidden = as_hidden(value, where)
    return replace(hidden, vector=relu(hidden.vector))


def _leaky(part: Any, value: PersonValue, where: str) -> Hidden:
    hidden = as_hidden(value, where)
    slopes = _numbers(part.weight) if hasattr(part, "weight") else _in_format(hidden, part.negative_slope)
    return replace(hidden, vector=leaky(hidden.vector, slopes))


def _clipped(part: Any, value: PersonValue, where: str) -> Hidden:
    hidden = as_hidden(value, where)
    ends = [np.full(hidden.vector.width, _in_format(hidden, end)) for end in (part.min_val, part.max_val)]
    return replace(hidden, vector=clipped(hidden.vector, *ends))


def _normalised(part: Any, value: PersonValue, where: str) -> Hidden:
    hidden = as_hidden(value, where)
    if part.running_mean is None:
        raise NetworkError(
            f"{where} uses batch statistics, so the output of one row depends on the others",
            fix="track running statistics",
        )
    width = hidden.vector.width
    scale = np.ones(width) if part.weight is None else _numbers(part.weight)
    shift = np.zeros(width) if part.bias is None else _numbers(part.bias)
    learned = Normalisation(scale, shift, _numbers(part.running_mean), _numbers(part.running_var), part.eps)
    return replace(hidden, vector=learned.of(hidden.vector, where))


def _passed_on(part: Any, value: PersonValue, where: str) -> PersonValue:
    return value


def _sigmoid(part: Any, value: PersonValue, where: str) -> Probabilities:
    return logistic(as_hidden(value, where))


def _softmax(part: Any, value: PersonValue, where: str) -> Softmax:
    hidden = as_hidden(value, where)
    if part.dim not in (1, -1) or hidden.vector.width < 2:
        raise NetworkError(f"{where} is over dimension {part.dim}, or of one number", fix="use dim=1")
    return Softmax(hidden.vector, hidden.dtype, hidden.shape)


READERS: dict[str, Callable[[Any, PersonValue, str], PersonValue]] = {
    "Linear": _linear,
    "ReLU": _relu,
    "LeakyReLU": _leaky,
    "PReLU": _leaky,
    "ReLU6": _clipped,
    "Hardtanh": _clipped,
    "BatchNorm1d": _normalised,
    "Dropout": _passed_on,
    "Identity": _passed_on,
    "Flatten": _passed_on,
    "Sigmoid": _sigmoid,
    "Softmax": _softmax,
    "LogSoftmax": _softmax,
}
