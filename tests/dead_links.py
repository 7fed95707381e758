"""Links of a built site that lead nowhere: ``python -m tests.dead_links FOLDER``, the last step of ``make docs``."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from urllib.parse import unquote


def dead_links(site: Path) -> list[tuple[str, str]]:
    """Links to files or anchors that are not there, and whatever a page loads from elsewhere: (page, link)."""
    text = {
        page.resolve(): page.read_text(encoding="utf-8") for page in site.rglob("*.html") if "_static" not in page.parts
    }
    dead = []
    for page, content in text.items():
        for kind, raw in re.findall(r'\b(href|src)="([^"]+)"', content):
            target, _, fragment = unquote(html.unescape(raw)).partition("#")
            if target.startswith(("http:", "https:", "mailto:", "data:")):
                dead += [(page.name, raw)] if kind == "src" else []
                continue
            named = (page.parent / target.partition("?")[0]).resolve() if target else page
            there = named.exists() and (not fragment or named.suffix != ".html" or f'id="{fragment}"' in text[named])
            dead += [] if there else [(page.name, raw)]
    return dead


def main(folder: str) -> int:
    site = Path(folder)
    if not (site / "index.html").is_file():
        print(f"{site} holds no index.html: build the site first", file=sys.stderr)
        return 2
    dead = dead_links(site)
    for page, link in dead:
        print(f"{page}: nothing is at {link}", file=sys.stderr)
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
