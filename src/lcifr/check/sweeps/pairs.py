"""Similar pairs as one row of a wider table, and a network on both people of it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lcifr.check.exact import ensure, items
from lcifr.check.network import FactorChain, Groups, IntegerLayer, Network, read_network
from lcifr.check.proof import RationalCell
from lcifr.check.similar import Formula, cells_of
from lcifr.check.table import AttributeTable, Part, Unknown


def kept(node: Any) -> set[str]:
    """The attributes of which a node says by its writing that both people have them alike."""
    kind, *inside = items(node)
    if kind == "same":
        (name,) = inside
        return {name}
    alike = [kept(one) for one in inside] if kind in ("all", "any") else []
    return (set.union if kind == "all" else set.intersection)(*alike) if alike else set()


class PairTable:
    """Similar pairs; ``others`` are what the attributes of x′ are called in the wider table.

    One that is called as that of x is there once, which is right only if φ keeps it equal: that is looked for here.
    """

    def __init__(self, formula: Formula, others: Any) -> None:
        known = formula.table.columns
        shared = {name for name in known if others[name] == name}
        right = shared <= kept(formula.tree) and len({*known, *others.values()}) == 2 * len(known) - len(shared)
        ensure(right, "an attribute is there once that φ does not keep equal, or two have the same name")
        self.table = AttributeTable(formula.table.encoding, others)
        self.formula = Formula(formula.tree, self.table, formula.whole)
        self.called = {"self": {name: name for name in known}, "other": {name: others[name] for name in known}}
        own = self.called.values()  # where the columns of x are, and those of x′
        self.places = [[column for name in names.values() for column in self.table.columns[name]] for names in own]

    def cells(self, part: Part) -> list[RationalCell]:
        """Cells that hold every similar pair with x in a part of everybody."""
        people = {who: {n: Unknown(called) for n, called in names.items()} for who, names in self.called.items()}
        return cells_of(self.formula, people, {**self.table.everybody(), **part})

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


class PairProduct(FactorChain):
    """Of each score s min(s(x), −s(x′)) and min(−s(x), s(x′)); without scores the outputs at x, and those at x′.

    A score is a linear function of outputs that are ``off`` by so much on a machine, its constant last.
    """

    def __init__(self, space: PairTable, whole: Any, scores: list[list[float]], off: list[Fraction]) -> None:
        hidden, last, factors = list[Any](), list[Any](), [space.copies(whole.network)]
        for k, (*score, constant) in enumerate(scores):  # min(a, b) = a − relu(a − b), and a = relu(a) − relu(−a)
            own, both = [*score, *[0.0] * len(score), constant], [*score, *score, 2 * constant]
            hidden += [both, [-v for v in both], own, [-v for v in own]]
            none = [0.0] * 4 * k, [0.0] * (4 * (len(scores) - k) - 3)
            last += [[*none[0], *smaller, *none[1]] for smaller in ((-1.0, 0.0, 1.0, -1.0), (0.0, -1.0, -1.0, 1.0))]
        super().__init__([factors + ([read_network([hidden, last])] if scores else [])], space.table.width)
        each = [sum((abs(Fraction(c)) * e for c, e in zip(s, off, strict=False)), Fraction(0)) for s in scores]
        self.off = [e for e in each for _ in range(2)] if scores else [*off, *off]

    def rounding(self, groups: Groups, arithmetic: list[str], before: Sequence[Fraction] = ()) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, of anybody."""
        return self.off
