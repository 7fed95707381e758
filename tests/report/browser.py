"""A headless Chromium for the tests, driven over two pipes: no driver, no library, no port."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 30.0


def find() -> str | None:
    """The browser's program, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One process; ``open`` gives pages."""

    def __init__(self, program: str) -> None:
        self.profile = tempfile.mkdtemp(prefix="lcifr-browser-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # The browser reads its file 3 and writes its file 4; a shell puts our pipes there.
        command = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "browser", *command],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in), os.close(theirs_out)
        self._in, self._out = ours_in, ours_out
        self._numbers, self._unread = itertools.count(1), b""
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        os.close(self._in), os.close(self._out)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            read = os.read(self._in, 1 << 16) if ready else b""
            if not read:
                raise TimeoutError("the browser does not answer")
            self._unread += read
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)

    def open(
        self, path: Path | str, *, width: int = 1280, height: int = 900, dark: bool = False, scripts: bool = True
    ) -> Page:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, path, width, height, dark, scripts)


class Page:
    """One page: what it did, and what a person would see of it."""

    def __init__(
        self, browser: Browser, session: str, path: Path | str, width: int, height: int, dark: bool, scripts: bool
    ) -> None:
        self.browser, self.session = browser, session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.address = path if isinstance(path, str) else path.resolve().as_uri()
        self.call("Page.navigate", url=self.address)
        until = time.monotonic() + PATIENCE
        while self.run("document.readyState") != "complete":
            assert time.monotonic() < until, "the page does not load"

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.browser.call(method, self.session, **parameters)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression in the page is true."""
        deadline = time.monotonic() + 2 * PATIENCE
        while not self.run(f"!!({script})"):
            assert time.monotonic() < deadline, f"{script}: {self.run('document.body.innerText')}"
            time.sleep(0.05)

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def press(self, key: str, text: str = "", *, control: bool = False) -> None:
        """One key, as from a keyboard."""
        codes = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Home": 36, "End": 35, "Tab": 9, " ": 32, "Escape": 27}
        known = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0), "modifiers": 2 * control}
        self.call("Input.dispatchKeyEvent", type="keyDown", **known, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def complaints(self) -> list[str]:
        """Everything on the console, every exception, every blocked load."""
        odd = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening")
        return [json.dumps(event["params"])[:400] for event in self._events() if event["method"] in odd]

    def requests(self) -> list[str]:
        """Everything that was asked for, but the page itself."""
        asked = [e["params"]["request"]["url"] for e in self._events() if e["method"] == "Network.requestWillBeSent"]
        return [address for address in asked if address != self.address]

    def _events(self) -> list[dict[str, Any]]:
        self.run("1")  # what was on its way is here now
        return [event for event in self.browser.events if event.get("sessionId") == self.session]

    def picture(self, path: Path, *, whole: bool = True) -> None:
        shown = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, fromSurface=True)
        path.write_bytes(base64.b64decode(shown["data"]))

    def paper(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])
