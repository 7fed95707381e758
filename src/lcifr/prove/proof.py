"""The proof that an engine hands to the checker: a split tree with multipliers, and its JSON lines.

``docs/design/proofs.md`` says what each number means and why no choice of numbers can prove something false. The
checker (``lcifr.check``) reads the JSON, never these classes: the file format is the border between the two.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TextIO


class Term(NamedTuple):
    """A number that belongs to hidden neuron ``neuron`` of layer ``layer`` (0 is the first hidden layer)."""

    layer: int
    neuron: int
    value: float


class Entry(NamedTuple):
    """A number that belongs to a position: an output of the network, or a linear row of the cell."""

    place: int
    value: float


@dataclass(frozen=True)
class Multipliers:
    """What one backward pass needs: any values of the right sign prove *some* bound, good ones a tight one.

    Parameters
    ----------
    slopes : the slope of the line that replaces a ReLU. Where none is given: 0 or 1 if the neuron is stable, else the
        shared one of `Bounds`, else 0.
    beta : β of a neuron's interval: β > 0 adds β·(y − lower), β < 0 adds |β|·(upper − y). This is where splits enter.
    rows : λ ≥ 0 per linear row of the cell.
    """

    slopes: tuple[Term, ...] = ()
    beta: tuple[Term, ...] = ()
    rows: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class NeuronBound:
    """A proved end of the interval of a hidden neuron before its ReLU; intersected with what is known already."""

    layer: int
    neuron: int
    side: Literal["lower", "upper"]
    by: Multipliers = Multipliers()


@dataclass(frozen=True)
class Bounds:
    """What is proved or agreed at a node and inherited by everything below it.

    Parameters
    ----------
    upper, lower : shared lines: the slope to use where the coefficient of an unstable ReLU is positive / negative.
    neurons : proved ends of intervals; several of one end are intersected.
    """

    upper: tuple[Term, ...] = ()
    lower: tuple[Term, ...] = ()
    neurons: tuple[NeuronBound, ...] = ()


@dataclass(frozen=True)
class ReluSplit:
    """First child: the neuron's input is ≤ 0. Second child: it is ≥ 0."""

    layer: int
    neuron: int
    bounds: Bounds | None = None


@dataclass(frozen=True)
class CategorySplit:
    """First child: choice ``choice`` takes one of ``values`` (positions in its columns). Second child: none of them."""

    choice: int
    values: tuple[int, ...]
    bounds: Bounds | None = None


@dataclass(frozen=True)
class NumericSplit:
    """First child: feature column ``column`` is ≤ ``threshold``. Second child: it is ≥ ``threshold``."""

    column: int
    threshold: float
    bounds: Bounds | None = None


@dataclass(frozen=True)
class Leaf:
    """The end of a branch.

    Parameters
    ----------
    by : multipliers of the backward pass, or None to use the interval of the output.
    empty : the pass starts at the zero direction and must end below 0, so that no point is left here (Farkas).
    bounds : proved at this leaf alone.
    """

    by: Multipliers | None = None
    empty: bool = False
    bounds: Bounds | None = None


Node = ReluSplit | CategorySplit | NumericSplit | Leaf


@dataclass(frozen=True)
class Claim:
    """For every x′ in the cell: direction · network(x′) ≤ upper.

    Parameters
    ----------
    direction : its entries that are not zero. With none at all and upper < 0 the claim says that the cell is empty.
    upper : the proved bound.
    nodes : the split tree in preorder: a split is followed by its whole first subtree, then by its second.
    """

    direction: tuple[Entry, ...]
    upper: float
    nodes: tuple[Node, ...] = (Leaf(),)


@dataclass(frozen=True)
class CellProof:
    """Everything proved about one cell of one person. ``bounds`` holds at the root of every claim's tree."""

    cell: int
    claims: tuple[Claim, ...]
    bounds: Bounds = Bounds()


