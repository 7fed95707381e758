"""Graphs of ONNX files with their tensors, validated before anything is read from them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError, no_such_file
from lcifr.models.source import plainly, quoted

# Tensors of ONNX files as arrays: sizes are compared with the bytes that are there, and no other file is opened.

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


# Graphs of ONNX files: nodes in their order, constants, inputs and outputs; checked before they are read.

LARGEST_FILE = 2**27
"""Bytes, at most."""
MOST_NODES = 10_000
OPSETS = {"": range(7, 29), "ai.onnx.ml": range(1, 6)}
"""Versions of the operators whose meaning is known here, by domain."""
STANDARD_NAMES = {"ai.onnx": ""}

AttributeValue = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | AnyArray


@dataclass(frozen=True)
class Node:
    """One operation.

    Parameters
    ----------
    inputs : names of values; empty where an optional one is left out. where : how messages name it.
    """

    operator: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    where: str
    attributes: dict[str, AttributeValue] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class GraphTensor:
    """An input or output of a graph.

    Parameters
    ----------
    dtype : None where it is no tensor (a list of maps). shape : without the first dimension, the people; None where
        the file does not say.
    people : how many have to be given at once, where the file says so.
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] | None
    people: int | None = None


@dataclass(frozen=True)
class Graph:
    """What a file holds.

    Parameters
    ----------
    version : of the standard operators. dialect : which operators of which versions the file says it uses, in words.
    metadata : what the file says of itself, by name.
    """

    inputs: tuple[GraphTensor, ...]
    outputs: tuple[GraphTensor, ...]
    nodes: tuple[Node, ...]
    constants: dict[str, AnyArray] = field(repr=False, compare=False)
    version: int
    dialect: str = ""
    metadata: tuple[tuple[str, str], ...] = ()

    def needed_for(self, name: str) -> list[Node]:
        """The nodes that a value depends on, in their order."""
        wanted, found = {name}, []
        for node in reversed(self.nodes):
            if wanted & set(node.outputs):
                wanted |= set(node.inputs)
                found.append(node)
        return found[::-1]


def require_onnx(why: str) -> None:
    """Refuse what needs the onnx package, where that is not installed."""
    if find_spec("onnx") is None:
        raise NetworkError(why, fix='install what it needs: pip install "lcifr[onnx]"')


def read_bytes(path: Path) -> bytes:
    """The file, if it is one and not too large."""
    if not path.is_file():
        raise no_such_file(path)
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise NetworkError(f"{path} has {size} bytes", fix=f"at most {LARGEST_FILE} are read")
    return path.read_bytes()


def read_graph(data: bytes, where: str) -> Graph:
    """The graph of a file's bytes.

    Raises
    ------
    NetworkError
        For what is not an ONNX model; and for functions, subgraphs, custom operators, training graphs, data elsewhere,
        cycles and names that nothing has computed.
    """
    model = _parse(data, where)
    graph = model.graph
    for what, there in (
        ("functions of its own", model.functions),
        ("a training graph", model.training_info),
        ("sparse tensors", graph.sparse_initializer),
    ):
        if there:
            raise NetworkError(f"{where} holds {what}", fix="export it with standard operators and dense tensors only")
    if len(graph.node) > MOST_NODES:
        raise NetworkError(f"{where} has {len(graph.node)} nodes", fix=f"at most {MOST_NODES} are read")
    names = [text_in(one.name, f"{where}, a name") for one in graph.initializer]
    constants = {name: read_tensor(one, f'tensor "{name}"') for name, one in zip(names, graph.initializer, strict=True)}
    inputs = tuple(_tensor(one) for one in graph.input if one.name not in constants)
    nodes = tuple(_nodes(graph, {one.name for one in inputs} | set(constants)))
    outputs = tuple(_tensor(one) for one in graph.output)
    _check_names(where, inputs, outputs, nodes)
    return Graph(
        inputs,
        outputs,
        nodes,
        constants,
        _version(model, where),
        _dialect(model, where),
        tuple(_metadata(model, where)),
    )


def _dialect(model: Any, where: str) -> str:
    versions = {STANDARD_NAMES.get(one.domain, text_in(one.domain, where)): one.version for one in model.opset_import}
    known = [f"{domain or 'operators'} of version {versions[domain]}" for domain in OPSETS if domain in versions]
    return ", ".join(["ONNX", *known])


def _metadata(model: Any, where: str) -> Iterator[tuple[str, str]]:
    """Who wrote the file and what they wrote about it: any text at all."""
    for name in ("producer_name", "producer_version", "domain", "doc_string"):
        if text := text_in(getattr(model, name), where):
            yield name, text
    for one in model.metadata_props:
        yield text_in(one.key, where), text_in(one.value, where)


