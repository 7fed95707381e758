"""Bundles of sweeps: the cut of everybody who can exist, what is claimed of the pairs of each cell, and the shares."""

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

from lcifr.check.exact import VALUES, at_most, ensure, items, number, position, reading, spend
from lcifr.check.functions import FactorChain, IntegerLayer, Network, RationalCell, errors, read_network
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.phi import Formula, cell_of, cells_of, cut, within
from lcifr.check.proof import Bounds
from lcifr.check.table import AttributeTable, Part, Unknown

PROVED, CROSSINGS, VIOLATING, OPEN = "proved", "strict crossings only", "violating", "open"
LARGEST = 2.0**53  # up to here floats tell whole numbers apart


def kept(node: Any) -> set[str]:
    """The attributes of which a node says by its writing that both people have them alike."""
    kind, *inside = items(node)
    if kind == "same":
        (name,) = inside
        return {name}
    alike = [kept(one) for one in inside] if kind in ("all", "any") else []
    return (set.union if kind == "all" else set.intersection)(*alike) if alike else set()


class PairTable:
    """Similar pairs as rows of a wider table; ``others`` are what the attributes of x′ are called in it.

    One that is called as that of x is there once, which is right only if φ keeps it equal: that is looked for here.
    """

    def __init__(self, formula: Formula, others: Any) -> None:
        called = {name: others[name] for name in formula.table.columns}
        shared = {name for name in called if called[name] == name}
        right = shared <= kept(formula.tree) and len({*called, *called.values()}) == 2 * len(called) - len(shared)
        ensure(right, "an attribute is there once that φ does not keep equal, or two have the same name")
        self.table = AttributeTable(formula.table.encoding, called)
        self.formula = Formula(formula.tree, self.table, formula.whole)
        self.people = {"self": {n: Unknown(n) for n in called}, "other": {n: Unknown(called[n]) for n in called}}
        every = [[self.table.columns[about.name] for about in person.values()] for person in self.people.values()]
        self.places = [[column for columns in own for column in columns] for own in every]  # of x, and of x′

    def cells(self, part: Part) -> list[RationalCell]:
        """Cells that hold every similar pair with x in a part of everybody."""
        return cells_of(self.formula, self.people, {**self.table.everybody(self.formula.whole), **part})

    def reached(self, part: Part, wholes: Any) -> list[RationalCell]:
        """Cells that hold x and x′ of every such pair."""
        found = []
        for groups in (cell.groups for cell in self.cells(part)):
            for back in ({column: k for k, column in enumerate(places)} for places in self.places):
                mine = {name: group for name, group in groups.items() if name[1] in back}
                person = {(kind, back[k]): [(back[c], v) for c, v in group] for (kind, k), group in mine.items()}
                found.append(RationalCell(person, (), wholes))
        return found

    def copies(self, network: Network) -> Network:
        """A network at x and at x′, one beside the other."""
        found, places, width = list[IntegerLayer](), self.places, self.table.width
        for layer in network:
            *rows, one = layer.rows
            apart = [dict(zip((*at, width), row, strict=True)) for at in places for row in rows]
            wide = [[row.get(column, 0) for column in range(width + 1)] for row in (*apart, {width: one[-1]})]
            found.append(IntegerLayer(wide, layer.shift))
            places, width = [[*range(len(rows))], [*range(len(rows), 2 * len(rows))]], 2 * len(rows)
        return tuple(found)

    def crossings(self, network: Network, scores: list[list[float]]) -> FactorChain:
        """Of each score s min(s(x), −s(x′)) and min(−s(x), s(x′)); without scores the outputs at x, and those at x′.

        A score is a linear function of outputs, its constant last.
        """
        hidden, last, factors = list[Any](), list[Any](), [self.copies(network)]
        for k, (*score, constant) in enumerate(scores):  # min(a, b) = a − relu(a − b), and a = relu(a) − relu(−a)
            own, both = [*score, *[0.0] * len(score), constant], [*score, *score, 2 * constant]
            hidden += [both, [-v for v in both], own, [-v for v in own]]
            none = [0.0] * 4 * k, [0.0] * (4 * (len(scores) - k) - 3)
            last += [[*none[0], *smaller, *none[1]] for smaller in ((-1.0, 0.0, 1.0, -1.0), (0.0, -1.0, -1.0, 1.0))]
        return FactorChain([factors + ([read_network([hidden, last])] if scores else [])], self.table.width)


