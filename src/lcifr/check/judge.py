"""One person of an audit bundle: everything that is claimed of them, confirmed or not confirmed with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from lcifr.check.exact import Rejected, Vector, dot, exact, number, numbers, printable, reading, up
from lcifr.check.limits import OUTPUTS, STEPS, UNCOUNTED, StepCounter, at_most
from lcifr.check.proof import Bounds, IntegerLayer, Network, Problem, RationalCell, examine, follows
from lcifr.check.rounding import rounding
from lcifr.check.rule import DecisionRule, beyond
from lcifr.check.similar import Formula, Person, derive

KINDS = ("radius", "vacuous_radius", "unproved", "certified", "vacuous", "counterexample", "undecided", "unclaimed")
OPEN = "  nothing is claimed of {unclaimed}, {undecided} of them UNDECIDED; radii without a proof: {unproved}"


@dataclass
class CheckReport:
    """Who belongs to which of the kinds, how many claims are confirmed, who is rejected and why; about which files."""

    decision: Any = None
    hashes: dict[str, str] = field(default_factory=dict)
    people: int = 0
    names: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    confirmed: dict[str, int] = field(default_factory=dict)
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
        sure = self.people - len(self.rejected)
        return [
            f"{sure} of {self.people} people: everything that is claimed of them is confirmed, by exact arithmetic",
            *(f"  {count} × {what}" for what, count in self.confirmed.items()),
            OPEN.format(**{kind: len(names) for kind, names in self.names.items()}),
            *([f"  what must agree: {json.dumps(self.decision)}"] if self.decision is not None else []),
            *(f"  {what} {value}" for what, value in self.hashes.items()),
            *(f"NOT confirmed: {printable(name)}: {reason}" for name, reason in self.rejected.items()),
        ]


class Deployed(NamedTuple):
    """A network for proofs, exactly; its parts as a machine computes them in turn; the least sd before the first."""

    network: Network
    parts: Sequence[Network]
    sd: float

    def off(self, groups: Iterable[Any], arithmetic: Sequence[str], work: StepCounter) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, on a cell with these groups of corners."""
        if arithmetic[-1] == "exact":
            return [Fraction(0)] * (len(self.network[-1].rows) - 1)
        return rounding(zip(self.parts, arithmetic, strict=True), groups, self.sd, work)

    def at(self, point: Mapping[int, float], arithmetic: Sequence[str], work: StepCounter) -> list[list[Fraction]]:
        """The exact outputs at a point, and how far a machine's are from them at most."""
        return [forward(self.network, point, work), self.off([[one] for one in point.items()], arithmetic, work)]


