"""A second checker, made from ``docs/design/proofs.md`` alone: plain fractions, no rows over several numbers, no ranks,
decisions by sign. It shares no code with the first and is of another shape, so that both would have to err alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.check.second.proof import Network, exact, merge, proves, run
from tests.check.second.similar import BROKEN, Refused, World

__all__ = ["BROKEN", "Second"]


class Second:
    """Judges the people of one bundle, given as JSON values."""

    def __init__(self, encoding: Any, formula: Any, encoder: Any, model: Any) -> None:
        self.world = World(encoding, formula)
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
        side = run(self.whole, features)[0]
        if decision["verdict"] == "counterexample":
            other = self.world.person(decision["other"])
            there = run(self.whole, self.world.encode(other))[0]
            if not self.world.holds(self.world.formula, x, other) or side * there >= 0:
                raise Refused("no counterexample")
        elif decision["verdict"] == "certified":
            network: Network = self.whole
            if decision["on"] != "whole":
                network, cells = self.model, [_around(line["latent"], decision["on"])]
                side = run(self.model, line["latent"]["z"])[0]
            away = 1.0 if side < 0 else -1.0
            if side == 0 or not proves(network, cells, decision["proofs"], {((0, away),): lambda bound: bound < 0}):
                raise Refused("the verdict is not shown")
        else:
            raise Refused("no such verdict")
        if int(side > 0) != decision["prediction"]:
            raise Refused("another decision")

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