class SweepJudge(Judge):
    """Judges cells one after the other; ``waiting`` are the halves of cuts whose turn is still to come."""

    def __init__(self, formula: Formula, encoder: Any, model: Any, rule: Any, sweep: Any) -> None:
        super().__init__(formula, encoder, model, rule)
        self.said = {key: sweep[key] for key in ("universe", "arithmetic")}
        self.formula, self.arithmetic = self.formulas[sweep["universe"]], [sweep["arithmetic"]] * 2
        self.everybody, self.part = self.table.everybody(self.formula.whole), Part()
        wholes = [key for key in self.everybody if isinstance(key, tuple) and self.formula.is_whole(key[0][0])]
        right = all(abs(self.everybody[key]) <= LARGEST for key in wholes) and cut([self.everybody], [self.everybody])
        ensure(right, "nobody can exist, or floats do not tell so large whole numbers apart")
        self.waiting, self.claimed, self.settles = [self.everybody], sweep["shares"], {PROVED, CROSSINGS, VIOLATING}
        self.cell, self.space = cell_of(self.everybody, self.formula), PairTable(self.formula, sweep["others"])

    @cached_property
    def product(self) -> tuple[FactorChain, list[Fraction]]:
        """Both decisions of a pair as one network, and how far the outputs of a machine are off, whoever they are of.

        Made when it is first needed, so that its work is counted.
        """
        ensure(isinstance(self.whole, FactorChain), "two decisions are one network, and this is none")
        off = errors(self.whole, self.cell.groups, self.arithmetic)
        return self.space.crossings(self.whole.network, self._scores()), off

    def _scores(self) -> list[list[float]]:
        """Linear functions of the outputs such that two decisions differ only where one changes its side."""
        sign, classes, outputs = self.rule.sign, self.rule.classes, range(self.whole.outputs)
        at_most(VALUES, 2 * len(classes) ** 4, "weights of all pairs of classes")
        pairs = [(i - sign, j - sign) for i in classes for j in range(i) if j not in self.rule.alike(i)]
        return [[*(float((k == i) - (k == j)) for k in outputs), -self.rule.middle] for i, j in pairs]

    def _limits(self, ties: bool) -> Bounds:
        """What outputs of the product stay below where no pair is decided differently; without ties, do not exceed."""
        rule, (_, off) = self.rule, self.product
        if rule.within:
            return {((k, s), (len(off) + k, -s)): rule.tolerance - 2 * e for k, e in enumerate(off) for s in (1, -1)}
        sides = Fraction(rule.middle) - rule.lower, rule.upper - Fraction(rule.middle)
        each = [sum(abs(int(c)) * e for c, e in zip(s, off, strict=False)) for s in self._scores() for _ in (1, -1)]
        return {((k, 1),): (-max(sides) if ties else min(sides)) - e for k, e in enumerate(each)}

    def measure(self, part: Part) -> Fraction:
        """The product of counts, of categories and whole numbers, and of lengths; a range of one number counts as 1."""
        lengths = [(Fraction(part[((n, 1),)]) + Fraction(part[((n, -1),)]), n) for n in self.table.numbers]
        spend(sum((length.numerator * length.denominator).bit_length() for length, _ in lengths) ** 2 >> 8)
        sizes = [length + self.formula.is_whole(name) or Fraction(1) for length, name in lengths]
        return Fraction(math.prod(len(part[name]) for name in self.table.codes)) * math.prod(sizes)

    def halves(self, part: Part, name: str, border: Any) -> list[Part]:
        """Those with one of these categories, and the others; or up to a number, and from it or the next whole one."""
        if name in self.table.codes:
            first = frozenset(items(border))
            limits: list[Part] = [{name: first}, {name: part[name] - first}]
        else:
            whole = self.formula.is_whole(name)
            ensure(number(border).is_integer() or not whole, "a cut is not between two whole numbers")
            limits = [{((name, 1),): border}, {((name, -1),): -(border + whole)}]
        halves = cut([part], limits)
        ensure(len(halves) == 2 and part not in halves, "a cut has nobody on one side")
        return halves

    def judge(self, line: Any, report: CheckReport) -> None:
        """Add one cell to the report. Cuts that are none refuse the whole bundle: nobody would know what comes next."""
        with reading("a cut", self.steps):
            for name, border in items(line["cuts"]):
                self.waiting += reversed(self.halves(self.waiting.pop(), name, border))
                at_most(VALUES, len(self.waiting) * len(self.everybody), "ends of cells that wait for their turn")
            self.part = self.waiting.pop()
            share = self.measure(self.part) / self.measure(self.everybody)
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
            self._shown(standing, self.product[0], ["exact"], cells, limits, line["proofs"])
        elif standing == VIOLATING and "change" in line:
            self._change(line["change"], line["decision"])
        elif standing != OPEN:
            shows = {PROVED: "certified", VIOLATING: "counterexample"}[standing]
            ensure(alone and shows in claims, "what is claimed of everybody in the cell is shown of one at most")
        return {**kinds, standing: None}, {**claims, **({} if standing == OPEN else {standing: self.said})}

    def _alike(self, cells: list[RationalCell], prediction: Any, proofs: Any) -> None:
        """Everybody in the cells is decided so."""
        ensure(not self.rule.within, "numbers are not decided alike, they are compared")
        self._shown("verdict", self.whole, self.arithmetic, cells, self.rule.limits([], [], prediction), proofs)

    def _change(self, change: Any, decision: Any) -> None:
        """Categories that are set and whole numbers that are moved make somebody similar of everybody in the cell, who
        is decided otherwise."""
        person, moved = {name: Unknown(name) for name in self.table.columns}, dict(self.part)
        changed: dict[str, Any] = {**person, **change["codes"]}
        for name, code in change["codes"].items():
            moved[name] = frozenset({position(code, len(self.table.codes[name]))})
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
