"""Ready formulas: the paper's constraints on its datasets, as ``.phi`` files in this package."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from lcifr.errors import SimilarityError, did_you_mean


def ready(name: str) -> str:
    """The text of a ready formula, with its comments.

    Parameters
    ----------
    name
        Dataset and constraint, one of :func:`ready_names`: ``"adult/cat_noise"``.

    Examples
    --------
    >>> print(ready("adult/cat"))
    # Adult, Cat: two people are similar if they are the same in everything except sex.
    same(all except sex)
    <BLANKLINE>
    """
    names = ready_names()
    if name not in names:
        raise SimilarityError(
            f'there is no ready-made formula "{name}".{did_you_mean(name, names)}',
            fix=f"choose from {', '.join(names)}",
        )
    dataset, constraint = name.split("/")
    return _folder().joinpath(dataset, f"{constraint}.phi").read_text(encoding="utf-8")


def ready_names() -> tuple[str, ...]:
    """The names of all ready formulas, sorted; putting a file into the folder is all it takes to add one."""
    datasets = [entry for entry in _folder().iterdir() if entry.is_dir()]
    files = [(dataset.name, file.name) for dataset in datasets for file in dataset.iterdir()]
    return tuple(sorted(f"{dataset}/{file.removesuffix('.phi')}" for dataset, file in files if file.endswith(".phi")))


def _folder() -> Traversable:
    return resources.files("lcifr.similarity").joinpath("formulas")
