"""The picture of the report in README: ``make pictures``. The top of the page in light, the explorer in dark.

Needs Chromium and Pillow. What the page says is the demo's own: another machine learns other weights.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.report.browser import Browser, find

TOP, PERSON = (930, 930), (800, 930)  # width and height of the two halves


def main(report: Path, picture: Path) -> None:
    """Take both halves and put them side by side."""
    from PIL import Image

    program = find()
    if program is None:
        raise SystemExit("no browser on the PATH")
    browser = Browser(program)
    with tempfile.TemporaryDirectory() as folder:
        light, dark = Path(folder) / "light.png", Path(folder) / "dark.png"
        browser.open(report, width=TOP[0], height=TOP[1]).picture(light, whole=False)
        page = browser.open(report, width=PERSON[0], height=PERSON[1], dark=True)
        page.run('document.getElementById("only").click()')
        page.run('document.documentElement.style.scrollBehavior = "auto"')
        page.run('document.getElementById("explorer").scrollIntoView()')
        page.picture(dark, whole=False)
        browser.close()
        whole = Image.new("RGB", (TOP[0] + PERSON[0], TOP[1]))
        whole.paste(Image.open(light), (0, 0))
        whole.paste(Image.open(dark), (TOP[0], 0))
        whole.quantize(128).save(picture, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
