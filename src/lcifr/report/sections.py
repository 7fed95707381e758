"""Sections of a report: its sentences, tables and charts. Careful words: certified with respect to φ, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.certification.population import ScaleSource, Statement
from lcifr.display.canvas import Picture
from lcifr.display.charts import KIND_NAMES, Dot, Histogram, frontier_chart, histogram_chart, model_dot
from lcifr.display.score_charts import pair_chart, pair_rows, pair_sentence, score_chart
from lcifr.display.scores import MarkedScore, PairScore, score_head, score_rows, score_sentence
from lcifr.display.text import (
    at_least,
    count,
    exactly,
    fixed,
    labels_words,
    not_examined_words,
    percent,
    percents,
    quantity,
    short,
    split_tenths,
)
from lcifr.models.function import Function
from lcifr.phi.parser import drop_last_comments
from lcifr.report.content import Caution, ComparedModel, DecisionRow, Decisions, Explorer, Report, Scores
from lcifr.report.people import marked_scores
from lcifr.workflows.results import CheckedProofs, ModelOrigin, TuneResult

if TYPE_CHECKING:
    from lcifr.estimators.tuning import Frontier, FrontierPoint

# The content in words: paragraphs, tables and charts that every format writes alike.


SHORT = 12
"""Rows of a table that stays on one page of paper."""


@dataclass(frozen=True)
class Table:
    """Cells as they are read; ``numbers`` says which columns hold numbers, ``own`` which row is the model audited."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[bool, ...]
    own: int | None = None

    def kind(self, column: int) -> str | None:
        """What the page calls a column: ``number``, ``hash``, or nothing."""
        if self.head[column] == "Hash":
            return "hash"
        return "number" if self.numbers[column] else None

    @property
    def shape(self) -> str | None:
        """``wide`` tables become lists on a phone, ``short`` ones stay on one page of paper."""
        wide = "wide" if len(self.head) > 3 else ""
        return f"{wide} {'short' if len(self.rows) <= SHORT else ''}".strip() or None


@dataclass(frozen=True)
class Chart:
    """A picture, what it shows in a sentence, and its numbers as a table; ``key`` names it on the page."""

    key: str
    picture: Picture
    description: str
    table: Table


@dataclass(frozen=True)
class Gallery:
    """Charts side by side, with one person marked in them: the id, or nothing."""

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

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        """Those that the people have, each with its name."""
        kinds = {person.verdict.lower() for person in self.explorer.people}
        return [(kind, name) for kind, name in KIND_NAMES.items() if kind in kinds]


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
    muted: bool = False  # of a model that decides the same for everyone: the figure is nothing to be proud of

    @property
    def in_short(self) -> str:
        """For the title of the page."""
        return self.words if self.muted else f"{self.figure} {self.of}"


@dataclass(frozen=True)
class Document:
    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]  # date, author, model, what was confirmed
    headline: Headline
    cautions: tuple[Caution, ...]
    sections: tuple[Section, ...]
    kind: str = "Certificate report"
    footer: str = "Certified means: with respect to φ as printed here, for the model with these hashes, and no more."


# Tables of a report: verdicts, models, groups, decision rates and the confusion matrix. Shares of one whole add up.


def verdict_counts(statement: Statement) -> tuple[int, ...]:
    """Certified, counterexample, undecided; and not examined, where there are such rows."""
    counts = (statement.certified, statement.violated, statement.undecided)
    return (*counts, statement.not_examined) if statement.not_examined else counts


def verdict_shares(statement: Statement) -> tuple[str, ...]:
    """Shares of :func:`verdict_counts`, of all rows of the table: the same figures wherever they stand."""
    return tuple(percents(verdict_counts(statement)))


def verdict_table(report: Report) -> Table:
    """Every verdict, and why some are undecided."""
    said, why = report.statement, report.reasons
    certified, violated, undecided, *gone = verdict_shares(said)
    reasons = zip(why.items(), percents(list(why.values()), split_tenths(verdict_counts(said))[2]), strict=True)
    rows = (
        ("Certified with respect to φ", count(said.certified), certified),
        ("Counterexample found", count(said.violated), violated),
        ("Undecided", count(said.undecided), undecided),
        *((f"of these: {reason}", count(people), share) for (reason, people), share in reasons),
        *(("Not examined: a value is missing", count(said.not_examined), share) for share in gone),
        ("Vacuous: certified because no one is similar", count(said.vacuous), percent(said.vacuous / said.rows)),
        ("No one similar but the person", count(report.alone), percent(report.alone / said.rows)),
    )
    return Table("Verdicts", ("Verdict", "People", "Share"), rows, (False, True, True))


