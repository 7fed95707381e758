"""The guard in front of every request: token, host, origin, size and time of bodies, and headers of every answer.

The server listens on 127.0.0.1 alone, but every page that the browser shows can send requests there. So nothing is
answered without the token, which is the first part of every path; a name that somebody's DNS leads here is refused by
its Host header, and a page of another site by Origin and Sec-Fetch-Site, whatever they know.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1_000_000
"""Bytes of a request. A formula has 50,000 characters at most; tables and models are files of the folder."""
PATIENCE = 10.0
"""Seconds within which the whole of a request must have come."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class RefusedRequest(Exception):
    """A request that is not answered: status and reason."""

    status: int
    reason: str


class Guard:
    """ASGI middleware.

    Parameters
    ----------
    app : what answers; it sees paths without the token. token : that every path begins with.
    hosts : names and port under which the server may be asked.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str]) -> None:
        self._app, self._token, self._hosts = app, token, frozenset(hosts)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            if scope["type"] != "http":
                raise RefusedRequest(403, "only plain requests are answered")
            self._check(scope)
            inside = {**scope, "path": self._without_token(scope["path"]), "root_path": ""}
            body = await read_body(scope, receive)
        except RefusedRequest as refused:
            await PlainTextResponse(f"{refused.reason}\n", refused.status)(scope, receive, guarded)
            return
        await self._app(inside, _replay(body, receive), guarded)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            raise RefusedRequest(421, "this server answers under its own address alone")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if scope["method"] not in ("GET", "POST"):
            raise RefusedRequest(405, "only GET and POST are answered")
        if site not in ("same-origin", "none") or (origin is not None and origin not in self._origins):
            raise RefusedRequest(403, "the request comes from another site; open the address in a tab of its own")
        if scope["method"] == "POST":
            if origin is None:
                raise RefusedRequest(403, "the request does not say where it comes from")
            if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                raise RefusedRequest(415, "only JSON is read")

    def _without_token(self, path: str) -> str:
        _, given, *rest = [*path.split("/", 2), ""][:3]
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
            raise RefusedRequest(403, "the address lacks its token; `lcifr workbench` prints it as a whole")
        return f"/{rest[0]}"


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """All of a request's body, unless it is too large or comes too slowly."""
    length = Headers(scope=scope).get("content-length", "0")
    if not length.isdecimal() or len(length) > 12 or int(length) > LARGEST_BODY:
        raise RefusedRequest(413, f"at most {LARGEST_BODY:,} bytes are read; put large files into the folder")
    found, more = bytearray(), True
    try:
        async with asyncio.timeout(PATIENCE):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RefusedRequest(400, "the request ended early")
                found += message.get("body", b"")
                more = message.get("more_body", False)
                if len(found) > LARGEST_BODY:
                    raise RefusedRequest(413, f"at most {LARGEST_BODY:,} bytes are read")
    except TimeoutError:
        raise RefusedRequest(408, f"the request took longer than {PATIENCE:g} seconds to come") from None
    return bytes(found)


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body once, then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
