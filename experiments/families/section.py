"""What the page says about networks and trees: rules, points, counts, and which family to use where."""

from __future__ import annotations

from experiments.families import tables
from experiments.store import Found


def text(found: dict[str, Found]) -> list[str]:
    """The sections, in order."""
    return [
        "## Networks and trees\n",
        RULES,
        "### Accurate\n",
        "Accuracy / balanced accuracy / certified share over the reals, whole test set.\n",
        tables.two_families("accurate", found),
        "### Certified\n",
        "The same figures. A dash: no point of that family has the balanced accuracy that the rule asks for, or its "
        "plain model is not measured.\n",
        tables.two_families("certified", found),
        "### Both end to end\n",
        END_TO_END,
        tables.end_to_end(found),
        "### Which family to use\n",
        _advice(found),
        "### Without a promise\n",
        WITHOUT,
        tables.without_promise(found),
    ]


def _advice(found: dict[str, Found]) -> str:
    rows = tables.better(found)
    said = [f"- **{family}**: {'; '.join(names) if names else 'nowhere'}." for family, names in rows.items()]
    return ADVICE + "\n" + "\n".join(said) + "\n"


RULES = """**Trees** are `FairBooster`: one step function per attribute, in some fits also of a few pairs of attributes
(*pairs*) or followed by trees of three cuts (*deeper*), on Health always by trees of five, boosted against each
person's worst similar person. What is tried is in `experiments/trees/settings.py`. Nothing is random in such a fit, so
each is one fit on the training people, stopped by validation people; on Health 60,000 training people, drawn once; on
the small tables (Compas, Crime, German) the average of four, each without another fifth of the training people.
Certified is end to end, in closed form, which is exact for attributes alone and a lower bound with pairs or trees.
*Stricter φ* marks a model that was learned for Cat + Noise and chosen for Noise, on the small tables: anyone who is
similar under Noise is similar under Cat + Noise.

Two points of each frontier are chosen without test people, by rules written down before any test figure of trees was
made (`experiments/families/rules.py`). *Accurate*: certified at least min(100, half a point more than the paper's
method), then most accurate; where nothing reaches that, the most certified that is not trivial. *Certified*: balanced
accuracy at least 60 and at most 4 points below the plain model's of the same family, then most certified. Trees are
judged by five-fold cross-validation among training and validation people, twice, on the small tables, else by
validation people, as networks are everywhere. Across both families the choice is between the two families' own points,
judged by the same people: on the small tables by the same folds, for which the chosen networks are learned anew, else
by validation people. It is in bold.

The weights tried on the small tables, and the folds that compare families there, are those of a plan that was committed
before its test figures were made; figures of earlier plans had been seen on the same test people.

The rule for networks is not the one of the table of constraints, which goes by the mean of accuracy and balanced
accuracy; their cells are the same.
"""
END_TO_END = """*Accurate* points again, with both families certified end to end and over **whole numbers** where the
schema says so. Networks have no stored figure end to end over the reals: their audits speak of people who can exist.
"""
ADVICE = """One z for labels that are not known yet is measured with networks alone (*Transfer on Health*): there, use
networks. For one decision, use what is named here: *accurate* points of both families on test people, both end to end
over whole numbers. A family is better where it is more accurate or certifies more by half a point and is no worse in
the other by as much; a trade is more of the one for less of the other. Trees are also what can be read attribute by
attribute, but for those of Health.
"""
WITHOUT = """Trained for the label alone, accuracy / balanced accuracy / certified over the reals: a network on the
ball; our booster with γ = 0, which reads everything, and without the attributes that φ leaves free (Cat + Noise); and
scikit-learn's `HistGradientBoosting` with 100 trees of up to 31 leaves, audited by the search for trees with a budget
of 200 splits for a person, on up to 2000 random test people. Who is still open then counts as not certified.
"""
