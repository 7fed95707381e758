"""The pictures of the workbench in the docs, by ``make pictures``: a formula being written, an audit explored.

Needs Chromium and Pillow. What the pages say is the example's own: another machine learns other weights.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.report.browser import Browser, Page, find
from tests.workbench.served import Served

READ = "document.querySelector('#neighbours figure') && document.querySelector('#around table')"
MISTAKES = 'same(categorical except se, housing) and\nnumeric within 0.3 sd and\nsavings\' = "much"'
CARET = MISTAKES.index("se, ") + len("se")
MOVED = """(() => { const one = document.querySelector('[aria-label="What if age were"]'); one.value = 60;
one.dispatchEvent(new Event('input', { bubbles: true })); })()"""


def main(folder: Path) -> None:
    """Take the pictures of the built-in example into a folder."""
    program = find()
    if program is None:
        raise SystemExit("no browser on the PATH")
    browser = Browser(program)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made) / "credit"
        place.mkdir()
        served = Served(place)
        try:
            served.wait()
            _prepare(browser.open(served.address))
            _formula(browser.open(served.address, width=1280, height=760), folder / "workbench-formula.png")
            _audit(
                browser.open(f"{served.address}#audit", width=1280, height=900, dark=True),
                folder / "workbench-audit.png",
            )
            _audit(browser.open(f"{served.address}#audit", width=390, height=844), folder / "workbench-narrow.png")
        finally:
            served.stop()
            browser.close()


def _prepare(page: Page) -> None:
    page.until("!document.getElementById('welcome').hidden")
    page.run("document.getElementById('start-example').click()")
    page.until("document.querySelector('.note')?.innerText.includes('its model is learned')")
    page.run("location.hash = 'audit'")
    page.until("document.querySelector('#audit-command code')?.innerText.includes('german-model')")
    page.run("document.querySelector('#audit-form button.main').click()")
    page.until("document.querySelector('.what-if .verdict')")


def _formula(page: Page, picture: Path) -> None:
    page.until(READ)
    page.run("document.getElementById('phi').focus(); document.getElementById('phi').select()")
    page.type(MISTAKES)
    page.until("document.querySelectorAll('#mistakes li').length === 2")
    page.run(f"document.getElementById('phi').setSelectionRange({CARET}, {CARET})")
    page.press(" ", control=True)
    page.until("document.querySelector('#offers li')?.innerText.startsWith('sex')")
    _keep(page, picture)


def _audit(page: Page, picture: Path) -> None:
    page.until("document.querySelector('.what-if .verdict')")
    page.run("document.getElementById('kind').value = 'certified'")
    page.run("document.getElementById('kind').dispatchEvent(new Event('change'))")
    page.until("document.querySelector('.what-if .covered')")
    page.run(MOVED)
    page.until("document.querySelector('.what-if .beyond')")
    page.run("document.documentElement.style.scrollBehavior = 'auto'")
    page.run("scrollTo(0, document.querySelector('#opened .explorer').getBoundingClientRect().top + scrollY - 80)")
    if page.run("innerWidth") < 600:
        page.run("scrollTo(0, document.querySelector('#person h3').getBoundingClientRect().top + scrollY - 20)")
    _keep(page, picture)


def _keep(page: Page, picture: Path) -> None:
    from PIL import Image

    page.picture(picture, whole=False)
    Image.open(picture).convert("RGB").quantize(192).save(picture, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
