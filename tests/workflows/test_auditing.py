"""Audits and certificates from Python: the same folders as the commands write, and the page's examples run."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lcifr.errors import ArtefactError, LcifrError
from lcifr.workflows import AuditRequest, AuditResult, CertifyRequest, CertifyResult, audit, certify
from lcifr.workflows.events import Ended, Event, Started
from tests.story import lcifr, start

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def plain(folder: Path) -> dict[str, object]:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def test_the_examples_of_the_page_run(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("producer", "consumer"):
        shutil.copytree(story / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)\n```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    (tmp_path / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    runpy.run_path("page.py")
    said = capsys.readouterr()
    assert "proofs confirmed" in said.out
    assert "Checking the proofs in exact arithmetic: " in said.out  # the listener of the page heard it
    assert said.err == ""  # nobody else did


def test_an_audit_from_python_is_the_audit_of_the_command(story: Path, tmp_path: Path) -> None:
    events: list[Event] = []
    request = AuditRequest(
        producer=story / "producer",
        consumer=story / "consumer",
        out=tmp_path / "out",
        baselines=False,
        bundle=False,
        workers=1,
    )
    result = audit(request, events.append)
    words = ("audit", story / "producer", story / "consumer", "--no-baselines", "--no-bundle", "--workers", "1")
    said = lcifr(*words, "--out", tmp_path / "command", "--json", cwd=tmp_path, expect=None)
    assert json.loads(said.out) == plain(tmp_path / "command") == plain(tmp_path / "out")
    assert AuditResult.read(tmp_path / "out").to_dict() == plain(tmp_path / "out")
    assert (
        result.statement.people == result.statement.certified + result.statement.violated + result.statement.undecided
    )
    started = {event.step for event in events if isinstance(event, Started)}
    assert started == {event.step for event in events if isinstance(event, Ended)} != set()
    settings = json.loads((tmp_path / "out/settings.json").read_text(encoding="utf-8"))
    assert settings["command"] == "audit"
    assert settings["arguments"]["bundle"] is False


def test_certificates_from_python_are_those_of_the_command(story: Path, tmp_path: Path) -> None:
    handed = story / "producer/handover/held-out"
    request = CertifyRequest(consumer=story / "consumer", people=handed, out=tmp_path / "out", workers=1, on="box")
    result = certify(request)
    words = ("certify", story / "consumer", story / "producer/handover/held-out", "--on", "box", "--workers", "1")
    lcifr(*words, "--out", tmp_path / "command", cwd=tmp_path)
    assert plain(tmp_path / "command") == plain(tmp_path / "out") == result.to_dict()
    assert CertifyResult.read(tmp_path / "out").radius == "claimed"


def test_a_request_that_cannot_be_meant_is_refused_before_any_work(story: Path, tmp_path: Path) -> None:
    request = AuditRequest(producer=story / "producer", consumer=story / "consumer", out=tmp_path / "out")
    with pytest.raises(LcifrError, match="between 0 and 1"):
        replace(request, confidence=1.0)
    with pytest.raises(LcifrError, match="expected 1 or more"):
        replace(request, proofs=0)
    with pytest.raises(LcifrError, match="a table of people needs --producer"):
        CertifyRequest(consumer=story / "consumer", people=story / "people.csv", out=tmp_path / "out")


def test_a_result_with_a_part_missing_is_refused(story: Path, tmp_path: Path) -> None:
    shutil.copytree(story / "audit", tmp_path / "audit")
    found = plain(tmp_path / "audit")
    assert AuditResult.read(tmp_path / "audit").to_dict() == found
    for name in ("lower", "phi", "modularity", "checked", "people"):
        left = {key: value for key, value in found.items() if key != name}
        (tmp_path / "audit/result.json").write_text(json.dumps(left), encoding="utf-8")
        with pytest.raises(ArtefactError, match=name):
            AuditResult.read(tmp_path / "audit")


IMPORTED = """import atexit, sys
atexit.register(lambda: print([name for name in ("torch", "sklearn") if name in sys.modules], file=sys.stderr))
"""
"""Says at the end which of the libraries that take seconds to import are there."""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("audit", "{story}/producer", "{story}/consumer", "--no-baselines"), 1),
        (("represent", "{story}/producer", "{story}/new.csv"), 0),
    ],
    ids=["audit", "represent"],
)
def test_proofs_need_neither_torch_nor_scikit_learn(
    words: tuple[str, ...], code: int, story: Path, tmp_path: Path
) -> None:
    command = [word.format(story=story) for word in words]
    process = start(*command, "--workers", "1", "--out", "made", cwd=tmp_path, first=IMPORTED)
    _, err = process.communicate(timeout=300)
    assert process.returncode == code, err
    assert err.splitlines()[-1] == "[]"
