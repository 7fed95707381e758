"""Evidence packs of a real audit: what is in them, the same bytes every time, and a regulator who checks one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lcifr.errors import LcifrError
from lcifr.evidence.pack import PackRequest, _folder, write_pack
from lcifr.evidence.signing import VerifyRequest, read_archive, verify_signed
from lcifr.workflows.results import AuditResult
from tests.evidence.keys import make_key, needs_ssh_keygen

ROOT = Path(__file__).parents[2]
GUIDE = "HOW-TO-CHECK.md"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, story: Path) -> Path:
    """A folder with a signed pack, the key that signed it, and an unsigned one."""
    made = tmp_path_factory.mktemp("packs")
    key = make_key(made, "auditor")
    write_pack(PackRequest(folder=story / "audit", out=made / "evidence.zip", key=key, by=("sex", "foreign_worker")))
    write_pack(PackRequest(folder=story / "audit", out=made / "unsigned.zip"))
    return made


def test_what_is_in_a_pack(place: Path, story: Path) -> None:
    files = read_archive(place / "evidence.zip")
    readme = files["README.md"].decode()
    for name in files:  # the page names every file, and no other
        shown = "bundle/" if name.startswith("bundle/") else name
        assert f"`{shown}`" in readme or name == "README.md", name
    for name in re.findall(r"^\| (.*?) \|", readme, re.MULTILINE)[2:]:
        for one in re.findall(r"`([^`]+)`", name):
            assert one in files or any(file.startswith(one) for file in files)
    result = AuditResult.read(story / "audit")
    assert files["similar.phi"].decode() == result.model.phi.text
    assert files["similar-in-english.txt"].decode().strip() == result.model.phi.english
    assert json.loads(files["report.json"])["proved"]["certified"] == result.statement.certified
    for words in ("Not legal advice", "Not adverse-action reasons", "Not a finding that the model is fair"):
        assert words in readme
    assert "2 (g)" in files["annex-iv.md"].decode()
    assert "sex × foreign\\_worker" in files["group-rates.md"].decode()
    for name in ("report.html", "schema.toml", "model-card.md", "group-rates.csv", "digests.json"):
        assert files[name]


def test_the_digest_of_people_is_that_of_the_table(place: Path, story: Path) -> None:
    """The people of the bundle, digested again from the audit's own table."""
    import pandas as pd

    from lcifr.workflows.binding import DigestRequest, digest_people

    ids = pd.read_parquet(story / "audit/audited/audit.parquet", columns=["id"])["id"]
    table = pd.read_parquet(story / "audit/people.parquet").assign(person=ids.astype(str))
    table.to_csv(place / "people.csv", index=False)
    found = digest_people(DigestRequest(place / "people.csv", str(story / "audit/schema.toml"), "person"))
    said = json.loads(read_archive(place / "evidence.zip")["digests.json"])["people"]
    assert (said["digest"], said["people"]) == (found.digest, found.people)