def model_table(models: Sequence[ComparedModel], *, numbers: bool) -> Table:
    """The model audited and its baselines, by accuracy; those that predict ``numbers`` by R² and mean error."""
    fit = ("R²", "Mean error") if numbers else ("Accuracy", "Balanced accuracy")
    head = ("Model", *fit, "Certified", "Counterexample", "Undecided")
    rows = tuple((one.name, *fit_cells(one, numbers=numbers), *model_verdicts(one)) for one in models)
    return Table("Models on the same people", head, rows, (False, *[True] * 5), own=0)


def fit_cells(model: ComparedModel, *, numbers: bool) -> tuple[str, str]:
    """How well a model fits: accuracy and balanced accuracy, or R² and the mean error of ``numbers``."""
    if numbers:
        return fixed(model["r2"]), error_words(model["mean_error"])
    return percent(model["accuracy"]), percent(model["balanced_accuracy"])


def model_verdicts(model: ComparedModel) -> Sequence[str]:
    """Certified, counterexample, undecided of one model, adding up where all three are known."""
    figures = [model[name] for name in ("certified", "violated", "undecided")]
    shares = [share for share in figures if share is not None]
    if len(shares) == 3 and abs(sum(shares) - 1) < 1e-6:
        return percents(shares)
    return [percent(share) for share in figures]


def group_table(groups: Sequence[Mapping[str, Any]], *, numbers: bool) -> Table:
    """Verdicts by group; the last column says how well the model fits each group."""
    head = ("Attribute", "Value", "People", "Certified", "At least", "Counterexample")
    rows = tuple(
        (
            row["attribute"],
            str(row["value"]),
            count(row["people"]),
            percent(row["certified"]),
            at_least(row.get("at_least")),
            percent(row["violated"]),
            error_words(row.get("mean_error")) if numbers else percent(row.get("accuracy")),
        )
        for row in groups
    )
    fit = "Mean error" if numbers else "Accuracy"
    return Table("Verdicts by group", (*head, fit), rows, (False, False, *[True] * 5))


def decision_table(decisions: Decisions) -> Table:
    """How often each decision is taken: of everyone, and of every group."""
    everyone = DecisionRow("Everyone", "–", decisions.people)
    rows = tuple(
        (row.attribute, row.value, count(sum(row.people)), *percents(row.people))
        for row in (everyone, *decisions.groups)
    )
    head = ("Attribute", "Value", "People", *decisions.names)
    return Table("How often each decision is taken", head, rows, (False, False, *[True] * (len(head) - 2)))


def confusion_table(decisions: Decisions) -> Table:
    """True labels against decisions, in people."""
    rows = tuple((row.value, *map(count, row.people), count(sum(row.people))) for row in decisions.labels)
    totals = [sum(column) for column in zip(*(row.people for row in decisions.labels), strict=True)]
    head = ("True label", *(f"decided {name}" for name in decisions.names), "People")
    rows = (*rows, ("All", *map(count, totals), count(sum(totals))))
    return Table("True labels against decisions, in people", head, rows, (False, *[True] * (len(head) - 1)))


def scale_table(scales: Sequence[ScaleSource]) -> Table:
    """The standard deviations and ranks that φ speaks of, and how many rows of which table they come from."""
    head = ("Attribute", "Standard deviation", "Rows with a value", "Rows", "Table")
    rows = tuple(
        (
            one.attribute if one.by is None else f"rank of {one.attribute} by {one.by}",
            "–" if one.sd is None else f"{one.sd:.4g}",
            count(one.rows),
            count(one.of),
            one.source,
        )
        for one in scales
    )
    return Table("Where the standard deviations and ranks of φ come from", head, rows, (False, True, True, True, False))


# Charts with their legends and the same numbers as tables.


