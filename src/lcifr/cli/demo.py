"""``lcifr demo``: the main job on the built-in data, from formula to report."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._command import command_of
from lcifr.cli._output import JsonOption, print_json
from lcifr.errors import LcifrError
from lcifr.files import write_json
from lcifr.runs.auditing.baselines import figures_of
from lcifr.runs.folder import settings_of

if TYPE_CHECKING:
    from rich.console import Console

    from lcifr.artifacts.handover import Representation
    from lcifr.certification.auditor import Audit
    from lcifr.certification.encoder import FrozenEncoder
    from lcifr.datasets import Dataset
    from lcifr.estimators import FairEncoder, RobustClassifier
    from lcifr.runs.auditing.result import CheckedProofs
    from lcifr.similarity import Similarity

DATASET, FORMULA = "german", "german/cat_noise"
DECISIONS = {"0": "refused", "1": "granted"}
PLAIN, UNAWARE, PROVED = "plain", "unaware of sex", "trained with lcifr"
# Small and quick: enough for the point, not for the best figures (experiments/ tunes on validation).
BATCH, EPOCHS, HEAD_WEIGHT = 64, 60, 3.0
MARK = "demo.json"  # the settings, in a folder that this command wrote and may replace
EXAMPLE = "Example: lcifr demo --out lcifr-demo"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(demo)


def demo(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the report and the proofs go; an earlier demo's are replaced.")
    ] = Path("lcifr-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the training.")] = 0,
    as_json: JsonOption = False,
    picture: Annotated[Path | None, typer.Option(help="Also save what is printed as an SVG picture.")] = None,
) -> None:
    """Learn on the built-in German credit data, prove who is treated like everybody similar, and check the proofs.

    Takes about half a minute and writes a report to look at. Exit code 1 if the exact checker refused a proof.
    """
    from rich.console import Console

    from lcifr.cli import _demo_words as words
    from lcifr.data import Encoding
    from lcifr.datasets import load
    from lcifr.similarity import Similarity

    settings = settings_of(command_of(context), {})
    _make_room(out, settings)
    data = load(DATASET)
    similarity = Similarity.ready(FORMULA, data.schema, Encoding.fit(data.train.X, data.schema))
    console = Console(highlight=False, record=picture is not None, width=110 if picture else None, quiet=as_json)
    words.show_formula(console, similarity)
    results = judge_all(data, similarity, seed, out)
    words.show_table(console, results)
    words.show_person(console, results[0])
    words.show_check(console, results, out)
    page = _write_report(data, results, settings, out)
    words.show_report(console, results, page)
    summary = _summary(results, page)
    if as_json:
        print_json(summary)
    if picture:
        _save_picture(console, picture)
    raise typer.Exit(1 if summary["refused"] else 0)


@dataclass(frozen=True)
class Result:
    """One model on the test set, and what the exact checker said of its proofs."""

    name: str
    encoder: FrozenEncoder
    audit: Audit
    figures: dict[str, float]
    checked: CheckedProofs
    handed: Representation | None


def _make_room(out: Path, settings: dict[str, Any]) -> None:
    """A folder that holds the settings alone: a new one, or that of an earlier demo without what it held."""
    if out.exists() and not (out / MARK).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise LcifrError(f"{out} exists and was not written by `lcifr demo`", fix="choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / MARK, settings)
    shutil.rmtree(out / "proofs", ignore_errors=True)


def judge_all(data: Dataset, similarity: Similarity, seed: int, out: Path) -> list[Result]:
    """The plain model, the unaware one, and the one that was trained for what is proved."""
    import torch
    from rich.progress import Progress

    from lcifr.cli._output import stderr
    from lcifr.estimators import FairEncoder, plain, unaware

    torch.set_num_threads(1)  # networks this small only lose time to threads
    base = FairEncoder(similarity, batch_size=BATCH, epochs=EPOCHS, random_state=seed)
    models = {PLAIN: plain(base), UNAWARE: unaware(base), PROVED: base}
    found = []
    with Progress(console=stderr(), transient=True) as progress:
        task = progress.add_task("learning, proving, checking", total=2 * len(models))
        for name, encoder in models.items():
            encoder.fit(data.train.X, data.train.y, validation=(data.validation.X, data.validation.y))
            progress.advance(task)
            found.append(_judge(name, encoder, _head(encoder, data), data, out / "proofs" / name.split()[0]))
            progress.advance(task)
    return found


def _head(encoder: FairEncoder, data: Dataset) -> RobustClassifier:
    """The consumer's classifier: it sees z and y, and of the last model also each person's radius."""
    from lcifr.estimators import RobustClassifier

    if encoder.gamma == 0:
        return RobustClassifier(against="nothing").fit(encoder.transform(data.train.X), data.train.y)
    near = encoder.radius(data.train.X, method="bounds")
    return RobustClassifier(gamma=HEAD_WEIGHT).fit(near.latent, data.train.y, radius=near.radius)


def _judge(name: str, encoder: FairEncoder, head: RobustClassifier, data: Dataset, folder: Path) -> Result:
    """Prove, person by person, that nobody similar gets another decision, or find somebody who does; then check it."""
    from lcifr.certification.auditor import Audit, audit
    from lcifr.certification.bundles.writer import write_bundle
    from lcifr.certification.encoder import freeze
    from lcifr.certification.population.statement import state
    from lcifr.certification.producer import represent
    from lcifr.check.bundle import check_bundle
    from lcifr.runs.auditing.result import CheckedProofs

    frozen = freeze(encoder)
    ids = [int(row) for row in data.test.X.index]
    handed = represent(frozen, data.test.X, ids) if name == PROVED else None
    found = audit(frozen, head, data.test.X, ids, modular=False if handed is None else handed)
    folder.parent.mkdir(exist_ok=True)
    written = write_bundle(folder, frozen, data.test.X, handed, found)
    found = written if isinstance(written, Audit) else found  # whose proof stops short is not certified
    said = state(found, data.test.y, held_out=True)
    return Result(name, frozen, found, figures_of(said), CheckedProofs.from_report(check_bundle(folder)), handed)


def _write_report(data: Dataset, results: list[Result], settings: dict[str, Any], out: Path) -> Path:
    """The page about the last model, with the others as its baselines; Markdown and JSON beside it."""
    from lcifr.certification.population.statement import state
    from lcifr.report import About, build, format_names, render
    from lcifr.report.surroundings import checked_of

    last = results[-1]
    statement = state(
        last.audit,
        data.test.y,
        held_out=True,
        by={"sex": data.test.X["sex"]},
        baselines={result.name: result.figures for result in results[:-1]},
    )
    about = About(
        title="German Credit: who is decided like everybody similar?",
        data=f"{len(data.test)} applicants whom nobody trained on",
        partial=data.partial,
        data_cautions=data.cautions,
        model=last.name,
        decisions=DECISIONS,
        settings={"command": f"lcifr demo --seed {settings['seed']}"},
        author="lcifr demo",
        audited=settings["started"][: len("2026-11-16")],
        checked=checked_of(last.checked),
        recheck=("python -m lcifr.check proofs/trained",),
    )
    made = build(last.audit, statement, encoder=last.encoder, radius=last.handed, about=about)
    for form in format_names():
        (out / f"report.{form}").write_bytes(render(made, form).encode())
    return out / "report.html"


def _summary(results: list[Result], page: Path) -> dict[str, Any]:
    models = [
        {
            "model": result.name,
            **result.figures,
            "confirmed": result.checked.certified + result.checked.counterexamples,
            "refused": len(result.checked.rejected),
        }
        for result in results
    ]
    refused = sum(len(result.checked.rejected) for result in results)
    return {"format": "lcifr-demo-1", "command": "demo", "models": models, "refused": refused, "report": str(page)}


def _save_picture(console: Console, path: Path) -> None:
    """An SVG that loads nothing from anywhere: rich's own refers to a web font."""
    path.write_text(re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="lcifr demo"), flags=re.DOTALL))
