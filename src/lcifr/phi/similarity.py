"""Similarity: a formula bound to a schema and an encoding, with truth, regions, loss and hash; and ready formulas."""

from __future__ import annotations

import hashlib
import json
from copy import copy
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import RegionError, SimilarityError, did_you_mean
from lcifr.phi.core import Booleans, Core, PairedPeople, canonical, is_ranked, resolve
from lcifr.phi.explain import explain
from lcifr.phi.formula import Formula, Span, print_formula
from lcifr.phi.free_attributes import free_attributes, sometimes_free_attributes
from lcifr.phi.holds import evaluate
from lcifr.phi.lowering import CellPlan, MixedRank, TooManyCells, build_cell, plan_cells
from lcifr.phi.parser import parse
from lcifr.phi.syntax_errors import Diagnostics
from lcifr.phi.witness import FormulaOrigin
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

if TYPE_CHECKING:
    from lcifr.phi.loss import Batch


# Ready formulas: the paper's constraints on its datasets, as ``.phi`` files in this package.


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
    return resources.files("lcifr.phi").joinpath("formulas")


# Similarity: a formula bound to a schema and an encoding, with truth, regions, loss and hash.

MAX_CELLS = 256  # a union of more cells costs more to prove than a formula with as many exceptions is worth
FORMAT = 4  # of the canonical form


