"""The hand-over: what is written is read back, what does not add up is refused by name, and x is not in it."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lcifr.certification.handover import Representation, represent
from lcifr.data.files import sha256_of
from lcifr.errors import ArtefactError, LcifrError
from tests.certification.scenes import FORMULAS, Scene, scene


@pytest.fixture(scope="module")
def one() -> Scene:
    return scene(1, FORMULAS[0], count=5)


@pytest.fixture(scope="module")
def handed(one: Scene) -> Representation:
    return represent(one.encoder, one.people, [f"p{i}" for i in range(5)])


def test_what_is_written_is_read_back(handed: Representation, tmp_path: Path) -> None:
    handed.write(tmp_path / "out")
    again = Representation.read(tmp_path / "out")
    for name, array in handed.arrays().items():
        assert (getattr(again, name) == array).all()
    assert (again.ids, again.provenance, again.latent_hash) == (handed.ids, handed.provenance, handed.latent_hash)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out"]
    with pytest.raises(ArtefactError, match="already exists"):
        handed.write(tmp_path / "out")


def test_ball_holds_box_and_box_holds_the_latent(handed: Representation) -> None:
    assert (handed.lower <= handed.latent).all()
    assert (handed.latent <= handed.upper).all()
    assert (handed.upper - handed.latent <= handed.radius[:, None]).all()
    assert (handed.latent - handed.lower <= handed.radius[:, None]).all()
    assert handed.radius_status.tolist() == ["claimed"] * 5


def test_nothing_but_z_tells_of_x(one: Scene, tmp_path: Path) -> None:
    """The same latents from two tables are the same bytes; withheld text is withheld; no name, value or scale leaks."""
    represent(one.encoder, one.people, share_formula=False).write(tmp_path / "out")
    whole = b"".join(file.read_bytes() for file in sorted((tmp_path / "out").iterdir()))
    assert one.encoder.similarity.text.encode() not in whole
    for word in (b"age", b"income", b"nurse", b"female"):
        assert word not in whole
    for table in (one.people["income"].to_numpy(), one.encoder.encoding.encode(one.people)[:, 1]):
        for value in table:
            assert struct.pack("<d", value) not in whole
    represent(one.encoder, one.people).write(tmp_path / "shown")
    assert json.loads((tmp_path / "shown/manifest.json").read_text())["provenance"]["similarity_text"] == FORMULAS[0]


def test_ids_are_unique_text_or_whole_numbers(one: Scene, handed: Representation) -> None:
    with pytest.raises(ArtefactError, match="each once"):
        represent(one.encoder, one.people, ["a", "b", "c", "d", "a"])
    with pytest.raises(LcifrError, match="5 people and 2 ids"):
        represent(one.encoder, one.people, ["a", "b"])
    with pytest.raises(LcifrError, match="text or whole numbers"):
        represent(one.encoder, one.people, [0.5, 1, 2, 3, 4])
    for missing in (None, float("nan"), np.nan, "", " "):
        with pytest.raises(LcifrError, match=r"the list of ids has no id in row 3\nFix: give this person an id"):
            represent(one.encoder, one.people, ["a", "b", "c", missing, "e"])
    assert represent(one.encoder, one.people, np.arange(5)).ids == (0, 1, 2, 3, 4)
    for change in ({"radius": -handed.radius}, {"latent": handed.latent * np.nan}, {"lower": handed.upper + 1}):
        with pytest.raises(ArtefactError):
            replace(handed, **change)


def redo(folder: Path) -> None:
    """Hashes and sizes as if nothing had happened."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["files"]:
        if (folder / name).is_file():
            manifest["files"][name] = {"sha256": sha256_of(folder / name), "bytes": (folder / name).stat().st_size}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def edit(folder: Path, **changes: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | changes))


def arrays(folder: Path, change: Callable[[dict[str, np.ndarray]], object]) -> None:
    from safetensors.numpy import load_file, save_file

    found = {name: array.copy() for name, array in load_file(folder / "latent.safetensors").items()}
    change(found)
    save_file(found, folder / "latent.safetensors")
    redo(folder)


def cut(folder: Path) -> None:
    whole = (folder / "latent.safetensors").read_bytes()
    (folder / "latent.safetensors").write_bytes(whole[:-9])
    redo(folder)


def huge_header(folder: Path) -> None:
    whole = (folder / "latent.safetensors").read_bytes()
    (folder / "latent.safetensors").write_bytes(struct.pack("<Q", 1 << 62) + whole[8:])
    redo(folder)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    redo(folder)


def link(folder: Path) -> None:
    (folder / "ids.json").rename(folder.parent / "elsewhere.json")
    (folder / "ids.json").symlink_to(folder.parent / "elsewhere.json")


