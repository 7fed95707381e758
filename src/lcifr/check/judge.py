"""One person of an audit bundle: everything that is claimed of them, confirmed or not confirmed with the reason."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lcifr.check.exact import COUNTER, STEPS, Rejected, ensure, items, number, numbers, position, printable, reading, up
from lcifr.check.network import Groups, Network, compose, forward, read_factors, rounding
from lcifr.check.proof import Bounds, Problem, RationalCell, settle
from lcifr.check.similar import Formula, derive
from lcifr.check.table import Person
from lcifr.check.trees import TreesProblem, TreeSum

KINDS = ("radius", "vacuous_radius", "unproved", "certified", "vacuous", "counterexample", "undecided", "unclaimed")
OPEN = "  nothing is claimed of {unclaimed}, {undecided} of them UNDECIDED; radii without a proof: {unproved}"
KEYS = {"sign": {"kind", "band"}, "class": {"kind", "groups", "band"}, "within": {"kind", "tolerance"}}


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


class DecisionRule:
    """What must agree: the class by the sign of one output; the group of the largest output; or every output, nearly.

    Classes have scores, the largest of which decides. For a sign they are 0 and the output, else the outputs.
    """

    def __init__(self, found: Any, outputs: int) -> None:
        with reading("the rule of decision"):
            self.within, self.sign = found["kind"] == "within", int(found["kind"] == "sign")
            right = KEYS[found["kind"]] - {"band"} <= set(found) <= KEYS[found["kind"]]
            ensure(right, "the rule says more than its kind has, or less")
            self.band = [Fraction(end) for end in numbers(found.get("band", [0.0, 0.0]), 2)]
            self.tolerance = Fraction(number(found["tolerance"])) if self.within else Fraction(0)
            self.groups = [[0], [1]] if self.sign else found.get("groups", [])
            self.classes = sorted(position(c, outputs + 1) for group in self.groups for c in items(group))
            right = self.tolerance >= 0 if self.within else self.classes == [*range(outputs + self.sign)] > [0]
            right &= self.band[0] <= self.band[1] and (self.sign == 1 or self.band[0] == -self.band[1])
            ensure(right, "a tolerance is negative, a band is none, or the groups do not hold every class exactly once")

    def alike(self, prediction: Any) -> list[Any]:
        """The classes that count as this one."""
        known = (group for group in self.groups if position(prediction, len(self.classes)) in group)
        return [prediction] if self.within else next(known)

    def limits(self, own: list[Fraction], off: list[Fraction], prediction: Any, beyond: bool = False) -> Bounds:
        """Where every one of these stays below its limit, the decision is the person's own, which is off by so much.

        Or, beyond: where one of these is above its limit, the decision is another.
        """
        if self.within:
            room = [self.tolerance - error for error in off]
            return {((j, s),): int(s) * value + room[j] for j, value in enumerate(own) for s in (1.0, -1.0)}
        others = [c for c in self.classes if c not in self.alike(prediction)]
        pairs = (sorted(((c - self.sign, 1.0), (prediction - self.sign, -1.0))) for c in others)
        lower, upper = self.band[::-1] if beyond else self.band
        limit = -upper if prediction else lower  # of a rule for classes both are the same
        return {tuple((output, s) for output, s in pair if output >= 0): limit for pair in pairs}


def beyond(limits: Bounds, outputs: list[Fraction], off: list[Fraction]) -> list[Fraction]:
    """By how much outputs that are off by so much can be beyond each of the limits."""
    return [sum(int(s) * outputs[j] + off[j] for j, s in direction) - limit for direction, limit in limits.items()]


class FactorChain:
    """Networks in turn: as one for proofs, exactly, and as a machine computes them, each part in its arithmetic."""

    def __init__(self, parts: list[list[Network]], width: int, flushed: Callable[[], Fraction] = Fraction) -> None:
        self.network, self.parts, self.flushed = compose([one for part in parts for one in part], width), parts, flushed
        self.outputs = len(self.network[-1].rows) - 1

    def off(self, groups: Groups, arithmetic: list[str], before: Fraction = Fraction(0)) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, on a cell of these groups, off by so much before."""
        if arithmetic[-1] == "exact":
            return [Fraction(0)] * self.outputs
        chain = [(one, name) for part, name in zip(self.parts, arithmetic, strict=True) for one in part]
        return rounding(chain, groups.values(), self.flushed() + before)

    def at(self, point: Groups, arithmetic: list[str]) -> tuple[list[Fraction], list[Fraction]]:
        """The exact outputs at a point, and how far a machine's are from them at most."""
        return forward(self.network, point.values()), self.off(point, arithmetic)


