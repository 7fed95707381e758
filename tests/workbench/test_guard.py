"""Attacks on the workbench: other sites, other names, other paths, large and slow bodies. All are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lcifr.workbench import server
from lcifr.workbench.server import HEADERS, LARGEST_BODY, Guard, RefusedRequest, read_body
from tests.workbench.bench import HOST, ORIGIN, TOKEN

READ = f"/{TOKEN}/api/folder"
OWN = {"origin": ORIGIN}


def test_the_page_itself_is_answered(client):
    assert client.raw.get(f"/{TOKEN}/", headers={"sec-fetch-site": "none"}).status_code == 200
    assert client.post("folder").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/api/folder", "/static/app.js", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/wrong/api/folder"]
)
def test_nothing_is_answered_without_the_token(client, path):
    for response in (client.raw.get(path), client.raw.post(path, json={}, headers=OWN)):
        assert response.status_code == 403
        assert TOKEN not in response.text


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "https://127.0.0.1:8123", "http://127.0.0.1:9999", f"{ORIGIN}.evil.example"],
)
def test_a_page_of_another_site_cannot_ask_even_if_it_knows_the_token(client, origin):
    headers = {} if origin is None else {"origin": origin}
    assert client.raw.post(READ, json={}, headers=headers).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_says_where_a_request_comes_from_is_believed(client, site):
    assert client.raw.get(f"/{TOKEN}/", headers={"sec-fetch-site": site}).status_code == 403
    assert client.raw.post(READ, json={}, headers={**OWN, "sec-fetch-site": site}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "[::1]:8123", ""])
def test_a_name_that_dns_leads_here_is_refused(client, host):
    assert client.raw.get(f"/{TOKEN}/", headers={"host": host}).status_code == 421


def test_two_hosts_are_none():
    app = Guard(_unreachable, TOKEN, (HOST,))
    scope = _scope(headers=[(b"host", HOST.encode()), (b"host", b"evil.example")])
    assert asyncio.run(_status(app, scope, [])) == 421


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_what_a_form_of_another_site_can_send_is_not_read(client, kind):
    headers = {**OWN, "content-type": kind}
    assert client.raw.post(READ, content=b"{}", headers=headers).status_code == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD"])
def test_other_methods_are_refused_and_nothing_is_shared_across_origins(client, method):
    response = client.raw.request(method, READ, headers=OWN)
    assert response.status_code == 405
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_every_answer_has_the_headers_that_keep_others_out(client):
    for response in (client.raw.get(f"/{TOKEN}/"), client.raw.get("/"), client.post("folder"), client.post("no/such")):
        for name, value in HEADERS.items():
            assert response.headers[name] == value
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "set-cookie" not in client.raw.get(f"/{TOKEN}/").headers


@pytest.mark.parametrize("size", [LARGEST_BODY + 1, 50_000_000])
def test_huge_bodies_are_refused(client, size):
    content = b'{"x":"' + b"a" * size + b'"}'
    response = client.raw.post(READ, content=content, headers={**OWN, "content-type": "application/json"})
    assert response.status_code == 413


def test_a_body_that_is_larger_than_it_says_is_refused():
    pieces = [{"type": "http.request", "body": b"a" * 400_000, "more_body": True}] * 4
    for length in ([], [(b"content-length", b"2")]):
        assert asyncio.run(_refusal(length, pieces)) == 413


@pytest.mark.parametrize("length", [b"-1", b"1e9", b"99999999999999999999", b"two"])
def test_odd_lengths_are_refused(length):
    assert asyncio.run(_refusal([(b"content-length", length)], [])) == 413


def test_a_body_that_comes_too_slowly_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", 0.05)
    assert asyncio.run(_refusal([], [{"type": "http.request", "body": b"{", "more_body": True}])) == 408


def test_a_body_that_ends_early_is_refused():
    assert asyncio.run(_refusal([], [{"type": "http.disconnect"}])) == 400


def test_no_socket_is_opened():
    app = Guard(_unreachable, TOKEN, (HOST,))
    assert asyncio.run(_status(app, _scope(type="websocket"), [])) == 403


def _scope(**changes: Any) -> dict[str, Any]:
    plain = {"type": "http", "method": "GET", "path": f"/{TOKEN}/", "headers": [(b"host", HOST.encode())]}
    return {**plain, **changes}


async def _unreachable(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("the guard let it through")


async def _status(app: Any, scope: dict[str, Any], messages: list[dict[str, Any]]) -> int:
    said: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    await app(scope, _receive(messages), send)
    return next(message["status"] for message in said if message["type"].endswith("response.start"))


async def _refusal(headers: list[tuple[bytes, bytes]], messages: list[dict[str, Any]]) -> int:
    try:
        await read_body(_scope(headers=headers), _receive(messages))
    except RefusedRequest as refused:
        return refused.status
    return 200


def _receive(messages: list[dict[str, Any]]) -> Any:
    waiting = list(messages)

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop(0)
        await asyncio.sleep(60)
        return {}

    return receive
