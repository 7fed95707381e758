"""The rule of decision: which outputs decide alike, as limits that linear outputs must stay below."""

from fractions import Fraction
from typing import Any

from lcifr.check.exact import ensure, items, number, position, reading
from lcifr.check.proof import Bounds

KEYS = {"sign": {"kind"}, "class": {"kind", "groups"}, "within": {"kind", "tolerance"}}


class DecisionRule:
    """What must agree: the class by the sign of one output; the group of the largest output; or every output, nearly.

    Classes have scores, the largest of which decides. For a sign they are 0 and the output, else the outputs.
    """

    def __init__(self, found: Any, outputs: int) -> None:
        with reading("the rule of decision"):
            ensure(set(found) == KEYS[found["kind"]], "the rule says more than its kind has, or less")
            self.within, self.sign = found["kind"] == "within", int(found["kind"] == "sign")
            self.tolerance = Fraction(number(found["tolerance"])) if self.within else Fraction(0)
            self.groups = [[0], [1]] if self.sign else found.get("groups", [])
            self.classes = sorted(position(c, outputs + 1) for group in self.groups for c in items(group))
            right = self.tolerance >= 0 if self.within else self.classes == [*range(outputs + self.sign)] > [0]
            ensure(right, "a tolerance is negative, or the groups do not hold every class exactly once")

    def alike(self, prediction: Any) -> list[Any]:
        """The classes that count as this one."""
        known = (group for group in self.groups if position(prediction, len(self.classes)) in group)
        return [prediction] if self.within else next(known)

    def limits(self, own: list[Fraction], off: list[Fraction], prediction: Any) -> Bounds:
        """Where every one of these stays below its limit, the decision is the person's own, which is off by so much."""
        if self.within:
            room = [self.tolerance - error for error in off]
            return {((j, s),): int(s) * value + room[j] for j, value in enumerate(own) for s in (1.0, -1.0)}
        others = [c for c in self.classes if c not in self.alike(prediction)]
        pairs = (sorted(((c - self.sign, 1.0), (prediction - self.sign, -1.0))) for c in others)
        return {tuple((output, s) for output, s in pair if output >= 0): Fraction(0) for pair in pairs}


def beyond(limits: Bounds, outputs: list[Fraction], off: list[Fraction]) -> list[Fraction]:
    """By how much outputs that are off by so much can be beyond each of the limits."""
    return [sum(int(s) * outputs[j] + off[j] for j, s in direction) - limit for direction, limit in limits.items()]
