"""A second checker, made from ``docs/design/proofs.md`` and the pages that it names: plain fractions, no rows over
several numbers, no ranks, decisions by sign, with a band or without, or within a tolerance; factors and programs. It
shares no code with the first and is of another shape, so that both would have to err alike."""

from __future__ import annotations

import hashlib
import json
import struct
from fractions import Fraction
from functools import reduce
from typing import Any

from tests.check.second.machine import errors
from tests.check.second.proof import Network, exact, identity, merge, proves, run
from tests.check.second.similar import BROKEN, Refused, World

__all__ = ["BROKEN", "Second", "name_of_handover"]


HEAD = ("exact", "vacuous", "universe", "arithmetic")


def name_of_handover(lines: Any) -> str:
    """SHA-256 over the people in their order."""
    digest = hashlib.sha256()
    for line in lines:
        latent = line["latent"]
        digest.update(json.dumps([line["id"], *(latent[key] for key in HEAD)]).encode("ascii") + b"\n")
        for value in [*latent["z"], latent["radius"], *latent["lower"], *latent["upper"]]:
            digest.update(struct.pack("<d", value))
    return digest.hexdigest()


def factors_of(found: Any) -> list[Any]:
    """A list of layers is one network; an object holds several that touch."""
    if isinstance(found, list):
        return [found]
    if found["kind"] != "network":
        raise Refused("no such function")
    return list(found["factors"])