def test_the_same_audit_gives_the_same_bytes_apart_from_the_time(
    place: Path, story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packs = []
    for name, epoch in (("a", "1800000000"), ("b", "1800000000"), ("c", "1800000077")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        out = tmp_path / f"{name}.zip"
        write_pack(PackRequest(folder=story / "audit", out=out, key=place / "auditor"))
        packs.append(out)
    assert packs[0].read_bytes() == packs[1].read_bytes()
    one, other = read_archive(packs[0]), read_archive(packs[2])
    differ = {name for name in one if one[name] != other[name]}
    assert differ == {"README.md", "pack.json", "signed.json", "SHA256SUMS", "SHA256SUMS.sig"}
    for name in ("README.md", "pack.json", "signed.json"):
        undated = [re.sub(rb"2027-01-15T08:\d\d:\d\d", b"", pack[name]) for pack in (one, other)]
        assert undated[0] == undated[1]


def test_the_pack_is_verified_as_archive_and_unpacked_and_a_changed_one_is_not(place: Path, tmp_path: Path) -> None:
    public = place / "auditor.pub"
    assert verify_signed(VerifyRequest(place / "evidence.zip", public)).problems == ()
    with zipfile.ZipFile(place / "evidence.zip") as archive:
        archive.extractall(tmp_path / "evidence")
    assert verify_signed(VerifyRequest(tmp_path / "evidence", public)).problems == ()
    page = tmp_path / "evidence/report.html"
    page.write_text(page.read_text().replace("certified", "Certified", 1))
    assert verify_signed(VerifyRequest(tmp_path / "evidence", public)).problems == (
        "report.html: changed since it was signed",
    )
    with pytest.raises(LcifrError, match="it is not signed"):
        verify_signed(VerifyRequest(place / "unsigned.zip", public))


@needs_ssh_keygen
def test_a_regulators_walk(place: Path, story: Path, tmp_path: Path) -> None:
    """Pack, unzip, bare Python, the same verdict: the one-page guide followed word for word."""
    for name in ("evidence.zip", "auditor.pub"):
        shutil.copyfile(place / name, tmp_path / name)
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(words, cwd=ROOT / "wheels/lcifr-check", check=True, capture_output=True)
    guide = read_archive(place / "evidence.zip")[GUIDE].decode()
    steps = re.findall(r"```sh\n(.*?)```", guide, re.DOTALL)
    assert len(steps) == 4
    said = follow("".join(steps), tmp_path)
    counts = said.split("certified (universe")[0]
    result = AuditResult.read(story / "audit")
    assert 'Good "lcifr-evidence" signature for auditor' in said
    listed = [line for line in said.splitlines() if line.isdecimal()]
    assert listed[0] == listed[1]  # no file was added
    assert "FAILED" not in said
    assert f"{result.statement.people} of {result.statement.people} people: every claim about them is confirmed" in said
    assert counts.rstrip(" ×").endswith(str(result.statement.certified))
    (tmp_path / "evidence/bundle/model.json").write_text("[[[0.0, 1.0]]]")
    with pytest.raises(subprocess.CalledProcessError):
        follow("cd evidence\n" + steps[1], tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        follow("cd evidence\n" + steps[3].splitlines()[1], tmp_path)


def follow(commands: str, place: Path) -> str:
    """Run shell commands where ``python3`` is this Python without any package."""
    tools = place / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -s "$@"\n')
    (tools / "python3").chmod(0o755)
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-e", "-c", commands], cwd=place, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_an_unsigned_pack_says_so(place: Path) -> None:
    files = read_archive(place / "unsigned.zip")
    assert "**It is not signed.**" in files["README.md"].decode()
    assert "This pack is not signed" in files[GUIDE].decode()
    assert "signed.json" not in files
    assert "signed.json" not in files["README.md"].decode()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"out": "evidence.tar"}, "is not a valid name for an archive"),
        ({"by": ("sexx",)}, 'no attribute "sexx".*Did you mean "sex"'),
        ({"favourable": "Yes"}, 'between no, yes.*Did you mean "yes"'),
        ({"folder": "producer"}, "was written by `lcifr produce`"),
        ({"folder": "nothing"}, "no such folder"),
        ({"key": "nokey"}, "no such file"),
    ],
)
def test_what_cannot_be_packed_is_named(story: Path, tmp_path: Path, options: dict[str, object], words: str) -> None:
    plain = {"folder": story / str(options.get("folder", "audit")), "out": tmp_path / str(options.get("out", "e.zip"))}
    more = {name: value for name, value in options.items() if name not in plain and name != "key"}
    key = tmp_path / "nokey" if "key" in options else None
    with pytest.raises(LcifrError, match=words):
        write_pack(PackRequest(**plain, key=key, **more))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_pack_is_never_replaced(place: Path, story: Path) -> None:
    with pytest.raises(LcifrError, match="already exists"):
        write_pack(PackRequest(folder=story / "audit", out=place / "evidence.zip"))


def test_evidence_without_proofs_is_refused(story: Path, tmp_path: Path) -> None:
    shutil.copytree(story / "audit", tmp_path / "audit")
    shutil.rmtree(tmp_path / "audit/bundle")
    with pytest.raises(LcifrError, match="contains no proofs"):
        write_pack(PackRequest(folder=tmp_path / "audit", out=tmp_path / "e.zip"))


@pytest.mark.parametrize("put", [lambda at, key: at.symlink_to(key), lambda at, key: at.write_bytes(key.read_bytes())])
@pytest.mark.parametrize("name", ["model.json", "notes.txt"])
def test_nothing_is_packed_that_somebody_else_put_into_a_bundle(
    tmp_path: Path, put: Callable[[Path, Path], None], name: str
) -> None:
    """A link in an audit that somebody sent would carry a file of whoever packs it into what is signed and sent on."""
    secret, bundle = tmp_path / "auditor", tmp_path / "bundle"
    secret.write_text("a private key")
    bundle.mkdir()
    (bundle / "manifest.json").write_text("{}")
    put(bundle / name, secret)
    if name == "model.json" and not (bundle / name).is_symlink():
        assert set(_folder(bundle, "bundle")) == {"bundle/manifest.json", "bundle/model.json"}
    else:
        with pytest.raises(LcifrError, match=rf"{name} is a link, or not a file of a bundle"):
            _folder(bundle, "bundle")


@pytest.mark.parametrize("name", ["people.parquet", "audited/audit.parquet"])
def test_a_folder_with_a_damaged_table_is_refused_in_words(story: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(story / "audit", tmp_path / "audit")
    table = tmp_path / "audit" / name
    for damaged in (b"", table.read_bytes()[:100]):
        table.write_bytes(damaged)
        with pytest.raises(LcifrError, match="its contents are inconsistent"):
            write_pack(PackRequest(folder=tmp_path / "audit", out=tmp_path / "e.zip"))
