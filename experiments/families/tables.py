"""The page's tables about networks and trees, each on the same figure."""

from __future__ import annotations

from experiments import paper
from experiments.choose import Point, first
from experiments.families.rules import METHODS, Choice, across, within
from experiments.settings import ROWS
from experiments.store import Found
from experiments.tables import milliseconds, table, title, trio

HALF = 0.5


def two_families(rule: str, found: dict[str, Found]) -> str:
    """Each family's point by a rule, over the reals, and which of the two is chosen across both."""
    rows = []
    for row in ROWS:
        both = {family: within(row, found, family, rule) for family in METHODS}
        best, printed = across(row, found, rule), paper.printed(row) or {}
        shown = [_marked(choice, best) for choice in both.values()]
        weights = ["–" if choice is None else choice.weights for choice in both.values()]
        rows.append([title(row), trio(printed.get("lcifr")), shown[0], weights[0], shown[1], weights[1]])
    heads = ["row", "paper: LCIFR", "networks, ball", "γ / head", "trees, end to end", "γ / stretch"]
    return table(heads, rows)


def _marked(choice: Choice | None, best: Choice | None) -> str:
    """In bold where it is the choice across both families."""
    if choice is None:
        return "–"
    shown = trio(choice.point.test)
    return f"**{shown}**" if choice == best else shown


def end_to_end(found: dict[str, Found]) -> str:
    """The *accurate* points of both families, both end to end and over whole numbers."""
    rows = []
    for row in ROWS:
        both = [within(row, found, family, "accurate") for family in METHODS]
        rows.append([title(row), *(trio(None if one is None else one.point.end_to_end.test) for one in both)])
    return table(["row", "networks, end to end", "trees, end to end"], rows)


def without_promise(found: dict[str, Found]) -> str:
    """Models that are trained for the label alone, and how many people they happen to treat alike."""
    rows = []
    for row in ROWS:
        network, trees = (first(row, found, method) for method in ("plain", "trees_plain"))
        unaware = first(row, found, "trees_unaware")
        cell = found.get(f"{row.replace('/', '-')}/gradient")
        test = cell["test"] if cell else None
        still = "–" if test is None else f"{abs(100 - test['certified'] - test['violated']):.1f}"
        shown = [trio(None if one is None else one.test) for one in (network, trees, unaware)]
        rows.append([title(row), *shown, trio(test), still])
    heads = ["row", "network, ball", "our booster, γ = 0", "unaware booster", "scikit-learn's", "of these open"]
    return table(heads, rows)


def confirmations(found: dict[str, Found]) -> str:
    """Both points of each row: the closed form beside the search, and what the checker confirmed."""
    rows = []
    for row in ROWS:
        cell = found.get(f"{row.replace('/', '-')}/confirm_trees")
        for rule in ("accurate", "certified"):
            choice, said = within(row, found, "trees", rule), (cell or {"confirmed": {}})["confirmed"].get(rule)
            if choice is None or said is None or said["model"] not in choice.point.cells:
                rows.append([title(row), rule, *["–"] * 7])
                continue
            shares = [f"{said[name]:.1f}" for name in ("certified", "search", "violated")]
            checked = [
                str(said["searched"]),
                str(said["asked"]),
                str(said["confirmed"]),
                milliseconds(said["seconds_checking"]),
            ]
            rows.append([title(row), rule, *shares, *checked])
    heads = ["row", "point", "closed form", "search", "violated", "searched"]
    heads += ["people drawn", "confirmed", "ms per person to check"]
    return table(heads, rows)


def better(found: dict[str, Found]) -> dict[str, list[str]]:
    """Rows by the family that is better there: *accurate* points, both end to end over whole numbers, on test people.

    Better is more accurate or more certified by half a point, and no worse in the other by as much.
    """
    said: dict[str, list[str]] = {"trees": [], "networks": [], "either": [], "a trade": []}
    for row in ROWS:
        both = [within(row, found, family, "accurate") for family in ("trees", "networks")]
        if both[0] is not None and both[1] is not None:
            said[_better(both[0].point.end_to_end, both[1].point.end_to_end)].append(title(row))
    return said


def _better(trees: Point, networks: Point) -> str:
    ahead = [trees.test[name] - networks.test[name] for name in ("accuracy", "certified")]
    up, down = any(one > HALF for one in ahead), any(one < -HALF for one in ahead)
    if up and down:
        return "a trade"
    return "trees" if up else "networks" if down else "either"
