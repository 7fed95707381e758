"""How is it used from a shell? ``lcifr demo``: the main job on the built-in data, from formula to checked proofs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._output import print_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from lcifr.data import Individuals
    from lcifr.datasets import Dataset
    from lcifr.network import Network
    from lcifr.similarity.similarity import Similarity

DATASET, FORMULA = "german", "german/cat_noise"


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    seed: Annotated[int, typer.Option(help="Seed of the training.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Also save what is printed as an SVG picture.")] = None,
) -> None:
    """Train on the built-in German credit data, prove who is treated like everybody similar, and check the proofs.

    Example: lcifr demo --seed 1
    """
    from rich.console import Console

    from lcifr.data import Encoding
    from lcifr.datasets import load
    from lcifr.similarity.similarity import Similarity

    data = load(DATASET)
    similarity = Similarity.ready(FORMULA, data.schema, Encoding.fit(data.train.X, data.schema))
    console = Console(highlight=False, record=picture is not None, width=110 if picture else None)
    if not as_json:
        _show_formula(console, similarity)
    results = []
    with console.status("training and proving …") if not as_json else _Silent():
        for name, drop in (("plain", ()), ("unaware", ("sex",))):
            network = _train(data, similarity, drop, seed)
            results.append(_judge(name, network, data, similarity))
    if as_json:
        print_json([result.summary() for result in results])
        return
    _show_table(console, results, len(data.test.y))
    _show_person(console, results[0], data, similarity)
    _show_check(console, results)
    if picture:
        _save_picture(console, picture)


def _save_picture(console: Console, path: Path) -> None:
    """An SVG that loads nothing from anywhere: rich's own refers to a web font."""
    path.write_text(re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="lcifr demo"), flags=re.DOTALL))


class _Silent:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


@dataclass(frozen=True)
class _Result:
    """One model on the test set: (people,) arrays, and the people to whom it treats somebody similar differently."""

    name: str
    accuracy: float
    balanced: float
    decision: NDArray[np.bool_]
    certified: NDArray[np.bool_]
    violated: NDArray[np.bool_]
    others: Individuals
    refused: int  # proofs that the exact checker did not confirm

    def summary(self) -> dict[str, Any]:
        undecided = ~self.certified & ~self.violated
        return {
            "model": self.name,
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced,
            "certified": float(self.certified.mean()),
            "violated": float(self.violated.mean()),
            "undecided": float(undecided.mean()),
            "proofs_checked": int(self.certified.sum()),
            "proofs_refused": self.refused,
        }


def _train(data: Dataset, similarity: Similarity, drop: tuple[str, ...], seed: int) -> Network:
    """A small network on the encoded training people; columns of dropped attributes get weight 0."""
    import numpy as np
    from sklearn.neural_network import MLPClassifier

    from lcifr.network import Network

    encoding = similarity.encoding
    kept = np.array([feature.attribute not in drop for feature in encoding.features])
    model = MLPClassifier((20,), alpha=1.0, max_iter=2000, random_state=seed)
    model.fit(encoding.encode(data.train.X)[:, kept], data.train.y)
    first = np.zeros((20, len(kept)))
    first[:, kept] = model.coefs_[0].T
    return Network.from_arrays([(first, model.intercepts_[0]), (model.coefs_[1].T, model.intercepts_[1])])


