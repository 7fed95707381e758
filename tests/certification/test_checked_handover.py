"""What a consumer is shown beside ``checked`` is bound to what was checked: the text of φ, flags, schema, people."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import FrozenEncoder, Representation, represent
from lcifr.check.bundle import check_bundle
from lcifr.data.files import MANIFEST
from lcifr.errors import ArtefactError
from lcifr.phi.similarity import Similarity
from tests.certification.scenes import FORMULAS, Scene, scene


@pytest.fixture(scope="module")
def one() -> Scene:
    return scene(1, FORMULAS[0], count=4)


@pytest.fixture(scope="module")
def handed(one: Scene) -> Representation:
    return represent(one.encoder, one.people)


def edited(folder: Path, **changes: Any) -> None:
    """The manifest after a producer changed what it says about itself."""
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["provenance"] |= changes
    (folder / MANIFEST).write_text(json.dumps(manifest))


def reported(one: Scene, handed: Representation, tmp_path: Path) -> Path:
    """The checker's report on the bundle of a hand-over."""
    write_bundle(tmp_path / "bundle", one.encoder, one.people, handed)
    (tmp_path / "report.json").write_text(json.dumps(asdict(check_bundle(tmp_path / "bundle"))))
    return tmp_path / "report.json"


def test_the_text_of_phi_is_the_formula_of_its_hash(one: Scene, handed: Representation, tmp_path: Path) -> None:
    handed.write(tmp_path / "out")
    found = Representation.read(tmp_path / "out").provenance.formula()
    assert found is not None
    assert found.hash == one.encoder.similarity.hash


@pytest.mark.parametrize("how", ["another formula", "a comment", "no formula", "no text", "other scales", "no scales"])
def test_another_text_of_phi_is_refused(how: str, handed: Representation, tmp_path: Path) -> None:
    handed.write(tmp_path / "out")
    text, scales = str(handed.provenance.similarity_text), json.loads(json.dumps(handed.provenance.scales))
    if how == "other scales":
        scales["scales"]["income"]["sd"] *= 2
    changes: dict[str, Any] = {
        "another formula": {"similarity_text": text.replace("within 2", "within 20")},
        "a comment": {"similarity_text": text + "\n# approved by the regulator"},
        "no formula": {"similarity_text": "everybody is equal"},
        "no text": {"similarity_text": 5},
        "other scales": {"scales": scales},
        "no scales": {"scales": None},
    }[how]
    assert changes != {"similarity_text": text}
    edited(tmp_path / "out", **changes)
    with pytest.raises(ArtefactError, match="text of φ is not the formula that the hash names"):
        Representation.read(tmp_path / "out")


def test_a_formula_that_nobody_could_compare_with_its_hash_is_not_shown(one: Scene) -> None:
    """Ranks are among training people, who are not handed over."""
    text = FORMULAS[0] + " and |rank(income' by sex') - rank(income by sex)| <= 2"
    ranked = Similarity(text, one.encoder.encoding.schema, one.encoder.encoding)
    provenance = represent(FrozenEncoder(one.encoder.network, ranked), one.people).provenance
    assert (provenance.similarity_text, provenance.scales, provenance.formula()) == (None, None, None)


def test_withheld_is_withheld_with_its_scales(one: Scene) -> None:
    provenance = represent(one.encoder, one.people, share_formula=False).provenance
    assert (provenance.similarity_text, provenance.scales) == (None, None)


@pytest.mark.parametrize("name", ["exact", "vacuous"])
def test_flags_other_than_those_that_were_checked_confirm_no_radius(
    name: str, one: Scene, handed: Representation, tmp_path: Path
) -> None:
    report = reported(one, handed, tmp_path)
    assert set(handed.with_report(report).radius_status) == {"checked"}
    other = replace(handed, **{name: ~getattr(handed, name)})
    assert other.latent_hash != handed.latent_hash
    with pytest.raises(ArtefactError, match="a different hand-over"):
        other.with_report(report)


def test_a_report_about_another_schema_confirms_no_radius(one: Scene, handed: Representation, tmp_path: Path) -> None:
    report = reported(one, handed, tmp_path)
    other = replace(handed, provenance=replace(handed.provenance, schema="0" * 64))
    with pytest.raises(ArtefactError, match="a different hand-over"):
        other.with_report(report)


def test_who_is_similar_to_nobody_is_marked_whatever_the_producer_says(one: Scene, tmp_path: Path) -> None:
    """φ asks for somebody of a job who has another one; the producer writes that all is well."""
    nobody = Similarity(
        FORMULAS[0] + ' and (job = "nurse" implies job\' != job)', one.encoder.encoding.schema, one.encoder.encoding
    )
    encoder = FrozenEncoder(one.encoder.network, nobody)
    honest = represent(encoder, one.people)
    assert 0 < honest.vacuous.sum() < len(honest)
    lie = replace(honest, vacuous=np.zeros(len(honest), np.bool_))
    write_bundle(tmp_path / "bundle", encoder, one.people, lie)
    (tmp_path / "report.json").write_text(json.dumps(asdict(check_bundle(tmp_path / "bundle"))))
    checked = lie.with_report(tmp_path / "report.json")
    assert set(checked.radius_status) == {"checked"}
    assert (checked.vacuous == honest.vacuous).all()
