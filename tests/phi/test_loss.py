"""The DL2 loss is zero exactly where the formula holds."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given

from tests.phi.worlds import World, laws, worlds


@laws
@given(worlds())
def test_loss_is_zero_exactly_where_the_formula_holds(world: World):
    x, other = (torch.tensor(world.encoding.encode(table)) for table in world.tables)
    loss = world.similarity.loss(x, other)
    assert (loss >= 0).all()
    of_arrays = world.similarity.loss(x.numpy(), other.numpy())
    np.testing.assert_allclose(of_arrays, loss.numpy(), rtol=1e-12)
    assert ((of_arrays == 0) == (loss == 0).numpy()).all()
    assert ((loss == 0).numpy() == world.similarity.holds(*world.tables)).all()