class Second:
    """Judges the people of one bundle, given as JSON values."""

    def __init__(self, encoding: Any, formula: Any, encoder: Any, model: Any, rule: Any) -> None:
        self.world, self.rule = World(encoding, formula), rule
        self.factors = [[exact(one) for one in factors_of(found)] for found in (encoder, model)]
        self.model = reduce(merge, self.factors[1])
        self.encoder = reduce(merge, self.factors[0] or [identity(len(self.model[0][0]))])  # without factors it is x
        self.whole = merge(self.encoder, self.model)

    def judge(self, line: Any) -> None:
        """Raises what is wrong with the claims about one person."""
        x = self.world.person(line["x"])
        latent, decision = line.get("latent"), line.get("decision")
        if latent is not None and "proofs" in latent:
            self._radius(latent, x)
        if decision is None or decision["verdict"] == "undecided":
            return
        if decision["verdict"] not in ("certified", "counterexample"):
            raise Refused("no such verdict")
        self._nearly(line, x) if self.rule["kind"] == "within" else self._sign(line, x)

    def _off(self, networks: list[Network], arithmetic: list[str], cell: Any) -> list[Fraction]:
        """E of the outputs on a cell, where each network has its arithmetic; the first one's inputs may be people."""
        if arithmetic[-1] == "exact":
            return [Fraction(0)] * len(networks[-1][-1])
        flushed = self.world.flushed if networks[0] is self.encoder else 0
        apart = {id(self.encoder): self.factors[0], id(self.model): self.factors[1]}
        stages = zip(networks, arithmetic, strict=True)
        return errors([(one, name) for network, name in stages for one in apart[id(network)]], cell, flushed)

    def _at(self, x: Any, arithmetic: list[str]) -> tuple[list[Fraction], list[Fraction]]:
        """A person's own outputs, end to end, and E there."""
        off = self._off([self.encoder, self.model], arithmetic, self.world.point(x))
        return run(self.whole, self.world.encode(x)), off

    def _at_z(self, latent: Any, arithmetic: str) -> tuple[list[Fraction], list[Fraction]]:
        """The outputs at the stored z, and E there."""
        point = [("number", k, Fraction(v), Fraction(v)) for k, v in enumerate(latent["z"])]
        return run(self.model, latent["z"]), self._off([self.model], [arithmetic], point)

    def _proves(self, line: Any, x: Any, needed: Any) -> bool:
        """Whether the proofs of a certificate show what is needed, on its cells."""
        decision, arithmetic = line["decision"], line["decision"]["arithmetic"]
        if decision["on"] == "whole":
            cells, wholes = self.world.cells(x, decision["universe"]), self._wholes(decision["universe"])
            chain = [self.encoder, self.model]
            return proves(
                self.whole,
                cells,
                decision["proofs"],
                needed,
                lambda cell: self._off(chain, [arithmetic] * 2, cell),
                wholes,
            )
        cell = _around(line["latent"], decision["on"])
        return proves(
            self.model, [cell], decision["proofs"], needed, lambda cell: self._off([self.model], [arithmetic], cell)
        )

    def _wholes(self, universe: str) -> Any:
        def encoder_of(name: str) -> Any:
            return lambda value: self.world.scaled(name, value)

        return {name: (column, encoder_of(name)) for name, column in self.world.wholes(universe).items()}

    def _arithmetic(self, line: Any) -> list[str]:
        """Of f and of h; and whether a verdict may rest on the radius at all."""
        decision, latent = line["decision"], line.get("latent")
        if decision["universe"] not in ("reals", "whole"):
            raise Refused("no such universe")
        if decision["verdict"] != "certified" or decision["on"] == "whole":
            return [decision["arithmetic"]] * 2
        if latent is None or "proofs" not in latent:
            raise Refused("the radius is not claimed")
        if latent["universe"] != decision["universe"]:
            raise Refused("the radius is of another universe")
        if latent["arithmetic"] == "exact" and decision["arithmetic"] != "exact":
            raise Refused("the radius is about no machine")
        return [latent["arithmetic"], decision["arithmetic"]]

    def _other(self, decision: Any, x: Any) -> tuple[list[Fraction], list[Fraction]]:
        """The outputs of the other individual, who is similar, and E there."""
        other = self.world.person(decision["other"])
        if not self.world.holds(self.world.formula, x, other):
            raise Refused("not similar")
        return self._at(other, [decision["arithmetic"]] * 2)

    def _sign(self, line: Any, x: Any) -> None:
        decision, arithmetic = line["decision"], self._arithmetic(line)
        (side,), (error,) = self._at(x, arithmetic)
        if decision["verdict"] == "certified" and decision["on"] != "whole":
            (side,), (error,) = self._at_z(line["latent"], arithmetic[1])
        if self._class(side, error) != decision["prediction"]:
            raise Refused("another decision, or a machine may make another one")
        if decision["verdict"] == "counterexample":
            (other,), (wrong,) = self._other(decision, x)
            if self._class(other, wrong) != 1 - decision["prediction"]:
                raise Refused("no counterexample")
            return
        low, high = self._band()
        needed: dict[Any, Any] = {((0, 1.0),): lambda bound: bound < low}
        if decision["prediction"] == 1:
            needed = {((0, -1.0),): lambda bound: bound < -high}
        if not self._proves(line, x, needed):
            raise Refused("the verdict is not shown")

    def _band(self) -> list[Fraction]:
        return [Fraction(end) for end in self.rule.get("band", (0.0, 0.0))]

    def _class(self, output: Fraction, error: Fraction) -> int | None:
        """What every machine decides that is off by so much at most; None where some may decide otherwise."""
        low, high = self._band()
        return 0 if output + error < low else 1 if output - error > high else None

    def _nearly(self, line: Any, x: Any) -> None:
        decision, arithmetic, tolerance = line["decision"], self._arithmetic(line), Fraction(self.rule["tolerance"])
        own, error = self._at(x, arithmetic)
        if decision["verdict"] == "counterexample":
            other, wrong = self._other(decision, x)
            every = zip(own, error, other, wrong, strict=True)
            if all(abs(a - b) - e - f <= tolerance for a, e, b, f in every):
                raise Refused("no counterexample")
            return
        if decision["on"] != "whole":
            stored, wrong = self._at_z(line["latent"], arithmetic[1])
            every = zip(own, error, stored, wrong, strict=True)
            if any(abs(a - b) + e + f >= tolerance for a, e, b, f in every):
                raise Refused("z is decided otherwise")
        needed: dict[Any, Any] = {}
        for k, (value, e) in enumerate(zip(own, error, strict=True)):
            needed[((k, 1.0),)] = lambda bound, value=value, e=e: bound - value < tolerance - e
            needed[((k, -1.0),)] = lambda bound, value=value, e=e: bound + value < tolerance - e
        if not self._proves(line, x, needed):
            raise Refused("the verdict is not shown")

    def _radius(self, latent: Any, x: Any) -> None:
        radius, chain = Fraction(latent["radius"]), ([self.encoder], [latent["arithmetic"]])
        z, lower, upper = ([Fraction(value) for value in latent[key]] for key in ("z", "lower", "upper"))
        landed, off = run(self.encoder, self.world.encode(x)), self._off(*chain, self.world.point(x))
        box = list(zip(lower, upper, strict=True))
        where = zip(landed, off, box, strict=True)
        if not all(low + e <= value <= high - e for value, e, (low, high) in where):
            raise Refused("the person is not in the box")
        if not all(own - radius <= low and high <= own + radius for own, (low, high) in zip(z, box, strict=True)):
            raise Refused("the box is not in the ball")
        needed: dict[Any, Any] = {((k, 1.0),): (lambda bound, end=end: bound <= end) for k, end in enumerate(upper)}
        needed |= {((k, -1.0),): (lambda bound, end=end: -bound >= end) for k, end in enumerate(lower)}
        cells, wholes = self.world.cells(x, latent["universe"]), self._wholes(latent["universe"])
        if not proves(self.encoder, cells, latent["proofs"], needed, lambda cell: self._off(*chain, cell), wholes):
            raise Refused("the radius is not shown")


def _around(latent: Any, shape: str) -> Any:
    z, radius = [Fraction(value) for value in latent["z"]], Fraction(latent["radius"])
    ball = [(own - radius, own + radius) for own in z]
    box = [(Fraction(a), Fraction(b)) for a, b in zip(latent["lower"], latent["upper"], strict=True)]
    return [("number", k, *ends) for k, ends in enumerate({"ball": ball, "box": box}[shape])]
