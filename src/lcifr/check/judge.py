"""One person of an audit bundle: everything that is claimed of them, confirmed or not confirmed with the reason."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from lcifr.check.exact import Rejected, ensure, number, numbers, printable, reading, up
from lcifr.check.limits import OUTPUTS, STEPS, at_most, counted, spend
from lcifr.check.network import Network, compose, forward, rounding
from lcifr.check.proof import Bounds, Problem, RationalCell, examine, follows
from lcifr.check.rule import DecisionRule, beyond
from lcifr.check.similar import Formula, derive
from lcifr.check.table import Person

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

    def add(self, name: str, claims: Mapping[str, Any], kinds: list[str]) -> None:
        """One more person of whom these claims are confirmed."""
        for kind in (*claims, *kinds):
            self.names[kind].append(name)
        for kind, claim in claims.items():
            what = f"{kind} (universe: {claim['universe']}, arithmetic: {claim['arithmetic']})"
            self.confirmed[what] = self.confirmed.get(what, 0) + 1

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
    parts: list[Network]
    sd: float

    def off(self, groups: Any, arithmetic: list[str]) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, on a cell of these groups."""
        if arithmetic[-1] == "exact":
            return [Fraction(0)] * (len(self.network[-1].rows) - 1)
        return rounding(zip(self.parts, arithmetic, strict=True), groups, self.sd)

    def at(self, point: Any, arithmetic: list[str]) -> tuple[list[Fraction], list[Fraction]]:
        """The exact outputs at a point, and how far a machine's are from them at most."""
        return forward(self.network, point), self.off(point, arithmetic)