class ScoreChain:
    """A model on the outputs of trees, which are stored numbers. Proofs are about the model, on the box of a cell."""

    def __init__(self, trees: TreeSum, model: FactorChain) -> None:
        self.trees, self.model, self.outputs = trees, model, model.outputs

    def at(self, point: Groups, arithmetic: list[str]) -> tuple[list[Fraction], list[Fraction]]:
        """The exact outputs at a point, and how far a machine's are from them at most."""
        z, off = self.trees.at(point, arithmetic[:1])
        ensure(all(float(v) == v for v in z), "the trees of an encoder give numbers that no float64 is")
        scores = {("numeric", j): [(j, float(v))] for j, v in enumerate(z)}
        return forward(self.model.network, scores.values()), self.model.off(scores, arithmetic[1:], max(off))

    def around(self, cell: RationalCell, arithmetic: list[str]) -> RationalCell:
        """The box of what a machine computes as the trees' outputs, rounded outward, as a cell of the model."""
        problem, off = TreesProblem(self.trees, cell), self.trees.off(cell.groups, arithmetic[:1])
        ends = ([up(problem.largest(problem.root, ((j, s),)) + e) for s in (-1.0, 1.0)] for j, e in enumerate(off))
        return RationalCell({("numeric", j): [(j, -low), (j, high)] for j, (low, high) in enumerate(ends)})