def histogram(shown: Histogram, key: str, title: str, axis: str) -> Chart:
    """How many of all people lie between which numbers, by verdict."""
    totals = {kind: sum(counts) for kind, counts in shown.counts.items()}
    of_each = ", ".join(f"{count(total)} {KIND_NAMES[kind].lower()}" for kind, total in totals.items())
    where = f"from {short(shown.edges[0])} to {short(shown.edges[-1])}"
    beyond = sum(shown.beyond)
    outside = f"; the end bars also hold {count(beyond)} beyond" if beyond else ""
    left = f"; left out, without a number: {count(shown.left_out)}" if shown.left_out else ""
    spans = [_span(shown, place) for place in range(shown.bars)]
    rows = tuple(
        (span, *(count(counts[place]) for counts in shown.counts.values()))
        for place, span in enumerate(spans)
        if any(counts[place] for counts in shown.counts.values())
    )
    table = Table(
        f"{title}, in numbers",
        ("Between", *(KIND_NAMES[kind] for kind in shown.counts)),
        rows,
        (False, *[True] * len(shown.counts)),
    )
    description = f"Histogram of {of_each}, {where}{outside}{left}."
    return Chart(key, histogram_chart(shown, title=title, axis=axis), description, table)


def _span(shown: Histogram, place: int) -> str:
    low, high = short(shown.edges[place], 6), short(shown.edges[place + 1], 6)
    if place == 0 and shown.beyond[0]:
        return f"below {high}"
    if place == shown.bars - 1 and shown.beyond[1]:
        return f"above {low}"
    return f"{low} to {high}"


def tried_models(tuning: Frontier | TuneResult) -> list[tuple[FrontierPoint, Dot]]:
    """The baselines and every weight that was tried, each with its dot in the chart."""
    chosen = getattr(tuning.chosen, "name", tuning.chosen)  # the result of the command has the name alone
    kinds = [(one, "unaware" if one.name.endswith("unaware") else "plain") for one in tuning.baselines]
    kinds += [(one, "chosen" if one.name == chosen else "tried") for one in tuning.points]
    several = len({one.learner for one, _ in kinds}) > 1
    scores = [one.balanced if tuning.by == "balanced" else one.score for one, _ in kinds]
    return [
        (one, model_dot(kind, one.gamma, one.certified, score, one.learner if several else ""))
        for (one, kind), score in zip(kinds, scores, strict=True)
    ]


def frontier(tuning: Frontier | TuneResult) -> Chart:
    """Certified share against score."""
    what = "balanced accuracy" if tuning.by == "balanced" else "score"
    tried = tried_models(tuning)
    rows = tuple(
        (
            dot.label + (" (chosen)" if dot.kind == "chosen" else ""),
            percent(one.score),
            percent(one.balanced),
            percent(one.certified),
        )
        for one, dot in tried
    )
    return Chart(
        "tuned",
        frontier_chart(
            [dot for _, dot in tried], tuning.required, title=f"{what.capitalize()} against certified share"
        ),
        f"{len(tried)} models: certified share across, {what} up. The dashed line is what was required.",
        Table("Weights that were tried", ("Model", "Score", "Balanced", "Certified"), rows, (False, True, True, True)),
    )


# Regression models in a report: how good they are, and what their tolerance means.


def tolerance_sentence(tolerance: float) -> str:
    """What the promise leaves open, and who chose that."""
    return (
        f"The model predicts a number, and all numbers here are in the label’s own unit. The tolerance is "
        f"{exactly(tolerance)}: predictions closer than that count as the same decision. The user of the model chose "
        "it; a larger tolerance certifies more people and promises each of them less."
    )


def margin_sentence(tolerance: float) -> str:
    """What a margin of numbers is."""
    return (
        f"The margin is proved, in the label’s own unit: it is what is left of the tolerance of {exactly(tolerance)} "
        "after the farthest similar person. Where it is negative, nothing is proved."
    )


def error_words(mean_error: float | None) -> str:
    """The mean error in the label's own unit; a dash where the labels are not known."""
    return "–" if mean_error is None else quantity(mean_error)


FIT = (
    "R² is the share of the labels’ variance that a model explains: 1 is perfect, 0 is what always predicting the mean "
    "of these people would give. The mean error is how far predictions are from the true labels on average, in the "
    "label’s own unit. Always predicting the mean of the training labels is certified for everyone, and useless."
)


# The section of an additive model: what each attribute adds, as charts, and how far each moves the output.


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
    return Chart(f"pair-{place}", pair_chart(score), pair_sentence(score), table)


