"""``lcifr evidence sign`` and ``verify`` as people use them: what they print, and how they end."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lcifr.data.files import MANIFEST
from lcifr.evidence.ssh_signature import fingerprint, read_public_key
from tests.evidence.keys import make_key, needs_ssh_keygen, ssh_keygen
from tests.story import lcifr


def place_with(tmp_path: Path) -> Path:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "report.html").write_text("<p>all certified")
    make_key(tmp_path, "auditor")
    return tmp_path


def test_signed_then_verified_then_changed(tmp_path: Path) -> None:
    place = place_with(tmp_path)
    said = lcifr("evidence", "sign", "audit", "--key", "auditor", cwd=place)
    key = fingerprint(read_public_key(place / "auditor.pub"))
    assert key in said.out
    good = lcifr("evidence", "verify", "audit", "--key", "auditor.pub", cwd=place)
    assert key in good.out
    assert said.out.split(" at ")[1].strip() in good.out
    (place / "audit" / "report.html").write_text("<p>All certified")
    bad = lcifr("evidence", "verify", "audit", "--key", "auditor.pub", cwd=place, expect=1)
    assert "REFUSED" in bad.out
    assert "report.html: changed since it was signed" in bad.out
    plain = lcifr("evidence", "verify", "audit", "--key", "auditor.pub", "--json", cwd=place, expect=1).json
    assert plain["problems"] == ["report.html: changed since it was signed"]


@needs_ssh_keygen
def test_the_printed_line_signs_what_waits(tmp_path: Path) -> None:
    place = place_with(tmp_path)
    locked = make_key(place, "locked", passphrase="secret words")
    refused = lcifr("evidence", "sign", "audit", "--key", "locked", cwd=place, expect=2)
    assert "without --key prints the line" in refused.err
    words = shlex.split(lcifr("evidence", "sign", "audit", cwd=place).out)
    # As the user types the passphrase when asked; -P stands in for the keyboard.
    line = [str(locked) if word == "KEY" else word for word in words]
    line[-1] = str(place / line[-1])
    assert ssh_keygen("-P", "secret words", *line[1:]).returncode == 0
    lcifr("evidence", "verify", "audit", "--key", "locked.pub", cwd=place)


def test_what_is_not_signed_is_wrong_use(tmp_path: Path) -> None:
    place = place_with(tmp_path)
    assert "not signed" in lcifr("evidence", "verify", "audit", "--key", "auditor.pub", cwd=place, expect=2).err
    assert "no such file" in lcifr("evidence", "verify", "no.zip", "--key", "auditor.pub", cwd=place, expect=2).err
    assert "no such folder" in lcifr("evidence", "sign", "nothing", "--key", "auditor", cwd=place, expect=2).err


def test_manifests_say_when(story: Path) -> None:
    """Of hand-overs, bundles and verdicts: everything that the three parties wrote."""
    found = sorted(story.rglob(MANIFEST))
    assert {file.parent.name for file in found} >= {"train", "held-out", "bundle", "audited"}
    for file in found:
        written = datetime.fromisoformat(json.loads(file.read_text())["written"])
        assert written.utcoffset() == timedelta(0)
        assert abs(datetime.now(UTC) - written) < timedelta(days=1)