class Similarity:
    """φ(x, x′): who counts as similar, for one schema and the scales of one training table.

    Parameters
    ----------
    text
        The formula, or its tree.
    schema, encoding
        What the names mean, and the training data's scales (and training people, if the formula takes ranks); or a
        table of people, to take the scales from, each from every row that has a value there.
    source
        What errors call the text.

    Examples
    --------
    >>> import pandas as pd
    >>> from lcifr import Encoding, Schema
    >>> people = pd.DataFrame({"age": [30, 40, 50], "sex": ["male", "female", "male"]})
    >>> schema = Schema.infer(people)
    >>> similar = Similarity("same(all except sex)", schema, Encoding.fit(people, schema))
    >>> similar.holds(people[:1], pd.DataFrame({"age": [30], "sex": ["female"]}))
    array([ True])
    """

    def __init__(
        self, text: str | Formula, schema: Schema, encoding: Encoding | Any, *, source: str = "formula"
    ) -> None:
        if not isinstance(encoding, Encoding):
            encoding = Encoding.fit(encoding, schema, skip_missing=True)
        if encoding.schema.attributes != schema.attributes:
            raise SimilarityError("the encoding was fitted for another schema", fix="fit it with this one")
        self.text = text if isinstance(text, str) else print_formula(text)
        self.source = source
        self.schema = schema
        self.encoding = encoding
        self.formula: Formula = parse(self.text, schema, source=source)
        self.core: Core = resolve(self.formula, schema, encoding)

    def over(self, encoding: Encoding) -> Similarity:
        """The same formula over another encoding of the same attributes; what ``sd`` and ranks mean stays."""
        if encoding.schema.attributes != self.schema.attributes:
            raise SimilarityError("the encoding is one of another schema", fix="encode the same attributes")
        other = copy(self)
        other.encoding = encoding
        return other

    @classmethod
    def load(cls, path: str | Path, schema: Schema, encoding: Encoding) -> Similarity:
        """Read a ``.phi`` file."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SimilarityError(f"{path}: cannot be read: {error}", fix="give a text file, saved as UTF-8") from None
        return cls(text, schema, encoding, source=str(path))

    @classmethod
    def ready(cls, name: str, schema: Schema, encoding: Encoding) -> Similarity:
        """One of the paper's formulas, such as ``adult/cat_noise``."""
        return cls(ready(name), schema, encoding, source=name)

    def __repr__(self) -> str:
        return f"Similarity({print_formula(self.formula)!r})"

    def _repr_html_(self) -> str:
        """For notebooks: as it is written, and in English."""
        from lcifr.display.html import formula_html

        return formula_html(self.source, self.text, self.explain())

    # -- truth -----------------------------------------------------------------------------------------------------

    def holds(self, x: Any, other: Any) -> Booleans:
        """Whether each pair is similar: the definition of the formula.

        Parameters
        ----------
        x, other
            Two tables of people, row against row; a table of one row meets every row of the other.

        Returns
        -------
        (rows,) booleans
        """
        pair = (Individuals.read(x, self.schema), Individuals.read(other, self.schema))
        if len(pair[0]) != len(pair[1]):
            if 1 not in (len(pair[0]), len(pair[1])):
                raise SimilarityError(
                    f"{len(pair[0])} people cannot be paired with {len(pair[1])}",
                    fix="give equally long tables, or one row",
                )
            rows = max(len(pair[0]), len(pair[1]))
            pair = tuple(p if len(p) == rows else p.take(np.zeros(rows, np.intp)) for p in pair)  # type: ignore[assignment]
        return evaluate(self.core, PairedPeople(*pair))

    # -- regions ---------------------------------------------------------------------------------------------------

    @cached_property
    def plans(self) -> tuple[CellPlan, ...]:
        """The cells of every region, before people are filled in."""
        return self.plan(self.core, self.schema)

    def plan(self, core: Core, schema: Schema) -> tuple[CellPlan, ...]:
        """The cells of a core tree that was made from this formula's; errors point into its text."""
        try:
            return plan_cells(core, schema, MAX_CELLS)
        except TooManyCells as many:
            raise self._refuse(
                f"the formula has {many.count} or more alternatives, at most {MAX_CELLS} cells are allowed; "
                f"this part brings {many.factor} of them",
                many.part,
                "join alternatives (one set instead of many `or`), or split the formula",
            ) from None
        except MixedRank as mixed:
            if schema is not self.schema:
                raise self._refuse(
                    "a rank stands beside other values, and of a pair neither individual is known; its steps bound no "
                    "half-space",
                    mixed.part,
                    "for all pairs at once, compare one rank with numbers alone; an audit of people takes this formula",
                ) from None
            raise self._refuse(
                "a rank of the other individual stands beside other values of theirs; its steps bound no half-space",
                mixed.part,
                "compare one primed rank with numbers and unprimed terms only",
            ) from None

    def _refuse(self, message: str, span: Span, fix: str) -> RegionError:
        diagnostics = Diagnostics(self.text, self.source)
        diagnostics.add(message, span, fix=fix)
        return RegionError(str(diagnostics.error()))

    def region(self, x: Any, *, whole_numbers: bool = False) -> Region:
        """S_φ(x) of every person of a table: a union of cells that holds the encodings of all similar people.

        Parameters
        ----------
        whole_numbers
            Whether cells end at the outermost whole number of attributes that the schema calls whole. They still hold
            all people who can exist.

        Raises
        ------
        RegionError
            If the formula leaves a numeric attribute without bounds, or has too many alternatives.
        """
        people = Individuals.read(x, self.schema)
        cells = [build_cell(plan, people, self.encoding) for plan in self.plans]
        there = tuple(cell for cell in cells if cell.present.any())
        origin = FormulaOrigin(self.encoding, people, self.core, self.plans)
        region = Region(len(people), len(self.encoding.features), there, origin)
        return narrow_to_whole_numbers(region, self.encoding) if whole_numbers else region

    # -- other readings --------------------------------------------------------------------------------------------

    def loss(self, x: Batch, other: Batch) -> Batch:
        """The DL2 loss of φ on encoded people: zero where the formula holds, and differentiable.

        Parameters
        ----------
        x, other : (people, features) numpy arrays or torch tensors, encoded; categories of ``other`` may be anywhere
            on their simplex.

        Returns
        -------
        (people,) non-negative, of the same library
        """
        from lcifr.phi.loss import logic_loss

        return logic_loss(self.core, self.encoding, x, other)

    @cached_property
    def free_attributes(self) -> tuple[str, ...]:
        """The attributes that φ never mentions: a similar person may have any value there."""
        return free_attributes(self.formula, self.schema)

    @cached_property
    def sometimes_free_attributes(self) -> tuple[str, ...]:
        """The attributes that φ constrains in some of its cases but not in all."""
        return sometimes_free_attributes(self.formula, self.schema)

    @property
    def canonical_text(self) -> str:
        """φ as the printer writes it: without comments, with the fewest parentheses."""
        return print_formula(self.formula)

    @property
    def takes_ranks(self) -> bool:
        """Whether φ compares ranks among the training people, so that its meaning depends on them."""
        return is_ranked(self.core)

    def explain(self) -> str:
        """φ in English: what must be equal, what may differ and by how much, what is free."""
        sds = dict(zip(self.schema.names_numeric, self.encoding.sds.tolist(), strict=True))
        return explain(self.formula, self.schema, sds)

    def to_dict(self) -> dict[str, Any]:
        """The canonical form: the resolved tree, sd and rank tables included, however the text is written."""
        return {"format": FORMAT, "formula": canonical(self.core, self.schema)}

    def to_bytes(self) -> bytes:
        """The canonical form as the bytes of a JSON file."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":")).encode()

    @cached_property
    def hash(self) -> str:
        """sha256 of the canonical form."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Similarity) and self.schema == other.schema and self.core == other.core

    def __hash__(self) -> int:
        return hash(self.hash)
