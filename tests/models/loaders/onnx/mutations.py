"""Files with a few bytes changed."""

from __future__ import annotations

import numpy as np


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Bytes changed, left out, doubled or moved."""
    array = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at, many = int(rng.integers(len(array))), int(rng.integers(1, 9))
        match int(rng.integers(5)):
            case 0:
                array[at] = int(rng.integers(256))
            case 1:
                array[at] ^= 1 << int(rng.integers(8))
            case 2 if len(array) > many + 10:
                del array[at : at + many]
            case 3:
                array[at:at] = array[at : at + many]
            case _:
                array[at : at + many] = bytes(rng.integers(256, size=many, dtype=np.uint8))
    return bytes(array)
