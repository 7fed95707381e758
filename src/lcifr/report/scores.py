"""The section of an additive model: what each attribute adds, as charts, and how far each moves the output."""

from __future__ import annotations

from collections.abc import Iterator

from lcifr.display.score_charts import pair_rows, pair_sentence
from lcifr.display.scores import MarkedScore, PairScore, score_head, score_rows, score_sentence
from lcifr.display.text import count, short
from lcifr.report.content import Report
from lcifr.report.document import Block, Chart, Gallery, Table
from lcifr.report.people.content import Scores
from lcifr.report.people.drawn import marked_scores


def scores_section(report: Report) -> Iterator[Block]:
    """Only for reports with scores."""
    scores = report.explorer.scores
    assert scores is not None
    yield _lead(scores)
    first = report.explorer.first
    charts = tuple(_chart(place, one) for place, one in enumerate(marked_scores(first, report.explorer)))
    yield Gallery(charts, "" if first is None else first.id)
    rows = tuple((name, short(moves, 3)) for name, moves in scores.moves.items())
    yield Table("How far each attribute moves the output among these people", ("Attribute", "By"), rows, (False, True))
    if scores.pairs:
        yield (
            "Some pairs of attributes have a joint score in addition to their own: blue raises the output, red lowers "
            "it, and deeper colours mean more."
        )
        yield Gallery(tuple(_pair_chart(place, one) for place, one in enumerate(scores.pairs)), "")
    if scores.undrawn:
        yield f"These pairs have a joint score, which counts but is not drawn: {', '.join(scores.undrawn)}."


def _lead(scores: Scores) -> str:
    start = "The output of this model is a sum of what each attribute adds"
    if scores.average is not None:
        average = f"{short(scores.average, 3)}, the average of these people"
        start = f"The output of this model is {average}, plus what each attribute adds"
    up = f" A higher output favours “{scores.up}”." if scores.up else ""
    some = len(scores.drawn) < len(scores.moves)
    which = f"the {count(len(scores.drawn))} attributes that move it most" if some else "all of them"
    return f"{start}.{up} The charts show {which}, with 0 for the average; grey bars show the people."


def _pair_chart(place: int, score: PairScore) -> Chart:
    head = (score.across.attribute, score.up.attribute, "Adds")
    table = Table(f"{score.name}: the cells with the largest effect", head, pair_rows(score), (False, False, True))
    return Chart(f"pair-{place}", score.name, pair_sentence(score), score.name, table, pair=score)


def _chart(place: int, marked: MarkedScore) -> Chart:
    score = marked.score
    head = score_head(score)
    legend = tuple((f"o{number}", name) for number, name in enumerate(score.outputs))
    return Chart(
        key=f"score-{place}",
        title=score.attribute,
        description=score_sentence(score),
        axis=score.attribute,
        table=Table(f"{score.attribute}, in numbers", head, score_rows(score), (False, *[True] * (len(head) - 1))),
        score=marked,
        legend=legend,
    )
