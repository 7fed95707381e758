"""Element trees for HTML and SVG, escaped on output."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element, tostring

from lcifr.drawing.text import visible

Child = Any
"""An element, a text, None, or several of them."""


def element(name: str, /, *children: Child, **attributes: Any) -> Element:
    """One element; ``class_`` and ``aria_label`` become ``class`` and ``aria-label``, None leaves an attribute out."""
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    made = Element(name, {key: visible(str(value)) for key, value in named.items()})
    for child in children:
        append(made, child)
    return made


def append(parent: Element, child: Child) -> None:
    """Append text, an element or several."""
    if child is None:
        return
    if isinstance(child, Element):
        parent.append(child)
    elif isinstance(child, str):
        _append_text(parent, visible(child))
    elif isinstance(child, Iterable):
        for one in child:
            append(parent, one)
    else:
        raise TypeError(f"{type(child).__name__} is neither text nor an element")


def _append_text(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def breakable(name: str) -> list[Child]:
    """A column name in which a line may break after every underscore."""
    first, *rest = name.split("_")
    return [first, *(part for word in rest for part in ("_", element("wbr"), word))]


def raw(name: str, text: str, /, **attributes: Any) -> Element:
    """A ``script`` or ``style``, whose text is written as it is: only for text that cannot end the element."""
    if "</" in text or "<!" in text:
        raise ValueError(f"this text would end its <{name}>")
    made = element(name, **attributes)
    made.text = text
    return made


def to_html(made: Element) -> str:
    """As HTML."""
    return str(tostring(made, encoding="unicode", method="html"))


def to_xml(made: Element) -> str:
    """As XML, for standalone SVG files."""
    return str(tostring(made, encoding="unicode"))
