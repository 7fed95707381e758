"""A proof as it is written in a file, read strictly: what is not as docs/design/proofs.md says is rejected."""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.check.exact import Rejected, number
from lcifr.check.problem import Problem

Neuron = tuple[int, ...]  # hidden layer, neuron


@dataclass(frozen=True)
class Multipliers:
    """Numbers for one backward pass: slopes and β by neuron, λ by row."""

    slopes: dict[Neuron, float]
    beta: dict[Neuron, float]
    rows: dict[Neuron, float]


@dataclass(frozen=True)
class Bounds:
    """Shared slopes, and per hidden layer the proved ends (neuron, 1 for upper and −1 for lower, multipliers)."""

    upper: dict[Neuron, float]
    lower: dict[Neuron, float]
    neurons: dict[int, list[tuple[int, int, Multipliers]]]


def fields(found: object, what: str, *known: str) -> dict[str, object]:
    """A JSON object with no other keys than the known ones."""
    if not isinstance(found, dict) or not set(found) <= set(known):
        raise Rejected(f"{what} is not an object with no keys but {', '.join(known)}")
    return found


def items(found: object, what: str, count: int | None = None) -> list[object]:
    """A JSON list, of ``count`` things if that is given."""
    if not isinstance(found, list) or len(found) != (len(found) if count is None else count):
        raise Rejected(f"{what} is not a list{'' if count is None else f' of {count}'}")
    return found


def position(found: object, what: str, count: int) -> int:
    """An integer in 0 … count − 1."""
    if type(found) is not int or not 0 <= found < count:
        raise Rejected(f"{what} is not an integer in 0 … {count - 1}")
    return found


class Reader:
    """Reads a proof about one problem, and checks every position in it against that problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.hidden = [len(layer.bias.values) for layer in problem.layers[:-1]]

    def neuron(self, found: list[object], what: str) -> Neuron:
        """[layer, neuron] of a hidden neuron that exists."""
        layer = position(found[0], f"the layer of {what}", len(self.hidden))
        return layer, position(found[1], f"the neuron of {what}", self.hidden[layer])

    def terms(self, found: object, what: str, count: int | None = None) -> dict[Neuron, float]:
        """[[layer, neuron, number], …], or [[place, number], …] among ``count`` places, without repetition."""
        result: dict[Neuron, float] = {}
        for item in items(found, what):
            *place, value = items(item, f"an entry of {what}", 3 if count is None else 2)
            key = self.neuron(place, what) if count is None else (position(place[0], f"a place of {what}", count),)
            if key in result:
                raise Rejected(f"{what} names {key} twice")
            result[key] = number(value, f"a number of {what}")
        return result

    def multipliers(self, found: object) -> Multipliers:
        """Slopes, β and λ; no λ is negative."""
        plain = fields(found, "multipliers", "slopes", "beta", "rows")
        rows = self.terms(plain.get("rows", []), "rows", len(self.problem.limits.values))
        if any(value < 0 for value in rows.values()):
            raise Rejected("the multiplier of a row is negative")
        return Multipliers(
            self.terms(plain.get("slopes", []), "slopes"), self.terms(plain.get("beta", []), "beta"), rows
        )

    def bounds(self, found: object) -> Bounds:
        """Shared slopes and proved ends of intervals."""
        plain = fields(found, "bounds", "upper", "lower", "neurons")
        proofs: dict[int, list[tuple[int, int, Multipliers]]] = {}
        for item in items(plain.get("neurons", []), "neurons"):
            *place, side, by = items(item, "an entry of neurons", 4)
            if side not in ("lower", "upper"):
                raise Rejected("the side of a proved end is not lower or upper")
            layer, neuron = self.neuron(place, "a proved end")
            proofs.setdefault(layer, []).append((neuron, 1 if side == "upper" else -1, self.multipliers(by)))
        return Bounds(self.terms(plain.get("upper", []), "upper"), self.terms(plain.get("lower", []), "lower"), proofs)

    def node(self, found: object) -> tuple[str, object, Bounds]:
        """The kind of a node, what it says, and its bounds."""
        plain = dict(fields(found, "a node", "relu", "choice", "numeric", "leaf", "empty", "bounds"))
        bounds = self.bounds(plain.pop("bounds", {}))
        if len(plain) != 1:
            raise Rejected("a node is not exactly one of relu, choice, numeric, leaf, empty")
        return *next(iter(plain.items())), bounds
