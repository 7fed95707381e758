"""Downloads are checked, whole or not there at all, and failures say what to do."""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import lcifr.datasets
from lcifr.datasets import downloads as fetching
from lcifr.datasets import fetch, find
from lcifr.datasets.downloads import FOLDER_VARIABLE, DataFile, data_folder, download
from lcifr.errors import DatasetError

BODY = bytes(range(256)) * 1000
SHA = hashlib.sha256(BODY).hexdigest()


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        status = {"/gone": 404, "/busy": 503}.get(self.path, 200)
        body = {"/right": BODY, "/corrupt": b"X" + BODY[1:], "/short": BODY[:1000]}.get(self.path, b"")
        self.send_response(status)
        self.send_header("Content-Length", str(len(BODY) if status == 200 else 0))  # /short breaks off
        self.end_headers()
        if status == 200:
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    with HTTPServer(("127.0.0.1", 0), Answers) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def file_at(*urls):
    return DataFile("people.csv", SHA, urls)


@pytest.mark.parametrize("progress", [False, True])
def test_download(server, tmp_path, capsys, progress):
    path = download(file_at(f"{server}/right"), tmp_path / "new" / "folder", progress=progress)
    assert path.read_bytes() == BODY
    assert [entry.name for entry in path.parent.iterdir()] == ["people.csv"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("people.csv" in captured.err) == progress


def test_file_urls_work_too(tmp_path):
    source = tmp_path / "source.csv"
    source.write_bytes(BODY)
    assert download(file_at(source.as_uri()), tmp_path / "target").read_bytes() == BODY


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("corrupt", "not the published ones"),
        ("short", "not the published ones|broke off|failed"),
        ("gone", "the source is gone .HTTP 404"),
        ("busy", "the server answered HTTP 503"),
    ],
)
def test_what_is_wrong_is_refused_and_leaves_nothing_behind(server, tmp_path, path, words):
    folder = tmp_path / "new" / "folder"
    with pytest.raises(DatasetError, match=words) as caught:
        download(file_at(f"{server}/{path}"), folder)
    message = str(caught.value)
    assert f"{server}/{path}" in message
    assert f"place it here: {folder / 'people.csv'}" in message
    assert SHA in message
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_stays(server, tmp_path):
    (tmp_path / "other.csv").write_text("mine")
    with pytest.raises(DatasetError):
        download(file_at(f"{server}/corrupt"), tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["other.csv"]


def test_a_closed_network_is_said_in_plain_words(tmp_path):
    with HTTPServer(("127.0.0.1", 0), Answers) as unused:
        port = unused.server_port
    with pytest.raises(DatasetError, match="connection was refused"):
        download(file_at(f"http://127.0.0.1:{port}/right"), tmp_path)
    with pytest.raises(DatasetError, match="network is closed, or the address is gone"):
        download(file_at("https://no-such-host.invalid/people.csv"), tmp_path)
    with pytest.raises(DatasetError, match="network is closed, or the address is gone"):
        download(file_at((tmp_path / "nowhere.csv").as_uri()), tmp_path)


def test_a_silent_server_is_given_up(monkeypatch, tmp_path):
    monkeypatch.setattr(fetching, "TIMEOUT_SECONDS", 0.2)
    with HTTPServer(("127.0.0.1", 0), Answers) as silent, pytest.raises(DatasetError, match="no answer within"):
        download(file_at(f"http://127.0.0.1:{silent.server_port}/right"), tmp_path)


def test_the_next_address_is_tried(server, tmp_path):
    file = file_at(f"{server}/gone", f"{server}/corrupt", f"{server}/right")
    assert download(file, tmp_path).read_bytes() == BODY
    with pytest.raises(DatasetError) as caught:
        download(file_at(f"{server}/gone", f"{server}/corrupt"), tmp_path / "other")
    assert "HTTP 404" in str(caught.value)
    assert "not the published ones" in str(caught.value)


def test_a_right_file_is_not_downloaded_again_and_a_wrong_one_not_overwritten(tmp_path):
    (tmp_path / "people.csv").write_bytes(BODY)
    assert download(file_at("http://no-such-host.invalid/"), tmp_path).read_bytes() == BODY
    (tmp_path / "people.csv").write_text("my own notes")
    with pytest.raises(DatasetError, match="already exists"):
        download(file_at("http://no-such-host.invalid/"), tmp_path)
    assert (tmp_path / "people.csv").read_text() == "my own notes"


def test_an_interrupted_download_leaves_nothing_behind(server, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fetching, "_copy", interrupt)
    with pytest.raises(KeyboardInterrupt):
        download(file_at(f"{server}/right"), tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path, server):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(DatasetError, match="cannot be made"):
        download(file_at(f"{server}/right"), tmp_path / "taken" / "folder")


def test_fetch_a_dataset(server, tmp_path, monkeypatch):
    source = dataclasses.replace(find("compas"), files=(file_at(f"{server}/right"),))
    monkeypatch.setattr(lcifr.datasets, "find", lambda name: source)
    (path,) = fetch("compas", tmp_path)
    assert path == tmp_path / "compas" / "people.csv"
    assert path.read_bytes() == BODY


def test_german_is_here_already(tmp_path):
    (path,) = fetch("german", tmp_path)
    assert path.is_file()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "why"), [("health", "terms"), ("law_school", "checksum")])
def test_what_cannot_be_fetched_is_explained(name, why, tmp_path):
    with pytest.raises(DatasetError, match="cannot be fetched automatically") as caught:
        fetch(name, tmp_path)
    assert why in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


def test_where_the_data_folder_is(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "named"))
    assert data_folder() == tmp_path / "named"
    assert data_folder(tmp_path / "given") == tmp_path / "given"
    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert "lcifr" in str(data_folder())
