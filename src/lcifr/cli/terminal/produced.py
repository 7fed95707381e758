"""What ``produce`` and ``tune`` print of a producer's folder, and the consumer's command to go on with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.cli.terminal.output import command, say, to_stderr
from lcifr.runs.people.train_test import HELD_OUT, TRAIN

if TYPE_CHECKING:
    from lcifr.runs.folders.summaries import ProducerSummary


def show_produced(made: ProducerSummary, out: Path, *, own: bool = False) -> None:
    """The encoder, the radii of the held-out people, the files, and what comes next; own : it decides itself."""
    people, radius = made.sizes, made.radius
    say(f"trained on {people[TRAIN]} people in {made.epochs} {'rounds' if made.scores else 'epochs'}")
    if made.scores:
        say(f"z has one score for each of: {', '.join(made.scores)}")
        say(f"not used, because φ leaves them free or they do not help: {', '.join(made.unread) or 'none'}")
    elif made.unread:
        say(f"the encoder ignores what φ leaves free: {', '.join(made.unread)}")
    say(f"{people[HELD_OUT]} people were held out; {out}/handover/{HELD_OUT}/ids.json lists them")
    say(
        f"proved radius of the held-out people: median {radius.median:.4g}, largest {radius.largest:.4g}; "
        f"exact for {radius.exact} of {people[HELD_OUT]}"
    )
    if radius.vacuous:
        say(f"warning: no one is similar to {radius.vacuous} of them; certificates for them say nothing")
    say(f"\n{out}/handover     for the consumer: z and radius, no attributes (z may still reveal some)")
    if made.files["bundle"]:
        say(f"{out}/bundle       for an auditor: people, weights, proofs")
    say(f"{out}/labels.csv   {made.target} by id, if the consumer has no labels")
    if own:
        itself = command("audit", out, out, "--out", "audit")
        say(f"{out}/model.safetensors   decides by the sum of the scores; to audit it: {itself}")
    _show_next(made, out)


def _show_next(made: ProducerSummary, out: Path) -> None:
    """The consumer's command, to paste; numbers need a tolerance."""
    from lcifr.runs.folders.producer import LABELS, suggest_tolerance

    number = made.task == "regression"
    tolerance = suggest_tolerance(out, made).split() if number else []
    to_stderr(f"\nNext: {command('consume', out / 'handover', out / LABELS, *tolerance, '--out', 'consumer')}")
    if number:
        to_stderr(
            "      (predictions closer than the tolerance count as the same decision; choose it to suit your case)"
        )
