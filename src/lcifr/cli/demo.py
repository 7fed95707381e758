"""How is it used from a shell? ``lcifr demo``: the main job on the built-in data, from formula to checked proofs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._output import print_json

if TYPE_CHECKING:
    from rich.console import Console

    from lcifr.certificates import Audit
    from lcifr.datasets import Dataset
    from lcifr.estimators import FairEncoder, RobustClassifier
    from lcifr.similarity import Similarity

DATASET, FORMULA = "german", "german/cat_noise"
# Small and quick: enough for the point, not for the best figures (benchmarks/figures.py tunes on validation).
BATCH, EPOCHS, HEAD_WEIGHT = 64, 60, 3.0


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    seed: Annotated[int, typer.Option(help="Seed of the training.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Also save what is printed as an SVG picture.")] = None,
) -> None:
    """Learn on the built-in German credit data, prove who is treated like everybody similar, and check the proofs.

    Example: lcifr demo --seed 1
    """
    from rich.console import Console

    from lcifr.data import Encoding
    from lcifr.datasets import load
    from lcifr.similarity import Similarity

    data = load(DATASET)
    similarity = Similarity.ready(FORMULA, data.schema, Encoding.fit(data.train.X, data.schema))
    console = Console(highlight=False, record=picture is not None, width=110 if picture else None)
    if not as_json:
        _show_formula(console, similarity)
    results = _results(data, similarity, seed)
    if as_json:
        print_json([result.summary() for result in results])
        return
    _show_table(console, results, len(data.test.y))
    _show_person(console, results[0])
    _show_check(console, results)
    if picture:
        _save_picture(console, picture)


def _save_picture(console: Console, path: Path) -> None:
    """An SVG that loads nothing from anywhere: rich's own refers to a web font."""
    path.write_text(re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="lcifr demo"), flags=re.DOTALL))


@dataclass(frozen=True)
class _Result:
    """One model on the test set."""

    name: str
    accuracy: float
    balanced: float
    audit: Audit
    refused: int  # proofs that the exact checker did not confirm

    def summary(self) -> dict[str, Any]:
        certified, violated = self.audit.certified, self.audit.violated
        return {
            "model": self.name,
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced,
            "certified": float(certified.mean()),
            "violated": float(violated.mean()),
            "undecided": float((~certified & ~violated).mean()),
            "proofs_checked": int(certified.sum()),
            "proofs_refused": self.refused,
        }


def _results(data: Dataset, similarity: Similarity, seed: int) -> list[_Result]:
    """The plain model, the unaware one, and the one that was trained for what is proved."""
    import torch
    from rich.progress import Progress

    from lcifr.cli._output import stderr
    from lcifr.estimators import FairEncoder, plain, unaware

    torch.set_num_threads(1)  # networks this small only lose time to threads
    base = FairEncoder(similarity, batch_size=BATCH, epochs=EPOCHS, random_state=seed)
    models = {"plain": plain(base), "unaware of sex": unaware(base), "trained to be proved": base}
    found = []
    with Progress(console=stderr(), transient=True) as progress:
        task = progress.add_task("learning and proving", total=len(models))
        for name, encoder in models.items():
            encoder.fit(data.train.X, data.train.y, validation=(data.validation.X, data.validation.y))
            found.append(_judge(name, encoder, _head(encoder, data), data))
            progress.advance(task)
    return found


def _head(encoder: FairEncoder, data: Dataset) -> RobustClassifier:
    """The consumer's classifier: it sees z and y, and of the last model also each person's radius."""
    from lcifr.estimators import RobustClassifier

    if encoder.gamma == 0:
        return RobustClassifier(against="nothing").fit(encoder.transform(data.train.X), data.train.y)
    near = encoder.radius(data.train.X, method="bounds")
    return RobustClassifier(gamma=HEAD_WEIGHT).fit(near.latent, data.train.y, radius=near.radius)


def _judge(name: str, encoder: FairEncoder, head: RobustClassifier, data: Dataset) -> _Result:
    """Prove, person by person, that nobody similar gets another decision, or find somebody who does."""
    import numpy as np
    from sklearn.metrics import accuracy_score, balanced_accuracy_score

    from lcifr.certificates import FrozenEncoder, audit
    from lcifr.certificates.chain import merge
    from lcifr.prove import maximize
    from lcifr.prove.confirm import refusals

    frozen = FrozenEncoder(encoder.network_, encoder.similarity_)
    found = audit(frozen, head, data.test.X, modular=False)
    certified = np.flatnonzero(found.certified)
    # The same bounds once more, with proofs, for the exact checker: the logit never reaches the other side of 0.
    network = merge(encoder.network_, head.network_)
    region = encoder.region(data.test.X).take(certified)
    logit = network(encoder.encoding_.encode(data.test.X)[certified])[:, 0]
    against = np.where(logit > 0, -1.0, 1.0)[:, None, None]
    answer = maximize(network, against, region, target=0.0, proof=True)
    refused = {refusal.person for refusal in refusals(network, against, region, answer)}
    refused |= set(np.flatnonzero(answer.upper[:, 0] >= 0).tolist())
    truth, decision = np.asarray(data.test.y), np.asarray(found.prediction)
    return _Result(
        name,
        float(accuracy_score(truth, decision)),
        float(balanced_accuracy_score(truth, decision)),
        found,
        len(refused),
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


def _show_person(console: Console, result: _Result) -> None:
    """The violated person whose counterexample differs in the fewest attributes."""
    from rich.table import Table

    found = result.audit
    pairs = {name: found.counterexample(name) for name, bad in zip(found.ids, found.violated, strict=True) if bad}
    if not pairs:
        console.print(f"Nobody was found whom the {result.name} model treats differently from somebody similar.\n")
        return
    person = min(pairs, key=lambda name: pairs[name].shape[1])
    granted = bool(found.prediction[found.ids.index(person)])
    words = ("refused", "granted")
    table = Table(title=f"applicant {person} under the {result.name} model", title_justify="left")
    for heading in ("", f"applicant {person}", "a similar applicant"):
        table.add_column(heading)
    for name in pairs[person].columns:
        table.add_row(name, *(str(value) for value in pairs[person][name]))
    table.add_row("decision", words[granted], words[not granted], style="bold")
    console.print(table)
    console.print("Everything else is equal, and the formula above holds for the two.\n")


def _show_check(console: Console, results: list[_Result]) -> None:
    proved = sum(int(result.audit.certified.sum()) for result in results)
    refused = sum(result.refused for result in results)
    verdict = "every one confirmed" if not refused else f"[bold red]{refused} NOT confirmed[/bold red]"
    console.print(f"{proved} proofs were re-computed by the exact checker, in whole-number arithmetic: {verdict}.")
    console.print(
        "Certified means: with respect to the formula above, and no more. docs/language.md says how to write yours."
    )
