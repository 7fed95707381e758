"""A second checker, made from ``docs/design/proofs.md`` alone: plain fractions, no rows over several numbers, no ranks,
decisions by sign or within a tolerance. It shares no code with the first and is of another shape, so that both would
have to err alike."""

from __future__ import annotations

import hashlib
import json
import struct
from fractions import Fraction
from typing import Any

from tests.check.second.proof import Network, exact, merge, proves, run
from tests.check.second.similar import BROKEN, Refused, World

__all__ = ["BROKEN", "Second", "name_of_handover"]


def name_of_handover(lines: Any) -> str:
    """SHA-256 over the people in their order."""
    digest = hashlib.sha256()
    for line in lines:
        latent = line["latent"]
        digest.update(json.dumps([line["id"], latent["exact"], latent["vacuous"]]).encode("ascii") + b"\n")
        for value in [*latent["z"], latent["radius"], *latent["lower"], *latent["upper"]]:
            digest.update(struct.pack("<d", value))
    return digest.hexdigest()


class Second:
    """Judges the people of one bundle, given as JSON values."""

    def __init__(self, encoding: Any, formula: Any, encoder: Any, model: Any, rule: Any) -> None:
        self.world, self.rule = World(encoding, formula), rule
        self.encoder, self.model = exact(encoder), exact(model)
        self.whole = merge(self.encoder, self.model)

    def judge(self, line: Any) -> None:
        """Raises what is wrong with the claims about one person."""
        x = self.world.person(line["x"])
        cells, features = self.world.cells(x), self.world.encode(x)
        self._radius(line["latent"], features, cells)
        decision = line["decision"]
        if decision["verdict"] == "undecided":
            return
        self._nearly(line, x, cells) if self.rule["kind"] == "within" else self._sign(line, x, cells)

    def _place(self, line: Any, cells: Any) -> tuple[Network, Any]:
        """On which network, and on which cells, a certificate speaks."""
        on = line["decision"]["on"]
        return (self.whole, cells) if on == "whole" else (self.model, [_around(line["latent"], on)])

    def _other(self, decision: Any, x: Any) -> list[Fraction]:
        """The outputs of the other individual, who is similar."""
        other = self.world.person(decision["other"])
        if not self.world.holds(self.world.formula, x, other):
            raise Refused("not similar")
        return run(self.whole, self.world.encode(other))

    def _sign(self, line: Any, x: Any, cells: Any) -> None:
        decision = line["decision"]
        side = run(self.whole, self.world.encode(x))[0]
        if decision["verdict"] == "counterexample":
            if side * self._other(decision, x)[0] >= 0:
                raise Refused("no counterexample")
        elif decision["verdict"] == "certified":
            network, cells = self._place(line, cells)
            if decision["on"] != "whole":
                side = run(self.model, line["latent"]["z"])[0]
            away = 1.0 if side < 0 else -1.0
            if side == 0 or not proves(network, cells, decision["proofs"], {((0, away),): lambda bound: bound < 0}):
                raise Refused("the verdict is not shown")
        else:
            raise Refused("no such verdict")
        if int(side > 0) != decision["prediction"]:
            raise Refused("another decision")

    def _nearly(self, line: Any, x: Any, cells: Any) -> None:
        decision, tolerance = line["decision"], Fraction(self.rule["tolerance"])
        own = run(self.whole, self.world.encode(x))
        if decision["verdict"] == "counterexample":
            if all(abs(a - b) <= tolerance for a, b in zip(own, self._other(decision, x), strict=True)):
                raise Refused("no counterexample")
            return
        network, cells = self._place(line, cells)
        if decision["verdict"] != "certified":
            raise Refused("no such verdict")
        if decision["on"] != "whole":
            stored = run(self.model, line["latent"]["z"])
            if any(abs(a - b) >= tolerance for a, b in zip(own, stored, strict=True)):
                raise Refused("z is decided otherwise")
        needed: dict[Any, Any] = {}
        for k, value in enumerate(own):
            needed[((k, 1.0),)] = lambda bound, value=value: bound - value < tolerance
            needed[((k, -1.0),)] = lambda bound, value=value: bound + value < tolerance
        if not proves(network, cells, decision["proofs"], needed):
            raise Refused("the verdict is not shown")

    def _radius(self, latent: Any, features: list[float], cells: Any) -> None:
        radius = Fraction(latent["radius"])
        z, lower, upper = ([Fraction(value) for value in latent[key]] for key in ("z", "lower", "upper"))
        landed = run(self.encoder, features)
        box = list(zip(lower, upper, strict=True))
        if not all(low <= value <= high for value, (low, high) in zip(landed, box, strict=True)):
            raise Refused("the person is not in the box")
        if not all(own - radius <= low and high <= own + radius for own, (low, high) in zip(z, box, strict=True)):
            raise Refused("the box is not in the ball")
        needed: dict[Any, Any] = {((k, 1.0),): (lambda bound, end=end: bound <= end) for k, end in enumerate(upper)}
        needed |= {((k, -1.0),): (lambda bound, end=end: -bound >= end) for k, end in enumerate(lower)}
        if not proves(self.encoder, cells, latent["proofs"], needed):
            raise Refused("the radius is not shown")


def _around(latent: Any, shape: str) -> Any:
    z, radius = [Fraction(value) for value in latent["z"]], Fraction(latent["radius"])
    ball = [(own - radius, own + radius) for own in z]
    box = [(Fraction(a), Fraction(b)) for a, b in zip(latent["lower"], latent["upper"], strict=True)]
    return [("number", k, *ends) for k, ends in enumerate({"ball": ball, "box": box}[shape])]
