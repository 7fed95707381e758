"""The report on an opening: what of the sample is confirmed, what is false, and what that shows of all lines."""

from dataclasses import dataclass, field

from lcifr.check.exact import printable
from lcifr.check.report.check_report import CheckReport

SHOWN = """{drawn} of {lines} committed lines were drawn; {good} are certified and confirmed
with confidence {confidence} at least {at_least} of the {lines} committed lines are certified and confirmed
  opened: {opened}, {alone} of them have no one similar
  announced of all: {announced}
  not shown: that the people are real, that they are different people, or that they are all there are"""


@dataclass
class OpeningReport:
    """How many of the drawn lines are certified and confirmed, what is false about the others, and the bound.

    Parameters
    ----------
    lines : committed. drawn : of them. announced, opened : lines by verdict, of all and of the sample.
    earlier : commitments that were challenged before; each of those audits has an answer of its own.
    good : drawn lines that are certified and confirmed. at_least : so many of all lines are, with ``confidence``.
    problems : what is false, and why. checked : the exact checker's report on the opened people.
    """

    lines: int
    drawn: int
    confidence: str
    announced: dict[str, int]
    earlier: list[str]
    opened: dict[str, int] = field(default_factory=dict)
    good: int = 0
    at_least: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    checked: CheckReport = field(default_factory=CheckReport)

    @property
    def exit_code(self) -> int:
        """0 everything that was drawn is opened, belongs to the tree and is confirmed; 1 something is not."""
        return 1 if self.problems else 0

    def text(self) -> list[str]:
        """For people to read."""
        kinds = {key: vars(self)[key] for key in ("opened", "announced")}
        said = {key: ", ".join(f"{n} {printable(kind)}" for kind, n in found.items()) for key, found in kinds.items()}
        return [
            *SHOWN.format(**vars(self) | said, alone=len(self.checked.names["vacuous"])).splitlines(),
            *(f"earlier audit, with an answer of its own: commitment {printable(one)}" for one in self.earlier),
            *(f"FALSE: {printable(what)}: {printable(why)}" for what, why in self.problems.items()),
        ]
