"""A parser of pages that keeps what could run or load something."""

from __future__ import annotations

from html.parser import HTMLParser


class Tags(HTMLParser):
    """What a parser of HTML finds: elements, event handlers, addresses, and the text outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []
        self.odd: list[str] = []
        self.text = ""
        self.within = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.within = tag
        self.text += " "
        self.odd += [f"{name}={value}" for name, value in attrs if name.startswith("on")]
        self.odd += [
            f"{name}={value}" for name, value in attrs if name in ("href", "src") and not value.startswith("#")
        ]
        self.odd += [f"style={value}" for name, value in attrs if name == "style"]

    def handle_endtag(self, tag):
        self.within = ""

    def handle_data(self, data):
        if self.within not in ("script", "style"):
            self.text += data
