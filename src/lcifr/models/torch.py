"""Torch modules as affine layers with ReLU between; whatever else they hold is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError

if TYPE_CHECKING:
    from torch import nn

FloatArray = NDArray[np.float64]


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
