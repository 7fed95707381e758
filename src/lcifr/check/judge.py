"""One person of an audit bundle: everything that is claimed of them, confirmed or not confirmed with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lcifr.check.cells import derive, up
from lcifr.check.claim import Finding, examine
from lcifr.check.exact import Rejected, Vector, dot, exact, number, numbers
from lcifr.check.problem import Cell, Layer, _layer
from lcifr.check.read import fields, items, position
from lcifr.check.similar import Formula
from lcifr.check.table import Person, encode, read_person

LATENT = ("z", "radius", "lower", "upper", "proofs", "trusted")
Direction = dict[int, float]
Network = tuple[Layer, ...]


@dataclass(frozen=True)
class Needed:
    """What must be shown: direction · network(x′) ≤ limit, or < limit where strict, for every x′."""

    direction: Direction
    limit: Fraction
    strict: bool


@dataclass(frozen=True)
class Judged:
    """What became of one person's claims: each is confirmed, or rejected with a reason.

    ``radius`` and ``verdict`` are "confirmed", "trusted" (it rests on a solver's word), "none" (nothing is claimed) or
    the reason why it is rejected.
    """

    name: str
    verdict_claimed: str
    radius: str
    verdict: str
    vacuous: bool

    @property
    def rejected(self) -> list[str]:
        """The reasons; empty if all is well."""
        known = ("confirmed", "trusted", "none")
        return [
            f"{what}: {word}"
            for what, word in (("radius", self.radius), ("verdict", self.verdict))
            if word not in known
        ]


class Judge:
    """Judges people against one formula, encoder and, where decisions are claimed, model and rule of decision."""

    def __init__(self, formula: Formula, encoder: Network, model: Network | None, rule: object) -> None:
        self.formula, self.encoder, self.model = formula, encoder, model
        self.whole = compose(encoder, model) if model is not None else encoder
        self.rule = Rule(rule, len(self.whole[-1].bias.values)) if model is not None else None

    def judge(self, line: object) -> Judged:
        """One line of the bundle."""
        plain = fields(line, "a person's line", "id", "x", "latent", "decision")
        name = str(plain.get("id"))
        try:
            x = read_person(plain.get("x"), self.formula.attributes)
            cells = derive(self.formula, x)
            point = encode(x, self.formula.attributes)
        except Rejected as rejected:
            return Judged(name, "", str(rejected), str(rejected), False)
        latent, decision = plain.get("latent"), plain.get("decision")
        radius = self._said(lambda: self._radius(latent, cells, point)) if latent is not None else "none"
        claimed = str(decision.get("verdict")) if isinstance(decision, dict) else "none"
        verdict = "none" if decision is None else self._said(lambda: self._verdict(decision, latent, x, cells, point))
        modular = claimed == "certified" and isinstance(decision, dict) and _on(decision) != "whole"
        if modular and verdict == "confirmed" and radius != "confirmed":
            verdict = radius if radius == "trusted" else "it rests on a radius that is not confirmed"
        return Judged(name, claimed, radius, verdict, not cells)

    def _said(self, what: object) -> str:
        try:
            return str(what())  # type: ignore[operator]
        except Rejected as rejected:
            return str(rejected)

    def _radius(self, found: object, cells: list[Cell], point: list[float]) -> str:
        """The box holds f(x′) for every similar x′ and for x itself, and the ball around z holds the box."""
        plain = fields(found, "latent", *LATENT)
        width = len(self.encoder[-1].bias.values)
        z, lower, upper = (
            [Fraction(v) for v in numbers(plain.get(key), key, width)] for key in ("z", "lower", "upper")
        )
        radius = Fraction(number(plain.get("radius"), "the radius"))
        own = forward(self.encoder, point)
        for j in range(width):
            if not lower[j] <= own[j] <= upper[j]:
                raise Rejected(f"the box does not hold the person's own latent in coordinate {j}")
            if not max(upper[j] - z[j], z[j] - lower[j]) <= radius:
                raise Rejected(f"the radius does not cover coordinate {j}")
        needed = [
            Needed({j: s}, s_end, False) for j in range(width) for s, s_end in ((1.0, upper[j]), (-1.0, -lower[j]))
        ]
        return _shown(self.encoder, cells, needed, plain)

    def _verdict(self, found: object, latent: object, x: Person, cells: list[Cell], point: list[float]) -> str:
        """The decision is the same for everybody, or the other individual is similar and decided otherwise."""
        plain = fields(found, "a decision", "verdict", "prediction", "on", "proofs", "trusted", "other")
        if self.rule is None or self.model is None:
            raise Rejected("there is no model to decide")
        word = plain.get("verdict")
        if word == "undecided":
            return "none"
        # On the ball or box the decision is the model's on the stored z; from end to end it is that of h(f(x)).
        modular = word == "certified" and _on(plain) != "whole"
        around = _around(latent, _on(plain), len(self.model[0].columns)) if modular else None
        own = forward(self.model, _center(latent)) if modular else forward(self.whole, point)
        prediction = plain.get("prediction")
        self.rule.confirm(own, prediction)
        if word == "counterexample":
            other = read_person(plain.get("other"), self.formula.attributes)
            if not self.formula.holds(x, other):
                raise Rejected("the other individual is not similar")
            self.rule.confirm_other(own, prediction, forward(self.whole, encode(other, self.formula.attributes)))
            return "confirmed"
        if word != "certified":
            raise Rejected(f"there is no verdict {word}")
        needed = self.rule.needed(own, prediction)
        if around is None:
            return _shown(self.whole, cells, needed, plain)
        return _shown(self.model, [around], needed, plain)


def _on(plain: dict[str, object]) -> str:
    return str(plain.get("on"))


def _center(found: object) -> list[float]:
    """z; it was read before, with its width."""
    return [number(value, "z") for value in items(fields(found, "latent", *LATENT).get("z"), "z")]


def _around(found: object, shape: str, width: int) -> Cell:
    """The ball or the box of a latent, outward to floats, as a cell of the model."""
    plain = fields(found, "latent", *LATENT)
    z = [Fraction(value) for value in numbers(plain.get("z"), "z", width)]
    if shape == "box":
        lower, upper = (numbers(plain.get(key), key, width) for key in ("lower", "upper"))
    elif shape == "ball":
        radius = Fraction(number(plain.get("radius"), "the radius"))
        lower, upper = [-up(radius - value) for value in z], [up(value + radius) for value in z]
    else:
        raise Rejected(f"a verdict is about whole, ball or box, not {shape}")
    return Cell(range(width), lower, upper)


def _shown(network: Network, cells: list[Cell], needed: Sequence[Needed], plain: dict[str, object]) -> str:
    """Every cell must show everything that is needed; any proof of the person may help, its own comes first."""
    proofs = items(plain.get("proofs", []), "proofs")
    for place, cell in enumerate(cells):
        open_, reason = list(needed), "nothing is claimed that is strong enough"
        for proof in [*proofs[place : place + 1], *proofs[:place], *proofs[place + 1 :]]:
            try:
                findings = examine(network, cell, proof)
            except Rejected as rejected:
                reason = str(rejected)
                continue
            reason = next((f.reason for f in findings if f.reason), reason)
            open_ = [] if _empty(findings) else [need for need in open_ if not _follows(findings, need)]
            if not open_:
                break
        if open_:
            if isinstance(plain.get("trusted"), str):
                return "trusted"
            raise Rejected(f"cell {place} is not shown in direction {open_[0].direction}: {reason}")
    return "confirmed"


def _empty(findings: list[Finding]) -> bool:
    return any(not f.reason and not f.direction and f.upper < 0 for f in findings)


def _follows(findings: list[Finding], need: Needed) -> bool:
    shown = [Fraction(f.upper) for f in findings if not f.reason and f.direction == need.direction]
    return any(upper < need.limit or (upper == need.limit and not need.strict) for upper in shown)


class Rule:
    """What must agree: the sign of one output; the group of the largest output; every output within a tolerance."""

    def __init__(self, found: object, outputs: int) -> None:
        plain = fields(found, "the rule of decision", "kind", "groups", "tolerance")
        self.kind, self.outputs = plain.get("kind"), outputs
        self.groups: list[list[int]] = []
        self.tolerance = Fraction(0)
        if self.kind == "class" and outputs > 1:
            groups = [items(group, "a group") for group in items(plain.get("groups"), "groups")]
            self.groups = [[position(c, "a class", outputs) for c in group] for group in groups]
            if sorted(c for group in self.groups for c in group) != list(range(outputs)):
                raise Rejected("the groups do not hold every class exactly once")
        elif self.kind == "within":
            self.tolerance = Fraction(number(plain.get("tolerance"), "the tolerance"))
            if self.tolerance < 0:
                raise Rejected("the tolerance is negative")
        elif self.kind != "sign" or outputs != 1:
            raise Rejected(f"there is no rule of decision {self.kind} for {outputs} outputs")

    def _against(self, own: list[Fraction], prediction: int) -> list[tuple[Direction, Fraction]]:
        """Directions that must stay below a limit for the decision to be the same."""
        if self.kind == "within":
            return [({j: s}, Fraction(s) * own[j] + self.tolerance) for j in range(self.outputs) for s in (1.0, -1.0)]
        if self.kind == "sign":
            return [({0: -1.0 if prediction else 1.0}, Fraction(0))]
        home = next(group for group in self.groups if prediction in group)
        return [({c: 1.0, prediction: -1.0}, Fraction(0)) for c in range(self.outputs) if c not in home]

    def confirm(self, own: list[Fraction], found: object) -> None:
        """The person's own decision is the one named, strictly."""
        if self.kind == "within":
            return
        prediction = position(found, "the prediction", max(self.outputs, 2))
        if not all(_at(direction, own) < limit for direction, limit in self._against(own, prediction)):
            raise Rejected("the person's own decision is not the one that is claimed")

    def needed(self, own: list[Fraction], found: object) -> list[Needed]:
        """What a certificate must show."""
        prediction = 0 if self.kind == "within" else position(found, "the prediction", max(self.outputs, 2))
        return [Needed(direction, limit, True) for direction, limit in self._against(own, prediction)]

    def confirm_other(self, own: list[Fraction], found: object, other: list[Fraction]) -> None:
        """The other's decision differs strictly."""
        if self.kind == "class":
            home = next(group for group in self.groups if found in group)
            outside = [other[c] for c in range(self.outputs) if c not in home]
            differs = bool(outside) and max(outside) > max(other[c] for c in home)
        else:
            against = self._against(own, found if type(found) is int else 0)
            differs = any(_at(direction, other) > limit for direction, limit in against)
        if not differs:
            raise Rejected("the other individual is decided alike")


def _at(direction: Direction, outputs: list[Fraction]) -> Fraction:
    return sum((Fraction(c) * outputs[j] for j, c in direction.items()), Fraction(0))


def forward(network: Network, point: Sequence[float]) -> list[Fraction]:
    """The outputs at a point, exactly."""
    value = exact(point)
    for place, layer in enumerate(network):
        if place:
            value = Vector([max(v, 0) for v in value.values], value.shift)
        rows = zip(*layer.columns, strict=True)
        value = Vector([dot(row, value.values) for row in rows], layer.shift + value.shift) + layer.bias
    return [Fraction(v, 1 << value.shift) for v in value.values]


def compose(encoder: Network, model: Network) -> Network:
    """model ∘ encoder, exactly: the last layer of the one and the first of the other are affine, so they are one."""
    last, first = encoder[-1], model[0]
    if len(last.bias.values) != len(first.columns):
        raise Rejected(f"the encoder gives {len(last.bias.values)} numbers, the model takes {len(first.columns)}")
    rows = list(zip(*first.columns, strict=True))
    columns = [[dot(row, column) for row in rows] for column in last.columns]
    bias = Vector([dot(row, last.bias.values) for row in rows], first.shift + last.bias.shift) + first.bias
    return (*encoder[:-1], _layer(columns, first.shift + last.shift, bias), *model[1:])
