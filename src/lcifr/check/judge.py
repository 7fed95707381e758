"""One person of an audit bundle: everything that is claimed of them, confirmed or not confirmed with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lcifr.check.cells import derive, up
from lcifr.check.exact import Rejected, Vector, dot, exact, number, numbers, position, reading
from lcifr.check.proof import Cell, Direction, Layer, Network, Problem, examine, follows
from lcifr.check.similar import Formula
from lcifr.check.table import Person, encode, read_person

Limits = dict[Direction, Fraction]
CONFIRMED, TRUSTED, NONE = "confirmed", "trusted", "none"


@dataclass(frozen=True)
class Judged:
    """What became of one person's claims.

    ``radius`` and ``verdict`` are "confirmed", "trusted" (it rests on a solver's word), "none" (nothing is claimed) or
    the reason why it is rejected.
    """

    name: str
    verdict_claimed: str
    radius: str
    verdict: str
    vacuous: bool = False

    @property
    def rejected(self) -> list[str]:
        """The reasons; empty if all is well."""
        said = (("radius", self.radius), ("verdict", self.verdict))
        return [f"{what}: {word}" for what, word in said if word not in (CONFIRMED, TRUSTED, NONE)]


class Judge:
    """Judges people against one formula, encoder and, where decisions are claimed, model and rule of decision."""

    def __init__(self, formula: Formula, encoder: Network, model: Network | None, rule: Any) -> None:
        self.formula, self.encoder, self.model = formula, encoder, model
        width = sum(max(len(attribute.values), 1) for attribute in formula.attributes.values())
        if width != len(encoder[0].columns):
            raise Rejected(f"people have {width} features, the encoder takes {len(encoder[0].columns)}")
        self.whole = encoder if model is None else compose(encoder, model)
        self.rule = None if model is None else Rule(rule, len(self.whole[-1].bias.values))

    def judge(self, line: Any) -> Judged:
        """One line of the bundle."""
        name, latent, decision = str(line["id"]), line.get("latent"), line.get("decision")
        claimed = NONE if decision is None else str(decision["verdict"])
        try:
            with reading("the person"):
                x = read_person(line["x"], self.formula.attributes)
                cells = derive(self.formula, x)
        except Rejected as rejected:
            return Judged(name, claimed, str(rejected), str(rejected))
        radius = NONE if latent is None else _said(lambda: self._radius(latent, x, cells))
        verdict = NONE if decision is None else _said(lambda: self._verdict(decision, latent, x, cells))
        if verdict == CONFIRMED and claimed == "certified" and decision["on"] != "whole" and radius != CONFIRMED:
            verdict = TRUSTED if radius == TRUSTED else "it rests on a radius that is not confirmed"
        return Judged(name, claimed, radius, verdict, not cells)

    def _radius(self, latent: Any, x: Person, cells: list[Cell]) -> str:
        """The box holds f(x′) for every similar x′ and for x itself, and the ball around z holds the box."""
        own = forward(self.encoder, encode(x, self.formula.attributes))
        z, lower, upper = ([Fraction(v) for v in numbers(latent[key], len(own))] for key in ("z", "lower", "upper"))
        for j, value in enumerate(own):
            if not lower[j] <= value <= upper[j]:
                raise Rejected(f"the box does not hold the person's own latent in coordinate {j}")
            if not max(upper[j] - z[j], z[j] - lower[j]) <= Fraction(number(latent["radius"])):
                raise Rejected(f"the radius does not cover coordinate {j}")
        ends = [((1.0, upper[j]), (-1.0, -lower[j])) for j in range(len(own))]
        limits: Limits = {((j, sign),): end for j, pair in enumerate(ends) for sign, end in pair}
        return _shown(self.encoder, cells, limits, False, latent)

    def _verdict(self, decision: Any, latent: Any, x: Person, cells: list[Cell]) -> str:
        """The decision is the same for everybody, or the other individual is similar and decided otherwise."""
        word, prediction = decision["verdict"], decision.get("prediction")
        if self.rule is None or self.model is None:
            raise Rejected("there is no model to decide")
        if word == "undecided":
            return NONE
        if word == "certified" and decision["on"] != "whole":  # the decision is the model's on the stored z
            around, z = _around(latent, decision["on"], len(self.model[0].columns))
            return _shown(self.model, [around], self.rule.limits(forward(self.model, z), prediction), True, decision)
        own = forward(self.whole, encode(x, self.formula.attributes))
        limits = self.rule.limits(own, prediction)
        if word == "certified":
            return _shown(self.whole, cells, limits, True, decision)
        if word != "counterexample":
            raise Rejected(f"there is no verdict {word}")
        other = read_person(decision["other"], self.formula.attributes)
        if not self.formula.holds(x, other):
            raise Rejected("the other individual is not similar")
        if not self.rule.differs(limits, forward(self.whole, encode(other, self.formula.attributes)), prediction):
            raise Rejected("the other individual is decided alike")
        return CONFIRMED


def _said(what: Callable[[], str]) -> str:
    try:
        with reading("the claim"):
            return what()
    except Rejected as rejected:
        return str(rejected)


def _around(latent: Any, shape: str, width: int) -> tuple[Cell, list[float]]:
    """The ball or the box of a latent, outward to floats, as a cell of the model; and z."""
    z, lower, upper = (numbers(latent[key], width) for key in ("z", "lower", "upper"))
    if shape == "ball":
        radius = Fraction(number(latent["radius"]))
        lower, upper = [-up(radius - Fraction(v)) for v in z], [up(Fraction(v) + radius) for v in z]
    elif shape != "box":
        raise Rejected(f"a verdict is about whole, ball or box, not {shape}")
    return Cell(range(width), lower, upper), z


def _shown(network: Network, cells: list[Cell], limits: Limits, strict: bool, claim: Any) -> str:
    """Every cell must stay within (strictly: below) every limit; any proof of the person may help, its own first."""
    proofs = claim["proofs"]
    for place, problem in enumerate(Problem(network, cell) for cell in cells):
        open_, reason = dict(limits), "nothing is shown that is strong enough"
        for proof in [*proofs[place : place + 1], *proofs[:place], *proofs[place + 1 :]]:
            try:
                found = examine(problem, proof)
            except Rejected as rejected:
                reason = str(rejected)
                continue
            open_ = {need: limit for need, limit in open_.items() if not follows(found, need, limit, strict)}
            if not open_:
                break
        if open_ and isinstance(claim.get("trusted"), str):
            return TRUSTED
        if open_:
            raise Rejected(f"cell {place} is not shown in direction {next(iter(open_))}: {reason}")
    return CONFIRMED


class Rule:
    """What must agree: the sign of one output; the group of the largest output; every output within a tolerance."""

    def __init__(self, found: Any, outputs: int) -> None:
        with reading("the rule of decision"):
            self.kind, self.outputs, self.tolerance = found["kind"], outputs, Fraction(0)
            if self.kind == "within":
                self.tolerance = Fraction(number(found["tolerance"]))
            elif (self.kind == "sign") != (outputs == 1) or self.kind not in ("sign", "class"):
                raise Rejected(f"there is no rule of decision {self.kind} for {outputs} outputs")
            self.groups = found["groups"] if self.kind == "class" else [[0], [1]]
            if self.kind == "class" and sorted(c for group in self.groups for c in group) != list(range(outputs)):
                raise Rejected("the groups do not hold every class exactly once")
            if self.tolerance < 0:
                raise Rejected("the tolerance is negative")

    def limits(self, own: list[Fraction], prediction: Any) -> Limits:
        """What must stay below which limit for the decision to be the same; the person's own is the one named."""
        if self.kind == "within":
            signs = (1.0, -1.0)
            return {((j, s),): Fraction(s) * value + self.tolerance for j, value in enumerate(own) for s in signs}
        position(prediction, max(self.outputs, 2))
        if self.kind == "sign":
            found: Limits = {((0, -1.0 if prediction else 1.0),): Fraction(0)}
        else:
            outside = [c for group in self.groups if prediction not in group for c in group]
            found = {tuple(sorted(((c, 1.0), (prediction, -1.0)))): Fraction(0) for c in outside}
        if not all(_at(direction, own) < limit for direction, limit in found.items()):
            raise Rejected("the person's own decision is not the one that is claimed")
        return found

    def differs(self, limits: Limits, other: list[Fraction], prediction: Any) -> bool:
        """Whether another individual's decision differs strictly."""
        if self.kind != "class":
            return any(_at(direction, other) > limit for direction, limit in limits.items())
        inside, outside = (
            [other[c] for g in self.groups if (prediction in g) == home for c in g] for home in (True, False)
        )
        return bool(outside) and max(outside) > max(inside)


def _at(direction: Direction, outputs: list[Fraction]) -> Fraction:
    return sum((Fraction(c) * outputs[j] for j, c in direction), Fraction(0))


def forward(network: Network, point: Sequence[float]) -> list[Fraction]:
    """The outputs at a point, exactly."""
    value = exact(point)
    for place, layer in enumerate(network):
        if place:
            value = Vector([max(v, 0) for v in value.values], value.shift)
        sums = [dot(row.values, value.values) for row in layer.rows]
        value = Vector(sums, layer.shift + value.shift) + layer.bias
    return value.fractions()


def compose(encoder: Network, model: Network) -> Network:
    """model ∘ encoder, exactly: the last layer of the one and the first of the other are affine, so they are one."""
    last, first = encoder[-1], model[0]
    if len(last.bias.values) != len(first.columns):
        raise Rejected(f"the encoder gives {len(last.bias.values)} numbers, the model takes {len(first.columns)}")
    columns = {c: [dot(row.values, column) for row in first.rows] for c, column in last.columns.items()}
    sums = [dot(row.values, last.bias.values) for row in first.rows]
    bias = Vector(sums, first.shift + last.bias.shift) + first.bias
    return (*encoder[:-1], Layer(columns, first.shift + last.shift, bias), *model[1:])
