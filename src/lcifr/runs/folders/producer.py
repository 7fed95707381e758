"""A producer's folder: people, labels, encoder, φ, the hand-over and the proofs; ``produce`` and ``tune`` write it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.learn.parameters import Learner
from lcifr.runs.folders.summaries import (
    MODEL,
    ConsumerSummary,
    ProducerFormula,
    ProducerSummary,
    classes_of,
    plain_findings,
    read_findings,
)
from lcifr.runs.formulas import read_formula
from lcifr.runs.handing_over import BUNDLE, HandingOver, hand_over, prove_radii
from lcifr.runs.people.source import source_in_memory
from lcifr.runs.people.tables import write_table
from lcifr.runs.people.train_test import HELD_OUT, TRAIN, TrainTest

if TYPE_CHECKING:
    from lcifr.estimators.baselines import Producer
    from lcifr.estimators.heads import Head
    from lcifr.runs.folders.settings import Steps

ENCODER, LABELS = "encoder.safetensors", "labels.csv"
LEARNED = (ENCODER, "similar.phi", "schema.toml", LABELS)
HANDED = "handover"


def write_people(work: Path, people: TrainTest) -> None:
    """Attributes of both splits; formulas that take ranks need them to load an encoder."""
    for name, split in people.splits().items():
        write_table(work / "people" / f"{name}.parquet", split.X)


def write_encoder(steps: Steps, people: TrainTest, phi: str, encoder: Producer) -> None:
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


def write_handover(steps: Steps, people: TrainTest, encoder: Producer, options: HandingOver) -> None:
    """z and proved radius of everybody, each split in a folder of its own, unless they are there already."""
    for name, split in people.splits().items():
        title = f"Proving the radius of {len(split)} people ({name})"
        source = source_in_memory(split, people.schema)
        hand_over(steps, f"{HANDED}/{name}", encoder, source, options, title=title)


def write_proofs(steps: Steps, people: TrainTest, encoder: Producer) -> None:
    """Of the radii of those who were held out, for an auditor."""
    prove_radii(steps, encoder, source_in_memory(people.held_out, people.schema), f"{HANDED}/{HELD_OUT}")


def summarize(
    work: Path, people: TrainTest, encoder: Producer, warned: Sequence[str], *, bundle: bool
) -> ProducerSummary:
    """What a producer's folder says of itself."""
    from lcifr.certification.handover import freeze, radius_summary
    from lcifr.estimators import FairEncoder
    from lcifr.phi.lint import lint

    similarity, network = encoder.similarity_, isinstance(encoder, FairEncoder)
    return ProducerSummary(
        target=str(people.schema.target),
        data=people.data,
        task="classification" if encoder.target_ and len(encoder.target_.classes) else "regression",
        sizes={name: len(split) for name, split in people.splits().items()},
        held_out=people.held_out.ids,
        phi=ProducerFormula(similarity.text, similarity.explain(), similarity.hash, similarity.source),
        encoder=freeze(encoder).function.hash,
        unread=tuple(encoder.unread_),
        epochs=encoder.history_[-1].number + 1 if encoder.history_ else 0,
        radius=radius_summary(work / HANDED / HELD_OUT),
        warnings=tuple(warned),
        files={"encoder": ENCODER, "handover": HANDED, "bundle": BUNDLE if bundle else None, "labels": LABELS},
        learner=str(Learner.NETWORK if network else Learner.TREES),
        scores=() if network else tuple(map(str, encoder.get_feature_names_out())),
        findings=read_findings(plain_findings(tuple(lint(similarity, people.train.X)))),  # words, and nobody's values
    )


def write_model(work: Path, made: ProducerSummary, head: Head, trained_on: int) -> ConsumerSummary:
    """A model on z beside the encoder: the folder is then a consumer's, too. Returns what it says of that."""
    from lcifr.certification.handover import Representation

    head.save(work / MODEL)
    return ConsumerSummary(
        target=made.target,
        task=made.task,
        classes=classes_of(head.model_),
        tolerance=getattr(head, "tolerance", None),
        trained_on=trained_on,
        provenance=Representation.read(work / HANDED / HELD_OUT).provenance,
        model=head.network_.hash,
    )


def suggest_tolerance(folder: Path, made: ProducerSummary) -> str:
    """An option to begin with, where labels are numbers: from those of the people who were learned from."""
    import pandas as pd

    from lcifr.runs.learning import example_tolerance

    labels = pd.read_csv(folder / LABELS)
    return example_tolerance(labels[made.target].to_numpy()[: made.sizes[TRAIN]])  # these come first
