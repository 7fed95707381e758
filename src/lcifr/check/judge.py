"""One person of an audit bundle: everything that is claimed of them, confirmed or not confirmed with the reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lcifr.check.exact import Rejected, Vector, dot, exact, items, number, numbers, position, printable, reading, up
from lcifr.check.limits import OUTPUTS, STEPS, UNCOUNTED, Work, at_most
from lcifr.check.proof import Bounds, Cell, Layer, Network, Problem, examine, follows
from lcifr.check.similar import Formula, Person, derive

KINDS = ("radius", "certified", "vacuous", "counterexample", "undecided", "unclaimed", "unproved")
CONFIRMED = "  {radius} radii; {certified} CERTIFIED; {counterexample} COUNTEREXAMPLE; nobody is similar to {vacuous}"
OPEN = "  nothing is claimed of {unclaimed}, {undecided} of them UNDECIDED; radii without a proof: {unproved}"


@dataclass
class Report:
    """Who belongs to which of the kinds, who is rejected and why; about which files and rule of decision."""

    decision: Any = None
    hashes: dict[str, str] = field(default_factory=dict)
    people: int = 0
    names: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    rejected: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 all that is claimed is confirmed, 1 something is not."""
        return 1 if self.rejected else 0

    @property
    def strict_exit_code(self) -> int:
        """The same, but 4 where all that is claimed is confirmed, and nothing is claimed of a person or a radius."""
        return self.exit_code or (4 if self.names["unclaimed"] or self.names["unproved"] else 0)

    def lines(self) -> list[str]:
        """For people to read."""
        count = {kind: len(names) for kind, names in self.names.items()}
        sure = self.people - len(self.rejected)
        return [
            f"{sure} of {self.people} people: everything that is claimed of them is confirmed in exact arithmetic",
            *(said.format(**count) for said in (CONFIRMED, OPEN)),
            *([f"  what must agree: {json.dumps(self.decision)}"] if self.decision is not None else []),
            *(f"  {what} {value}" for what, value in self.hashes.items()),
            *(f"NOT confirmed: {printable(name)}: {reason}" for name, reason in self.rejected.items()),
        ]


class Judge:
    """Judges people against one formula, encoder and, where decisions are claimed, model and rule of decision."""

    def __init__(self, formula: Formula, encoder: Network, model: Network | None, rule: Any) -> None:
        self.formula, self.table, self.encoder, self.model = formula, formula.table, encoder, model
        self.steps, self.work = STEPS, Work(STEPS)
        if self.table.width != len(encoder[0].rows[0]) - 1:
            raise Rejected(f"people have {self.table.width} features, the encoder takes {len(encoder[0].rows[0]) - 1}")
        self.work.spend(0 if model is None else len(model[0].rows) * encoder[-1].cost(model[0].bits))
        self.whole = encoder if model is None else compose(encoder, model)
        at_most(OUTPUTS, len(self.whole[-1].rows), "outputs of a network")
        self.rule = None if model is None else Rule(rule, len(self.whole[-1].rows) - 1)

    def judge(self, line: Any, report: Report) -> None:
        """Add one line of the bundle to the report: a person of whom all that is claimed is confirmed, or not."""
        name, latent, decision = str(line["id"]), line.get("latent"), line.get("decision")
        report.people += 1
        self.work = self.formula.work = Work(self.steps)
        try:
            with reading("what is said of them"):
                x = self.table.person(line["x"])
                cells = derive(self.formula, x)
                radius = latent is not None and "proofs" in latent  # without proofs it is said, and not claimed
                if radius:
                    self._radius(latent, x, cells)
                word = "" if decision is None else self._verdict(decision, latent if radius else None, x, cells)
        except Rejected as rejected:
            report.rejected[name] = str(rejected)
            return
        found = {"radius": radius, "unproved": latent is not None and not radius, word: True}
        found["vacuous"] = not cells and (radius or word == "certified")
        found["unclaimed"] = not radius if self.rule is None else word in ("", "undecided")
        for kind, names in report.names.items():
            names += [name] if found.get(kind) else []

    def _radius(self, latent: Any, x: Person, cells: list[Cell]) -> None:
        """The box holds f(x′) for every similar x′ and for x itself, and the ball around z holds the box."""
        own = forward(self.encoder, self.table.features(x), self.work)
        z, lower, upper = ([Fraction(v) for v in numbers(latent[key], len(own))] for key in ("z", "lower", "upper"))
        radius = Fraction(number(latent["radius"]))
        for j, value in enumerate(own):
            if not (lower[j] <= value <= upper[j] and upper[j] - radius <= z[j] <= lower[j] + radius):
                raise Rejected(f"coordinate {j}: the person is not in the box, or the box not in the radius around z")
        limits: Bounds = {((j, 1.0),): end for j, end in enumerate(upper)}
        limits |= {((j, -1.0),): -end for j, end in enumerate(lower)}
        self._shown("radius", self.encoder, cells, limits, latent["proofs"])

    def _verdict(self, decision: Any, latent: Any, x: Person, cells: list[Cell]) -> str:
        """The decision is the same for everybody, or the other individual is similar and decided otherwise."""
        word, prediction = decision["verdict"], decision.get("prediction")
        if self.rule is None or self.model is None or word not in ("certified", "counterexample", "undecided"):
            raise Rejected(f"there is no model to decide, or no verdict {word!s:.60}")
        if word == "undecided":
            return str(word)
        network, own = self.whole, forward(self.whole, self.table.features(x), self.work)
        limits, decided = self.rule.limits(own, prediction), own
        if word == "certified" and decision["on"] != "whole":  # the model decides on the stored z; it need not be f(x)
            if latent is None:
                raise Rejected("the verdict rests on a radius that is not claimed")
            network, z = self.model, numbers(latent["z"], len(self.model[0].columns) - 1)
            cells, decided = [_around(latent, decision["on"], z)], forward(network, z, self.work)
        if (decided is not own or not self.rule.within) and any(value >= 0 for value in beyond(limits, decided)):
            raise Rejected("the person's own decision is not the one that is claimed")
        if word == "certified":
            self._shown("verdict", network, cells, limits, decision["proofs"])
            return "certified"
        other = self.table.person(decision["other"])
        if not self.formula.holds(x, other):
            raise Rejected("the other individual is not similar")
        outputs = forward(self.whole, self.table.features(other), self.work)
        ahead = (beyond(self.rule.limits(own, c), outputs) for c in self.rule.alike(prediction))
        if not all(any(value > 0 for value in one) for one in ahead):
            raise Rejected("the other individual is decided alike")
        return "counterexample"

    def _shown(self, what: str, network: Network, cells: list[Cell], limits: Bounds, proofs: Any) -> None:
        """Every cell must stay within every limit; any proof of the claim may help, that of the same place first."""
        for place, cell in enumerate(cells):
            problem, open_ = Problem(network, cell, self.work), dict(limits)
            reason = "nothing is shown that is strong enough"
            for proof in [*proofs[place:], *proofs[:place]]:
                self.work.spend(50 + 50 * len(open_))
                try:
                    found = examine(problem, proof)
                    open_ = {need: k for need, k in open_.items() if not follows(found, need, k, what == "verdict")}
                except Rejected as rejected:
                    reason = str(rejected)
                if not open_:
                    break
            if open_:
                raise Rejected(f"{what}: cell {place} is not shown in direction {next(iter(open_))}: {reason}")


