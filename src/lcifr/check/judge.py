"""Claims about people judged, and the report of what was confirmed and what was not."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lcifr.check.exact import STEPS, Rejected, ensure, items, number, numbers, position, printable, reading
from lcifr.check.functions import Groups, MixedChain, RationalCell, TreeSum, chained, errors, numeric, read_function
from lcifr.check.phi import Formula, derive
from lcifr.check.proof import Bounds, Problem, examine, follows
from lcifr.check.table import Person

# The result of a check: what was confirmed and what was not, exit codes, and lines for people to read.

OPEN = "  people without a claim: {unclaimed}, of them UNDECIDED: {undecided}; radii without a proof: {unproved}"
OPEN_CELLS = "  open: {open}, of them with a pair that gets different decisions: {refuted}"
KINDS = ("radius", "vacuous_radius", "unproved", "certified", "vacuous", "counterexample", "undecided", "unclaimed")
CELL_CLAIMS = ("proved", "strict crossings only", "violating")


@dataclass
class CheckReport:
    """Who belongs to which of the kinds, how many claims are confirmed, who is rejected and why; about which files."""

    decision: Any = None
    hashes: dict[str, str] = field(default_factory=dict)
    people: int = 0
    names: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    confirmed: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, str] = field(default_factory=dict)
    shares: dict[str, str] = field(default_factory=dict)

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
        return [
            *(_sweep(self) if self.shares else _people(self)),
            *(f"  {what} {value}" for what, value in self.hashes.items()),
            *(f"NOT confirmed: {printable(name)}: {reason}" for name, reason in self.rejected.items()),
        ]


def _people(report: CheckReport) -> list[str]:
    sure = report.people - len(report.rejected) - len(report.names["unclaimed"])
    return [
        f"{sure:,} of {report.people:,} people: every claim about them is confirmed in exact arithmetic",
        *(f"  {count:,} × {what}" for what, count in report.confirmed.items()),
        OPEN.format(**{kind: len(names) for kind, names in report.names.items()}),
    ]


def _sweep(report: CheckReport) -> list[str]:
    """The shares first: they are what a sweep is for."""
    sure = sum(len(report.names.get(kind, [])) for kind in CELL_CLAIMS)
    refuted = {*report.names["counterexample"]} & {*report.names.get("open", [])}
    said = {"open": len(report.names.get("open", [])), "refuted": len(refuted)}
    return [
        *(f"{what}: {_percent(share)} of everyone who could exist ({share})" for what, share in report.shares.items()),
        f"{sure:,} of {report.people:,} cells: every claim about them is confirmed in exact arithmetic",
        *(f"  {count:,} × {what}" for what, count in report.confirmed.items()),
        OPEN_CELLS.format(**said),
    ]


def _percent(share: str) -> str:
    """Never 0 % or 100 % of what is not."""
    found = f"{float(100 * Fraction(share)):.4g} %"
    if found in ("0 %", "100 %") and Fraction(share) not in (0, 1):
        return "almost none" if Fraction(share) < Fraction(1, 2) else "almost all"
    return found


# One person of an audit bundle: everything that is claimed of them, confirmed or not confirmed with the reason.

CLAIMS = ("radius", "certified", "counterexample")
STRICT = ("verdict", "proved")  # must be shown to stay below; the others not to exceed
KEYS = {"sign": {"kind", "band"}, "class": {"kind", "groups", "band"}, "within": {"kind", "tolerance"}}


class DecisionRule:
    """What must agree: the class by the sign of one output; the group of the largest output; or every output, nearly.

    Classes have scores, the largest of which decides. For a sign they are 0 and the output, else the outputs.
    """

    def __init__(self, found: Any, outputs: int) -> None:
        with reading("the rule of decision"):
            keys = KEYS[found["kind"]]
            ensure(keys - {"band"} <= set(found) <= keys, "the rule says more than its kind has, or less")
            self.within, self.sign = found["kind"] == "within", int(found["kind"] == "sign")
            self.lower, self.upper = (Fraction(end) for end in numbers(found.get("band", [0.0, 0.0]), 2))
            self.tolerance = Fraction(number(found.get("tolerance", 0.0)))
            self.groups = [[0], [1]] if self.sign else found.get("groups", [])
            self.middle = float(self.lower) / 2 + float(self.upper) / 2
            self.classes = sorted(position(c, outputs + 1) for group in self.groups for c in items(group))
            right = self.within or self.classes == [*range(outputs + self.sign)] > [0]
            right &= self.lower <= self.upper and (self.sign == 1 or self.lower == -self.upper) and self.tolerance >= 0
            ensure(right, "a tolerance is negative, a band is none, or the groups do not hold every class exactly once")

    def alike(self, prediction: Any) -> list[Any]:
        """The classes that count as this one."""
        known = (group for group in self.groups if position(prediction, len(self.classes)) in group)
        return [prediction] if self.within else next(known)

    def limits(self, own: list[Fraction], off: list[Fraction], prediction: Any, side: int = 1) -> Bounds:
        """Where every direction stays below its limit, the decision is the person's own, which is off by so much.

        On the other side (−1): where one of them is above its limit, the decision is another.
        """
        if self.within:
            ends = [s * value + self.tolerance - side * off[j] for j, value in enumerate(own) for s in (1, -1)]
            return {((k // 2, 1 - 2 * (k % 2)),): end for k, end in enumerate(ends)}
        others = (c for c in self.classes if c not in self.alike(prediction))
        pairs = (sorted(((c - self.sign, 1), (prediction - self.sign, -1))) for c in others)
        lower, upper = (self.lower, self.upper)[::side]
        limit = -upper if prediction else lower  # of a rule for classes both are the same
        return {tuple((output, s) for output, s in pair if output >= 0): limit for pair in pairs}


def beyond(limits: Bounds, outputs: list[Fraction], off: list[Fraction], side: int = 1) -> list[Fraction]:
    """By how much outputs that are off by so much can be beyond each of the limits; or are surely (−1)."""
    return [sum(int(s) * outputs[j] + side * off[j] for j, s in d) - limit for d, limit in limits.items()]


class Judge:
    """Judges people against one formula, encoder and, where decisions are claimed, model and rule of decision."""

    def __init__(self, formula: Formula, encoder: Any, model: Any, rule: Any) -> None:
        self.table, self.steps = formula.table, STEPS
        self.formulas = {"whole": formula, "reals": Formula(formula.tree, formula.table, whole=False)}
        self.encoder = read_function(encoder, self.table.width, self.table.flushed)
        self.rule: Any = None
        if rule is not None:
            self.model = read_function(model, self.encoder.outputs)
            self.whole = chained(self.encoder, self.model)
            self.rule = DecisionRule(rule, self.whole.outputs)
        self.settles = {"radius"} if rule is None else {"certified", "counterexample"}

    def judge(self, line: Any, report: CheckReport) -> None:
        """Add one line of the bundle to the report: a person of whom all that is claimed is confirmed, or not."""
        name = str(line["id"])
        report.people += 1
        try:
            with reading("what is said of them", self.steps):
                kinds, claims = self.confirm(line)
        except Rejected as rejected:
            report.rejected[name] = str(rejected)
            return
        for kind in (*kinds, *([] if self.settles & claims.keys() else ["unclaimed"])):
            report.names.setdefault(kind, []).append(name)
        for kind, claim in claims.items():
            what = f"{kind} (universe: {claim['universe']}, arithmetic: {claim['arithmetic']})"
            report.confirmed[what] = report.confirmed.get(what, 0) + 1

    def finish(self, report: CheckReport) -> None:
        """After the last line."""

    def confirm(self, line: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a person belongs to, and what of it is claimed."""
        latent, decision, x = line.get("latent"), line.get("decision"), self.table.person(line["x"])
        kinds = {} if latent is None else {"radius" if "proofs" in latent else "unproved": latent}
        if decision is not None:
            known = self.rule is not None and decision["verdict"] in ("undecided", "certified", "counterexample")
            ensure(known, f"there is no model to decide, or no verdict {decision['verdict']!s:.60}")
            kinds[decision["verdict"]] = decision
        claims = {kind: kinds[kind] for kind in CLAIMS if kind in kinds}
        for kind, claim in claims.items():
            cells = derive(self.formulas[claim["universe"]], x)
            confirm = self._radius if kind == "radius" else self._verdict
            confirm(claim, claims.get("radius"), x, cells)
            kinds |= {} if cells else {"vacuous" if kind == "certified" else "vacuous_radius": None}
        return kinds, claims

    def _at(self, function: Any, point: Groups, arithmetic: list[str]) -> tuple[list[Fraction], list[Fraction]]:
        """The exact outputs at a point, and how far a machine's are from them at most."""
        return function.at(point), errors(function, point, arithmetic)

    def _box(self, latent: Any) -> list[list[Fraction]]:
        """z, both ends of the box, and the radius, for each number of a latent."""
        read = [numbers(latent[key], self.encoder.outputs) for key in ("z", "lower", "upper")]
        return [[Fraction(v) for v in values] for values in (*read, [number(latent["radius"])] * self.encoder.outputs)]

    def _radius(self, latent: Any, _: Any, x: Person, cells: list[RationalCell]) -> None:
        """The box holds f(x′) for every similar x′ and for x itself, and the ball around z holds the box."""
        arithmetic, (z, lower, upper, radius) = [latent["arithmetic"]], self._box(latent)
        limits: Bounds = {((j, s),): s * end for s, ends in ((1, upper), (-1, lower)) for j, end in enumerate(ends)}
        own = self._at(self.encoder, self.table.point(x), arithmetic)
        right = max(beyond(limits, *own)) <= 0 <= min(beyond(limits, z, radius))
        ensure(right, "the person is not in the box, or the box not in the radius around z")
        self._shown("radius", self.encoder, arithmetic, cells, limits, latent["proofs"])

    def _verdict(self, decision: Any, latent: Any, x: Person, cells: list[RationalCell]) -> None:
        """The decision is the same for everybody, or the other individual is similar and decided otherwise."""
        function, prediction, arithmetic = self.whole, decision.get("prediction"), [decision["arithmetic"]] * 2
        certified = decision["verdict"] == "certified"
        around = certified and decision["on"] != "whole"
        if around:
            same = latent is not None and latent["universe"] == decision["universe"]
            ensure(same, "the verdict rests on a radius that is not claimed, or is claimed of another universe")
            arithmetic[0] = latent["arithmetic"]
            known = arithmetic[0] != "exact" or (arithmetic[1] == "exact" and not isinstance(self.model, TreeSum))
            ensure(known, "the radius is exact: a machine's f(x) may be outside")
        own = decided = self._at(self.whole, self.table.point(x), arithmetic)
        limits = self.rule.limits(*own, prediction)
        if around:  # the model decides on the stored z; it need not be f(x)
            function, arithmetic, (z, lower, upper, radius) = self.model, arithmetic[1:], self._box(latent)
            ball = [(v - r, v + r) for v, r in zip(z, radius, strict=True)]
            cells = [RationalCell(numeric({"ball": ball, "box": [*zip(lower, upper, strict=True)]}[decision["on"]]))]
            decided = self._at(function, numeric(zip(z, strict=True)), arithmetic)
        sure = all(value < 0 for value in beyond(limits, *decided)) or (self.rule.within and not around)
        ensure(sure, "the person's own decision is not the one that is claimed")
        if certified:
            if isinstance(function, MixedChain):
                cells = [function.box(cell.groups, arithmetic) for cell in cells]
                function, arithmetic = self.model, arithmetic[1:]
            self._shown("verdict", function, arithmetic, cells, limits, decision["proofs"])
            return
        other = self.table.person(decision["other"])
        ensure(self.formulas[decision["universe"]].holds(x, other), "the other individual is not similar")
        there = self._at(self.whole, self.table.point(other), arithmetic)
        ahead = [beyond(self.rule.limits(*own, c, side=-1), *there, side=-1) for c in self.rule.alike(prediction)]
        ensure(all(any(value > 0 for value in one) for one in ahead), "the other individual is decided alike")

    def _shown(self, what: str, function: Any, arithmetic: Any, cells: Any, limits: Bounds, proofs: Any) -> None:
        """Every cell must stay within every limit; any proof of the claim may help, that of the same place first."""
        for place, cell in enumerate(cells):
            off, reason = errors(function, cell.groups, arithmetic), "nothing is shown that is strong enough"
            left = {direction: k - sum(off[j] for j, _ in direction) for direction, k in limits.items()}
            problem = Problem(function.network, cell, function if isinstance(function, TreeSum) else None)
            for proof in [*proofs[place:], *proofs[:place]]:
                try:
                    found = examine(problem, proof)
                    left = {d: k for d, k in left.items() if not follows(found, d, k, strict=what in STRICT)}
                except Rejected as rejected:
                    reason = str(rejected)
                if not left:
                    break
            ensure(not left, f"{what}: cell {place} is not shown in direction {next(iter(left), ())}: {reason}")