def escape(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["../secret"] = manifest["files"].pop("ids.json")
    (folder / "manifest.json").write_text(json.dumps(manifest))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (cut, "latent.safetensors"),
    "truncated without new hashes": (lambda f: (f / "ids.json").write_text('["p0"'), "ids.json"),
    "one byte changed": (lambda f: (f / "ids.json").write_text('["q0", "p1", "p2", "p3", "p4"]'), "ids.json"),
    "no manifest": (lambda f: (f / "manifest.json").unlink(), "manifest.json"),
    "manifest is a list": (lambda f: (f / "manifest.json").write_text("[]"), "manifest.json"),
    "manifest is nested too deep": (lambda f: (f / "manifest.json").write_text("[" * 200_000), "manifest.json"),
    "manifest holds NaN": (lambda f: (f / "manifest.json").write_text('{"format": NaN}'), "manifest.json"),
    "version of the future": (lambda f: edit(f, format="lcifr-handover-99"), "manifest.json"),
    "an audit bundle": (lambda f: edit(f, format="lcifr-audit-1"), "manifest.json"),
    "another number of people": (lambda f: edit(f, people=4), "latent.safetensors"),
    "people is a truth value": (lambda f: edit(f, people=True), "manifest.json"),
    "other counts": (lambda f: edit(f, counts={"exact": 9, "not_exact": 0, "vacuous": 0}), "manifest.json"),
    "no provenance": (lambda f: edit(f, provenance={"weights": "0"}), "manifest.json"),
    "path that escapes": (escape, "manifest.json"),
    "link to elsewhere": (link, "ids.json"),
    "NaN radius": (lambda f: arrays(f, lambda a: a["radius"].__setitem__(0, np.nan)), "latent.safetensors"),
    "infinite z": (lambda f: arrays(f, lambda a: a["latent"].__setitem__(0, np.inf)), "latent.safetensors"),
    "float32": (lambda f: arrays(f, lambda a: a.update(latent=a["latent"].astype("f4"))), "latent.safetensors"),
    "wrong shape": (lambda f: arrays(f, lambda a: a.update(radius=a["radius"][:3])), "latent.safetensors"),
    "array missing": (lambda f: arrays(f, lambda a: a.pop("lower")), "latent.safetensors"),
    "array too many": (lambda f: arrays(f, lambda a: a.update(x=a["lower"])), "latent.safetensors"),
    "negative radius": (lambda f: arrays(f, lambda a: a["radius"].__setitem__(1, -1.0)), "radius is negative"),
    "box backwards": (lambda f: arrays(f, lambda a: a.update(lower=a["upper"], upper=a["lower"])), "backwards"),
    "header of 2^62 bytes": (huge_header, "latent.safetensors"),
    "a pickle": (lambda f: write(f, "latent.safetensors", "cos\nsystem\n(S'touch owned'\ntR."), "latent.safetensors"),
    "ids twice": (lambda f: write(f, "ids.json", '["a", "b", "c", "d", "a"]'), "each once"),
    "ids of another kind": (lambda f: write(f, "ids.json", '["a", "b", "c", "d", null]'), "ids.json"),
    "ids are no list": (lambda f: write(f, "ids.json", '{"a": 1}'), "ids.json"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_does_not_add_up_is_refused(name: str, handed: Representation, tmp_path: Path) -> None:
    damage, named = DAMAGE[name]
    folder = tmp_path / "out"
    handed.write(folder)
    damage(folder)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    with pytest.raises(ArtefactError) as refused:
        Representation.read(folder)
    assert named in str(refused.value)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")} == before


def test_a_consumer_needs_nothing_but_the_hand_over(one: Scene, handed: Representation, tmp_path: Path) -> None:
    """Another process, in a folder that holds the hand-over and the consumer's own model only."""
    handed.write(tmp_path / "handover")
    one.model.save(tmp_path / "model.safetensors")
    code = (
        "from lcifr.certification import Representation, certify; from lcifr.models.network import Network\n"
        "found = certify(Representation.read('handover'), Network.load('model.safetensors'))\n"
        "print(' '.join(found.verdict))"
    )
    printed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    from lcifr.certification.consumer import certify

    assert printed.stdout.split() == list(certify(handed, one.model).verdict)


def test_fitted_estimators_are_encoders_and_others_are_refused(one: Scene, handed: Representation) -> None:
    class Fitted:
        similarity = "a text"
        network_, similarity_ = one.encoder.network, one.encoder.similarity

    assert (represent(Fitted(), one.people).latent == handed.latent).all()
    with pytest.raises(LcifrError, match="FairEncoder"):
        represent(object(), one.people)