def hexadecimal(value: float) -> str:
    """A float64 as text, exactly, without the zeros at its end: 1.5 is ``0x1.8p+0``."""
    digits, _, exponent = float(value).hex().partition("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}" if "." in digits else float(value).hex()


def _numbers(items: Iterable[Term] | Iterable[Entry]) -> list[list[int | str]]:
    return [[*(int(place) for place in item[:-1]), hexadecimal(item[-1])] for item in items]


def _without_empty(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def plain_multipliers(by: Multipliers) -> dict[str, Any]:
    """Multipliers as the checker reads them."""
    return _without_empty(slopes=_numbers(by.slopes), beta=_numbers(by.beta), rows=_numbers(by.rows))


def plain_bounds(bounds: Bounds | None) -> dict[str, Any]:
    """Bounds as the checker reads them."""
    if bounds is None:
        return {}
    passes: dict[tuple[int, str, Multipliers], list[int]] = {}  # neurons with the same multipliers are said together
    for n in bounds.neurons:
        passes.setdefault((int(n.layer), n.side, n.by), []).append(int(n.neuron))
    neurons = [[layer, side, places, plain_multipliers(by)] for (layer, side, by), places in passes.items()]
    return _without_empty(upper=_numbers(bounds.upper), lower=_numbers(bounds.lower), neurons=neurons)


def _plain_node(node: Node) -> dict[str, Any]:
    extra = _without_empty(bounds=plain_bounds(node.bounds))
    match node:
        case ReluSplit():
            return {"relu": [int(node.layer), int(node.neuron)], **extra}
        case CategorySplit():
            return {"choice": [int(node.choice), [int(value) for value in node.values]], **extra}
        case NumericSplit():
            return {"numeric": [int(node.column), hexadecimal(node.threshold)], **extra}
        case Leaf(empty=True):
            return {"empty": plain_multipliers(node.by or Multipliers()), **extra}
        case Leaf():
            return {"leaf": None if node.by is None else plain_multipliers(node.by), **extra}


def to_plain(proof: CellProof) -> dict[str, Any]:
    """The proof as lists, dictionaries, integers and hexadecimal text: what the checker reads."""
    claims = [
        {
            "direction": _numbers(claim.direction),
            "upper": hexadecimal(claim.upper),
            "nodes": [_plain_node(node) for node in claim.nodes],
        }
        for claim in proof.claims
    ]
    return {"cell": int(proof.cell), **_without_empty(bounds=plain_bounds(proof.bounds)), "claims": claims}


def write_proofs(proofs: Iterable[CellProof], file: TextIO) -> None:
    """Write one JSON object per line."""
    for proof in proofs:
        file.write(json.dumps(to_plain(proof), separators=(",", ":")) + "\n")


def read_proofs(file: TextIO) -> Iterator[CellProof]:
    """Read what `write_proofs` wrote."""
    for line in file:
        yield from_plain(json.loads(line))


def _terms(items: Iterable[Any]) -> tuple[Term, ...]:
    return tuple(Term(layer, neuron, float.fromhex(value)) for layer, neuron, value in items)


def _entries(items: Iterable[Any]) -> tuple[Entry, ...]:
    return tuple(Entry(place, float.fromhex(value)) for place, value in items)


def _multipliers(plain: dict[str, Any]) -> Multipliers:
    slopes, beta = _terms(plain.get("slopes", ())), _terms(plain.get("beta", ()))
    return Multipliers(slopes, beta, _entries(plain.get("rows", ())))


def _bounds(plain: dict[str, Any]) -> Bounds:
    neurons = tuple(
        NeuronBound(layer, neuron, side, _multipliers(by))
        for layer, side, places, by in plain.get("neurons", ())
        for neuron in places
    )
    return Bounds(_terms(plain.get("upper", ())), _terms(plain.get("lower", ())), neurons)


def _node(plain: dict[str, Any]) -> Node:
    bounds = _bounds(plain["bounds"]) if "bounds" in plain else None
    if "relu" in plain:
        layer, neuron = plain["relu"]
        return ReluSplit(layer, neuron, bounds)
    elif "choice" in plain:
        choice, values = plain["choice"]
        return CategorySplit(choice, tuple(values), bounds)
    elif "numeric" in plain:
        column, threshold = plain["numeric"]
        return NumericSplit(column, float.fromhex(threshold), bounds)
    elif "empty" in plain:
        return Leaf(_multipliers(plain["empty"]), True, bounds)
    return Leaf(None if plain["leaf"] is None else _multipliers(plain["leaf"]), False, bounds)


def from_plain(plain: dict[str, Any]) -> CellProof:
    """The inverse of `to_plain`. It trusts its input to be well formed; only the checker judges a foreign proof."""
    claims = tuple(
        Claim(_entries(claim["direction"]), float.fromhex(claim["upper"]), tuple(map(_node, claim["nodes"])))
        for claim in plain["claims"]
    )
    return CellProof(plain["cell"], claims, _bounds(plain.get("bounds", {})))
