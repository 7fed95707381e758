"""The server of the workbench: on 127.0.0.1 alone, on a free port, behind a new token every time."""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lcifr.errors import LcifrError

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
    except ModuleNotFoundError as missing:
        raise LcifrError(
            f"the workbench needs {missing.name}, which is not installed", fix='pip install "lcifr[workbench]"'
        ) from None
    from lcifr.workbench.web.application import build_app
    from lcifr.workbench.workbench import Workbench

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
