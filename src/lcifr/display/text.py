"""Formatting of text, shares and numbers for people; nothing is rounded in our favour."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

# Control characters, and those that turn the direction of what follows: a name must not rearrange the line it is in.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

PLAIN = 1e15
"""Whole numbers below this are written out: float64 holds every one of them."""


def visible(text: str) -> str:
    """The same text with every control character spelled out; new lines and tabs stay."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", text.replace("\r\n", "\n"))


def percent(share: float | None) -> str:
    """A share as text; "100 %" means all and "0 %" means none."""
    return "–" if share is None else _tenths_text(round(10 * float(f"{100 * share:.1f}")), share)


def percents(parts: Sequence[float], tenths: int = 1000) -> list[str]:
    """Shares of one whole as texts that add up (largest remainder).

    Parameters
    ----------
    parts : counts of people, or shares. tenths : what they add up to, in tenths of a percent.
    """
    whole = sum(parts)
    shared = split_tenths(parts, tenths)
    return [
        _tenths_text(tenth, part / whole * tenths / 1000 if whole else 0.0)
        for tenth, part in zip(shared, parts, strict=True)
    ]


def split_tenths(parts: Sequence[float], tenths: int = 1000) -> list[int]:
    """Tenths of a percent for every part, ``tenths`` in all; of equal remainders the last is rounded up first."""
    whole = sum(parts)
    if not whole:
        return [0] * len(parts)
    exact = [part / whole * tenths for part in parts]
    found = [math.floor(value + 1e-9) for value in exact]
    order = sorted(range(len(parts)), key=lambda place: (round(exact[place] - found[place], 9), place), reverse=True)
    for place in order[: tenths - sum(found)]:
        found[place] += 1
    return found


def _tenths_text(tenths: int, share: float) -> str:
    if (tenths >= 1000 and share < 1) or (tenths == 0 and share > 0):
        return "over 99.9 %" if share > 0.5 else "under 0.1 %"
    return f"{tenths / 10:.1f} %"


def at_least(share: float | None) -> str:
    """A lower bound as text, rounded down: never more than what was proved."""
    return "–" if share is None else f"{math.floor(1000 * share) / 10:.1f} %"


def count(number: int) -> str:
    """12,345"""
    return f"{number:,}"


def short(value: float | None, digits: int = 4) -> str:
    """A number with a few digits, a true minus sign, and no exponent where people would not expect one: 12,350"""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    few = float(f"{value:.{digits}g}")
    text = f"{few:,.0f}" if 10**digits <= abs(few) < PLAIN else f"{value:,.{digits}g}"
    return text.replace("-", "−")


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
    """A tolerance with exactly the digits it was given with."""
    return quantity(tolerance, 1e-6 * tolerance)


def labels_words(labels: Mapping[str, str]) -> str:
    """Which name stands for which decision of the model, in a clause."""
    return ", ".join(f"{visible(name)} is called “{visible(text)}”" for name, text in labels.items())


def tolerance_words(tolerance: float) -> str:
    """What a tolerance means, in a clause."""
    return f"predictions less than {exactly(tolerance)} apart, in the label’s own unit, count as the same decision"


def moved_words(moved: float, tolerance: float) -> str:
    """How far a counterexample is off; with as many digits as it takes to see that it is too far."""
    steps = [tolerance / 10**digits for digits in range(12)] if tolerance > 0 else [0.0]
    pairs = [(quantity(moved, step), quantity(tolerance, step)) for step in steps]
    far, allowed = next((pair for pair in pairs if pair[0] != pair[1]), (repr(moved), repr(tolerance)))
    return f"moves by {far}, more than the tolerance of {allowed}"


def format_value(value: Any, *, year: bool = False) -> str:
    """An attribute's value: categories as they are, whole numbers whole, others with the digits they have: 1,662.5

    A ``year`` is the one number that people write without a comma.
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float) and value == round(value) and abs(value) < PLAIN:
        value = int(value)
    return (f"{value}" if year else f"{value:,}").replace("-", "−")


def not_examined_words(rows: int) -> str:
    """Behind a certified share: how many of the people were not examined; nothing where all were."""
    return f", {rows:,} of them not examined" if rows else ""


def vacuous_words(vacuous: int) -> str:
    """The end of a line of counts, where there are certificates about people to whom no one is similar."""
    return f", vacuous {vacuous:,} (certified because no one is similar to them)" if vacuous else ""


def arithmetic_words(model: str, encoder: str | None = None) -> str:
    """What verdicts speak about, as a sentence without its full stop; the encoder's arithmetic if it is another one."""
    if model == "exact":
        return "exact: real numbers on the stored weights; what a machine rounds is not covered"
    first = f"{encoder} up to z, then {model}" if encoder not in (None, model) else str(model)
    return f"{first}: any machine that computes in it, from the table's values to the decision, however it rounds"
