"""From cells to ``docs/results.md``: tables, bars, frontiers, and where the reproduction differs. The same cells give
the same page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments import differences, paper, tables
from experiments.bars import Bar, bars
from experiments.cells import Cell
from experiments.choose import points
from experiments.families import section
from experiments.families import tables as family_tables
from experiments.families.bars import family_bars
from experiments.families.rules import METHODS, RULES, Choice, within
from experiments.picture import Dot, Panel, picture
from experiments.settings import ROWS
from experiments.store import Found, Store, merge, read_merged

MERGED = "cells.json"
SINGLE = {"dl2": "dl2", "plain network": "plain", "unaware network": "unaware", "plain trees": "trees_plain"}
"""Models of which a row has one, by what pictures call them."""
TREES = ("booster", "gradient", "confirm_trees")
"""Kinds of cells about trees."""


def render(cells: list[Cell], store: Store, page: Path, *, merged: Path | None = None) -> None:
    """Write the page, its pictures and the merged cells beside it (``results/`` next to ``results.md``)."""
    found = read_merged(merged) if merged is not None else store.done(cells)
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    if merged is None:
        (folder / MERGED).write_text(merge(found), encoding="utf-8")
    drawn = []
    for dataset in tables.NAMES:
        panels = [_panel(row, found) for row in ROWS if row.startswith(f"{dataset}/") and points(row, found, "bounds")]
        if panels:
            (folder / f"{dataset}.svg").write_text(picture(panels), encoding="utf-8")
            drawn.append(dataset)
    missing = sorted({cell.name for cell in cells} - set(found))
    page.write_text(text(found, folder.name, drawn, missing), encoding="utf-8")


def _panel(row: str, found: dict[str, Found]) -> Panel:
    chosen = {rule: [within(row, found, family, rule) for family in METHODS] for rule in RULES}
    dots = []
    for family, method in METHODS.items():
        for point in points(row, found, method):
            rings = tuple(rule for rule, both in chosen.items() if Choice(family, point) in both)
            dots.append(Dot(family, point.test["certified"], point.test["accuracy"], rings))
    for kind, method in SINGLE.items():
        dots += [Dot(kind, point.test["certified"], point.test["accuracy"]) for point in points(row, found, method)]
    gradient, printed = found.get(f"{row.replace('/', '-')}/gradient"), paper.printed(row)
    if gradient is not None:
        dots.append(Dot("gradient boosting", gradient["test"]["certified"], gradient["test"]["accuracy"]))
    if printed is not None:
        dots.append(Dot("paper", printed["lcifr"]["certified"], printed["lcifr"]["accuracy"]))
    return Panel(tables.CONSTRAINTS[row.split("/")[1]], tuple(dots))


def text(found: dict[str, Found], folder: str, drawn: list[str], missing: Sequence[str] = ()) -> str:
    """The whole page; it says so where cells are missing."""
    parts = [
        INTRODUCTION,
        _cost(found),
        *([_unfinished(missing, len(found))] if missing else []),
        "## The table of constraints\n",
        TABLE,
        tables.constraints(found),
        *section.text(found),
        "## Ball, box, end to end\n",
        DETAILS,
        tables.details(found),
        "## Whole numbers\n",
        WHOLE,
        tables.whole_numbers(found),
        "## What was asked, and whether it is reached\n",
        "### Networks\n",
        *(_bar(bar) for bar in bars(found)),
        "### Networks and trees together\n",
        *(_bar(bar) for bar in family_bars(found)),
        "## Frontiers\n",
        FRONTIERS,
        *(f"![{tables.NAMES[name]}]({folder}/{name}.svg)\n" for name in drawn),
        "## Transfer on Health\n",
        TRANSFER,
        tables.transfer(found),
        "## The weight γ on Crime, Cat + Noise\n",
        "Accuracy / certified, one seed; the head of `bounds` has weight 1.\n",
        tables.sweep(found),
        "## Training the consumer\n",
        CONSUMER,
        tables.consumer(found),
        "## Large networks\n",
        SCALING,
        tables.scaling(found),
        "## Datasets\n",
        tables.statistics(found),
        "## Choices made by cross-validation\n",
        ARCHITECTURE,
        tables.architecture(found),
        "## Seconds per person\n",
        "CPU time of one core for radius and verdict on the ball, averaged over a dataset's constraints.\n",
        tables.seconds(found),
        "## Confirmed in exact arithmetic\n",
        CONFIRMED,
        tables.confirmations(found),
        CONFIRMED_TREES,
        family_tables.confirmations(found),
        differences.text(found),
    ]
    return "\n".join(parts)


def _unfinished(missing: Sequence[str], there: int) -> str:
    """How many cells are not there yet, and where."""
    places = ", ".join(sorted({f"`{name.split('/')[0]}`" for name in missing}))
    return f"**Unfinished: {len(missing)} of {len(missing) + there} cells are missing**, of {places}.\n"


def _cost(found: dict[str, Found]) -> str:
    """What all cells took, and which were not learned on the CPU."""
    parts = [[cell for cell in found.values() if (cell["kind"] in TREES) is trees] for trees in (False, True)]
    minutes = [sum(cell["cpu_seconds"] for cell in part) / 60 for part in parts]
    said = (
        f"All {len(found)} cells were made on the same code and machine: {len(parts[0])} of networks in "
        f"{minutes[0]:.0f} minutes of CPU time, {len(parts[1])} of trees in {minutes[1]:.0f}. "
        f"On two such cores that is {sum(minutes) / 2:.0f} minutes."
    )
    where = sorted({cell["learned_on"] for cell in found.values() if "learned_on" in cell})
    cells = sum("learned_on" in cell for cell in found.values())
    if cells:
        said += (
            f" The encoders of {cells} were learned on a GPU (`--device {', '.join(where)}`); all proofs are the CPU's."
        )
    return said + "\n"


def _bar(bar: Bar) -> str:
    word = {True: "yes", False: "**no**", None: "–"}
    rows = [[tables.title(row), word[reached], bar.short.get(row, "")] for row, reached in bar.rows.items()]
    head = f"{bar.title}, in at least {bar.least} of {len(bar.rows)} rows. **{bar.reached}: {bar.verdict}.**\n"
    return head + "\n" + tables.table(["row", "reached", "short of it, and why"], rows)


INTRODUCTION = """# The paper's tables, reproduced

