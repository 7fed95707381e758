"""A producer's folder: people, labels, encoder, φ, the hand-over and the proofs; ``produce`` and ``tune`` write it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.cli._output import command, say, to_stderr
from lcifr.runs.formulas import describe_formula, read_formula
from lcifr.runs.handing_over import hand_over, prove_radii
from lcifr.runs.people.source import source_in_memory
from lcifr.runs.people.tables import HELD_OUT, TRAIN, TrainTest, write_table

if TYPE_CHECKING:
    from lcifr.estimators import FairEncoder
    from lcifr.runs.steps import Steps

ENCODER, LABELS = "encoder.safetensors", "labels.csv"
LEARNED = (ENCODER, "similar.phi", "schema.toml", LABELS)
HANDED = "handover"


def write_people(work: Path, people: TrainTest) -> None:
    """Attributes of both splits; formulas that take ranks need them to load an encoder."""
    for name, split in people.splits().items():
        write_table(work / "people" / f"{name}.parquet", split.X)


def write_encoder(steps: Steps, people: TrainTest, phi: str, encoder: FairEncoder) -> None:
    """Labels, φ, schema and the encoder itself."""
    work = steps.work
    (work / "similar.phi").write_text(read_formula(phi)[0], encoding="utf-8")
    people.schema.save(work / "schema.toml")
    _write_labels(work / LABELS, people)
    encoder.save(work / ENCODER)
    steps.keep(*LEARNED)


def _write_labels(path: Path, people: TrainTest) -> None:
    import pandas as pd

    target = str(people.schema.target)
    name = "id" if target != "id" else "person"
    splits = people.splits().values()
    labels = {
        name: [one for split in splits for one in split.ids],
        target: [one for split in splits for one in split.y],
    }
    pd.DataFrame(labels).to_csv(path, index=False)


def write_handover(
    steps: Steps, people: TrainTest, encoder: FairEncoder, share_formula: bool, workers: int | None, chunk: int | None
) -> None:
    """z and proved radius of everybody, each split in a folder of its own, unless they are there already."""
    for name, split in people.splits().items():
        title = f"Proving the radius of {len(split)} people ({name})"
        source = source_in_memory(split, people.schema)
        options: dict[str, Any] = {"share_formula": share_formula, "workers": workers, "chunk": chunk}
        hand_over(steps, f"{HANDED}/{name}", encoder, source, title=title, **options)


def write_proofs(steps: Steps, people: TrainTest, encoder: FairEncoder) -> None:
    """Of the radii of those who were held out, for an auditor."""
    prove_radii(steps, encoder, source_in_memory(people.held_out, people.schema), f"{HANDED}/{HELD_OUT}")


def describe_produced(
    work: Path, people: TrainTest, encoder: FairEncoder, warned: list[str], *, bundle: bool
) -> dict[str, Any]:
    """What is said of a producer's folder, for programs."""
    from lcifr.artifacts.handover_chunks import radius_summary

    similarity, last = encoder.similarity_, encoder.history_[-1]
    return {
        "target": people.schema.target,
        "data": people.data,
        "task": "classification" if encoder.target_ and len(encoder.target_.classes) else "regression",
        "sides": {name: len(split) for name, split in people.splits().items()},
        "held_out": list(people.held_out.ids),
        "phi": describe_formula(similarity),
        "encoder": encoder.network_.hash,
        "unread": list(encoder.unread_),
        "epochs": last.number + 1,
        "radius": radius_summary(work / "handover" / HELD_OUT),
        "warnings": warned,
        "files": {
            "encoder": ENCODER,
            "handover": "handover",
            "bundle": "bundle" if bundle else None,
            "labels": LABELS,
        },
    }


def show_produced(result: dict[str, Any], out: Path) -> None:
    """The same for people."""
    people, radius = result["sides"], result["radius"]
    say(f"learned from {people[TRAIN]} people in {result['epochs']} epochs")
    if result["unread"]:
        say(f"the encoder does not read what φ leaves free: {', '.join(result['unread'])}")
    say(f"{people[HELD_OUT]} people were held out; {out}/handover/{HELD_OUT}/ids.json names them")
    say(
        f"radius of the held-out people, proved: median {radius['median']:.4g}, largest {radius['largest']:.4g}; "
        f"exact for {radius['exact']} of {people[HELD_OUT]}"
    )
    if radius["vacuous"]:
        say(f"warning: nobody at all is similar to {radius['vacuous']} of them; such certificates say nothing")
    say(f"\n{out}/handover     for the consumer: z and radius, no attributes (z may still reveal some)")
    if result["files"]["bundle"]:
        say(f"{out}/bundle       for an auditor: people, weights, proofs")
    say(f"{out}/labels.csv   {result['target']} by id, if the consumer has no labels of their own")


def show_next(result: dict[str, Any], out: Path, people: TrainTest) -> None:
    """The consumer's command, to paste; numbers need a tolerance."""
    from lcifr.runs.learning import example_tolerance

    number = result["task"] == "regression"
    tolerance = example_tolerance(people.train.y).split() if number else []
    to_stderr(f"\nNext: {command('consume', out / 'handover', out / LABELS, *tolerance, '--out', 'consumer')}")
    if number:
        to_stderr(
            "      (predictions less than the tolerance apart count as the same decision; how far is yours to say)"
        )
