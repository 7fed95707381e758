"""The DL2 loss is zero exactly where the formula holds."""

from __future__ import annotations

import torch
from hypothesis import given

from tests.phi.worlds import World, laws, worlds


@laws
@given(worlds())
def test_loss_is_zero_exactly_where_the_formula_holds(world: World):
    x, other = (torch.tensor(world.encoding.encode(table)) for table in world.tables)
    loss = world.similarity.loss(x, other)
    assert (loss >= 0).all()
    assert ((loss == 0).numpy() == world.similarity.holds(*world.tables)).all()