class Judge:
    """Judges people against one formula, encoder and, where decisions are claimed, model and rule of decision."""

    def __init__(self, formula: Formula, encoder: Network, model: Network | None, rule: Any) -> None:
        self.table, self.steps, self.work = formula.table, STEPS, StepCounter(STEPS)
        self.formulas = {"whole": formula, "reals": Formula(formula.tree, formula.table.reals())}
        if self.table.width != len(encoder[0].rows[0]) - 1:
            raise Rejected(f"people have {self.table.width} features, the encoder takes {len(encoder[0].rows[0]) - 1}")
        sd = min((about.sd for about in self.table.numbers.values()), default=1.0)
        self.encoder = self.whole = self.model = Deployed(encoder, [encoder], sd)
        if model is not None:
            self.work.spend(len(model[0].rows) * encoder[-1].cost(model[0].bits))
            self.model, self.whole = (
                Deployed(model, [model], 1.0),
                Deployed(compose(encoder, model), [encoder, model], sd),
            )
        outputs = len(self.whole.network[-1].rows) - 1
        at_most(OUTPUTS, outputs, "outputs of a network")
        self.rule = None if model is None else DecisionRule(rule, outputs)

    def judge(self, line: Any, report: CheckReport) -> None:
        """Add one line of the bundle to the report: a person of whom all that is claimed is confirmed, or not."""
        name, latent, decision = str(line["id"]), line.get("latent"), line.get("decision")
        report.people += 1
        self.work = StepCounter(self.steps)
        try:
            with reading("what is said of them"):
                x, claims = self.table.person(line["x"]), self._claims(latent, decision)
                universes = dict.fromkeys(claim["universe"] for claim in claims.values())
                cells = {universe: derive(self.formulas[universe], x, self.work) for universe in universes}
                for kind, claim in claims.items():
                    confirm = self._radius if kind == "radius" else self._verdict
                    confirm(claim, claims.get("radius"), x, cells[claim["universe"]])
        except Rejected as rejected:
            report.rejected[name] = str(rejected)
            return
        for kind, claim in claims.items():
            what = f"{kind} (universe: {claim['universe']}, arithmetic: {claim['arithmetic']})"
            report.confirmed[what] = report.confirmed.get(what, 0) + 1
        nobody, verdict = [k for k, claim in claims.items() if not cells[claim["universe"]]], claims.keys() - {"radius"}
        also = {
            "vacuous_radius": "radius" in nobody,
            "vacuous": "certified" in nobody,
            "unproved": latent is not None and "radius" not in claims,
            "undecided": decision is not None and not verdict,
            "unclaimed": not (claims if self.rule is None else verdict),
        }
        for kind in (*claims, *(kind for kind, so in also.items() if so)):
            report.names[kind].append(name)

    def _claims(self, latent: Any, decision: Any) -> dict[str, Any]:
        """What is claimed of somebody, by its kind: a radius without proofs is said and not claimed."""
        claims = {"radius": latent} if latent is not None and "proofs" in latent else {}
        if decision is None or (word := decision["verdict"]) == "undecided":
            return claims
        if self.rule is None or word not in ("certified", "counterexample"):
            raise Rejected(f"there is no model to decide, or no verdict {word!s:.60}")
        return {**claims, word: decision}

    def _radius(self, latent: Any, _: Any, x: Person, cells: list[RationalCell]) -> None:
        """The box holds f(x′) for every similar x′ and for x itself, and the ball around z holds the box."""
        own, off = self.encoder.at(self.table.point(x), [latent["arithmetic"]], self.work)
        z, lower, upper = ([Fraction(v) for v in numbers(latent[key], len(own))] for key in ("z", "lower", "upper"))
        limits: Bounds = {
            ((j, s),): int(s) * v for s, ends in ((1.0, upper), (-1.0, lower)) for j, v in enumerate(ends)
        }
        ball = {direction: limit - Fraction(number(latent["radius"])) for direction, limit in limits.items()}
        if max(beyond(limits, own, off)) > 0 or min(beyond(ball, z, [Fraction(0)] * len(z))) < 0:
            raise Rejected("the person is not in the box, or the box not in the radius around z")
        self._shown("radius", self.encoder, [latent["arithmetic"]], cells, limits, latent["proofs"])

    def _verdict(self, decision: Any, latent: Any, x: Person, cells: list[RationalCell]) -> None:
        """The decision is the same for everybody, or the other individual is similar and decided otherwise."""
        assert self.rule is not None
        function, prediction, arithmetic = self.whole, decision.get("prediction"), [decision["arithmetic"]] * 2
        around = decision["verdict"] == "certified" and decision["on"] != "whole"
        if around:
            if latent is None or latent["universe"] != decision["universe"]:
                raise Rejected("the verdict rests on a radius that is not claimed, or is claimed of another universe")
            if latent["arithmetic"] == "exact" != decision["arithmetic"]:
                raise Rejected("the radius is about exact arithmetic: a machine's f(x) may be outside")
            arithmetic[0] = latent["arithmetic"]
        own, off = decided = self.whole.at(self.table.point(x), arithmetic, self.work)
        limits = self.rule.limits(own, off, prediction)
        if around:  # the model decides on the stored z; it need not be f(x)
            z = numbers(latent["z"], len(self.model.network[0].columns) - 1)
            function, arithmetic, cells = self.model, arithmetic[1:], [_around(latent, decision["on"], z)]
            decided = function.at(dict(enumerate(z)), arithmetic, self.work)
        if (around or not self.rule.within) and any(value >= 0 for value in beyond(limits, *decided)):
            raise Rejected("the person's own decision is not the one that is claimed")
        if decision["verdict"] == "certified":
            self._shown("verdict", function, arithmetic, cells, limits, decision["proofs"])
            return
        other = self.table.person(decision["other"])
        if not self.formulas[decision["universe"]].holds(x, other):
            raise Rejected("the other individual is not similar")
        outputs, wrong = self.whole.at(self.table.point(other), arithmetic, self.work)
        off, wrong = ([-error for error in errors] for errors in (off, wrong))  # beyond by more than all errors
        ahead = (beyond(self.rule.limits(own, off, c), outputs, wrong) for c in self.rule.alike(prediction))
        if not all(any(value > 0 for value in one) for one in ahead):
            raise Rejected("the other individual is decided alike")

    def _shown(
        self, what: str, function: Deployed, arithmetic: Any, cells: list[RationalCell], limits: Bounds, proofs: Any
    ) -> None:
        """Every cell must stay within every limit; any proof of the claim may help, that of the same place first."""
        for place, cell in enumerate(cells):
            off = function.off(cell.groups.values(), arithmetic, self.work)
            open_ = {direction: k - sum(off[j] for j, _ in direction) for direction, k in limits.items()}
            problem = Problem(function.network, cell, self.work)
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


def _around(latent: Any, shape: str, z: list[float]) -> RationalCell:
    """The ball or the box of a latent, outward to floats, as a cell of the model."""
    box = [numbers(latent[key], len(z)) for key in ("lower", "upper")]
    radius = Fraction(number(latent["radius"]))
    ball = [[-up(radius - Fraction(v)) for v in z], [up(Fraction(v) + radius) for v in z]]
    lower, upper = {"ball": ball, "box": box}[shape]
    return RationalCell({("numeric", j): [(j, lower[j]), (j, upper[j])] for j in range(len(z))})


def forward(network: Network, point: Mapping[int, float], work: StepCounter = UNCOUNTED) -> list[Fraction]:
    """The outputs at a point, exactly; columns that it does not name are 0."""
    value = exact([*(point.get(column, 0.0) for column in range(len(network[0].columns) - 1)), 1.0])
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
    return (*encoder[:-1], IntegerLayer(rows, first.shift + last.shift), *model[1:])