Made by `make paper` (resumable; one to two hours on 2 cores); `make paper-quick` runs a slice in minutes. Every cell is
in `results/cells.json` with its settings, and this page is written from it by code: nothing here was typed by hand.

**plain** is an encoder and a logistic regression trained for the label alone; **unaware** the same without the
attributes that φ leaves free; **dl2** the paper's method with its γ and hyperparameters; **bounds** and **trees** are
ours. Figures are for the whole test set; those of networks are the mean of three seeds (Health: one seed). The paper's
own figures are one seed on the first 1000 test people. Law School is a part of the data (see below), so its figures do
not compare with the paper's.

The model of `bounds` is chosen without test people (`experiments/choose.py`): of all weights tried, those that certify
half a point more than the paper's method among training and validation people; of these the largest mean of accuracy
and balanced accuracy on validation people.
"""
TABLE = """Each entry is accuracy / balanced accuracy / certified share over the reals, in per cent of the whole test
set: on the ball for networks, mean of the seeds; end to end for trees, where nothing is random, their *accurate* point
(see *Networks and trees*).
"""
WHOLE = """Like the paper's, figures on ball and box let a number be any real: with noise of 0.3 standard deviations
someone with three prior offences is compared with everyone who has 1.5 to 4.5 of them. No one has 4.5. Under
`FairEncoder(whole_numbers=True)` regions end at the outermost whole numbers of attributes that the schema calls whole:
everyone who can exist is still covered, and the exact checker derives the same ends. Accuracy / balanced / certified
on the ball, chosen by the same rule from the same weights. These figures do not compare with the paper's.
"""
FRONTIERS = """Every weight tried, on the test set: networks, trees, both baselines as networks, our plain booster,
scikit-learn's gradient boosting and the paper's method. Rings mark each family's *accurate* and *certified* points.
Some weights of networks at the ends were added after test figures had been seen (`LATER` and `STRETCHED` in
`experiments/settings.py`): they are shown and compared with `dl2`, never chosen.
"""
DETAILS = """A consumer who knows only z and ε certifies on the **ball** (the paper's figure); the producer's
**box** is a little tighter; both are over the reals. **End to end** h ∘ f is proved as one network, about people who
can exist: over whole numbers, where the schema says so. **Violated** people have a concrete similar person who gets
another decision. What is neither certified end to end nor violated is open. ± is the standard deviation over seeds.
"""
TRANSFER = """One encoder for six labels, trained without the condition groups from which five of them come, with a
decoder. Columns: accuracy / balanced / certified on the whole test set. `dl2` has the weights of the paper's script
(10 for the promise, 10 for the decoder); the heads of `bounds` are trained against each person's own radius with weight
1.
"""
CONSUMER = """Health, Cat + Noise, encoder of the paper's method (γ = 1). The paper: adversarial training of the 2 ×
20 network raises the certified share from 34.0 to 70.8 at a cost of 1.6 points of accuracy; for logistic regression
it matters little. `delta` trains against one δ = 0.01 as the paper does, `radius` against each person's own proved
radius. Radius by plain bounds.
"""
SCALING = """Adult, Noise, the first 1000 test people, CPU time of one core. *Relaxed* is one linear relaxation for
everyone at once, *complete* the whole cascade (search, branch and bound) with a budget of nodes per person.
"""
ARCHITECTURE = """The paper chose between an encoder without a hidden layer and one of 20 neurons on validation people.
The small datasets have few of them, so such choices were cross-validated among training and validation people (five
folds, twice; ± is a standard error). German's baselines and `bounds` therefore have no hidden layer, and Crime learns
for up to 80 epochs. On Compas z has five numbers, which other folds had preferred by a little; by these it does not
matter. `dl2` keeps the paper's settings everywhere.
"""
CONFIRMED = """Random certified people of the chosen models: radius and decision are proved again and written to an
audit bundle, and `lcifr.check`, which trusts no one and derives the similar people itself, confirms them in exact
arithmetic.
"""
CONFIRMED_TREES = """Trees, end to end over the reals: of up to 2000 random test people the search must certify everyone
whom the closed form does, and finds a concrete similar person with another decision for the others; of those certified,
random people are proved, written to an audit bundle and checked.
"""
