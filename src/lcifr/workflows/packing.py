"""Models, encoders and φ as plain values and arrays, to be sent to other machines as bytes; nothing is pickled.

Every ``pack_…`` has its ``unpack_…``. What comes out has the same hashes as what went in, which
:meth:`lcifr.workflows.jobs.PackedWork.job` compares before anything is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import Function
from lcifr.models.model import Model
from lcifr.models.network import Chain, Network
from lcifr.models.rule import Kind, Rule
from lcifr.models.trees import NodeArrays, Trees
from lcifr.phi import Similarity

Plain = Mapping[str, Any]


@final
@dataclass(frozen=True)
class Luggage:
    """Arrays by name, beside the plain values that name them."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def put(self, array: NDArray[Any]) -> str:
        """Keep an array; returns its name."""
        name = f"a{len(self.arrays)}"
        self.arrays[name] = np.ascontiguousarray(array)
        return name

    def put_bytes(self, data: bytes) -> str:
        """Keep some bytes, such as a file; returns their name."""
        return self.put(np.frombuffer(data, np.uint8))

    def bytes_of(self, name: str) -> bytes:
        """What :meth:`put_bytes` kept."""
        return self.arrays[name].tobytes()


def pack_function(function: Function, into: Luggage) -> dict[str, Any]:
    """A network, a chain of networks, or trees."""
    if isinstance(function, Network):
        layers = [[into.put(layer.weight), into.put(layer.bias)] for layer in function.layers]
        return {"kind": "network", "layers": layers, "native": str(function.native), "divides": function.divides}
    if isinstance(function, Chain):
        return {"kind": "chain", "factors": [pack_function(factor, into) for factor in function.factors]}
    if isinstance(function, Trees):
        nodes = {one.name: into.put(getattr(function.nodes, one.name)) for one in fields(NodeArrays)}
        scale = [function.scale.numerator, function.scale.denominator]
        about = {"width": function.width, "base": into.put(function.base), "scale": scale, "nodes": nodes}
        return {"kind": "trees", **about, "native": str(function.native)}
    raise LcifrError(
        f"{type(function).__name__} cannot be sent to other machines", fix="leave --executor out: it runs on this one"
    )


def unpack_function(said: Plain, held: Luggage) -> Any:
    """What :func:`pack_function` made."""
    if said["kind"] == "chain":
        return Chain(tuple(unpack_function(factor, held) for factor in said["factors"]))
    native = Arithmetic(said["native"])
    if said["kind"] == "network":
        network = Network.from_arrays([(held.arrays[weight], held.arrays[bias]) for weight, bias in said["layers"]])
        return replace(network, native=native, divides=str(said["divides"]))
    nodes = NodeArrays(**{name: held.arrays[array] for name, array in said["nodes"].items()})
    return Trees(int(said["width"]), held.arrays[said["base"]], Fraction(*said["scale"]), nodes, native)


def pack_similarity(similarity: Similarity, into: Luggage) -> dict[str, Any]:
    """φ with the scales that it speaks of; and, where it takes ranks, the people whom it ranks."""
    people, ranked = similarity.encoding.ranked, None
    if similarity.takes_ranks and people is not None:
        ranked = [into.put(people.numbers), into.put(people.codes)]
    about = {"text": similarity.text, "source": similarity.source, "hash": similarity.hash}
    target = similarity.schema.target
    return {**about, "encoding": similarity.encoding.to_dict(), "target": target, "ranked": ranked}


def unpack_similarity(said: Plain, held: Luggage) -> Similarity:
    """What :func:`pack_similarity` made, if it means the same here."""
    encoding = Encoding.from_dict(said["encoding"])
    if said["ranked"] is not None:
        numbers, codes = (held.arrays[name] for name in said["ranked"])
        encoding = replace(encoding, with_gaps=Individuals(encoding.schema, numbers, codes))
    schema: Schema = replace(encoding.schema, target=said["target"])
    found = Similarity(said["text"], schema, encoding, source=said["source"])
    if found.hash != said["hash"]:
        raise LcifrError(
            "φ does not mean on this machine what it means where the run was started: the hashes differ",
            fix="install the same version of lcifr on all machines",
        )
    return found


def pack_encoder(encoder: FrozenEncoder, into: Luggage) -> dict[str, Any]:
    """An encoder with its φ."""
    similarity = pack_similarity(encoder.similarity, into)
    return {
        "function": pack_function(encoder.function, into),
        "similarity": similarity,
        "whole_numbers": encoder.whole_numbers,
    }


def unpack_encoder(said: Plain, held: Luggage) -> FrozenEncoder:
    """What :func:`pack_encoder` made."""
    similarity = unpack_similarity(said["similarity"], held)
    return FrozenEncoder(unpack_function(said["function"], held), similarity, bool(said["whole_numbers"]))


def pack_model(model: Model, into: Luggage) -> dict[str, Any]:
    """A function with its rule and labels."""
    rule, labels = model.rule, model.labels
    named = None if labels is None else {"values": labels.tolist(), "dtype": labels.dtype.str}
    decided = {
        "kind": str(rule.kind),
        "outputs": rule.outputs,
        "groups": rule.groups,
        "tolerance": rule.tolerance,
        "band": rule.band,
        "log_odds": rule.log_odds,
    }
    return {"function": pack_function(model.function, into), "rule": decided, "labels": named, "mean": model.mean}


def unpack_model(said: Plain, held: Luggage) -> Model:
    """What :func:`pack_model` made."""
    rule, named = said["rule"], said["labels"]
    groups = tuple(tuple(group) for group in rule["groups"])
    decided = Rule(
        Kind(rule["kind"]),
        int(rule["outputs"]),
        groups,
        rule["tolerance"],
        band=tuple(rule["band"]),
        log_odds=None if rule["log_odds"] is None else tuple(rule["log_odds"]),
    )
    dtype = None if named is None else (object if named["dtype"] == "|O" else np.dtype(named["dtype"]))
    labels = None if named is None else np.array(named["values"], dtype=dtype)
    return Model(unpack_function(said["function"], held), decided, labels, said["mean"])
