"""Proxies: attributes that give away a free one, and chance that does not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lcifr.data import Categorical, Individuals, Schema
from lcifr.phi.lint import find_proxies
from tests.phi.example import PEOPLE, SCHEMA, SEX, N, find


def test_an_obvious_proxy_is_named():
    (finding,) = find("same(all except sex)", "proxy")
    assert "role gives it away" in finding.message
    assert 'role = "husband"' in finding.message
    assert find("same(all except sex, role)", "proxy") == []  # what is free itself gives nothing away
    assert find("same(all)", "proxy") == []


def test_a_number_can_be_a_proxy_too():
    people = PEOPLE.assign(score=np.where(SEX == 1, 80.0, 20.0) + np.random.default_rng(6).uniform(-20, 20, N))
    people = pd.concat([people] * 3)
    proxies = find_proxies(Individuals.read(people, SCHEMA), "sex", "score")
    assert {proxy.given_away for proxy in proxies} == {"female", "male"}
    assert all(proxy.share >= 0.95 and proxy.base < 0.6 for proxy in proxies)


def test_chance_is_no_proxy():
    """Many categories with few people each: some are pure by luck, and that must not be taken for knowledge."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        schema = Schema((Categorical("sex", ("f", "m")), Categorical("town", tuple(map(str, range(60))))))
        codes = np.stack([random.random(1500) < 0.1, random.integers(0, 60, 1500)], axis=1).astype(np.int32)
        assert find_proxies(Individuals(schema, np.zeros((1500, 0)), codes), "sex", "town") == ()