def _chart(place: int, marked: MarkedScore) -> Chart:
    score = marked.score
    head = score_head(score)
    numbers = (False, *[True] * (len(head) - 1))
    table = Table(f"{score.attribute}, in numbers", head, score_rows(score), numbers)
    return Chart(f"score-{place}", score_chart(marked), score_sentence(score), table)


# How verdicts were found, of networks and of trees; what the report speaks about, by hash and version.

NETWORK = (
    "Linear bounds of the network on that region, refined by branching, prove that no point in it gets a different "
    "decision. Every bound is rounded to the safe side."
)
TREES = (
    "The leaves that each tree can reach in that region bound the sum. The region is split at thresholds and sets of "
    "categories until no part of it can get a different decision. Thresholds are those at which the deployed "
    "comparison changes, and every bound is rounded to the safe side."
)


SCORES = (
    "The scores that the trees can give in that region lie in a box for each of its cells. Linear bounds of the model "
    "on that box, refined by branching, prove that none of them gets a different decision. Every bound is rounded "
    "to the safe side."
)


NAMES = {"look_up": "look-up of columns"}
"""Of hashes, where those of the results are not plain English."""


def method_section(report: Report) -> Iterator[Block]:
    """What was done, and with what."""
    yield (
        "For every person, φ defines a region of all similar people, rounded outward. "
        f"{_proof(report)} "
        "If that fails, lcifr searches for similar people with a different decision. One counts as a counterexample "
        "only if φ holds for the pair, evaluated exactly, and two plain forward passes decide differently beyond "
        "rounding. Between the outermost whole numbers that φ allows, a proof also covers fractions. Ties are never "
        "certified."
    )
    if (library := report.about.library) is not None:
        yield _compared(library)
    hashes = {NAMES.get(name, name): sha256 for name, sha256 in report.hashes.items()}
    yield from run_tables(hashes, report.about.versions or {}, report.about.settings)


def run_tables(hashes: Mapping[str, str], versions: Mapping[str, str], settings: Mapping[str, str]) -> Iterator[Table]:
    """What a report is about, by hash; the packages that took part; and how the command was called."""
    yield Table("What this report is about (SHA-256)", ("Item", "Hash"), tuple(hashes.items()), (False, False))
    yield Table("Versions", ("Package", "Version"), tuple(versions.items()), (False, False))
    if settings:
        yield Table("Settings", ("Setting", "Value"), tuple(settings.items()), (False, False))


def _proof(report: Report) -> str:
    """How proofs are found: in the trees of the model, in those of its encoder, or in networks."""
    if report.found.model.function.tree_count:
        return TREES
    encoder = report.encoder_function
    return SCORES if encoder is not None and encoder.tree_count else NETWORK


def _compared(model: ModelOrigin) -> str:
    """How the model as it was read was compared with its library."""
    scales = f"Standard deviations and ranks in φ come from {Path(model.reference).name}."
    if not model.runtime:
        return f"The model was read from its file, step by step as its library computes it. {scales}"
    return (
        f"The model was read from its file, step by step as its library computes it. {model.runtime} makes the "
        "same decision for everyone wherever rounding leaves no doubt, and a counterexample counts only if "
        f"{model.runtime} also gives the two people different decisions. {scales}"
    )


# Sections of the page with charts, tables and people, in words.

MARGIN = (
    "The margin is proved: every similar person stays at least this far from a different decision, in units of the "
    "model’s output. Where it is negative, nothing is proved."
)


PROBABILITY = (
    "The model’s output is a log-odds. Beside each margin, the person-by-person section gives the probability that "
    "follows from it: for no similar person does the model give this decision a smaller probability."
)


def compared_section(report: Report) -> Iterator[Block]:
    yield (
        "A certified share means little on its own. The plain model was trained for its label only; the unaware model "
        "never sees what φ leaves free. A model that cannot beat the unaware model should be replaced by it."
    )
    if report.about.baseline_learner:
        yield f"The plain and the unaware model are each {report.about.baseline_learner}."
    said, numbers = report.statement, report.explorer.tolerance is not None
    if said.not_examined:
        yield f"These figures are of the {count(said.people)} people who were examined, for every model alike."
    yield model_table(report.models, numbers=numbers)
    if numbers:
        yield FIT
    elif said.majority_rate is not None:
        yield f"Always choosing the more frequent class would be right for {percent(said.majority_rate)}."
    if len(report.models) == 1:
        yield "No baseline was given."


