"""A workbench for tests: a folder with a lender's people, formula and model, and a client that asks as pages do."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import Any

import httpx

from lcifr.workbench.server import build_app
from lcifr.workbench.workbench import Workbench
from lcifr.workflows.auditing import AuditRequest, audit
from tests.story import SLOWLY
from tests.workflows.credit import write_credit

TOKEN, HOST = "token-of-the-tests", "127.0.0.1:8123"
ORIGIN = f"http://{HOST}"
SCHEMA = """target = "repaid"
[attributes.age]
kind = "numeric"
unit = "years"
integer = true
lower = 18.0
upper = 100.0
[attributes.income]
kind = "numeric"
[attributes.debt]
kind = "numeric"
[attributes.job]
kind = "categorical"
values = ["clerk", "cook", "pilot"]
[attributes.sex]
kind = "categorical"
values = ["female", "male"]
[attributes.region]
kind = "categorical"
values = ["north", "south"]
"""
IN_NO_HURRY = (sys.executable, "-c", SLOWLY + "from lcifr.cli import main; main()")
"""A command that waits before it writes a part, so that it can be stopped between two of them."""
SLOWLY_CHILDREN = f"""from lcifr.workbench import workbench
workbench.Workbench.__init__.__defaults__ = ({IN_NO_HURRY!r},)
"""
"""The same for what a served workbench starts."""
PLAN = {
    "model": "model.skops",
    "table": "people.csv",
    "phi": "people.phi",
    "schema": "people.toml",
    "id_column": "person",
}


def write_folder(folder: Path, people: int = 60) -> Path:
    """People, a schema, a formula and a model, and an empty folder beside that holds a secret."""
    write_credit(folder, people)
    (folder / "people.toml").write_text(SCHEMA, encoding="utf-8")
    return folder


def write_audit(folder: Path, out: str = "audit") -> None:
    """Audit the folder's model, as the command would."""
    named = {"schema": "people.toml", "id_column": "person", "phi": "people.phi"}
    with contextlib.chdir(folder):
        paths = {"model": Path("model.skops"), "table": Path("people.csv"), "out": Path(out)}
        audit(AuditRequest(**paths, **named))


class Raw:
    """Requests of whatever kind, without a server."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def request(self, method: str, path: str, **about: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
                return await client.request(method, path, **about)

        return asyncio.run(send())

    def get(self, path: str, **about: Any) -> httpx.Response:
        return self.request("GET", path, **about)

    def post(self, path: str, **about: Any) -> httpx.Response:
        return self.request("POST", path, **about)


class Client:
    """Asks as the page does; ``raw`` as somebody else would."""

    def __init__(self, folder: Path, program: tuple[str, ...] = IN_NO_HURRY) -> None:
        self.desk = Workbench(folder, program)
        self.raw = Raw(build_app(self.desk, TOKEN, (HOST,)))

    def post(self, what: str, /, **values: Any) -> Any:
        return self.raw.post(f"/{TOKEN}/api/{what}", json=values, headers={"origin": ORIGIN})

    def ask(self, what: str, /, **values: Any) -> Any:
        """The answer; a failure where there is none."""
        response = self.post(what, **values)
        assert response.status_code == 200, response.text
        return response.json()["answer"]

    def refusal(self, what: str, /, **values: Any) -> str:
        """Why a question is refused."""
        response = self.post(what, **values)
        assert response.status_code == 422, response.text
        return " ".join(response.json().values())
