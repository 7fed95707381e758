"""Frontiers as small SVG pictures: certified share across, accuracy up, one panel for each constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT, EDGE, LEGEND = 300, 260, 42, 44
COLOURS = {
    "networks": "#0b6e99",
    "trees": "#2e8b57",
    "dl2": "#d35400",
    "plain network": "#c0392b",
    "unaware network": "#7f8c8d",
    "plain trees": "#e59a95",
    "gradient boosting": "#8e44ad",
    "paper": "#000000",
}
FRONTIERS = ("networks", "trees")
"""Kinds of many weights, drawn small; the others have one model each."""
RINGS = {"accurate": "#000000", "certified": "#f1a208"}


@dataclass(frozen=True)
class Dot:
    """One model: certified share and accuracy in per cent; ``rings`` names the rules by which it is chosen."""

    kind: str
    certified: float
    accuracy: float
    rings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    title: str
    dots: tuple[Dot, ...]


def picture(panels: Sequence[Panel]) -> str:
    """All panels side by side, with one legend."""
    width, height = WIDTH * len(panels) + EDGE // 3, HEIGHT + LEGEND  # the last label reaches beyond its panel
    parts = [f'<rect width="{width}" height="{height}" fill="white"/>']
    for place, panel in enumerate(panels):
        parts.append(f'<g transform="translate({place * WIDTH},0)">{"".join(_panel(panel))}</g>')
    parts += _legend()
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _legend() -> list[str]:
    """Kinds in one line, rings and what certified means in the next."""
    parts, x = [], float(EDGE)
    for name, colour in COLOURS.items():
        parts.append(f'<circle cx="{x:.1f}" cy="{HEIGHT + 8}" r="4" fill="{colour}"/>')
        parts.append(_text(x + 8, HEIGHT + 12, name, "start"))
        x += 26 + 6.2 * len(name)
    x = float(EDGE)
    for name, colour in RINGS.items():
        parts.append(f'<circle cx="{x:.1f}" cy="{HEIGHT + 28}" r="4" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(x + 8, HEIGHT + 32, f"chosen: {name}", "start"))
        x += 26 + 6.2 * len(f"chosen: {name}")
    parts.append(_text(x, HEIGHT + 32, "certified over the reals: networks on the ball, trees end to end", "start"))
    return parts


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
        *(_dot(across(dot.certified), up(dot.accuracy), dot) for dot in sorted(panel.dots, key=_painted)),
        _text(WIDTH / 2, HEIGHT - 8, "certified", "middle"),
        _text(EDGE - 30, EDGE - 8, "accuracy", "start"),
    ]


def _painted(dot: Dot) -> int:
    """Chosen models last, so that nothing hides them."""
    return 2 if dot.rings else 0 if dot.kind in FRONTIERS else 1


def _dot(x: float, y: float, dot: Dot) -> str:
    size = 5 if dot.rings or dot.kind not in FRONTIERS else 3
    drawn = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{COLOURS[dot.kind]}"/>'
    for place, rule in enumerate(dot.rings):
        radius = size + 1 + 3 * place
        drawn += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="none" stroke="{RINGS[rule]}" stroke-width="2"/>'
    return drawn


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