class Judge:
    """Judges people against one formula, encoder and, where decisions are claimed, model and rule of decision."""

    def __init__(self, formula: Formula, encoder: Network, model: Network | None, rule: Any) -> None:
        self.table, self.steps = formula.table, STEPS
        self.formulas = {"whole": formula, "reals": Formula(formula.tree, formula.table.reals())}
        width, takes = self.table.width, len(encoder[0].columns) - 1
        ensure(width == takes, f"people have {width} features, the encoder takes {takes}")
        sd = min((about.sd for about in self.table.numbers.values()), default=1.0)
        self.encoder = self.whole = self.model = Deployed(encoder, [encoder], sd)
        if model is not None:
            self.model = Deployed(model, [model], 1.0)
            self.whole = Deployed(compose(encoder, model), [encoder, model], sd)
        outputs = len(self.whole.network[-1].rows) - 1
        at_most(OUTPUTS, outputs, "outputs of a network")
        self.rule = None if model is None else DecisionRule(rule, outputs)

    def judge(self, line: Any, report: CheckReport) -> None:
        """Add one line of the bundle to the report: a person of whom all that is claimed is confirmed, or not."""
        name, latent, decision = str(line["id"]), line.get("latent"), line.get("decision")
        report.people += 1
        try:
            with counted(self.steps), reading("what is said of them"):
                x, claims = self.table.person(line["x"]), self._claims(latent, decision)
                universes = dict.fromkeys(claim["universe"] for claim in claims.values())
                cells = {universe: derive(self.formulas[universe], x) for universe in universes}
                for kind, claim in claims.items():
                    confirm = self._radius if kind == "radius" else self._verdict
                    confirm(claim, claims.get("radius"), x, cells[claim["universe"]])
        except Rejected as rejected:
            report.rejected[name] = str(rejected)
            return
        nobody, verdict = [k for k, claim in claims.items() if not cells[claim["universe"]]], claims.keys() - {"radius"}
        also = {
            "vacuous_radius": "radius" in nobody,
            "vacuous": "certified" in nobody,
            "unproved": latent is not None and "radius" not in claims,
            "undecided": decision is not None and not verdict,
            "unclaimed": not (claims if self.rule is None else verdict),
        }
        report.add(name, claims, [kind for kind, so in also.items() if so])

    def _claims(self, latent: Any, decision: Any) -> dict[str, Any]:
        """What is claimed of somebody, by its kind: a radius without proofs is said and not claimed."""
        claims = {"radius": latent} if latent is not None and "proofs" in latent else {}
        word = "undecided" if decision is None else decision["verdict"]
        known = word == "undecided" or (self.rule is not None and word in ("certified", "counterexample"))
        ensure(known, f"there is no model to decide, or no verdict {word!s:.60}")
        return claims if word == "undecided" else {**claims, word: decision}

    def _radius(self, latent: Any, _: Any, x: Person, cells: list[RationalCell]) -> None:
        """The box holds f(x′) for every similar x′ and for x itself, and the ball around z holds the box."""
        own, off = self.encoder.at(self.table.point(x), [latent["arithmetic"]])
        z, lower, upper = ([Fraction(v) for v in numbers(latent[key], len(own))] for key in ("z", "lower", "upper"))
        limits: Bounds = {((j, 1.0),): end for j, end in enumerate(upper)}
        limits |= {((j, -1.0),): -end for j, end in enumerate(lower)}
        radius = [Fraction(number(latent["radius"]))] * len(z)
        right = max(beyond(limits, own, off)) <= 0 <= min(beyond(limits, z, radius))
        ensure(right, "the person is not in the box, or the box not in the radius around z")
        self._shown("radius", self.encoder, [latent["arithmetic"]], cells, limits, latent["proofs"])

    def _verdict(self, decision: Any, latent: Any, x: Person, cells: list[RationalCell]) -> None:
        """The decision is the same for everybody, or the other individual is similar and decided otherwise."""
        assert self.rule is not None
        function, prediction, arithmetic = self.whole, decision.get("prediction"), [decision["arithmetic"]] * 2
        around = decision["verdict"] == "certified" and decision["on"] != "whole"
        if around:
            same = latent is not None and latent["universe"] == decision["universe"]
            ensure(same, "the verdict rests on a radius that is not claimed, or is claimed of another universe")
            if decision["arithmetic"] != "exact":
                ensure(latent["arithmetic"] != "exact", "the radius is exact: a machine's f(x) may be outside")
                arithmetic[0] = latent["arithmetic"]
        own, off = decided = self.whole.at(self.table.point(x), arithmetic)
        limits = self.rule.limits(own, off, prediction)
        if around:  # the model decides on the stored z; it need not be f(x)
            z = numbers(latent["z"], len(self.model.network[0].columns) - 1)
            function, arithmetic, cells = self.model, arithmetic[1:], [_around(latent, decision["on"], z)]
            decided = function.at([[corner] for corner in enumerate(z)], arithmetic)
        sure = all(value < 0 for value in beyond(limits, *decided)) or (self.rule.within and not around)
        ensure(sure, "the person's own decision is not the one that is claimed")
        if decision["verdict"] == "certified":
            self._shown("verdict", function, arithmetic, cells, limits, decision["proofs"])
            return
        other = self.table.person(decision["other"])
        ensure(self.formulas[decision["universe"]].holds(x, other), "the other individual is not similar")
        outputs, wrong = self.whole.at(self.table.point(other), arithmetic)
        off, wrong = ([-error for error in errors] for errors in (off, wrong))  # beyond by more than all errors
        ahead = (beyond(self.rule.limits(own, off, c), outputs, wrong) for c in self.rule.alike(prediction))
        ensure(all(any(value > 0 for value in one) for one in ahead), "the other individual is decided alike")

    def _shown(self, what: str, function: Deployed, arithmetic: Any, cells: Any, limits: Bounds, proofs: Any) -> None:
        """Every cell must stay within every limit; any proof of the claim may help, that of the same place first."""
        for place, cell in enumerate(cells):
            off = function.off(cell.groups.values(), arithmetic)
            open_ = {direction: k - sum(off[j] for j, _ in direction) for direction, k in limits.items()}
            problem, reason = Problem(function.network, cell), "nothing is shown that is strong enough"
            for proof in [*proofs[place:], *proofs[:place]]:
                spend(50 + 50 * len(open_))
                try:
                    found = examine(problem, proof)
                    open_ = {need: k for need, k in open_.items() if not follows(found, need, k, what == "verdict")}
                except Rejected as rejected:
                    reason = str(rejected)
                if not open_:
                    break
            ensure(not open_, f"{what}: cell {place} is not shown in direction {next(iter(open_), ())}: {reason}")


def _around(latent: Any, shape: str, z: list[float]) -> RationalCell:
    """The ball or the box of a latent, outward to floats, as a cell of the model."""
    box = [numbers(latent[key], len(z)) for key in ("lower", "upper")]
    radius = Fraction(number(latent["radius"]))
    ball = [[-up(radius - Fraction(v)) for v in z], [up(Fraction(v) + radius) for v in z]]
    lower, upper = {"ball": ball, "box": box}[shape]
    return RationalCell({("numeric", j): [(j, lower[j]), (j, upper[j])] for j in range(len(z))})
