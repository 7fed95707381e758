"""The scikit-learn face: the frontier of accuracy and certified share as a small SVG picture."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from lcifr.estimators.frontier import Frontier, Point

WIDTH, HEIGHT, EDGE = 560, 380, 56


def frontier_svg(frontier: Frontier) -> str:
    """Certified share (across) against score (up): a line over the weights, both baselines, the score required."""
    everyone = [*frontier.points, frontier.plain, frontier.unaware]
    scores = [point.score for point in everyone] + [frontier.required]
    low, high = min(scores), max(scores)
    margin = 0.08 * (high - low) or 0.01
    low, high = low - margin, high + margin

    def across(share: float) -> float:
        return EDGE + share * (WIDTH - 2 * EDGE)

    def up(score: float) -> float:
        return HEIGHT - EDGE - (score - low) / (high - low) * (HEIGHT - 2 * EDGE)

    def dot(point: Point, colour: str, label: str) -> str:
        x, y = across(point.certified), up(point.score)
        ring = ' stroke="black" stroke-width="2"' if frontier.chosen == point else ""
        left = point.certified > 0.8
        anchor, shift = ("end", -8) if left else ("start", 8)
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"{ring}/>'
            f'<text x="{x + shift:.1f}" y="{y - 7:.1f}" text-anchor="{anchor}">{escape(label)}</text>'
        )

    line = " ".join(f"{across(point.certified):.1f},{up(point.score):.1f}" for point in frontier.points)
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *(_tick(across(share), HEIGHT - EDGE + 18, f"{share:.0%}", "middle") for share in (0, 0.25, 0.5, 0.75, 1)),
        *(_tick(EDGE - 8, up(score) + 4, f"{score:.3f}", "end") for score in (low + margin, high - margin)),
        f'<path d="M{EDGE},{EDGE} V{HEIGHT - EDGE} H{WIDTH - EDGE}" fill="none" stroke="black"/>',
        f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{up(frontier.required):.1f}" y2="{up(frontier.required):.1f}" '
        'stroke="grey" stroke-dasharray="4 4"/>',
        f'<polyline points="{line}" fill="none" stroke="#0b6e99"/>',
        *(dot(point, "#0b6e99", f"γ = {point.gamma:g}") for point in frontier.points),
        dot(frontier.plain, "#c0392b", "plain"),
        dot(frontier.unaware, "#7f8c8d", "unaware"),
        _tick(WIDTH / 2, HEIGHT - 14, "certified share (validation)", "middle"),
        _tick(EDGE, EDGE - 16, "score", "middle"),
    ]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n{body}\n</svg>\n'
    )


def _tick(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
