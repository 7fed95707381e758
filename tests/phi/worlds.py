"""A generated world: a schema, training people, a formula, and pairs to try it on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st

from lcifr.data import Categorical, Encoding, Schema
from lcifr.data.program import Program
from lcifr.errors import RegionError
from lcifr.phi.formula import Formula
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import Region
from tests.data.programs import programs
from tests.phi.oracle import Oracle, Row
from tests.phi.strategies import HIGHEST, LOWEST, formulas, people, schemas

# Shrinking a whole world takes minutes and seldom helps: the failing one is printed as it was found.
laws = settings(
    deadline=None,
    max_examples=100,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def frame(schema: Schema, rows: list[Row]) -> pa.Table:
    return pa.table({name: [row[name] for row in rows] for name in schema.names})


@dataclass(frozen=True)
class World:
    schema: Schema
    formula: Formula
    training: list[Row]
    xs: list[Row]
    others: list[Row]
    programs: tuple[Program, ...] = ()

    @property
    def encoding(self) -> Encoding:
        return replace(Encoding.fit(frame(self.schema, self.training), self.schema), programs=self.programs)

    @property
    def similarity(self) -> Similarity:
        return Similarity(self.formula, self.schema, self.encoding)

    @property
    def oracle(self) -> Oracle:
        encoding = self.encoding
        return Oracle(self.schema, self.training, dict(zip(self.schema.names_numeric, encoding.sds, strict=True)))

    @property
    def tables(self) -> tuple[pa.Table, pa.Table]:
        return frame(self.schema, self.xs), frame(self.schema, self.others)

    def region(self) -> Region:
        """The region of ``xs``; worlds whose formula has none (too many cells, mixed ranks) are passed over."""
        try:
            return self.similarity.region(self.tables[0])
        except RegionError as error:
            assume("alternatives" not in str(error) and "half-space" not in str(error))
            raise


def _extreme(schema: Schema, end: float) -> Row:
    """Two such people make every number vary."""
    return {a.name: a.values[0] if isinstance(a, Categorical) else int(end) if a.integer else end for a in schema}


@st.composite
def worlds(draw: st.DrawFn, *, pairs: int = 6, foreign: bool = False, **options: Any) -> World:
    """``foreign``: numbers are encoded by programs of any kind, not standardised."""
    schema = draw(schemas(declare_ranges=True))
    formula = draw(formulas(schema, **options))
    training = [_extreme(schema, float(LOWEST)), _extreme(schema, float(HIGHEST)), *draw(people(schema, 3))]
    xs, others = draw(people(schema, pairs)), draw(people(schema, pairs))
    codes = tuple(draw(programs()) for _ in schema.numeric) if foreign else ()
    return World(schema, formula, training, xs, others, codes)
