"""The producer learns and hands over, the consumer proves from the hand-over alone: through the public names."""

import warnings

import numpy as np

import lcifr
from lcifr.datasets import load


def test_from_formula_to_verdicts(tmp_path):
    data = load("german")
    encoder = lcifr.FairEncoder("german/cat_noise", schema=data.schema, epochs=4, batch_size=64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # four epochs may well give a degenerate model: beside the point
        encoder.fit(data.train.X, data.train.y)
        near = encoder.radius(data.train.X, method="bounds")
        model = lcifr.RobustClassifier().fit(near.latent, data.train.y, radius=near.radius)
    encoder.represent(data.test.X, ids=[f"person {i}" for i in range(200)]).write(tmp_path / "handover")

    received = lcifr.Representation.read(tmp_path / "handover")
    certificates = lcifr.certify(received, model)
    assert len(certificates.verdict) == 200
    whole = lcifr.audit(encoder, model, data.test.X)
    on_ball = np.array([verdict == lcifr.Verdict.CERTIFIED for verdict in certificates.verdict])
    assert (whole.certified | ~on_ball).all()  # what holds on the ball holds from end to end
    assert not (whole.violated & on_ball).any()