def _parse(data: bytes, where: str) -> Any:
    import onnx
    from google.protobuf.message import DecodeError

    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, ValueError, RecursionError) as problem:
        raise NetworkError(f"{where} is not an ONNX model: {problem}", fix="get the file again") from None
    if not model.HasField("graph") or not model.graph.node:
        raise NetworkError(f"{where} is not an ONNX model: it has no graph, or one without nodes")
    return model


def _version(model: Any, where: str) -> int:
    versions: dict[str, int] = {}
    for one in model.opset_import:
        domain = STANDARD_NAMES.get(one.domain, text_in(one.domain, where))
        if versions.setdefault(domain, one.version) != one.version:
            raise NetworkError(f"{where} names two versions of the operators of {domain or 'ONNX'}")
        if domain in OPSETS and one.version not in OPSETS[domain]:
            known = OPSETS[domain]
            raise NetworkError(
                f"{where} uses version {one.version} of the operators of {domain or 'ONNX'}",
                fix=f"export it with one from {known.start} to {known.stop - 1}",
            )
    if "" not in versions and "ai.onnx.ml" not in versions:
        raise NetworkError(f"{where} does not say which version of operators it uses")
    return versions.get("", OPSETS[""].stop - 1)


def _nodes(graph: Any, known: set[str]) -> Iterator[Node]:
    """The nodes, each of which reads only what is there already; so there is no cycle."""
    known = known | {""}
    for number, node in enumerate(graph.node):
        read, written = (tuple(text_in(one, f"node {number}") for one in some) for some in (node.input, node.output))
        operator, domain, name = (text_in(one, f"node {number}") for one in (node.op_type, node.domain, node.name))
        domain = STANDARD_NAMES.get(domain, domain)
        where = f"node {quoted(name) if name else number} ({plainly(operator)})"
        if domain not in OPSETS:
            raise NetworkError(f"{where} is of the domain {domain}", fix="export with standard operators only")
        for one in read:
            if one not in known:
                raise NetworkError(f'{where} reads "{one}", which nothing before it computes: a cycle, or wrong order')
        if twice := known & (set(written) - {""}):
            raise NetworkError(f'{where} computes "{min(twice)}", which exists already')
        known |= set(written)
        attributes = {text_in(one.name, where): _attribute(one, where) for one in node.attribute}
        yield Node(operator, domain, read, written, where, attributes)


def _attribute(attribute: Any, where: str) -> AttributeValue:
    kind, name = attribute.type, f'{where}, attribute "{attribute.name}"'
    readers: dict[int, Any] = {
        1: lambda: float(attribute.f),
        2: lambda: int(attribute.i),
        3: lambda: text_in(attribute.s, name),
        4: lambda: read_tensor(attribute.t, name),
        6: lambda: tuple(attribute.floats),
        7: lambda: tuple(attribute.ints),
        8: lambda: tuple(text_in(one, name) for one in attribute.strings),
    }
    if attribute.ref_attr_name or kind not in readers:
        what = "a graph inside the graph" if kind in (5, 10) else "no number, text or tensor"
        raise NetworkError(f"{name} is {what}", fix="export the model without If, Loop, Scan and functions")
    found: AttributeValue = readers[kind]()
    return found


def _tensor(value: Any) -> GraphTensor:
    name = text_in(value.name, "the name of an input or output")
    if not value.type.HasField("tensor_type"):
        return GraphTensor(name, None, None)
    kind = value.type.tensor_type
    dtype = dtype_of(kind.elem_type, f'"{name}"')
    if not kind.HasField("shape"):
        return GraphTensor(name, dtype, None)
    sizes = [one.dim_value if one.HasField("dim_value") and one.dim_value > 0 else None for one in kind.shape.dim]
    known = None if None in sizes[1:] else tuple(size for size in sizes[1:] if size is not None)
    return GraphTensor(name, dtype, known, sizes[0] if sizes else None)


def _check_names(
    where: str, inputs: tuple[GraphTensor, ...], outputs: tuple[GraphTensor, ...], nodes: tuple[Node, ...]
) -> None:
    if not inputs or not outputs:
        raise NetworkError(f"{where} has no {'outputs' if inputs else 'inputs'}")
    for what, names in (("inputs", [one.name for one in inputs]), ("outputs", [one.name for one in outputs])):
        if len(set(names)) < len(names):
            raise NetworkError(f"{where} has two {what} of the same name")
    computed = {name for node in nodes for name in node.outputs}
    for one in outputs:
        if one.name not in computed:
            raise NetworkError(f'{where}: nothing computes the output "{one.name}"')
