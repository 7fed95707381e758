"""Bundles in deployed arithmetic: what the engine certifies in it, the checker confirms, and names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr.certification import audit, certify, represent
from lcifr.certification.bundle import write_bundle
from lcifr.certification.verdicts import Certificates
from lcifr.check.bundle import check_bundle
from lcifr.errors import ArtefactError
from lcifr.models.arithmetic import Arithmetic
from tests.certification.made_bundles import contents_of, rewritten
from tests.certification.scenes import scene, thin

FLOATS = (Arithmetic.FLOAT64, Arithmetic.FLOAT32)


@pytest.mark.parametrize("arithmetic", Arithmetic)
def test_the_checker_confirms_audits(arithmetic: Arithmetic, tmp_path: Path) -> None:
    confirmed = 0
    for seed in range(8):
        here = thin(scene(seed, outputs=1), seed)
        found = audit(here.encoder, here.model, here.people, modular=False, arithmetic=arithmetic)
        said = write_bundle(tmp_path / f"{seed}", here.encoder, here.people, decisions=found)
        assert isinstance(said, type(found))
        report = check_bundle(tmp_path / f"{seed}")
        assert report.rejected == {}
        assert len(report.names["certified"]) == said.certified.sum()
        assert len(report.names["counterexample"]) == said.violated.sum()
        confirmed += int(said.certified.sum() + said.violated.sum())
    assert confirmed > 10


@pytest.mark.parametrize("tolerance", [None, 0.7])
@pytest.mark.parametrize("second", Arithmetic)
@pytest.mark.parametrize("first", FLOATS)
def test_the_checker_confirms_hand_overs_and_verdicts_on_them(
    first: Arithmetic, second: Arithmetic, tolerance: float | None, tmp_path: Path
) -> None:
    confirmed = 0
    for seed in range(4):
        here = scene(seed)
        handed = represent(here.encoder, here.people, arithmetic=first)
        for on in ("ball", "box"):
            found = certify(handed, here.model, on=on, arithmetic=second, tolerance=tolerance)  # type: ignore[arg-type]
            folder = tmp_path / f"{seed}-{on}"
            said = write_bundle(folder, here.encoder, here.people, handed, found)
            assert isinstance(said, Certificates)
            report = check_bundle(folder)
            assert report.rejected == {}
            assert len(report.names["radius"]) == len(handed)
            assert len(report.names["certified"]) == said.certified.sum()
            confirmed += int(said.certified.sum())
            assert report.hashes["hand-over"] == handed.latent_hash
    assert confirmed > 5


def test_a_claim_in_another_arithmetic_than_it_was_proved_in_is_not_confirmed(tmp_path: Path) -> None:
    """The same proofs, said to hold in float32: somebody's margin is smaller than what that may round."""
    refused = 0
    for seed in range(8):
        here = thin(scene(seed), seed)
        found = audit(here.encoder, here.model, here.people, modular=False, arithmetic="exact")
        coarse = audit(here.encoder, here.model, here.people, modular=False, arithmetic="float32")
        write_bundle(tmp_path / f"{seed}", here.encoder, here.people, decisions=found)
        plain = contents_of(tmp_path / f"{seed}")
        for line in plain["lines"]:
            if line["decision"]["verdict"] != "undecided":
                line["decision"]["arithmetic"] = "float32"
        report = check_bundle(rewritten(tmp_path / f"changed-{seed}", plain))
        lost = {str(name) for name in np.array(found.ids)[found.certified & ~coarse.certified]}
        assert set(report.rejected) <= lost | {str(name) for name in np.array(found.ids)[found.violated]}
        refused += len(report.rejected)
    assert refused > 3


def test_a_report_about_another_arithmetic_checks_no_radius(tmp_path: Path) -> None:
    here = scene(1)
    exact = represent(here.encoder, here.people, arithmetic="exact")
    write_bundle(tmp_path / "bundle", here.encoder, here.people, exact)
    (tmp_path / "report.json").write_text(_report(tmp_path / "bundle"))
    assert exact.with_report(tmp_path / "report.json").checked.all()  # type: ignore[union-attr]
    claimed = replace(exact, provenance=replace(exact.provenance, arithmetic=Arithmetic.FLOAT32))
    with pytest.raises(ArtefactError, match="a different hand-over"):
        claimed.with_report(tmp_path / "report.json")


def _report(folder: Path) -> str:
    import json

    found: Any = check_bundle(folder)
    return json.dumps({"hashes": found.hashes, "names": found.names})