def _judge(name: str, network: Network, data: Dataset, similarity: Similarity) -> _Result:
    """Prove, person by person, that nobody similar gets another decision, or find somebody who does."""
    import numpy as np
    from sklearn.metrics import balanced_accuracy_score

    from lcifr.prove import maximize
    from lcifr.prove.confirm import refusals

    x = similarity.encoding.encode(data.test.X)
    region = similarity.region(data.test.X)
    logit = network(x)[:, 0]
    against = np.where(logit > 0, -1.0, 1.0)[:, None, None]  # the direction of the other decision
    answer = maximize(network, against, region, target=0.0, proof=True)
    certified = (answer.upper[:, 0] < 0) & (logit != 0)
    reached = ~certified & (answer.best[:, 0] > 0)
    points = np.where(reached[:, None], answer.witness[:, 0], x)
    witnesses = region.decode(points)
    other_logit = network(similarity.encoding.encode(witnesses.individuals))[:, 0]
    violated = reached & witnesses.confirmed & (np.sign(other_logit) == -np.sign(logit)) & (logit != 0)
    # Only what is claimed of certified people needs a proof.
    refused = {refusal.person for refusal in refusals(network, against, region, answer)}
    truth = np.asarray(data.test.y, dtype=bool)
    return _Result(
        name,
        accuracy=float((truth == (logit > 0)).mean()),
        balanced=float(balanced_accuracy_score(truth, logit > 0)),
        decision=logit > 0,
        certified=certified,
        violated=violated,
        others=witnesses.individuals,
        refused=sum(bool(certified[person]) for person in refused),
    )


# -- what is shown -----------------------------------------------------------------------------------------------------


def _show_formula(console: Console, similarity: Similarity) -> None:
    from rich.panel import Panel
    from rich.text import Text

    lines = [line for line in similarity.text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    console.print(
        Panel(Text("\n".join(lines), style="bold"), title=f"who counts as similar: {FORMULA}", title_align="left")
    )
    console.print(Text(similarity.explain() + "\n"))


def _show_table(console: Console, results: list[_Result], people: int) -> None:
    from rich.table import Table

    table = Table(
        title=f"{people} applicants nobody trained on, each proved or refuted (percent)", title_justify="left"
    )
    for heading in ("model", "accuracy", "balanced", "certified", "violated", "undecided"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    for result in results:
        row = result.summary()
        shares = [row[key] for key in ("accuracy", "balanced_accuracy", "certified", "violated", "undecided")]
        table.add_row(result.name, *(f"{100 * share:.1f}" for share in shares))
    console.print(table)
    console.print(
        "certified: proved that every similar applicant, real or not, gets the same decision.\n"
        "violated: a similar applicant with the opposite decision was found; one of them is shown below.\n"
        "undecided: neither; mostly only somebody with a third of a credit would be treated differently.\n"
    )


def _show_person(console: Console, result: _Result, data: Dataset, similarity: Similarity) -> None:
    """The violated person whose counterexample differs in the fewest attributes."""
    import numpy as np
    from rich.table import Table

    people, others = data.test.X.reset_index(drop=True), result.others.to_pandas()
    if not result.violated.any():
        console.print(f"Nobody was found whom the {result.name} model treats differently from somebody similar.\n")
        return
    differs = people.astype(str).to_numpy() != others[people.columns].astype(str).to_numpy()
    row = int(np.argmin(np.where(result.violated, differs.sum(axis=1), np.inf)))
    words = ("refused", "granted")
    decision = bool(result.decision[row])
    table = Table(title=f"applicant {row} under the {result.name} model", title_justify="left")
    for heading in ("", f"applicant {row}", "a similar applicant"):
        table.add_column(heading)
    for name in people.columns[differs[row]]:
        table.add_row(name, str(people.loc[row, name]), str(others.loc[row, name]))
    table.add_row("decision", words[decision], words[not decision], style="bold")
    console.print(table)
    console.print("Everything else is equal, and the formula above holds for the two.\n")


def _show_check(console: Console, results: list[_Result]) -> None:
    proved = sum(int(result.certified.sum()) for result in results)
    refused = sum(result.refused for result in results)
    verdict = "every one confirmed" if not refused else f"[bold red]{refused} NOT confirmed[/bold red]"
    console.print(f"{proved} proofs were re-computed by the exact checker, in whole-number arithmetic: {verdict}.")
    console.print(
        "Certified means: with respect to the formula above, and no more. docs/language.md says how to write yours."
    )
