"""Every sentence of a report. Careful words: certified with respect to φ, and no more."""

from __future__ import annotations

from collections.abc import Iterator

from lcifr.display.text import at_least, count, labels_words, not_examined_words, percent
from lcifr.phi.parser import drop_last_comments
from lcifr.report.content import KINDS, Checked, LibraryFacts, Origin, Proved, Report
from lcifr.report.document import Block, CodeBlock, Document, Headline, Points, Section
from lcifr.report.method import method_section
from lcifr.report.numbers import tolerance_sentence
from lcifr.report.scores import scores_section
from lcifr.report.sections import (
    compared_section,
    decisions_section,
    distances_section,
    explorer_section,
    frontier_section,
    groups_section,
)
from lcifr.report.tables import scale_table, verdict_counts, verdict_shares, verdict_table

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
    sections = [
        Section("promise", "What was promised", tuple(_promise(report))),
        Section("proved", "What was proved", tuple(_proved(report.proved))),
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
        *([Section("data", "About the data", (Points(report.data_cautions),))] if report.data_cautions else []),
        Section("limits", "What this report does not say", (Points(LIMITS),)),
        Section("method", "Method, versions, hashes", tuple(method_section(report))),
        Section("recheck", "Check it yourself", tuple(_recheck(report))),
    ]
    subtitle = ", ".join(part for part in (report.data, f"with respect to φ = {report.promise.name}") if part)
    facts = tuple(_facts(report))
    return Document(report.title, subtitle, facts, _headline(report.proved), report.cautions, tuple(sections))


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    """What the top of the page says of itself: when, by whom, about what, and what was confirmed for whom."""
    origin = report.origin
    written = f"; page written {origin.written}" if origin.written else ""
    yield "Audited", (origin.audited or "date not recorded") + written
    yield "Author", origin.author or "not named"
    if origin.library is None:
        yield "Model", _model(origin, report.hashes.get("encoder", ""), report.hashes.get("model", ""))
    else:
        yield from _library(origin.library)
    if origin.labels:
        yield "Decisions", f"{labels_words(origin.labels)}."
    yield "Arithmetic", f"{origin.arithmetic}."
    yield "Confirmed", _confirmed(report)


def _model(origin: Origin, encoder: str, model: str) -> str:
    on = ""
    if origin.encoder:
        on = f" on an encoder, {_function(origin.encoder, origin.encoder_trees)} (sha256 {encoder[:12]}…)"
    return f"{_function(origin.model, origin.trees)} (sha256 {model[:12]}…){on}"


def _library(model: LibraryFacts) -> Iterator[tuple[str, str]]:
    """A model of another library: the file, what it computes, how it decides, and who says so."""
    yield "Model", f"{model.name}; {'; '.join(model.steps)} (sha256 {model.sha256[:12]}…)"
    yield "Rule", f"{model.rule}."
    if model.assumptions:
        yield "Assumed", " ".join(model.assumptions)
    yield "Runtime", model.runtime or "not installed; replaced by an exact forward pass of the model as it was read"


def _function(sizes: tuple[int, ...], trees: int) -> str:
    if trees:
        of = "1 tree" if trees == 1 else f"a sum of {count(trees)} trees"
        return f"{of} {' → '.join(map(count, sizes))}"
    kind = "linear model" if len(sizes) == 2 else "ReLU network"
    return f"{kind} {' → '.join(map(count, sizes))}"


def _confirmed(report: Report) -> str:
    checked, people = report.checked, report.proved.people
    if checked is None:
        return "nothing: the exact checker has not been run on these verdicts"
    of = "all" if checked.people == people else f"{count(checked.people)} people drawn at random from the"
    refused = f"; REJECTED for {count(checked.rejected)}" if checked.rejected else ""
    return (
        f"by the exact checker for {of} {count(people)} people: {count(checked.certified)} certificates, "
        f"{count(checked.counterexamples)} counterexamples{refused}"
    )