class Judge:
    """Judges people against one formula, encoder and, where decisions are claimed, model and rule of decision."""

    def __init__(self, formula: Formula, encoder: Any, model: Any, rule: Any) -> None:
        self.table, self.steps, kinds = (
            formula.table,
            STEPS,
            [isinstance(one, dict) and one["kind"] for one in (encoder, model)],
        )
        first = [] if kinds[0] == "trees" else read_factors(encoder)
        self.formulas = {"whole": formula, "reals": Formula(formula.tree, formula.table, whole=False)}
        about = self.table.width, self.table.flushed
        self.encoder: Any = (
            FactorChain([first], *about) if first else None
        )  # an encoder without factors is the identity
        if kinds[0] == "trees":
            self.encoder = TreeSum(encoder, self.table.width)
        if rule is not None and kinds[1] == "trees":
            ensure(self.encoder is None, "something stands between the encoding and the trees")
            self.whole: Any = TreeSum(model, self.table.width)
        elif rule is not None and kinds[0] == "trees":
            self.model: Any = FactorChain([read_factors(model)], self.encoder.outputs)
            self.whole = ScoreChain(self.encoder, self.model)
        elif rule is not None:
            second = read_factors(model)
            self.whole = FactorChain([first, second], *about)
            self.model = FactorChain([second], len(first[-1][-1].rows) - 1) if first else None
        self.rule = None if rule is None else DecisionRule(rule, self.whole.outputs)

    def judge(self, line: Any, report: CheckReport) -> None:
        """Add one line of the bundle to the report: a person of whom all that is claimed is confirmed, or not."""
        name, latent, decision = str(line["id"]), line.get("latent"), line.get("decision")
        report.people += 1
        COUNTER.most, COUNTER.done = self.steps, 0
        try:
            with reading("what is said of them"):
                x, nobody = self.table.person(line["x"]), []
                claims = {"radius": latent} if latent is not None and "proofs" in latent else {}
                word = "undecided" if decision is None else decision["verdict"]
                known = ("certified", "counterexample") if self.rule is not None else ()
                ensure(word in ("undecided", *known), f"there is no model to decide, or no verdict {word!s:.60}")
                claims |= {} if word == "undecided" else {word: decision}
                for kind, claim in claims.items():
                    cells = derive(self.formulas[claim["universe"]], x)
                    confirm = self._radius if kind == "radius" else self._verdict
                    confirm(claim, claims.get("radius"), x, cells)
                    nobody += [] if cells else [kind]
        except Rejected as rejected:
            report.rejected[name] = str(rejected)
            return
        finally:
            COUNTER.most = math.inf
        verdict = claims.keys() - {"radius"}
        kinds = [*claims, *("vacuous" if kind == "certified" else "vacuous_radius" for kind in nobody)]
        kinds += ["unproved"] if latent is not None and "radius" not in claims else []
        kinds += ["undecided"] if decision is not None and not verdict else []
        kinds += [] if (claims if self.rule is None else verdict) else ["unclaimed"]
        for kind in kinds:
            report.names[kind].append(name)
        for kind, claim in claims.items():
            what = f"{kind} (universe: {claim['universe']}, arithmetic: {claim['arithmetic']})"
            report.confirmed[what] = report.confirmed.get(what, 0) + 1

    def _radius(self, latent: Any, _: Any, x: Person, cells: list[RationalCell]) -> None:
        """The box holds f(x′) for every similar x′ and for x itself, and the ball around z holds the box."""
        own, off = self.encoder.at(self.table.point(x), arithmetic := [latent["arithmetic"]])
        z, lower, upper = ([Fraction(v) for v in numbers(latent[key], len(own))] for key in ("z", "lower", "upper"))
        ends = enumerate(zip(lower, upper, strict=True))
        limits: Bounds = {((j, s),): end for j, (low, high) in ends for s, end in ((1.0, high), (-1.0, -low))}
        radius = [Fraction(number(latent["radius"]))] * len(z)
        right = max(beyond(limits, own, off)) <= 0 <= min(beyond(limits, z, radius))
        ensure(right, "the person is not in the box, or the box not in the radius around z")
        self._shown("radius", self.encoder, arithmetic, cells, limits, latent["proofs"])

    def _verdict(self, decision: Any, latent: Any, x: Person, cells: list[RationalCell]) -> None:
        """The decision is the same for everybody, or the other individual is similar and decided otherwise."""
        assert self.rule is not None
        function, prediction, arithmetic = self.whole, decision.get("prediction"), [decision["arithmetic"]] * 2
        around = decision["verdict"] == "certified" and decision["on"] != "whole"
        if around:
            same = latent is not None and latent["universe"] == decision["universe"]
            ensure(same, "the verdict rests on a radius that is not claimed, or is claimed of another universe")
            arithmetic[0] = latent["arithmetic"]
            known = arithmetic[0] != "exact" or arithmetic[1] == "exact"
            ensure(known, "the radius is exact: a machine's f(x) may be outside")
        own, off = decided = self.whole.at(self.table.point(x), arithmetic)
        limits = self.rule.limits(own, off, prediction)
        if around:  # the model decides on the stored z; it need not be f(x)
            z = numbers(latent["z"], self.encoder.outputs)
            function, arithmetic, cells = self.model, arithmetic[1:], [_around(latent, decision["on"], z)]
            decided = function.at({("numeric", j): [(j, v)] for j, v in enumerate(z)}, arithmetic)
        sure = all(value < 0 for value in beyond(limits, *decided)) or (self.rule.within and not around)
        ensure(sure, "the person's own decision is not the one that is claimed")
        if decision["verdict"] == "certified":
            if isinstance(function, ScoreChain):
                boxes = [function.around(cell, arithmetic) for cell in cells]
                function, arithmetic, cells = self.model, arithmetic[1:], boxes
            self._shown("verdict", function, arithmetic, cells, limits, decision["proofs"])
            return
        other = self.table.person(decision["other"])
        ensure(self.formulas[decision["universe"]].holds(x, other), "the other individual is not similar")
        outputs, wrong = self.whole.at(self.table.point(other), arithmetic)
        off, wrong = ([-error for error in errors] for errors in (off, wrong))  # beyond by more than all errors
        ahead = (beyond(self.rule.limits(own, off, c, True), outputs, wrong) for c in self.rule.alike(prediction))
        ensure(all(any(value > 0 for value in one) for one in ahead), "the other individual is decided alike")

    def _shown(self, what: str, function: Any, arithmetic: Any, cells: Any, limits: Bounds, proofs: Any) -> None:
        """Every cell must stay within every limit; any proof of the claim may help, that of the same place first."""
        for place, cell in enumerate(cells):
            off = function.off(cell.groups, arithmetic)
            left = {direction: k - sum(off[j] for j, _ in direction) for direction, k in limits.items()}
            trees, reason = isinstance(function, TreeSum), "nothing is shown that is strong enough"
            problem = TreesProblem(function, cell) if trees else Problem(function.network, cell)
            for proof in [*proofs[place:], *proofs[:place]]:
                try:
                    left = settle(problem, proof, left, strict=what == "verdict")
                except Rejected as rejected:
                    reason = str(rejected)
                if not left:
                    break
            ensure(not left, f"{what}: cell {place} is not shown in direction {next(iter(left), ())}: {reason}")


def _around(latent: Any, shape: str, z: list[float]) -> RationalCell:
    """The ball or the box of a latent as a cell of the model."""
    radius = Fraction(number(latent["radius"]))
    ball = [(Fraction(v) - radius, Fraction(v) + radius) for v in z]
    box = zip(*(numbers(latent[key], len(z)) for key in ("lower", "upper")), strict=True)
    ends: Any = {"ball": ball, "box": box}[shape]
    return RationalCell({("numeric", j): [(j, low), (j, high)] for j, (low, high) in enumerate(ends)})
