"""The built-in example: German credit data, a schema, a formula to change, and the command that learns a model."""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.data.files import write_atomic
from lcifr.errors import LcifrError
from lcifr.workbench.command_lines import command_words
from lcifr.workbench.work_folder import WorkFolder

TABLE, TRAINING, SCHEMA, PHI, MODEL = "german.csv", "german-train.csv", "german.toml", "german.phi", "german-model"
FORMULA = """\
# Who counts as similar? An example to read and to change.
# These must not matter, and say so:
free(sex, foreign_worker, telephone, housing, job, property) and
# Everything else that has a name is the same, and numbers are close.
same(categorical except sex, foreign_worker, telephone, housing, job, property) and
duration within 6 and
credit_amount within 1000 and
age within 10 and
installment_rate, existing_credits within 1 and
residence_since within 2 and
same(dependents)
"""


@dataclass(frozen=True)
class WrittenExample:
    """Files that were written, and the words of the command that learns the model."""

    files: tuple[str, ...]
    words: list[str]


def write_example(folder: WorkFolder) -> WrittenExample:
    """Write the files of the example; refused where one of their names is taken."""
    from lcifr.datasets import load

    names = (TABLE, TRAINING, SCHEMA, PHI)
    taken = [name for name in (*names, MODEL) if folder.path(name).exists()]
    if taken:
        raise LcifrError(f"already in the folder: {', '.join(taken)}", fix="open the workbench in an empty folder")
    data = load("german")
    for name, people in ((TABLE, data.test), (TRAINING, data.train)):
        frame = people.X.assign(**{str(data.schema.target): people.y})
        write_atomic(folder.new(name), frame.to_csv(index=False).encode())
    data.schema.save(folder.new(SCHEMA))
    write_atomic(folder.new(PHI), FORMULA.encode())
    options = {"phi": PHI, "target": data.schema.target, "learner": "trees", "gamma": 0, "out": MODEL}
    return WrittenExample(names, command_words("produce", TRAINING, schema=SCHEMA, **options))
