"""The content in words: paragraphs, tables and charts that every format writes alike."""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.display.charts import Dot, Histogram, ShareGrid, ShareStrip
from lcifr.display.scores import MarkedScore, PairScore
from lcifr.report.content import Caution
from lcifr.report.people.content import Explorer


@dataclass(frozen=True)
class Table:
    """Cells as they are read; ``numbers`` says which columns hold numbers, ``own`` which row is the model audited."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[bool, ...]
    own: int | None = None


@dataclass(frozen=True)
class Chart:
    """A picture and its numbers as a table: a histogram, a score, a pair, a strip or grid of shares, or a frontier."""

    key: str
    title: str
    description: str
    axis: str
    table: Table
    histogram: Histogram | None = None
    dots: tuple[Dot, ...] = ()
    required: float = 0.0
    legend: tuple[tuple[str, str], ...] = ()
    score: MarkedScore | None = None
    pair: PairScore | None = None
    strip: ShareStrip | None = None
    grid: ShareGrid | None = None


@dataclass(frozen=True)
class Gallery:
    """Charts side by side, with one person marked in them: the id, or nothing for nobody."""

    charts: tuple[Chart, ...]
    marked: str


@dataclass(frozen=True)
class CodeBlock:
    """Text as it was written: a formula, a command."""

    text: str
    label: str


@dataclass(frozen=True)
class Points:
    """A list; an item that begins with spaces stands below the one before."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class PeopleBlock:
    """The explorer, and how many counterexamples there are in all."""

    explorer: Explorer
    violated: int


Block = str | Table | Chart | Gallery | CodeBlock | Points | PeopleBlock


@dataclass(frozen=True)
class Section:
    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Headline:
    """The one figure a reader takes away, never without its bound and what it is a figure of."""

    figure: str
    words: str
    bound: str
    parts: tuple[tuple[str, str, int, str], ...]  # kind, name, people, share
    of: str = "certified with respect to φ"  # what the figure is a share of
    counted: bool = True  # whether people were counted, or only shares of them are known
    muted: bool = False  # of a model that decides the same for everybody: the figure is nothing to be proud of


@dataclass(frozen=True)
class Document:
    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]  # date, author, model, what was confirmed for whom
    headline: Headline
    cautions: tuple[Caution, ...]
    sections: tuple[Section, ...]
    kind: str = "Certificate report"
    footer: str = "Certified means: with respect to φ as printed here, for the model with these hashes, and no more."
