"""The page's files, answers in JSON, and requests that are no requests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lcifr.workbench.server import read_pages
from tests.workbench.bench import ORIGIN, TOKEN

STATIC = Path(__file__).parents[2] / "src" / "lcifr" / "workbench" / "static"


def test_every_file_of_the_page_is_served_as_what_it_is(client):
    kinds = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
    for name, content in read_pages().items():
        response = client.raw.get(f"/{TOKEN}/static/{name}")
        assert response.content == content
        assert response.headers["content-type"].startswith(kinds[Path(name).suffix])


@pytest.mark.parametrize(
    "name",
    [
        "../desk.py",
        "..%2fdesk.py",
        "%2e%2e/desk.py",
        "..%5cdesk.py",
        "%2e%2e%2f%2e%2e%2ferrors.py",
        "__init__.py",
        "app.js%00",
        "",
    ],
)
def test_no_path_leads_to_other_files(client, name):
    response = client.raw.get(f"/{TOKEN}/static/{name}")
    assert response.status_code in (403, 404)
    assert b"import" not in response.content


def test_the_page_loads_nothing_from_elsewhere_and_holds_no_script_of_its_own():
    for name, content in read_pages().items():
        text = content.decode()
        assert not re.findall(r"(?:https?:)?//(?!www\.w3\.org/2000/svg)[\w.-]+\.\w+", text), name
    page = read_pages()["index.html"].decode()
    assert re.findall(r"<script[^>]*>([^<]*)</script>", page) == [""]
    assert not re.findall(r"\son\w+=|style=|javascript:", page)


def test_scripts_make_no_markup_and_keep_nothing():
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "localStorage",
            "sessionStorage",
            "indexedDB",
            "document.cookie",
        ):
            assert word not in text, f"{path.name}: {word}"
        assert len(text.splitlines()) <= 250


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"x"', b"[" * 100_000, b'{"a": NaN}', b"\xff\xfe"])
def test_what_is_no_request_is_refused_in_words(client, body):
    headers = {"origin": ORIGIN, "content-type": "application/json"}
    response = client.raw.post(f"/{TOKEN}/api/formula/read", content=body, headers=headers)
    assert response.status_code == 422
    assert response.json()["error"]


def test_nobody_can_ask_for_what_there_is_not(client):
    assert client.post("answer").status_code == 404
    assert client.post("../folder").status_code == 404


def test_a_fault_of_ours_is_said_and_the_page_stays_usable(client, monkeypatch):
    monkeypatch.setattr(client.desk.formulas, "open", lambda name: 1 / 0)
    response = client.post("formula/open", name="people.phi")
    assert response.status_code == 500
    assert "lcifr has a bug: ZeroDivisionError" in response.json()["error"]
    assert client.post("folder").status_code == 200


def test_what_a_run_notes_comes_with_the_answer(own):
    (own.desk.folder.root / "extra.csv").write_text("a,b\n1,x\n2,y\n3,x\n", encoding="utf-8")
    response = own.post("table", table="extra.csv")
    assert response.status_code == 200
    assert response.json()["answer"]["schema"] == ""


def test_errors_name_files_as_the_page_does(own):
    root = own.desk.folder.root
    (root / "bad.onnx").write_bytes(b"no model")
    (root / "bad.phi").write_bytes(b"\xff\xfe\x00")
    for said in (own.refusal("model/show", model="bad.onnx"), own.refusal("formula/open", name="bad.phi")):
        assert "bad." in said
        assert str(root) not in said