def _around(latent: Any, shape: str, z: list[float]) -> Cell:
    """The ball or the box of a latent, outward to floats, as a cell of the model."""
    box = [numbers(latent[key], len(z)) for key in ("lower", "upper")]
    radius = Fraction(number(latent["radius"]))
    ball = [[-up(radius - Fraction(v)) for v in z], [up(Fraction(v) + radius) for v in z]]
    lower, upper = {"ball": ball, "box": box}[shape]
    return Cell({("numeric", j): [(j, lower[j]), (j, upper[j])] for j in range(len(z))})


class Rule:
    """What must agree: the class by the sign of one output; the group of the largest output; or every output, nearly.

    Classes have scores, the largest of which decides. For a sign they are 0 and the output, else the outputs.
    """

    def __init__(self, found: Any, outputs: int) -> None:
        with reading("the rule of decision"):
            self.within, self.sign = found["kind"] == "within", int(found["kind"] == "sign")
            self.tolerance = Fraction(number(found["tolerance"])) if self.within else Fraction(0)
            self.groups = {"sign": [[0], [1]], "class": found.get("groups"), "within": []}[found["kind"]]
            self.classes = sorted(position(c, outputs + 1) for group in self.groups for c in items(group))
            if set(found) != {"kind", *{"sign": (), "class": ("groups",), "within": ("tolerance",)}[found["kind"]]}:
                raise Rejected("the rule says more than its kind has, or less")
            if self.tolerance < 0 or not (self.within or self.classes == [*range(outputs + self.sign)] > [0]):
                raise Rejected("a tolerance is negative, or the groups do not hold every class exactly once")

    def alike(self, prediction: Any) -> list[Any]:
        """The classes that count as this one."""
        known = (group for group in self.groups if position(prediction, len(self.classes)) in group)
        return [prediction] if self.within else next(known)

    def limits(self, own: list[Fraction], prediction: Any) -> Bounds:
        """Where every one of these stays below its limit, the decision is the person's own."""
        if self.within:
            return {((j, s),): int(s) * value + self.tolerance for j, value in enumerate(own) for s in (1.0, -1.0)}
        alike = frozenset(self.alike(prediction))
        others = [c for c in self.classes if c not in alike]
        pairs = (sorted(((c - self.sign, 1.0), (prediction - self.sign, -1.0))) for c in others)
        return {tuple((output, s) for output, s in pair if output >= 0): Fraction(0) for pair in pairs}


def beyond(limits: Bounds, outputs: list[Fraction]) -> list[Fraction]:
    """By how much the outputs are beyond each of the limits."""
    return [sum(int(s) * outputs[j] for j, s in direction) - limit for direction, limit in limits.items()]


def forward(network: Network, point: Sequence[float], work: Work = UNCOUNTED) -> list[Fraction]:
    """The outputs at a point, exactly."""
    value = exact([*point, 1.0])
    for place, layer in enumerate(network):
        work.spend(layer.cost(value.bits) + len(layer.rows) * ((value.bits + layer.bits) ** 2 >> 16))
        values = [max(v, 0) for v in value.values] if place else value.values
        value = Vector([dot(row, values) for row in layer.rows], layer.shift + value.shift)
    return [Fraction(output, 1 << value.shift) for output in value.values[:-1]]


def compose(encoder: Network, model: Network) -> Network:
    """model ∘ encoder, exactly: the last layer of the one and the first of the other are affine, so they are one."""
    last, first = encoder[-1], model[0]
    if len(last.rows) != len(first.columns):
        raise Rejected(f"the encoder gives {len(last.rows) - 1} numbers, the model takes {len(first.columns) - 1}")
    rows = [[dot(row, column) for column in last.columns] for row in first.rows]
    return (*encoder[:-1], Layer(rows, first.shift + last.shift), *model[1:])