def decisions_section(report: Report) -> Iterator[Block]:
    assert report.decisions is not None
    yield (
        "A certificate compares similar people. It does not say that groups get the same decisions: they may differ in "
        "what φ holds equal." + (" Only people who were examined are counted." if report.statement.not_examined else "")
    )
    yield decision_table(report.decisions)
    if report.decisions.labels:
        yield "True labels against decisions: how many are right, and which errors occur."
        yield confusion_table(report.decisions)


def distances_section(report: Report) -> Iterator[Block]:
    yield MARGIN if report.explorer.tolerance is None else margin_sentence(report.explorer.tolerance)
    if report.explorer.probabilities:
        yield PROBABILITY
    if report.margins is not None:
        yield histogram(report.margins, "margins", "Proved margins", "margin of the decision")
    if report.radii is not None:
        yield (
            "The radius is how far from a person’s own representation anyone similar can land: the largest change in "
            "any coordinate of z."
        )
        yield histogram(report.radii, "radii", "Proved radii", "radius ε in the latent space")


def frontier_section(report: Report) -> Iterator[Block]:
    assert report.tuning is not None
    score = "balanced accuracy" if report.tuning.by == "balanced" else "score"
    yield (
        "Every weight that was tried, on validation people. Certified shares here come from quick bounds on the ball, "
        f"so they are lower than in an audit. The requirement was a {score} of {percent(report.tuning.required)}."
    )
    yield frontier(report.tuning)


def groups_section(report: Report) -> Iterator[Block]:
    groups = report.groups
    bound = any(row.get("at_least") is not None for row in groups)
    yield (
        "The same verdicts by subgroup. Small groups vary by chance"
        + ("; every bound holds for its own row, not for all rows together." if bound else ".")
        + (" Shares are of the people of each group who were examined." if report.statement.not_examined else "")
    )
    yield group_table(groups, numbers=report.explorer.tolerance is not None)


def explorer_section(report: Report) -> Iterator[Block]:
    explorer, said = report.explorer, report.statement
    if explorer.left_off:
        shown, known = len(explorer.people), len(explorer.people) + explorer.left_off
        yield (
            f"{count(shown)} of {count(said.people)} people, counterexamples first. The figures above cover "
            f"everyone. lcifr report --people all lists {count(known)} people here; the HTML page also has them."
        )
    elif explorer.complete:
        yield f"All {count(len(explorer.people))} people."
    else:
        yield (
            f"{count(len(explorer.people))} of {count(said.people)} people: a random sample and "
            f"{count(explorer.counterexamples)} of {count(said.violated)} counterexamples. The figures above "
            "cover everyone."
        )
    if explorer.attributes and not explorer.regions and said.people > said.vacuous:
        yield "The values that a similar person may have are not shown: this report lacks the data to evaluate φ."
    if 0 < (drawn := sum(bool(one.profiles) for one in explorer.people)) < explorer.counterexamples:
        yield f"To save space, the model’s output is drawn around only {count(drawn)} of these counterexamples."
    yield PeopleBlock(explorer, said.violated)


# Every sentence of a report. Careful words: certified with respect to φ, and no more.

LIMITS = (
    "It does not say that the model is fair or unbiased. It says: certified with respect to φ. What that is worth "
    "depends on φ.",
    "It says nothing about people who differ in what φ holds equal, or about proxies: attributes that φ holds equal "
    "may reveal the ones that φ leaves free.",
    "It does not say that a decision is right. A model that makes the same decision for everyone is certified for "
    "everyone. This is why accuracy, the majority rate and the baselines appear next to every certified share.",
    "It says nothing about people who were not certified one by one. The bound for the population is a statistical "
    "statement, made only for people who were held out from training and drawn from that population.",
    "It applies to the model whose hash is given below, computed in the arithmetic named above. Compare both with the "
    "running system. TF32, bfloat16, float16 and quantised runtimes are never covered.",
)


