"""Bounds on a device give the verdicts of the CPU. What a GPU would do, torch does here on the CPU, as "cpu:0"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet

from lcifr.certification.handover import Representation, represent
from lcifr.certification.subject import Subject
from lcifr.data import Individuals
from lcifr.data.ingest import Chunk
from lcifr.errors import LcifrError
from lcifr.models.loading import read_model
from lcifr.prove import networks
from lcifr.prove.question import Answer, Question
from lcifr.workflows import executors
from lcifr.workflows.executors import RayCluster, job_device
from lcifr.workflows.jobs import AuditJob, CertifyJob
from tests.certification.scenes import FORMULAS, people, scene
from tests.story import lcifr

NO_GPU = "no CUDA device: torch.cuda.is_available() is False"
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason=NO_GPU)
DEVICES = ["cpu:0", pytest.param("cuda", marks=needs_gpu)]
PEOPLE = 80


def verdicts(seed: int, formula: str, device: str | None) -> pa.Table:
    one = scene(seed, formula)
    job = AuditJob(Subject.of(one.encoder, one.model, arithmetic="float64"), modular=True, device=device)
    persons = Individuals.read(people(PEOPLE, seed), job.schema)
    return job.answer(Chunk(0, 0, persons, tuple(range(PEOPLE))))


def without_bounds(table: pa.Table) -> pa.Table:
    """Without the margin and the probability that follows from it: other bounds are proved on another device."""
    return table.drop_columns([name for name in ("margin", "least_probability") if name in table.column_names])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("formula", FORMULAS[:3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_verdicts_are_those_without_a_device(
    seed: int, formula: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, but for the margin: a proved bound, which is another one."""
    searched: list[int] = []
    answer = networks._answer_here

    def counted(question: Question) -> Answer:
        searched.append(question.region.people)
        return answer(question)

    here = verdicts(seed, formula, None)
    monkeypatch.setattr(networks, "_answer_here", counted)
    there = verdicts(seed, formula, device)
    assert without_bounds(there) == without_bounds(here)
    certified = np.array(here["verdict"]) == "CERTIFIED"
    assert (there["margin"].to_numpy()[certified] > 0).all()
    refuted = ~certified
    assert np.array_equal(there["margin"].to_numpy()[refuted], here["margin"].to_numpy()[refuted])
    assert PEOPLE in searched  # by the hand-over, which stays with the CPU
    assert min(searched) < PEOPLE or not refuted.any()  # bounds have spared somebody the search


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("on", ["ball", "box"])
def test_certificates_on_a_handover_are_those_without_a_device(device: str, on: str) -> None:
    one = scene(2, FORMULAS[0])
    handed = represent(one.encoder, people(PEOPLE, 2))
    job = CertifyJob(read_model(one.model), on, handed.provenance.arithmetic, handed.provenance.arithmetic)  # type: ignore[arg-type]
    there = CertifyJob(job.model, job.on, job.arithmetic, job.handover_arithmetic, device)
    bounds = ["margin", "largest_radius"]
    assert there.answer(handed).drop_columns(bounds) == job.answer(handed).drop_columns(bounds)
    assert there.run_hash() != job.run_hash()  # so that parts of both are never mixed


def test_no_gpu_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(LcifrError, match=r"--device cuda: PyTorch .* (built without CUDA|finds no GPU)"):
        job_device("cuda", None)
    assert job_device("auto", None) is None
    assert job_device("cpu", None) is None


def test_emulated_products_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert job_device("auto", None) == "cuda"
    monkeypatch.setenv(executors.EMULATION, "1")
    with pytest.raises(LcifrError, match=executors.EMULATION):
        job_device("cuda", None)


def test_a_cluster_has_its_own_devices() -> None:
    assert job_device("cuda", RayCluster()) == "cuda"
    with pytest.raises(LcifrError, match="nodes of a cluster differ"):
        job_device("auto", RayCluster())


@pytest.fixture(params=DEVICES)
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What --device cuda means."""
    if request.param != "cuda":
        monkeypatch.setattr(executors, "GPU", request.param)
        monkeypatch.setattr(executors, "cuda_problem", lambda: None)
    return str(request.param)


@pytest.mark.usefixtures("gpu")
def test_commands_write_the_same_verdicts(story: Path, place: Path, tmp_path: Path) -> None:
    table, folders = place / "people.parquet", (story / "producer", story / "consumer")
    audit = ["audit", *folders, table, "--id", "who", "--no-baselines", "--no-bundle"]
    certify = ["certify", folders[1], table, "--producer", folders[0], "--id", "who"]
    for name, words in (("audit", audit), ("certify", certify)):
        for device in ("cpu", "cuda"):
            out = tmp_path / f"{name}-{device}"
            lcifr(*words, "--device", device, "--workers", "1", "--out", out, cwd=tmp_path, expect=None)
        here, there = (
            parquet.read_table(tmp_path / f"{name}-{device}/audited/audit.parquet") for device in ("cpu", "cuda")
        )
        assert without_bounds(there) == without_bounds(here)


@pytest.mark.usefixtures("gpu")
def test_a_handover_has_radii_within_the_tolerance(story: Path, place: Path, tmp_path: Path) -> None:
    words = ["represent", story / "producer", place / "people.parquet", "--id", "who", "--workers", "1"]
    for device in ("cpu", "cuda"):
        lcifr(*words, "--device", device, "--out", tmp_path / device, cwd=tmp_path)
    here, there = (Representation.read(tmp_path / device / "handover") for device in ("cpu", "cuda"))
    assert np.array_equal(here.latent, there.latent)
    assert np.allclose(here.radius, there.radius, rtol=3e-6, atol=3e-6)
