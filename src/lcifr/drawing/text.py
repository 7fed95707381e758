"""Text and numbers as people read them: nothing hidden in a name, nothing rounded in our favour."""

from __future__ import annotations

import math
import re
from typing import Any

# Control characters, and those that turn the direction of what follows: a name must not rearrange the line it is in.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """The same text with every control character spelled out; new lines and tabs stay."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", text.replace("\r\n", "\n"))


def percent(share: float | None) -> str:
    """A share for people; never "100 %" where something is missing, nor "0 %" where something is there."""
    if share is None:
        return "–"
    text = f"{100 * share:.1f}"
    if (text == "100.0" and share < 1) or (text == "0.0" and share > 0):
        return "over 99.9 %" if share > 0.5 else "under 0.1 %"
    return f"{text} %"


def at_least(share: float | None) -> str:
    """A lower bound for people, rounded down: what is printed is never more than what was shown."""
    return "–" if share is None else f"{math.floor(1000 * share) / 10:.1f} %"


def count(number: int) -> str:
    """12,345"""
    return f"{number:,}"


def short(value: float | None, digits: int = 4) -> str:
    """A number with a few digits, a true minus sign, and no exponent where people would not expect one."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}g}".replace("-", "−")


def floored(value: float | None, digits: int = 4) -> str:
    """As :func:`short`, rounded down: for what is proved from below."""
    if value is None or not math.isfinite(value) or value == 0:
        return short(value, digits)
    step = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - digits)
    return short(math.floor(value / step) * step, digits)


def fixed(value: float | None) -> str:
    """R²: three places, whatever its size."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def quantity(value: float, step: float = 0.0) -> str:
    """A predicted number, in the label's unit, with thousands set apart: to a hundredth of ``step``, or four digits."""
    if not math.isfinite(value):
        return short(value)
    size, more = (step, 2) if step > 0 else (abs(value), 3)
    places = 0 if size == 0 else more - math.floor(math.log10(size))
    if places > 9 or abs(value) >= 1e15:  # people would not count these digits
        return short(value, min(17, max(6, places + 1 + math.floor(math.log10(abs(value) or 1.0)))))
    text = f"{value:,.{max(places, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "0") else text.replace("-", "−")


def exactly(tolerance: float) -> str:
    """A tolerance as somebody chose it."""
    return quantity(tolerance, 1e-6 * tolerance)


def tolerance_words(tolerance: float) -> str:
    """What a tolerance means, in a clause."""
    return f"predictions less than {exactly(tolerance)} apart, in the label’s own unit, count as the same decision"


def moved_words(moved: float, tolerance: float) -> str:
    """How far a counterexample is off; with as many digits as it takes to see that it is too far."""
    steps = [tolerance / 10**digits for digits in range(12)] if tolerance > 0 else [0.0]
    pairs = [(quantity(moved, step), quantity(tolerance, step)) for step in steps]
    far, allowed = next((pair for pair in pairs if pair[0] != pair[1]), (repr(moved), repr(tolerance)))
    return f"moves by {far}, more than the tolerance of {allowed}"


def format_value(value: Any) -> str:
    """An attribute's value: categories as they are, whole numbers whole, others with the digits they have."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float) and value == round(value) and abs(value) < 1e15:
        value = int(value)
    return (f"{value:,}" if isinstance(value, int) and abs(value) >= 10_000 else f"{value}").replace("-", "−")
