"""The server of the workbench: on 127.0.0.1 alone, behind a token; the page, and JSON for what it asks."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lcifr.display.text import visible
from lcifr.errors import LcifrError, missing_extra
from lcifr.workbench.work_folder import read_json_request
from lcifr.workbench.workbench import Workbench
from lcifr.workflows.events import Event, Note, Warned, listening

# The guard in front of every request: token, host, origin, size and time of bodies, and headers of every answer.
#
# The server listens on 127.0.0.1 alone, but every page that the browser shows can send requests there. So nothing is
# answered without the token, which is the first part of every path; a foreign name that DNS points here is refused by
# its Host header, and a page of another site by Origin and Sec-Fetch-Site, even if they know the token.

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


# The web application: the page and its files, and JSON for everything that the page asks for.

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
SHARED = {"page.css": ("lcifr.report", "page.css"), "chart.css": ("lcifr.display", "chart.css")}
"""Files of the report's look, which are not kept twice."""


def build_app(bench: Workbench, token: str, hosts: Iterable[str]) -> ASGIApp:
    """The application behind its guard.

    Parameters
    ----------
    token : the first part of every path. hosts : names with port under which it may be asked.
    """
    pages = read_pages()

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in pages:
            return Response("there is nothing of this name\n", 404, media_type="text/plain")
        return Response(pages[name], media_type=KINDS[f".{name.rpartition('.')[2]}"])

    async def answer(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in bench.names:
            return _json({"error": f"there is no request “{name}”", "fix": ""}, 404)
        body = await request.body()
        return await run_in_threadpool(_answer, bench, name, body)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        bench.close()

    routes = [
        Route("/", page, methods=["GET"]),
        Route("/static/{name}", page, methods=["GET"]),
        Route("/api/{name:path}", answer, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, hosts)


def read_pages() -> dict[str, bytes]:
    """Every file of the page by name: there are no paths to get wrong."""
    static = resources.files("lcifr.workbench").joinpath("static")
    found = {one.name: one.read_bytes() for one in static.iterdir() if f".{one.name.rpartition('.')[2]}" in KINDS}
    for name, (package, file) in SHARED.items():
        found[name] = resources.files(package).joinpath(file).read_bytes()
    return found


def _answer(bench: Workbench, name: str, body: bytes) -> Response:
    heard: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, Note | Warned):
            heard.append(_below(bench, event.text))

    try:
        with listening(hear):
            found = bench.answer(name, read_json_request(body))
        return _json({"answer": found, "notes": heard}, 200)
    except LcifrError as error:
        text = str(error).removesuffix(f"\nFix: {error.fix}")
        return _json({"error": _below(bench, text), "fix": _below(bench, error.fix or "")}, 422)
    except OSError as error:
        return _json({"error": visible(f"a file cannot be read or written: {error.strerror or error}"), "fix": ""}, 422)
    except Exception as error:  # a fault of ours: the page says so and stays usable
        logging.getLogger("lcifr.workbench").exception("a fault while answering %s", name)
        text = f"lcifr has a bug: {type(error).__name__}: {error}"
        return _json({"error": visible(text), "fix": "please report it with what the terminal shows"}, 500)


def _below(bench: Workbench, text: str) -> str:
    """Names as the page shows them: of the folder, without where the folder lies."""
    return visible(text.replace(f"{bench.folder.root}/", ""))


def _json(values: Any, status: int) -> Response:
    text = json.dumps(_finite(values), ensure_ascii=False, allow_nan=False)
    return Response(text.encode("utf-8", "replace"), status, media_type="application/json")


def _finite(value: Any) -> Any:
    """The same with null in the place of numbers that JSON does not have: NaN and infinity."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# The server of the workbench: on 127.0.0.1 alone, on a free port, behind a new token every time.

HERE = "127.0.0.1"
SIMULTANEOUS = 32
"""Connections that are answered at once."""


@dataclass(frozen=True, kw_only=True)
class WorkbenchRequest:
    """folder : whose files are shown. port : to listen on; 0 for a free one."""

    folder: Path = Path()
    port: int = 0


def serve(request: WorkbenchRequest, ready: Callable[[str], None]) -> None:
    """Serve the workbench until Ctrl-C; ``ready`` is called with its address once it answers.

    Raises
    ------
    LcifrError
        Where what it needs is not installed, the port is taken, or there is no such folder.
    """
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise missing_extra(error, "the workbench") from None

    bench = Workbench(request.folder)
    with closing(_listen(request.port)) as listener:
        port, token = listener.getsockname()[1], secrets.token_urlsafe(24)
        app = build_app(bench, token, (f"{HERE}:{port}", f"localhost:{port}"))
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=SIMULTANEOUS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=2,
        )
        ready(f"http://{HERE}:{port}/{token}/")
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        finally:
            bench.close()


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HERE, port))
    except OSError as error:
        listener.close()
        raise LcifrError(
            f"port {port} cannot be used: {error.strerror}", fix="leave --port out for a free one"
        ) from None
    return listener