def put_into_words(report: Report) -> Document:
    """The report as a document."""
    about, data_cautions = report.about, report.about.data_cautions
    sections = [
        Section("promise", "What was promised", tuple(_promise(report))),
        Section("proved", "What was proved", tuple(_proved(report))),
        Section("compared", "Compared with the baselines", tuple(compared_section(report))),
        *([Section("decisions", "Decisions and errors", tuple(decisions_section(report)))] if report.decisions else []),
        Section("distances", "How far from another decision", tuple(distances_section(report))),
    ]
    if report.explorer.scores is not None:
        sections.append(Section("scores", "What each attribute adds", tuple(scores_section(report))))
    if report.tuning is not None:
        sections.append(Section("frontier", "What the promise costs", tuple(frontier_section(report))))
    if report.groups:
        sections.append(Section("groups", "Group by group", tuple(groups_section(report))))
    sections += [
        Section("explorer", "Person by person", tuple(explorer_section(report))),
        *([Section("data", "About the data", (Points(data_cautions),))] if data_cautions else []),
        Section("limits", "What this report does not say", (Points(LIMITS),)),
        Section("method", "Method, versions, hashes", tuple(method_section(report))),
        Section("recheck", "Check it yourself", tuple(_recheck(report))),
    ]
    subtitle = ", ".join(part for part in (about.data, f"with respect to φ = {report.promise.name}") if part)
    facts = tuple(_facts(report))
    return Document(about.title, subtitle, facts, _headline(report), report.cautions, tuple(sections))


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    """What the top of the page says of itself: when, by whom, about what, and what was confirmed."""
    about = report.about
    written = f"; page written {about.written_later}" if about.written_later else ""
    yield "Audited", (about.audited or "date not recorded") + written
    yield "Author", about.author or "not named"
    if about.library is None:
        yield "Model", _model(report)
    else:
        yield from library_facts(about.library, library_name(about.library))
        yield "Runtime", about.library.runtime or NO_RUNTIME
    if about.decisions:
        yield "Decisions", f"{labels_words(about.decisions)}."
    yield "Arithmetic", f"{report.arithmetic}."
    yield "Confirmed", _confirmed(report)


NO_RUNTIME = "not installed; replaced by an exact forward pass of the model as it was read"


def _model(report: Report) -> str:
    on = ""
    if (encoder := report.encoder_function) is not None:
        on = f" on an encoder, {_function(encoder)} (sha256 {report.hashes.get('encoder', '')[:12]}…)"
    return f"{_function(report.found.model.function)} (sha256 {report.hashes.get('model', '')[:12]}…){on}"


def library_name(model: ModelOrigin) -> str:
    """The file of a model of another library, what wrote it, and the file that describes its columns."""
    described = f"; described by {model.description}" if model.description else ""
    return f"{Path(model.file).name}: {model.library}{described}"


def library_facts(model: ModelOrigin, name: str) -> Iterator[tuple[str, str]]:
    """A model of another library: its name, what it computes, how it decides, and what was taken for granted."""
    yield "Model", f"{name}; {'; '.join(model.steps)} (sha256 {model.sha256[:12]}…)"
    yield "Rule", f"{model.rule}."
    if model.assumptions:
        yield "Assumed", " ".join(model.assumptions)


def _function(function: Function) -> str:
    sizes = " → ".join(map(count, function.widths))
    if trees := function.tree_count:
        return f"{'1 tree' if trees == 1 else f'a sum of {count(trees)} trees'} {sizes}"
    return f"{'linear model' if len(function.widths) == 2 else 'ReLU network'} {sizes}"


def _confirmed(report: Report) -> str:
    checked, people = report.about.checked, report.statement.people
    if checked is None:
        return "nothing: the exact checker has not been run on these verdicts"
    of = "all" if checked.people == people else f"{count(checked.people)} people drawn at random from the"
    refused = f"; REJECTED for {count(len(checked.rejected))}" if checked.rejected else ""
    return (
        f"by the exact checker for {of} {count(people)} people: {count(checked.certified)} certificates, "
        f"{count(checked.counterexamples)} counterexamples{refused}"
    )


