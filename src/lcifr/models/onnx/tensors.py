"""Tensors of ONNX files as arrays: sizes are compared with the bytes that are there, and no other file is opened."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError

AnyArray = NDArray[Any]

DEEPEST_SHAPE = 8
"""Dimensions of a tensor, at most."""

FLOAT, INT64, STRING, BOOL, DOUBLE = 1, 7, 8, 9, 11
DTYPES: dict[int, np.dtype[Any]] = {
    FLOAT: np.dtype(np.float32),
    2: np.dtype(np.uint8),
    3: np.dtype(np.int8),
    4: np.dtype(np.uint16),
    5: np.dtype(np.int16),
    6: np.dtype(np.int32),
    INT64: np.dtype(np.int64),
    STRING: np.dtype(object),
    BOOL: np.dtype(np.bool_),
    DOUBLE: np.dtype(np.float64),
    12: np.dtype(np.uint32),
    13: np.dtype(np.uint64),
}
"""Element types of ONNX by their number; others (float16, bfloat16, float8, complex, 4 bits) are refused."""

OTHER_NAMES = {10: "float16", 14: "complex64", 15: "complex128", 16: "bfloat16"}
_FIELDS = {FLOAT: "float_data", STRING: "string_data", INT64: "int64_data", DOUBLE: "double_data"}
_FIELDS |= dict.fromkeys((2, 3, 4, 5, 6, BOOL), "int32_data") | dict.fromkeys((12, 13), "uint64_data")


def dtype_of(number: int, where: str) -> np.dtype[Any]:
    """The element type of this number."""
    if number not in DTYPES:
        name = OTHER_NAMES.get(number, f"the element type {number}")
        raise NetworkError(
            f"{where} holds {name}, whose rounding is not covered", fix="export it in float32 or float64"
        )
    return DTYPES[number]


def is_text(dtype: np.dtype[Any]) -> bool:
    """Whether values of this type are texts."""
    return dtype.kind == "O"


def read_tensor(tensor: Any, where: str) -> AnyArray:
    """A TensorProto as an array, read-only.

    Raises
    ------
    NetworkError
        For data in another file, which is never opened; for a shape that its bytes do not fill; for unknown types.
    """
    if tensor.data_location != 0 or tensor.external_data:
        raise NetworkError(
            f"{where} keeps its numbers in another file, which is not opened",
            fix="write the model as one file: torch.onnx.export(…, external_data=False), or "
            'onnx.save(onnx.load("model.onnx"), "whole.onnx")',
        )
    dtype, shape = dtype_of(tensor.data_type, where), tuple(tensor.dims)
    if len(shape) > DEEPEST_SHAPE or any(size < 0 for size in shape):
        raise NetworkError(f"{where} has the shape {shape[: DEEPEST_SHAPE + 1]}, which is none")
    count, raw = math.prod(shape), tensor.HasField("raw_data")
    data = tensor.raw_data if raw else getattr(tensor, _FIELDS[tensor.data_type])
    expected = count * dtype.itemsize if raw else count
    if len(data) != expected or (raw and tensor.data_type == STRING):
        unit = "bytes" if raw else "numbers"
        raise NetworkError(f"{where} has the shape {shape}, which takes {expected} {unit}, and {len(data)} are there")
    array = _filled(data, tensor.data_type, dtype, where).reshape(shape)
    array.flags.writeable = False
    return array


def _filled(data: Any, number: int, dtype: np.dtype[Any], where: str) -> AnyArray:
    if isinstance(data, bytes):
        return np.frombuffer(data, dtype=dtype.newbyteorder("<")).astype(dtype)
    if number == STRING:
        return np.array([text_in(one, where) for one in data], dtype=object)
    return np.array(list(data)).astype(dtype) if len(data) else np.zeros(0, dtype)


def text_in(data: bytes | str, where: str) -> str:
    """Text of a file, which has to be UTF-8."""
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NetworkError(f"{where} holds text that is not UTF-8") from None


def finite(array: AnyArray, where: str) -> NDArray[np.float64]:
    """Numbers of a model as float64, which holds them exactly; NaN and infinity are refused."""
    if array.dtype.kind not in "fiub":
        raise NetworkError(f"{where}: texts where numbers belong")
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise NetworkError(f"{where}: NaN or infinity", fix="check the training that produced this model")
    if array.dtype.kind in "iu" and (np.abs(numbers) > 2.0**53).any():
        raise NetworkError(f"{where}: whole numbers beyond 2^53, which float64 does not hold")
    return numbers
