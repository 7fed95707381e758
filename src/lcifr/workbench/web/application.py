"""The web application: the page and its files, and JSON for everything that the page asks for."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from lcifr.data.files import json_value
from lcifr.display.text import visible
from lcifr.errors import LcifrError
from lcifr.runs.events import Event, Note, Warned, listening
from lcifr.workbench.web.guard import Guard
from lcifr.workbench.web.requests import read_json_request
from lcifr.workbench.workbench import Workbench

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
            return _json({"error": f"nobody can ask for “{name}”", "fix": ""}, 404)
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
    text = json.dumps(_plain(values), ensure_ascii=False, allow_nan=False)
    return Response(text.encode("utf-8", "replace"), status, media_type="application/json")


def _plain(value: Any) -> Any:
    """What JSON can hold: NumPy's numbers as Python's, and nothing for what is no number."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    value = json_value(value)
    return None if (isinstance(value, float) and value != value) or value in (float("inf"), -float("inf")) else value