def _headline(report: Report) -> Headline:
    said, constant = report.statement, report.constant
    kinds = ("certified", "counterexample", "undecided", "not-examined")
    bound = (
        f"No statement about a population: {report.no_bound}."
        if said.lower is None
        else f"In the population: at least {at_least(said.lower)}, with {_confidence(said)} confidence."
    )
    shares = verdict_shares(said)
    words = f"{count(said.certified)} of {count(said.rows)} people are certified with respect to φ"
    words += f"{not_examined_words(said.not_examined)}."
    if constant is not None:
        bound = f"{words} For such a model, this means nothing. {bound}"
        words = f"The model makes the same decision for everyone: {constant}."
    return Headline(
        shares[0],
        words,
        bound,
        tuple(
            (kind, KIND_NAMES[kind], number, share)
            for kind, number, share in zip(kinds, verdict_counts(said), shares, strict=False)
        ),
        muted=constant is not None,
    )


def _confidence(statement: Statement) -> str:
    return f"{100 * statement.confidence:g} %"


def _promise(report: Report) -> Iterator[Block]:
    promise = report.promise
    yield f"For everyone whom φ calls similar to a person, whether or not they exist, the promise is: {report.rule}."
    if report.explorer.tolerance is not None:
        yield tolerance_sentence(report.explorer.tolerance)
    if promise.text is None:
        yield "The producer does not reveal φ. It is the formula with the hash given below."
        return
    yield from formula_blocks(promise.text, promise.name, promise.english)
    if promise.english is None:
        return
    if report.about.scales:
        yield scale_table(report.about.scales)
    yield from (f"Note: {note}" for note in report.notes)


def formula_blocks(text: str, name: str, english: str | None) -> Iterator[Block]:
    """A formula as it was written; and in English, with dashes as points, where anything else ends one."""
    yield CodeBlock(drop_last_comments(text), f"φ as written: {name}")
    if english is None:
        return
    lead, *rest = english.splitlines()
    levels = ((len(line) - len(line.lstrip())) // 4 for line in rest)
    items = tuple("  " * level + line.strip().removeprefix("- ") for level, line in zip(levels, rest, strict=True))
    yield lead
    if items:
        yield Points(items)


def _proved(report: Report) -> Iterator[Block]:
    said, modular = report.statement, report.modularity
    gone = ""
    if said.not_examined:
        gone = (
            f" The other {count(said.not_examined)} rows of the table have missing values and were not examined: "
            "nothing is known about these people. Shares are of all rows."
        )
    yield (
        f"Each of {count(said.people)} people was examined individually.{gone} Certified means that there is a "
        "proof. A counterexample is a concrete similar person with a different decision. Undecided means neither was "
        "found."
    )
    yield verdict_table(report)
    if said.lower is not None:
        yield (
            f"If these people were drawn at random from a population and not used for training, then at least "
            f"{at_least(said.lower)} of that population would be certified, with {_confidence(said)} confidence "
            "(exact one-sided Clopper–Pearson bound, rounded down)."
        )
    if "ball" in modular and "box" in modular:
        yield (
            f"From the hand-over alone, without seeing the people, {percent(modular['ball'])} are certified on the "
            f"ball and {percent(modular['box'])} on the box; end to end it is {verdict_shares(said)[0]}. A hand-over "
            "also covers values between whole numbers, unless it says otherwise."
        )


def _recheck(report: Report) -> Iterator[Block]:
    if report.about.checked is not None:
        yield _word_of(report.about.checked, report.statement.people)
    else:
        yield "The exact checker has not been run on these verdicts yet."
    if report.about.recheck:
        yield (
            "The checker needs only Python: no solver, no GPU, and no part of the program that made the proofs. It "
            "derives everyone’s region from φ itself and recomputes every bound in exact arithmetic."
        )
        yield CodeBlock("\n".join(report.about.recheck), "Run this in the audit’s folder")
    elif report.about.checked is None and report.about.library is not None:
        yield "There are no proofs here to check. Write them with lcifr audit --model … --bundle, then run lcifr check."
    elif report.about.checked is None:
        yield (
            "There are no proofs here to check. An auditor who has the producer’s folder can write them with "
            "lcifr audit --bundle and this model, and confirm them with lcifr check."
        )


def _word_of(checked: CheckedProofs, people: int) -> str:
    drawn = f", drawn at random from the {count(people)}" if checked.people < people else ""
    words = (
        f"The exact checker checked {count(checked.people)} people{drawn}: {count(checked.certified)} certificates "
        f"and {count(checked.counterexamples)} counterexamples are confirmed in exact arithmetic"
    )
    words += f", {count(len(checked.rejected))} are REJECTED." if checked.rejected else ", none is rejected."
    return words + (" It did not check anyone else." if drawn else "")
