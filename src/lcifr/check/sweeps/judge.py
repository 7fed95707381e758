"""The cells of a sweep: the cut of everybody who can exist, what is claimed of each cell, and their shares."""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

from lcifr.check.exact import COUNTER, VALUES, at_most, ensure, items, number, position, spend
from lcifr.check.judge import Judge
from lcifr.check.network import FactorChain, errors
from lcifr.check.proof import Bounds, RationalCell
from lcifr.check.report.check_report import CheckReport
from lcifr.check.similar import Formula, cell_of, cells_of, cut, within
from lcifr.check.sweeps.pairs import PairProduct, PairTable
from lcifr.check.table import Part, Unknown

PROVED, CROSSINGS, VIOLATING, OPEN = "proved", "strict crossings only", "violating", "open"
LARGEST = 2.0**53  # up to here floats tell whole numbers apart


class SweepJudge(Judge):
    """Judges cells one after the other; ``waiting`` are the halves of cuts whose turn is still to come."""

    def __init__(self, formula: Formula, encoder: Any, model: Any, rule: Any, sweep: Any) -> None:
        super().__init__(formula, encoder, model, rule)
        self.said = {key: sweep[key] for key in ("universe", "arithmetic")}
        self.formula, self.arithmetic = self.formulas[sweep["universe"]], [sweep["arithmetic"]] * 2
        self.everybody, self.part = self._everybody(), Part()
        self.waiting, self.claimed, self.settles = [self.everybody], sweep["shares"], {PROVED, CROSSINGS, VIOLATING}
        self.cell, self.space = cell_of(self.everybody, self.formula), PairTable(self.formula, sweep["others"])

    @cached_property
    def product(self) -> PairProduct:
        """Both decisions of a pair as one network; made when it is first needed, so that its work is counted."""
        ensure(isinstance(self.whole, FactorChain), "two decisions are one network, and this is none")
        off = errors(self.whole, self.cell.groups, self.arithmetic)
        return PairProduct(self.space, self.whole, self._scores(), off)

    def _everybody(self) -> Part:
        """All who can exist, with the outermost whole numbers as ends."""
        found = self.table.everybody()
        for name, end in ((name, end) for name in self.table.numbers for end in (1, -1) if self.formula.is_whole(name)):
            found[((name, end),)] = float(math.floor(found[((name, end),)]))
            ensure(abs(found[((name, end),)]) <= LARGEST, "floats do not tell so large whole numbers apart")
        ensure(cut([found], [found]), "nobody can exist")
        return found

    def _scores(self) -> list[list[float]]:
        """Linear functions of the outputs such that two decisions differ only where one changes its side."""
        sign, classes, outputs = self.rule.sign, self.rule.classes, range(self.whole.outputs)
        at_most(VALUES, 2 * len(classes) ** 4, "weights of all pairs of classes")
        pairs = [(i - sign, j - sign) for i in classes for j in range(i) if j not in self.rule.alike(i)]
        return [[*(float((k == i) - (k == j)) for k in outputs), -self.rule.middle] for i, j in pairs]

    def _limits(self, ties: bool) -> Bounds:
        """What outputs of the product stay below where no pair is decided differently; without ties, do not exceed."""
        rule, middle, count = self.rule, Fraction(self.rule.middle), self.whole.outputs
        if rule.within:
            return {((k, s), (count + k, -s)): rule.tolerance for k in range(count) for s in (1, -1)}
        sides = middle - rule.lower, rule.upper - middle
        return {((k, 1),): -max(sides) if ties else min(sides) for k in range(self.product.outputs)}

    def measure(self, part: Part) -> Fraction:
        """The product of counts, of categories and whole numbers, and of lengths; a range of one number counts as 1."""
        lengths = [(Fraction(part[((n, 1),)]) + Fraction(part[((n, -1),)]), n) for n in self.table.numbers]
        spend(sum((length.numerator * length.denominator).bit_length() for length, _ in lengths) ** 2 >> 8)
        sizes = [length + self.formula.is_whole(name) or Fraction(1) for length, name in lengths]
        return Fraction(math.prod(len(part[name]) for name in self.table.categories)) * math.prod(sizes)

    def halves(self, part: Part, name: str, border: Any) -> list[Part]:
        """Those with one of these categories, and the others; or up to a number, and from it or the next whole one."""
        limits: list[Part] = [{name: frozenset(items(border))}] if name in self.table.categories else []
        if limits:
            limits.append({name: part[name] - limits[0][name]})
        else:
            whole = self.formula.is_whole(name)
            ensure(number(border).is_integer() or not whole, "a cut is not between two whole numbers")
            limits = [{((name, 1),): border}, {((name, -1),): -(border + whole)}]
        halves = [half for limit in limits for half in cut([part], [limit])]
        ensure(len(halves) == 2 and part not in halves, "a cut has nobody on one side")
        return halves

    def judge(self, line: Any, report: CheckReport) -> None:
        """Add one cell to the report. Cuts that are none refuse the whole bundle: nobody would know what comes next."""
        COUNTER.most, COUNTER.done = self.steps, 0
        try:
            for name, border in items(line["cuts"]):
                self.waiting += reversed(self.halves(self.waiting.pop(), name, border))
                at_most(VALUES, len(self.waiting) * len(self.everybody), "ends of cells that wait for their turn")
            self.part = self.waiting.pop()
            share = self.measure(self.part) / self.measure(self.everybody)
        finally:
            COUNTER.most = math.inf
        super().judge(line, report)
        standing = OPEN if str(line["id"]) in report.rejected else line["standing"]
        report.shares[standing] = str(Fraction(report.shares.get(standing, 0)) + share)

    def finish(self, report: CheckReport) -> None:
        """The cells are everybody, and the shares of what is confirmed are as they are said to be."""
        ensure(not self.waiting, f"the cells are not everybody: {len(self.waiting)} halves of cuts are missing")
        if report.shares != self.claimed:
            report.rejected["shares"] = "what is confirmed has other shares than those that are claimed"

    def confirm(self, line: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """A person or a pair of the cell, and what is claimed of everybody in it."""
        standing, kinds, claims, alone = line["standing"], dict[str, Any](), dict[str, Any](), False
        if "decision" in line:
            kinds, claims = super().confirm({**line, "decision": {**line["decision"], **self.said}})
            x = self.table.person(line["x"])
            point = {key: frozenset({x[key]}) if key in x else key[0][1] * x[key[0][0]] for key in self.part}
            ensure(within(point, self.part), "the person is not in the cell")
            alone = within(self.part, point)
        if standing == PROVED and "prediction" in line:
            self._alike(self.space.reached(self.part, self.cell.wholes), line["prediction"], line["proofs"])
        elif standing in (PROVED, CROSSINGS) and "proofs" in line:
            cells, limits = self.space.cells(self.part), self._limits(ties=standing == PROVED)
            self._shown(standing, self.product, self.arithmetic, cells, limits, line["proofs"])
        elif standing == VIOLATING and "change" in line:
            self._change(line["change"], line["decision"])
        elif standing != OPEN:
            shows = {PROVED: "certified", VIOLATING: "counterexample"}[standing]
            ensure(alone and shows in claims, "what is claimed of everybody in the cell is shown of one at most")
        return {**kinds, standing: None}, {**claims, **({} if standing == OPEN else {standing: self.said})}

    def _alike(self, cells: Iterable[RationalCell], prediction: Any, proofs: Any) -> None:
        """Everybody in the cells is decided so."""
        ensure(not self.rule.within, "numbers are not decided alike, they are compared")
        limits = self.rule.limits([], [], prediction)
        self._shown("verdict", self.whole, self.arithmetic, cells, limits, proofs)

    def _change(self, change: Any, decision: Any) -> None:
        """Categories that are set and whole numbers that are moved make somebody similar of everybody in the cell, who
        is decided otherwise."""
        person = {name: Unknown(name) for name in self.table.columns}
        moved, changed = dict(self.part), dict[str, Any](person)
        for name, code in change["codes"].items():
            changed[name] = position(code, len(self.table.categories[name]))
            moved[name] = frozenset({code})
        for name, by in ((name, Fraction(number(by))) for name, by in change["shifts"].items()):
            ensure(self.formula.is_whole(name) and by.denominator == 1, "what is moved is not whole")
            changed[name] = Unknown(name, by)
            moved |= {((name, s),): Fraction(moved[((name, s),)]) + s * by for s in (1, -1)}
        ensure(within(moved, self.everybody), "somebody would be moved out of who can exist")
        apart = cells_of(self.formula, {"self": person, "other": changed}, self.part, true=False)
        ensure(not apart, "φ is not shown to admit the change for everybody in the cell")
        ensure(change["prediction"] not in self.rule.alike(decision["prediction"]), "both decisions are the same")
        self._alike([cell_of(self.part, self.formula)], decision["prediction"], change["before"])
        self._alike([cell_of(moved, self.formula)], change["prediction"], change["after"])
