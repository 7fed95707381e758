"""Torch modules of affine layers with ReLU between: built for training, and read back; others are refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic

if TYPE_CHECKING:
    from torch import Tensor, nn

    from lcifr.data import Encoding
    from lcifr.models.files.description import ModelDescription
    from lcifr.models.table_model import TableModel

FloatArray = NDArray[np.float64]


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
        """The model on the raw columns of a pandas frame; what is not exactly representable is refused by name."""
        from lcifr.models.onnx.torch_modules import read_module

        return read_module(self.module, self.description, table, encoding)


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
