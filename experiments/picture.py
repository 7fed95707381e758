"""Frontiers as small SVG pictures: certified share across, accuracy up, one panel for each constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT, EDGE = 300, 260, 42
COLOURS = {"ours": "#0b6e99", "dl2": "#d35400", "plain": "#c0392b", "unaware": "#7f8c8d", "paper": "#000000"}


@dataclass(frozen=True)
class Dot:
    """One model: certified share and accuracy in per cent; ``ring`` marks the chosen one."""

    kind: str
    certified: float
    accuracy: float
    ring: bool = False


@dataclass(frozen=True)
class Panel:
    title: str
    dots: tuple[Dot, ...]


def picture(panels: Sequence[Panel]) -> str:
    """All panels side by side, with one legend."""
    width = WIDTH * len(panels)
    parts = [f'<rect width="{width}" height="{HEIGHT + 22}" fill="white"/>']
    for place, panel in enumerate(panels):
        parts.append(f'<g transform="translate({place * WIDTH},0)">{"".join(_panel(panel))}</g>')
    for place, (name, colour) in enumerate(COLOURS.items()):
        x = EDGE + 80 * place
        parts.append(f'<circle cx="{x}" cy="{HEIGHT + 8}" r="4" fill="{colour}"/>')
        parts.append(_text(x + 8, HEIGHT + 12, name, "start"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 22}" width="{width}" '
        f'height="{HEIGHT + 22}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _panel(panel: Panel) -> list[str]:
    heights = [dot.accuracy for dot in panel.dots] or [0.0]
    low, high = min(heights) - 0.5, max(heights) + 0.5

    def across(certified: float) -> float:
        return EDGE + certified / 100 * (WIDTH - EDGE - 14)

    def up(accuracy: float) -> float:
        return HEIGHT - EDGE - (accuracy - low) / (high - low) * (HEIGHT - 2 * EDGE)

    right = WIDTH - 14
    return [
        _text(WIDTH / 2, 20, panel.title, "middle"),
        f'<path d="M{EDGE},{EDGE} V{HEIGHT - EDGE} H{right}" fill="none" stroke="black"/>',
        *(_text(across(value), HEIGHT - EDGE + 14, f"{value} %", "middle") for value in (0, 50, 100)),
        *(_text(EDGE - 4, up(value) + 4, f"{value:.1f}", "end") for value in (low + 0.5, high - 0.5)),
        *(_dot(across(dot.certified), up(dot.accuracy), dot) for dot in panel.dots),
        _text(WIDTH / 2, HEIGHT - 8, "certified (ball)", "middle"),
        _text(EDGE - 30, EDGE - 8, "accuracy", "start"),
    ]


def _dot(x: float, y: float, dot: Dot) -> str:
    ring = ' stroke="black" stroke-width="2"' if dot.ring else ""
    size = 5 if dot.ring or dot.kind != "ours" else 3
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{COLOURS[dot.kind]}"{ring}/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