def _headline(proved: Proved) -> Headline:
    kinds = ("certified", "counterexample", "undecided", "not-examined")
    bound = (
        f"No statement about a population: {proved.no_bound}."
        if proved.lower is None
        else f"In the population: at least {at_least(proved.lower)}, with {_confidence(proved)} confidence."
    )
    shares = verdict_shares(proved)
    words = f"{count(proved.certified)} of {count(proved.rows)} people are certified with respect to φ"
    words += f"{not_examined_words(proved.not_examined)}."
    if proved.constant is not None:
        bound = f"{words} For such a model, this means nothing. {bound}"
        words = f"The model makes the same decision for everyone: {proved.constant}."
    return Headline(
        shares[0],
        words,
        bound,
        tuple(
            (kind, KINDS[kind], number, share)
            for kind, number, share in zip(kinds, verdict_counts(proved), shares, strict=False)
        ),
        muted=proved.constant is not None,
    )


def _confidence(proved: Proved) -> str:
    return f"{100 * proved.confidence:g} %"


def _promise(report: Report) -> Iterator[Block]:
    promise = report.promise
    yield f"For everyone whom φ calls similar to a person, whether or not they exist, the promise is: {report.rule}."
    if report.explorer.tolerance is not None:
        yield tolerance_sentence(report.explorer.tolerance)
    if promise.text is None:
        yield "The producer does not reveal φ. It is the formula with the hash given below."
        return
    yield CodeBlock(drop_last_comments(promise.text), f"φ as written: {promise.name}")
    if promise.english is None:
        return
    lead, items = english_points(promise.english)
    yield lead
    if items:
        yield Points(items)
    if report.scales:
        yield scale_table(report.scales)
    yield from (f"Note: {note}" for note in report.notes)


def english_points(text: str) -> tuple[str, tuple[str, ...]]:
    """The first line, and the rest as a list: dashes are points, anything else ends one."""
    lead, *rest = text.splitlines()
    items = []
    for line in rest:
        level = (len(line) - len(line.lstrip())) // 4
        items.append("  " * level + line.strip().removeprefix("- "))
    return lead, tuple(items)


def _proved(proved: Proved) -> Iterator[Block]:
    gone = ""
    if proved.not_examined:
        gone = (
            f" The other {count(proved.not_examined)} rows of the table have missing values and were not examined: "
            "nothing is known about these people. Shares are of all rows."
        )
    yield (
        f"Each of {count(proved.people)} people was examined individually.{gone} Certified means that there is a "
        "proof. A counterexample is a concrete similar person with a different decision. Undecided means neither was "
        "found."
    )
    yield verdict_table(proved)
    if proved.lower is not None:
        yield (
            f"If these people were drawn at random from a population and not used for training, then at least "
            f"{at_least(proved.lower)} of that population would be certified, with {_confidence(proved)} confidence "
            "(exact one-sided Clopper–Pearson bound, rounded down)."
        )
    if proved.on_ball is not None and proved.on_box is not None:
        yield (
            f"From the hand-over alone, without seeing the people, {percent(proved.on_ball)} are certified on the ball "
            f"and {percent(proved.on_box)} on the box; end to end it is {verdict_shares(proved)[0]}. A hand-over "
            "also covers values between whole numbers, unless it says otherwise."
        )


def _recheck(report: Report) -> Iterator[Block]:
    if report.checked is not None:
        yield _word_of(report.checked, report.proved.people)
    else:
        yield "The exact checker has not been run on these verdicts yet."
    if report.recheck:
        yield (
            "The checker needs only Python: no solver, no GPU, and no part of the program that made the proofs. It "
            "derives everyone’s region from φ itself and recomputes every bound in exact arithmetic."
        )
        yield CodeBlock("\n".join(report.recheck), "Run this in the audit’s folder")
    elif report.checked is None and report.origin.library is not None:
        yield "There are no proofs here to check. Write them with lcifr audit --model … --bundle, then run lcifr check."
    elif report.checked is None:
        yield (
            "There are no proofs here to check. An auditor who has the producer’s folder can write them with "
            "lcifr audit --bundle and this model, and confirm them with lcifr check."
        )


def _word_of(checked: Checked, people: int) -> str:
    drawn = f", drawn at random from the {count(people)}" if checked.people < people else ""
    words = (
        f"The exact checker checked {count(checked.people)} people{drawn}: {count(checked.certified)} certificates "
        f"and {count(checked.counterexamples)} counterexamples are confirmed in exact arithmetic"
    )
    words += f", {count(checked.rejected)} are REJECTED." if checked.rejected else ", none is rejected."
    return words + (" It did not check anyone else." if drawn else "")
